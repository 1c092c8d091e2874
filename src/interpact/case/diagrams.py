"""Ternary decision diagrams, for the parts of a rule in which a condition occurs more than once.

A diagram is a number: 0, 1 and 2 are the truth values; every other number is a node that branches
on one variable. Equal functions are equal numbers.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import reduce

from interpact.case.circuit import HIGH, LOW, MIDDLE, NEGATION, TRUTHS
from interpact.errors import InterPactError

MAX_VARIABLES = 2_000
MAX_NODES = 1_000_000

Weights = tuple[float, float, float]
"""Probabilities of LOW, MIDDLE and HIGH."""


class Diagrams:
    """A store of ternary decision diagrams over variables 0, 1, 2, ... in that order."""

    def __init__(self, most: int = MAX_NODES) -> None:
        self._most = most
        self._nodes: list[tuple[int, int, int, int]] = [(1 << 60, 0, 0, 0)] * 3
        self._unique: dict[tuple[int, int, int, int], int] = {}
        self._results: dict[tuple[str, int, int], int] = {}

    def node(self, variable: int, low: int, middle: int, high: int) -> int:
        """The diagram that branches on `variable`."""
        if low == middle == high:
            return low
        key = (variable, low, middle, high)
        found = self._unique.get(key)
        if found is None:
            if len(self._nodes) >= self._most:
                raise entangled(f"more than {self._most:,} diagram nodes")
            found = self._unique[key] = len(self._nodes)
            self._nodes.append(key)
        return found

    def variable(self, variable: int) -> int:
        """The diagram that is the variable itself."""
        return self.node(variable, LOW, MIDDLE, HIGH)

    def negate(self, a: int) -> int:
        """Kleene negation."""
        if a <= HIGH:
            return NEGATION[a]
        key = ("not", a, a)
        if key not in self._results:
            variable, low, middle, high = self._nodes[a]
            self._results[key] = self.node(
                variable, self.negate(low), self.negate(middle), self.negate(high)
            )
        return self._results[key]

    def least(self, a: int, b: int) -> int:
        """Kleene conjunction."""
        if a > b:
            a, b = b, a
        if a in (b, LOW) or b == HIGH:
            return a
        if a == HIGH:
            return b
        if b <= HIGH:
            return min(a, b)
        key = ("and", a, b)
        if key not in self._results:
            top = min(self._nodes[a][0], self._nodes[b][0])
            self._results[key] = self.node(
                top,
                self.least(self.branch(a, top, LOW), self.branch(b, top, LOW)),
                self.least(self.branch(a, top, MIDDLE), self.branch(b, top, MIDDLE)),
                self.least(self.branch(a, top, HIGH), self.branch(b, top, HIGH)),
            )
        return self._results[key]

    def greatest(self, a: int, b: int) -> int:
        """Kleene disjunction."""
        return self.negate(self.least(self.negate(a), self.negate(b)))

    def kth_largest(self, k: int, items: Sequence[int]) -> int:
        """The k-th largest of the items.

        Items are added one by one: max(min(x, the (k-1)-th so far), the k-th so far).
        """
        # From the last variables up, so that each step touches few nodes.
        backwards = sorted(items, key=self.top, reverse=True)
        if k == len(items):
            return reduce(self.least, backwards)
        largest = [HIGH] + [LOW] * k  # the 0-th, first, ..., k-th largest so far
        for x in backwards:
            for i in range(k, 0, -1):
                largest[i] = self.greatest(self.least(x, largest[i - 1]), largest[i])
        return largest[k]

    def kth_largest_among(self, k: int, items: Sequence[int], middles: int) -> int:
        """The k-th largest of the items and of so many constants that are MIDDLE."""
        above = self._bounded(k, items)
        if not middles:
            return above
        return self.greatest(above, self.least(MIDDLE, self._bounded(k - middles, items)))

    def _bounded(self, k: int, items: Sequence[int]) -> int:
        return HIGH if k <= 0 else LOW if k > len(items) else self.kth_largest(k, items)

    def branch(self, a: int, variable: int, value: int) -> int:
        """The diagram `a` with the variable set, where it is the first that `a` asks about."""
        node = self._nodes[a]
        return node[1 + value] if node[0] == variable else a

    def chances(self, root: int, weights: Sequence[Weights]) -> Weights:
        """The distribution of a diagram's value, variables being independent."""
        found = self._joint((root,), weights, None)
        return (found.get((LOW,), 0.0), found.get((MIDDLE,), 0.0), found.get((HIGH,), 0.0))

    def response_chances(
        self, root: int, target: int, weights: Sequence[Weights]
    ) -> dict[tuple[int, ...], float]:
        """How likely each response of a diagram to one of its variables is."""
        return self._joint((root, root, root), weights, target)

    def _joint(
        self, diagrams: tuple[int, ...], weights: Sequence[Weights], target: int | None
    ) -> dict[tuple[int, ...], float]:
        """The joint distribution of the values of diagrams, each with its own value of the target."""
        done: dict[tuple[int, ...], dict[tuple[int, ...], float]] = {}

        def visit(roots: tuple[int, ...]) -> dict[tuple[int, ...], float]:
            if max(roots) <= HIGH:
                return {roots: 1.0}
            if roots not in done:
                top = min(self._nodes[root][0] for root in roots)
                if top == target:
                    done[roots] = visit(tuple(self.branch(roots[v], top, v) for v in TRUTHS))
                    return done[roots]
                total: dict[tuple[int, ...], float] = {}
                for value in TRUTHS:
                    if weights[top][value]:
                        below = visit(tuple(self.branch(root, top, value) for root in roots))
                        for outcome, chance in below.items():
                            more = weights[top][value] * chance
                            total[outcome] = total.get(outcome, 0.0) + more
                done[roots] = total
            return done[roots]

        return visit(diagrams)

    def below(self, a: int, value: int) -> int:
        """The diagram that follows when the first variable has this value."""
        return self._nodes[a][1 + value]

    def forget(self) -> None:
        """Drop what is only needed while diagrams are built."""
        self._results.clear()
        self._unique.clear()

    def top(self, a: int) -> int:
        """The variable that a diagram asks about first."""
        return self._nodes[a][0]


