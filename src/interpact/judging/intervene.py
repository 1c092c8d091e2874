"""Mode intervene: the verifier edits a unit itself and looks whether its own prediction changes.

Each edit (removal, reversal by a template) goes through the estimator, the branches, the Hard Warrant
on the predicted original state, and the composition; the largest change probability counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from interpact.case.case import Case, Root
from interpact.case.states import Decision, State
from interpact.construct.sentences import reversed_sentence
from interpact.corpus.pairs import Operation, intervened
from interpact.judging.engines.protocol import (
    BranchQuestion,
    Chances,
    Engine,
    StateQuestion,
)
from interpact.judging.propagate import Only, Reading
from interpact.verifier.prompts import UNNAMED, PairText


@dataclass(frozen=True, slots=True)
class Tried:
    """An edit of a unit, and the chance that it changes the decision; None without a usable answer."""

    operation: Operation
    change: float | None


Tries = dict[tuple[str, str], list[Tried]]
"""The edits of every unit, seen through each of its conditions."""


def intervene(readings: Sequence[Reading], engine: Engine, only: Only | None = None) -> list[Tries]:
    """Edit every unit of every case (or `only` some) and predict the change, all cases together.

    Readings are those of the original cases; their likeliest states count as the original ones.
    """
    edits = [list(_edits(reading, only)) for reading in readings]
    every = [edit for some in edits for edit in some]
    asked = [edit for edit in every if edit.named]
    states = iter(
        engine.states([StateQuestion(e.pair.after, e.pair.root.condition) for e in asked])
    )
    q = [next(states) if edit.named else UNNAMED for edit in every]
    branches = engine.branches([BranchQuestion(e.pair, e.state, e.decision) for e in every])
    found = iter(
        Tried(edit.operation, _change(edit, chances, rows))
        for edit, chances, rows in zip(every, q, branches, strict=True)
    )
    tries: list[Tries] = []
    for some in edits:
        of_case: Tries = {}
        for edit in some:
            key = (edit.pair.root.evidence, edit.pair.root.condition)
            of_case.setdefault(key, []).append(next(found))
        tries.append(of_case)
    return tries


@dataclass(frozen=True, slots=True)
class _Edit:
    """An edited case, and what was predicted for the original one."""

    operation: Operation
    pair: PairText
    state: State
    decision: Decision

    @property
    def named(self) -> bool:
        """Whether some unit still bears on the condition."""
        condition = self.pair.root.condition
        return any(condition in unit.conditions for unit in self.pair.after.evidence)


def _edits(reading: Reading, only: Only | None) -> Iterator[_Edit]:
    if reading.missing:
        return
    case: Case = reading.case.text_only()
    states = reading.states
    decision = case.rule_of_decision.decide(states)
    for unit in case.evidence:
        if only is not None and (case.id, unit.id) not in only:
            continue
        texts: list[tuple[Operation, str | None]] = [(Operation.REMOVAL, None)]
        reversal = reversed_sentence(unit.text)
        if reversal is not None:
            texts.append((Operation.POLARITY_REVERSAL, reversal))
        for condition in unit.conditions:
            for operation, text in texts:
                after = intervened(case, unit.id, operation, text)
                pair = PairText(Root(case, unit.id, condition), after)
                yield _Edit(operation, pair, states[condition], decision)


def _change(edit: _Edit, q: Chances | None, branches: Sequence[Chances] | None) -> float | None:
    """1 - p[d_b] of p = q R^H, R^H the branches with the known row fixed."""
    if q is None or branches is None:
        return None
    before = list(Decision).index(edit.decision)
    kept = sum(
        chance * (1.0 if state is edit.state else row[before])
        for state, chance, row in zip(State, q, branches, strict=True)
    )
    return min(1.0, max(0.0, 1.0 - kept))
