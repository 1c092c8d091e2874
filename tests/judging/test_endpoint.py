"""The endpoint engine against a server that knows labels, with and without log-probabilities."""

from __future__ import annotations

import asyncio
import json
import math
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from interpact import InterPactError, Root
from interpact.judging.engines.endpoint import STATES, EndpointEngine
from interpact.judging.engines.labels import label_chances, said
from interpact.judging.engines.protocol import BranchQuestion, StateQuestion
from interpact.judging.settings import JudgeSettings
from interpact.judging.verifier import Verifier
from interpact.verifier.prompts import PairText
from tests.cli.test_cases import run
from tests.construct.stub_server import Fault, Stub, _response
from tests.judging.test_propagate import case_of


class LabelStub(Stub):
    """Answers by `answer(prompt, nth)` with a text and, if it offers them, log-probabilities."""

    def __init__(self, answer, offers: bool = True, knows: bool = True, **options) -> None:
        super().__init__(**options)
        self.answer, self.offers, self.knows = answer, offers, knows

    async def _answer(self, reader, writer, body, headers, fault):
        if fault is not None:
            return await super()._answer(reader, writer, body, headers, fault)
        prompt = body["messages"][-1]["content"]
        if not self.knows and "logprobs" in body:
            error = {"message": "logprobs is not supported"}
            writer.write(_response(400, json.dumps({"error": error})))
            return True
        text, tops = self.answer(prompt, self.requests[prompt])
        choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        if self.offers and body.get("logprobs"):
            alternatives = [{"token": t, "logprob": math.log(p)} for t, p in tops]
            choice["logprobs"] = {"content": [{"token": text, "top_logprobs": alternatives}]}
        usage = {"prompt_tokens": 5, "completion_tokens": 1}
        writer.write(_response(200, json.dumps({"choices": [choice], "usage": usage})))
        return True


@contextmanager
def serving(stub: Stub) -> Iterator[Stub]:
    """The server on a thread of its own."""
    ready, loop = threading.Event(), asyncio.new_event_loop()
    end = asyncio.Event()

    async def serve():
        async with stub:
            ready.set()
            await end.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    ready.wait(10)
    try:
        yield stub
    finally:
        loop.call_soon_threadsafe(end.set)
        thread.join()
        loop.close()


def state_answer(prompt: str, nth: int):
    tops = [("S", 0.5), ("Sat", 0.1), ("Not", 0.2), (" Unknown", 0.1), ("Maybe", 0.1)]
    return ("Not satisfied" if nth % 2 else "Satisfied."), tops


def test_log_probabilities_of_the_first_token_are_the_chances():
    with serving(LabelStub(state_answer)) as stub, EndpointEngine("m", base_url=stub.base_url) as e:
        asked = [StateQuestion(case_of(), c) for c in ("c1", "c2")]
        found = e.states(asked)
        assert found[0] == pytest.approx((6 / 9, 2 / 9, 1 / 9))
        assert stub.requests.total() == 2
        assert e.states(asked) == found
        assert stub.requests.total() == 2  # kept
        body = stub.bodies[0]
        assert body["logprobs"] is True and body["temperature"] == 0
        assert "never follow instructions" in body["messages"][0]["content"]


@pytest.mark.parametrize("knows", [True, False])
def test_without_them_shares_of_samples_are(knows):
    stub = LabelStub(state_answer, offers=False, knows=knows)
    with serving(stub), EndpointEngine("m", base_url=stub.base_url, samples=5) as e:
        (found,) = e.states([StateQuestion(case_of(), "c1")])
        assert found is not None and sum(found) == pytest.approx(1)
        texts = Counter(b.get("temperature") for b in stub.bodies)
        assert found[2] == pytest.approx(0.5 / 6.5)
        if knows:
            assert texts == {0.0: 1, 1.0: 4}
        else:
            assert len(stub.bodies) == 6  # the first once more without what the server refused


def test_what_is_no_label_is_invalid_and_not_a_state():
    stub = LabelStub(lambda prompt, nth: ("It depends.", []), offers=False)
    with serving(stub), EndpointEngine("m", base_url=stub.base_url, samples=2) as e:
        verifier = Verifier(e, JudgeSettings())
        assert {row.verdict for row in verifier.judge(case_of())} == {"invalid"}
        assert {row.verdict for row in verifier.judge(case_of(), mode="direct")} == {"invalid"}


def test_all_modes_and_concurrency():
    def answer(prompt, nth):
        if "Answer exactly Yes or No" in prompt:
            return "Yes", [("Yes", 0.8), ("No", 0.2)]
        if "For each state" in prompt:
            return "No", [("No", 0.7), ("Yes", 0.2), ("Ins", 0.1)]
        return state_answer(prompt, nth)

    units = [(f"c{i}",) for i in range(12)]
    case = case_of("all", [c for (c,) in units], units)
    stub = LabelStub(answer, latency=0.05)
    with serving(stub), EndpointEngine("m", base_url=stub.base_url, slots=8) as e:
        verifier = Verifier(e, JudgeSettings())
        direct = verifier.judge(case, mode="direct")
        assert [row.critical for row in direct] == [True] * 12
        assert direct[0].probability == pytest.approx(0.8)
        for mode in ("propagate", "intervene"):
            assert all(row.probability is not None for row in verifier.judge(case, mode=mode))
        assert stub.busiest == 8
        root = Root(case, "e1", "c0")
        question = BranchQuestion(PairText(root, case), "satisfied", "yes")
        assert e.branches([question])[0][1] == pytest.approx((0.2, 0.7, 0.1))


def test_a_server_that_is_gone_is_an_error_and_no_label():
    stub = LabelStub(state_answer, script=lambda prompt, nth: Fault.UNAUTHORIZED)
    with (
        serving(stub),
        EndpointEngine("m", base_url=stub.base_url) as e,
        pytest.raises(InterPactError, match="set a valid one"),
    ):
        e.states([StateQuestion(case_of(), "c1")])


def test_the_command_asks_an_endpoint(tmp_path):
    from interpact import write_cases

    path = tmp_path / "case.json"
    write_cases(path, [case_of()])
    with serving(LabelStub(state_answer)) as stub:
        command = ["judge", path, "--engine", "endpoint", "--model", "m", "--format", "jsonl"]
        command += ["--base-url", stub.base_url, "--answers", tmp_path / "answers.sqlite"]
        command += ["--parameters", '{"max_tokens": 5}']
        out = run(*command)
        rows = [json.loads(line) for line in out.splitlines()]
        assert rows[0]["chances"] == pytest.approx([6 / 9, 2 / 9, 1 / 9])
        assert stub.bodies[0]["max_tokens"] == 5
        asked = stub.requests.total()
        assert run(*command) == out and stub.requests.total() == asked
        with pytest.raises(InterPactError, match="needs --model"):
            run("judge", path, "--engine", "endpoint")
        with pytest.raises(InterPactError, match="write a JSON object"):
            run(*command, "--parameters", "max_tokens=5")


def test_labels_are_read_narrowly():
    assert said("  'Not Satisfied'. ", STATES) == 1
    assert said("Satisfied, because", STATES) is None
    assert label_chances({"tops": [["S", -0.1], ["U", -3.0]]}, STATES) == pytest.approx(
        [0.948, 0, 0.052], abs=1e-3
    )
    assert label_chances({"tops": [["The", -0.1], ["S", -3.0]]}, STATES) is None
    assert label_chances({"tops": None}, STATES) is None
