"""The direct question: the answers are those of plain greedy generation, however they are found."""

from __future__ import annotations

import pytest
import torch

from interpact.case.case import Root
from interpact.case.files import case_from
from interpact.systems import direct as module
from interpact.systems.answer import Answer
from interpact.systems.direct import TOKENS, answers, generated
from interpact.systems.predictions import Verdict
from interpact.verifier import prompts
from interpact.verifier.backbone import backbone_of
from tests.verifier import tiny


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Yes", "yes"),
        (" No\n", "no"),
        ("Yes.", "invalid"),
        ("no", "invalid"),
        ("", "invalid"),
        ("Yes, it would", "invalid"),
        ("Cannot say", "invalid"),
    ],
)
def test_only_exactly_yes_or_no_count(text, verdict):
    assert Answer(text).verdict is Verdict(verdict)


def root_of(word: str) -> Root:
    case = {"id": word, "rule": f"{word} rule.", "query": f"{word}?", "aggregation": "all"}
    case["conditions"] = {"c1": f"{word} holds."}
    case["evidence"] = [{"id": "e1", "conditions": ["c1"], "text": f"{word} is so."}]
    return Root(case_from(case), "e1", "c1")


def test_answers_are_those_of_greedy_generation(monkeypatch):
    roots = [root_of(word) for word in ("visa", "grant", "refund", "pension")]
    model = tiny.llama()
    backbone = backbone_of("tiny", model, tiny.tokenizer(), torch.device("cpu"))
    encoder, end = backbone.encoder, tiny.tokenizer().eos_token_id
    taught = ["Yes", "No", "Yes indeed", "Who knows"]
    asked = [encoder.prompt(prompts.direct(root)) for root in roots]
    rows = [(*a, *encoder.text(word), end) for a, word in zip(asked, taught, strict=True)]
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for _ in range(60):
        loss = torch.zeros(())
        for a, row in zip(asked, rows, strict=True):
            tokens = torch.tensor([row])
            logits = model(tokens).logits[0, len(a) - 1 : -1]
            loss = loss + torch.nn.functional.cross_entropy(logits, tokens[0, len(a) :])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if float(loss.detach()) < 0.05:
            break
    plain = [encoder.tokenizer.decode(generated(backbone, a, TOKENS)) for a in asked]
    assert plain == taught, "the model has not learned its answers; the test needs more steps"
    calls = []
    real = module.generated
    monkeypatch.setattr(module, "generated", lambda *a: calls.append(1) or real(*a))
    found = answers(backbone, roots, 4096)
    assert [answer.text for answer in found] == taught
    assert len(calls) == 2  # Yes and No need no generation
    yes, no = (encoder.text(word)[0] for word in ("Yes", "No"))
    for answer, a in zip(found, asked, strict=True):
        with torch.no_grad():
            last = model(torch.tensor([a])).logits[0, -1, [yes, no]].softmax(0)
        assert answer.p_yes == pytest.approx(float(last[0]), abs=1e-4)
