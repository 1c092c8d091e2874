"""People's answers to the review queue: back into the journal and the pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from interpact.case.case import Id
from interpact.case.formats import FormatError, decode, parse_json
from interpact.case.problems import InputProblems, Problem, field_problems
from interpact.case.states import State, did_you_mean
from interpact.construct.checks import Exclusion
from interpact.construct.judges import Reading, Role
from interpact.construct.records import REVIEW, REVIEWED, Attempt, Journal, Outcome
from interpact.construct.report import ConstructionReport
from interpact.construct.run import publish, standing_attempts
from interpact.corpus.store import Corpus
from interpact.errors import InterPactError

REJECT = "reject"
"""The answer to an item whose edit should not become a pair."""


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore")

    id: Id
    state: str | None = None

    @field_validator("state", mode="before")
    @classmethod
    def _known(cls, value: object) -> object:
        if value is None or value == REJECT:
            return value
        try:
            return State(value)  # type: ignore[arg-type]
        except ValueError:
            known = ", ".join((*State, REJECT))
            raise ValueError(f"{value!r} is no answer; use one of {known}") from None


def read_answers(path: str | Path) -> dict[str, State | None]:
    """The answers of a filled-in review.jsonl: states, and none for `reject`; blanks are left out."""
    found: dict[str, State | None] = {}
    problems: list[Problem] = []
    for number, answer, problem in _lines(Path(path)):
        if answer is None:
            problems.append(Problem(str(path), number, "", problem))
        elif answer.state is not None:
            state = None if answer.state == REJECT else State(answer.state)
            if found.setdefault(answer.id, state) is not state:
                what = "is answered twice and differently; keep one answer"
                problems.append(Problem(str(path), number, answer.id, what))
    if problems:
        raise InputProblems(problems)
    return found


def _lines(path: Path) -> Iterator[tuple[int, _Answer | None, str]]:
    try:
        file = path.open("rb")
    except OSError as error:
        raise InterPactError(f"{path}: cannot be read: {error.strerror or error}") from None
    with file:
        for number, line in enumerate(file, 1):
            try:
                text = decode(line, number)
                if text.strip():
                    yield number, _Answer.model_validate(parse_json(text, number)), ""
            except FormatError as error:
                yield number, None, error.what
            except ValidationError as error:
                at, what = field_problems(error.errors(include_url=False), {})[0]
                yield number, None, ": ".join([*map(str, at), what])


def merge_review(folder: str | Path, answers: Mapping[str, State | None]) -> ConstructionReport:
    """Make pairs of reviewed interventions, or exclude those answered with none.

    The pair carries the flag `state_reviewed`. An answer that was merged before changes nothing.
    """
    corpus = Corpus.read(folder)
    pairs = {pair.id for pair in corpus.pairs}
    with Journal.open(folder) as journal:
        standing = standing_attempts(folder, corpus)
        open_items = {
            name
            for name, attempt in standing.items()
            if attempt.outcome is Outcome.REVIEW and name not in pairs
        }
        problems: list[Problem] = []
        merged: list[Attempt] = []
        for name, state in answers.items():
            if name in open_items:
                merged.append(_answered(standing[name], state))
            elif not _same_answer(standing.get(name), state):
                guess = did_you_mean(name, sorted(open_items))
                what = f"is not waiting for review{guess}; drop the answer"
                problems.append(Problem(str(Path(folder) / REVIEW), None, name, what))
        if problems:
            raise InputProblems(problems)
        for attempt in merged:
            journal.append(attempt)
            standing[attempt.id] = attempt
        return publish(folder, corpus, standing)


def _answered(attempt: Attempt, state: State | None) -> Attempt:
    update: dict[str, object] = {
        "readings": (*attempt.readings, Reading(role=Role.PERSON, state=state)),
        "state": state,
    }
    if state is None:
        update |= {"outcome": Outcome.EXCLUDED, "reason": Exclusion.REVIEWED.value}
    else:
        update |= {"outcome": Outcome.ACCEPTED, "flags": (*attempt.flags, REVIEWED)}
    return attempt.model_copy(update=update)


def _same_answer(attempt: Attempt | None, state: State | None) -> bool:
    """Whether the answer was merged before."""
    last = attempt.readings[-1] if attempt and attempt.readings else None
    return last is not None and last.role is Role.PERSON and last.state is state
