"""What is asked of a language model, and what comes back: the one seam between us and it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from interpact.errors import InterPactError


class Failure(StrEnum):
    """Why an answer cannot be used; never mapped to a label."""

    MALFORMED = "malformed"
    TRUNCATED = "truncated"
    REFUSED = "refused"
    EMPTY = "empty"


@dataclass(frozen=True, slots=True)
class Request:
    """Messages and the JSON schema that the answer must fit; `purpose` is for counts alone."""

    purpose: str
    system: str
    user: str
    schema_name: str
    schema: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """The data of an answer, or the failure; and what it cost."""

    data: dict[str, Any] | None
    failure: Failure | None = None
    tokens_in: int = 0
    tokens_out: int = 0
    cached: bool = False


class Unkept(Exception):
    """Nothing may be asked now, and no answer to the request is kept: it is one to send."""

    def __init__(self, request: Request) -> None:
        super().__init__(request.purpose)
        self.request = request


class Unanswered(InterPactError):
    """One request cannot be answered although others can; a caller may go on without it."""


class Ask(Protocol):
    """Anything that answers requests: an endpoint, or a script in tests."""

    async def __call__(self, request: Request) -> Answer: ...
