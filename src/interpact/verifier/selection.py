"""Choosing checkpoints and thresholds, on development data only (app:selection)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


def average_precision(scores: Sequence[float], positive: Sequence[bool]) -> float | None:
    """Non-interpolated average precision with tied scores as one group; None without positives."""
    total = sum(positive)
    if not total:
        return None
    found = seen = 0
    area = 0.0
    for _, group in _groups(scores, positive):
        hits = sum(group)
        found, seen = found + hits, seen + len(group)
        area += hits / total * found / seen
    return area


def balanced_accuracy(predicted: Sequence[bool], positive: Sequence[bool]) -> float | None:
    """The mean of the recalls of both classes; None where one is missing."""
    positives = sum(positive)
    negatives = len(positive) - positives
    if not positives or not negatives:
        return None
    hits = sum(p and y for p, y in zip(predicted, positive, strict=True))
    rejections = sum(not p and not y for p, y in zip(predicted, positive, strict=True))
    return (hits / positives + rejections / negatives) / 2


@dataclass(frozen=True, slots=True)
class Threshold:
    """Scores from `value` on are predicted to change the decision."""

    value: float
    balanced_accuracy: float


def best_threshold(scores: Sequence[float], positive: Sequence[bool]) -> Threshold | None:
    """The threshold of the highest balanced accuracy, the largest on ties; None where a class is missing.

    Every distinct set of predictions is tried, also all-negative (an infinite threshold) and
    all-positive (the smallest score).
    """
    positives = sum(positive)
    negatives = len(positive) - positives
    if not positives or not negatives:
        return None
    best = Threshold(math.inf, 0.5)
    hits = alarms = 0
    for score, group in _groups(scores, positive):
        hits += sum(group)
        alarms += len(group) - sum(group)
        accuracy = (hits / positives + 1 - alarms / negatives) / 2
        if accuracy > best.balanced_accuracy + 1e-12:
            best = Threshold(score, accuracy)
    return best


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A step and the development criterion there, lower is better."""

    step: int
    criterion: float


def best_checkpoint(checkpoints: Sequence[Checkpoint]) -> Checkpoint:
    """The lowest criterion; exact ties favour the earlier step."""
    sound = [c for c in checkpoints if math.isfinite(c.criterion)]
    if not sound:
        raise ValueError("no checkpoint has a finite criterion")
    return min(sound, key=lambda c: (c.criterion, c.step))


def checkpoint_steps(updates: int, every: int) -> list[int]:
    """Every so many updates, and the last."""
    return [*range(every, updates, every), updates] if updates else []


def _groups(scores: Sequence[float], positive: Sequence[bool]) -> list[tuple[float, list[bool]]]:
    """The labels of each distinct score, highest score first."""
    if any(math.isnan(score) for score in scores):
        raise ValueError("a score is not a number")
    groups: dict[float, list[bool]] = {}
    for score, label in zip(scores, positive, strict=True):
        groups.setdefault(score, []).append(label)
    return sorted(groups.items(), reverse=True)
