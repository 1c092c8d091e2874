"""The smallest sets of conditions whose states, changed together, reach another decision.

Where every condition occurs once, goals ("this node must be at least unknown") pass down the circuit:
through a k-th largest gate, some k (or n - k + 1) children must meet the same goal, and what they
cost adds up. Where some occur again, the sets are the cheapest paths of a decision diagram. Both
searches take the cheapest continuation first, so the smallest sets come out first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from math import inf

from interpact.case.circuit import HIGH, LOW, MIDDLE, TRUTHS, Kth, Leaf, Negate, Standing
from interpact.case.diagrams import Diagrams, allow_depth, variable_order
from interpact.errors import InterPactError

MAX_STEPS = 50_000
MAX_NODES = 200_000
MANY_CHANGEABLE = 100

Goal = tuple[int, int]
"""The bounds (low, high) that a node's value must keep; one of them is LOW or HIGH."""

Change = dict[int, int]
"""New truth values of conditions."""


class Search:
    """Inclusion-minimal changes that bring the root within some goal, smallest first.

    `complete` turns False when the search gave up before it had seen everything.
    """

    def __init__(
        self,
        standing: Standing,
        truth: Sequence[int],
        changeable: Collection[int],
        local: bool = False,
    ) -> None:
        self.complete = True
        # Goals look at the whole rule, paths only at what is above the changeable conditions.
        goals = standing.circuit.read_once and not (local and len(changeable) <= MANY_CHANGEABLE)
        self._search = (_Goals if goals else _Paths)(standing, truth, changeable)

    def sets(self, goals: Sequence[Goal]) -> Iterator[Change]:
        """The changes, each reaching one of the goals."""
        found: list[frozenset[int]] = []
        steps = 0
        try:
            for state in self._search.states(goals, found):
                steps += 1
                if steps > MAX_STEPS:
                    self.complete = False
                    return
                if state is not None:
                    key = frozenset(state)
                    if not any(earlier <= key for earlier in found):
                        found.append(key)
                        yield dict(sorted(state.items()))
        except InterPactError:  # the rule is too entangled for a diagram
            self.complete = False


# ---- Conditions that occur once ----------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Choose:
    """`need` of the candidates from `start` on must meet the goal; the cheapest come first."""

    need: int
    candidates: tuple[int, ...]
    costs: tuple[float, ...]
    start: int
    goal: Goal


_Task = tuple[int, Goal] | _Choose
_Agenda = tuple[_Task, "_Agenda"] | None
_Chosen = tuple[int, int, "_Chosen"] | None


class _Goals:
    def __init__(
        self, standing: Standing, truth: Sequence[int], changeable: Collection[int]
    ) -> None:
        self.circuit, self.truth = standing.circuit, truth
        self.changeable = frozenset(changeable)
        self.values = standing.values
        self._costs: dict[Goal, list[float]] = {}

    def states(self, goals: Sequence[Goal], found: list[frozenset[int]]) -> Iterator[Change | None]:
        """A change, or None for a step on the way."""
        root = len(self.circuit.nodes) - 1
        # The latest state of a cost first: it is the nearest to its end.
        order = count(0, -1)
        heap: list[tuple[float, int, int, _Chosen, _Agenda]] = []
        for goal in reversed(goals):
            cost = self.costs(goal)[root]
            if cost < inf:
                heappush(heap, (cost, next(order), 0, None, ((root, goal), None)))
        while heap:
            cost, _, spent, chosen, agenda = heappop(heap)
            if agenda is None:
                yield _unlinked(chosen)
                continue
            yield None
            for extra, more, kept, rest in reversed(list(self.expand(chosen, agenda))):
                heappush(heap, (cost + extra, next(order), spent + more, kept, rest))

    def expand(
        self, chosen: _Chosen, agenda: _Agenda
    ) -> Iterator[tuple[float, int, _Chosen, _Agenda]]:
        """What follows from the tasks up to the first choice."""
        spent = 0
        while agenda is not None:
            task, agenda = agenda
            if isinstance(task, _Choose):
                at, start, need = task.candidates[task.start], task.start, task.need
                rest = agenda
                if need > 1:
                    rest = (
                        _Choose(need - 1, task.candidates, task.costs, start + 1, task.goal),
                        agenda,
                    )
                yield 0.0, spent, chosen, ((at, task.goal), rest)
                if start + need < len(task.candidates):
                    skipped = _Choose(need, task.candidates, task.costs, start + 1, task.goal)
                    dearer = task.costs[start + need] - task.costs[start]
                    yield dearer, spent, chosen, (skipped, agenda)
                return
            at, (low, high) = task
            node = self.circuit.nodes[at]
            if isinstance(node, Leaf):
                now = self.truth[node.condition]
                spent += 1
                chosen = (node.condition, low if now > high else high, chosen)
            elif isinstance(node, Negate):
                agenda = ((node.child, (HIGH - high, HIGH - low)), agenda)
            else:
                costs = self.costs((low, high))
                met = sum(costs[child] == 0 for child in node.children)
                need = needed(node, (low, high)) - met
                candidates = [child for child in node.children if 0 < costs[child] < inf]
                if need == len(candidates):
                    for child in candidates:
                        agenda = ((child, (low, high)), agenda)
                else:
                    ordered = tuple(sorted(candidates, key=lambda child: costs[child]))
                    prices = tuple(costs[child] for child in ordered)
                    agenda = (_Choose(need, ordered, prices, 0, (low, high)), agenda)
        yield 0.0, spent, chosen, None

    def costs(self, goal: Goal) -> list[float]:
        """The least number of changed conditions that brings each node within the goal."""
        if goal in self._costs:
            return self._costs[goal]
        mirrored = (HIGH - goal[1], HIGH - goal[0])
        costs = {goal: [0.0] * len(self.values), mirrored: [0.0] * len(self.values)}
        for at, node in enumerate(self.circuit.nodes):
            for (low, high), prices in costs.items():
                if low <= self.values[at] <= high:
                    continue
                if isinstance(node, Leaf):
                    prices[at] = 1.0 if node.condition in self.changeable else inf
                elif isinstance(node, Negate):
                    prices[at] = costs[(HIGH - high, HIGH - low)][node.child]
                else:
                    cheapest = sorted(prices[child] for child in node.children)
                    prices[at] = sum(cheapest[: needed(node, (low, high))])
        self._costs.update(costs)
        return costs[goal]


