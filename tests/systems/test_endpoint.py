"""A prompted model behind an endpoint: both tasks, with and without logprobs, resumed, unusable answers."""

from __future__ import annotations

import asyncio
import json
import math
import threading

import pytest

from interpact.corpus.pairs import Split
from interpact.corpus.store import SAMPLE, Corpus
from interpact.systems.config import SystemConfig
from interpact.systems.endpoint import Served, spread
from interpact.systems.predict import predict
from interpact.systems.predictions import System, Verdict, read_predictions
from interpact.systems.system import Job, train
from interpact.verifier.prompts import direct
from tests.construct.stub_server import Stub, _response


class Chat(Stub):
    """Says what a script says to a prompt, with logprobs of its first token where asked and known."""

    def __init__(self, say, logprobs=True, **rest):
        super().__init__(**rest)
        self.say, self.logprobs = say, logprobs

    async def _answer(self, reader, writer, body, headers, fault):
        if "logprobs" in body and not self.logprobs:
            writer.write(_response(400, json.dumps({"error": {"message": "logprobs: unknown"}})))
            await writer.drain()
            return True
        text, first = self.say(body["messages"][-1]["content"])
        top = [{"token": t, "logprob": math.log(p)} for t, p in first.items()]
        choice = {"index": 0, "message": {"role": "assistant", "content": text}}
        choice |= {"finish_reason": "stop"}
        if body.get("logprobs"):
            choice["logprobs"] = {"content": [{"token": text[:1], "top_logprobs": top}]}
        completion = {"id": "x", "object": "chat.completion", "model": body["model"]}
        completion |= {"choices": [choice]}
        writer.write(_response(200, json.dumps(completion)))
        await writer.drain()
        return True


@pytest.fixture
def serve():
    """A server in a thread of its own, as `Served` has a loop of its own."""
    loops = []

    def start(stub: Chat) -> Chat:
        loop = asyncio.new_event_loop()
        ready = threading.Event()

        async def run():
            async with stub:
                ready.set()
                while not ready.stopped:  # type: ignore[attr-defined]
                    await asyncio.sleep(0.01)

        ready.stopped = False  # type: ignore[attr-defined]
        thread = threading.Thread(target=loop.run_until_complete, args=(run(),))
        thread.start()
        assert ready.wait(10)
        loops.append((ready, thread, loop))
        return stub

    yield start
    for ready, thread, loop in loops:
        ready.stopped = True
        thread.join(10)
        loop.close()


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    whole = Corpus.read(SAMPLE)
    roots = {}
    for split in (Split.TRAIN, Split.DEV, Split.TEST):
        roots |= dict([(n, r) for n, r in whole.roots.items() if r.split is split][:4])
    pairs = [p for p in whole.pairs if p.record.root in roots]
    return Corpus(whole.cases, roots, pairs, whole.criticality)


def config(stub: Chat) -> SystemConfig:
    return SystemConfig.model_validate(
        {"system": "prompted", "endpoint": {"model": "stub", "base_url": stub.base_url, "slots": 4}}
    )


def sure(prompt: str):
    if "Answer exactly Yes or No" in prompt:
        return "Yes", {"Yes": 0.7, "No": 0.2, "Maybe": 0.1}
    return "2", {"2": 0.5, "1": 0.25, "9": 0.125, "The": 0.125}


def test_both_tasks_with_logprobs_and_nothing_is_asked_twice(corpus, serve, tmp_path):
    stub = serve(Chat(sure, latency=0.02))
    settings = config(stub)
    train(Job(settings, corpus, tmp_path / "run"))
    found = read_predictions(predict(tmp_path / "run", corpus, Split.TEST))
    assert found.meta.system is System.PROMPTED and found.meta.name == "Prompted stub"
    pairs = [p for p in corpus.pairs if p.of.split is Split.TEST]
    assert found.pairs is not None and found.roots is not None and len(found.pairs) == len(pairs)
    # 1: satisfied, yes. 2: satisfied, no. 9: unknown, insufficient.
    assert found.pairs.q is not None and found.pairs.p is not None
    assert found.pairs.q[0].tolist() == pytest.approx([6 / 7, 0, 1 / 7], abs=1e-4)
    assert found.pairs.p[0].tolist() == pytest.approx([2 / 7, 4 / 7, 1 / 7], abs=1e-4)
    assert found.roots.p_yes == pytest.approx([7 / 9] * 4, abs=1e-4)
    assert set(found.roots.verdict.tolist()) == {list(Verdict).index(Verdict.YES)}
    asked = stub.requests.total()
    assert max(stub.requests.values()) == 1 and stub.busiest > 1
    predict(tmp_path / "run", corpus, Split.TEST, again=True)
    assert stub.requests.total() == asked
    wanted = {direct(corpus.roots[name].root) for name in found.roots.roots}
    assert wanted <= set(stub.requests)  # the same words that trained models are asked


def test_without_logprobs_the_answer_counts_and_an_unusable_one_is_none(corpus, serve, tmp_path):
    def say(prompt: str):
        if "Answer exactly Yes or No" in prompt:
            return "It depends.", {}
        return (
            "I would rather not say" if "[e1]" in prompt.split("Target evidence:")[1][:20] else "5."
        ), {}

    stub = serve(Chat(say, logprobs=False))
    system = Served(tmp_path, config(stub).served, None)  # type: ignore[arg-type]
    pairs = [p for p in corpus.pairs if p.of.split is Split.TEST]
    found = system.pairs(pairs)
    assert found.log_q is not None
    for pair, q, p in zip(pairs, found.log_q.exp(), found.log_p.exp(), strict=True):
        if pair.of.root.evidence == "e1":
            assert q.isnan().all() and p.isnan().all()
        else:
            assert (q.tolist(), p.tolist()) == ([0, 1, 0], [0, 1, 0])
    (answer, *_) = system.roots([r.root for r in corpus.roots.values()])
    assert (answer.verdict, answer.p_yes) == (Verdict.INVALID, None)


def test_labels_are_looked_for_where_the_answer_begins():
    assert spread([{" ": -0.1}, {"Yes": math.log(0.9), " No": math.log(0.1)}], ("Yes", "No")) == (
        pytest.approx([0.9, 0.1])
    )
    assert spread([{"Well": -0.1}, {"Yes": -0.1}], ("Yes", "No")) is None
    assert spread([], ("Yes", "No")) is None
