"""Direct criticality as a task of Inspect AI, so that any model it reaches can be measured.

    inspect eval interpact/direct_criticality --model openai/... -T corpus=DIR

The question and the scoring are those of `interpact evaluate`: exactly Yes or No, anything else is
invalid, an error, and a missed instance of its class.
"""

# The extra `inspect` is not among what checks and tests install.
# pyright: reportMissingImports=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    metric,
    scorer,
)
from inspect_ai.solver import TaskState, generate

from interpact.corpus.pairs import Split
from interpact.corpus.split import NO_SOURCE
from interpact.corpus.store import Corpus
from interpact.errors import InterPactError
from interpact.evaluate.direct import direct_metrics
from interpact.systems.answer import Answer
from interpact.systems.columns import RootColumns
from interpact.systems.predictions import Verdict
from interpact.verifier.prompts import direct

VERDICTS = list(Verdict)


@task
def direct_criticality(corpus: str, split: str = "test") -> Task:
    """Whether the target evidence could change the decision: one question a labelled root."""
    found = Corpus.read(corpus)
    samples = [
        Sample(
            id=name,
            input=direct(found.roots[name].root),
            target="Yes" if label.critical else "No",
            metadata={"source": found.roots[name].root.case.source or NO_SOURCE},
        )
        for name, label in found.criticality.items()
        if found.roots[name].split is Split(split)
    ]
    if not samples:
        raise InterPactError(
            f"{corpus}: no labelled roots in {split}; run `interpact label {corpus}`"
        )
    return Task(dataset=MemoryDataset(samples), solver=generate(), scorer=exact_verdict())


@metric
def criticality() -> Metric:
    """Accuracy, balanced accuracy, macro-F1 and the invalid rate, as everywhere in InterPact."""

    def measure(scores: list[SampleScore]) -> Mapping[str, float]:
        found = direct_metrics(columns([one.score for one in scores]))
        return {n.removeprefix("direct/"): v for n, v in found.items() if v is not None}

    return measure  # type: ignore[return-value]


@scorer(metrics=[criticality()])
def exact_verdict() -> Scorer:
    """Exactly Yes or No."""

    async def score(state: TaskState, target: Target) -> Score:
        text = state.output.completion
        verdict = Answer(text).verdict
        right = verdict == target.text.lower()
        return Score(
            value=CORRECT if right else INCORRECT,
            answer=text,
            metadata={
                "root": str(state.sample_id),
                "source": state.metadata["source"],
                "critical": target.text == "Yes",
                "verdict": str(verdict),
            },
        )

    return score


def columns(scores: Sequence[Score]) -> RootColumns:
    """Scored samples as the columns that metrics are made from."""
    rows: list[dict[str, Any]] = [score.metadata or {} for score in scores]
    sources = sorted({row["source"] for row in rows})
    return RootColumns(
        [row["root"] for row in rows],
        sources,
        np.array([sources.index(row["source"]) for row in rows], np.int32),
        np.array([int(row["critical"]) for row in rows], np.int32),
        np.array([VERDICTS.index(Verdict(row["verdict"])) for row in rows], np.int32),
        None,
    )
