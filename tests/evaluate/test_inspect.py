"""The task of Inspect AI: the same question, the same scoring."""

from __future__ import annotations

import warnings

import pytest

from interpact.corpus.pairs import Split
from interpact.corpus.store import SAMPLE, Corpus
from interpact.verifier.prompts import direct

inspect_ai = pytest.importorskip(
    "inspect_ai", reason="needs the extra `inspect`: pip install 'interpact[inspect]'"
)


def test_answers_are_scored_as_everywhere(tmp_path, monkeypatch):
    from inspect_ai.model import ModelOutput, get_model
    from inspect_ai.model._providers.mockllm import MockLLM

    from interpact.evaluate.inspect_task import direct_criticality

    async def count(self, text: str) -> int:
        return len(text.split())  # its own way of counting fetches a tokenizer

    monkeypatch.setattr(MockLLM, "count_text_tokens", count)
    corpus = Corpus.read(SAMPLE)
    names = [n for n in corpus.criticality if corpus.roots[n].split is Split.TEST]
    task = direct_criticality(str(SAMPLE))
    assert [sample.input for sample in task.dataset] == [
        direct(corpus.roots[name].root) for name in names
    ]
    # The first is right, the second says the opposite, the third is too long, the others say Yes.
    truth = ["Yes" if corpus.criticality[name].critical else "No" for name in names]
    said = [truth[0], "No" if truth[1] == "Yes" else "Yes", "Yes, surely.", *["Yes"] * len(names)]
    outputs = [ModelOutput.from_content("mockllm", text) for text in said]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (log,) = inspect_ai.eval(
            task,
            model=get_model("mockllm/model", custom_outputs=outputs),
            log_dir=str(tmp_path),
            display="none",
            max_samples=1,
        )
    assert log.status == "success" and log.results is not None, log.error
    found = {name: m.value for s in log.results.scores for name, m in s.metrics.items()}
    n = len(names)
    right = 1 + sum(word == "Yes" for word in truth[3:])
    assert found["accuracy"] == pytest.approx(right / n)
    assert found["invalid"] == pytest.approx(1 / n)
    recalls = []
    for word in ("Yes", "No"):
        hits = sum(s == t == word for s, t in zip(said, truth, strict=False))
        recalls.append(hits / truth.count(word))
    assert found["ba"] == pytest.approx(sum(recalls) / 2)
