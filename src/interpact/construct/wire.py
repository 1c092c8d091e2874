"""What can go wrong on the way to a server, and how long to wait before another attempt."""

from __future__ import annotations

import email.utils
import ipaddress
import random
import time
from collections.abc import Mapping
from typing import cast
from urllib.parse import urlsplit

from interpact.errors import InterPactError

FIRST_WAIT = 0.5  # seconds; doubles with every retry of a request
LONGEST_WAIT = 30.0


class Trouble(Exception):
    """An attempt that failed on the way and is worth another."""

    def __init__(self, why: str, *, wait: float | None = None, unreached: bool = False) -> None:
        super().__init__(why)
        self.wait, self.unreached = wait, unreached


class TooLong(Exception):
    """The prompt does not fit the model's context."""


class NoSchema(Exception):
    """The server may be one that knows no JSON schemas."""


def pause(attempt: int, asked: float | None, longest: float = LONGEST_WAIT) -> float:
    """Seconds before the next attempt; never fewer than the server asks for."""
    step = min(LONGEST_WAIT, longest, FIRST_WAIT * 2 ** min(attempt, 10))
    if asked is None:
        return step * random.uniform(0.5, 1.5)
    return asked + step * random.random()  # spread, or all come back at the same moment


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that a server asks to wait, told as a number or a date."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "")
        try:
            seconds = float(value) * unit
        except ValueError:
            try:
                seconds = email.utils.parsedate_to_datetime(value).timestamp() - time.time()
            except ValueError:
                continue
        if seconds < float("inf"):
            return max(0.0, seconds)
    return None


def message_of(error: object) -> str:
    """What a server says about an error, in whichever of the usual fields it says it."""
    if isinstance(error, dict):
        fields = cast("dict[str, object]", error)
        error = fields.get("message") or fields.get("detail") or fields.get("error") or fields
    return str(error or "")


def host_of(base_url: str) -> str:
    """The host of a base URL that holds no secret; an error for any other."""
    try:
        parts = urlsplit(base_url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        parts, host = None, None
    if parts is None or not host or parts.scheme not in ("http", "https"):
        raise InterPactError("the base URL must look like https://host/v1; correct it")
    if parts.username is not None or parts.password is not None or parts.query:
        raise InterPactError(
            f"the base URL of {host} must hold no name, password or query; "
            "put the key into the environment"
        )
    return host


def is_local(host: str) -> bool:
    """Whether a host is on this machine or its own network, where servers often want no key."""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return "." not in host
