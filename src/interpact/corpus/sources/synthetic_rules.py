"""Rule shapes of the synthetic source, and how a rule reads."""

from __future__ import annotations

import re
from functools import lru_cache
from random import Random
from typing import NamedTuple

from interpact.case.expressions import (
    And,
    AtLeast,
    Condition,
    Expression,
    Not,
    Or,
    parse_expression,
)
from interpact.corpus.sources.synthetic_facts import pick


class Shape(NamedTuple):
    """An aggregation and the kind it belongs to."""

    kind: str  # all, any, nested, at least
    aggregation: str


NESTED = {
    2: ("c1 and not c2", "c1 or not c2", "not c1 and not c2"),
    3: (
        "c1 and (c2 or c3)",
        "c1 or (c2 and c3)",
        "c1 and (c2 or not c3)",
        "not c1 and (c2 or c3)",
        "c1 and not (c2 and c3)",
        "(c1 and c2) or (not c1 and c3)",
    ),
    4: (
        "c1 and c2 and (c3 or c4)",
        "(c1 or c2) and (c3 or c4)",
        "(c1 and c2) or (c3 and c4)",
        "c1 and not c2 and (c3 or c4)",
        "c1 or (c2 and not (c3 or c4))",
        "not c1 and not (c2 and c3) and c4",
    ),
    5: (
        "c1 and (c2 or c3) and (c4 or c5)",
        "c1 and not c2 and (c3 or c4 or c5)",
        "(c1 and c2) or (c3 and c4) or c5",
        "c1 and c2 and (c3 or (c4 and not c5))",
    ),
    6: (
        "(c1 or c2) and (c3 or c4) and (c5 or c6)",
        "c1 and c2 and not c3 and (c4 or c5 or c6)",
        "(c1 and c2) or (c3 and c4) or (c5 and c6)",
        "c1 and (c2 or (c3 and c4)) and (c5 or not c6)",
    ),
}
AT_LEAST = {
    3: ("at least 2 of (c1, c2, c3)", "at least 2 of (c1, c2, not c3)"),
    4: (
        "at least 2 of (c1, c2, c3, c4)",
        "at least 3 of (c1, c2, c3, c4)",
        "c1 and at least 2 of (c2, c3, c4)",
        "not c1 and at least 2 of (c2, c3, c4)",
    ),
    5: (
        "at least 3 of (c1, c2, c3, c4, c5)",
        "c1 and c2 and at least 2 of (c3, c4, c5)",
        "c1 or at least 3 of (c2, c3, c4, not c5)",
        "(c1 or c2) and at least 2 of (c3, c4, c5)",
    ),
    6: (
        "at least 2 of (c1, c2, c3, c4, c5, c6)",
        "at least 4 of (c1, c2, c3, c4, c5, c6)",
        "c1 and not c2 and at least 2 of (c3, c4, c5, c6)",
        "(c1 or c2) and at least 3 of (c3, c4, c5, c6)",
    ),
}
ALL = (
    "{head} only if all of the listed statements are true; if they are, that is enough.",
    "{head} if, and only if, every one of the listed statements is true.",
    "{head} exactly when none of the listed statements fails to be true.",
)
ANY = (
    "{head} if at least one of the listed statements is true, and not otherwise.",
    "{head} if, and only if, one or more of the listed statements are true.",
    "{head} as soon as any of the listed statements is true; if none is, this does not happen.",
)
COUNTS = ("no", "one", "two", "three", "four", "five")


def draw_shape(rng: Random, count: int) -> Shape:
    """A shape for so many conditions; two conditions have no count of their own."""
    luck = rng.random()
    if luck < 0.24:
        return Shape("all", "all")
    if luck < 0.46:
        return Shape("any", "any")
    kind, shapes = ("nested", NESTED) if luck < 0.75 or count == 2 else ("at least", AT_LEAST)
    turn = rng.randrange(count)
    turned = re.sub(
        r"c(\d)", lambda m: f"c{(int(m[1]) + turn - 1) % count + 1}", pick(rng, shapes[count])
    )
    return Shape(kind, turned)


def rule_text(rng: Random, shape: Shape, head: str, labels: dict[str, str]) -> str:
    """The rule in words; labels name the topics of the conditions."""
    if shape.kind in ("all", "any"):
        return pick(rng, ALL if shape.kind == "all" else ANY).format(head=head)
    return f"{head} if, and only if, {_explained(shape.aggregation).format(**labels)}."


@lru_cache(maxsize=1024)
def _explained(aggregation: str) -> str:
    rule = parse_expression(aggregation)
    if isinstance(rule, And | Or) and not all(map(_plain, rule.items)):
        head = (
            "all of these points hold"
            if isinstance(rule, And)
            else "at least one of these points holds"
        )
        points = (f"({i}) {_clause(item)}" for i, item in enumerate(rule.items, 1))
        return f"{head}: {'; '.join(points)}"
    return _clause(rule)


def _plain(part: Expression) -> bool:
    return isinstance(part.item if isinstance(part, Not) else part, Condition)


def _clause(part: Expression) -> str:
    match part:
        case Condition(name):
            return f"the {{{name}}} statement ({name}) is true"
        case Not(Condition(name)):
            return f"the {{{name}}} statement ({name}) is not true"
        case Not(item):
            return f"it is not the case that {_clause(item)}"
        case And(items):
            return ("both " if len(items) == 2 else "") + " and ".join(map(_clause, items))
        case Or(items):
            return "either " + " or ".join(map(_clause, items))
        case AtLeast(count, items):
            listed = ", ".join(map(_clause, items))
            return f"at least {COUNTS[count]} of these are so: {listed}"


@lru_cache(maxsize=1024)
def hopes(aggregation: str, count: int) -> tuple[bool, ...]:
    """Whether each condition speaks for the outcome, by its first place in the rule."""
    if aggregation in ("all", "any"):
        return (True,) * count
    found: dict[str, bool] = {}

    def visit(part: Expression, positive: bool) -> None:
        match part:
            case Condition(name):
                found.setdefault(name, positive)
            case Not(item):
                visit(item, not positive)
            case And(items) | Or(items) | AtLeast(_, items):
                for item in items:
                    visit(item, positive)

    visit(parse_expression(aggregation), True)
    return tuple(found[f"c{i + 1}"] for i in range(count))
