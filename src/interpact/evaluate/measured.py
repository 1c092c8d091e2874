"""The metrics of one folder of predictions, kept beside them."""

from __future__ import annotations

import json
from pathlib import Path

from interpact.case.files import replacing
from interpact.evaluate.runs import metrics_of
from interpact.systems.predictions import read_predictions

METRICS = "metrics.json"


def write_metrics(folder: Path) -> dict[str, float | None]:
    """Every metric of a folder of predictions, also written there; None is undefined."""
    found = metrics_of(read_predictions(folder))
    with replacing(folder / METRICS) as part:
        part.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return found
