"""Chances of a k-th largest gate with independent inputs, without enumerating them."""

from __future__ import annotations

from collections.abc import Sequence, Set

from interpact.case.circuit import HIGH, LOW, MIDDLE, Response, clamp
from interpact.case.diagrams import Weights


def gate_weights(k: int, inputs: Sequence[Weights]) -> Weights:
    """The distribution of the k-th largest of independent inputs."""
    dual = len(inputs) + 1 - k
    if k > dual:  # the k-th largest is the dual-th smallest: count on the shorter side
        return _mirrored(gate_weights(dual, [_mirrored(w) for w in inputs]))
    count = _Count.none(k)
    for weights in inputs:
        count.add(weights)
    low = sum(count.clean) + sum(count.low_unknown)
    high = count.reached
    # For gates between `or` and `and`, unknown is what is left: exact to 1e-15, absolutely.
    some = any(weights[1] for weights in inputs)
    middle = count.high_unknown[0] if k == 1 else max(0.0, 1.0 - low - high) if some else 0.0
    return (low, middle, high)


def gate_responses(
    k: int, inputs: Sequence[Weights], wanted: Set[int]
) -> dict[int, dict[Response, float]]:
    """For each wanted input, how likely the others let it through within which bounds."""
    dual = len(inputs) + 1 - k
    if k > dual:
        mirrored = gate_responses(dual, [_mirrored(w) for w in inputs], wanted)
        return {
            i: {(HIGH - r[HIGH], HIGH - r[MIDDLE], HIGH - r[LOW]): p for r, p in responses.items()}
            for i, responses in mirrored.items()
        }
    after: dict[int, _Count] = {}
    count = _Count.none(k)
    for i in range(len(inputs) - 1, -1, -1):
        if i in wanted:
            after[i] = count.copy()
        count.add(inputs[i])
    found: dict[int, dict[Response, float]] = {}
    count = _Count.none(k)
    for i, weights in enumerate(inputs):
        if i in wanted:
            found[i] = _siblings(count, after.pop(i))
        count.add(weights)
    return found


def _mirrored(weights: Weights) -> Weights:
    return (weights[2], weights[1], weights[0])


class _Count:
    """How many of the inputs so far are HIGH, and how many are above LOW, up to k - 1.

    `clean[i]`: exactly i are HIGH and all others LOW. `high_unknown[i]`: exactly i are HIGH and some are
    MIDDLE. `low_unknown[i]`: exactly i are above LOW and some of them are MIDDLE. `reached`: at
    least k are HIGH.
    """

    __slots__ = ("clean", "high_unknown", "low_unknown", "reached")

    def __init__(
        self,
        clean: list[float],
        high_unknown: list[float],
        low_unknown: list[float],
        reached: float,
    ) -> None:
        self.clean = clean
        self.high_unknown = high_unknown
        self.low_unknown = low_unknown
        self.reached = reached

    @staticmethod
    def none(k: int) -> _Count:
        return _Count([1.0] + [0.0] * (k - 1), [0.0] * k, [0.0] * k, 0.0)

    def copy(self) -> _Count:
        return _Count(self.clean[:], self.high_unknown[:], self.low_unknown[:], self.reached)

    def add(self, weights: Weights) -> None:
        low, middle, high = weights
        not_high, not_low = low + middle, middle + high
        clean, some_high, some_low = self.clean, self.high_unknown, self.low_unknown
        last = len(clean) - 1
        self.reached += (clean[last] + some_high[last]) * high
        for i in range(last, 0, -1):
            some_high[i] = some_high[i] * not_high + clean[i] * middle + some_high[i - 1] * high
            some_low[i] = some_low[i] * low + some_low[i - 1] * not_low + clean[i - 1] * middle
            clean[i] = clean[i] * low + clean[i - 1] * high
        some_high[0] = some_high[0] * not_high + clean[0] * middle
        some_low[0] *= low
        clean[0] *= low


def _siblings(before: _Count, after: _Count) -> dict[Response, float]:
    """The response to an input between the two counts: its value held within [k-th, (k-1)-th of the others]."""
    last = len(before.clean) - 1
    highs = [a + b for a, b in zip(after.clean, after.high_unknown, strict=True)]
    at_least = [after.reached] * (last + 2)  # at_least[t]: t or more of `after` are HIGH
    for t in range(last, -1, -1):
        at_least[t] = at_least[t + 1] + highs[t]
    at_most = 0.0  # of `after`, i or fewer are above LOW
    always_high, always_low = before.reached, 0.0
    open_, floor_middle, roof_middle = 0.0, 0.0, 0.0
    for i in range(last + 1):
        j = last - i
        here = before.clean[j] + before.high_unknown[j]
        always_high += here * at_least[last + 1 - j]
        open_ += before.clean[j] * after.clean[i]
        floor_middle += here * after.high_unknown[i] + before.high_unknown[j] * after.clean[i]
        low_here = before.clean[j] + before.low_unknown[j]
        roof_middle += low_here * after.low_unknown[i] + before.low_unknown[j] * after.clean[i]
        always_low += low_here * at_most
        at_most += after.clean[i] + after.low_unknown[i]
    found = {
        clamp(HIGH, HIGH): always_high,
        clamp(LOW, LOW): always_low,
        clamp(LOW, HIGH): open_,
        clamp(MIDDLE, HIGH): floor_middle,
        clamp(LOW, MIDDLE): roof_middle,
    }
    if last and any(
        (*before.high_unknown, *after.high_unknown, *before.low_unknown, *after.low_unknown)
    ):
        found[clamp(MIDDLE, MIDDLE)] = max(0.0, 1.0 - sum(found.values()))
    return {response: chance for response, chance in found.items() if chance > 0.0}
