"""Exact chances of decisions and of pivotality, from independent state distributions.

Where every condition occurs once the work is linear in the rule (for `at least k`, linear times
min(k, n - k + 1)). Where some occur again, the smallest part of the rule that holds all their
occurrences becomes a decision diagram; all else stays linear. Nothing enumerates assignments.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

from interpact.case.circuit import (
    IDENTITY,
    NEGATION,
    TRUTHS,
    Circuit,
    Kth,
    Leaf,
    Negate,
    Node,
    Response,
    compose,
)
from interpact.case.counting import gate_responses, gate_weights
from interpact.case.diagrams import Diagrams, Weights, allow_depth, variable_order

Responses = dict[Response, float]
"""A distribution over responses of the root to one node."""


def decision_weights(circuit: Circuit, weights: Sequence[Weights]) -> Weights:
    """The distribution of the root's value."""
    return _plan(circuit).upward(weights)[-1]


def response_chances(
    circuit: Circuit, weights: Sequence[Weights], targets: Collection[int]
) -> dict[int, Responses]:
    """For each target condition, how likely each response of the root to it is."""
    return _plan(circuit).downward(weights, targets)


@dataclass(frozen=True, slots=True, eq=False)
class Entangled:
    """A part of the rule whose children share conditions, as a diagram over independent parts."""

    children: tuple[int, ...]
    diagrams: Diagrams
    root: int


class Plan:
    """A circuit rearranged so that the children of every node are independent of each other."""

    def __init__(self, circuit: Circuit) -> None:
        self.circuit = circuit
        self.nodes: list[Node | Entangled] = []
        if circuit.read_once:
            self.nodes.extend(circuit.nodes)
        else:
            self._private = _private(circuit)
            self._copy(len(circuit.nodes) - 1)

    def _put(self, node: Node | Entangled) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _copy(self, at: int) -> int:
        """Copy a node whose conditions occur nowhere else."""
        node = self.circuit.nodes[at]
        if isinstance(node, Leaf):
            return self._put(node)
        if isinstance(node, Negate):
            return self._put(Negate(self._copy(node.child)))
        if all(self._private[child] for child in node.children):
            return self._put(Kth(node.k, tuple(self._copy(child) for child in node.children)))
        groups = _sharing(self.circuit, node)
        everyone = node.k == len(node.children)
        if len(groups) == 1 or not (everyone or node.k == 1):
            return self._entangle(node)
        # `and` and `or` may be bracketed at will: those children together that share conditions.
        parts = tuple(
            self._copy(group[0])
            if len(group) == 1
            else self._entangle(Kth(len(group) if everyone else 1, group))
            for group in groups
        )
        return self._put(Kth(len(parts) if everyone else 1, parts))

    def _entangle(self, top: Kth) -> int:
        parts: dict[int, int] = {}  # circuit node of a part to its number
        same: dict[int, int] = {}  # condition that occurs here and there to the number of its part
        groups: list[list[int]] = []  # the parts below each gate

        def scan(at: int) -> list[int]:
            node = self.circuit.nodes[at]
            if isinstance(node, Leaf) or self._private[at]:
                number = len(set(parts.values()))
                if isinstance(node, Leaf):
                    number = same.setdefault(node.condition, number)
                return [parts.setdefault(at, number)]
            if isinstance(node, Negate):
                return scan(node.child)
            return gather(node)

        def gather(gate: Kth) -> list[int]:
            below = [part for child in gate.children for part in scan(child)]
            groups.append(sorted(set(below)))
            return below

        gather(top)
        count = len(set(parts.values()))
        allow_depth(count)
        order = variable_order(groups, count)
        place = {part: i for i, part in enumerate(order)}
        first = {part: at for at, part in reversed(parts.items())}
        children = tuple(self._copy(first[part]) for part in order)
        diagrams = Diagrams()

        def build(at: int) -> int:
            node = self.circuit.nodes[at]
            if at in parts:
                return diagrams.variable(place[parts[at]])
            if isinstance(node, Negate):
                return diagrams.negate(build(node.child))
            assert isinstance(node, Kth)
            return diagrams.kth_largest(node.k, [build(child) for child in node.children])

        root = diagrams.kth_largest(top.k, [build(child) for child in top.children])
        diagrams.forget()
        return self._put(Entangled(children, diagrams, root))

    def upward(self, weights: Sequence[Weights]) -> list[Weights]:
        """The distribution of every node's value."""
        found: list[Weights] = []
        for node in self.nodes:
            if isinstance(node, Leaf):
                found.append(weights[node.condition])
            elif isinstance(node, Negate):
                low, middle, high = found[node.child]
                found.append((high, middle, low))
            elif isinstance(node, Kth):
                found.append(gate_weights(node.k, [found[child] for child in node.children]))
            else:
                inputs = [found[child] for child in node.children]
                found.append(node.diagrams.chances(node.root, inputs))
        return found

    def downward(
        self, weights: Sequence[Weights], targets: Collection[int]
    ) -> dict[int, Responses]:
        """The distribution of the root's response to each target condition."""
        values = self.upward(weights)
        wanted = [isinstance(node, Leaf) and node.condition in targets for node in self.nodes]
        for at, node in enumerate(self.nodes):
            if isinstance(node, Negate):
                wanted[at] = wanted[node.child]
            elif not isinstance(node, Leaf):
                wanted[at] = any(wanted[child] for child in node.children)
        at_node: list[Responses] = [{} for _ in self.nodes]
        at_node[-1] = {IDENTITY: 1.0}
        found = {
            target: {
                (value, value, value): chance
                for value, chance in zip(TRUTHS, values[-1], strict=True)
            }
            for target in targets
        }
        for at in range(len(self.nodes) - 1, -1, -1):
            node = self.nodes[at]
            if not wanted[at]:
                continue
            if isinstance(node, Leaf):
                found[node.condition] = at_node[at]
            elif isinstance(node, Negate):
                at_node[node.child] = _through(at_node[at], {NEGATION: 1.0})
            else:
                positions = [i for i, child in enumerate(node.children) if wanted[child]]
                inputs = [values[child] for child in node.children]
                if isinstance(node, Kth):
                    inner = gate_responses(node.k, inputs, set(positions))
                else:
                    inner = {i: _diagram_responses(node, inputs, i) for i in positions}
                for i in positions:
                    at_node[node.children[i]] = _through(at_node[at], inner[i])
            at_node[at] = {}
        return found


