"""A rule as a circuit of one kind of gate, and its Kleene evaluation.

With the truth order not satisfied < unknown < satisfied, `and`, `or` and `at least k` are all
"the k-th largest of the inputs" (k = n, 1 and k). A rule seen from one of its nodes is then a
*response*: what the decision would be for each truth value of that node. Responses compose, which
makes mappings and pivotality of every condition one pass down the circuit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from interpact.case.expressions import And, AtLeast, Condition, Expression, Not, Or

LOW, MIDDLE, HIGH = 0, 1, 2  # not satisfied < unknown < satisfied
TRUTHS = (LOW, MIDDLE, HIGH)

Response = tuple[int, int, int]
"""The value at the root for the node being LOW, MIDDLE, HIGH."""
IDENTITY: Response = (LOW, MIDDLE, HIGH)
NEGATION: Response = (HIGH, MIDDLE, LOW)


def clamp(low: int, high: int) -> Response:
    """The response of a gate whose other inputs hold its value within [low, high]."""
    return (low, min(max(MIDDLE, low), high), high)


def compose(outer: Response, inner: Response) -> Response:
    """The response to a node whose parent responds by `inner` and whose grandparent by `outer`."""
    return (outer[inner[0]], outer[inner[1]], outer[inner[2]])


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """One occurrence of a condition."""

    condition: int


@dataclass(frozen=True, slots=True, eq=False)
class Negate:
    """Kleene negation of a node."""

    child: int


@dataclass(frozen=True, slots=True, eq=False)
class Kth:
    """The k-th largest of its children."""

    k: int
    children: tuple[int, ...]


Node = Leaf | Negate | Kth


class Circuit:
    """A rule over the conditions of a case: its nodes with children first, the root last."""

    __slots__ = ("conditions", "nodes", "occurrences", "read_once", "used")

    def __init__(self, expression: Expression, conditions: Sequence[str]) -> None:
        self.conditions = tuple(conditions)
        index = {name: i for i, name in enumerate(self.conditions)}
        self.nodes: list[Node] = []
        self._add(expression, index)
        self.occurrences: dict[int, list[int]] = {}
        for at, node in enumerate(self.nodes):
            if isinstance(node, Leaf):
                self.occurrences.setdefault(node.condition, []).append(at)
        self.used = [i for i in range(len(self.conditions)) if i in self.occurrences]
        self.read_once = all(len(leaves) == 1 for leaves in self.occurrences.values())

    def _add(self, expression: Expression, index: dict[str, int]) -> int:
        match expression:
            case Condition(name):
                node: Node = Leaf(index[name])
            case Not(item):
                node = Negate(self._add(item, index))
            case And(items):
                node = Kth(len(items), tuple(self._add(item, index) for item in items))
            case Or(items):
                node = Kth(1, tuple(self._add(item, index) for item in items))
            case AtLeast(count, items):
                node = Kth(count, tuple(self._add(item, index) for item in items))
        self.nodes.append(node)
        return len(self.nodes) - 1

    def values(self, truth: Sequence[int]) -> list[int]:
        """The value of every node, given the truth of every condition; the root's is the last."""
        values: list[int] = []
        for node in self.nodes:
            if isinstance(node, Leaf):
                values.append(truth[node.condition])
            elif isinstance(node, Kth):
                values.append(kth_largest(node.k, *_counts(values, node.children)))
            else:
                values.append(HIGH - values[node.child])
        return values

    def evaluate(self, truth: Sequence[int]) -> int:
        """The value of the root."""
        return self.values(truth)[-1]

    def responses(self, truth: Sequence[int]) -> list[Response]:
        """The root's response to every condition, the others held at `truth`."""
        values = self.values(truth)
        constant = (values[-1], values[-1], values[-1])
        found: list[Response] = [constant] * len(self.conditions)
        at_node = [IDENTITY] * len(self.nodes)
        for at in range(len(self.nodes) - 1, -1, -1):
            node = self.nodes[at]
            if isinstance(node, Leaf):
                found[node.condition] = at_node[at]
            elif isinstance(node, Negate):
                at_node[node.child] = compose(at_node[at], NEGATION)
            else:
                high, not_low = _counts(values, node.children)
                # What the gate makes of a child depends on that child's own value only.
                through = [
                    compose(at_node[at], _among(node.k, high - (v == HIGH), not_low - (v != LOW)))
                    for v in TRUTHS
                ]
                for child in node.children:
                    at_node[child] = through[values[child]]
        if not self.read_once:
            standing = Standing(self, truth, values)
            for condition, leaves in self.occurrences.items():
                if len(leaves) > 1:
                    low, middle, high = (standing.root(dict.fromkeys(leaves, v)) for v in TRUTHS)
                    found[condition] = (low, middle, high)
        return found


