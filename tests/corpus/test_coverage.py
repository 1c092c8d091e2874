"""Coverage: which states and decisions the case and its pairs show, and what the mapping adds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from interpact.corpus.coverage import Coverage, SourceCoverage, coverage, write_figure
from interpact.corpus.pairs import Split
from interpact.corpus.store import Corpus
from interpact.errors import InterPactError

Row = tuple[str | None, str, str, dict[str, str]]


def corpus(folder: Path, rows: list[Row]) -> Corpus:
    """One case and root per row: source, split, state of the other condition, pairs. All start as
    satisfied under `all`."""
    files: dict[str, list[dict]] = {"cases": [], "roots": [], "pairs": []}
    decision = {"satisfied": "yes", "not_satisfied": "no", "unknown": "insufficient"}
    for i, (source, split, other, pairs) in enumerate(rows):
        evidence = [{"id": "e1", "conditions": ["c1"], "text": "A ticket."}]
        if other != "unknown":
            evidence.append({"id": "e2", "conditions": ["c2"], "text": "A passport."})
        files["cases"].append({
            "id": f"k{i}", "source": source, "rule": "A seat is kept.", "query": "Is it kept?",
            "aggregation": "all", "conditions": {"c1": "A ticket.", "c2": "A passport."},
            "evidence": evidence,
            "labels": {"states": {"c1": "satisfied", "c2": other}, "decision": decision[other]},
        })  # fmt: skip
        root = {"id": f"k{i}/e1", "case": f"k{i}", "evidence": "e1", "condition": "c1"}
        files["roots"].append(root | {"split": split})
        files["pairs"] += [
            {
                "id": f"k{i}/e1/{operation}", "root": f"k{i}/e1", "operation": operation,
                "text": None if operation == "removal" else "Other.", "state_after": state,
            }
            for operation, state in pairs.items()
        ]  # fmt: skip
    for name, records in files.items():
        lines = [json.dumps({k: v for k, v in r.items() if k != "source" or v}) for r in records]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    return Corpus.read(folder)


ROWS: list[Row] = [
    # mapping yes / no / insufficient; nothing but the original is observed
    ("forms", "train", "satisfied", {}),
    # a control observes too, here a third state
    ("forms", "train", "satisfied", {"removal": "unknown", "paraphrase": "not_satisfied"}),
    ("forms", "train", "satisfied", {"removal": "unknown", "weakening": "satisfied"}),
    # mapping insufficient / no / insufficient
    ("letters", "train", "unknown", {"removal": "unknown"}),
    ("letters", "train", "unknown", {"polarity_reversal": "not_satisfied"}),
    # constant mapping: few states, yet nothing to add
    (None, "train", "not_satisfied", {}),
    ("forms", "test", "satisfied", {}),
]


def test_counts_by_source(tmp_path):
    found = coverage(corpus(tmp_path, ROWS))
    assert found == Coverage(
        Split.TRAIN,
        (
            SourceCoverage("(no source)", 1, 1, (1, 0, 0)),
            SourceCoverage("forms", 3, 2, (1, 1, 1)),
            SourceCoverage("letters", 2, 2, (1, 1, 0)),
        ),
    )
    assert found.total == SourceCoverage("all", 6, 5, (3, 2, 1))
    assert found.total.few_states_share == pytest.approx(5 / 6)
    assert found.total.additional_share == pytest.approx(1 / 2)


def test_the_table(tmp_path):
    rows = [*ROWS[:3], ("a|b", *ROWS[3][1:])]
    assert coverage(corpus(tmp_path, rows)).markdown() == (  # type: ignore[arg-type]
        "| train roots of | roots | fewer than three states | decisions not observed | +0 | +1 | +2 |\n"
        "|---|---:|---:|---:|---:|---:|---:|\n"
        "| a\\|b | 1 | 1 (100.0%) | 1 (100.0%) | 0 | 1 | 0 |\n"
        "| forms | 3 | 2 (66.7%) | 2 (66.7%) | 1 | 1 | 1 |\n"
        "| all | 4 | 3 (75.0%) | 3 (75.0%) | 1 | 2 | 1 |\n"
    )


def test_another_split_can_be_asked_for_and_an_empty_one_is_told(tmp_path):
    some = corpus(tmp_path, ROWS)
    assert coverage(some, Split.TEST).total.additional == (0, 0, 1)
    with pytest.raises(InterPactError, match=r"no dev roots; .*\(interpact split\)"):
        coverage(some, Split.DEV)


@pytest.mark.parametrize(("ending", "magic"), [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")])  # fmt: skip
def test_the_figure_takes_its_format_from_the_ending_and_is_the_same_each_time(
    tmp_path, ending, magic
):
    found = coverage(corpus(tmp_path, ROWS))
    path = tmp_path / f"figure.{ending}"
    write_figure(found, path)
    first = path.read_bytes()
    assert first.startswith(magic)
    write_figure(found, path)
    assert path.read_bytes() == first


def test_the_figure_shows_sources_and_shares_as_text(tmp_path):
    found = Coverage(
        Split.TRAIN,
        (
            SourceCoverage("sharc", 200, 90, (150, 44, 6)),
            SourceCoverage(r"$\frac & <co>", 4, 2, (1, 1, 2)),
        ),
    )
    path = tmp_path / "figure.svg"
    write_figure(found, path)
    text = path.read_text()
    for shown in (
        "ShARC",
        "(n = 200)",
        "75.0%",
        "22.0%",
        r"$\frac &amp; &lt;co&gt;",
        "Training roots",
    ):
        assert shown in text
    assert "3.0%" not in text  # no room in the bar
    with pytest.raises(InterPactError, match="use one of the endings"):
        write_figure(found, tmp_path / "figure.docx")
