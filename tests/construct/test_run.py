"""The constructor from end to end: kills lose nothing, re-runs ask nothing twice."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from interpact.case.files import write_cases
from interpact.case.problems import InputProblems
from interpact.case.states import State
from interpact.construct.ask import Answer, Request, Unanswered
from interpact.construct.checks import NoAssessor
from interpact.construct.editors import ScriptedEditor
from interpact.construct.judges import Panel
from interpact.construct.offline import OfflineEditor
from interpact.construct.records import Outcome, attempts
from interpact.construct.report import ConstructionReport
from interpact.construct.run import Makers, Progress, construct, dry_run, report
from interpact.corpus.pairs import Operation, PairRecord, Tier
from interpact.corpus.store import Corpus, write_records
from interpact.errors import InterPactError
from tests.construct.made_up import CASES, Script, agreeable, makers, varied, write_corpus

S, N, U = State
ALL = 5 * len(Operation)  # five roots


def corpus(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return write_corpus(folder)


def run(folder: Path, ask: Script, **options: Any) -> ConstructionReport:
    return asyncio.run(construct(folder, makers(ask), **options))


def results(folder: Path) -> tuple[bytes, bytes]:
    return (folder / "pairs.jsonl").read_bytes(), (folder / "review.jsonl").read_bytes()


@pytest.fixture
def whole(tmp_path: Path) -> tuple[Path, Script]:
    """A run that nothing interrupts."""
    folder, ask = corpus(tmp_path / "whole"), Script(varied)
    run(folder, ask)
    return folder, ask


def test_every_root_and_operation_ends_in_some_way(whole: tuple[Path, Script]):
    folder, _ = whole
    ended = list(attempts(folder))
    assert len(ended) == len({a.id for a in ended}) == ALL
    assert {a.outcome for a in ended} == set(Outcome)
    accepted = {a.id: a for a in ended if a.outcome is Outcome.ACCEPTED}
    pairs = Corpus.read(folder).pairs
    assert {pair.id for pair in pairs} == set(accepted)
    for pair in pairs:
        readings = [reading.state for reading in accepted[pair.id].readings]
        assert readings.count(pair.state_after) == 2
        assert ("state_adjudicated" in pair.record.flags) == (len(readings) == 3)
        assert (pair.record.tier is Tier.EXTENDED) == bool(pair.record.flags)
        removal = pair.record.operation is Operation.REMOVAL
        assert pair.record.editor == ("deletion" if removal else "scripted-model")
    waiting = [
        json.loads(line)["id"] for line in (folder / "review.jsonl").read_text().splitlines()
    ]
    assert set(waiting) == {a.id for a in ended if a.outcome is Outcome.REVIEW}


def test_pairs_stand_in_the_order_of_roots_and_operations(whole: tuple[Path, Script]):
    corpus = Corpus.read(whole[0])
    order = [f"{root}/{operation}" for root in corpus.roots for operation in Operation]
    ids = [pair.id for pair in corpus.pairs]
    assert ids == [name for name in order if name in ids]


def test_an_interrupted_run_goes_on_asks_nothing_twice_and_ends_the_same(
    whole: tuple[Path, Script], tmp_path: Path
):
    folder, ask = whole
    total = ask.answered.total()
    assert total > 60
    for stop_at in range(1, total + 1, 7):
        other = corpus(tmp_path / str(stop_at))
        first = Script(varied, stop_at)
        with pytest.raises(InterPactError, match="the plug was pulled"):
            run(other, first, at_once=8)
        finished = {a.id for a in attempts(other)}
        accepted = {a.id for a in attempts(other) if a.outcome is Outcome.ACCEPTED}
        assert {pair.id for pair in Corpus.read(other).pairs} == accepted
        second = Script(varied)
        second.kept = first.kept  # the endpoint's cache
        run(other, second, at_once=8)
        assert results(other) == results(folder)
        assert first.answered.total() + second.answered.total() == total
        assert max((first.answered + second.answered).values()) == 1
        again = [a.id for a in attempts(other)]
        assert len(again) == ALL
        assert finished <= set(again)


def test_a_kill_at_any_moment_leaves_a_journal_to_go_on_from(
    whole: tuple[Path, Script], tmp_path: Path
):
    """What a kill leaves behind is some prefix of the journal and no pairs."""
    folder, ask = whole
    journal = (folder / "attempts.jsonl").read_bytes()
    for size in range(0, len(journal), 997):
        other = corpus(tmp_path / str(size))
        (other / "attempts.jsonl").write_bytes(journal[:size])
        finished = {a.id for a in attempts(other)}
        again = Script(varied)
        seen: list[Progress] = []
        run(other, again, progress=seen.append)
        assert results(other) == results(folder)
        assert len(seen) == ALL - len(finished)
        assert again.answered.total() <= ask.answered.total()
    assert again.answered.total() < ask.answered.total() / 4


def test_a_finished_run_asks_nothing(whole: tuple[Path, Script]):
    folder, _ = whole
    before = results(folder)
    silent = Script(varied, stop_at=1)
    first, second = run(folder, silent), report(folder)
    assert results(folder) == before
    assert first == second
    assert not silent.requests


def test_the_order_in_which_attempts_end_does_not_show(whole: tuple[Path, Script], tmp_path: Path):
    one_by_one = corpus(tmp_path / "slow")
    run(one_by_one, Script(varied), at_once=1)
    assert results(one_by_one) == results(whole[0])
    ids = [[a.id for a in attempts(folder)] for folder in (one_by_one, whole[0])]
    assert ids[0] != ids[1]


def test_as_many_attempts_are_under_way_as_allowed(tmp_path: Path):
    now = peak = 0

    class Counting(Script):
        async def __call__(self, request: Request) -> Answer:
            nonlocal now, peak
            now += 1
            peak = max(peak, now)
            try:
                return await super().__call__(request)
            finally:
                now -= 1

    run(corpus(tmp_path / "c"), Counting(varied), at_once=6)
    assert 6 <= peak <= 12  # two readings of an attempt are asked at once


def test_progress_is_told_after_every_attempt(tmp_path: Path):
    seen: list[tuple[int, int, int]] = []
    folder = corpus(tmp_path / "c")
    run(folder, Script(varied), limit=2)
    run(folder, Script(varied), progress=lambda p: seen.append((p.done, p.total, p.resumed)))
    assert seen == [(done, ALL, 16) for done in range(17, ALL + 1)]


def test_limit_takes_the_first_roots(tmp_path: Path):
    folder = corpus(tmp_path / "c")
    run(folder, Script(varied), limit=1)
    assert {a.root for a in attempts(folder)} == {"ferry/e1"}
    assert report(folder).unattempted == ALL - 8


# ---- What is there already ---------------------------------------------------------------------


def test_pairs_of_other_editors_stay_as_they_are(tmp_path: Path):
    folder = corpus(tmp_path / "c")
    theirs = PairRecord(
        id="mill/e1/paraphrase",
        root="mill/e1",
        operation=Operation.PARAPHRASE,
        text="In spring someone repaired the mill wheel.",
        state_after=S,
        editor="hand",
    )
    write_records(folder / "pairs.jsonl", [theirs])
    ask = Script(agreeable)
    found = run(folder, ask)
    pairs = {pair.id: pair.record for pair in Corpus.read(folder).pairs}
    assert len(pairs) == ALL
    assert pairs[theirs.id] == theirs
    assert found.elsewhere == 1
    assert theirs.id not in {a.id for a in attempts(folder)}


def test_a_corrected_pair_is_not_overwritten(tmp_path: Path):
    folder = corpus(tmp_path / "c")
    run(folder, Script(agreeable))
    path = folder / "pairs.jsonl"
    path.write_text(path.read_text().replace('"satisfied"', '"unknown"', 1))
    corrected = path.read_bytes()
    run(folder, Script(agreeable))
    assert path.read_bytes() == corrected


def test_other_makers_try_again_what_did_not_succeed(tmp_path: Path):
    folder = corpus(tmp_path / "c")
    nobody = Makers(ScriptedEditor({}), Panel.of_nobody(), NoAssessor())
    found = asyncio.run(construct(folder, nobody))
    assert found.outcomes[Operation.REMOVAL, Outcome.REVIEW] == 5
    assert found.outcomes.total() == ALL
    assert not Corpus.read(folder).pairs
    ask = Script(agreeable)
    run(folder, ask)
    assert len(Corpus.read(folder).pairs) == ALL
    assert (folder / "review.jsonl").read_bytes() == b""
    before = results(folder)
    (folder / "pairs.jsonl").unlink()  # as if the run had been killed before its end
    asyncio.run(construct(folder, nobody))  # what was accepted stays, whoever made it
    assert results(folder) == before


def test_an_attempt_on_a_text_that_changed_since_does_not_count(tmp_path: Path):
    folder = corpus(tmp_path / "c")
    run(folder, Script(agreeable))
    (folder / "pairs.jsonl").unlink()
    texts = {"rule": "The desk now approves the kiosk under another rule."}
    write_cases(
        folder / "cases.jsonl",
        [c.model_copy(update=texts) if c.id == "kiosk" else c for c in CASES],
    )
    ask = Script(agreeable)
    run(folder, ask)
    assert len(ask.of("edit")) == 7
    assert all("another rule" in request.user for request in ask.requests)
    assert len(Corpus.read(folder).pairs) == ALL


# ---- Structure ---------------------------------------------------------------------------------


def test_states_have_to_agree_with_the_decision(tmp_path: Path):
    folder = corpus(tmp_path / "c")
    path = folder / "cases.jsonl"
    path.write_text(path.read_text().replace('"decision": "yes"', '"decision": "no"', 1))
    with pytest.raises(InputProblems, match=r"decision: is no, but the states give yes"):
        run(folder, Script(varied))
    assert not (folder / "attempts.jsonl").exists()


def test_the_target_unit_has_to_be_there(tmp_path: Path):
    folder = corpus(tmp_path / "c")
    path = folder / "roots.jsonl"
    path.write_text(
        path.read_text()
        .replace("mill/e1", "mill/e7")
        .replace('"e1","condition":"c1","split":"test"', '"e7","condition":"c1","split":"test"')
    )
    with pytest.raises(InputProblems, match=r'the case has no evidence unit "e7"'):
        run(folder, Script(varied))


def test_a_corpus_without_roots_is_told(tmp_path: Path):
    folder = corpus(tmp_path / "c")
    (folder / "roots.jsonl").unlink()
    with pytest.raises(InterPactError, match=r"roots\.jsonl: no roots"):
        run(folder, Script(varied))


def test_ids_that_leave_no_room_are_told_before_anything_is_asked(tmp_path: Path):
    folder = tmp_path / "c"
    folder.mkdir()
    write_corpus(folder, [CASES[0].model_copy(update={"id": "x" * 290})])
    ask = Script(varied)
    with pytest.raises(InterPactError, match="too long for the ids of its pairs"):
        run(folder, ask)
    assert not ask.requests


def test_a_unit_that_bears_on_several_conditions_is_flagged(tmp_path: Path):
    folder = tmp_path / "c"
    folder.mkdir()
    both = CASES[0].evidence[0].model_copy(update={"conditions": ("c1", "c2")})
    shared = CASES[0].model_copy(update={"evidence": (both, CASES[0].evidence[1])})
    write_corpus(folder, [shared])
    run(folder, Script(agreeable))
    flags = {pair.of.root.evidence: pair.record.flags for pair in Corpus.read(folder).pairs}
    assert flags == {"e1": ("shared_bearing",), "e2": ()}


# ---- Unusable texts ----------------------------------------------------------------------------


def test_what_cannot_be_stored_is_excluded_and_not_written(tmp_path: Path):
    folder = corpus(tmp_path / "c")

    def broken(request: Request) -> dict[str, Any]:
        if request.purpose == "edit":
            return {"abstain": False, "reason": "odd \udead", "text": "half \ud800"}
        return agreeable(request)

    found = run(folder, Script(broken))
    assert found.exclusions.total() == ALL - 5
    assert {reason for _, reason in found.exclusions} == {"characters that no file holds"}
    assert len(Corpus.read(folder).pairs) == 5


def test_failed_assessments_cost_no_judge(tmp_path: Path):
    def strict(request: Request) -> dict[str, Any]:
        parts = agreeable(request)
        return parts | {"non_target": "fail"} if request.purpose == "assess" else parts

    folder, ask = corpus(tmp_path / "c"), Script(strict)
    found = run(folder, ask)
    assert not ask.of("judge")
    assert Counter(reason for _, reason in found.exclusions.elements()) == {
        "changes another condition": ALL
    }


# ---- Offline and dry ---------------------------------------------------------------------------


def test_offline_nothing_is_made_up(tmp_path: Path):
    folder = corpus(tmp_path / "c")
    makers = Makers(OfflineEditor(Corpus.read(folder)), Panel.of_nobody(), NoAssessor())
    found = asyncio.run(construct(folder, makers))
    assert not Corpus.read(folder).pairs
    assert found.agreement.open == found.outcomes.total() - found.abstentions.total() > 5
    assert found.agreement.read_twice == 0
    items = [json.loads(line) for line in (folder / "review.jsonl").read_text().splitlines()]
    assert all(item["state"] is None for item in items)
    assert {item["editor"] for item in items} == {"deletion", "offline"}


def test_a_dry_run_counts_what_a_smooth_run_sends(tmp_path: Path):
    folder = corpus(tmp_path / "c")
    ask = Script(agreeable)
    plan = asyncio.run(dry_run(folder, makers(ask.from_memory)))
    assert not ask.requests
    assert {path.name for path in folder.iterdir()} == {"cases.jsonl", "roots.jsonl"}
    run(folder, ask)
    assert plan.requests == Counter(request.purpose for request in ask.requests)
    characters = sum(len(r.system) + len(r.user) for r in ask.requests)
    assert plan.tokens_in == pytest.approx(characters / 4, rel=0.02)
    assert plan.tokens_out > 0
    after = asyncio.run(dry_run(folder, makers(ask.from_memory)))
    assert (after.attempts, after.finished, after.requests.total()) == (0, ALL, 0)


def test_a_dry_run_makes_edits_that_cost_nothing(tmp_path: Path):
    folder = corpus(tmp_path / "c")
    ask = Script(agreeable)
    offline = OfflineEditor(Corpus.read(folder))
    mixed = Makers(offline, Panel.of_model(ask, "m"), NoAssessor())
    dry = Makers(offline, Panel.of_model(ask.from_memory, "m"), NoAssessor())
    plan = asyncio.run(dry_run(folder, dry))
    asyncio.run(construct(folder, mixed))
    assert plan.requests == Counter(request.purpose for request in ask.requests)
    assert plan.requests["judge_after"] == len(Corpus.read(folder).pairs) < ALL


def test_a_dry_run_counts_nothing_that_is_answered_already(tmp_path: Path):
    """Whatever an interrupted run has asked, the rest of it asks what the dry run says at most."""
    folder = corpus(tmp_path / "c")
    first = Script(agreeable, stop_at=40)
    whole = asyncio.run(dry_run(folder, makers(first.from_memory))).requests
    with pytest.raises(InterPactError):
        run(folder, first)
    plan = asyncio.run(dry_run(folder, makers(first.from_memory)))
    assert plan.requests.total() < whole.total()
    second = Script(agreeable)
    second.kept = dict(first.kept)
    run(folder, second)
    assert plan.requests.total() == second.answered.total()


def test_a_dry_run_knows_where_kept_readings_need_a_third(tmp_path: Path):
    folder, ask = corpus(tmp_path / "c"), Script(varied)
    run(folder, ask)
    (folder / "attempts.jsonl").unlink()
    (folder / "pairs.jsonl").unlink()
    asked = ask.kept
    thirds = {(r.system, r.user) for r in ask.of("judge_third")}
    ask.kept = {key: answer for key, answer in asked.items() if key not in thirds}
    plan = asyncio.run(dry_run(folder, makers(ask.from_memory)))
    assert set(plan.requests) == {"judge_third"}
    assert plan.requests.total() == len(ask.of("judge_third")) > 0


def test_the_report_counts_pairs_that_a_killed_run_did_not_come_to_write(
    whole: tuple[Path, Script],
):
    folder, _ = whole
    told = report(folder)
    (folder / "pairs.jsonl").unlink()
    assert report(folder).pairs == told.pairs
    assert not (folder / "pairs.jsonl").exists()


def test_an_attempt_without_an_answer_does_not_end_the_others(tmp_path: Path):
    folder = corpus(tmp_path / "c")
    sound = Script(agreeable)

    async def ask(request: Request) -> Answer:
        if request.purpose == "edit" and len(sound.answered) % 7 == 3:
            raise Unanswered("a request (edit) is not accepted")
        return await sound(request)

    with pytest.raises(Unanswered, match=r"left for another run: \d+ of the attempts; a request"):
        asyncio.run(construct(folder, makers(ask), at_once=1))
    written = len(Corpus.read(folder).pairs)
    assert 0 < written < ALL
    run(folder, sound)
    assert len(Corpus.read(folder).pairs) == ALL


def test_a_run_that_the_user_stops_writes_its_pairs(tmp_path: Path):
    folder = corpus(tmp_path / "c")

    async def stopped() -> None:
        running: list[asyncio.Task[Any]] = []

        def watch(now: Progress) -> None:
            if now.outcomes[Outcome.ACCEPTED] == 3:
                running[0].cancel()

        made = makers(Script(agreeable))
        running.append(asyncio.create_task(construct(folder, made, at_once=2, progress=watch)))
        with pytest.raises(asyncio.CancelledError):
            await running[0]

    asyncio.run(stopped())
    assert len(Corpus.read(folder).pairs) >= 3
