"""How good judgments are on labelled roots."""

from __future__ import annotations

from collections.abc import Sequence

BINS = 10


def measures(
    critical: Sequence[bool],
    said: Sequence[bool | None],
    chances: Sequence[float | None],
) -> dict[str, float | None]:
    """Accuracy, balanced accuracy, macro F1 (what is invalid counts as wrong), share invalid, ECE."""
    right = [s is y for s, y in zip(said, critical, strict=True)]
    recalls, f1 = [], []
    for label in (True, False):
        hits = sum(s is label and y is label for s, y in zip(said, critical, strict=True))
        total = sum(y is label for y in critical)
        claimed = sum(s is label for s in said)
        recalls.append(hits / total if total else None)
        f1.append(2 * hits / (total + claimed) if total + claimed else 0.0)
    known = [r for r in recalls if r is not None]
    pairs = [(p, y) for p, y in zip(chances, critical, strict=True) if p is not None]
    return {
        "roots": len(critical),
        "accuracy": sum(right) / len(right) if right else None,
        "balanced_accuracy": sum(known) / 2 if len(known) == 2 else None,
        "macro_f1": sum(f1) / 2,
        "invalid": sum(s is None for s in said) / len(said) if said else None,
        "ece": ece([p for p, _ in pairs], [y for _, y in pairs]),
    }


def reliability(
    chances: Sequence[float], critical: Sequence[bool], bins: int = BINS
) -> list[tuple[float, float, int]]:
    """Mean probability, share that is critical and count of each bin of equal width."""
    groups: list[list[tuple[float, bool]]] = [[] for _ in range(bins)]
    for p, y in zip(chances, critical, strict=True):
        groups[min(int(p * bins), bins - 1)].append((p, y))
    return [
        (sum(p for p, _ in g) / len(g), sum(y for _, y in g) / len(g), len(g)) for g in groups if g
    ]


def ece(chances: Sequence[float], critical: Sequence[bool], bins: int = BINS) -> float | None:
    """Expected calibration error over bins of equal width."""
    if not chances:
        return None
    found = reliability(chances, critical, bins)
    return sum(n * abs(p - share) for p, share, n in found) / len(chances)
