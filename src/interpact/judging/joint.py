"""The chance that a decision can turn on several conditions moved together."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import product
from math import prod

from interpact.case.circuit import HIGH, LOW, MIDDLE, Circuit, Kth, Leaf, Negate
from interpact.case.rules import Rule
from interpact.case.states import State

MANY = 20_000  # assignments; beyond, entangled rules are not looked into

Range = tuple[int, int]
"""The least and the greatest value that a node can take while the group moves."""


def joint_chance(
    rule: Rule, chances: Mapping[str, Sequence[float]], group: Collection[str]
) -> float | None:
    """P(some states of the group change the decision), the others independent; None if too entangled."""
    conditions = tuple(chances)
    circuit = Circuit(rule.over(conditions), conditions)
    if circuit.read_once:
        ranges = _ranges(circuit, chances, group)
        return sum(p for (low, high), p in ranges.items() if low != high)
    others = [c for c in conditions if c not in group]
    if 3 ** len(others) > MANY:
        return None
    found = 0.0
    for row in product(State, repeat=len(others)):
        states = dict(zip(others, row, strict=True)) | dict.fromkeys(group, State.UNKNOWN)
        if rule.can_flip({c: states[c] for c in conditions}, group):
            found += prod(
                chances[c][list(State).index(s)] for c, s in zip(others, row, strict=True)
            )
    return found


def _ranges(
    circuit: Circuit, chances: Mapping[str, Sequence[float]], group: Collection[str]
) -> dict[Range, float]:
    """The distribution of the root's range, where every condition occurs once."""
    at_node: list[dict[Range, float]] = []
    for node in circuit.nodes:
        if isinstance(node, Leaf):
            condition = circuit.conditions[node.condition]
            satisfied, not_satisfied, unknown = chances[condition]
            at_node.append(
                {(LOW, HIGH): 1.0}
                if condition in group
                else {(LOW, LOW): not_satisfied, (MIDDLE, MIDDLE): unknown, (HIGH, HIGH): satisfied}
            )
        elif isinstance(node, Negate):
            at_node.append(
                {(HIGH - top, HIGH - low): p for (low, top), p in at_node[node.child].items()}
            )
        else:
            at_node.append(_gate(node, [at_node[child] for child in node.children]))
    return at_node[-1]


def _gate(gate: Kth, inputs: Sequence[dict[Range, float]]) -> dict[Range, float]:
    """The range of the k-th largest: its ends are the k-th largest of the ends."""
    if gate.k == 1 or gate.k == len(inputs):
        pick = max if gate.k == 1 else min
        found = inputs[0]
        for ranges in inputs[1:]:
            merged: dict[Range, float] = {}
            for (a, b), p in found.items():
                for (c, d), q in ranges.items():
                    key = (pick(a, c), pick(b, d))
                    merged[key] = merged.get(key, 0.0) + p * q
            found = merged
        return found
    # How many ends are at least MIDDLE and at least HIGH, each counted up to k.
    counts: dict[tuple[int, ...], float] = {(0, 0, 0, 0): 1.0}
    for ranges in inputs:
        merged_counts: dict[tuple[int, ...], float] = {}
        for count, p in counts.items():
            for (low, high), q in ranges.items():
                up = (low >= MIDDLE, low == HIGH, high >= MIDDLE, high == HIGH)
                key = tuple(min(n + more, gate.k) for n, more in zip(count, up, strict=True))
                merged_counts[key] = merged_counts.get(key, 0.0) + p * q
        counts = merged_counts
    found = {}
    for count, p in counts.items():
        reached = [n == gate.k for n in count]
        key = (reached[0] + reached[1], reached[2] + reached[3])
        found[key] = found.get(key, 0.0) + p
    return found
