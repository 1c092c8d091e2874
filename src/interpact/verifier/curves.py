"""The loss curves of a run, as a picture."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from interpact.case.files import replacing
from interpact.verifier.train import metrics


def draw_curves(stages: Mapping[str, Path], to: Path) -> None:
    """Losses of every update above, development scores of every checkpoint below."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5 * len(stages), 6.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes: Any = figure.subplots(2, len(stages), squeeze=False)
    for column, (name, folder) in enumerate(stages.items()):
        updates, dev = metrics(folder)
        above, below = axes[0][column], axes[1][column]
        for part in ("loss", "branch", "decision", "change"):
            values = [record[part] for record in updates if part in record]
            if values:
                above.plot(range(1, len(values) + 1), _smooth(values), label=part, linewidth=1.2)
        above.set_title(name.replace("_", " "))
        above.set_ylabel("training loss (running mean of 20)")
        above.legend(frameon=False)
        for score, label in (
            ("change_ba", "change balanced accuracy"),
            ("decision_accuracy", "decision accuracy"),
            ("state_accuracy", "state accuracy"),
            ("nll", "decision NLL"),
        ):
            points = [(s, d[score]) for s, d in dev.items() if d.get(score) is not None]
            if points:
                below.plot(*zip(*points, strict=True), marker="o", markersize=3, label=label)
        below.set_xlabel("update")
        below.set_ylabel("development pairs")
        below.legend(frameon=False, fontsize="small")
        for axis in (above, below):
            axis.grid(alpha=0.25)
            axis.set_ylim(bottom=0)
    with replacing(to) as part:
        figure.savefig(part, format="png", dpi=120)


def _smooth(values: list[float], width: int = 20) -> list[float]:
    return [
        sum(values[max(0, i - width + 1) : i + 1]) / min(i + 1, width) for i in range(len(values))
    ]
