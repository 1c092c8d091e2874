"""Metrics of confusion tables and of scores (app:metric-details).

A confusion table counts references by predictions: `[..., class, class + 1]`, the last column holding
what was not answered. Leading axes are anything: splits, resamples. What is undefined is NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[Any]
Flags = NDArray[np.bool_]
Metric = Callable[[Floats], Floats]
"""Of a confusion table, or of other counts that add up."""

BINS = 10


def confusion(
    reference: Ints, predicted: Ints, classes: int, units: Ints | None = None, count: int = 1
) -> Floats:
    """The confusion table of each unit, `[unit, class, class + 1]`; a prediction of -1 is none."""
    cells = classes * (classes + 1)
    code = reference * (classes + 1) + np.where(predicted < 0, classes, predicted)
    if units is not None:
        code = code + units.astype(np.int64) * cells
    flat = np.bincount(code, minlength=count * cells)
    return flat.reshape(count, classes, classes + 1).astype(np.float64)


def share(part: Floats, whole: Floats) -> Floats:
    """A part of a whole; NaN of nothing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole > 0, part / whole, np.nan)


def accuracy(table: Floats) -> Floats:
    """The share that is right; what is not answered is wrong."""
    return share(_right(table).sum(-1), table.sum((-2, -1)))


def recalls(table: Floats) -> Floats:
    """The share that is right of each class; what is not answered is missed."""
    return share(_right(table), table.sum(-1))


def balanced_accuracy(table: Floats) -> Floats:
    """The mean recall of the classes; undefined where one of them has no reference."""
    return recalls(table).mean(-1)


def macro_f1(table: Floats) -> Floats:
    """The mean F1 of the classes, zero for one never said; undefined where one has no reference."""
    right, reference = _right(table), table.sum(-1)
    return share(2 * right, reference + table[..., :-1].sum(-2)).mean(-1) * np.where(
        (reference > 0).all(-1), 1.0, np.nan
    )


def unanswered(table: Floats) -> Floats:
    """The share that is not answered."""
    return share(table[..., -1].sum(-1), table.sum((-2, -1)))


def _right(table: Floats) -> Floats:
    return np.diagonal(table, axis1=-2, axis2=-1)


def auroc(scores: Floats, positive: Flags) -> float:
    """The chance that a positive scores above a negative, ties counting half."""
    order = np.argsort(scores, kind="stable")
    _, first, counts = np.unique(scores[order], return_index=True, return_counts=True)
    ranks = np.repeat(first + (counts + 1) / 2, counts)
    positives = int(positive.sum())
    negatives = len(positive) - positives
    if not positives or not negatives:
        return float("nan")
    above = ranks[positive[order]].sum() - positives * (positives + 1) / 2
    return float(above / (positives * negatives))


def average_precision(scores: Floats, positive: Flags) -> float:
    """Non-interpolated average precision with tied scores as one group."""
    total = int(positive.sum())
    if not total:
        return float("nan")
    values, group = np.unique(-scores, return_inverse=True)
    hits = np.bincount(group, weights=positive, minlength=len(values)).astype(np.float64)
    seen = np.bincount(group, minlength=len(values)).cumsum()
    return float((hits / total * hits.cumsum() / seen).sum())


def brier(scores: Floats, positive: Flags) -> float:
    """The mean squared distance of chances from what came."""
    return float(((scores - positive) ** 2).mean()) if len(scores) else float("nan")


def reliability(scores: Floats, positive: Flags, bins: int = BINS) -> Floats:
    """By equal bins of chances: how many, their mean chance, and the share that was positive."""
    bin_of = np.minimum((scores * bins).astype(np.int64), bins - 1)
    counts = np.bincount(bin_of, minlength=bins).astype(np.float64)
    chance, came = (np.bincount(bin_of, w, bins).astype(np.float64) for w in (scores, positive))
    return np.stack([counts, share(chance, counts), share(came, counts)])


def calibration_error(scores: Floats, positive: Flags, bins: int = BINS) -> float:
    """The expected calibration error: how far bins are off, weighted by their size."""
    if not len(scores):
        return float("nan")
    counts, chance, came = reliability(scores, positive, bins)
    off = np.where(counts > 0, np.abs(chance - came), 0.0)
    return float((counts * off).sum() / len(scores))
