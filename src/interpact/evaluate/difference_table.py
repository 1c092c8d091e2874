"""The table of differences between systems."""

from __future__ import annotations

from collections.abc import Sequence

from interpact.evaluate.compare import Comparison
from interpact.evaluate.rows import GAPS
from interpact.evaluate.runs import Gap, Results
from interpact.evaluate.table import Cell, Column, Row, Section, Table, percent
from interpact.systems.predictions import System

METRIC_TITLES = {
    "direct/accuracy": "Direct accuracy",
    "direct/ba": "Direct balanced accuracy",
    "direct/f1": "Direct macro-F1",
    "paired/change_ba": "Decision-change balanced accuracy",
    "paired/decision_accuracy": "Decision accuracy",
    "paired/decision_f1": "Decision macro-F1",
    "paired/state_accuracy": "Condition accuracy",
    "paired/control_fpr": "Control FPR",
    "conditional/all_three": "All three conditional decisions correct",
}


def differences(results: Results, found: Sequence[Comparison], resamples: int) -> Table:
    """How far InterPact is above each other system, with intervals and tests; not in the paper."""
    sections = tuple(
        Section(
            title,
            tuple(
                Row(f"{c.system} − {c.other}", _difference(c)) for c in found if c.metric == metric
            ),
        )
        for metric, title in METRIC_TITLES.items()
        if any(c.metric == metric for c in found)
    )
    missing = Section("", (Row(f"{System.INTERPACT.named()} − others", (Gap.MISSING,) * 4),))
    caption = (
        f"Differences in percentage points. {resamples:,} resamples of {results.units:,} whole "
        f"{results.clusters}, the same for every system and run: bias-corrected and accelerated 95% intervals; two-sided "
        "permutation tests; Holm's correction over the systems of a metric. "
    )
    columns = tuple(Column(title) for title in ("Difference", "95% interval", "p", "p (Holm)"))
    return Table(
        "differences",
        "Differences between systems",
        caption + GAPS,
        "Systems",
        columns,
        sections or (missing,),
    )


def _difference(found: Comparison) -> tuple[Cell, ...]:
    ends: Cell = Gap.UNDEFINED
    if found.low is not None and found.high is not None:
        ends = f"[{percent(found.low)}, {percent(found.high)}]"
    return (f"{100 * found.difference:+.2f}", ends, _chance(found.p), _chance(found.adjusted))


def _chance(p: float) -> str:
    return f"{p:.4f}"
