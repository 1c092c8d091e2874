"""The rule that reproduces the answers of a ShARC rule tree.

A tree is published as dialogues only. Its rule is searched for among these, in this order:

1. `all` or `any` over signed conditions (a condition or its negation, each exactly once);
2. for up to `MAX_NESTED` conditions, nested `and`/`or` rules over signed conditions, fewest
   literals first, up to `MAX_LITERALS`.

A rule decides once the answer is the same however the unknown conditions turn out. It fits when it
gives the annotated decision in every state of the tree that is answered in one way only;
contradictory states constrain nothing, but a rule that they outvote is refused.

The search stops at the first class, and for nested rules at the first size, in which a rule fits,
so a larger rule never speaks against a simpler one. The rule is taken if it is the only one that
fits there. Rules are the same when they agree on every complete assignment of the conditions,
whatever their spelling; those that only unobserved states tell apart are different, and the tree
then has no rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache, reduce
from itertools import product
from operator import and_, or_

from interpact.case.expressions import And, Condition, Expression, Not, Or
from interpact.case.rules import Rule
from interpact.case.states import Decision, State

MAX_LITERALS = 6
MAX_NESTED = 5
MAX_QUESTIONS = 12


class Outcome(StrEnum):
    """What became of the search for the rule of a tree."""

    ONE = "one question"
    FLAT = "all or any"
    SIGNED = "all or any, with negation"
    NESTED = "nested"
    EMPTY = "its dialogues ask nothing"
    LARGE = f"more than {MAX_QUESTIONS} questions"
    NONE = "no rule fits"
    SEVERAL = "several rules fit"
    OUTVOTED = "the rule that fits is outvoted in a contradictory state"


@dataclass(frozen=True, slots=True)
class Fit:
    """The aggregation over `c1`, `c2`, ... that reproduces a tree, or why there is none."""

    outcome: Outcome
    aggregation: str | None = None


States = tuple[State, ...]
"""The state of each question of a tree."""

Votes = Mapping[States, Mapping[Decision, int]]
"""How often each observed state of a tree is answered by each decision."""


def fit_rule(votes: Votes) -> Fit:
    """The simplest rule that reproduces the votes."""
    count = max(map(len, votes), default=0)
    if not 0 < count <= MAX_QUESTIONS:
        return Fit(Outcome.LARGE if count else Outcome.EMPTY)
    wanted = [
        (_completions(state), next(iter(decisions)))
        for state, decisions in votes.items()
        if len(decisions) == 1
    ]
    found = _fitting(_flat(count), wanted)
    nested = not found
    sizes = range(count, MAX_LITERALS + 1) if count <= MAX_NESTED else ()
    while nested and not found and sizes:
        found = _fitting(_nested(count, sizes[0]), wanted)
        sizes = sizes[1:]
    if len(found) != 1:
        return Fit(Outcome.SEVERAL if found else Outcome.NONE)
    [(function, expression)] = found.items()
    for state, given in votes.items():
        if given.get(_decision(function, _completions(state)), 0) < max(given.values()):
            return Fit(Outcome.OUTVOTED)
    if nested:
        return Fit(Outcome.NESTED, str(_decisive(function, expression, count)))
    signed = "not" in str(expression)
    aggregation = str(expression) if signed else "any" if isinstance(expression, Or) else "all"
    return Fit(
        Outcome.ONE if count == 1 else Outcome.SIGNED if signed else Outcome.FLAT, aggregation
    )


# A classical function of n conditions is a number of 2^n bits: bit a is its value under the
# assignment a, in which condition i holds where bit i of a is set.


def _fitting(
    rules: Iterable[tuple[int, Expression]], wanted: Sequence[tuple[int, Decision]]
) -> dict[int, Expression]:
    return {
        function: expression
        for function, expression in rules
        if all(_decision(function, completions) is decision for completions, decision in wanted)
    }


def _decision(function: int, completions: int) -> Decision:
    """What all completions of a state agree on."""
    holds = function & completions
    if not holds:
        return Decision.NO
    return Decision.YES if holds == completions else Decision.INSUFFICIENT


@lru_cache(maxsize=4096)
def _completions(state: States) -> int:
    """The complete assignments that agree with a state."""
    found = _every(len(state))
    for i, value in enumerate(state):
        if value is not State.UNKNOWN:
            found &= _literal(i, value is State.SATISFIED, len(state))[0]
    return found


def _every(count: int) -> int:
    return (1 << (1 << count)) - 1


@lru_cache
def _literal(position: int, sign: bool, count: int) -> tuple[int, Expression]:
    """A condition or its negation, as a function of so many conditions."""
    condition = Condition(f"c{position + 1}")
    holds = sum(1 << a for a in range(1 << count) if a >> position & 1)
    return (holds, condition) if sign else (_every(count) ^ holds, Not(condition))


def _flat(count: int) -> Iterator[tuple[int, Expression]]:
    """Every `all` and `any` over signed conditions."""
    for gate in (And, Or):
        for signs in product((True, False), repeat=count):
            literals = [_literal(i, sign, count) for i, sign in enumerate(signs)]
            function = reduce(and_ if gate is And else or_, (f for f, _ in literals))
            yield function, _joined(gate, [expression for _, expression in literals])


def _nested(count: int, size: int) -> Iterator[tuple[int, Expression]]:
    """The functions of so many conditions, all of which matter, that need so many literals."""
    for function, (_, expression) in _functions(count, size).items():
        if all(_matters(function, i, count) for i in range(count)):
            yield function, expression


def _matters(function: int, position: int, count: int) -> bool:
    without = _literal(position, False, count)[0]
    return (function >> (1 << position)) & without != function & without


@lru_cache
def _functions(count: int, size: int) -> dict[int, tuple[int, Expression]]:
    """Functions that need so many literals, with the conditions they use, as bits, and a spelling.

    Those that leave more conditions out than there are literals to come are left out themselves.
    """
    if size == 1:
        literals = ((i, _literal(i, s, count)) for i in range(count) for s in (True, False))
        return {function: (1 << i, expression) for i, (function, expression) in literals}
    smaller = [_functions(count, n) for n in range(1, size)]
    found: dict[int, tuple[int, Expression]] = {}
    for left in range(size // 2):
        for a, (used_a, expression_a) in smaller[left].items():
            for b, (used_b, expression_b) in smaller[size - left - 2].items():
                used = used_a | used_b
                if count - used.bit_count() > MAX_LITERALS - size:
                    continue
                for gate, function in ((And, a & b), (Or, a | b)):
                    constant = function in (0, _every(count))
                    if not constant and not any(function in f for f in (found, *smaller)):
                        found[function] = (used, _joined(gate, (expression_a, expression_b)))
    return found


def _decisive(function: int, expression: Expression, count: int) -> Expression:
    """A spelling that decides, by Kleene evaluation, whatever all completions agree on.

    Where a condition occurs twice the shortest spelling need not: `c1 and c2 or not c1 and c3` is
    unknown while c1 is, though c2 and c3 may both hold. The disjunction of all prime implicants is
    never so.
    """
    rule = Rule.parse(str(expression))
    states = list(product(State, repeat=count))
    if all(
        rule.decide({f"c{i}": value for i, value in enumerate(state, 1)})
        is _decision(function, _completions(state))
        for state in states
    ):
        return expression
    implicants = {s for s in states if _decision(function, _completions(s)) is Decision.YES}
    terms = [
        [
            _literal(i, value is State.SATISFIED, count)[1]
            for i, value in enumerate(state)
            if value is not State.UNKNOWN
        ]
        for state in states
        if state in implicants
        and not any(
            (*state[:i], State.UNKNOWN, *state[i + 1 :]) in implicants
            for i, value in enumerate(state)
            if value is not State.UNKNOWN
        )
    ]
    return _joined(Or, [_joined(And, term) for term in terms])


def _joined(gate: type[And] | type[Or], parts: Sequence[Expression]) -> Expression:
    """The parts under one gate, in the order of the conditions they begin with."""
    items: list[Expression] = []
    for part in parts:
        items += part.items if isinstance(part, gate) else [part]
    items.sort(key=_first)
    return items[0] if len(items) == 1 else gate(tuple(items))


def _first(expression: Expression) -> int:
    """The number of the condition that an expression begins with."""
    while not isinstance(expression, Condition):
        expression = expression.item if isinstance(expression, Not) else expression.items[0]
    return int(expression.id[1:])
