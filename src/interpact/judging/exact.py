"""Judging from annotated states and the rule alone: no model, no guess about the text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from interpact.case.case import Case
from interpact.case.rules import Rule
from interpact.case.states import Decision, State
from interpact.judging.explain import listed, stays, turns
from interpact.judging.judgment import Judgment

MODE = "exact"
MAX_ALSO = 100

# P(some edit of the unit changes the decision | the mapping is not constant), by the number of
# other units of the condition: 0, 1, 2, 3 or more. Counted on labelled training roots of real
# cases (148 of 148, 31 of 36, 8 of 13, 5 of 14), with one success and one failure added.
REACH = (149 / 150, 32 / 38, 9 / 15, 6 / 16)


def judge_exact(case: Case, states: Mapping[str, State]) -> list[Judgment]:
    """Every unit and condition of a case, given the states of its conditions.

    A unit that bears on several conditions is judged as if an edit could move all of them together.
    """
    rule = case.rule_of_decision
    ordered = {condition: states[condition] for condition in case.conditions}
    outlook = _outlook(rule, tuple(ordered.items()))
    units: dict[str, list[str]] = {condition: [] for condition in case.conditions}
    for unit in case.evidence:
        for condition in unit.conditions:
            units[condition].append(unit.id)
    found: list[Judgment] = []
    for unit in case.evidence:
        if not unit.conditions:
            witness = f"{unit.id} bears on no condition of the rule"
            found.append(Judgment(case.id, unit.id, None, False, 0.0, MODE, False, witness))
        if len(unit.conditions) > 1:
            found += _shared(case.id, unit.id, unit.conditions, rule, ordered, units)
            continue
        for condition in unit.conditions:
            pivotal, witness = outlook[condition]
            also = _others(units[condition], unit.id)
            found.append(
                Judgment(
                    case.id,
                    unit.id,
                    condition,
                    pivotal,
                    reach(len(units[condition]) - 1) if pivotal else 0.0,
                    MODE,
                    pivotal,
                    witness + _held(condition, unit.id, also) if pivotal else witness,
                    also,
                )
            )
    return found


def reach(others: int) -> float:
    """How likely an edit of one unit can move its condition, given how many others bear on it."""
    return REACH[min(others, len(REACH) - 1)]


@lru_cache(maxsize=4096)
def _outlook(rule: Rule, states: tuple[tuple[str, State], ...]) -> dict[str, tuple[bool, str]]:
    """For every condition, whether the decision can turn on it, and the witness."""
    given = dict(states)
    decision = rule.decide(given)
    held = rule.reason(given) or []
    found: dict[str, tuple[bool, str]] = {}
    for condition, mapping in rule.mappings(given).items():
        turn = _turn(mapping, given[condition], decision)
        if turn is not None:
            found[condition] = (True, turns({condition: turn}, decision, mapping[turn]))
            continue
        because: list[str] | None = held
        if condition in held:
            # One more pass per condition: dear in huge rules, where a short reason must do.
            because = rule.reason(given, without=condition) if len(given) <= 500 else None
        found[condition] = (False, stays(condition, because, given, decision))
    return found


def _turn(mapping: Mapping[State, Decision], now: State, decision: Decision) -> State | None:
    """A state of the condition that changes the decision: to a settled one if possible."""
    turns = [state for state in State if state is not now and mapping[state] is not decision]
    settled = [state for state in turns if mapping[state] is not Decision.INSUFFICIENT]
    return next(iter(settled or turns), None)


def _shared(
    case: str,
    unit: str,
    conditions: Sequence[str],
    rule: Rule,
    states: Mapping[str, State],
    units: Mapping[str, list[str]],
) -> list[Judgment]:
    """The judgments of a unit whose conditions an edit may move together."""
    flips = list(rule.flips(states, among=conditions))
    decision = rule.decide(states)
    found: list[Judgment] = []
    for condition in conditions:
        moves = [flip for flip in flips if condition in flip.states] or flips
        flip = moves[0] if moves else None
        also = _others(units[condition], unit)
        probability = max((_reach_all(move.states, units) for move in moves), default=0.0)
        if flip is None:
            because = rule.reason(states, without=condition)
            witness = stays(condition, because, states, decision)
        else:
            witness = turns(flip.states, decision, flip.decision)
            if len(flip.states) > 1 or condition not in flip.states:
                witness += f" ({unit} bears on {listed(list(conditions))})"
            witness += _held(condition, unit, also)
        pivotal = any(list(flip.states) == [condition] for flip in flips)
        shares = tuple(other for other in conditions if other != condition)
        found.append(
            Judgment(
                case,
                unit,
                condition,
                flip is not None,
                probability,
                MODE,
                pivotal,
                witness,
                also,
                shares,
            )
        )
    return found


def _reach_all(conditions: Mapping[str, State], units: Mapping[str, list[str]]) -> float:
    product = 1.0
    for condition in conditions:
        product *= reach(len(units[condition]) - 1)
    return product


def _others(units: Sequence[str], unit: str) -> tuple[str, ...]:
    if len(units) == 1:
        return ()
    return tuple(other for other in units[: MAX_ALSO + 1] if other != unit)[:MAX_ALSO]


def _held(condition: str, unit: str, also: Sequence[str]) -> str:
    if not also:
        return ""
    bear = "bears" if len(also) == 1 else "bear"
    return f"; but {listed(also)} also {bear} on {condition}, so a change of {unit} alone may not move it"
