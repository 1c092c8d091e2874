"""Runs are held against one reference, and what does not fit is told with its rows."""

from __future__ import annotations

import pytest

from interpact.corpus.pairs import Split
from interpact.corpus.store import SAMPLE, Corpus
from interpact.errors import InterPactError
from interpact.evaluate.runs import Gap, Spread, read_results
from interpact.systems.predictions import System
from tests.evaluate.made import CORPUS, change_rows, write_run

PAIR = next(pair.id for pair in CORPUS.pairs if pair.of.split is Split.TEST)
ROOT = PAIR.rpartition("/")[0]


@pytest.fixture
def run(tmp_path):
    return write_run(tmp_path / "one", System.INTERPACT, 1)


def told(*runs, corpus=None) -> str:
    with pytest.raises(InterPactError) as caught:
        read_results(runs, Split.TEST, corpus)
    return str(caught.value)


def renamed(number: int, **values):
    return lambda rows: rows[number - 1].update(values)


def test_pairs_that_the_corpus_has_not_are_named(run):
    change_rows(run, "pairs.jsonl", renamed(3, pair="other/e1/removal"))
    said = told(run, corpus=CORPUS)
    assert "pairs.jsonl: row 3: other/e1/removal: the corpus has no such pair" in said
    assert "is not predicted" in said


def test_roots_that_the_corpus_has_not_are_named(run):
    change_rows(run, "roots.jsonl", renamed(2, root="other/e1"))
    said = told(run, corpus=CORPUS)
    assert "roots.jsonl: row 2: other/e1: the corpus has no such root" in said


def test_pairs_that_are_not_predicted_are_named(run):
    change_rows(run, "pairs.jsonl", lambda rows: rows[1:])
    assert f"{PAIR}: this pair of the corpus is not predicted" in told(run, corpus=CORPUS)


def test_labels_that_differ_from_the_corpus_are_named(run):
    change_rows(run, "roots.jsonl", lambda rows: rows[0].update(critical=not rows[0]["critical"]))
    said = told(run, corpus=CORPUS)
    assert f"roots.jsonl: row 1: {ROOT}: critical is not what the corpus says" in said


@pytest.mark.parametrize("file", ["pairs.jsonl", "roots.jsonl"])
def test_sources_that_differ_from_the_corpus_are_named(run, file):
    change_rows(run, file, renamed(2, source="elsewhere"))
    assert "source is not what the corpus says" in told(run, corpus=CORPUS)
    assert f"{file}: row 2:" in told(run, corpus=CORPUS)


def test_states_that_differ_from_another_run_are_named(tmp_path, run):
    other = write_run(tmp_path / "two", System.GENRM, 1)

    def swap(rows):
        row = rows[4]
        row["operation"] = "paraphrase" if row["operation"] != "paraphrase" else "removal"

    change_rows(other, "pairs.jsonl", swap)
    said = told(run, other)
    assert "pairs.jsonl: row 5:" in said and "operation is not what" in said and "one" in said


def test_runs_of_different_corpora_do_not_mix(tmp_path, run):
    other = write_run(tmp_path / "two", System.GENRM, 1, corpus="0" * 64)
    assert "two" in told(run, other) and "another corpus" in told(run, other)
    assert "another corpus" in told(other, corpus=CORPUS)


def test_a_run_is_given_once(tmp_path, run):
    other = write_run(tmp_path / "two", System.INTERPACT, 1)
    assert "InterPact with seed 1, as is" in told(run, other)


def test_scores_need_a_threshold(tmp_path):
    run = write_run(tmp_path / "one", System.INTERPACT, 1, threshold=None)
    assert "no threshold" in told(run)


def test_a_run_without_predictions_is_told(tmp_path):
    assert "no finished predictions" in told(tmp_path)
    assert "no runs" in told()


def test_a_corpus_without_the_split_is_told(run):
    empty = Corpus.read(SAMPLE)
    empty.roots = {n: r for n, r in empty.roots.items() if r.split is not Split.TEST}
    assert "the corpus has no test roots" in told(run, corpus=empty)


def test_the_order_of_rows_does_not_matter(tmp_path, run):
    before = read_results([run], Split.TEST, CORPUS)
    change_rows(run, "pairs.jsonl", lambda rows: rows[::-1])
    change_rows(run, "roots.jsonl", lambda rows: rows[::-1])
    after = read_results([run], Split.TEST, CORPUS)
    one, other = (r.of(System.INTERPACT)[0].runs[0].metrics for r in (before, after))
    assert one == pytest.approx(other)


def test_a_missing_class_is_undefined_not_zero(run):
    change_rows(
        run,
        "roots.jsonl",
        lambda rows: [{**row, "critical": True, "verdict": "yes"} for row in rows],
    )
    (found,) = read_results([run]).of(System.INTERPACT)
    assert found.spread("direct/accuracy") == Spread(1.0, None, 1)
    assert found.spread("direct/ba") is Gap.UNDEFINED
    assert found.spread("direct/auroc") is Gap.UNDEFINED


def test_what_a_system_has_not_is_no_output(tmp_path):
    (found,) = read_results([write_run(tmp_path, System.GENRM, 1)]).of(System.GENRM)
    assert found.spread("paired/state_accuracy") is Gap.NO_OUTPUT
    assert found.spread("conditional/all_three") is Gap.NO_OUTPUT


def test_one_system_on_two_models_is_two_rows(tmp_path):
    runs = [
        write_run(tmp_path / name, System.INTERPACT, 1, backbone=name)
        for name in ("small", "large")
    ]
    names = [result.name for result in read_results(runs).of(System.INTERPACT)]
    assert names == ["InterPact (large)", "InterPact (small)"]


def test_components_are_those_of_the_corpus_and_cases_without_one(run):
    with_corpus = read_results([run], Split.TEST, CORPUS)
    without = read_results([run])
    roots = [name for name, root in CORPUS.roots.items() if root.split is Split.TEST]
    assert without.clusters == "cases"
    assert without.units == len({name.rpartition("/")[0] for name in roots})
    assert with_corpus.clusters == "components"
    assert with_corpus.units == len(
        {with_corpus.component_of[name.rpartition("/")[0]] for name in roots}
    )
    (one,), (other,) = (r.of(System.INTERPACT) for r in (with_corpus, without))
    assert one.runs[0].metrics == other.runs[0].metrics


def test_an_unlabelled_root_is_not_scored(run):
    def unlabel(rows):
        wrong = next(row for row in rows if row["critical"])
        wrong.update(critical=None, verdict="no", p_yes=None)

    change_rows(run, "roots.jsonl", unlabel)
    results = read_results([run])
    (found,) = results.of(System.INTERPACT)
    assert results.reference.roots is not None
    labelled = int((results.reference.roots.critical >= 0).sum())
    assert labelled == len(results.reference.roots) - 1
    assert isinstance(found.spread("direct/auroc"), Spread)
