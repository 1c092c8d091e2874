"""Why a decision is what it is: few conditions whose states alone fix it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import inf

from interpact.case.circuit import HIGH, LOW, MIDDLE, Circuit, Kth, Leaf
from interpact.case.flips import Goal, needed

_MIRROR = {
    (MIDDLE, HIGH): (LOW, MIDDLE),
    (HIGH, HIGH): (LOW, LOW),
    (LOW, MIDDLE): (MIDDLE, HIGH),
    (LOW, LOW): (HIGH, HIGH),
}


def fixing(
    circuit: Circuit, truth: Sequence[int], without: Collection[int] = ()
) -> list[int] | None:
    """Conditions other than `without` whose states fix the decision, or None where none are found.

    As few as there are, where every condition occurs once.
    """
    value = circuit.evaluate(truth)
    goals: list[Goal] = {
        HIGH: [(HIGH, HIGH)],
        LOW: [(LOW, LOW)],
        MIDDLE: [(MIDDLE, HIGH), (LOW, MIDDLE)],
    }[value]
    held: set[int] = set()
    for goal in goals:
        sizes = _sizes(circuit, truth, without, goal)
        pending = [(len(circuit.nodes) - 1, goal)]
        if sizes[goal][-1] == inf:
            return None
        while pending:
            at, aim = pending.pop()
            node = circuit.nodes[at]
            if isinstance(node, Leaf):
                held.add(node.condition)
            elif isinstance(node, Kth):
                ordered = sorted(node.children, key=lambda child: sizes[aim][child])
                pending += [(child, aim) for child in ordered[: needed(node, aim)]]
            else:
                pending.append((node.child, _MIRROR[aim]))
    return sorted(held)


def _sizes(
    circuit: Circuit, truth: Sequence[int], without: Collection[int], goal: Goal
) -> dict[Goal, list[float]]:
    """How many conditions must be held so that each node keeps the goal (or its mirror image)."""
    goals = (goal, _MIRROR[goal])
    sizes: dict[Goal, list[float]] = {goal: [], _MIRROR[goal]: []}
    for node in circuit.nodes:
        for aim in goals:
            if isinstance(node, Leaf):
                kept = node.condition not in without and aim[0] <= truth[node.condition] <= aim[1]
                size = 1.0 if kept else inf
            elif isinstance(node, Kth):
                found = sizes[aim]
                size = sum(sorted(found[child] for child in node.children)[: needed(node, aim)])
            else:
                size = sizes[_MIRROR[aim]][node.child]
            sizes[aim].append(size)
    return sizes