def needed(gate: Kth, goal: Goal) -> int:
    """How many children must meet the goal of their gate."""
    return gate.k if goal[1] == HIGH else len(gate.children) + 1 - gate.k


# ---- Conditions that occur again ---------------------------------------------------------------


class _Paths:
    """Paths of the rule's diagram over the changeable conditions, all others fixed."""

    def __init__(
        self, standing: Standing, truth: Sequence[int], changeable: Collection[int]
    ) -> None:
        self.standing, self.truth, self.changeable = standing, truth, changeable

    def states(self, goals: Sequence[Goal], found: list[frozenset[int]]) -> Iterator[Change | None]:
        """A change, or None for a step on the way; what holds a set that is found is not followed."""
        diagrams, root, conditions = restricted(self.standing, self.changeable)
        costs: dict[int, float] = {
            value: 0.0 if any(low <= value <= high for low, high in goals) else inf
            for value in TRUTHS
        }

        def cost(at: int) -> float:
            if at not in costs:
                now = self.truth[conditions[diagrams.top(at)]]
                costs[at] = min(
                    cost(diagrams.below(at, value)) + (value != now) for value in TRUTHS
                )
            return costs[at]

        order = count(0, -1)
        heap: list[tuple[float, int, int, int, _Chosen]] = []
        if cost(root) < inf:
            heappush(heap, (cost(root), next(order), 0, root, None))
        while heap:
            _, _, spent, at, chosen = heappop(heap)
            changes = _unlinked(chosen)
            if any(earlier <= changes.keys() for earlier in found):
                yield None
                continue
            if at <= HIGH:
                yield changes
                continue
            yield None
            condition = conditions[diagrams.top(at)]
            now = self.truth[condition]
            # An unchanged condition first; of two changes the farther.
            for value in sorted(TRUTHS, key=lambda v: (v != now, -abs(v - now)), reverse=True):
                below = diagrams.below(at, value)
                more = int(value != now)
                if cost(below) < inf:
                    kept = (condition, value, chosen) if more else chosen
                    ahead = spent + more + cost(below)
                    heappush(heap, (ahead, next(order), spent + more, below, kept))


def restricted(standing: Standing, free: Collection[int]) -> tuple[Diagrams, int, list[int]]:
    """The rule as a diagram over the free conditions (in the order returned), all others fixed.

    Only the nodes above free conditions are looked at.
    """
    circuit = standing.circuit
    names = sorted(condition for condition in free if condition in circuit.occurrences)
    number = {condition: i for i, condition in enumerate(names)}
    moving: dict[int, list[int]] = {}  # a node above free conditions to its children that are, too
    for condition in names:
        for leaf in circuit.occurrences[condition]:
            at = leaf
            moving[at] = []
            while (above := standing.parent[at]) >= 0:
                known = above in moving
                moving.setdefault(above, []).append(at)
                if known:
                    break
                at = above
    order_of_nodes = sorted(moving)  # children before parents
    below: dict[int, set[int]] = {}
    groups: list[list[int]] = []
    for at in order_of_nodes:
        node = circuit.nodes[at]
        if isinstance(node, Leaf):
            below[at] = {number[node.condition]}
        elif isinstance(node, Negate):
            below[at] = below[node.child]
        else:
            below[at] = set[int]().union(*(below[child] for child in moving[at]))
            groups.append(sorted(below[at]))
    allow_depth(len(names))
    order = variable_order([group for group in groups if len(group) > 1], len(names))
    place = {variable: i for i, variable in enumerate(order)}
    diagrams = Diagrams(MAX_NODES)
    built: dict[int, int] = {}
    for at in order_of_nodes:
        node = circuit.nodes[at]
        if isinstance(node, Leaf):
            built[at] = diagrams.variable(place[number[node.condition]])
        elif isinstance(node, Negate):
            built[at] = diagrams.negate(built[node.child])
        else:
            # Of the fixed children, those that are HIGH make it easier, those that are LOW nothing.
            high, not_low = standing.counts[at]
            for child in moving[at]:
                high -= standing.values[child] == HIGH
                not_low -= standing.values[child] != LOW
            parts = [built[child] for child in moving[at]]
            built[at] = diagrams.kth_largest_among(node.k - high, parts, not_low - high)
    diagrams.forget()
    root = len(circuit.nodes) - 1
    return diagrams, built.get(root, standing.values[root]), [names[v] for v in order]


def _unlinked(chosen: _Chosen) -> Change:
    changes: Change = {}
    while chosen is not None:
        condition, value, chosen = chosen
        changes[condition] = value
    return changes


def within(value: int) -> Goal:
    """The goal of reaching exactly a settled value."""
    return (value, value)


def away_from(value: int) -> list[Goal]:
    """The goals that leave a value."""
    if value == HIGH:
        return [(LOW, MIDDLE)]
    if value == LOW:
        return [(MIDDLE, HIGH)]
    return [(LOW, LOW), (HIGH, HIGH)]
