"""Predicted chances of state and decision changes, by regime (fig:raw-score-density)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from interpact.corpus.pairs import Regime
from interpact.evaluate.metrics import Floats
from interpact.evaluate.paired import Paired, other_than

MOVED = (Regime.ABSORBED, Regime.PROPAGATED)
"""The regimes whose state changes."""
QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


@dataclass(frozen=True, eq=False)
class ChangeScores:
    """Of one regime of one run: chances of a state change and of a decision change, and weights."""

    state: Floats
    decision: Floats
    weight: Floats
    """Roots count the same, and pairs within a root; they add up to one."""


def change_scores(found: Paired) -> dict[Regime, ChangeScores]:
    """The predicted chances of changes on targets whose reference state changes."""
    pairs = found.pairs
    if pairs.q is None or pairs.s is None:
        return {}
    state = other_than(pairs.q, pairs.state_before)
    answered = ~np.isnan(state) & ~np.isnan(pairs.s)
    scores: dict[Regime, ChangeScores] = {}
    for regime in MOVED:
        rows = np.flatnonzero(found.regimes[regime] & answered)
        if len(rows):
            _, root, counts = np.unique(pairs.root[rows], return_inverse=True, return_counts=True)
            weight = 1 / (counts[root] * len(counts))
            scores[regime] = ChangeScores(state[rows], pairs.s[rows], weight)
    return scores


def quantiles(values: Sequence[Floats], weights: Sequence[Floats]) -> list[float]:
    """Quantiles over runs that count the same: the smallest value with that much weight up to it."""
    value, weight = np.concatenate(values), np.concatenate(weights)
    order = np.argsort(value, kind="stable")
    upto = weight[order].cumsum()
    at = np.searchsorted(upto, np.array(QUANTILES) * upto[-1] * (1 - 1e-12))
    return value[order][np.minimum(at, len(value) - 1)].tolist()
