"""Review: people's answers become pairs, and only answers to open questions."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from interpact.case.problems import InputProblems
from interpact.case.states import State
from interpact.construct.checks import NoAssessor
from interpact.construct.editors import ScriptedEditor
from interpact.construct.judges import Panel, Role
from interpact.construct.records import Outcome, attempts
from interpact.construct.review import merge_review, read_answers
from interpact.construct.run import Makers, construct, report
from interpact.corpus.pairs import Tier
from interpact.corpus.store import Corpus
from interpact.errors import InterPactError
from tests.construct.made_up import write_corpus

S, N, U = State
NOBODY = Makers(
    ScriptedEditor({"mill/e1/paraphrase": "In spring the mill wheel was mended."}),
    Panel.of_nobody(),
    NoAssessor(),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A corpus in which six interventions wait for a person."""
    write_corpus(tmp_path)
    asyncio.run(construct(tmp_path, NOBODY))
    return tmp_path


def waiting(folder: Path) -> list[str]:
    return [json.loads(line)["id"] for line in (folder / "review.jsonl").read_text().splitlines()]


def test_an_answer_becomes_a_pair_with_its_flag(folder: Path):
    assert len(waiting(folder)) == 6
    found = merge_review(folder, {"mill/e1/paraphrase": S, "kiosk/e1/removal": U})
    assert len(waiting(folder)) == 4
    pairs = {pair.id: pair for pair in Corpus.read(folder).pairs}
    assert set(pairs) == {"mill/e1/paraphrase", "kiosk/e1/removal"}
    record = pairs["mill/e1/paraphrase"].record
    assert record.state_after is S
    assert record.flags[-1] == "state_reviewed"
    assert record.tier is Tier.EXTENDED
    assert (found.agreement.reviewed, found.agreement.open) == (2, 4)
    last = list(attempts(folder))[-1]
    assert [r.role for r in last.readings] == [Role.AFTER, Role.COMPARISON, Role.PERSON]


def test_a_rejected_edit_is_excluded_and_not_made_again(folder: Path):
    found = merge_review(folder, {"mill/e1/paraphrase": None})
    assert "mill/e1/paraphrase" not in waiting(folder)
    assert not Corpus.read(folder).pairs
    assert {reason: n for (_, reason), n in found.exclusions.items()} == {"rejected in review": 1}
    asyncio.run(construct(folder, NOBODY))
    assert len(waiting(folder)) == 5


def test_merging_the_same_answers_again_changes_nothing(folder: Path):
    answers = {"mill/e1/paraphrase": S, "kiosk/e1/removal": None}
    merge_review(folder, answers)
    files = [(folder / name).read_bytes() for name in ("attempts.jsonl", "pairs.jsonl")]
    assert merge_review(folder, answers) == report(folder)
    assert files == [(folder / name).read_bytes() for name in ("attempts.jsonl", "pairs.jsonl")]


def test_answers_to_nothing_are_all_told_and_nothing_is_merged(folder: Path):
    merge_review(folder, {"kiosk/e1/removal": U})
    answers = {"mill/e1/paraphase": S, "kiosk/e1/removal": S, "mill/e1/removal": U}
    with pytest.raises(InputProblems) as told:
        merge_review(folder, answers)
    assert [problem.where for problem in told.value.problems] == list(answers)[:2]
    assert 'did you mean "mill/e1/paraphrase"?' in str(told.value)
    assert len(waiting(folder)) == 5


def test_a_filled_in_queue_can_be_read_back(folder: Path):
    lines = (folder / "review.jsonl").read_text().splitlines()
    lines[0] = lines[0].replace('"state":null', '"state":"not_satisfied"', 1)
    lines[1] = lines[1].replace('"state":null', '"state":"reject"', 1)
    (folder / "mine.jsonl").write_text("\n".join(lines) + "\n")
    ids = waiting(folder)
    assert read_answers(folder / "mine.jsonl") == {ids[0]: N, ids[1]: None}


def test_every_bad_line_of_a_file_of_answers_is_told(tmp_path: Path):
    path = tmp_path / "answers.jsonl"
    path.write_text(
        '{"id": "a/e1/removal", "state": "perhaps"}\n'
        "not json\n"
        "\n"
        '{"state": "satisfied"}\n'
        '{"id": "b/e1/removal", "state": "Not satisfied"}\n'
        '{"id": "b/e1/removal", "state": "unknown"}\n'
        "[1]\n"
    )
    with pytest.raises(InputProblems) as told:
        read_answers(path)
    assert [problem.line for problem in told.value.problems] == [1, 2, 4, 6, 7]
    assert "'perhaps' is no answer; use one of satisfied, not_satisfied, unknown, reject" in str(
        told.value
    )
    with pytest.raises(InterPactError, match=r"nowhere\.jsonl: cannot be read: No such file"):
        read_answers(tmp_path / "nowhere.jsonl")


def test_review_leaves_accepted_pairs_alone(folder: Path):
    merge_review(folder, {"mill/e1/paraphrase": S})
    merge_review(folder, {"kiosk/e1/removal": U})
    assert len(Corpus.read(folder).pairs) == 2
    accepted = [a for a in attempts(folder) if a.outcome is Outcome.ACCEPTED]
    assert len(accepted) == 2
