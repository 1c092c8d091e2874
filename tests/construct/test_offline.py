"""The offline editor: borrows only what is foreign, and says why it abstains."""

from __future__ import annotations

import asyncio
from pathlib import Path

from interpact.case.case import LabelledCase
from interpact.case.states import State
from interpact.construct.editors import Abstention, Edit
from interpact.construct.offline import NEEDS_MODEL, NO_TEXT, OfflineEditor
from interpact.corpus.pairs import Operation, Split
from interpact.corpus.store import Corpus
from tests.construct.made_up import case, write_corpus

S = State.SATISFIED
BORROWING = (Operation.IRRELEVANT_REPLACEMENT, Operation.DISTRACTOR_INSERTION)


def town(count: int, source: str | None = None, first: int = 0) -> list[LabelledCase]:
    """Cases in made-up words, no two of which share any."""
    found: list[LabelledCase] = []
    for i in range(first, first + count):
        a, b = "bdfgklmnprstvz"[i % 14], "aeiou"[i // 14]
        words = [f"{a}{b}{c}{b}{c}" for c in "bdfgklmn"]
        text = " ".join(words[:6]).capitalize() + "."
        said = [" ".join(words[6:]).capitalize() + "."]
        found.append(case(words[0], [text], [S], source=source, conditions=said))
    return found


def all_in(cases: list[LabelledCase], split: Split = Split.TRAIN) -> dict[str, Split]:
    return {c.id: split for c in cases}


def edits(corpus: Corpus, operation: Operation) -> dict[str, Edit | Abstention]:
    editor = OfflineEditor(corpus)
    return {name: asyncio.run(editor.edit(root, operation)) for name, root in corpus.roots.items()}


def test_borrowed_texts_come_from_other_documents_of_the_same_split(tmp_path: Path):
    cases = town(12)
    cases = [c.model_copy(update={"document": f"d{i // 4}"}) for i, c in enumerate(cases)]
    splits = all_in(cases[:8]) | all_in(cases[8:], Split.TEST)
    corpus = Corpus.read(write_corpus(tmp_path, cases, splits))
    home = {u.text: c.document for c in corpus.cases.values() for u in c.evidence}
    for operation in BORROWING:
        for name, edit in edits(corpus, operation).items():
            root = corpus.roots[name]
            if root.split is Split.TEST:  # which holds one document only
                assert edit == Abstention(NO_TEXT)
            else:
                assert isinstance(edit, Edit)
                other = {"d0": "d1", "d1": "d0"}[root.root.case.document or ""]
                assert home[edit.text or ""] == other


def test_what_shares_words_with_the_case_is_not_irrelevant(tmp_path: Path):
    cases = [
        case("north", ["The market stall sells ripe cheese."], [S]),
        case("south", ["Cheese lovers visit our stall."], [S]),
    ]
    corpus = Corpus.read(write_corpus(tmp_path, cases, all_in(cases)))
    for edit in edits(corpus, Operation.IRRELEVANT_REPLACEMENT).values():
        assert edit == Abstention(NO_TEXT)


def test_texts_of_the_same_source_come_first(tmp_path: Path):
    cases = [*town(2, "gazette"), *town(5, "ledger", 2), *town(1, "diary", 7)]
    corpus = Corpus.read(write_corpus(tmp_path, cases, all_in(cases)))
    home = {u.text: c.source for c in corpus.cases.values() for u in c.evidence}
    for name, edit in edits(corpus, Operation.DISTRACTOR_INSERTION).items():
        assert isinstance(edit, Edit)
        own = corpus.roots[name].root.case.source
        assert (home[edit.text or ""] == own) == (own != "diary")


def test_a_text_that_another_component_also_holds_is_not_foreign(tmp_path: Path):
    cases = [
        case("one", ["Rain fell over Lisbon."], [S]),
        case("two", ["Rain fell over Lisbon."], [S]),
        case("three", ["Bread costs four crowns."], [S]),
    ]
    corpus = Corpus.read(write_corpus(tmp_path, cases, all_in(cases)))
    found = edits(corpus, Operation.DISTRACTOR_INSERTION)
    assert found["one/e1"] == found["two/e1"] == Edit("Bread costs four crowns.", "offline")


def test_fragments_are_not_borrowed(tmp_path: Path):
    cases = [
        case("one", ["The lantern hangs above our door."], [S]),
        case("two", ["3.4"], [S]),
        case("three", ["the saddle, and"], [S]),
        case("four", ["Teapot:"], [S]),
    ]
    corpus = Corpus.read(write_corpus(tmp_path, cases, all_in(cases)))
    found = edits(corpus, Operation.DISTRACTOR_INSERTION)
    assert found.pop("one/e1") == Abstention(NO_TEXT)
    texts = {edit.text for edit in found.values() if isinstance(edit, Edit)}
    assert texts == {"The lantern hangs above our door."}


def test_it_is_the_same_every_time(tmp_path: Path):
    corpus = Corpus.read(write_corpus(tmp_path, town(24)))
    for operation in list(Operation)[1:]:
        assert edits(corpus, operation) == edits(corpus, operation)


def test_what_needs_a_model_is_abstained_from(tmp_path: Path):
    corpus = Corpus.read(write_corpus(tmp_path))
    for operation in (
        Operation.ALTERNATIVE_REPLACEMENT,
        Operation.STRENGTHENING,
        Operation.PARAPHRASE,
    ):
        assert set(edits(corpus, operation).values()) == {Abstention(NEEDS_MODEL)}


def test_simple_sentences_are_reversed_and_weakened(tmp_path: Path):
    corpus = Corpus.read(write_corpus(tmp_path))
    turned = edits(corpus, Operation.POLARITY_REVERSAL)
    assert turned["bakery/e1"] == Edit("Does the oven have a flue? No.", "offline")
    assert turned["ferry/e2"] == Edit("Life vests are not carried for forty passengers.", "offline")
    hedged = edits(corpus, Operation.WEAKENING)
    assert hedged["kiosk/e1"] == Edit("The kiosk should normally close at nine.", "offline")
