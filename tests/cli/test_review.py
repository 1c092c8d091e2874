"""The commands of the review, from a sample to corrections in the corpus."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from typer.testing import CliRunner

from interpact.cli import app
from interpact.corpus.store import SAMPLE
from interpact.errors import InterPactError
from interpact.review.database import FILE, Database
from interpact.review.people import People
from interpact.review.store import Store
from tests.review.conftest import GOOD, cheap_hashes, read

__all__ = ["cheap_hashes"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    target = tmp_path / "corpus"
    shutil.copytree(SAMPLE, target)
    return target


def run(*words: object, told: str = "") -> str:
    result = CliRunner().invoke(app, [str(word) for word in words])
    if told:
        assert isinstance(result.exception, InterPactError), result.output
        assert re.search(told, str(result.exception)), result.exception
        return ""
    assert result.exit_code == 0, (result.output, result.exception)
    return result.output


def test_an_audit_from_the_command_line(folder: Path, tmp_path: Path):
    run("audit", "report", folder, told="there is no review here")
    assert "12 pairs in queue audit" in run("audit", "sample", folder, "--n", 12, "--seed", 5)
    run("audit", "sample", folder, "--n", 12, told="already")
    run("audit", "sample", folder, "--n", 100_000, told="--n 100000")
    link = re.search(
        r"http://127.0.0.1:8000/join/([\w-]{43})", run("review", "person", folder, "ben")
    )
    assert link
    for name in ("cid", "dora"):
        run("review", "person", folder, name, "--url", "https://review.example/")
    run("review", "person", folder, "ada", "--admin")
    run("review", "person", folder, "ada", told="is admin and stays so")
    with Database.open(folder / FILE) as database:
        store, people = Store(database), People(database)
        invited = people.invited(link[1])
        assert invited is not None and invited.name == "ben"
        states = {
            r["position"]: json.loads(r["data"])["state_after"]
            for r in database.all(
                "SELECT i.position, r.data FROM items i JOIN reference r ON r.item = i.id"
            )
        }
        answers = [GOOD | {"state": states[n]} for n in sorted(states)]
        answers[0]["state"] = "unknown" if states[1] != "unknown" else "satisfied"
        for name in ("ben", "cid", "dora"):
            person = people.named(name)
            assert person is not None
            read(store, "audit", person, answers)
    assert "| Target condition state | 11/12 | 91.67 |" in run("audit", "report", folder)
    assert json.loads(run("audit", "report", folder, "--json"))["settled"] == 12
    assert "| ben | reviewer | audit | 12 | 12 |" in run("review", "people", folder)
    assert re.search(r"pairs.jsonl: .*: state_after: .* -> ", run("audit", "apply", folder))
    assert "0 changes" in run("audit", "apply", folder)
    out, config = tmp_path / "tasks.json", tmp_path / "config.xml"
    run("review", "export", folder, "--name", "audit", "--out", out, "--config", config)
    assert len(json.loads(out.read_text())) == 12 and "<View>" in config.read_text()
    assert "0 answers taken in" in run("review", "import", folder, out, "--name", "audit")
    run("review", "backup", folder, tmp_path / "b.sqlite")
    run("review", "restore", folder, tmp_path / "b.sqlite", told="--force")
    run("review", "restore", folder, tmp_path / "b.sqlite", "--force")
    assert "11/12" in run("audit", "report", folder)


def test_queues_from_the_command_line(folder: Path):
    (folder / "criticality.jsonl").unlink()
    assert "items in queue roots" in run("review", "queue", folder, "roots")
    run("review", "queue", folder, "construction", told="no intervention waits")
    run("review", "queue", folder, "else", told="use one of")
    assert "0 reviewed labels" in run("review", "apply", folder, "--name", "roots")
    run("review", "apply", folder, "--name", "nothing", told="no queue")
    run("audit", "apply", folder, "--name", "roots", told="is no audit")


def test_a_password_can_be_set_at_the_terminal(folder: Path):
    run("audit", "sample", folder, "--n", 3)
    words = ["review", "person", str(folder), "ben", "--password"]
    result = CliRunner().invoke(app, words, input="a long enough password\n")
    assert result.exit_code == 0, result.output
    assert "a long enough" not in result.output
    with Database.open(folder / FILE) as database:
        assert People(database).check("ben", "a long enough password", "") is not None


def test_serve_serves_cases_and_the_review_of_a_folder(folder: Path, examples: Path):
    run("audit", "sample", folder, "--n", 3)
    for paths, page in (([examples / "nda.yaml"], "/cases"), ([folder], "/login")):
        command = [sys.executable, "-m", "interpact", "serve", *map(str, paths), "--port", "0"]
        server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ})
        assert server.stderr is not None
        try:
            told = re.search(r"http://(127\.0\.0\.1:\d+)/", server.stderr.readline())
            assert told
            connection = http.client.HTTPConnection(told[1], timeout=20)
            connection.request("GET", "/")
            response = connection.getresponse()
            assert (response.status, urlsplit(response.headers["location"]).path) == (303, page)
            response.read()
            connection.request("GET", "/cases", headers={"Host": "evil.example"})
            assert connection.getresponse().status == 400
            connection.close()
            if page == "/login":
                run("review", "backup", folder, folder.parent / "while-served")
                run("review", "restore", folder, folder.parent / "while-served", "--force",
                    told="is being served")  # fmt: skip
        finally:
            server.terminate()
            server.wait(20)
            server.stderr.close()


def test_what_cannot_be_served_is_told(tmp_path: Path):
    run("serve", tmp_path / "nothing.yaml", told="there is no such file")
