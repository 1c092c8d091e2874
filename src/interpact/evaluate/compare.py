"""Differences between systems: what resampling whole components says about them.

Pairs of one component are related, so components are what is resampled, the same ones for every
system and run (paired). Counts add up, so a resample is a weighted sum and no prediction is touched.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise, product
from statistics import NormalDist

import numpy as np

from interpact.evaluate.metrics import Floats
from interpact.evaluate.runs import COMPARED, Result
from interpact.evaluate.tally import Tally

RESAMPLES = 2_000
LEVEL = 0.95
CELLS = 4_000_000  # of resampling weights that are held at a time


@dataclass(frozen=True, slots=True)
class Comparison:
    """How much a system is above another on a metric."""

    system: str
    other: str
    metric: str
    difference: float
    low: float | None
    high: float | None
    """The bias-corrected, accelerated interval of the paired bootstrap."""
    p: float
    """Of the paired permutation test, two-sided."""
    adjusted: float
    """After Holm, over the systems that are compared on the metric."""


def comparisons(
    main: Result,
    others: Sequence[Result],
    metrics: Sequence[str] = COMPARED,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[Comparison]:
    """The differences of a system from others, metric by metric; where either has no value, none."""
    tested: list[_Test] = []
    for metric in metrics:
        rows = [
            (other, theirs)
            for other in others
            if _tallies(main, metric) and (theirs := _tallies(other, metric))
        ]
        if rows:
            names, tallies = zip(*rows, strict=True)
            tested.append(_Test(metric, _tallies(main, metric), names, tallies))
    units = max((test.units for test in tested), default=0)
    draw = np.random.default_rng(seed)
    for count in _chunks(resamples, units):
        picks = draw.integers(units, size=(count, units))
        picks += np.arange(count)[:, None] * units
        weights = np.bincount(picks.ravel(), minlength=count * units).reshape(count, units)
        swapped = draw.integers(2, size=(count, units), dtype=np.int8)
        for test in tested:
            test.resample(weights.astype(np.float64), swapped.astype(np.float64))
    return [found for test in tested for found in test.results(main.name)]


def _tallies(result: Result, metric: str) -> list[Tally]:
    tallies = [run.tallies[metric] for run in result.runs if metric in run.tallies]
    return tallies if len(tallies) == len(result.runs) else []


class _Test:
    """Counts of one metric by component, of the runs of a system and of others, being resampled."""

    def __init__(
        self,
        metric: str,
        main: Sequence[Tally],
        names: Sequence[Result],
        others: Sequence[Sequence[Tally]],
    ) -> None:
        self.metric, self.names, self.value = metric, names, main[0].value
        tallies = [*main, *(tally for other in others for tally in other)]
        # a run that was read early knows fewer components than one read late
        self.units = max(len(tally.counts) for tally in tallies)
        self.shape = main[0].counts.shape[1:]
        self.table = np.zeros((self.units, len(tallies), int(np.prod(self.shape))))
        for number, tally in enumerate(tallies):
            rows = len(tally.counts)
            self.table[:rows, number] = tally.counts.reshape(rows, -1)
        ends = list(accumulate([len(main), *map(len, others)]))
        self.main = range(ends[0])
        self.others = [range(*bounds) for bounds in pairwise(ends)]
        self.total = self.table.sum(0)
        self.differences = self._means(self.total)
        self.drawn: list[Floats] = []
        self.larger = np.zeros(len(others))
        self.swaps = 0

    def _values(self, counts: Floats) -> Floats:
        """The metric of counts `[..., cell]`."""
        return self.value(counts.reshape(*counts.shape[:-1], *self.shape))

    def _means(self, counts: Floats) -> Floats:
        """The mean difference of each other system: `[..., run, cell]` to `[..., other]`."""
        values = self._values(counts)
        mean = values[..., self.main].mean(-1)
        return np.stack([mean - values[..., runs].mean(-1) for runs in self.others], -1)

    def resample(self, weights: Floats, swapped: Floats) -> None:
        """Take so many of each component; and swap the systems on some components."""
        self.drawn.append(self._means(self._sums(weights)))
        moved = self._sums(swapped)
        kept = self.total - moved
        for number, runs in enumerate(self.others):
            changes = [
                self._values(kept[:, one] + moved[:, other])
                - self._values(kept[:, other] + moved[:, one])
                for one, other in product(self.main, runs)
            ]
            # rounding must not make an equal difference a smaller one
            least = abs(self.differences[number]) - 1e-12
            self.larger[number] += (np.abs(np.mean(changes, 0)) >= least).sum()
        self.swaps += len(swapped)

    def _sums(self, weights: Floats) -> Floats:
        sums = weights[:, : self.units] @ self.table.reshape(self.units, -1)
        return sums.reshape(-1, *self.table.shape[1:])

    def results(self, main: str) -> list[Comparison]:
        """What came out, of the systems for which the metric is defined."""
        drawn = np.concatenate(self.drawn)
        left_out = self._means(self.total - self.table)
        chances = (self.larger + 1) / (self.swaps + 1)
        keep = np.flatnonzero(np.isfinite(self.differences)).tolist()
        adjusted = holm([float(chances[i]) for i in keep])
        found: list[Comparison] = []
        for i, corrected in zip(keep, adjusted, strict=True):
            difference = float(self.differences[i])
            ends = interval(drawn[:, i], left_out[:, i], difference) or (None, None)
            name = self.names[i].name
            found.append(
                Comparison(main, name, self.metric, difference, *ends, float(chances[i]), corrected)
            )
        return found


def _chunks(resamples: int, units: int) -> Iterator[int]:
    size = max(1, CELLS // max(units, 1))
    for start in range(0, resamples, size):
        yield min(size, resamples - start)


def interval(drawn: Floats, left_out: Floats, value: float) -> tuple[float, float] | None:
    """The BCa interval (Efron 1987) of a value, from resamples and from leaving out each unit."""
    drawn = drawn[np.isfinite(drawn)]
    left_out = left_out[np.isfinite(left_out)]
    if len(drawn) < 100 or not np.isfinite(value):
        return None
    below = ((drawn < value).sum() + (drawn == value).sum() / 2) / len(drawn)
    ends = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    if 0 < below < 1:
        normal = NormalDist()
        bias = normal.inv_cdf(below)
        away = left_out.mean() - left_out if len(left_out) else left_out
        spread = (away**2).sum()
        skew = (away**3).sum() / (6 * spread**1.5) if spread > 0 else 0.0
        points = [bias + normal.inv_cdf(end) for end in ends]
        ends = [normal.cdf(bias + point / (1 - skew * point)) for point in points]
    low, high = np.quantile(drawn, ends)
    return float(low), float(high)


def holm(chances: Sequence[float]) -> list[float]:
    """Chances of several tests, corrected by Holm's method."""
    order = sorted(range(len(chances)), key=lambda i: chances[i])
    adjusted = [0.0] * len(chances)
    largest = 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(chances) - rank) * chances[i]))
        adjusted[i] = largest
    return adjusted


def wilson(passed: int, total: int) -> tuple[float, float]:
    """The Wilson interval of a share."""
    z = NormalDist().inv_cdf((1 + LEVEL) / 2)
    share = passed / total
    middle = share + z * z / (2 * total)
    half = z * (share * (1 - share) / total + z * z / (4 * total * total)) ** 0.5
    scale = 1 + z * z / total
    return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)