def variable_order(groups: Sequence[Sequence[int]], count: int) -> list[int]:
    """An order in which variables of one group stand close to each other (the FORCE heuristic)."""
    order = list(range(count))
    best, best_span = order, _span(groups, order)
    for _ in range(30):
        place = {variable: i for i, variable in enumerate(order)}
        pull: list[list[float]] = [[] for _ in range(count)]
        for group in groups:
            centre = sum(place[v] for v in group) / len(group)
            for v in group:
                pull[v].append(centre)
        order = sorted(
            range(count),
            key=lambda v: (sum(pull[v]) / len(pull[v]) if pull[v] else place[v], place[v]),
        )
        span = _span(groups, order)
        if span < best_span:
            best, best_span = order, span
    return best


def _span(groups: Sequence[Sequence[int]], order: Sequence[int]) -> int:
    place = {variable: i for i, variable in enumerate(order)}
    return sum(max(place[v] for v in g) - min(place[v] for v in g) for g in groups)


def allow_depth(variables: int) -> None:
    """Room for recursion over that many variables; the limit is raised once and stays."""
    if variables > MAX_VARIABLES:
        raise entangled(f"{variables:,} parts, {MAX_VARIABLES:,} is the limit")
    needed = 1_000 + 4 * variables
    if sys.getrecursionlimit() < needed:
        sys.setrecursionlimit(needed)


def entangled(size: str) -> InterPactError:
    """The error for rules that no diagram can hold."""
    return InterPactError(
        f"the rule repeats conditions in one place too often for exact answers ({size}); "
        "rewrite it so that fewer conditions occur more than once"
    )
