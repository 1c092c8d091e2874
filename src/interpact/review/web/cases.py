"""The case page: what a decision hangs on, and what if."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import Annotated, Any

from fastapi import APIRouter, File, HTTPException, Query, Request, UploadFile
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from interpact.case.case import Case, LabelledCase
from interpact.case.files import case_data, entries
from interpact.case.problems import InputProblems
from interpact.case.rules import FEW_CONDITIONS
from interpact.case.states import Decision, State
from interpact.errors import InterPactError
from interpact.judging.exact import judge_exact
from interpact.judging.page import write_page
from interpact.judging.view import View
from interpact.review.web.desk import ADesk, Desk, OwnForm, Shelved, SignedIn, Who

router = APIRouter(default_response_class=HTMLResponse)

PAGE = 50
LETTERS = {"s": State.SATISFIED, "n": State.NOT_SATISFIED, "u": State.UNKNOWN}
READ = (".yaml", ".yml", ".json", ".jsonl", ".ndjson")


@dataclass(frozen=True)
class Estimates:
    """What an estimator says of a case: state chances, decision chances, chances to turn."""

    states: dict[str, dict[State, float]]
    decision: dict[Decision, float]
    pivotal: dict[str, float]

    @staticmethod
    def of(case: Case, chances: Mapping[str, Sequence[float]]) -> Estimates:
        """Everything that follows exactly from the state distributions."""
        rule = case.rule_of_decision
        given = {c: chances[c] for c in case.conditions}
        return Estimates(
            {c: dict(zip(State, p, strict=True)) for c, p in given.items()},
            rule.decision_chances(given),
            rule.pivotal_chances(given),
        )


@dataclass(frozen=True)
class Open:
    """A case as it is looked at: the states it started with, those set, and what follows."""

    shelved: Shelved
    start: dict[str, State]
    origin: str
    estimates: Estimates | None
    view: View
    sets: bool
    """Whether the smallest changes are looked for."""

    @property
    def large(self) -> bool:
        """Whether looking for them could take longer than all the rest."""
        return len(self.start) > FEW_CONDITIONS

    @property
    def changed(self) -> list[str]:
        """The conditions whose state was set."""
        return [c for c, state in self.view.states.items() if state is not self.start[c]]

    @property
    def query(self) -> str:
        """The set states as part of an address."""
        numbers = {c: n for n, c in enumerate(self.start)}
        letters = {state: letter for letter, state in LETTERS.items()}
        return "&".join(f"c{numbers[c]}={letters[self.view.states[c]]}" for c in self.changed)

    @property
    def because(self) -> list[str]:
        """Conditions whose states alone fix the decision."""
        return self.view.rule.reason(self.view.states) or []


@router.get("/cases")
def listing(
    request: Request,
    desk: ADesk,
    who: SignedIn,
    find: Annotated[str, Query(max_length=200)] = "",
    page: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
) -> Response:
    """The cases at hand. Reviewers have only their uploads: what they audit must stay unseen."""
    cases = list(desk.shelf.cases.values()) if _all_cases(who) else []
    sought = find.casefold().strip()
    found = [
        c for c in cases if sought in c.case.id.casefold() or sought in c.case.query.casefold()
    ]
    return desk.page(
        "cases.html",
        request,
        cases=found[(page - 1) * PAGE : page * PAGE],
        of=len(found),
        page=page,
        pages=max(1, -(-len(found) // PAGE)),
        find=find,
        uploads=desk.shelf.uploads(_owner(request, who)),
        problems=[],
        all_cases=_all_cases(who),
    )


@router.post("/cases", dependencies=[OwnForm])
def upload(
    request: Request, desk: ADesk, who: SignedIn, file: Annotated[UploadFile, File()]
) -> Response:
    """Take in a case file."""
    try:
        case = _uploaded(file)
    except InterPactError as error:
        problems = error.problems if isinstance(error, InputProblems) else [error]
        return desk.page(
            "cases.html",
            request,
            422,
            cases=[],
            of=0,
            page=1,
            pages=1,
            find="",
            uploads=[],
            problems=[str(problem) for problem in problems[:50]],
            all_cases=False,
        )
    request.state.visitor.send = request.state.visitor.fresh or request.state.visitor.send
    made = desk.shelf.add(case, _owner(request, who))
    return RedirectResponse(f"/cases/{made.key}", 303)


def _uploaded(file: UploadFile) -> Case:
    # Only the ending of the name is looked at, and no file of that name is ever touched.
    ending = PurePath(file.filename or "").suffix.lower()
    if ending not in READ:
        raise InterPactError(
            f"upload a case file ({', '.join(READ)}), not {ending or 'a file without an ending'}; "
            "the command line reads Parquet too"
        )
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"upload{ending}"
        path.write_bytes(file.file.read())
        found = list(entries(path))
    problems = [replace(p, file=path.name) for entry in found for p in entry.problems]
    if problems:
        raise InputProblems(problems)
    cases = [entry.case for entry in found if entry.case is not None]
    if not cases:
        raise InterPactError("there is no case in this file")
    if len(cases) > 1:
        raise InterPactError(f"this file holds {len(cases):,} cases; upload one at a time")
    return cases[0]


@router.get("/cases/{key}")
def show(request: Request, desk: ADesk, who: SignedIn, key: str) -> Response:
    """A case; states in the address (c0=s, c1=n, c2=u, ...) ask what if."""
    opened = _open(request, desk, who, key)
    part = request.headers.get("hx-request") == "true"
    return desk.page("_case.html" if part else "case.html", request, opened=opened)


@router.get("/cases/{key}/export.html")
def export_page(request: Request, desk: ADesk, who: SignedIn, key: str) -> Response:
    """The case as one self-contained page."""
    out = io.StringIO()
    write_page([_open(request, desk, who, key).view], out)
    return HTMLResponse(out.getvalue(), headers=_attached("html"))


@router.get("/cases/{key}/export.json", response_class=JSONResponse)
def export_json(request: Request, desk: ADesk, who: SignedIn, key: str) -> Response:
    """The case, the states it was judged with, the decision and the judgments."""
    opened = _open(request, desk, who, key)
    found: dict[str, Any] = {
        "case": case_data(opened.shelved.case),
        "states": opened.view.states,
        "decision": opened.view.decision,
        "judgments": [judgment.data() for judgment in opened.view.judgments],
    }
    if opened.estimates is not None:
        found["estimates"] = {
            "states": opened.estimates.states,
            "decision": opened.estimates.decision,
            "pivotal": opened.estimates.pivotal,
        }
    return JSONResponse(found, headers=_attached("json"))


def _attached(ending: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="interpact-case.{ending}"'}


def _all_cases(who: Who) -> bool:
    return who.viewer or who.admin


def _owner(request: Request, who: Who) -> str:
    return str(who.person.id) if who.person else request.state.visitor.token


def _open(request: Request, desk: Desk, who: Who, key: str) -> Open:
    shelved = desk.shelf.find(key)
    if shelved is None or not (
        shelved.owner == _owner(request, who) if shelved.owner else _all_cases(who)
    ):
        raise HTTPException(404, "there is no such case; uploads are kept only for a while")
    case = shelved.case
    chances = desk.estimated(shelved)
    estimates = None if chances is None else Estimates.of(case, chances)
    if isinstance(case, LabelledCase):
        origin, start = "annotated", {c: case.labels.states[c] for c in case.conditions}
    elif estimates is not None:
        origin = "estimated"
        start = {c: max(State, key=estimates.states[c].__getitem__) for c in case.conditions}
    else:
        origin, start = "unknown", dict.fromkeys(case.conditions, State.UNKNOWN)
    states = dict(start)
    for number, condition in enumerate(case.conditions):
        letter = request.query_params.get(f"c{number}")
        if letter is not None and letter not in LETTERS:
            raise HTTPException(422, f"c{number}: write s, n or u")
        if letter is not None:
            states[condition] = LETTERS[letter]
    view = View(case, states, judge_exact(case, states))
    sets = len(start) <= FEW_CONDITIONS or request.query_params.get("sets") == "1"
    return Open(shelved, start, origin, estimates, view, sets)
