"""Batches: groups that do not hold each other up, journals that survive any kill, formats."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interpact import InterPactError
from interpact.case.files import entries
from interpact.errors import CaseProblem
from interpact.judging.batch import Done, Journal, Judge, after, judged
from interpact.judging.settings import JudgeSettings
from interpact.judging.verifier import Verifier
from interpact.judging.view import View
from tests.cli.test_cases import run
from tests.judging.test_propagate import Scripted, case_of


@pytest.fixture(scope="module")
def made_up(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("made-up") / "corpus"
    run("synth", "--cases", 400, "--seed", 5, "--out", folder)
    return folder / "cases.jsonl"


def unlabelled(path: Path, to: Path, first: int) -> Path:
    cases = [json.loads(line) for line in path.read_text().splitlines()[:first]]
    for case in cases:
        del case["labels"]
    to.write_text("".join(json.dumps(case) + "\n" for case in cases))
    return to


def test_a_case_that_cannot_be_judged_does_not_hold_up_the_others():
    def states(case, condition):
        if case.rule == "Too long.":
            raise CaseProblem("too long")
        return (0.9, 0.05, 0.05)

    judge = Judge(lambda: Verifier(Scripted(states), JudgeSettings()))
    bad = case_of().model_copy(update={"rule": "Too long."})
    given = case_of(labels={"states": {"c1": "satisfied", "c2": "satisfied"}, "decision": "yes"})
    found = judge([case_of(), bad, given, case_of()])
    assert [type(outcome) for outcome in found] == [View, CaseProblem, View, View]
    assert [o.mode for o in found if isinstance(o, View)] == ["propagate", "exact", "propagate"]


def test_a_failure_of_the_engine_is_not_taken_for_bad_cases():
    def states(case, condition):
        raise InterPactError("the server is gone")

    judge = Judge(lambda: Verifier(Scripted(states), JudgeSettings()))
    with pytest.raises(InterPactError, match="the server is gone"):
        judge([case_of(), case_of()])


def test_a_verifier_is_loaded_only_when_a_case_needs_it():
    def load():
        raise AssertionError

    labels = {"states": {"c1": "satisfied", "c2": "satisfied"}, "decision": "yes"}
    (view,) = Judge(load)([case_of(labels=labels)])
    assert isinstance(view, View)


ROWS = [(Done(f"c{i}" if i != 3 else None, i in (3, 4)), [{"n": i}] * (i % 3)) for i in range(9)]


@given(st.integers(0, 2000), st.integers(0, 2000), st.integers(0, 9))
@settings(max_examples=80)
def test_a_journal_cut_anywhere_loses_and_repeats_nothing(tmp_path_factory, part, journal, upto):
    output = tmp_path_factory.mktemp("journal") / "rows.jsonl"
    whole = Journal(output)
    assert whole.done() == []
    whole.write(ROWS[:upto])
    # The kill: either file may have lost its end.
    for path, length in ((whole.part, part), (whole.path, journal)):
        path.write_bytes(path.read_bytes()[:length])
    again = Journal(output)
    done = again.done()
    assert done == [d for d, _ in ROWS[: len(done)]]
    again.write(ROWS[len(done) :])
    again.finish()
    assert [json.loads(line)["n"] for line in output.read_text().splitlines()] == [
        row["n"] for _, rows in ROWS for row in rows
    ]
    assert Journal(output).finished and not again.path.exists()


def test_another_input_is_not_gone_on_with(made_up, tmp_path):
    with pytest.raises(InterPactError, match=r"case 1 of the interrupted run was other, now it is"):
        list(after(entries(made_up), [Done("other", False)], tmp_path / "journal"))


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_a_killed_run_goes_on(made_up, tmp_path, ending):
    expected = run("judge", made_up, "--format", "jsonl")
    output = tmp_path / f"out.{ending}"
    journal = tmp_path / f"out.{ending}.journal"
    command = [sys.executable, "-m", "interpact", "judge", str(made_up), "--resume"]
    command += ["--output", str(output)]
    slow = {**os.environ, "PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"}
    # Slow enough to be killed on the way: every judgment of a case takes a moment.
    (tmp_path / "sitecustomize.py").write_text(
        "import time\n"
        "import interpact.judging.batch as b\n"
        "plain = b.Judge._exact\n"
        "b.Judge._exact = lambda self, case: (time.sleep(0.004), plain(self, case))[1]\n"
    )
    process = subprocess.Popen(command, env=slow)
    until = time.monotonic() + 60
    while not journal.exists() or len(journal.read_bytes().splitlines()) < 100:
        assert time.monotonic() < until and process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = len(journal.read_bytes().splitlines())
    assert not output.exists() and before < 400
    run("judge", made_up, "--resume", "--output", output)
    if ending == "jsonl":
        assert output.read_text() == expected
    else:
        rows = pq.read_table(output).to_pylist()
        assert rows == [json.loads(line) for line in expected.splitlines()]
    assert sorted(p.name for p in tmp_path.glob("out*")) == [output.name]
    run("judge", made_up, "--resume", "--output", output)  # finished: nothing to do


def test_bad_cases_are_reported_and_counted_over_interruptions(made_up, tmp_path):
    lines = made_up.read_text().splitlines()[:6]
    source = tmp_path / "cases.jsonl"
    source.write_text("\n".join([*lines[:2], '{"id": 7}', *lines[2:]]) + "\n")
    output = tmp_path / "out.jsonl"
    run("judge", source, "--resume", "--keep-going", "--output", output, code=2)
    judged_cases = {json.loads(line)["case"] for line in output.read_text().splitlines()}
    assert judged_cases == {json.loads(line)["id"] for line in lines}
    outcomes = list(judged(entries(source), Judge(lambda: pytest.fail("not needed"))))
    assert [isinstance(outcome, View) for _, outcome in outcomes].count(False) == 1


def test_predicted_judging_by_the_command(calibrated, made_up, tmp_path):
    source = unlabelled(made_up, tmp_path / "cases.jsonl", 5)
    verifier = ("--verifier", calibrated[0])
    rows = {}
    for mode in ("auto", "propagate", "intervene", "direct"):
        out = run("judge", source, "--mode", mode, *verifier, "--format", "jsonl")
        rows[mode] = [json.loads(line) for line in out.splitlines()]
    won = JudgeSettings.read(calibrated[0]).mode
    assert rows["auto"] == rows[won]
    assert {row["mode"] for row in rows["direct"]} == {"direct"}
    assert len({len(found) for found in rows.values()}) == 1
    table = run("judge", source, "--mode", "propagate", *verifier)
    assert "(predicted)" in table
    assert "(asked outright)" in run("judge", source, "--mode", "direct", *verifier)
    page = tmp_path / "page.html"
    run("judge", source, "--mode", "propagate", *verifier, "--output", page)
    assert "Mode propagate: states and decision are predicted" in page.read_text()
    run("judge", source, "--mode", "direct", *verifier, "--output", page)
    assert "a language model was asked outright" in page.read_text()
    output = tmp_path / "rows.parquet"
    run("judge", source, "--mode", "propagate", *verifier, "--output", output, "--resume")
    assert pq.read_table(output).to_pylist() == rows["propagate"]
    risky = run(
        "judge", source, "--mode", "propagate", *verifier, "--risk", 0.001, "--format", "csv"
    )
    assert "abstained" in risky
    sets = run("judge", source, "--mode", "propagate", *verifier, "--sets", "--format", "jsonl")
    assert {json.loads(line)["kind"] for line in sets.splitlines()} <= {"flips", "settles"}
    with pytest.raises(InterPactError, match="--sets needs states"):
        run("judge", source, "--mode", "direct", "--sets")


def test_a_verifier_that_cannot_be_had(made_up, tmp_path, capsys):
    from typer.testing import CliRunner

    from interpact.cli import app

    command = ["judge", str(made_up), "--mode", "propagate", "--verifier", str(tmp_path)]
    result = CliRunner().invoke(app, [*command, "--or-exact", "--format", "jsonl"])
    assert result.exit_code == 0
    assert "holds no verifier" in result.stderr
    assert "given states are used" in result.stderr
    assert result.stdout == run("judge", made_up, "--format", "jsonl")
    with pytest.raises(InterPactError, match="holds no verifier"):
        run(*command)
