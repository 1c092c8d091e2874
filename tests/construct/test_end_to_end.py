"""The whole construction by the command line against a server, killed in the middle and run again."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.test_cases import interpact, run

STUB = Path(__file__).with_name("stub_server.py")
FAULTS = [
    "rate_limit=0.03",
    "server_error=0.02",
    "disconnect=0.02",
    "malformed=0.03",
    "refused=0.02",
]


@pytest.fixture
def server() -> Iterator[str]:
    command = [sys.executable, str(STUB), "--latency", "0.01", "--faults", *FAULTS]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield process.stdout.readline().strip()
    process.kill()
    process.wait()
    process.stdout.close()


def corpus(folder: Path) -> Path:
    run("sample", "--out", folder)
    for name in ("pairs.jsonl", "criticality.jsonl"):
        (folder / name).unlink()
    return folder


def counts(server: str) -> dict:
    with urllib.request.urlopen(server.removesuffix("/v1") + "/counts", timeout=5) as answer:
        return json.load(answer)


def test_killed_and_run_again_it_gives_the_same_pairs_and_asks_nothing_twice(tmp_path, server):
    whole, broken = corpus(tmp_path / "whole"), corpus(tmp_path / "broken")
    config = tmp_path / "settings.yaml"
    config.write_text(f"model: stub\nbase_url: {server}\nslots: 8\n")
    command = ["construct", str(broken), "--config", str(config), "--limit", "12"]
    rng = random.Random(4)
    kills = 0
    for _ in range(4):
        process = subprocess.Popen(
            [sys.executable, "-m", "interpact", *command],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(0.9 + rng.random())
        if process.poll() is None:
            process.kill()
            kills += 1
        process.wait()
    done = interpact(*command)
    assert done.returncode == 0, done.stderr
    assert kills, "the run was over before it could be killed"
    before = counts(server)
    resumed = interpact(*command)
    assert counts(server) == before, "a finished run asks nothing again"
    assert resumed.stdout == done.stdout
    run("check", broken)
    straight = interpact("construct", whole, "--config", config, "--limit", 12)
    assert straight.returncode == 0, straight.stderr
    assert (whole / "review.jsonl").exists()
    # The server answers a prompt the same way each time, but for faults that hit one run and not
    # the other; an attempt that neither run lost is the same in both.
    made = {p: {r["id"]: r for r in read(p / "pairs.jsonl")} for p in (whole, broken)}
    common = made[whole].keys() & made[broken].keys()
    assert len(common) > 10
    assert all(made[whole][name] == made[broken][name] for name in common)


def read(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]
