"""Judging over HTTP: one case or a batch, with limits, an optional key, and errors that programs read.

    app.include_router(router(Verifier.load()))

Cases are judged one request at a time in a thread of their own; what waits is bounded in number and
time, so a flood is refused and never piles up.
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.requests import ClientDisconnect

import interpact
from interpact.case.case import Case
from interpact.case.files import case_from
from interpact.case.formats import FormatError, decode, parse_json
from interpact.case.problems import InputProblems
from interpact.case.states import State
from interpact.errors import CaseProblem, InterPactError
from interpact.judging.batch import Judge, Outcome
from interpact.judging.judgment import AUTO, MODES
from interpact.judging.settings import likeliest
from interpact.judging.verifier import Verifier
from interpact.judging.view import View


@dataclass(frozen=True)
class Limits:
    """What a server takes on."""

    body: int = 2_000_000  # bytes
    cases: int = 100  # of a batch
    seconds: float = 60.0  # for a request, waiting included
    waiting: int = 64  # requests in the house at a time


class _Wanted(BaseModel):
    model_config = ConfigDict(extra="forbid")

    mode: str = AUTO
    states: dict[str, State] = {}
    risk: float | None = None


class JudgeRequest(_Wanted):
    """A case as case files hold it; `states` are taken as known, `risk` lets the judge abstain."""

    case: dict[str, Any]


class BatchRequest(_Wanted):
    """Cases that are judged alike."""

    cases: list[dict[str, Any]]


class Refused(Exception):
    """A request that is answered with an error."""

    def __init__(self, status: int, code: str, message: str, problems: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.status, self.code, self.problems = status, code, list(problems)

    def data(self) -> dict[str, Any]:
        """The error as JSON."""
        return {"error": {"code": self.code, "message": str(self), "problems": self.problems}}


def router(
    verifier: Verifier | None, limits: Limits | None = None, key: str | None = None
) -> APIRouter:
    """The routes; without a verifier only mode exact, without a key anybody may ask."""
    bounds = limits or Limits()
    house = _House(verifier, bounds)
    found = APIRouter(prefix="/v1", tags=["judging"])

    def answered(work: Callable[[Request], Awaitable[Any]]) -> Callable[[Request], Awaitable[Any]]:
        async def handler(request: Request) -> JSONResponse:
            try:
                _admit(request, key)
                async with asyncio.timeout(bounds.seconds):
                    return JSONResponse(await work(request))
            except TimeoutError:
                refused = Refused(504, "timeout", f"no answer within {bounds.seconds:g} s")
            except ClientDisconnect:
                refused = Refused(400, "disconnected", "the request was not sent whole")
            except Refused as error:
                refused = error
            headers = {"Retry-After": "1"} if refused.status == 503 else {}
            return JSONResponse(refused.data(), refused.status, headers=headers)

        return handler

    async def one(request: Request) -> dict[str, Any]:
        wanted = _parsed(await _body(request, bounds.body), JudgeRequest)
        (outcome,) = await house.judged([_case(wanted.case)], wanted)
        if isinstance(outcome, CaseProblem):
            raise Refused(422, "case", str(outcome))
        return view_data(outcome)

    async def batch(request: Request) -> dict[str, Any]:
        wanted = _parsed(await _body(request, bounds.body), BatchRequest)
        if len(wanted.cases) > bounds.cases:
            raise Refused(413, "too_many_cases", f"more than {bounds.cases:,} cases in a batch")
        cases: list[Case | Refused] = []
        for data in wanted.cases:
            try:
                cases.append(_case(data))
            except Refused as error:
                cases.append(error)
        left = iter(await house.judged([c for c in cases if isinstance(c, Case)], wanted))
        results: list[dict[str, Any]] = []
        for case in cases:
            if isinstance(case, Refused):
                results.append(case.data())
                continue
            outcome = next(left)
            bad = isinstance(outcome, CaseProblem)
            results.append(Refused(422, "case", str(outcome)).data() if bad else view_data(outcome))
        return {"results": results}

    async def health(request: Request) -> dict[str, Any]:
        return {
            "status": "ok",
            "version": interpact.__version__,
            "verifier": None if verifier is None else verifier.name,
            "mode": None if verifier is None else verifier.settings.mode,
            "waiting": house.waiting,
        }

    add = partial(found.add_api_route, response_class=JSONResponse)
    add("/judge", answered(one), methods=["POST"], name="judge", **_described(JudgeRequest))
    add("/judge/batch", answered(batch), methods=["POST"], name="batch", **_described(BatchRequest))
    found.add_api_route("/health", health, methods=["GET"], name="health")
    return found


def api_app(
    verifier: Verifier | None, limits: Limits | None = None, key: str | None = None
) -> FastAPI:
    """The routes as an application of their own."""
    app = FastAPI(title="InterPact", version=interpact.__version__)
    app.include_router(router(verifier, limits, key))
    return app


def view_data(view: View) -> dict[str, Any]:
    """A judged case as JSON."""
    chances = view.chances or {}
    return {
        "case": view.case.id,
        "mode": view.mode,
        "decision": view.decision if view.states else None,
        "states": {
            condition: {
                "state": likeliest(chances[condition]) if condition in chances else state,
                "chances": list(chances.get(condition, ())),
            }
            for condition, state in view.states.items()
        },
        "judgments": [judgment.data() for judgment in view.judgments],
    }


class _House:
    """Where requests wait for the one thread that judges."""

    def __init__(self, verifier: Verifier | None, limits: Limits) -> None:
        self.verifier, self.limits = verifier, limits
        self.waiting = 0
        self.thread = ThreadPoolExecutor(1, thread_name_prefix="judge")

    async def judged(self, cases: Sequence[Case], wanted: _Wanted) -> list[Outcome]:
        if wanted.mode not in (AUTO, *MODES):
            told = ", ".join((AUTO, *MODES))
            raise Refused(422, "mode", f'there is no mode "{wanted.mode}"; use {told}')
        if self.waiting >= self.limits.waiting:
            raise Refused(503, "busy", "too many requests are waiting; come back in a moment")
        judge = Judge(self._loaded, wanted.mode, wanted.states, wanted.risk)
        self.waiting += 1
        try:
            # Given up after the time limit; what has not begun by then is not begun.
            return await asyncio.wrap_future(self.thread.submit(judge, cases))
        except InterPactError as error:
            raise Refused(422 if wanted.risk is not None else 503, "judge", str(error)) from None
        finally:
            self.waiting -= 1

    def _loaded(self) -> Verifier:
        if self.verifier is None:
            raise InterPactError(
                "this server has no verifier; give the states of all conditions (mode exact)"
            )
        return self.verifier


def _admit(request: Request, key: str | None) -> None:
    if key is None:
        return
    given = request.headers.get("authorization", "").removeprefix("Bearer ")
    if not hmac.compare_digest(given.encode(), key.encode()):
        raise Refused(401, "key", "send the key as `Authorization: Bearer KEY`")


async def _body(request: Request, limit: int) -> bytes:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":  # what other sites can make a browser send without asking
        raise Refused(415, "content_type", "send JSON, with Content-Type: application/json")
    declared = request.headers.get("content-length", "0")
    parts: list[bytes] = []
    size = int(declared) if declared.isdecimal() else 0
    if size <= limit:
        size = 0
        async for part in request.stream():
            parts.append(part)
            size += len(part)
            if size > limit:
                break
    if size > limit:
        raise Refused(413, "too_large", f"a body may have {limit:,} bytes")
    return b"".join(parts)


def _parsed(body: bytes, kind: type[Any]) -> Any:
    try:
        return kind.model_validate(parse_json(decode(body)))
    except FormatError as error:
        raise Refused(400, "json", error.what) from None
    except ValidationError as error:
        problems = [
            f"{'.'.join(map(str, e['loc'])) or 'body'}: {e['msg']}"
            for e in error.errors(include_url=False, include_input=False)[:100]
        ]
        raise Refused(
            422, "request", "the request does not have the right form", problems
        ) from None


def _case(data: object) -> Case:
    try:
        return case_from(data)
    except InputProblems as error:
        told = [str(problem) for problem in error.problems[:100]]
        raise Refused(422, "case", "this is no sound case", told) from None


def _described(kind: type[BaseModel]) -> dict[str, Any]:
    """What OpenAPI says of a route whose body is read under a limit."""
    schema = kind.model_json_schema()
    error = {"description": "an error: code, message, problems"}
    return {
        "openapi_extra": {
            "requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}
        },
        "responses": dict.fromkeys((400, 401, 413, 415, 422, 503, 504), error),
    }
