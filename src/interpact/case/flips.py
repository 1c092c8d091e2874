"""The smallest sets of conditions whose states, changed together, reach another decision.

A decision is reached by goals ("this node must be at least satisfied", "... at most unknown") that
pass down the circuit to conditions: through a k-th largest gate, some k (or n - k + 1) children
must meet the same goal. The search takes goals in order of the number of conditions changed so
far, so sets come out smallest first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from math import inf

from interpact.case.circuit import HIGH, LOW, MIDDLE, Circuit, Kth, Leaf, Negate

MAX_STEPS = 50_000

Goal = tuple[int, int]
"""The bounds (low, high) that a node's value must keep."""


@dataclass(frozen=True, slots=True, eq=False)
class _Choose:
    """`need` of the candidates from `start` on must meet the goal."""

    need: int
    candidates: tuple[int, ...]
    costs: tuple[float, ...]
    start: int
    goal: Goal


_Task = tuple[int, Goal] | _Choose
_Agenda = tuple[_Task, "_Agenda"] | None
_Bounds = tuple[int, Goal, "_Bounds"] | None


class Search:
    """Changes of the conditions in `changeable` that bring the root within some goal, smallest first.

    `complete` turns False when the search gave up before it had seen everything.
    """

    def __init__(self, circuit: Circuit, truth: Sequence[int], changeable: Sequence[bool]) -> None:
        self.circuit = circuit
        self.truth = truth
        self.changeable = changeable
        self.values = circuit.values(truth)
        self.complete = True
        self._cost_of_goal: dict[Goal, list[float]] = {}

    def sets(self, goals: Sequence[Goal]) -> Iterator[dict[int, int]]:
        """Inclusion-minimal changes (condition to truth value), each reaching one of the goals."""
        found: list[frozenset[int]] = []
        root = len(self.circuit.nodes) - 1
        order = count()
        heap: list[tuple[float, int, int, _Bounds, _Agenda, float]] = []
        for goal in goals:
            ahead = self._costs(goal)[root]
            if ahead < inf:
                heappush(heap, (ahead, next(order), 0, None, ((root, goal), None), ahead))
        for step in count():
            if not heap:
                return
            if step >= MAX_STEPS:
                self.complete = False
                return
            _, _, spent, bounds, agenda, ahead = heappop(heap)
            if agenda is None:
                changes = self._changes(bounds)
                key = frozenset(changes)
                if not any(earlier <= key for earlier in found):
                    found.append(key)
                    yield changes
                continue
            for state in self._expand(spent, bounds, agenda, ahead):
                cost, kept, rest, left = state
                heappush(heap, (cost + left, next(order), cost, kept, rest, left))

    def _expand(
        self, spent: int, bounds: _Bounds, agenda: tuple[_Task, _Agenda], ahead: float
    ) -> Iterator[tuple[int, _Bounds, _Agenda, float]]:
        """The states that follow from the first task; tasks without a choice are done at once."""
        left: _Agenda = agenda
        while left is not None:
            task, left = left
            if isinstance(task, _Choose):
                at, cost = task.candidates[task.start], task.costs[task.start]
                need, start = task.need, task.start
                rest: _Agenda = left
                if need > 1:
                    rest = (
                        _Choose(need - 1, task.candidates, task.costs, start + 1, task.goal),
                        left,
                    )
                yield spent, bounds, ((at, task.goal), rest), ahead
                if start + need < len(task.candidates):
                    skipped = _Choose(need, task.candidates, task.costs, start + 1, task.goal)
                    extra = task.costs[start + need] - cost
                    yield spent, bounds, (skipped, left), ahead + (extra if self._additive else 0)
                return
            at, (low, high) = task
            node = self.circuit.nodes[at]
            if isinstance(node, Leaf):
                outcome = self._bind(node.condition, (low, high), bounds)
                if outcome is None:
                    return
                changed, bounds = outcome
                spent += changed
                if self._additive:
                    ahead -= changed
            elif isinstance(node, Negate):
                left = ((node.child, (HIGH - high, HIGH - low)), left)
            else:
                need, candidates = self._candidates(node, (low, high))
                if need > len(candidates):
                    return
                costs = self._costs((low, high))
                if need == len(candidates):
                    for child in candidates:
                        left = ((child, (low, high)), left)
                elif need > 0:
                    ordered = tuple(sorted(candidates, key=lambda child: costs[child]))
                    prices = tuple(costs[child] for child in ordered)
                    left = (_Choose(need, ordered, prices, 0, (low, high)), left)
        yield spent, bounds, None, 0.0

    @property
    def _additive(self) -> bool:
        """Whether the costs of goals add up, so that what lies ahead is known exactly."""
        return self.circuit.read_once

    def _candidates(self, gate: Kth, goal: Goal) -> tuple[int, list[int]]:
        """How many more children must meet the goal, and which of them can."""
        need = gate.k if goal[1] == HIGH else len(gate.children) + 1 - gate.k
        if not self._additive:  # a child that meets the goal now may be moved by another goal
            return need, list(gate.children)
        costs = self._costs(goal)
        met = sum(costs[child] == 0 for child in gate.children)
        return need - met, [child for child in gate.children if 0 < costs[child] < inf]

    def _costs(self, goal: Goal) -> list[float]:
        """The least number of changed conditions that brings each node within the goal (0 if repeats hide it)."""
        if goal in self._cost_of_goal:
            return self._cost_of_goal[goal]
        if not self._additive:
            return self._cost_of_goal.setdefault(goal, [0.0] * len(self.circuit.nodes))
        mirrored = (HIGH - goal[1], HIGH - goal[0])
        costs = {goal: [0.0] * len(self.values), mirrored: [0.0] * len(self.values)}
        for at, node in enumerate(self.circuit.nodes):
            for (low, high), prices in costs.items():
                if low <= self.values[at] <= high:
                    continue
                if isinstance(node, Leaf):
                    prices[at] = 1.0 if self.changeable[node.condition] else inf
                elif isinstance(node, Negate):
                    prices[at] = costs[(HIGH - high, HIGH - low)][node.child]
                else:
                    need = node.k if high == HIGH else len(node.children) + 1 - node.k
                    prices[at] = sum(sorted(prices[child] for child in node.children)[:need])
        self._cost_of_goal.update(costs)
        return costs[goal]

    def _bind(self, condition: int, goal: Goal, bounds: _Bounds) -> tuple[int, _Bounds] | None:
        """Tighten a condition's bounds; how many more conditions that changes, or None if impossible."""
        now = self.truth[condition]
        before: Goal = (LOW, HIGH)
        link = bounds
        while link is not None and not self._additive:
            if link[0] == condition:
                before = link[1]
                break
            link = link[2]
        after = (max(before[0], goal[0]), min(before[1], goal[1]))
        was_changed = not before[0] <= now <= before[1]
        is_changed = not after[0] <= now <= after[1]
        if after[0] > after[1] or (is_changed and not self.changeable[condition]):
            return None
        return int(is_changed and not was_changed), (condition, after, bounds)

    def _changes(self, bounds: _Bounds) -> dict[int, int]:
        """The changed conditions, each moved as far as its bounds allow."""
        changes: dict[int, int] = {}
        seen: set[int] = set()
        while bounds is not None:
            condition, (low, high), bounds = bounds
            if condition not in seen:
                seen.add(condition)
                now = self.truth[condition]
                if not low <= now <= high:
                    changes[condition] = low if now > high else high
        return dict(sorted(changes.items()))


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
