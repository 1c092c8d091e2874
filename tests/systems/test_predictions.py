"""Predictions come back as they were written, and what is wrong with them is told with its rows."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

from interpact.case.states import Decision, State
from interpact.corpus.pairs import Operation, Split
from interpact.corpus.store import SAMPLE, Corpus
from interpact.errors import InterPactError
from interpact.systems.predictions import (
    Meta,
    PairPrediction,
    RootPrediction,
    Verdict,
    fingerprint,
    read_predictions,
    write_predictions,
)

CORPUS = Corpus.read(SAMPLE)
META = Meta.model_validate(
    {
        "system": "interpact",
        "name": "InterPact",
        "run": "one",
        "seed": 1,
        "backbone": "tiny",
        "split": "test",
        "threshold": 0.5,
        "corpus": fingerprint(CORPUS, Split.TEST),
    }
)


def predicted() -> tuple[list[PairPrediction], list[RootPrediction]]:
    chances = np.random.default_rng(0)

    def rows(*shape: int) -> list:
        return chances.dirichlet([1, 1, 1], shape or None).tolist()

    pairs = [
        PairPrediction.of(pair, q=rows(), p=rows(), s=chances.random(), branches=rows(3))
        for pair in CORPUS.pairs
        if pair.of.split is Split.TEST
    ]
    roots = [
        RootPrediction.of(
            name,
            root,
            CORPUS.criticality[name].critical if name in CORPUS.criticality else None,
            "Yes",
            Verdict.YES,
            0.7,
        )
        for name, root in CORPUS.roots.items()
        if root.split is Split.TEST
    ]
    return pairs, roots


@pytest.fixture
def folder(tmp_path):
    write_predictions(tmp_path, META, *predicted())
    return tmp_path


def test_predictions_come_back_as_columns(folder):
    pairs, roots = predicted()
    read = read_predictions(folder)
    assert read.meta == META
    found = read.pairs
    assert found is not None and read.roots is not None
    assert found.ids.to_pylist() == [p.pair for p in pairs]
    assert [found.roots[code] for code in found.root] == [p.root for p in pairs]
    assert [found.sources[code] for code in found.source] == [p.source for p in pairs]
    assert [list(Operation)[code] for code in found.operation] == [p.operation for p in pairs]
    for name, kind in (("state", State), ("decision", Decision)):
        for when in ("before", "after"):
            codes = getattr(found, f"{name}_{when}")
            assert [list(kind)[c] for c in codes] == [getattr(p, f"{name}_{when}") for p in pairs]
    for name in ("q", "p", "s", "branches"):
        np.testing.assert_array_equal(getattr(found, name), [getattr(p, name) for p in pairs])
    assert read.roots.roots == [r.root for r in roots]
    assert [{1: True, 0: False, -1: None}[int(c)] for c in read.roots.critical] == [
        r.critical for r in roots
    ]


def test_an_answer_that_is_not_given_is_a_row_of_nan_and_one_never_given_is_none(tmp_path):
    pairs, _ = predicted()
    some = [pairs[0].model_copy(update={"q": None, "branches": None}), *pairs[1:]]
    some = [pair.model_copy(update={"s": None}) for pair in some]
    write_predictions(tmp_path, META, some, None)
    read = read_predictions(tmp_path)
    assert read.roots is None and read.pairs is not None
    assert read.pairs.s is None and read.pairs.q is not None and read.pairs.branches is not None
    assert np.isnan(read.pairs.q[0]).all() and np.isnan(read.pairs.branches[0]).all()
    assert np.isfinite(read.pairs.q[1:]).all()


def test_a_score_that_is_no_number_is_not_written(tmp_path):
    pair = CORPUS.pairs[0]
    with pytest.raises(ValidationError, match="finite number"):
        PairPrediction.of(pair, s=float("nan"))
    with pytest.raises(ValidationError, match="does not add up to 1"):
        PairPrediction.of(pair, q=[0.5, 0.5, 0.5])


def test_a_threshold_that_nothing_reaches_is_kept_as_a_number(tmp_path):
    pairs, _ = predicted()
    never = Meta.model_validate({**META.model_dump(), "threshold": float("inf")})
    write_predictions(tmp_path, never, pairs, None)
    read = read_predictions(tmp_path)
    assert read.meta.threshold is not None and read.pairs is not None and read.pairs.s is not None
    assert not (read.pairs.s >= read.meta.threshold).any()


def test_rounding_is_no_error(tmp_path):
    pairs, _ = predicted()
    rounded = pairs[0].model_copy(update={"s": -1e-9, "p": (1 + 1e-8, -1e-8, 0.0)})
    write_predictions(tmp_path, META, [rounded], None)
    read = read_predictions(tmp_path).pairs
    assert read is not None and read.s is not None and read.s[0] == -1e-9
    assert PairPrediction.of(CORPUS.pairs[0], s=-1e-9).s == -1e-9


def test_predictions_that_were_interrupted_are_none(folder):
    def broken():
        yield predicted()[0][0]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_predictions(folder, META, broken(), None)
    with pytest.raises(InterPactError, match="no finished predictions"):
        read_predictions(folder)


def changed(folder: Path, file: str, change) -> str:
    """What reading says after a change of the rows of a file."""
    path = folder / file
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows = change(rows) or rows
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(InterPactError) as caught:
        read_predictions(folder)
    return str(caught.value)


def row(number: int, **values):
    return lambda rows: rows[number - 1].update(values)


NAN = float("nan")


@pytest.mark.parametrize(
    ("file", "change", "told"),
    [
        ("pairs.jsonl", lambda rows: rows + rows[:1], "row 1: P1: this pair occurs more than once"),
        ("pairs.jsonl", row(4, s=NAN), "row 4: P4: s is not a number; write null"),
        ("pairs.jsonl", row(4, s=1.5), "row 4: P4: s is no chance between 0 and 1"),
        ("pairs.jsonl", row(4, q=[0.1, NAN, 0.9]), "row 4: P4: q is not a number"),
        ("pairs.jsonl", row(4, q=[0.1, None, 0.9]), "row 4: P4: q is not a number"),
        ("pairs.jsonl", row(4, p=[0.1, 0.9]), "row 4: P4: p has to be three chances"),
        ("pairs.jsonl", row(4, p=[0.1, 0.9, 0.9]), "row 4: P4: p does not add up to 1"),
        ("pairs.jsonl", row(4, branches=[[1, 0, 0], [0, 1], [1, 0, 0]]), "row 4: P4: branches has"),
        ("pairs.jsonl", row(4, branches=[[1, 0, 0]] * 2), "row 4: P4: branches has to be three"),
        ("pairs.jsonl", row(4, operation="removl"), "row 4: P4: operation is none of removal"),
        ("pairs.jsonl", row(4, state_before=None), "row 4: P4: state_before is none of satisfied"),
        (
            "pairs.jsonl",
            row(4, mapping=["yes", "no"]),
            "row 4: P4: mapping has to be the decisions",
        ),
        (
            "pairs.jsonl",
            row(4, mapping=["yes", "no", "perhaps"]),
            "row 4: P4: mapping holds what is",
        ),
        ("pairs.jsonl", row(4, mapping=["insufficient"] * 3), "row 4: P4: decision_before is not"),
        ("pairs.jsonl", row(4, root=None), "row 4: P4: root is missing"),
        ("pairs.jsonl", row(4, p="x"), "pairs.jsonl:4: P4: p: must be a list"),
        ("pairs.jsonl", row(4, pp=1), 'pairs.jsonl:4: P4: pp: unknown field (did you mean "p"?)'),
        (
            "roots.jsonl",
            lambda rows: rows + rows[1:2],
            "row 2: R2: this root occurs more than once",
        ),
        (
            "roots.jsonl",
            row(3, verdict="perhaps"),
            "row 3: R3: verdict is none of yes, no, invalid",
        ),
        ("roots.jsonl", row(3, p_yes=NAN), "row 3: R3: p_yes is not a number"),
        ("roots.jsonl", row(3, critical="yes"), "roots.jsonl:3: R3: critical:"),
    ],
)
def test_what_is_wrong_is_told_with_its_row(folder, file, change, told):
    pairs, roots = predicted()
    names = {f"P{i}": pair.pair for i, pair in enumerate(pairs, 1)}
    names |= {f"R{i}": root.root for i, root in enumerate(roots, 1)}
    said = changed(folder, file, change)
    place, *rest = told.split(": ")
    where = [names.get(word, word) for word in rest]
    # errors of the slow reading name the line and the field
    expected = ": ".join([place, *where]) if "row" in place else place
    assert expected in said, said
    assert where[-1] in said, said


def test_a_flood_of_wrong_rows_is_counted(folder):
    said = changed(folder, "pairs.jsonl", lambda rows: [{**r, "s": 2} for r in rows])
    assert said.count("\n") == 20
    assert "in 57 more rows" in said


def test_wrong_settings_are_told(folder):
    path = folder / "meta.json"
    path.write_text(path.read_text().replace('"interpact"', '"interpakt"'))
    with pytest.raises(InterPactError, match=r"meta.json: system: 'interpakt' is not one of"):
        read_predictions(folder)


def test_a_fingerprint_tells_splits_and_texts_apart():
    prints = {fingerprint(CORPUS, split) for split in Split}
    assert len(prints) == 3
    other = Corpus.read(SAMPLE)
    pair = other.pairs[0]
    assert fingerprint(other, pair.of.split) == fingerprint(CORPUS, pair.of.split)
    object.__setattr__(pair, "record", pair.record.model_copy(update={"text": "Another."}))
    assert fingerprint(other, pair.of.split) != fingerprint(CORPUS, pair.of.split)
