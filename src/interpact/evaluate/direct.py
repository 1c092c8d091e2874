"""The direct task: does the decision hang on this evidence, from one case (tab:direct-criticality)."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from interpact.evaluate import metrics
from interpact.evaluate.metrics import Flags, Floats, Ints
from interpact.evaluate.tally import Tally, Units, defined
from interpact.systems.columns import RootColumns
from interpact.systems.predictions import Verdict

HEADLINES = {
    "accuracy": metrics.accuracy,
    "ba": metrics.balanced_accuracy,
    "f1": metrics.macro_f1,
    "invalid": metrics.unanswered,
}
SCORES = {
    "auroc": metrics.auroc,
    "ap": metrics.average_precision,
    "brier": metrics.brier,
    "ece": metrics.calibration_error,
}
_CRITICAL = {Verdict.YES: 1, Verdict.NO: 0, Verdict.INVALID: -1}


def answers(roots: RootColumns) -> Ints:
    """1 critical, 0 not, -1 invalid: an error, and a missed root of its class, but never a no."""
    return np.array([_CRITICAL[verdict] for verdict in Verdict])[roots.verdict]


def direct_tallies(
    roots: RootColumns, units: Units | None = None, only: Collection[str] | None = None
) -> dict[str, Tally]:
    """The metrics, all or some, of generated answers over labelled roots, also by source."""
    units = units or Units.one(len(roots))
    labelled = roots.critical >= 0
    critical = roots.critical > 0
    parts = {"": labelled} | {
        f"/source={name}": labelled & (roots.source == code)
        for code, name in enumerate(roots.sources)
    }
    answered = answers(roots)
    return {
        f"direct/{name}{part}": units.confusion(where, critical, answered, value)
        for part, where in parts.items()
        for name, value in HEADLINES.items()
        if only is None or f"direct/{name}{part}" in only
    }


def scored(roots: RootColumns) -> tuple[Floats, Flags] | None:
    """P(Yes) of labelled roots and whether they are critical; None where some root has none."""
    labelled = roots.critical >= 0
    if roots.p_yes is None or np.isnan(roots.p_yes[labelled]).any():
        return None
    return roots.p_yes[labelled], roots.critical[labelled] > 0


def direct_metrics(roots: RootColumns) -> dict[str, float | None]:
    """Every metric of the direct task; what the system does not give is absent."""
    found = {name: tally.metric() for name, tally in direct_tallies(roots).items()}
    scores = scored(roots)
    if scores is not None:
        found |= {f"direct/{name}": defined(value(*scores)) for name, value in SCORES.items()}
    return found
