"""Ray: two workers give what one process gives; a killed worker loses nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_cases import run

pytest.importorskip("ray", reason="no cluster: pip install 'interpact[scale]'")

SCRIPT = """
import os, signal, sys, threading, time
import interpact.judging.engines.cluster as cluster
from interpact.case.files import entries
from interpact.judging.view import View

import ray
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level=40,
         object_store_memory=100_000_000)
marks = sys.argv[3]

class Slow(cluster._Worker):
    def __init__(self, job):
        super().__init__(job)
        open(os.path.join(marks, str(os.getpid())), "w").close()
    def __call__(self, batch):
        time.sleep(0.3)
        return super().__call__(batch)

def kill():
    killed = 0
    while not killed:
        time.sleep(0.1)
        pids = os.listdir(marks)
        if len(pids) >= 2:
            time.sleep(0.5)
            os.kill(int(pids[0]), signal.SIGKILL)
            killed = 1
            open(os.path.join(marks, "killed"), "w").close()

cluster._Worker = Slow
if marks:
    threading.Thread(target=kill, daemon=True).start()
job = cluster.Job(None, "auto", {}, None)
for entry, outcome in cluster.judged_on_ray(entries(sys.argv[1]), job, 2):
    assert isinstance(outcome, View), outcome
    for judgment in outcome.judgments:
        print(judgment.evidence, judgment.condition, judgment.critical, judgment.witness)
print("workers", len(os.listdir(marks)), file=sys.stderr)
"""


@pytest.fixture(scope="module")
def made_up(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("made-up") / "corpus"
    run("synth", "--cases", 400, "--seed", 5, "--out", folder)
    return folder / "cases.jsonl"


def test_a_killed_worker_loses_nothing(made_up, tmp_path):
    from interpact import judge, read_cases

    marks = tmp_path / "marks"
    marks.mkdir()
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, "-W", "ignore", str(script), str(made_up), "-", str(marks)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            out, _ = process.communicate(timeout=400)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 0
    assert (marks / "killed").exists()
    assert len(list(marks.iterdir())) >= 4  # two workers, the mark, and one that took over
    expected = [
        f"{j.evidence} {j.condition} {j.critical} {j.witness}"
        for case in read_cases(made_up)
        for j in judge(case)
    ]
    assert out.splitlines() == expected


def test_the_command_gives_the_same_file(calibrated, made_up, tmp_path):
    source = tmp_path / "cases.jsonl"
    lines = made_up.read_text().splitlines()[:40]
    source.write_text("\n".join([*lines, '{"id": 7}']) + "\n")
    files = []
    for engine in ("local", "ray"):
        output = tmp_path / f"{engine}.jsonl"
        command = ["judge", source, "--mode", "propagate", "--verifier", calibrated[0]]
        command += ["--engine", engine, "--keep-going", "--output", output, "--resume"]
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "interpact", *map(str, command)],
            capture_output=True,
            text=True,
            timeout=400,
        )
        assert done.returncode == 2, done.stderr
        assert "1 bad case was left out" in done.stderr
        files.append(output.read_text())
    assert files[0] == files[1]
