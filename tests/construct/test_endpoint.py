"""The endpoint against a server that misbehaves in every way it is told to."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import random
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interpact.construct import endpoint, wire
from interpact.construct.ask import Answer, Ask, Failure, Request
from interpact.construct.cache import Cache
from interpact.construct.completion import fits, read_completion
from interpact.construct.endpoint import BudgetSpent, Endpoint, Unanswered
from interpact.errors import InterPactError
from tests.construct.stub_server import Fault, Script, Stub, fill

SCHEMA = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}
SECRET = "sk-a-secret-nobody-may-see-0123456789"


@pytest.fixture(autouse=True)
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "FIRST_WAIT", 0.01)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def request(user: str = "prompt", **fields: Any) -> Request:
    return Request(
        **{
            "purpose": "edit",
            "system": "Edit.",
            "user": user,
            "schema_name": "edit",
            "schema": SCHEMA,
        }
        | fields
    )


@asynccontextmanager
async def serving(
    cache: Cache, script: Script | None = None, stub: dict[str, Any] | None = None, **options: Any
) -> AsyncIterator[tuple[Stub, Endpoint]]:
    options = {"patience": 5.0, "timeout": 5.0, **options}
    async with (
        Stub(script=script, **stub or {}) as server,
        Endpoint("model", cache, base_url=server.base_url, **options) as ask,
    ):
        yield server, ask


def always(fault: Fault) -> Script:
    return lambda _prompt, _nth: fault


def at_first(fault: Fault, times: int = 1) -> Script:
    return lambda _prompt, nth: fault if nth <= times else None


def run(scenario: Callable[[Cache], Any], path: str | Path = ":memory:") -> Any:
    with Cache(path) as cache:
        return asyncio.run(scenario(cache))


# ---- Asking ------------------------------------------------------------------------------------


def test_an_answer_fits_the_schema_that_was_sent():
    async def scenario(cache: Cache) -> None:
        async with serving(cache, parameters={"temperature": 0.3, "top_k": 5}) as (stub, endpoint):
            ask: Ask = endpoint
            answer = await ask(request())
            assert answer == Answer(fill(SCHEMA, "prompt"), None, 7, 3)
            (body,) = stub.bodies
            form = {"name": "edit", "strict": True, "schema": SCHEMA}
            assert body == {
                "model": "model",
                "messages": [
                    {"role": "system", "content": "Edit."},
                    {"role": "user", "content": "prompt"},
                ],
                "temperature": 0.3,
                "top_k": 5,
                "response_format": {"type": "json_schema", "json_schema": form},
            }

    run(scenario)


def test_nothing_is_asked_twice(tmp_path):
    async def scenario(cache: Cache) -> Counter[str]:
        async with serving(cache) as (stub, ask):
            prompts = [f"prompt {i % 10}" for i in range(40)]
            answers = await asyncio.gather(*(ask(request(prompt)) for prompt in prompts))
            assert [answer.data for answer in answers] == [fill(SCHEMA, p) for p in prompts]
            fresh = [answer for answer in answers if not answer.cached]
            assert len(fresh) == ask.usage.asked == stub.requests.total()
            assert ask.usage.cached == 40 - len(fresh)
            assert ask.usage.purposes == Counter(edit=len(fresh))
            assert (ask.usage.tokens_in, ask.usage.tokens_out) == (7 * len(fresh), 3 * len(fresh))
            return stub.requests

    path = tmp_path / "answers.sqlite"
    assert set(run(scenario, path).values()) == {1}
    assert not run(scenario, path)


def test_all_slots_are_used_and_no_more():
    async def scenario(cache: Cache) -> None:
        async with serving(cache, slots=7, stub={"latency": 0.02}) as (stub, ask):
            await asyncio.gather(*(ask(request(f"prompt {i}")) for i in range(50)))
            assert stub.busiest == 7

    run(scenario)


@pytest.mark.parametrize(
    ("fault", "failure", "times"),
    [
        (Fault.MALFORMED, Failure.MALFORMED, 2),
        (Fault.MISFIT, Failure.MALFORMED, 2),
        (Fault.EMPTY, Failure.EMPTY, 2),
        (Fault.NO_CHOICES, Failure.EMPTY, 2),
        (Fault.TRUNCATED, Failure.TRUNCATED, 1),
        (Fault.REFUSED, Failure.REFUSED, 1),
        (Fault.FILTERED, Failure.REFUSED, 1),
        (Fault.FILTERED_PROMPT, Failure.REFUSED, 1),
    ],
)
def test_an_unusable_answer_is_recorded_once_and_for_all(tmp_path, fault, failure, times):
    async def scenario(cache: Cache) -> None:
        async with serving(cache, always(fault)) as (stub, ask):
            for cached in (False, True):
                answer = await ask(request())
                assert (answer.data, answer.failure, answer.cached) == (None, failure, cached)
            assert ask.usage.failures == {failure: 2}
            assert stub.requests.total() == ask.usage.asked == times

    run(scenario, tmp_path / "answers.sqlite")


@pytest.mark.parametrize("fault", [Fault.MALFORMED, Fault.EMPTY])
def test_a_bad_answer_may_be_made_good_once(fault):
    async def scenario(cache: Cache) -> None:
        async with serving(cache, at_first(fault)) as (_, ask):
            answer = await ask(request())
            assert answer.data == fill(SCHEMA, "prompt") and answer.failure is None
            assert not ask.usage.failures
            if fault is Fault.MALFORMED:
                assert (answer.tokens_in, ask.usage.tokens_in) == (14, 14)  # both were paid for

    run(scenario)


def test_a_prompt_that_does_not_fit_is_a_failure_that_a_larger_server_can_mend():
    async def scenario(cache: Cache) -> None:
        async with serving(cache, at_first(Fault.CONTEXT)) as (_, ask):
            assert (await ask(request())).failure is Failure.TRUNCATED
            assert (await ask(request())).data == fill(SCHEMA, "prompt")

    run(scenario)


def test_a_server_without_schemas_is_asked_in_words(tmp_path):
    async def scenario(cache: Cache) -> None:
        async with serving(cache, always(Fault.FENCED), {"supports_schema": False}) as (stub, ask):
            for i in range(3):
                answer = await ask(request(f"prompt {i}"))
                assert answer.data == {"text": f"plain answer to prompt {i}"}
            assert ask.usage.plain_json
            assert ["response_format" in body for body in stub.bodies] == [True] + [False] * 3
            assert json.dumps(SCHEMA) in stub.bodies[-1]["messages"][0]["content"]
            assert ask.usage.asked == 3

    run(scenario)


# ---- Trouble on the way ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault",
    [
        Fault.RATE_LIMIT,
        Fault.SERVER_ERROR,
        Fault.DISCONNECT,
        Fault.NOT_JSON,
        Fault.HANG,
        Fault.DRIBBLE,
    ],
)
def test_trouble_on_the_way_is_tried_again_and_never_kept(fault):
    async def scenario(cache: Cache) -> None:
        async with serving(cache, at_first(fault, 2), timeout=0.3) as (stub, ask):
            assert (await ask(request())).data == fill(SCHEMA, "prompt")
            assert stub.requests["prompt"] == 3
            assert (ask.usage.asked, ask.usage.retried) == (1, 2)
            assert not ask.usage.failures

    run(scenario)


def test_a_storm_of_every_trouble_loses_nothing():
    dice = random.Random(1)
    faults = [Fault.RATE_LIMIT, Fault.SERVER_ERROR, Fault.DISCONNECT, Fault.NOT_JSON, Fault.HANG]

    def script(_prompt: str, nth: int) -> Fault | None:
        return dice.choice(faults) if nth <= 3 and dice.random() < 0.5 else None

    async def scenario(cache: Cache) -> None:
        async with serving(cache, script, slots=16, timeout=0.3) as (stub, ask):
            prompts = [f"prompt {i}" for i in range(150)]
            answers = await asyncio.gather(*(ask(request(prompt)) for prompt in prompts))
            assert [answer.data for answer in answers] == [fill(SCHEMA, p) for p in prompts]
            assert stub.requests.total() == ask.usage.asked + ask.usage.retried
            assert stub.busiest <= 17  # one that was given up may not have left yet
            assert ask.usage.retried > 50

    run(scenario)


def test_a_server_is_given_the_time_it_asks_for():
    async def scenario(cache: Cache) -> float:
        async with serving(cache, at_first(Fault.RATE_LIMIT), {"retry_after": "0.4"}) as (_, ask):
            began = time.monotonic()
            await ask(request())
            return time.monotonic() - began

    assert 0.4 <= run(scenario) < 1.0


def test_a_time_to_wait_is_a_number_or_a_date():
    assert wire.retry_after({"retry-after": "7"}) == 7
    assert wire.retry_after({"retry-after-ms": "1500", "retry-after": "2"}) == 1.5
    assert 50 < (wire.retry_after({"retry-after": formatdate(time.time() + 60)}) or 0) <= 60
    assert wire.retry_after({"retry-after": formatdate(0)}) == 0
    for nonsense in ("", "soon", "nan", "inf", "1e999", "Xxx, 99 Foo 2026"):
        assert wire.retry_after({"retry-after": nonsense}) is None


@given(st.integers(0, 10_000), st.none() | st.floats(0, 1e6))
def test_waits_grow_to_a_bound_and_are_never_shorter_than_asked(attempt, asked):
    wait = wire.pause(attempt, asked)
    assert (asked or 0) <= wait <= (asked or 0) + 1.5 * wire.LONGEST_WAIT


def test_a_server_that_is_not_there_is_soon_given_up(monkeypatch):
    async def scenario(cache: Cache) -> None:
        async with Endpoint("model", cache, base_url="http://127.0.0.1:9/v1", slots=4) as ask:
            asking = (ask(request(f"prompt {i}")) for i in range(200))
            errors = await asyncio.gather(*asking, return_exceptions=True)
        assert {type(error) for error in errors} == {InterPactError}
        assert "the server runs and the address is right" in str(errors[0])
        assert ask.usage.asked == 4

    monkeypatch.setattr(endpoint, "_GREETING", 0.2)
    began = time.monotonic()
    run(scenario)
    assert time.monotonic() - began < 3


def test_an_endpoint_that_dies_is_given_up_and_what_it_answered_is_kept(tmp_path):
    def script(prompt: str, _nth: int) -> Fault | None:
        return None if prompt < "prompt 5" else Fault.SERVER_ERROR

    async def dying(cache: Cache) -> None:
        async with serving(cache, script, slots=2, patience=0.5) as (_, ask):
            asking = (ask(request(f"prompt {i}")) for i in range(10))
            found = await asyncio.gather(*asking, return_exceptions=True)
        assert [type(answer) for answer in found[:5]] == [Answer] * 5
        for error in found[5:]:
            assert isinstance(error, InterPactError)
            assert "HTTP 503: loading the model" in str(error)
            assert "run the same command again: every answer is kept" in str(error)

    async def healthy(cache: Cache) -> None:
        async with serving(cache) as (stub, ask):
            await asyncio.gather(*(ask(request(f"prompt {i}")) for i in range(10)))
            assert stub.requests == {f"prompt {i}": 1 for i in range(5, 10)}

    path = tmp_path / "answers.sqlite"
    run(dying, path)
    run(healthy, path)


def test_a_wait_beyond_patience_is_not_begun():
    async def scenario(cache: Cache) -> None:
        async with serving(cache, always(Fault.RATE_LIMIT), {"retry_after": "3600"}) as (stub, ask):
            with pytest.raises(
                InterPactError, match=r"HTTP 429: slow down; it asks to wait 3600 s"
            ):
                await ask(request())
            assert stub.requests.total() == 1

    run(scenario)


def test_what_came_back_instead_of_an_answer_is_shown():
    async def scenario(cache: Cache) -> None:
        async with serving(cache, always(Fault.NOT_JSON), patience=0.1) as (_, ask):
            with pytest.raises(InterPactError, match="no chat completion: <html>please log in"):
                await ask(request())

    run(scenario)


def test_nothing_more_is_sent_when_answers_cannot_be_kept():
    class Full(Cache):
        async def put(self, key: str, value: str) -> str:
            raise InterPactError("the disk is full; make room")

    async def scenario() -> None:
        with Full(":memory:") as cache:
            async with serving(cache, slots=3) as (stub, ask):
                asking = (ask(request(f"prompt {i}")) for i in range(30))
                errors = await asyncio.gather(*asking, return_exceptions=True)
                assert stub.requests.total() <= 3
            assert {str(error) for error in errors} == {"the disk is full; make room"}

    asyncio.run(scenario())


def test_one_request_that_gets_no_answer_does_not_end_the_others():
    def script(prompt: str, _nth: int) -> Fault | None:
        return Fault.SERVER_ERROR if prompt == "poison" else None

    async def scenario(cache: Cache) -> None:
        async with serving(cache, script, slots=2, patience=0.3, stub={"latency": 0.01}) as (
            _,
            ask,
        ):
            poisoned = asyncio.create_task(ask(request("poison")))
            while not poisoned.done():
                await ask(request(str(random.random())))
            with pytest.raises(Unanswered, match="although others did"):
                await poisoned
            assert (await ask(request("later"))).data

    run(scenario)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault.UNAUTHORIZED, r"the key in \$OPENAI_API_KEY was refused"),
        (Fault.QUOTA, "no credit left"),
        (Fault.NO_MODEL, '"model" or this address is unknown'),
        (Fault.BAD_SCHEMA, "Invalid schema for response_format"),
        (Fault.BAD_REQUEST, "temperature is not supported.*correct the parameters"),
    ],
)
def test_what_cannot_get_better_stops_at_once(monkeypatch, fault, words):
    async def scenario(cache: Cache) -> None:
        async with serving(cache, always(fault), slots=3) as (stub, ask):
            asking = (ask(request(f"prompt {i}")) for i in range(50))
            errors = await asyncio.gather(*asking, return_exceptions=True)
            assert stub.requests.total() <= 6  # those that had been sent, at most twice
            assert ask.usage.retried == 0
        for error in errors:
            assert isinstance(error, InterPactError)
            with pytest.raises(InterPactError, match=words):
                raise error

    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    run(scenario)


def test_one_request_that_is_not_accepted_does_not_end_the_others():
    def script(prompt: str, _nth: int) -> Fault | None:
        return Fault.BAD_REQUEST if prompt == "odd" else None

    async def scenario(cache: Cache) -> None:
        async with serving(cache, script) as (_, ask):
            assert (await ask(request("first"))).data
            with pytest.raises(Unanswered, match="not accepted"):
                await ask(request("odd"))
            assert (await ask(request("last"))).data
            assert not ask.usage.plain_json

    run(scenario)


# ---- Budget and interruption -------------------------------------------------------------------


def test_a_budget_is_kept_to_and_what_it_bought_too(tmp_path):
    counted: Counter[str] = Counter()

    async def scenario(cache: Cache, budget: int, before: int) -> None:
        async with serving(cache, slots=4, max_requests=budget, stub={"latency": 0.01}) as (
            stub,
            ask,
        ):
            with pytest.raises(ExceptionGroup) as raised:  # noqa: PT012
                async with asyncio.TaskGroup() as group:
                    for i in range(20):
                        group.create_task(ask(request(f"prompt {i}")))
            assert raised.group_contains(BudgetSpent, match=f"budget of {budget} requests")
        # Callers were cancelled when the first met the end of the budget; nothing sent was dropped.
        assert stub.requests.total() == stub.answered.total() == ask.usage.asked == budget
        assert ask.usage.cached == before
        counted.update(stub.requests)

    async def last(cache: Cache) -> None:
        async with serving(cache, max_requests=20) as (stub, ask):
            await asyncio.gather(*(ask(request(f"prompt {i}")) for i in range(20)))
            counted.update(stub.requests)

    path = tmp_path / "answers.sqlite"
    run(lambda cache: scenario(cache, 6, 0), path)
    run(lambda cache: scenario(cache, 7, 6), path)
    run(last, path)
    assert counted == {f"prompt {i}": 1 for i in range(20)}


def test_without_a_budget_what_is_kept_is_answered_and_no_key_is_needed(tmp_path):
    async def fill_cache(cache: Cache) -> None:
        async with serving(cache) as (_, ask):
            await ask(request("known"))

    async def scenario(cache: Cache) -> None:
        async with Endpoint("model", cache, max_requests=0) as ask:
            assert (await ask(request("known"))).cached
            with pytest.raises(BudgetSpent):
                await ask(request("new"))

    path = tmp_path / "answers.sqlite"
    run(fill_cache, path)
    run(scenario, path)


def test_leaving_waits_for_what_was_sent_and_sends_nothing_more(tmp_path):
    async def scenario(cache: Cache) -> None:
        async with serving(cache, slots=3, stub={"latency": 0.1}) as (stub, ask):
            asking = [asyncio.create_task(ask(request(f"prompt {i}"))) for i in range(9)]
            await asyncio.sleep(0.05)
            for task in asking:
                task.cancel()
        assert stub.requests.total() == stub.answered.total() == 3
        async with serving(cache, max_requests=0) as (_, ask):
            for prompt in stub.requests:
                assert (await ask(request(prompt))).cached

    run(scenario, tmp_path / "answers.sqlite")


CHILD = f"""
import asyncio, sys
from interpact.construct.ask import Request
from interpact.construct.cache import Cache
from interpact.construct.endpoint import Endpoint
async def main(path, url, count):
    with Cache(path) as cache:
        async with Endpoint("model", cache, base_url=url, slots=8) as ask:
            async def one(i):
                answer = await ask(Request("edit", "Edit.", f"prompt {{i}}", "edit", {SCHEMA!r}))
                print(i, answer.data["text"].replace(" ", "_"), flush=True)
            await asyncio.gather(*map(one, range(count)))
asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
"""


async def child(path: Path, url: str, count: int) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-c", CHILD, str(path), url, str(count), stdout=subprocess.PIPE
    )


def test_two_processes_on_one_cache_agree(tmp_path):
    async def scenario() -> None:
        async with Stub(latency=0.01) as stub:
            children = [await child(tmp_path / "a.sqlite", stub.base_url, 150) for _ in range(2)]
            told = [(await process.communicate())[0] for process in children]
            assert [process.returncode for process in children] == [0, 0]
            assert sorted(told[0].splitlines()) == sorted(told[1].splitlines())
            assert len(stub.requests) == 150 and max(stub.requests.values()) <= 2
            asked = stub.requests.total()
            await (await child(tmp_path / "a.sqlite", stub.base_url, 150)).communicate()
            assert stub.requests.total() == asked

    asyncio.run(scenario())


def test_kill_9_loses_nothing_and_costs_no_more_than_was_on_the_way(tmp_path):
    async def scenario() -> None:
        async with Stub(latency=0.02) as stub:
            settled: dict[str, int] = {}
            kills = 0
            for lines in (1, 30, 61, 17):
                process = await child(tmp_path / "a.sqlite", stub.base_url, 200)
                assert process.stdout is not None
                told = [await process.stdout.readline() for _ in range(lines)]
                os.kill(process.pid, signal.SIGKILL)
                told += (await process.stdout.read()).splitlines()
                await process.wait()
                kills += 1
                # From here on nobody may ask what this process was told.
                for prompt in (f"prompt {line.split()[0].decode()}" for line in told if line):
                    assert stub.requests[prompt] == settled.setdefault(
                        prompt, stub.requests[prompt]
                    )
            process = await child(tmp_path / "a.sqlite", stub.base_url, 200)
            assert len((await process.communicate())[0].splitlines()) == 200
            assert {prompt: stub.requests[prompt] for prompt in settled} == settled
            assert len(stub.requests) == 200
            assert stub.requests.total() - 200 <= 8 * kills

    asyncio.run(scenario())


# ---- Secrets and settings ----------------------------------------------------------------------


def test_the_key_is_sent_and_is_nowhere_else(tmp_path, monkeypatch, caplog, capfd):
    def script(prompt: str, nth: int) -> Fault | None:
        if prompt == "refused":
            return Fault.UNAUTHORIZED  # the message holds the key
        return Fault.RATE_LIMIT if nth == 1 else Fault.ECHO_KEY  # so does the answer

    async def scenario(cache: Cache) -> str:
        async with serving(cache, script, key_variable="MY_KEY") as (stub, ask):
            answer = await ask(request("echo"))
            with pytest.raises(InterPactError) as raised:
                await ask(request("refused"))
            assert {head["authorization"] for head in stub.headers} == {f"Bearer {SECRET}"}
            texts = [answer, ask, ask.usage, cache, raised.value.__cause__]
            return "".join(map(repr, texts)) + "".join(
                traceback.TracebackException.from_exception(
                    raised.value, capture_locals=False
                ).format()
            )

    monkeypatch.setenv("MY_KEY", SECRET)
    caplog.set_level(logging.DEBUG)
    for name in ("openai", "httpx2", "httpcore2"):
        caplog.set_level(logging.DEBUG, logger=name)
    shown = run(scenario, tmp_path / "answers.sqlite")
    files = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    captured = capfd.readouterr()
    assert "you sent Bearer ***" in shown and "$MY_KEY was refused" in shown
    assert "HTTP" in caplog.text  # the libraries did log
    assert b"you sent Bearer ***" in files
    for text in (shown, caplog.text, captured.out, captured.err, files.decode("latin-1")):
        assert SECRET not in text and SECRET[5:25] not in text


def test_a_key_is_wanted_where_it_is_far_and_not_where_it_is_near(monkeypatch):
    async def enter(cache: Cache, url: str) -> None:
        async with Endpoint("model", cache, base_url=url):
            pass

    for url in (
        "http://127.0.0.1:1/v1",
        "http://localhost/v1",
        "http://gpu7:8000/v1",
        "http://10.1.2.3/v1",
        "http://[::1]:1/v1",
    ):
        run(lambda cache, url=url: enter(cache, url))
    with pytest.raises(InterPactError, match="set the environment variable OPENAI_API_KEY"):
        run(lambda cache: enter(cache, endpoint.OPENAI))
    monkeypatch.setenv("OPENAI_API_KEY", f" {SECRET}\n")
    run(lambda cache: enter(cache, endpoint.OPENAI))
    monkeypatch.setenv("OPENAI_API_KEY", f"{SECRET}\n…")
    with pytest.raises(InterPactError, match="characters no key has") as raised:
        run(lambda cache: enter(cache, endpoint.OPENAI))
    assert SECRET not in str(raised.value)


@pytest.mark.parametrize(
    "url",
    ["", "localhost:8000", "ftp://host/v1", "https:///v1", "http://host:99999/v1", "http://[::1"],
)
def test_a_base_url_that_is_none_is_an_error(url):
    with pytest.raises(InterPactError, match="must look like https://host/v1"):
        Endpoint("model", Cache(":memory:"), base_url=url)


@pytest.mark.parametrize("url", [f"https://me:{SECRET}@host/v1", f"https://host/v1?key={SECRET}"])
def test_a_base_url_that_holds_a_secret_is_an_error_that_does_not(url):
    with pytest.raises(InterPactError, match="put the key into the environment") as raised:
        Endpoint("model", Cache(":memory:"), base_url=url)
    assert SECRET not in str(raised.value)


def test_settings_that_cannot_be_are_errors():
    with pytest.raises(InterPactError, match="model, stream cannot be set here"):
        Endpoint("model", Cache(":memory:"), parameters={"stream": True, "model": "other"})
    with pytest.raises(InterPactError, match=r"parameters: .*set.* is not JSON"):
        Endpoint("model", Cache(":memory:"), parameters={"stop": {"a"}})
    with pytest.raises(InterPactError, match="slots"):
        Endpoint("model", Cache(":memory:"), slots=0)


# ---- Reading -----------------------------------------------------------------------------------

NESTED = {
    "$defs": {"state": {"enum": ["satisfied", "unknown"], "type": "string"}},
    "type": "object",
    "properties": {
        "state": {"$ref": "#/$defs/state"},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "parts": {"type": "array", "items": {"type": "integer"}},
        "score": {"type": ["number", "null"]},
        "kind": {"const": "edit"},
    },
    "required": ["state"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("data", "fitting"),
    [
        ({"state": "unknown"}, True),
        ({"state": "satisfied", "note": None, "parts": [1, 2], "score": 0.5, "kind": "edit"}, True),
        ({"state": "unknown", "score": None, "parts": []}, True),
        ({}, False),
        ({"state": "no"}, False),
        ({"state": ["unknown"]}, False),
        ({"state": "unknown", "note": 1}, False),
        ({"state": "unknown", "parts": [1, "2"]}, False),
        ({"state": "unknown", "parts": [True]}, False),
        ({"state": "unknown", "score": "1"}, False),
        ({"state": "unknown", "kind": "other"}, False),
        ({"state": "unknown", "more": 1}, False),
        ([], False),
        ("unknown", False),
    ],
)
def test_data_fits_a_schema_or_not(data, fitting):
    assert fits(data, NESTED) is fitting


@pytest.mark.parametrize(
    "content",
    [
        '{"text": NaN}',
        '{"text": "a", "text": "b"}',
        '{"text": "half a character \\ud800"}',
        '["text"]',
        '{"text": "a"} {"text": "b"}',
        '{"text": ' + "[" * 100_000,
        '{"number": ' + "1" * 10_000 + "}",
    ],
)
def test_content_that_is_no_usable_object_is_malformed(content):
    message = {"message": {"content": content}, "finish_reason": "stop"}
    assert read_completion({"choices": [message]}, {}).failure is Failure.MALFORMED


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
LIKELY = {"message": JSON | st.fixed_dictionaries({}, optional={"content": JSON, "refusal": JSON})}
CHOICE = JSON | st.fixed_dictionaries({}, optional={**LIKELY, "finish_reason": JSON})
COMPLETION = st.fixed_dictionaries(
    {"choices": JSON | st.lists(CHOICE, max_size=2)},
    optional={"usage": JSON | st.dictionaries(st.just("prompt_tokens"), JSON)},
)


@given(JSON | COMPLETION)
def test_any_response_is_an_answer_or_no_completion(payload):
    try:
        answer = read_completion(payload, SCHEMA)
    except ValueError:
        return
    assert (answer.data is None) == (answer.failure is not None)
    assert answer.tokens_in >= 0