class Standing:
    """A circuit at some states, ready to be asked what a few changes would do."""

    def __init__(
        self, circuit: Circuit, truth: Sequence[int], values: list[int] | None = None
    ) -> None:
        self.circuit = circuit
        self.values = circuit.values(truth) if values is None else values
        self.parent = [-1] * len(circuit.nodes)
        self.counts: list[tuple[int, int]] = []
        self.positive = [True] * len(circuit.nodes)
        for at, node in enumerate(circuit.nodes):
            below = (
                ()
                if isinstance(node, Leaf)
                else (node.child,)
                if isinstance(node, Negate)
                else node.children
            )
            for child in below:
                self.parent[child] = at
            self.counts.append(_counts(self.values, below))
        for at in range(len(circuit.nodes) - 2, -1, -1):
            above = self.parent[at]
            negated = isinstance(circuit.nodes[above], Negate)
            self.positive[at] = self.positive[above] != negated

    def reach(self, conditions: Iterable[int]) -> tuple[int, int]:
        """The least and the greatest value of the root that states of these conditions can bring.

        Only for read-once circuits, in which every condition pulls in one direction.
        """
        leaves = [
            self.circuit.occurrences[c][0] for c in conditions if c in self.circuit.occurrences
        ]
        return self._moved(leaves, LOW), self._moved(leaves, HIGH)

    def _moved(self, leaves: list[int], towards: int) -> int:
        return self.root({at: towards if self.positive[at] else HIGH - towards for at in leaves})

    def root(self, leaves: Mapping[int, int]) -> int:
        """The value of the root when these leaves have new values; costs no more than their paths."""
        changed = dict(leaves)
        shifts: dict[int, list[int]] = {}
        waiting = list(changed)
        heapify(waiting)  # children before parents
        while waiting:
            at = heappop(waiting)
            node = self.circuit.nodes[at]
            if isinstance(node, Negate):
                changed[at] = HIGH - changed[node.child]
            elif isinstance(node, Kth):
                high, not_low = self.counts[at]
                more_high, more_not_low = shifts[at]
                changed[at] = kth_largest(node.k, high + more_high, not_low + more_not_low)
            before, after, above = self.values[at], changed[at], self.parent[at]
            if above < 0 or before == after:
                continue
            if above not in shifts:
                shifts[above] = [0, 0]
                heappush(waiting, above)
            shifts[above][0] += (after == HIGH) - (before == HIGH)
            shifts[above][1] += (after != LOW) - (before != LOW)
        return changed.get(len(self.circuit.nodes) - 1, self.values[-1])


def _among(k: int, high: int, not_low: int) -> Response:
    """The response of a k-th largest gate to one child, given the counts of its siblings."""
    return clamp(kth_largest(k, high, not_low), kth_largest(k - 1, high, not_low))


def kth_largest(k: int, high: int, not_low: int) -> int:
    """The k-th largest of values of which `high` are HIGH and `not_low` are above LOW."""
    return HIGH if high >= k else MIDDLE if not_low >= k else LOW


def _counts(values: Sequence[int], children: Sequence[int]) -> tuple[int, int]:
    high = not_low = 0
    for child in children:
        value = values[child]
        if value == HIGH:
            high += 1
        if value != LOW:
            not_low += 1
    return high, not_low