@lru_cache(maxsize=64)
def _plan(circuit: Circuit) -> Plan:
    return Plan(circuit)


def _through(outer: Responses, inner: Responses) -> Responses:
    found: Responses = {}
    for first, p in inner.items():
        for then, q in outer.items():
            response = compose(then, first)
            found[response] = found.get(response, 0.0) + p * q
    return found


def _diagram_responses(node: Entangled, inputs: Sequence[Weights], position: int) -> Responses:
    joint = node.diagrams.response_chances(node.root, position, inputs)
    return {(key[0], key[1], key[2]): chance for key, chance in joint.items()}


def _private(circuit: Circuit) -> list[bool]:
    """Whether all occurrences of a node's conditions lie below it."""
    first = [0] * len(circuit.nodes)  # the first node of the subtree; children come before parents
    earliest, latest = list(first), list(first)
    private: list[bool] = []
    for at, node in enumerate(circuit.nodes):
        if isinstance(node, Leaf):
            leaves = circuit.occurrences[node.condition]
            first[at], earliest[at], latest[at] = at, leaves[0], leaves[-1]
        else:
            below = (node.child,) if isinstance(node, Negate) else node.children
            first[at] = min(first[child] for child in below)
            earliest[at] = min(earliest[child] for child in below)
            latest[at] = max(latest[child] for child in below)
        private.append(earliest[at] >= first[at] and latest[at] <= at)
    return private


def _sharing(circuit: Circuit, gate: Kth) -> list[tuple[int, ...]]:
    """The gate's children, grouped where they share conditions."""
    group = {child: [child] for child in gate.children}
    owner: dict[int, int] = {}
    for child in gate.children:
        pending = [child]
        while pending:
            node = circuit.nodes[pending.pop()]
            if isinstance(node, Leaf):
                other = group[owner.setdefault(node.condition, child)]
                mine = group[child]
                if other is not mine:
                    small, large = sorted((mine, other), key=len)
                    large.extend(small)
                    group.update(dict.fromkeys(small, large))
            else:
                pending.extend((node.child,) if isinstance(node, Negate) else node.children)
    distinct = {id(members): members for members in group.values()}
    return [tuple(sorted(members)) for members in distinct.values()]
