"""The journal: whatever a kill leaves of it can be read, and goes on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from interpact.case.case import Root
from interpact.case.states import State
from interpact.construct.judges import Reading, Role
from interpact.construct.records import (
    ATTEMPTS,
    Attempt,
    Journal,
    Outcome,
    ReviewItem,
    attempts,
    digest,
    write_review,
)
from interpact.corpus.pairs import Operation, Tier
from interpact.errors import InterPactError
from tests.construct.made_up import case

S = State.SATISFIED
CASE = case("gate", ["It was locked.", "The fence is high."], [S, S])
ROOT = Root(CASE, "e1", "c1")


def attempt(number: int, **fields: object) -> Attempt:
    return Attempt.model_validate(
        {
            "id": f"gate/e1/{number}",
            "root": "gate/e1",
            "operation": Operation.PARAPHRASE,
            "outcome": Outcome.ABSTAINED,
            "reason": "größer ☃",
            "by": "nobody",
            "case": digest(ROOT),
            **fields,
        }
    )


def test_a_journal_is_read_as_it_was_written(tmp_path: Path):
    written = [
        attempt(1),
        attempt(
            2,
            outcome=Outcome.ACCEPTED,
            text="It was shut.",
            state=S,
            flags=("state_adjudicated",),
            readings=(Reading(role=Role.AFTER, state=S, reason="says so"),),
        ),
    ]
    with Journal.open(tmp_path) as journal:
        for one in written:
            journal.append(one)
        assert list(attempts(tmp_path)) == written  # readable while it is open


def test_a_kill_at_any_byte_costs_at_most_the_line_being_written(tmp_path: Path):
    written = [attempt(n) for n in range(3)]
    with Journal.open(tmp_path) as journal:
        for one in written:
            journal.append(one)
    path = tmp_path / ATTEMPTS
    whole = path.read_bytes()
    ends = [i + near for i, byte in enumerate(whole) if byte == 10 for near in (0, 1)]
    for size in [*range(0, len(whole), 13), *ends]:
        path.write_bytes(whole[:size])
        kept = written[: whole[:size].count(b"\n")]
        assert list(attempts(tmp_path)) == kept
        with Journal.open(tmp_path) as journal:
            journal.append(attempt(9))
        assert list(attempts(tmp_path)) == [*kept, attempt(9)]


def test_a_long_torn_line_is_cut_off(tmp_path: Path):
    with Journal.open(tmp_path) as journal:
        journal.append(attempt(1))
    with (tmp_path / ATTEMPTS).open("ab") as file:
        file.write(b"x" * 200_000)
    with Journal.open(tmp_path):
        pass
    assert list(attempts(tmp_path)) == [attempt(1)]


def test_a_spoilt_line_in_the_middle_is_told(tmp_path: Path):
    (tmp_path / ATTEMPTS).write_text('{"id": "x"}\n')
    with pytest.raises(InterPactError, match=r"attempts\.jsonl:1: root: Field required; restore"):
        list(attempts(tmp_path))


def test_no_journal_means_no_attempts(tmp_path: Path):
    assert list(attempts(tmp_path)) == []


@pytest.mark.skipif(os.name == "nt", reason="no file locks of this kind")
def test_two_runs_never_write_one_journal(tmp_path: Path):
    program = (
        "import sys; from interpact.construct.records import Journal\n"
        "with Journal.open(sys.argv[1]): print('open', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        assert other.stdout
        assert other.stdout.readline() == b"open\n"
        with pytest.raises(InterPactError, match="another run is writing"):
            Journal.open(tmp_path)
        other.kill()
    with Journal.open(tmp_path):  # a killed run leaves no lock behind
        pass


def test_the_tier_of_a_pair_follows_from_its_flags():
    accepted = {"outcome": Outcome.ACCEPTED, "state": S, "text": "It was shut."}
    assert attempt(1, **accepted).pair().tier is Tier.STANDARD
    flagged = attempt(1, **accepted, flags=("fidelity_flagged",)).pair()
    assert flagged.tier is Tier.EXTENDED
    assert flagged.flags == ("fidelity_flagged",)


def test_the_digest_depends_on_text_and_target_and_not_on_labels():
    relabelled = case("gate", ["It was locked.", "The fence is high."], [State.UNKNOWN, S])
    assert digest(Root(relabelled, "e1", "c1")) == digest(ROOT)
    assert digest(Root(CASE, "e2", "c2")) != digest(ROOT)
    reworded = case("gate", ["It was locked.", "The fence is low."], [S, S])
    assert digest(Root(reworded, "e1", "c1")) != digest(ROOT)


def test_a_review_item_shows_both_versions_and_waits_for_a_state(tmp_path: Path):
    open_one = attempt(1, outcome=Outcome.REVIEW, text="It was shut.", editor="m")
    item = ReviewItem.of(ROOT, open_one)
    assert item.before == ("It was locked.", "The fence is high.")
    assert item.after == ("It was shut.", "The fence is high.")
    write_review(tmp_path / "review.jsonl", [item])
    line = (tmp_path / "review.jsonl").read_text()
    assert line.startswith('{"id":"gate/e1/1","state":null,')
    assert ReviewItem.model_validate_json(line) == item
