"""Metrics as functions of counts that add up, so that wholes, parts and resamples need one pass."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from interpact.evaluate.metrics import Flags, Floats, Ints, Metric, confusion


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts of each unit (a component), and the metric that their sum gives."""

    counts: Floats
    """`[unit, ...]`"""
    value: Metric

    def metric(self) -> float | None:
        """The metric over all units; None where it is undefined."""
        return defined(float(self.value(self.counts.sum(0))))


@dataclass(frozen=True, eq=False)
class Units:
    """To which of `count` units each row belongs; by default there is one."""

    of: Ints
    count: int

    @staticmethod
    def one(rows: int) -> Units:
        """All rows as one unit."""
        return Units(np.zeros(rows, np.int64), 1)

    def confusion(self, where: Flags, reference: Ints, predicted: Ints, value: Metric) -> Tally:
        """A metric of the confusion table of some rows; labels are two or three."""
        classes = 2 if reference.dtype == np.bool_ else 3
        table = confusion(
            reference[where].astype(np.int64),
            predicted[where],
            classes,
            self.of[where],
            self.count,
        )
        return Tally(table, value)

    def sums(self, value: Metric, *columns: Floats) -> Tally:
        """A metric of sums of numbers."""
        summed = [np.bincount(self.of, column, self.count) for column in columns]
        return Tally(np.stack(summed, 1).astype(np.float64), value)


def defined(value: float) -> float | None:
    """The number, or None where it is NaN."""
    return None if np.isnan(value) else value
