"""Everything there is to show about one judged case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from interpact.case.case import Case
from interpact.case.expressions import And, AtLeast, Condition, Expression, Not, Or
from interpact.case.rules import Changes, Rule
from interpact.case.states import Decision, State
from interpact.judging.judgment import EXACT, Judgment

SHOWN_SETS = 10


@dataclass(frozen=True)
class TreeNode:
    """A node of the rule with its value: a gate over parts, or a condition."""

    label: str
    state: State
    parts: tuple[TreeNode, ...] = ()
    condition: str | None = None


@dataclass(frozen=True)
class View:
    """A case, the states it was judged with, and the judgments.

    The states are the annotated ones, or in predicted modes the likeliest ones, with all their
    `chances`; mode direct has none.
    """

    case: Case
    states: dict[str, State]
    judgments: Sequence[Judgment]
    mode: str = EXACT
    chances: Mapping[str, Sequence[float]] | None = None

    @property
    def rule(self) -> Rule:
        """The aggregation."""
        return self.case.rule_of_decision

    @cached_property
    def decision(self) -> Decision:
        """The decision that the states give."""
        return self.rule.decide(self.states)

    @cached_property
    def mappings(self) -> dict[str, dict[State, Decision]]:
        """The mapping of every condition."""
        return self.rule.mappings(self.states)

    @cached_property
    def flips(self) -> Changes:
        """The minimal flip sets."""
        return self.rule.flips(self.states, limit=SHOWN_SETS)

    @cached_property
    def settles(self) -> Changes:
        """What would settle an insufficient decision."""
        return self.rule.settles(self.states, limit=SHOWN_SETS)

    @cached_property
    def by_unit(self) -> dict[str, list[Judgment]]:
        """The judgments of every evidence unit."""
        found: dict[str, list[Judgment]] = {unit.id: [] for unit in self.case.evidence}
        for judgment in self.judgments:
            found[judgment.evidence].append(judgment)
        return found

    @cached_property
    def tree(self) -> TreeNode:
        """The rule with the value of every part."""
        return _tree(self.rule.over(list(self.case.conditions)), self.states)


# Kleene's order: `all of` is the least, `any of` the greatest, `at least k of` the k-th largest.
_RISING = (State.NOT_SATISFIED, State.UNKNOWN, State.SATISFIED)


def _tree(expression: Expression, states: dict[str, State]) -> TreeNode:
    if isinstance(expression, Condition):
        return TreeNode(expression.id, states[expression.id], condition=expression.id)
    items = (expression.item,) if isinstance(expression, Not) else expression.items
    parts = tuple(_tree(item, states) for item in items)
    match expression:
        case Not():
            label = "not"
        case And():
            label = "all of"
        case Or():
            label = "any of"
        case AtLeast(count, _):
            label = f"at least {count} of"
    return TreeNode(label, _gate(expression, parts), parts)


def _gate(expression: Not | And | Or | AtLeast, parts: tuple[TreeNode, ...]) -> State:
    """The value of one gate over its parts."""
    falling = sorted((_RISING.index(part.state) for part in parts), reverse=True)
    match expression:
        case Not():
            return _RISING[2 - falling[0]]
        case And():
            return _RISING[falling[-1]]
        case Or():
            return _RISING[falling[0]]
        case AtLeast(count, _):
            return _RISING[falling[count - 1]]
