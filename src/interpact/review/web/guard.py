"""What every request passes: sizes, hosts and headers; the visitor's cookie and form token."""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from fastapi import HTTPException
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from interpact.review.people import SESSION

COOKIE = "interpact"
MAX_BODY = 2_000_000
TOKEN = re.compile(r"[\w-]{43}")

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


@dataclass
class Visitor:
    """The bearer of a cookie. Forms carry a token made from it that no other site can know.

    Signing in and out gives a new cookie, so that nobody can be made to use one known before.
    """

    token: str
    secret: str
    fresh: bool
    send: bool = False
    lasting: bool = False

    @property
    def csrf(self) -> str:
        """The token that every form of this visitor must carry."""
        self.send = self.send or self.fresh
        return hmac.new(self.secret.encode(), self.token.encode(), "sha256").hexdigest()

    def sent(self, token: str) -> bool:
        """Whether a form carried the right token."""
        own = hmac.new(self.secret.encode(), self.token.encode(), "sha256").hexdigest()
        return hmac.compare_digest(own.encode(), token.encode(errors="replace"))

    def become(self, token: str, lasting: bool) -> None:
        """Carry another cookie from now on."""
        self.token, self.send, self.lasting = token, True, lasting


def new_token() -> str:
    """A cookie value that nobody can guess."""
    return secrets.token_urlsafe(32)


class Guard:
    """The outermost layer of the application."""

    def __init__(
        self, app: ASGIApp, secret: str, hosts: Sequence[str] | None, max_body: int = MAX_BODY
    ) -> None:
        self.app, self.secret, self.max_body = app, secret, max_body
        self.hosts = None if hosts is None else {host.lower() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        secure = scope.get("scheme") == "https"
        visitor = self._visitor(headers)
        scope.setdefault("state", {})["visitor"] = visitor

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    own[name] = value
                if "cache-control" not in own:
                    own["Cache-Control"] = "no-store"
                if secure:
                    own["Strict-Transport-Security"] = "max-age=31536000"
                if visitor.send:
                    own.append("Set-Cookie", _cookie(visitor, secure))
            await send(message)

        received = 0

        async def take() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self.max_body:
                raise HTTPException(413, self._told())
            return message

        refusal = self._refusal(headers)
        if refusal is not None:
            await refusal(scope, receive, answer)
            return
        await self.app(scope, take, answer)

    def _visitor(self, headers: Headers) -> Visitor:
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            cookie = None
        if cookie is not None and TOKEN.fullmatch(cookie.value):
            return Visitor(cookie.value, self.secret, fresh=False)
        return Visitor(new_token(), self.secret, fresh=True)

    def _refusal(self, headers: Headers) -> PlainTextResponse | None:
        """The answer to a request that is refused unread."""
        host = urlsplit(f"//{headers.get('host', '')}").hostname if _sound(headers) else None
        if self.hosts is not None and (host or "").lower() not in self.hosts:
            return PlainTextResponse("this server does not answer to that name\n", 400)
        origin = headers.get("origin")
        if (
            origin is not None
            and origin != "null"
            and urlsplit(origin).netloc != headers.get("host")
        ):
            return PlainTextResponse("requests of other sites are refused\n", 403)
        if headers.get("content-encoding", "identity") != "identity":
            return PlainTextResponse("send the body as it is, not compressed\n", 415)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self.max_body:
            return PlainTextResponse(self._told() + "\n", 413, {"Connection": "close"})
        return None

    def _told(self) -> str:
        return f"more than {self.max_body / 1e6:g} MB; use the command line for large files"


def _sound(headers: Headers) -> bool:
    try:
        urlsplit(f"//{headers.get('host', '')}")
        urlsplit(headers.get("origin", ""))
    except ValueError:
        return False
    return True


def _cookie(visitor: Visitor, secure: bool) -> str:
    parts = [f"{COOKIE}={visitor.token}", "Path=/", "HttpOnly", "SameSite=Lax"]
    if secure:
        parts.append("Secure")
    if visitor.lasting:
        parts.append(f"Max-Age={int(SESSION)}")
    return "; ".join(parts)
