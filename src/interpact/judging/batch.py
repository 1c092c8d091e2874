"""Many cases: judged a few together, written as they come, gone on with after any kill."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from interpact.case.case import Case
from interpact.case.files import Entry
from interpact.case.problems import InputProblems
from interpact.case.states import State
from interpact.errors import CaseProblem, InterPactError
from interpact.judging.exact import judge_exact
from interpact.judging.judge import known_states, states_given
from interpact.judging.judgment import AUTO, EXACT
from interpact.judging.verifier import TOGETHER, Verifier
from interpact.judging.view import View

Outcome = View | CaseProblem


@dataclass
class Judge:
    """How cases are judged; `load` gives the verifier when a case first needs one."""

    load: Callable[[], Verifier]
    mode: str = AUTO
    states: Mapping[str, State] = field(default_factory=dict[str, State])
    risk: float | None = None

    @cached_property
    def verifier(self) -> Verifier:
        """The verifier."""
        return self.load()

    def __call__(self, cases: Sequence[Case]) -> list[Outcome]:
        """Judge cases together; a case that cannot be judged does not hold up the others."""
        found: dict[int, Outcome] = {}
        asked: list[int] = []
        for i, case in enumerate(cases):
            if self.mode == EXACT or (self.mode == AUTO and states_given(case, self.states)):
                found[i] = self._exact(case)
            else:
                asked.append(i)
        try:
            views = self._predicted([cases[i] for i in asked])
            found |= dict(zip(asked, views, strict=True))
        except CaseProblem:
            for i in asked:
                try:
                    (found[i],) = self._predicted([cases[i]])
                except CaseProblem as problem:
                    found[i] = problem
        return [found[i] for i in range(len(cases))]

    def _exact(self, case: Case) -> Outcome:
        try:
            states = known_states(case, self.states)
            return View(case, states, judge_exact(case, states))
        except InterPactError as error:  # nothing but the case can be wrong here
            return CaseProblem(str(error))

    def _predicted(self, cases: Sequence[Case]) -> list[View]:
        if not cases:
            return []
        return list(self.verifier.views(cases, self.states, self.mode, self.risk))


def judged(
    entries: Iterable[Entry], judge: Callable[[Sequence[Case]], list[Outcome]]
) -> Iterator[tuple[Entry, View | InterPactError]]:
    """Every entry with its view, or with what kept it from being judged; in order."""
    stream = iter(entries)
    while some := list(islice(stream, TOGETHER)):
        outcomes = iter(judge([entry.case for entry in some if entry.case is not None]))
        for entry in some:
            if entry.case is None:
                yield entry, InputProblems(entry.problems)
                continue
            outcome = next(outcomes)
            yield entry, told(entry, outcome) if isinstance(outcome, CaseProblem) else outcome


def told(entry: Entry, problem: CaseProblem) -> CaseProblem:
    """A problem of a case with its place in the file."""
    place = entry.file + (f":{entry.line}" if entry.line else "")
    return CaseProblem(f"{place}: {problem}")


@dataclass(frozen=True, slots=True)
class Done:
    """A case that is finished: its id, if it was one, and whether it was left out as bad."""

    case: str | None
    bad: bool


class Journal:
    """Rows written case by case, so that a killed run goes on without losing or repeating one.

    Rows go to `<output>.part`; after those of a case, a line of `<output>.journal` names the case and
    the length of the part. What lies beyond the last whole line was not finished and is cut off.
    """

    def __init__(self, output: Path) -> None:
        self.output = output
        self.part = output.with_name(output.name + ".part")
        self.path = output.with_name(output.name + ".journal")

    @property
    def finished(self) -> bool:
        """Whether the output is whole."""
        return self.output.exists() and not (self.part.exists() and self.path.exists())

    def done(self) -> list[Done]:
        """What is finished so far; what was not is cut off."""
        size = self.part.stat().st_size if self.part.exists() else 0
        lines = self.path.read_bytes().splitlines(keepends=True) if self.path.exists() else []
        found: list[Done] = []
        end = whole = 0
        for line in lines:
            try:
                record: dict[str, Any] = json.loads(line)
            except ValueError:
                break
            if not line.endswith(b"\n") or record["end"] > size:
                break
            found.append(Done(record["case"], record["bad"]))
            end, whole = record["end"], whole + len(line)
        for path, length in ((self.path, whole), (self.part, end)):
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("ab") as file:
                file.truncate(length)
        return found

    def write(self, finished: Iterable[tuple[Done, Sequence[Mapping[str, Any]]]]) -> None:
        """Append the rows of cases as they come."""
        encode = json.JSONEncoder(ensure_ascii=False).encode
        with self.part.open("ab") as part, self.path.open("ab") as journal:
            for done, rows in finished:
                part.write("".join(encode(row) + "\n" for row in rows).encode())
                part.flush()
                record = {"case": done.case, "bad": done.bad, "end": part.tell()}
                journal.write((encode(record) + "\n").encode())
                journal.flush()

    def rows(self) -> Iterator[dict[str, Any]]:
        """All rows written so far."""
        with self.part.open(encoding="utf-8") as file:
            yield from map(json.loads, file)

    def finish(self) -> None:
        """The part becomes the output."""
        self.part.replace(self.output)
        self.path.unlink(missing_ok=True)

    def drop(self) -> None:
        """Forget the part; the output was written from it."""
        self.part.unlink(missing_ok=True)
        self.path.unlink(missing_ok=True)


def after(entries: Iterable[Entry], done: Sequence[Done], journal: Path) -> Iterator[Entry]:
    """The entries that follow those done, which must be the same as they were."""
    stream = iter(entries)
    for i, before in enumerate(done):
        entry = next(stream, None)
        case = None if entry is None or entry.case is None else entry.case.id
        if entry is None or case != before.case:
            raise InterPactError(
                f"{journal}: case {i + 1} of the interrupted run was {before.case or 'a bad one'}, "
                f"now it is {case or 'none'}; give the same input, or delete the journal to begin anew"
            )
    yield from stream
