"""The paper's figures, as PDF and PNG; one whose runs are missing is not drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from interpact.case.files import replacing
from interpact.corpus.coverage import ENDINGS
from interpact.evaluate.paired_tables import WARRANT
from interpact.evaluate.rows import ABLATIONS, ADAPTED, LLM, MAIN, source_title, sources
from interpact.evaluate.runs import Result, Results, Spread
from interpact.evaluate.scores import MOVED, quantiles
from interpact.systems.predictions import System

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DARK, LIGHT, GREY, WARM = "#1f4e79", "#6fa8c9", "#b9c0c8", "#c2603c"
FORMATS = (".pdf", ".png")


def direct_by_source(results: Results) -> Figure | None:
    """Direct balanced accuracy by source (fig:direct-criticality-by-source)."""
    shown = [r for system in (*LLM, *ADAPTED, *MAIN) for r in results.of(system)]
    panels = sources(results)
    if not shown or not panels:
        return None
    figure, axes = _panels(len(panels), len(shown))
    for axis, source in zip(axes, panels, strict=True):
        _bars(axis, shown, f"direct/ba/source={source}", axis is axes[0])
        axis.set_title(source_title(source), fontsize=10, parse_math=False)
        axis.axvline(50, color="black", linewidth=0.8, linestyle=":")
    figure.supxlabel("Direct balanced accuracy (%); dotted: a constant answer", fontsize=9)
    return figure


def conditional(results: Results) -> Figure | None:
    """Conditional decision accuracy before Hard Warrant (fig:branch-accuracy)."""
    shown = [r for system in (*ABLATIONS, *MAIN) for r in results.of(system)]
    shown = [r for r in shown if isinstance(r.spread("conditional/all_three"), Spread)]
    if not shown:
        return None
    figure, axes = _panels(2, len(shown))
    for axis, (key, title) in zip(
        axes,
        (
            ("alternative", "Decision accuracy\n(alternative states)"),
            ("all_three", "All three decisions correct"),
        ),
        strict=True,
    ):
        _bars(axis, shown, f"conditional/{key}", axis is axes[0])
        axis.set_title(title, fontsize=10)
    figure.supxlabel("Before Hard Warrant (%), averaged within roots, then over roots", fontsize=9)
    return figure


def _panels(count: int, bars: int) -> tuple[Figure, Sequence[Any]]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2.2 + 2.6 * count, 1.1 + 0.32 * bars), layout="constrained")
    return figure, figure.subplots(1, count, sharey=True, squeeze=False)[0]


def _bars(axis: Any, shown: Sequence[Result], key: str, first: bool) -> None:
    """Horizontal bars of means, with deviations and runs as dots."""
    for place, result in enumerate(shown):
        found = result.spread(key)
        if not isinstance(found, Spread):
            axis.text(1, place, str(found), va="center", fontsize=8)
            continue
        colour = DARK if result.system is System.INTERPACT else LIGHT
        mean, deviation = 100 * found.mean, 100 * (found.deviation or 0)
        axis.barh(place, mean, 0.66, color=colour)
        if found.deviation is not None:
            axis.errorbar(mean, place, xerr=deviation, color="black", capsize=2.5, linewidth=1)
        axis.text(mean + deviation + 1.5, place, f"{mean:.1f}", va="center", fontsize=8)
    axis.set_xlim(0, 112)
    axis.set_xticks(range(0, 101, 25))
    axis.set_ylim(len(shown) - 0.4, -0.6)
    axis.set_yticks(range(len(shown)), [r.name for r in shown], parse_math=False, fontsize=9)
    axis.tick_params(axis="y", length=0, labelleft=first)
    axis.spines[["top", "right", "left"]].set_visible(False)


def change_scores(results: Results) -> Figure | None:
    """Predicted chances of state and decision changes, by regime (fig:raw-score-density)."""
    from matplotlib.figure import Figure

    runs = [run for result in results.of(System.INTERPACT)[:1] for run in result.runs]
    groups = [
        (regime, [run.changes[regime] for run in runs if regime in run.changes]) for regime in MOVED
    ]
    if not any(scores for _, scores in groups):
        return None
    figure = Figure(figsize=(6.4, 2.6), layout="constrained")
    axis = figure.add_subplot()
    places: list[tuple[float, str]] = []
    for start, (what, colour) in enumerate((("state", LIGHT), ("decision", DARK))):
        for offset, (regime, scores) in enumerate(groups):
            place = 2.4 * start + offset
            places.append((place, f"{regime} (n = {sum(len(s.state) for s in scores):,})"))
            if scores:
                values = [s.state if what == "state" else s.decision for s in scores]
                low, p5, p25, median, p75, p95, high = quantiles(values, [s.weight for s in scores])
                axis.plot([low, high], [place, place], color=colour, linewidth=1)
                for left, right, alpha in ((p5, p95, 0.35), (p25, p75, 0.9)):
                    axis.barh(
                        place, right - left, 0.5, left, color=colour, alpha=alpha, linewidth=0
                    )
                axis.plot(median, place, "o", color="white", markeredgecolor="black", markersize=6)
        title = f"Predicted {'condition' if what == 'state' else 'decision'} change"
        axis.text(0, 2.4 * start - 0.52, title, fontsize=9, fontweight="bold")
    axis.set_yticks([p for p, _ in places], [name for _, name in places], fontsize=9)
    axis.set_ylim(3.9, -0.85)
    axis.set_xlim(-0.01, 1.01)
    axis.set_xlabel("Probability; line: range, bands: 5–95% and 25–75%, dot: median", fontsize=9)
    axis.tick_params(axis="y", length=0)
    axis.spines[["top", "right", "left"]].set_visible(False)
    return figure


def warrant(results: Results) -> Figure | None:
    """Hard Warrant with checkpoint and threshold fixed (fig:factual-correction)."""
    from matplotlib.figure import Figure

    found = next(iter(results.of(System.INTERPACT)), None)
    if found is None or not isinstance(found.spread("warrant/raw/change_ba"), Spread):
        return None
    figure = Figure(figsize=(6.4, 2.6), layout="constrained")
    axis = figure.add_subplot()
    for place, (key, title, better) in enumerate(WARRANT):
        ends = [found.spread(f"warrant/{name}/{key}") for name in ("raw", "fixed")]
        if not all(isinstance(end, Spread) for end in ends):
            axis.text(1, place, "undefined", va="center", fontsize=8)
            continue
        raw, fixed = (100 * end.mean for end in ends if isinstance(end, Spread))
        gain = (fixed - raw) * better >= 0
        axis.plot([raw, fixed], [place, place], color=DARK if gain else WARM, linewidth=2, zorder=1)
        axis.scatter(raw, place, 46, color="white", edgecolor="black", zorder=3, clip_on=False)
        axis.scatter(fixed, place, 46, color=DARK if gain else WARM, zorder=4, clip_on=False)
        axis.text(103, place, f"{raw:.2f} → {fixed:.2f}", va="center", fontsize=8.5)
        axis.text(
            -3, place, f"{title} {'↑' if better > 0 else '↓'}", ha="right", va="center", fontsize=9
        )
    axis.scatter([], [], 46, color="white", edgecolor="black", label="without")
    axis.scatter([], [], 46, color=DARK, label="with Hard Warrant, not worse")
    axis.scatter([], [], 46, color=WARM, label="with Hard Warrant, worse")
    figure.legend(loc="outside upper center", ncols=3, frameon=False, fontsize=9)
    axis.set_yticks([])
    axis.set_ylim(len(WARRANT) - 0.5, -0.5)
    axis.set_xlim(0, 100)
    axis.set_xlabel("%, mean over runs; one checkpoint and threshold a run", fontsize=9)
    axis.spines[["top", "right", "left"]].set_visible(False)
    return figure


def reliability(results: Results) -> Figure | None:
    """How often roots are critical where P(Yes) says so; bins of all runs together, by system."""
    from matplotlib.figure import Figure

    shown = [
        (result, [run.reliability for run in result.runs if run.reliability is not None])
        for system in (*LLM, *ADAPTED, *MAIN)
        for result in results.of(system)
    ]
    shown = [(result, tables) for result, tables in shown if tables]
    if not shown:
        return None
    across = min(4, len(shown))
    down = -(-len(shown) // across)
    figure = Figure(figsize=(0.6 + 2.0 * across, 0.7 + 2.1 * down), layout="constrained")
    axes: list[Any] = list(
        figure.subplots(down, across, sharex=True, sharey=True, squeeze=False).flat
    )
    for axis, (result, tables) in zip(axes, shown, strict=False):
        counts = np.sum([table[0] for table in tables], 0)
        chance, came = (
            np.sum([np.nan_to_num(t[row]) * t[0] for t in tables], 0) / np.maximum(counts, 1)
            for row in (1, 2)
        )
        held = counts > 0
        axis.plot([0, 1], [0, 1], color=GREY, linewidth=1)
        colour = DARK if result.system is System.INTERPACT else LIGHT
        axis.plot(chance[held], came[held], color=colour, linewidth=1)
        sizes = 8 + 110 * counts[held] / counts.sum()
        axis.scatter(
            chance[held], came[held], sizes, color=colour, edgecolor="white", linewidth=0.5
        )
        axis.set_title(result.name, fontsize=9, parse_math=False)
        axis.set_xlim(-0.03, 1.03)
        axis.set_ylim(-0.06, 1.06)
        axis.set_xticks([0, 0.5, 1])
        axis.set_yticks([0, 0.5, 1])
        axis.set_aspect("equal")
        axis.spines[["top", "right"]].set_visible(False)
    for axis in axes[len(shown) :]:
        axis.set_visible(False)
    figure.supxlabel("P(Yes) of the direct answer; size: share of the roots", fontsize=9)
    figure.supylabel("Share critical", fontsize=9)
    return figure


FIGURES: dict[str, tuple[str, Callable[[Results], Figure | None]]] = {
    "direct-criticality-by-source": ("Direct balanced accuracy by source", direct_by_source),
    "branch-accuracy": ("Conditional decision accuracy before Hard Warrant", conditional),
    "raw-score-density": ("Predicted condition and decision changes by regime", change_scores),
    "factual-correction": ("Hard Warrant at a fixed checkpoint and threshold", warrant),
    "reliability": ("Reliability of P(Yes)", reliability),
}


def write_figure(figure: Figure, folder: Path, name: str) -> None:
    """Write a figure as PDF and PNG; the same figure gives the same bytes."""
    from matplotlib import rc_context

    for ending in FORMATS:
        with rc_context({"pdf.fonttype": 42}), replacing(folder / f"{name}{ending}") as temporary:
            figure.savefig(temporary, format=ending[1:], dpi=200, metadata={ENDINGS[ending]: None})
