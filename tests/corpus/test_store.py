"""Corpus folders: joined records, what follows from the rule, and every problem told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from interpact.case.case import LabelledCase
from interpact.case.problems import InputProblems
from interpact.corpus.pairs import Operation, Regime, Split
from interpact.corpus.store import Corpus, corpus_problems, write_records

CASE = {
    "id": "lease-1",
    "document": "lease",
    "rule": "A flat is let if the tenant has an income and no debts.",
    "query": "Is the flat let?",
    "aggregation": "all",
    "conditions": {"c1": "The tenant has an income.", "c2": "The tenant has no debts."},
    "evidence": [
        {"id": "e1", "conditions": ["c1"], "text": "Payslip of March."},
        {"id": "e2", "conditions": ["c2"], "text": "No entry in the register."},
    ],
    "labels": {"states": {"c1": "satisfied", "c2": "not_satisfied"}, "decision": "no"},
}
ROOTS = [
    {"id": "lease-1/e1", "case": "lease-1", "evidence": "e1", "condition": "c1", "split": "train"},
    {"id": "lease-1/e2", "case": "lease-1", "evidence": "e2", "condition": "c2", "split": "train"},
]


def pair(root: str, operation: str, text: str | None, state: str, **more: object) -> dict:
    return {
        "id": f"{root}/{operation}", "root": root, "operation": operation, "text": text,
        "state_after": state, **more,
    }  # fmt: skip


PAIRS = [
    pair("lease-1/e1", "removal", None, "unknown"),
    pair("lease-1/e2", "removal", None, "unknown", tier="extended", flags=["naturalness"]),
    pair("lease-1/e2", "polarity_reversal", "Two entries were cleared.", "satisfied"),
    pair("lease-1/e2", "distractor_insertion", "The cellar is dry.", "not_satisfied"),
    pair("lease-1/e2", "paraphrase", "The register lists nothing.", "not_satisfied"),
]


def folder(tmp_path: Path, **files: list[dict]) -> Path:
    records = {"cases": [CASE], "roots": ROOTS, "pairs": PAIRS, "criticality": []} | files
    for name, rows in records.items():
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(text)
    return tmp_path


def test_what_follows_from_the_rule(tmp_path):
    corpus = Corpus.read(folder(tmp_path))
    absorbed, removed, reversed_, inserted, _ = corpus.pairs
    assert absorbed.of.mapping == {"satisfied": "no", "not_satisfied": "no", "unknown": "no"}
    assert absorbed.of.constant and not removed.of.constant
    assert [p.regime for p in corpus.pairs] == [
        Regime.ABSORBED, Regime.PROPAGATED, Regime.PROPAGATED, Regime.INVARIANT, Regime.INVARIANT,
    ]  # fmt: skip
    assert [p.decision_after for p in (removed, reversed_)] == ["insufficient", "yes"]
    assert [p.changed for p in corpus.pairs] == [False, True, True, False, False]
    assert (absorbed.weight, removed.weight) == (1.0, 0.5)
    assert removed.of.split is Split.TRAIN
    assert [u.id for u in removed.after.evidence] == ["e1"]
    assert reversed_.after.unit("e2").text == "Two entries were cleared."
    assert [u.text for u in inserted.after.evidence] == [
        "Payslip of March.", "No entry in the register.", "The cellar is dry.",
    ]  # fmt: skip
    for p in corpus.pairs:
        assert not isinstance(p.before, LabelledCase) and not isinstance(p.after, LabelledCase)
        assert p.after.model_dump(exclude={"evidence"}) == p.before.model_dump(exclude={"evidence"})
    assert {root: len(pairs) for root, pairs in corpus.pairs_of().items()} == {
        "lease-1/e1": 1,
        "lease-1/e2": 4,
    }


def test_controls_are_two_of_eight():
    assert [o for o in Operation if o.control] == ["distractor_insertion", "paraphrase"]


def test_records_survive_writing(tmp_path):
    corpus = Corpus.read(folder(tmp_path))
    write_records(tmp_path / "pairs.jsonl", [p.record for p in corpus.pairs])
    again = Corpus.read(tmp_path)
    assert [p.record for p in again.pairs] == [p.record for p in corpus.pairs]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"cases": [CASE, CASE]}, "cases.jsonl:2: lease-1: this case is on line 1 too"),
        ({"roots": [*ROOTS, ROOTS[0]]}, "roots.jsonl:3: lease-1/e1: this record is on line 1 too"),
        ({"roots": [{**ROOTS[0], "id": "x"}]}, 'id: must be "lease-1/e1"'),
        (
            {"roots": [{**ROOTS[0], "id": "lease-2/e1", "case": "lease-2"}]},
            'there is no case "lease-2" (did you mean "lease-1"?)',
        ),
        ({"roots": [{**ROOTS[0], "condition": "c2"}]}, 'the unit bears on c1, not on "c2"'),
        (
            {"roots": [{**ROOTS[0], "id": "lease-1/e9", "evidence": "e9"}]},
            'the case has no evidence unit "e9"',
        ),
        ({"roots": [{**ROOTS[0], "split": "tran"}]}, "split: 'tran' is not one of train, dev or test"),
        (
            {"roots": [ROOTS[0], {**ROOTS[1], "split": "test"}]},
            "is test, but lease-1/e1 of the same case is train",
        ),
        (
            {"cases": [{k: v for k, v in CASE.items() if k != "labels"}]},
            "the case has no labels; a root needs them",
        ),
        ({"pairs": [{**PAIRS[0], "root": "lease-1/e3"}]}, 'there is no root "lease-1/e3"'),
        ({"pairs": [{**PAIRS[0], "text": "x"}]}, "removal has no text"),
        ({"pairs": [{**PAIRS[2], "text": None}]}, "every other operation has the new or inserted text"),
        ({"pairs": [{**PAIRS[2], "text": "No entry in the register."}]}, "is the original text"),
        ({"pairs": [{**PAIRS[2], "opration": 1}]}, 'unknown field (did you mean "operation"?)'),
        ({"pairs": [{**PAIRS[2], "state_after": "true"}]}, "state_after: 'true' is not one of"),
        (
            {"criticality": [{"root": "lease-1/e2", "critical": False, "basis": "constant_mapping"}]},
            "constant_mapping needs a constant mapping",
        ),
        (
            {"criticality": [{"root": "lease-1/e1", "critical": True, "basis": "changed_pair"}]},
            "changed_pair needs a decision-changing pair",
        ),
    ],
)  # fmt: skip
def test_problems_of_a_corpus(tmp_path, files, message):
    problems = [str(problem) for problem in corpus_problems(folder(tmp_path, **files))]
    assert any(message in problem for problem in problems), problems
    with pytest.raises(InputProblems):
        Corpus.read(tmp_path)


def test_a_control_that_moves_the_state_is_worth_a_note(tmp_path):
    moved = {**PAIRS[4], "state_after": "unknown"}
    (note,) = corpus_problems(folder(tmp_path, pairs=[moved]))
    assert note.note and "is unknown after a control, not satisfied before" in str(note)
    assert len(Corpus.read(tmp_path).pairs) == 1


def test_what_hangs_on_a_wrong_root_is_not_told_again(tmp_path):
    wrong = [{**ROOTS[0], "split": "tran"}, {**ROOTS[1], "condition": "c1"}]
    labels = [{"root": "lease-1/e1", "critical": False, "basis": "constant_mapping"}]
    problems = list(corpus_problems(folder(tmp_path, roots=wrong, criticality=labels)))
    assert [(Path(p.file).name, p.line) for p in problems] == [
        ("roots.jsonl", 1),
        ("roots.jsonl", 2),
    ]


def test_a_changed_pair_that_is_not_there_is_worth_a_note(tmp_path):
    label = {"root": "lease-1/e2", "critical": True, "basis": "changed_pair"}
    assert not list(corpus_problems(folder(tmp_path, criticality=[label])))
    (note,) = corpus_problems(folder(tmp_path, criticality=[label], pairs=PAIRS[3:]))
    assert note.note and "no pair of the root changes the decision" in str(note)
