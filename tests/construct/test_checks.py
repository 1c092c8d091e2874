"""Checks: what excludes an edit, what flags it, and what is not available."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interpact.case.case import Evidence, Root
from interpact.case.states import State
from interpact.construct.ask import Answer, Failure, Request
from interpact.construct.checks import (
    Assessment,
    Exclusion,
    ModelAssessor,
    NoAssessor,
    Verdict,
    automatic_exclusion,
    text_exclusion,
)
from interpact.corpus.pairs import Operation, intervened
from tests.construct.made_up import Script, case

S = State.SATISFIED
CASE = case("gate", ["The gate was *locked*.", "The fence is high."], [S, S]).text_only()
ROOT = Root(CASE, "e1", "c1")
PARAPHRASE, REMOVAL, INSERTION = (
    Operation.PARAPHRASE,
    Operation.REMOVAL,
    Operation.DISTRACTOR_INSERTION,
)


def check(text: str | None, operation: Operation = PARAPHRASE) -> Exclusion | None:
    unusable = text_exclusion(operation, text)
    if unusable is not None:
        return unusable
    return automatic_exclusion(CASE, intervened(CASE, "e1", operation, text), "e1", operation, text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The gate was shut.", None),
        ("It is 5 < 6, and {so} on [as agreed].", None),
        ("", Exclusion.EMPTY),
        (" \n", Exclusion.EMPTY),
        ("a\0b", Exclusion.UNSTORABLE),
        ("half \ud800", Exclusion.UNSTORABLE),
        ("The gate was *locked*.", Exclusion.UNCHANGED),
        ("the  GATE was\n*locked*. ", Exclusion.UNCHANGED),
        ("The fence is high.", Exclusion.REPEATS),
        ("```\nThe gate was shut.\n```", Exclusion.ARTEFACTS),
        ('{"text": "The gate was shut."}', Exclusion.ARTEFACTS),
        ("Here is the rewritten text: The gate was shut.", Exclusion.ARTEFACTS),
        ("Edited text: The gate was shut.", Exclusion.ARTEFACTS),
        ("| The gate was shut.", Exclusion.ARTEFACTS),
        ("<evidence>The gate was shut.</evidence>", Exclusion.ARTEFACTS),
        ("The gate was shut.<|im_end|>", Exclusion.ARTEFACTS),
        ("The gate was **shut**.", Exclusion.ARTEFACTS),
        ("The gate was shut (polarity reversal).", Exclusion.ARTEFACTS),
        ("As an AI, I cannot open the gate.", Exclusion.ARTEFACTS),
        ("The gate was shut on [insert date].", Exclusion.ARTEFACTS),
        ("The gate was shut.\\nIt rained.", Exclusion.ARTEFACTS),
    ],
)
def test_what_excludes_a_text(text: str, expected: Exclusion | None):
    assert check(text) is expected


def test_markup_that_the_evidence_has_itself_is_no_remains():
    marked = case("page", ["**Open** since <b>1999</b>.", "Closed on Mondays."], [S, S]).text_only()
    text = "**Open** since <b>2004</b>."
    after = intervened(marked, "e1", PARAPHRASE, text)
    assert automatic_exclusion(marked, after, "e1", PARAPHRASE, text) is None


@pytest.mark.parametrize("text", ["The gate was *locked*.", "the fence is HIGH."])
def test_a_distractor_that_repeats_evidence_is_excluded(text: str):
    assert check(text, INSERTION) is Exclusion.REPEATS


def test_a_removal_has_no_text():
    assert check(None, REMOVAL) is None
    after = intervened(CASE, "e1", REMOVAL, None)
    assert automatic_exclusion(CASE, after, "e1", REMOVAL, "text") is Exclusion.MISPLACED
    assert automatic_exclusion(CASE, after, "e1", PARAPHRASE, None) is Exclusion.EMPTY


CHANGES: list[dict[str, Any]] = [
    {"rule": "The desk approves nothing."},
    {"query": "Is gate approved? "},
    {"conditions": {"c1": "Requirement 1 of gate is met", "c2": CASE.conditions["c2"]}},
    {"aggregation": "any"},
    {"document": None},
]


@pytest.mark.parametrize("operation", [PARAPHRASE, REMOVAL, INSERTION])
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: next(iter(change)))
def test_nothing_but_the_evidence_may_change(operation: Operation, change: dict[str, Any]):
    text = None if operation is REMOVAL else "It rained."
    after = intervened(CASE, "e1", operation, text)
    assert automatic_exclusion(CASE, after, "e1", operation, text) is None
    changed = after.model_copy(update=change)
    assert automatic_exclusion(CASE, changed, "e1", operation, text) is Exclusion.CASE_CHANGED


@pytest.mark.parametrize("operation", [PARAPHRASE, REMOVAL, INSERTION])
def test_other_evidence_stays_byte_for_byte(operation: Operation):
    text = None if operation is REMOVAL else "It rained."
    after = intervened(CASE, "e1", operation, text)
    for changed in (
        [
            *after.evidence[:-1],
            after.evidence[-1].model_copy(update={"text": "The fence is high. "}),
        ],
        [*after.evidence[:-1], after.evidence[-1].model_copy(update={"conditions": ()})],
    ):
        case_ = after.model_copy(update={"evidence": tuple(changed)})
        assert automatic_exclusion(CASE, case_, "e1", operation, text) is Exclusion.CASE_CHANGED


@given(st.permutations(range(3)), st.integers(0, 3), st.sampled_from([*Operation]))
def test_only_the_one_place_of_an_operation_is_right(
    order: list[int], kept: int, operation: Operation
):
    """Whatever units a case after holds, only the one that `intervened` gives passes."""
    text = None if operation is REMOVAL else "It rained."
    fresh = Evidence(id="e1-inserted", conditions=(), text="It rained.")
    units = [*intervened(CASE, "e1", PARAPHRASE, "It rained.").evidence, fresh]
    after = CASE.model_copy(update={"evidence": tuple(units[i] for i in order[:kept])})
    right = after == intervened(CASE, "e1", operation, text)
    assert (automatic_exclusion(CASE, after, "e1", operation, text) is None) == right


def test_an_edit_in_the_wrong_place_is_excluded():
    after = intervened(CASE, "e1", INSERTION, "It rained.")
    assert automatic_exclusion(CASE, after, "e1", PARAPHRASE, "It rained.") is Exclusion.MISPLACED
    moved = after.model_copy(update={"evidence": (after.evidence[1], *after.evidence[::2])})
    assert automatic_exclusion(CASE, moved, "e1", INSERTION, "It rained.") is Exclusion.CASE_CHANGED
    bears = after.evidence[1].model_copy(update={"conditions": ("c1",)})
    bearing = after.model_copy(update={"evidence": (after.evidence[0], bears, after.evidence[2])})
    assert automatic_exclusion(CASE, bearing, "e1", INSERTION, "It rained.") is Exclusion.MISPLACED


# ---- Assessments -------------------------------------------------------------------------------


def assessed(answer: Answer, operation: Operation = PARAPHRASE, root: Root = ROOT) -> Assessment:
    def answers(_: Request) -> Answer:
        return answer

    text = None if operation is REMOVAL else "It was shut."
    return asyncio.run(ModelAssessor(Script(answers), "m").assess(root, operation, text))


def verdicts(**given_verdicts: str) -> Answer:
    return Answer(
        {"fidelity": "pass", "non_target": "pass", "naturalness": "pass"} | given_verdicts
    )


@pytest.mark.parametrize(
    ("answer", "exclusion", "flags"),
    [
        (verdicts(), None, ()),
        (verdicts(fidelity="fail"), Exclusion.FIDELITY, ()),
        (verdicts(non_target="fail"), Exclusion.NON_TARGET, ()),
        (verdicts(naturalness="fail"), Exclusion.NATURALNESS, ()),
        (verdicts(naturalness="unsure"), None, ("naturalness_flagged",)),
        (verdicts(fidelity="great"), None, ("fidelity_unavailable",)),
        (
            Answer(None, Failure.TRUNCATED),
            None,
            ("fidelity_unavailable", "non_target_unavailable", "naturalness_unavailable"),
        ),
    ],
)
def test_failures_exclude_and_doubts_are_named(
    answer: Answer, exclusion: Exclusion | None, flags: tuple[str, ...]
):
    found = assessed(answer)
    assert found.exclusion is exclusion
    assert found.flags == flags


def test_what_holds_by_construction_is_not_asked():
    alone = Root(case("gate", ["It was locked."], [S]), "e1", "c1")
    assessor = ModelAssessor(Script(lambda _: {}), "m")
    assert assessor.request(alone, REMOVAL, None) is None
    assert assessed(Answer(None), REMOVAL, alone).verdicts == {}
    assert list(assessed(Answer(None), REMOVAL).verdicts) == ["non_target"]
    assert list(assessed(Answer(None), PARAPHRASE, alone).verdicts) == ["fidelity", "naturalness"]


def test_without_a_model_all_that_is_in_question_is_unavailable():
    found = asyncio.run(NoAssessor().assess(ROOT, PARAPHRASE, "It was shut."))
    assert set(found.verdicts.values()) == {Verdict.UNAVAILABLE}
    assert found.exclusion is None
    assert len(found.flags) == 3


def test_reasons_are_kept_where_the_verdict_is_no_pass():
    found = assessed(
        verdicts(fidelity="unsure", fidelity_reason="adds a day", naturalness_reason="ok")
    )
    assert found.note == "fidelity: adds a day"


def test_the_assessment_prompt_shows_the_operation_and_both_texts():
    request = ModelAssessor(Script(lambda _: {}), "m").request(ROOT, INSERTION, "It rained.")
    assert request is not None
    assert "Insert irrelevant content without replacing the evidence." in request.user
    assert "| The gate was *locked*." in request.user
    assert "| It rained." in request.user
