"""The report of made-up runs, from the command."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from matplotlib.image import imread
from typer.testing import CliRunner

from interpact.cli import app
from interpact.corpus.store import SAMPLE
from interpact.errors import InterPactError
from interpact.evaluate.facts import read_audit
from interpact.evaluate.runs import metrics_of
from interpact.systems.predictions import read_predictions
from tests.evaluate.made import write_runs

TABLES = {
    "data",
    "operation-composition",
    "direct-criticality",
    "direct-criticality-by-source",
    "direct-ablations",
    "main-results",
    "controls",
    "operation-results",
    "source-results",
    "regime-errors",
    "branch-accuracy",
    "factual-correction",
    "semantic-audit",
    "supervision",
    "training",
    "answer-chances",
    "differences",
    "runs",
}
FIGURES = {
    "direct-criticality-by-source",
    "branch-accuracy",
    "raw-score-density",
    "factual-correction",
    "reliability",
    "branch-coverage",
}
AUDIT = {"aspects": [{"aspect": "Target condition state", "passed": 363, "total": 400}]}


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> list[Path]:
    return write_runs(tmp_path_factory.mktemp("runs"))


def report(out: Path, *words: object) -> str:
    result = CliRunner().invoke(
        app, ["report", *map(str, words), "--out", str(out), "--resamples", "200"]
    )
    assert result.exit_code == 0, (result.output, result.exception)
    return result.output


@pytest.fixture(scope="module")
def written(runs, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("report")
    audit = out / "audit.json"
    audit.write_text(json.dumps(AUDIT))
    report(out, *runs, "--corpus", SAMPLE, "--audit", audit)
    return out


def table(out: Path, name: str) -> dict[str, dict[str, str]]:
    with (out / "tables" / f"{name}.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    head = list(rows[0])[1]
    return {row[head]: row for row in rows}


def test_every_table_and_figure_is_there(written):
    for ending in ("md", "tex", "csv"):
        assert {path.stem for path in written.glob(f"tables/*.{ending}")} == TABLES
    for ending in ("pdf", "png"):
        assert {path.stem for path in written.glob(f"figures/*.{ending}")} == FIGURES
    for path in written.glob("figures/*.png"):
        picture = imread(path)
        assert picture.shape[0] > 200 and picture.std() > 0.02
    page = (written / "index.html").read_text(encoding="utf-8")
    assert page.count("<table>") == len(TABLES) and page.count("data:image/png;base64,") == len(
        FIGURES
    )
    # no request leaves the page
    assert not re.search(r'(src|href)="(?!#|data:)', page) and "<script" not in page


def test_tables_say_what_the_stored_predictions_say(written, runs):
    values = [
        metrics_of(read_predictions(run / "predictions" / "test"))
        for run in runs
        if run.name.startswith("interpact")
    ]
    row = table(written, "main-results")["InterPact"]
    mean = sum(v["paired/change_ba"] or 0 for v in values) / len(values)
    assert float(row["Decision change: Balanced acc."]) == pytest.approx(100 * mean, rel=1e-5)
    assert row["Decision change: Balanced acc. runs"] == "2"
    stored = json.loads((written / "metrics.json").read_text())
    found = [run["metrics"] for run in stored if run["run"].startswith("interpact-")]
    assert found == values


def test_what_is_missing_is_shown_as_missing(written):
    rows = table(written, "main-results")
    assert rows["PairCFR"]["Decision: Acc."] == "missing"
    assert rows["GenRM"]["Condition: Acc."] == "no output"
    text = (written / "tables" / "main-results.md").read_text(encoding="utf-8")
    assert "| PairCFR | — | — | — | — | — |" in text


def test_reference_rows_of_the_direct_table(written):
    rows = table(written, "direct-criticality")
    column = "Criticality judgment: Acc."
    assert float(rows["Majority class"][column]) == 80
    assert float(rows["Oracle rule"][column]) == 100
    assert rows["Predicted rule"][column] == "missing"


def test_data_and_audit_tables(written):
    rows = table(written, "data")
    assert rows["Test"]["Pairs"] == "77" and rows["Total"]["Pairs"] == "392"
    assert int(rows["Test"]["Targets"]) + int(rows["Test"]["Controls"]) == 77
    row = table(written, "semantic-audit")["Target condition state"]
    assert row["95% interval (%)"] == "[87.51, 93.21]"
    operations = table(written, "operation-composition")
    assert sum(int(row["Test"]) for row in operations.values()) == 77


def test_a_report_without_corpus_and_main_system_says_so(runs, tmp_path):
    said = report(tmp_path, runs[0])
    assert "missing" in said and "Data splits" in said
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "its runs or the corpus are missing" in page
    assert table(tmp_path, "data")["Test"]["Pairs"] == "missing"
    assert table(tmp_path, "differences")["InterPact − others"]["Difference"] == "missing"


def test_a_figure_that_can_no_longer_be_drawn_goes(runs, tmp_path):
    report(tmp_path, *runs)
    assert (tmp_path / "figures" / "raw-score-density.png").exists()
    report(tmp_path, runs[0])
    assert not (tmp_path / "figures" / "raw-score-density.png").exists()


def test_the_same_runs_give_the_same_report(runs, written, tmp_path):
    audit = tmp_path / "audit.json"
    audit.write_text(json.dumps(AUDIT))
    report(tmp_path, *runs, "--corpus", SAMPLE, "--audit", audit)
    for path in written.rglob("*"):
        if path.is_file():
            assert (tmp_path / path.relative_to(written)).read_bytes() == path.read_bytes(), path


def test_a_wrong_audit_is_told(tmp_path):
    path = tmp_path / "audit.json"
    path.write_text(json.dumps({"aspects": [{"aspect": "x", "passed": 5, "totl": 4}]}))
    with pytest.raises(InterPactError, match=r"audit.json: aspects.0.totl: unknown field"):
        read_audit(path)
    path.write_text(json.dumps({"aspects": [{"aspect": "x", "passed": 5, "total": 4}]}))
    with pytest.raises(InterPactError, match="5 of 4 cannot be"):
        read_audit(path)
