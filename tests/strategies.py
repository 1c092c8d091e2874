"""Random rules, states and chances, and plain definitions to hold the engine against."""

from __future__ import annotations

from itertools import product

from hypothesis import strategies as st

from interpact.case.expressions import And, AtLeast, Condition, Expression, Not, Or
from interpact.case.states import Decision, State

TRUTH = {State.SATISFIED: 2, State.UNKNOWN: 1, State.NOT_SATISFIED: 0}
DECISIONS = {2: Decision.YES, 1: Decision.INSUFFICIENT, 0: Decision.NO}


def evaluate(expression: Expression, states: dict[str, State]) -> int:
    """The definition of Kleene logic, and of `at least k` in words of the method notes."""
    match expression:
        case Condition(name):
            return TRUTH[states[name]]
        case Not(item):
            return 2 - evaluate(item, states)
        case And(items):
            return min(evaluate(item, states) for item in items)
        case Or(items):
            return max(evaluate(item, states) for item in items)
        case AtLeast(count, items):
            values = [evaluate(item, states) for item in items]
            satisfied, unknown = values.count(2), values.count(1)
            return 2 if satisfied >= count else 0 if satisfied + unknown < count else 1


def decide(expression: Expression, states: dict[str, State]) -> Decision:
    return DECISIONS[evaluate(expression, states)]


def assignments(names: list[str]) -> list[dict[str, State]]:
    return [dict(zip(names, row, strict=True)) for row in product(State, repeat=len(names))]


def expressions(names: list[str], depth: int = 3) -> st.SearchStrategy[Expression]:
    """Nested rules in which conditions may occur again."""
    return st.recursive(
        st.sampled_from(names).map(Condition),
        lambda inner: st.one_of(
            inner.map(Not),
            st.lists(inner, min_size=2, max_size=4).map(lambda items: And(tuple(items))),
            st.lists(inner, min_size=2, max_size=4).map(lambda items: Or(tuple(items))),
            st.lists(inner, min_size=1, max_size=4).flatmap(
                lambda items: st.integers(1, len(items)).map(
                    lambda count: AtLeast(count, tuple(items))
                )
            ),
        ),
        max_leaves=3 * depth,
    )


@st.composite
def rules(draw: st.DrawFn) -> tuple[Expression, list[str]]:
    """A rule over one to five conditions."""
    names = [f"c{i}" for i in range(1, draw(st.integers(1, 5)) + 1)]
    return draw(expressions(names)), names


@st.composite
def read_once(draw: st.DrawFn, most: int = 6) -> tuple[Expression, list[str]]:
    """A rule in which every condition occurs once."""
    names = [f"c{i}" for i in range(1, draw(st.integers(1, most)) + 1)]

    def build(part: list[str]) -> Expression:
        if len(part) == 1:
            found: Expression = Condition(part[0])
        else:
            cuts = sorted(draw(st.sets(st.integers(1, len(part) - 1), min_size=1, max_size=3)))
            pieces = [part[a:b] for a, b in zip([0, *cuts], [*cuts, len(part)], strict=True)]
            items = tuple(build(piece) for piece in pieces)
            kind = draw(st.sampled_from(["and", "or", "least"]))
            if kind == "and":
                found = And(items)
            elif kind == "or":
                found = Or(items)
            else:
                found = AtLeast(draw(st.integers(1, len(items))), items)
        return Not(found) if draw(st.booleans()) else found

    return build(names), names


def states_of(names: list[str]) -> st.SearchStrategy[dict[str, State]]:
    found = st.fixed_dictionaries({name: st.sampled_from(list(State)) for name in names})
    return found.map(lambda states: {name: states[name] for name in names})


def chances_of(names: list[str]) -> st.SearchStrategy[dict[str, list[float]]]:
    """State distributions, some of them certain."""
    weight = st.one_of(st.just(0.0), st.floats(0.01, 1.0))
    row = (
        st.lists(weight, min_size=3, max_size=3)
        .filter(lambda weights: sum(weights) > 0)
        .map(lambda weights: [w / sum(weights) for w in weights])
    )
    return st.fixed_dictionaries(dict.fromkeys(names, row))
