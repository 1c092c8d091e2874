"""Judging from annotated states and the rule alone: no model, no guess about the text."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from math import prod

from interpact.case.case import Case, Evidence
from interpact.case.rules import FEW_CONDITIONS, Rule
from interpact.case.states import Decision, State
from interpact.errors import InterPactError
from interpact.judging.explain import listed, stays, turns
from interpact.judging.judgment import Judgment

MODE = "exact"
MAX_ALSO = 100
MANY_CONDITIONS = 500  # beyond, a reason of its own for each unit would cost too much

# P(some edit of the unit changes the decision | the mapping is not constant), by the number of
# other units of the condition: 0, 1, 2, 3 or more. Counted on labelled training roots of real
# cases (148 of 148, 31 of 36, 8 of 13, 5 of 14), with one success and one failure added.
REACH = (149 / 150, 32 / 38, 9 / 15, 6 / 16)


def judge_exact(case: Case, states: Mapping[str, State]) -> list[Judgment]:
    """Every unit and condition of a case, given the states of its conditions.

    A unit that bears on several conditions is judged as if an edit could move all of them together.
    """
    rule = case.rule_of_decision
    ordered = tuple((condition, states[condition]) for condition in case.conditions)
    look = _kept if len(ordered) <= FEW_CONDITIONS else _outlook
    outlook = look(rule, ordered)
    units: dict[str, list[str]] = {condition: [] for condition in case.conditions}
    for unit in case.evidence:
        for condition in unit.conditions:
            units[condition].append(unit.id)
    shared = [unit for unit in case.evidence if len(unit.conditions) > 1]
    found_shared = _Shared(case.id, rule, dict(ordered), outlook, units).judge(shared)
    found: list[Judgment] = []
    for unit in case.evidence:
        if len(unit.conditions) > 1:
            found += found_shared[unit.id]
        elif unit.conditions:
            condition = unit.conditions[0]
            pivotal, witness = outlook[condition]
            others = len(units[condition]) - 1
            if pivotal and others:
                witness += _bear_too(_others(units[condition], unit.id), others, condition, unit.id)
            found.append(
                Judgment(
                    case.id,
                    unit.id,
                    condition,
                    pivotal,
                    reach(others) if pivotal else 0.0,
                    MODE,
                    pivotal,
                    witness,
                    _others(units[condition], unit.id) if others else (),
                )
            )
        else:
            witness = f"{unit.id} bears on no condition of the rule"
            found.append(Judgment(case.id, unit.id, None, False, 0.0, MODE, False, witness))
    return found


def reach(others: int) -> float:
    """How likely an edit of one unit can move its condition, given how many others bear on it."""
    return REACH[min(others, len(REACH) - 1)]


Outlook = dict[str, tuple[bool, str]]
"""For every condition, whether the decision can turn on it alone, and the witness."""


def _outlook(rule: Rule, states: tuple[tuple[str, State], ...]) -> Outlook:
    given = dict(states)
    decision = rule.decide(given)
    held = rule.reason(given) or []
    found: Outlook = {}
    for condition, mapping in rule.mappings(given).items():
        turn = _turn(mapping, given[condition], decision)
        if turn is not None:
            found[condition] = (True, turns({condition: turn}, decision, mapping[turn]))
        else:
            because = _because(rule, given, held, [condition])
            found[condition] = (False, stays(condition, because, given, decision))
    return found


_kept = lru_cache(maxsize=4096)(_outlook)


def _turn(mapping: Mapping[State, Decision], now: State, decision: Decision) -> State | None:
    """A state of the condition that changes the decision: to a settled one if possible."""
    changed = [state for state in State if state is not now and mapping[state] is not decision]
    settled = [state for state in changed if mapping[state] is not Decision.INSUFFICIENT]
    return next(iter(settled or changed), None)


def _because(
    rule: Rule, states: Mapping[str, State], held: Sequence[str], without: Collection[str]
) -> Sequence[str] | None:
    """Conditions that fix the decision whatever those `without` are; `held` fix it at all."""
    if not any(condition in without for condition in held):
        return held
    return rule.reason(states, without) if len(states) <= MANY_CONDITIONS else None


class _Shared:
    """Judges units that bear on several conditions, all of which an edit may move together."""

    def __init__(
        self,
        case: str,
        rule: Rule,
        states: dict[str, State],
        outlook: Outlook,
        units: Mapping[str, list[str]],
    ) -> None:
        self.case, self.rule, self.states = case, rule, states
        self.outlook, self.units = outlook, units

    def judge(self, shared: Sequence[Evidence]) -> dict[str, list[Judgment]]:
        if not shared:
            return {}
        self.decision = self.rule.decide(self.states)
        self.held = self.rule.reason(self.states) or []
        try:
            movable: list[bool] | None = self.rule.movable(
                self.states, [unit.conditions for unit in shared]
            )
        except InterPactError:  # too entangled to tell
            movable = None
        joint = [
            unit
            for unit, can in zip(shared, movable or (), strict=False)
            if can and not self._alone(unit)
        ]
        flips = self.rule.group_flips(self.states, [unit.conditions for unit in joint])
        self.flips = {unit.id: found for unit, found in zip(joint, flips, strict=True)}
        return {
            unit.id: self._unit(unit, None if movable is None else movable[i])
            for i, unit in enumerate(shared)
        }

    def _alone(self, unit: Evidence) -> list[str]:
        """The conditions of a unit on each of which the decision turns by itself."""
        return [condition for condition in unit.conditions if self.outlook[condition][0]]

    def _unit(self, unit: Evidence, movable: bool | None) -> list[Judgment]:
        """The judgments of a unit through each of its conditions."""
        alone = self._alone(unit)
        together: Collection[str] = ()
        because: Sequence[str] | None = None
        witness: str | None
        if alone:
            critical: bool | None = True
            chance = max(self._reach(condition) for condition in alone)
            witness = self.outlook[alone[0]][1] + _moves(unit)
        elif movable:
            critical, chance, witness, together = True, *self._joint(unit)
        elif movable is None:
            critical, chance, witness = (
                None,
                None,
                f"the rule is too entangled to tell{_moves(unit)}",
            )
        else:
            critical, chance = False, 0.0
            because = _because(self.rule, self.states, self.held, unit.conditions)
            witness = None
        found: list[Judgment] = []
        for condition in unit.conditions:
            pivotal, own = self.outlook[condition]
            said = own if pivotal else witness
            if said is None:
                said = stays(condition, because, self.states, self.decision)
            others = len(self.units[condition]) - 1
            also = _others(self.units[condition], unit.id) if others else ()
            if critical and others and (pivotal or condition in together):
                said += _bear_too(also, others, condition, unit.id)
            shares = tuple(islice((c for c in unit.conditions if c != condition), MAX_ALSO))
            through = self._reach(condition) if pivotal else chance
            found.append(
                Judgment(
                    self.case,
                    unit.id,
                    condition,
                    critical,
                    through,
                    MODE,
                    pivotal,
                    said,
                    also,
                    shares,
                )
            )
        return found

    def _joint(self, unit: Evidence) -> tuple[float, str, Collection[str]]:
        """Chance, witness and conditions of a change that only several conditions bring together."""
        flips = list(self.flips[unit.id])
        if not flips:  # the search gave up, though the change exists
            told = f"moving {unit.id} could change the decision{_moves(unit)}"
            return min(map(self._reach, unit.conditions)), told, unit.conditions
        chances = [prod(map(self._reach, flip.states)) for flip in flips]
        best = flips[chances.index(max(chances))]
        told = turns(best.states, self.decision, best.decision) + _moves(unit)
        return max(chances), told, best.states

    def _reach(self, condition: str) -> float:
        return reach(len(self.units[condition]) - 1)


def _others(units: Sequence[str], unit: str) -> tuple[str, ...]:
    return tuple(islice((other for other in units if other != unit), MAX_ALSO))


def _moves(unit: Evidence) -> str:
    return f" ({unit.id} bears on {listed(unit.conditions)})"


def _bear_too(also: Sequence[str], others: int, condition: str, unit: str) -> str:
    bear = "bears" if others == 1 else "bear"
    named = listed(also) if others <= len(also) else f"{others:,} other units"
    return f"; but {named} also {bear} on {condition}, so a change of {unit} alone may not move it"
