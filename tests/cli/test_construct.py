"""The construct command: settings, dry run, a run without a model, a run against a stub, review."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from interpact.cli.construct import progress_line
from interpact.construct.config import ConstructConfig
from interpact.construct.endpoint import Usage
from interpact.construct.records import REVIEW, Outcome
from interpact.construct.run import Progress
from interpact.corpus.store import SAMPLE, Corpus, write_records
from interpact.errors import InterPactError
from tests.cli.test_cases import interpact, run

CONFIGS = Path(__file__).parents[2] / "configs"


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """The cases and roots of the sample, without its pairs."""
    folder = tmp_path / "corpus"
    run("sample", "--out", folder)
    for name in ("pairs.jsonl", "criticality.jsonl"):
        (folder / name).unlink()
    return folder


@pytest.fixture
def stub() -> Iterator[str]:
    """The base URL of a stub server."""
    server = Path(__file__).parents[1] / "construct" / "stub_server.py"
    process = subprocess.Popen([sys.executable, str(server)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield process.stdout.readline().strip()
    process.kill()
    process.wait()
    process.stdout.close()


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("construct-*.yaml")), ids=lambda p: p.stem)
def test_every_shipped_config_is_read(path: Path) -> None:
    ConstructConfig.read(path)


def test_the_paper_config_is_the_default() -> None:
    config = ConstructConfig.read(CONFIGS / "construct-paper.yaml")
    assert config.model == "gpt-5.4"
    assert config.model_dump(exclude={"slots"}) == ConstructConfig().model_dump(exclude={"slots"})


def test_parameters_are_sent_as_the_numbers_they_are(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text('model: 5.4\nparameters: {temperature: 0, top_p: 0.9, seed: 7, stop: "3"}\n')
    config = ConstructConfig.read(path)
    assert config.parameters == {"temperature": 0, "top_p": 0.9, "seed": 7, "stop": "3"}
    assert [type(value) for value in config.parameters.values()] == [int, float, int, str]
    assert config.model == "5.4"
    local = ConstructConfig.read(CONFIGS / "construct-local.yaml")
    assert local.parameters == {"temperature": 0}


def test_bad_settings_say_where_and_what(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("editor: model\nmodle: x\nslots: 0\n")
    with pytest.raises(InterPactError) as error:
        ConstructConfig.read(path)
    assert 'mine.yaml:2: modle: unknown field (did you mean "model"?)' in str(error.value)
    assert "mine.yaml:3: slots" in str(error.value)


def test_a_dry_run_counts_and_sends_nothing(bare: Path) -> None:
    out = run("construct", bare, "--dry-run", "--limit", 3)
    assert "24 attempts to make, 0 finished before" in out
    assert "requests to edit" in out and "tokens in" in out
    assert not (bare / "pairs.jsonl").exists()


@pytest.mark.parametrize("option", ["--slots", "--limit", "--max-requests"])
def test_a_senseless_number_is_told_in_plain_words(bare: Path, option: str) -> None:
    done = interpact("construct", bare, option, -1, "--dry-run")
    assert done.returncode == 2
    assert option in done.stderr and "Traceback" not in done.stderr


def test_without_a_model_every_state_waits_for_a_person(bare: Path) -> None:
    offline = ("--config", CONFIGS / "construct-offline.yaml")
    out = run("construct", bare, *offline)
    assert "| removal | 0 | 0 | 0 | 51 |" in out
    assert Corpus.read(bare).pairs == []
    # A person judges three of them, and rejects one.
    lines = (bare / REVIEW).read_text().splitlines()
    answers = [json.loads(line) for line in lines[:3]]
    for answer, state in zip(answers, ("unknown", "satisfied", "reject"), strict=True):
        answer["state"] = state
    filled = bare.parent / "filled.jsonl"
    filled.write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    run("construct", bare, "--merge-review", filled)
    pairs = Corpus.read(bare).pairs
    assert [pair.state_after for pair in pairs] == ["unknown", "satisfied"]
    assert all("state_reviewed" in pair.record.flags for pair in pairs)
    # Running again makes nothing twice.
    again = run("construct", bare, *offline)
    assert run("construct", bare, "--report") == again


def test_an_endpoint_that_is_not_there_is_told_in_plain_words(bare: Path) -> None:
    local = ("--config", CONFIGS / "construct-local.yaml", "--base-url", "http://127.0.0.1:9/v1")
    done = interpact("construct", bare, *local, "--limit", 1)
    assert done.returncode == 2
    assert "127.0.0.1:9" in done.stderr and "Traceback" not in done.stderr


def test_a_spent_budget_ends_with_the_report_and_a_re_run_goes_on(bare: Path, stub: str) -> None:
    command = ("construct", bare, "--base-url", stub, "--model", "stub", "--limit", 4)
    done = interpact(*command, "--max-requests", 10)
    assert done.returncode == 0, done.stderr
    assert "the budget of 10 requests is spent" in done.stderr
    assert "10 requests sent" in done.stderr
    assert "Not attempted yet" in done.stdout
    rest = interpact(*command)
    assert rest.returncode == 0 and "the budget" not in rest.stderr
    assert f"Not attempted yet: {47 * 8:,}." in rest.stdout


def test_the_progress_line_tells_outcomes_rate_and_tokens() -> None:
    now = Progress(30, 100, 10, Counter({Outcome.ACCEPTED: 12, Outcome.ABSTAINED: 8}))
    usage = Usage(asked=50, tokens_in=9_000, tokens_out=1_000)
    line = progress_line(now, usage, 20.0)
    assert line == "8 abstained, 12 accepted; 2.5 requests/s; 10,000 tokens"
    assert progress_line(now, None, 10.0).endswith("; 2.0/s")


def test_a_missing_key_is_told_before_anything_is_sent(bare: Path, monkeypatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    done = interpact("construct", bare, "--limit", 1)
    assert done.returncode == 2
    assert "OPENAI_API_KEY" in done.stderr and "Traceback" not in done.stderr


def test_a_corpus_without_roots_says_so(tmp_path: Path) -> None:
    corpus = Corpus.read(SAMPLE)
    from interpact.case.files import write_cases

    write_cases(tmp_path / "cases.jsonl", corpus.cases.values())
    write_records(tmp_path / "roots.jsonl", [])
    done = interpact("construct", tmp_path, "--config", CONFIGS / "construct-offline.yaml")
    assert done.returncode == 2 and "root" in done.stderr
