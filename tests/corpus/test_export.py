"""Exports: every row and derived column, loadable by Hugging Face `datasets`."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest

from interpact.corpus.export import export
from interpact.corpus.store import Corpus
from tests.corpus.test_store import PAIRS, folder

LABELS = [{"root": "lease-1/e2", "critical": True, "basis": "changed_pair"}]


def test_rows_carry_what_follows_from_the_rule(tmp_path):
    source = folder(tmp_path, criticality=LABELS)
    export(source, tmp_path / "out")
    rows = pq.read_table(tmp_path / "out" / "pairs" / "train.parquet").to_pylist()
    assert [row["id"] for row in rows] == [pair["id"] for pair in PAIRS]
    removed = rows[1]
    assert (removed["text"], removed["changed"], removed["regime"]) == (None, True, "propagated")
    assert (removed["weight"], removed["flags"]) == (0.5, ["naturalness"])
    assert [removed[f"decision_if_{s}"] for s in ("satisfied", "not_satisfied", "unknown")] == [
        "yes", "no", "insufficient",
    ]  # fmt: skip
    assert [unit["id"] for unit in removed["after"]] == ["e1"]
    assert [unit["id"] for unit in removed["before"]] == ["e1", "e2"]
    roots = pq.read_table(tmp_path / "out" / "roots" / "train.parquet").to_pylist()
    assert [(r["root"], r["critical"], r["basis"], r["pairs"]) for r in roots] == [
        ("lease-1/e1", None, None, 1),
        ("lease-1/e2", True, "changed_pair", 4),
    ]


def test_the_card_counts_what_is_there(tmp_path):
    source = folder(tmp_path, criticality=LABELS)
    (source / "README.md").write_text("Made for a test.\n")
    export(source, tmp_path / "out")
    card = (tmp_path / "out" / "README.md").read_text()
    assert "| train | 2 | 5 | 2 | 1 | 0 |" in card
    assert "| removal | 2 | 0 | 1 | 1 |" in card
    assert "Made for a test." in card


def test_a_second_export_leaves_no_stale_split(tmp_path):
    export(folder(tmp_path), tmp_path / "out")
    unsplit = [{"id": "lease-1/e1", "case": "lease-1", "evidence": "e1", "condition": "c1"}]
    export(folder(tmp_path, roots=unsplit, pairs=PAIRS[:1]), tmp_path / "out")
    assert [path.name for path in (tmp_path / "out" / "pairs").iterdir()] == ["unsplit.parquet"]


def test_datasets_loads_it(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets", reason="pip install datasets to run this test")
    source = folder(tmp_path, criticality=LABELS)
    export(source, tmp_path / "out")
    loaded = datasets.load_dataset(
        str(tmp_path / "out"), "pairs", cache_dir=str(tmp_path / "cache")
    )
    assert loaded["train"].num_rows == len(Corpus.read(source).pairs)
    assert loaded["train"][2]["decision_after"] == "yes"
