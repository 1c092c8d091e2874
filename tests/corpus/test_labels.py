"""Criticality labels: what the data decides, what is left to a reviewer, and what a reviewer may say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interpact.case.problems import InputProblems
from interpact.case.states import State
from interpact.corpus.labels import (
    REVIEW,
    Labelling,
    ReviewAnswer,
    ReviewItem,
    label,
    merge,
    read_answers,
    write_labelling,
)
from interpact.corpus.pairs import Operation
from interpact.corpus.store import Corpus, read_records
from interpact.errors import InterPactError

TARGETS = [operation for operation in Operation if not operation.control]


def corpus(
    folder: Path,
    states: dict[str, dict[str, str]],
    pairs: dict[str, dict[str, str]],
    criticality: list[dict] | None = None,
) -> Corpus:
    """Cases under `all` with one unit and root per settled condition; pairs as operation: state."""
    decided = {
        name: "no" if "not_satisfied" in s.values() else "insufficient" if "unknown" in s.values() else "yes"
        for name, s in states.items()
    }  # fmt: skip
    cases = [
        {
            "id": name,
            "rule": "A boat may leave if it is sound and crewed.",
            "query": "May it leave?",
            "aggregation": "all",
            "conditions": {c: f"Condition {c} holds." for c in some},
            "evidence": [
                {"id": f"e-{c}", "conditions": [c], "text": f"The log speaks of {c}."}
                for c, state in some.items()
                if state != "unknown"
            ],
            "labels": {"states": some, "decision": decided[name]},
        }
        for name, some in states.items()
    ]
    roots = [
        {"id": f"{case['id']}/{unit['id']}", "case": case["id"], "evidence": unit["id"], "condition": unit["conditions"][0]}
        for case in cases
        for unit in case["evidence"]
    ]  # fmt: skip
    rows = [
        {
            "id": f"{root}/{operation}", "root": root, "operation": operation, "state_after": state,
            "text": None if operation == "removal" else f"Changed by {operation}.",
        }
        for root, some in pairs.items()
        for operation, state in some.items()
    ]  # fmt: skip
    files = {"cases": cases, "roots": roots, "pairs": rows, "criticality": criticality or []}
    for name, records in files.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    return Corpus.read(folder)


def labels(labelling: Labelling) -> dict[str, tuple[bool, str]]:
    return {r.root: (r.critical, str(r.basis)) for r in labelling.records}


def queue(labelling: Labelling) -> list[str]:
    return [item.root for item in labelling.queue]


SOUND = {"hull": "satisfied", "crew": "satisfied"}
LEAKY = {"hull": "not_satisfied", "crew": "satisfied"}


def test_the_data_decides_where_it_can(tmp_path):
    found = label(
        corpus(
            tmp_path,
            {"a": SOUND, "b": LEAKY},
            {
                "a/e-hull": {"weakening": "satisfied", "removal": "unknown"},
                "a/e-crew": {"weakening": "satisfied"},
                "b/e-crew": {"removal": "unknown", "polarity_reversal": "not_satisfied"},
            },
        )
    )
    assert labels(found) == {
        "a/e-hull": (True, "changed_pair"),
        "b/e-crew": (False, "constant_mapping"),  # the hull fails the case whatever the crew
    }
    assert queue(found) == ["a/e-crew", "b/e-hull"]


@pytest.mark.parametrize("control", [o for o in Operation if o.control])
def test_a_control_never_makes_a_positive(tmp_path, control):
    found = label(corpus(tmp_path, {"a": SOUND}, {"a/e-hull": {control: "not_satisfied"}}))
    assert labels(found) == {}
    assert queue(found) == ["a/e-hull", "a/e-crew"]
    assert found.queue[0].interventions == ()


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_labels_follow_their_definition(tmp_path_factory, data):
    states = {
        f"k{i}": data.draw(
            st.dictionaries(
                st.sampled_from(["hull", "crew", "fuel"]), st.sampled_from([*State]), min_size=1
            ).map(lambda some: {c: str(s) for c, s in some.items()})
        )
        for i in range(3)
    }
    roots = [f"{n}/e-{c}" for n, some in states.items() for c, s in some.items() if s != "unknown"]
    edits = st.dictionaries(st.sampled_from([*Operation]), st.sampled_from([*State]), max_size=4)
    pairs = {root: data.draw(edits) for root in roots}
    given_corpus = corpus(tmp_path_factory.mktemp("corpus"), states, pairs)  # type: ignore[arg-type]
    found = label(given_corpus)
    for name, root in given_corpus.roots.items():
        reached = {root.mapping[s] for o, s in pairs[name].items() if o in TARGETS}
        if reached - {root.decision}:
            assert labels(found)[name] == (True, "changed_pair")
        elif set(root.mapping.values()) == {root.decision}:
            assert labels(found)[name] == (False, "constant_mapping")
        else:
            assert name in queue(found) and name not in labels(found)
    assert len(found.records) + len(found.queue) == len(roots)


def test_the_queue_shows_all_that_a_reviewer_needs(tmp_path):
    some = corpus(
        tmp_path,
        {"a": SOUND},
        {"a/e-hull": {"weakening": "satisfied", "paraphrase": "satisfied"}, "a/e-crew": {"removal": "unknown"}},
    )  # fmt: skip
    write_labelling(tmp_path, label(some))
    (item,) = read_records(tmp_path / REVIEW, ReviewItem)
    assert item.model_dump(mode="json") == {
        "root": "a/e-hull",
        "rule": "A boat may leave if it is sound and crewed.",
        "query": "May it leave?",
        "aggregation": "all",
        "conditions": {"hull": "Condition hull holds.", "crew": "Condition crew holds."},
        "evidence": [
            {"id": "e-hull", "conditions": ["hull"], "text": "The log speaks of hull.", "target": True},
            {"id": "e-crew", "conditions": ["crew"], "text": "The log speaks of crew.", "target": False},
        ],
        "condition": "hull",
        "states": SOUND,
        "decision": "yes",
        "mapping": {"satisfied": "yes", "not_satisfied": "no", "unknown": "insufficient"},
        "interventions": [
            {
                "operation": "weakening",
                "text": "Changed by weakening.",
                "state_after": "satisfied",
                "decision_after": "yes",
            }
        ],
    }  # fmt: skip


# ---- Answers -----------------------------------------------------------------------------------


def answer(root: str, critical: bool) -> ReviewAnswer:
    return ReviewAnswer(root=root, critical=critical)


def three_kinds(folder: Path, criticality: list[dict] | None = None) -> Corpus:
    pairs = {"a/e-hull": {"removal": "unknown"}, "b/e-hull": {"weakening": "not_satisfied"}}
    return corpus(folder, {"a": SOUND, "b": LEAKY}, pairs, criticality)


def test_answers_are_merged_with_their_basis(tmp_path):
    found = merge(
        label(three_kinds(tmp_path)), [answer("a/e-crew", True), answer("b/e-hull", False)]
    )
    assert labels(found) == {
        "a/e-hull": (True, "changed_pair"),
        "b/e-crew": (False, "constant_mapping"),
        "a/e-crew": (True, "review"),
        "b/e-hull": (False, "review"),
    }
    assert found.queue == ()


def test_labelling_again_keeps_the_reviews(tmp_path):
    first = merge(label(three_kinds(tmp_path)), [answer("a/e-crew", True)])
    write_labelling(tmp_path, first)
    written = (tmp_path / "criticality.jsonl").read_bytes()
    assert [json.loads(line)["root"] for line in written.splitlines()] == [
        "a/e-crew", "a/e-hull", "b/e-crew",
    ]  # fmt: skip
    again = label(Corpus.read(tmp_path))
    assert labels(again) == labels(first) and queue(again) == queue(first) == ["b/e-hull"]
    write_labelling(tmp_path, again)
    assert (tmp_path / "criticality.jsonl").read_bytes() == written
    corrected = merge(again, [answer("a/e-crew", False)])
    assert labels(corrected)["a/e-crew"] == (False, "review")
    assert len(corrected.records) == len(again.records)


def test_data_overrules_an_earlier_review_and_says_so(tmp_path):
    earlier = [
        {"root": "a/e-hull", "critical": False, "basis": "review"},
        {"root": "b/e-crew", "critical": False, "basis": "review"},
    ]
    found = label(three_kinds(tmp_path, earlier))
    assert labels(found) == {
        "a/e-hull": (True, "changed_pair"),
        "b/e-crew": (False, "constant_mapping"),
    }
    assert [r.root for r in found.overruled] == ["a/e-hull"]


def test_labels_that_the_data_no_longer_gives_are_dropped(tmp_path):
    stale = [{"root": "a/e-crew", "critical": True, "basis": "changed_pair"}]
    assert "a/e-crew" in queue(label(three_kinds(tmp_path, stale)))


def test_answers_that_contradict_the_data_are_refused_all_at_once(tmp_path):
    answers = [
        answer("b/e-crew", True),
        answer("a/e-hull", False),
        answer("a/e-crow", True),
        answer("a/e-crew", True),
        answer("a/e-crew", False),
    ]
    with pytest.raises(InputProblems) as caught:
        merge(label(three_kinds(tmp_path)), answers, "answers.jsonl")
    assert str(caught.value).splitlines() == [
        "answers.jsonl: b/e-crew: is answered critical, but is not in the queue: no state of its "
        "condition changes the decision, so it is not critical; drop the answer",
        "answers.jsonl: a/e-hull: is answered not critical, but is not in the queue: an accepted "
        "intervention changes its decision, so it is critical; drop the answer",
        'answers.jsonl: a/e-crow: there is no such root (did you mean "a/e-crew"?); correct or '
        "drop the answer",
        "answers.jsonl: a/e-crew: is answered both ways; keep one answer",
    ]


def test_answers_are_read_from_lines(tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_text('{"root": "a/e1", "critical": false, "reason": "It only greets."}\n')
    assert read_answers(path) == [
        ReviewAnswer(root="a/e1", critical=False, reason="It only greets.")
    ]
    path.write_text('{"root": "a/e1", "critical": false, "why": "?"}\n')
    with pytest.raises(InputProblems, match=r"answers\.jsonl:1: why: unknown field"):
        read_answers(path)
    with pytest.raises(InterPactError, match="there is no such file"):
        read_answers(tmp_path / "none.jsonl")


def test_every_bad_line_of_the_answers_is_told(tmp_path):
    path = tmp_path / "answers.jsonl"
    good = '{"root": "a/e1", "critical": false}'
    path.write_text(f'{{"root": "a/e1"}}\n{good}\nno\n{{"root": "a/e2", "critical": "maybe"}}\n')
    with pytest.raises(InputProblems) as caught:
        read_answers(path)
    assert [problem.line for problem in caught.value.problems] == [1, 3, 4]
