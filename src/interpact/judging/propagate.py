"""Mode propagate: predicted states, the exact chance that the decision turns, and reachability.

P(critical) = sum over mappings T and states s of P(T) q(s) P(some edit of the unit takes the
condition from s into a state where T differs). T follows from the other conditions under any rule,
exactly; q is what the estimator says of the condition.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from interpact.case.case import Case, Evidence
from interpact.case.states import Decision, State
from interpact.corpus.pairs import Operation, intervened
from interpact.judging.engines.protocol import Chances, Engine, StateQuestion
from interpact.judging.joint import joint_chance
from interpact.judging.settings import Reach, StateScaling, certain, likeliest
from interpact.verifier.prompts import UNNAMED

Only = Collection[tuple[str, str]]
"""Cases and units to which a question is restricted."""

MAX_REMOVALS = 50  # units of one condition; beyond, no single one of them matters


@dataclass(frozen=True)
class Reading:
    """What the estimator says of a case: of every condition, and of those without one of their units.

    A condition is missing where the estimator gave no usable answer.
    """

    case: Case
    chances: dict[str, Chances]
    without: dict[tuple[str, str], Chances]  # unit and condition, the unit removed

    @property
    def missing(self) -> list[str]:
        """Conditions of which nothing usable was said."""
        return [condition for condition in self.case.conditions if condition not in self.chances]

    @property
    def states(self) -> dict[str, State]:
        """The likeliest state of every condition."""
        return {condition: likeliest(chances) for condition, chances in self.chances.items()}

    def scaled(self, scaling: StateScaling, known: Mapping[str, State] | None = None) -> Reading:
        """The reading with corrected probabilities, and with what is known for certain."""
        named = {condition for unit in self.case.evidence for condition in unit.conditions}
        chances = {c: scaling(q) if c in named else q for c, q in self.chances.items()}
        for condition, state in (known or {}).items():
            chances[condition] = certain(state)
        ordered = {c: chances[c] for c in self.case.conditions if c in chances}
        return replace(self, chances=ordered)


def read(
    cases: Sequence[Case], engine: Engine, removals: bool = True, only: Only | None = None
) -> list[Reading]:
    """Ask the estimator about cases, all questions of all cases together.

    With `removals` also without each unit (or `only` some) that others stand beside.
    """
    asked: list[StateQuestion] = []
    for case in cases:
        asked += [question for _, question in _questions(case, removals, only)]
    answers = iter(engine.states(asked))
    found: list[Reading] = []
    for case in cases:
        units = _units(case)
        chances = {c: UNNAMED for c in case.conditions if c not in units}
        without: dict[tuple[str, str], Chances] = {}
        for key, _ in _questions(case, removals, only):
            answer = next(answers)
            if answer is None:
                continue
            if isinstance(key, str):
                chances[key] = answer
            else:
                without[key] = answer
        ordered = {c: chances[c] for c in case.conditions if c in chances}
        found.append(Reading(case, ordered, without))
    return found


def _questions(
    case: Case, removals: bool, only: Only | None
) -> Iterator[tuple[str | tuple[str, str], StateQuestion]]:
    """Every condition that a unit names; then those with several units, without each of them."""
    text = case.text_only()
    for condition, units in _units(case).items():
        yield condition, StateQuestion(text, condition)
        if removals and 1 < len(units) <= MAX_REMOVALS:
            for unit in units:
                if only is not None and (case.id, unit) not in only:
                    continue
                left = intervened(text, unit, Operation.REMOVAL, None)
                yield (unit, condition), StateQuestion(left, condition)


def _units(case: Case) -> dict[str, list[str]]:
    """The units of every condition that has some, in order."""
    found: dict[str, list[str]] = {}
    for unit in case.evidence:
        for condition in unit.conditions:
            found.setdefault(condition, []).append(unit.id)
    return {condition: found[condition] for condition in case.conditions if condition in found}


@dataclass(frozen=True)
class Scores:
    """The score of every unit and condition, and P(the decision can turn on the condition)."""

    units: dict[tuple[str, str], float]
    pivotal: dict[str, float]


def score(reading: Reading, reach: Reach) -> Scores:
    """P(critical) of every unit through each of its conditions, before calibration."""
    rule, units = reading.case.rule_of_decision, _units(reading.case)
    chances = reading.chances
    alone: dict[tuple[str, str], float] = {}
    pivotal: dict[str, float] = {}
    settled: dict[tuple[str, str], float] = {}  # P(an edit moves the condition at all)
    for condition, named in units.items():
        # Ways to change the decision: from a state, the states in which it differs, how likely.
        ways: dict[tuple[State, frozenset[State]], float] = {}
        mappings = rule.mapping_chances(chances, condition)
        for mapping, chance in mappings.items():
            for state, now, share in zip(State, mapping, chances[condition], strict=True):
                into = _changing(mapping, now)
                if into:
                    ways[state, into] = ways.get((state, into), 0.0) + chance * share
        pivotal[condition] = min(1.0, sum(p for m, p in mappings.items() if len(set(m)) > 1))
        for unit in named:
            left = reading.without.get((unit, condition))

            def reached(
                state: State,
                into: frozenset[State],
                others: int = len(named) - 1,
                left: Chances | None = left,
            ) -> float:
                held = 0.5 if left is None else left[list(State).index(state)]
                return reach(state, into, others, held)

            alone[unit, condition] = sum(p * reached(*way) for way, p in ways.items())
            settled[unit, condition] = sum(
                share * reached(state, frozenset(State) - {state})
                for state, share in zip(State, chances[condition], strict=True)
            )
    for unit in reading.case.evidence:
        if len(unit.conditions) > 1:
            alone |= _together(reading, unit, alone, pivotal, settled)
    return Scores(alone, pivotal)


def _changing(mapping: Sequence[Decision], now: Decision) -> frozenset[State]:
    return frozenset(s for s, d in zip(State, mapping, strict=True) if d is not now)


def _together(
    reading: Reading,
    unit: Evidence,
    alone: Mapping[tuple[str, str], float],
    pivotal: Mapping[str, float],
    settled: Mapping[tuple[str, str], float],
) -> dict[tuple[str, str], float]:
    """Scores of a unit that bears on several conditions, which an edit may move together.

    Either the decision turns on one of them alone, or, if on none, on several that all have to move.
    """
    best = max(unit.conditions, key=lambda condition: alone[unit.id, condition])
    joint = joint_chance(reading.case.rule_of_decision, reading.chances, unit.conditions)
    more = 0.0
    if joint is not None:
        more = max(0.0, joint - max(pivotal[condition] for condition in unit.conditions))
        for condition in unit.conditions:
            more *= settled[unit.id, condition]
    found = min(1.0, alone[unit.id, best] + more)
    return {(unit.id, condition): found for condition in unit.conditions}
