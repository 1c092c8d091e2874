"""Prompts: what they say word for word, and what never gets into them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interpact import Case, Root, case_from
from interpact.corpus.pairs import LabelledRoot, Operation, Pair, PairRecord, intervened
from interpact.verifier import prompts

GOLDEN = Path(__file__).with_name("golden")


@pytest.fixture
def visa(examples: Path):
    case = Case.load(examples / "visa.yaml")
    return case, Root(case, "diploma", "degree")


def pair_of(case, root: Root, operation: Operation, text: str | None, state: str) -> Pair:
    record = PairRecord(
        id=f"{root.id}/{operation}", root=root.id, operation=operation, text=text, state_after=state
    )
    return Pair(LabelledRoot(root, case.labels), record)


def text_of(pair: Pair) -> str:
    both = prompts.PairText(pair.of.root, pair.after)
    return prompts.paired(both, pair.of.state, pair.of.decision)


@pytest.mark.parametrize("name", ["direct", "after_state", "own_state", "paired"])
def test_word_for_word(visa, name):
    case, root = visa
    after = intervened(case, "diploma", Operation.PARAPHRASE, 'Two lines,\nand "quotes".')
    found = {
        "direct": lambda: prompts.direct(root),
        "after_state": lambda: prompts.after_state(after, "degree"),
        "own_state": lambda: prompts.own_state(after, "degree"),
        "paired": lambda: prompts.paired(
            prompts.PairText(root, after), case.labels.states["degree"], case.labels.decision
        ),
    }[name]()
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(found + "\n")
    assert path.read_text() == found + "\n", "run with UPDATE_GOLDEN=1 if this is meant"


def test_the_direct_question_is_the_papers():
    assert prompts.DIRECT_QUESTION == (
        "Would changing only the target evidence, while keeping all other case facts and decision "
        "rules fixed, be capable of changing the final decision?\nAnswer exactly Yes or No."
    )


def test_nothing_but_text_and_the_original_outcome_reaches_a_prompt(visa):
    case, root = visa
    # The same text by another operation, with another state afterwards: the same prompts.
    first = pair_of(case, root, Operation.WEAKENING, "A note.", "unknown")
    second = pair_of(case, root, Operation.STRENGTHENING, "A note.", "satisfied")
    assert text_of(first) == text_of(second)
    assert prompts.after_state(first.after, "degree") == prompts.after_state(second.after, "degree")
    # Other states of other conditions (so another mapping): the same prompts.
    relabelled = case.labels.model_copy(
        update={"states": {**case.labels.states, "experience": "satisfied", "offer": "unknown"}}
    )
    other = Pair(LabelledRoot(root, relabelled), first.record)
    assert other.of.mapping != first.of.mapping
    assert text_of(other) == text_of(first)


def test_no_word_of_an_operation_is_in_a_prompt(visa):
    case, root = visa
    for operation in Operation:
        text = None if operation is Operation.REMOVAL else "A note."
        pair = pair_of(case, root, operation, text, "unknown")
        for prompt in (text_of(pair), prompts.after_state(pair.after, "degree")):
            for word in (
                "remov",
                "revers",
                "replac",
                "weaken",
                "strength",
                "distract",
                "insert",
                "paraphras",
            ):
                assert word not in prompt.lower()


@given(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1).filter(
        str.strip
    )
)
def test_evidence_cannot_fake_a_line(text):
    base = {
        "id": "case",
        "rule": "A rule.",
        "query": "Is it so?",
        "aggregation": "all",
        "conditions": {"c1": "Something holds."},
        "evidence": [{"id": "e1", "conditions": ["c1"], "text": "Plain."}],
    }
    plain = prompts.direct(Root(case_from(base), "e1", "c1"))
    base["evidence"][0]["text"] = text  # type: ignore[index]
    found = prompts.direct(Root(case_from(base), "e1", "c1"))
    assert len(found.split("\n")) == len(plain.split("\n"))
    assert [a for a, b in zip(plain.split("\n"), found.split("\n"), strict=True) if a != b] in (
        [],
        ['[e1] "Plain."'],
    )


def test_pairs_of_a_root_share_the_case_at_the_beginning(visa):
    case, root = visa
    texts = [
        text_of(pair_of(case, root, Operation.WEAKENING, text, "unknown")) for text in ("A.", "B.")
    ]
    pairs = enumerate(zip(*texts, strict=False))
    shared = next(i for i, (a, b) in pairs if a != b)
    assert shared > 0.6 * max(map(len, texts))
    assert "Now only the evidence" in texts[0][:shared]
