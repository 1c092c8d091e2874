"""An OpenAI-compatible endpoint that answers requests, many at a time, and asks nothing twice."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import re
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from pydantic import SecretStr

from interpact.case.problems import visible
from interpact.construct.ask import Answer, Failure, Request, Unanswered
from interpact.construct.cache import Cache, cache_key
from interpact.construct.completion import body, messages, read_completion
from interpact.construct.wire import (
    NoSchema,
    TooLong,
    Trouble,
    host_of,
    is_local,
    message_of,
    pause,
    retry_after,
)
from interpact.errors import InterPactError

if TYPE_CHECKING:
    import openai

OPENAI = "https://api.openai.com/v1"
_OURS = {"model", "messages", "response_format", "stream", "n"}
_GREETING = 10.0  # seconds for a server that has never been reached: an address is soon mistyped
_REPEATED = (Failure.MALFORMED, Failure.EMPTY)  # a model may do better the second time
_TOO_LONG = re.compile(r"context.?(length|size|window)|too long|too many tokens", re.IGNORECASE)


class BudgetSpent(InterPactError):
    """The largest number of requests has been sent; what is cached is still answered."""


@dataclass(slots=True)
class Usage:
    """What has been asked and answered so far; `failures` counts those out of the cache too."""

    asked: int = 0
    cached: int = 0
    retried: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    failures: Counter[Failure] = field(default_factory=Counter[Failure])
    purposes: Counter[str] = field(default_factory=Counter[str])
    plain_json: bool = False


class Endpoint:
    """Answers requests by a model behind a URL, `slots` at a time; satisfies `Ask`.

    A few slots more than the server works on at once keep its queue from running dry. The key comes
    from the environment variable `key_variable`. An endpoint that gives no answer for
    `patience` seconds is given up. `max_requests` counts what is sent for an answer, and not the
    retries after rate limits, server errors and broken connections.
    """

    def __init__(
        self,
        model: str,
        cache: Cache,
        *,
        base_url: str = OPENAI,
        parameters: Mapping[str, Any] | None = None,
        key_variable: str = "OPENAI_API_KEY",
        slots: int = 16,
        timeout: float = 120.0,
        patience: float = 300.0,
        max_requests: int | None = None,
    ) -> None:
        self.model, self.cache, self.base_url = model, cache, base_url
        self.parameters = dict(parameters or {})
        self.key_variable, self.slots = key_variable, slots
        self.timeout, self.patience, self.max_requests = timeout, patience, max_requests
        self.usage = Usage()
        self._host = host_of(base_url)
        if ours := sorted(_OURS & self.parameters.keys()):
            raise InterPactError(f"parameters: {', '.join(ours)} cannot be set here; leave it out")
        try:
            json.dumps(self.parameters)
        except (TypeError, ValueError) as error:
            raise InterPactError(f"parameters: {error}; use text, numbers and lists") from None
        if slots < 1:
            raise InterPactError("slots: at least one request must run at a time")
        self._key = SecretStr("")
        self._heard = self._knows_schemas = False
        self._answered_at = -1.0
        self._stopped: str | None = None
        self._end = asyncio.Event()
        self._tasks: set[asyncio.Task[Any]] = set()

    def __repr__(self) -> str:
        return f"Endpoint({self.model!r}, base_url={self.base_url!r})"

    async def __aenter__(self) -> Self:
        import httpx2
        import openai

        self._key = SecretStr(os.environ.get(self.key_variable, "").strip())
        key = self._key.get_secret_value()
        if not key.isascii() or not key.isprintable():
            raise InterPactError(f"${self.key_variable} holds characters no key has; set it anew")
        if not key and self.max_requests != 0 and not is_local(self._host):
            raise InterPactError(
                f"{self.base_url}: no key; set the environment variable {self.key_variable} "
                "(to any word where the server wants none)"
            )
        # A pool of its own for each slot: a shared one looks at all idle sockets for each request.
        trusted = httpx2.create_ssl_context()
        self._pools = [openai.DefaultAsyncHttpxClient(verify=trusted) for _ in range(self.slots)]
        self._free: asyncio.LifoQueue[openai.AsyncOpenAI] = asyncio.LifoQueue()
        for pool in self._pools:
            client = openai.AsyncOpenAI(
                base_url=self.base_url,
                api_key=key or "none",
                max_retries=0,  # its own retries know no patience and cannot be counted
                timeout=None,
                http_client=pool,
            )
            self._free.put_nowait(client)
        return self

    async def __aexit__(self, *_: object) -> None:
        # What has been sent is waited for and kept; what has not been is not sent any more.
        self._stopped = self._stopped or f"{self.base_url}: the endpoint is closed"
        self._end.set()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for pool in self._pools:
            await pool.aclose()

    async def __call__(self, request: Request) -> Answer:
        key = cache_key(self.model, self.parameters, messages(request), request.schema)
        answer, shared = await self.cache.share(key, lambda: self._answer(key, request))
        if shared:
            answer = replace(answer, cached=True)
        self.usage.cached += answer.cached
        if answer.failure is not None:
            self.usage.failures[answer.failure] += 1
        return answer

    async def _answer(self, key: str, request: Request) -> Answer:
        kept = await self.cache.get(key)
        if kept is not None:
            return replace(_loaded(kept), cached=True)
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        client = await self._free.get()
        try:
            answer = await self._asked(client, request)
            # Within the slot, so that a kill costs no more requests than there are slots.
            return _loaded(await self._kept(key, answer))
        except TooLong:
            # Not kept: the same model may be served with more room tomorrow.
            return Answer(None, Failure.TRUNCATED)
        finally:
            self._free.put_nowait(client)

    async def _kept(self, key: str, answer: Answer) -> str:
        try:
            return await self.cache.put(key, json.dumps(asdict(answer)))
        except InterPactError as error:  # nothing more is paid for that cannot be kept
            self._stopped = str(error)
            self._end.set()
            raise

    async def _asked(self, client: openai.AsyncOpenAI, request: Request) -> Answer:
        """The answer of the model; a bad one is asked for once more."""
        first: Answer | None = None
        while True:
            self._admit(request)
            answer = await self._persistent(client, request)
            self.usage.tokens_in += answer.tokens_in
            self.usage.tokens_out += answer.tokens_out
            if first is not None:
                return replace(
                    answer,
                    tokens_in=first.tokens_in + answer.tokens_in,
                    tokens_out=first.tokens_out + answer.tokens_out,
                )
            if answer.failure not in _REPEATED:
                return answer
            first = answer

    def _admit(self, request: Request) -> None:
        if self._stopped is not None:
            raise InterPactError(self._stopped)
        if self.max_requests is not None and self.usage.asked >= self.max_requests:
            raise BudgetSpent(
                f"the budget of {self.max_requests:,} requests is spent; every answer is kept: "
                "run again with a larger one to go on"
            )
        self.usage.asked += 1
        self.usage.purposes[request.purpose] += 1

    async def _persistent(self, client: openai.AsyncOpenAI, request: Request) -> Answer:
        """Attempts until one succeeds or patience ends."""
        since = time.monotonic()
        plain = self.usage.plain_json
        for attempt in itertools.count():
            try:
                answer = await self._attempt(client, request, plain)
            except NoSchema:
                plain = True
            except Trouble as trouble:
                if given_up := self._given_up(request, trouble, since):
                    raise given_up from None
                self.usage.retried += 1
                await self._pass(pause(attempt, trouble.wait, self.patience / 4))
            else:
                self._answered_at = time.monotonic()
                self._knows_schemas |= not plain
                self.usage.plain_json |= plain
                return answer
        raise AssertionError

    async def _pass(self, seconds: float) -> None:
        """Let time pass; an error as soon as the endpoint is stopped."""
        if self._stopped is None:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._end.wait()
        if self._stopped is not None:
            raise InterPactError(self._stopped)

    async def _attempt(self, client: openai.AsyncOpenAI, request: Request, plain: bool) -> Answer:
        import httpx2
        import openai

        try:
            async with asyncio.timeout(self.timeout):
                response = await client.post(
                    "/chat/completions",
                    body={"model": self.model, **self.parameters, **self._body(request, plain)},
                    cast_to=httpx2.Response,
                )
        except openai.APIStatusError as error:
            response = error  # an error raised in this block would carry this one along
        except TimeoutError:
            raise Trouble(f"no answer within the time limit of {self.timeout:g} s") from None
        except openai.APIConnectionError as error:
            cause = error.__cause__
            why = f"{type(cause).__name__} {cause}".strip() if cause else "connection error"
            unreached = isinstance(cause, httpx2.ConnectError)
            raise Trouble(self._shown(why), unreached=unreached) from None
        self._heard = True
        if isinstance(response, openai.APIStatusError):
            return self._refused(response, request, plain)
        try:
            return self._read(json.loads(self._without_key(response.text)), request)
        except (ValueError, RecursionError):
            start = self._shown(response.text[:200])
            raise Trouble(f"what came back is no chat completion: {start}") from None

    def _body(self, request: Request, plain: bool) -> dict[str, Any]:
        return body(request, plain)

    def _read(self, payload: object, request: Request) -> Answer:
        return read_completion(payload, request.schema)

    def _refused(self, error: openai.APIStatusError, request: Request, plain: bool) -> Answer:
        """What an HTTP error means: an answer after all, another attempt, or the end."""
        status, code = error.status_code, error.code or ""
        message = self._shown(message_of(error.body) or error.response.reason_phrase)
        said = f"HTTP {status}: {message}"
        model = f'the model "{self.model}"'
        if code in ("content_filter", "content_policy_violation"):
            return Answer(None, Failure.REFUSED)
        if status in (400, 413, 422) and (
            code == "context_length_exceeded" or _TOO_LONG.search(message)
        ):
            raise TooLong
        if status in (401, 403):
            held = "was refused" if self._key else "is not set"
            raise self._stop(f"the key in ${self.key_variable} {held} ({said}); set a valid one")
        if status == 402 or code == "insufficient_quota":
            raise self._stop(f"the account has no credit left ({said}); top it up")
        if status in (408, 409, 425, 429) or (status >= 500 and status != 501):
            wait = retry_after(error.response.headers)
            if wait is not None and wait >= 1:
                said += f"; it asks to wait {wait:.0f} s"
            raise Trouble(said, wait=wait)
        if status == 404:
            raise self._stop(f"{model} or this address is unknown there ({said}); correct it")
        if not plain and not self._knows_schemas and "invalid schema" not in message.lower():
            raise NoSchema
        if self._answered_at > 0:
            raise Unanswered(
                f"{self.base_url}: a request ({request.purpose}) is not accepted ({said}); "
                "shorten or correct its text"
            )
        raise self._stop(f"requests are not accepted ({said}); correct the parameters or {model}")

    def _given_up(self, request: Request, trouble: Trouble, since: float) -> InterPactError | None:
        """The error that ends a request in trouble since then, unless it may wait once more."""
        if (trouble.wait or 0) > self.patience:
            return self._stop(f"{trouble}; let that time pass")
        now = time.monotonic()
        unreached = trouble.unreached and not self._heard
        patience = min(self.patience, _GREETING) if unreached else self.patience
        if now - max(since, self._answered_at) > patience:
            return self._stop(
                f"no answer for {patience:g} s (last: {trouble}); see that the server runs and the "
                "address is right"
            )
        if now - since > 2 * patience:
            return Unanswered(
                f"{self.base_url}: a request ({request.purpose}) got no answer in "
                f"{2 * patience:g} s although others did (last: {trouble}); run again to ask it anew"
            )
        return None

    def _stop(self, why: str) -> InterPactError:
        """The error that ends every request not yet sent."""
        self._stopped = (
            f"{self.base_url}: {why}, then run the same command again: every answer is kept"
        )
        self._end.set()
        return InterPactError(self._stopped)

    def _without_key(self, text: str) -> str:
        key = self._key.get_secret_value()
        return text.replace(key, "***") if key else text

    def _shown(self, text: str) -> str:
        text = " ".join(visible(self._without_key(text)).split())
        return text if len(text) <= 300 else text[:297] + "..."


async def kept_answer(
    cache: Cache, model: str, parameters: Mapping[str, Any], request: Request
) -> Answer | None:
    """What the cache holds in answer to a request, without asking anybody."""
    kept = await cache.get(cache_key(model, parameters, messages(request), request.schema))
    return None if kept is None else replace(_loaded(kept), cached=True)


def _loaded(value: str) -> Answer:
    fields = json.loads(value)
    failure = fields["failure"]
    return Answer(
        fields["data"],
        None if failure is None else Failure(failure),
        fields["tokens_in"],
        fields["tokens_out"],
    )
