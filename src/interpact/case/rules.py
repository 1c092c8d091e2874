"""Three-valued rules: what a decision follows from, and which conditions it can turn on.

    >>> rule = Rule.parse("c1 and (c2 or not c3)")
    >>> rule.decide({"c1": "satisfied", "c2": "unknown", "c3": "satisfied"}).value
    'insufficient'

Kleene evaluation is the semantics, also where a condition occurs twice: `c1 or not c1` is
unknown while c1 is unknown, although it would be satisfied whatever c1 turned out to be.

    >>> Rule.parse("c1 or not c1").decide({"c1": "unknown"}).value
    'insufficient'
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import merge
from itertools import islice

from interpact.case.circuit import HIGH, LOW, MIDDLE, Circuit, Leaf, Response, Standing
from interpact.case.diagrams import Weights
from interpact.case.expressions import And, Condition, Expression, Not, Or, parse_expression
from interpact.case.flips import Goal, Search, away_from, restricted, within
from interpact.case.probability import decision_weights, response_chances
from interpact.case.reasons import fixing
from interpact.case.states import Decision, State, did_you_mean
from interpact.errors import InterPactError

States = Mapping[str, State | str]
Chances = Mapping[str, Sequence[float]]
"""For each condition, the probabilities of satisfied, not satisfied and unknown."""

FEW_CONDITIONS, LONG_TEXT = 64, 2_000

_TRUTH = {State.SATISFIED: HIGH, State.NOT_SATISFIED: LOW, State.UNKNOWN: MIDDLE}
_STATE = {truth: state for state, truth in _TRUTH.items()}
_DECISION = {HIGH: Decision.YES, LOW: Decision.NO, MIDDLE: Decision.INSUFFICIENT}


@dataclass(frozen=True, slots=True)
class Change:
    """New states for some conditions, and the decision they lead to."""

    states: dict[str, State]
    decision: Decision


@dataclass(frozen=True, slots=True)
class Changes:
    """Inclusion-minimal changes, smallest first; `complete` is False when there may be more."""

    found: tuple[Change, ...]
    complete: bool

    def __iter__(self) -> Iterator[Change]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)


class Rule:
    """A three-valued rule over condition states.

    `all` and `any` hold for every condition that is given; an expression names its conditions.
    """

    __slots__ = ("expression", "text")

    def __init__(self, expression: Expression | None, text: str) -> None:
        self.expression = expression
        self.text = text

    @staticmethod
    def parse(text: str) -> Rule:
        """Read `all`, `any` or an expression over condition ids.

        >>> str(Rule.parse("at least 2 of (c1, c2, not c3)"))
        'at least 2 of (c1, c2, not c3)'
        """
        return _parsed(text) if len(text) <= LONG_TEXT else _parse(text)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Rule.parse({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rule) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def over(self, conditions: Sequence[str]) -> Expression:
        """The rule as an expression over these conditions.

        >>> str(Rule.parse("any").over(["c1", "c2"]))
        'c1 or c2'
        """
        if self.expression is not None:
            return self.expression
        items = tuple(Condition(condition) for condition in conditions)
        if not items:
            raise InterPactError(f"the rule `{self.text}` needs at least one condition")
        if len(items) == 1:
            return items[0]
        return And(items) if self.text == "all" else Or(items)

    def named(self, conditions: Sequence[str]) -> list[str]:
        """The conditions that the rule uses, in order of first use; unknown ids are an error."""
        nodes = self._circuit(conditions).nodes
        used = dict.fromkeys(node.condition for node in nodes if isinstance(node, Leaf))
        return [conditions[i] for i in used]

    def decide(self, states: States) -> Decision:
        """The decision that follows from the states (eq:reference-decision)."""
        circuit = self._circuit(states)
        return _DECISION[circuit.evaluate(_truths(states))]

    def mapping(self, states: States, target: str) -> dict[State, Decision]:
        """The decision for every state of the target, the others fixed (eq:target).

        >>> mapping = Rule.parse("all").mapping({"c1": "satisfied", "c2": "unknown"}, "c1")
        >>> [decision.value for decision in mapping.values()]
        ['insufficient', 'no', 'insufficient']
        """
        _known(target, states)
        return self.mappings(states)[target]

    def mappings(self, states: States) -> dict[str, dict[State, Decision]]:
        """The mapping of every condition, in one pass over the rule."""
        circuit = self._circuit(states)
        return {
            condition: _mapping(response)
            for condition, response in zip(
                circuit.conditions, circuit.responses(_truths(states)), strict=True
            )
        }

    def is_pivotal(self, states: States, target: str) -> bool:
        """Whether the mapping of the target is not constant."""
        return len(set(self.mapping(states, target).values())) > 1

    def decision_chances(self, chances: Chances) -> dict[Decision, float]:
        """The exact decision distribution when conditions are independent (eq:direct-execution).

        >>> even = [0.5, 0.25, 0.25]
        >>> list(Rule.parse("all").decision_chances({"c1": even, "c2": even}).values())
        [0.25, 0.4375, 0.3125]
        """
        low, middle, high = decision_weights(self._circuit(chances), _weights(chances))
        return {Decision.YES: high, Decision.NO: low, Decision.INSUFFICIENT: middle}

    def mapping_chances(
        self, chances: Chances, target: str
    ) -> dict[tuple[Decision, Decision, Decision], float]:
        """How likely each mapping of the target is; keys follow the order of the states."""
        _known(target, chances)
        return self._mapping_chances(chances, [target])[target]

    def pivotal_chances(
        self, chances: Chances, targets: Collection[str] | None = None
    ) -> dict[str, float]:
        """For each condition, the probability that the decision can turn on it.

        >>> chances = {"c1": [0.5, 0.25, 0.25], "c2": [0.5, 0.25, 0.25]}
        >>> Rule.parse("all").pivotal_chances(chances, ["c1"])
        {'c1': 0.75}
        """
        for target in targets or ():
            _known(target, chances)
        found = self._mapping_chances(chances, list(chances) if targets is None else targets)
        return {
            target: min(1.0, sum((p for m, p in some.items() if len(set(m)) > 1), 0.0))
            for target, some in found.items()
        }

    def flips(
        self,
        states: States,
        among: Collection[str] | None = None,
        limit: int = 20,
    ) -> Changes:
        """The minimal sets of conditions that can flip the decision, smallest first.

        >>> states = {"c1": "satisfied", "c2": "not_satisfied", "c3": "not_satisfied"}
        >>> [list(flip.states) for flip in Rule.parse("c1 and (c2 or c3)").flips(states)]
        [['c2'], ['c3']]
        """
        circuit = self._circuit(states)
        for condition in among or ():
            _known(condition, states)
        wanted = set(among or ())
        changeable = [i for i in circuit.used if among is None or circuit.conditions[i] in wanted]
        truth = _truths(states)
        standing = Standing(circuit, truth)
        return _changes(standing, truth, changeable, [away_from(standing.values[-1])], limit)

    def group_flips(
        self, states: States, groups: Iterable[Collection[str]], limit: int = 20
    ) -> list[Changes]:
        """For each group of conditions, the minimal sets among them that can flip the decision."""
        circuit = self._circuit(states)
        index = {condition: i for i, condition in enumerate(circuit.conditions)}
        truth = _truths(states)
        standing = Standing(circuit, truth)
        goals = away_from(standing.values[-1])
        return [
            _changes(
                standing,
                truth,
                [index[_known(c, index)] for c in group],
                [goals],
                limit,
                local=True,
            )
            for group in groups
        ]

    def settles(self, states: States, limit: int = 20) -> Changes:
        """For an insufficient decision, the fewest answers to unknown conditions that settle it.

        The sets are minimal for the decision they lead to.

        >>> states = {"c1": "satisfied", "c2": "unknown", "c3": "unknown"}
        >>> [(list(s.states), s.decision.value) for s in Rule.parse("all").settles(states)]
        [(['c2'], 'no'), (['c3'], 'no'), (['c2', 'c3'], 'yes')]
        """
        circuit = self._circuit(states)
        truth = _truths(states)
        standing = Standing(circuit, truth)
        if standing.values[-1] != MIDDLE:
            return Changes((), True)
        changeable = [i for i in circuit.used if truth[i] == MIDDLE]
        goals = [[within(LOW)], [within(HIGH)]]
        return _changes(standing, truth, changeable, goals, limit)

    def can_flip(self, states: States, among: Collection[str]) -> bool:
        """Whether states of these conditions together can change the decision.

        >>> Rule.parse("any").can_flip({"c1": "satisfied", "c2": "satisfied"}, ["c1", "c2"])
        True
        """
        return self.movable(states, [among])[0]

    def movable(self, states: States, groups: Iterable[Collection[str]]) -> list[bool]:
        """For each group of conditions, whether their states together can change the decision."""
        circuit = self._circuit(states)
        index = {condition: i for i, condition in enumerate(circuit.conditions)}
        truth = _truths(states)
        standing = Standing(circuit, truth)
        if circuit.read_once:
            reaches = (standing.reach(index[_known(c, index)] for c in group) for group in groups)
            return [low != high for low, high in reaches]
        found: list[bool] = []
        for group in groups:
            free = {index[_known(condition, index)] for condition in group}
            _, root, _ = restricted(standing, free)
            found.append(root > HIGH)  # a diagram that is constant is its value
        return found

    def reason(self, states: States, without: Collection[str] = ()) -> list[str] | None:
        """Few conditions (other than `without`) whose states alone fix the decision.

        >>> states = {"c1": "satisfied", "c2": "not_satisfied", "c3": "unknown"}
        >>> Rule.parse("all").reason(states)
        ['c2']

        None where there are none, as for every condition that is pivotal.
        """
        circuit = self._circuit(states)
        without = (without,) if isinstance(without, str) else without
        left_out = {circuit.conditions.index(_known(c, states)) for c in without}
        held = fixing(circuit, _truths(states), left_out)
        return None if held is None else [circuit.conditions[i] for i in held]

    def _circuit(self, states: Mapping[str, object] | Sequence[str]) -> Circuit:
        return _circuit(self, tuple(states))

    def _mapping_chances(
        self, chances: Chances, targets: Collection[str]
    ) -> dict[str, dict[tuple[Decision, Decision, Decision], float]]:
        circuit = self._circuit(chances)
        index = {condition: i for i, condition in enumerate(circuit.conditions)}
        wanted = [index[target] for target in targets]
        found = response_chances(circuit, _weights(chances), set(wanted))
        return {
            circuit.conditions[i]: {
                (_DECISION[r[HIGH]], _DECISION[r[LOW]], _DECISION[r[MIDDLE]]): p
                for r, p in found[i].items()
            }
            for i in wanted
        }


def _parse(text: str) -> Rule:
    word = text.strip().lower()
    if word in ("all", "any"):
        return Rule(None, word)
    expression = parse_expression(text)
    return Rule(expression, str(expression))


_parsed = lru_cache(maxsize=4096)(_parse)


def _circuit(rule: Rule, conditions: tuple[str, ...]) -> Circuit:
    # Many small circuits are worth keeping; a few large ones fill the memory.
    return (_kept if len(conditions) <= FEW_CONDITIONS else _lately)(rule, conditions)


def _built(rule: Rule, conditions: tuple[str, ...]) -> Circuit:
    expression = rule.over(conditions)
    missing = sorted(_ids(expression) - set(conditions))
    if missing:
        guess = did_you_mean(missing[0], list(conditions))
        listed = ", ".join(f'"{name}"' for name in missing[:5])
        raise InterPactError(
            f"the rule `{shorten(rule.text)}` names {listed}, which the case does not have{guess}"
        )
    return Circuit(expression, conditions)


_kept = lru_cache(maxsize=2048)(_built)
_lately = lru_cache(maxsize=4)(_built)


def _ids(expression: Expression) -> set[str]:
    found: set[str] = set()
    pending = [expression]
    while pending:
        part = pending.pop()
        if isinstance(part, Condition):
            found.add(part.id)
        else:
            pending.extend((part.item,) if isinstance(part, Not) else part.items)
    return found


def _known(target: str, states: Collection[str]) -> str:
    if target not in states:
        guess = did_you_mean(target, list(states))
        raise InterPactError(f'there is no condition "{target}"{guess}')
    return target


def _truths(states: States) -> list[int]:
    try:
        return [_TRUTH[State(state)] for state in states.values()]
    except ValueError:
        for condition, state in states.items():
            if state not in list(State):
                known = ", ".join(State)
                raise InterPactError(
                    f'condition "{condition}": {state!r} is not a state; use one of {known}'
                ) from None
        raise


def _weights(chances: Chances) -> list[Weights]:
    found: list[Weights] = []
    for condition, row in chances.items():
        row = tuple(row)
        if len(row) != 3 or not all(math.isfinite(p) and p >= 0.0 for p in row):
            raise InterPactError(
                f'condition "{condition}": {row} is not a distribution over {", ".join(State)}'
            )
        satisfied, not_satisfied, unknown = row
        total = satisfied + not_satisfied + unknown
        if abs(total - 1.0) > 1e-6:
            raise InterPactError(
                f'condition "{condition}": its chances add up to {total:.6g}, not to 1'
            )
        found.append((not_satisfied / total, unknown / total, satisfied / total))
    return found


def _mapping(response: Response) -> dict[State, Decision]:
    return dict(_MAPPINGS[response])


def _changes(
    standing: Standing,
    truth: list[int],
    changeable: list[int],
    alternatives: list[list[Goal]],
    limit: int,
    local: bool = False,
) -> Changes:
    """The first `limit` minimal changes for each alternative, merged by size."""
    circuit = standing.circuit
    searches = [Search(standing, truth, changeable, local) for _ in alternatives]
    sets = merge(
        *(search.sets(goals) for search, goals in zip(searches, alternatives, strict=True)), key=len
    )
    found: list[Change] = []
    for changes in islice(sets, limit):
        leaves = {leaf: v for c, v in changes.items() for leaf in circuit.occurrences[c]}
        found.append(
            Change(
                {circuit.conditions[c]: _STATE[v] for c, v in changes.items()},
                _DECISION[standing.root(leaves)],
            )
        )
    none_left = next(sets, None) is None
    return Changes(tuple(found), none_left and all(search.complete for search in searches))


def shorten(text: str, length: int = 60) -> str:
    """The text, cut to a length that fits a message."""
    return text if len(text) <= length else text[: length - 3] + "..."


_MAPPINGS: dict[Response, dict[State, Decision]] = {
    (low, middle, high): {
        State.SATISFIED: _DECISION[high],
        State.NOT_SATISFIED: _DECISION[low],
        State.UNKNOWN: _DECISION[middle],
    }
    for low in _DECISION
    for middle in _DECISION
    for high in _DECISION
}
