"""Made-up predictions about the sample corpus: right more often, the better the system."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from interpact.case.states import Decision, State
from interpact.corpus.pairs import Split
from interpact.corpus.store import SAMPLE, Corpus
from interpact.systems.predictions import (
    Meta,
    PairPrediction,
    RootPrediction,
    System,
    Verdict,
    fingerprint,
    folder_of,
    write_predictions,
)

CORPUS = Corpus.read(SAMPLE)
STATES, DECISIONS = list(State), list(Decision)
SKILLS = {
    System.PROMPTED: 0.5,
    System.AFTER_STATE: 1.5,
    System.GENRM: 2.0,
    System.WITHOUT_HARD_WARRANT: 2.0,
    System.INTERPACT: 3.0,
}


def meta(system: System, seed: int, **values: Any) -> Meta:
    given = {
        "system": system,
        "name": system.named("Tiny"),
        "run": f"{system}-{seed}",
        "seed": seed,
        "backbone": "tiny",
        "split": "test",
        "threshold": 0.5,
        "corpus": fingerprint(CORPUS, Split.TEST),
        "settings": {"lora": {"rank": 4}, "seed": seed},
    }
    return Meta.model_validate(given | values)


def write_run(run: Path, system: System, seed: int, **values: Any) -> Path:
    """A run folder with predictions of the test split."""
    draw = np.random.default_rng([seed, list(System).index(system)])
    skill = SKILLS.get(system, 1.0)
    states = system is not System.GENRM
    branches = system in (System.INTERPACT, System.WITHOUT_HARD_WARRANT)

    def chances(right: int) -> list[float]:
        logits = draw.normal(size=3)
        logits[right] += skill
        found = np.exp(logits)
        return (found / found.sum()).tolist()

    pairs: list[PairPrediction] = []
    for pair in CORPUS.pairs:
        if pair.of.split is Split.TEST:
            p = chances(DECISIONS.index(pair.decision_after))
            q = chances(STATES.index(pair.state_after))
            rows = [chances(DECISIONS.index(pair.of.mapping[state])) for state in State]
            pairs.append(
                PairPrediction.of(
                    pair,
                    q=q if states else None,
                    p=p,
                    s=1 - p[DECISIONS.index(pair.of.decision)],
                    branches=rows if branches else None,
                )
            )
    roots: list[RootPrediction] = []
    for name, root in CORPUS.roots.items():
        if root.split is Split.TEST:
            label = CORPUS.criticality.get(name)
            critical = None if label is None else label.critical
            p_yes = float(1 / (1 + np.exp(-draw.normal() - (skill if critical else -skill))))
            said = "Yes" if p_yes > 0.5 else "No"
            roots.append(
                RootPrediction.of(name, root, critical, said, Verdict(said.lower()), p_yes)
            )
    write_predictions(folder_of(run, Split.TEST), meta(system, seed, **values), pairs, roots)
    return run


def write_runs(folder: Path) -> list[Path]:
    """Two runs of each of five systems, one of the prompted."""
    return [
        write_run(folder / f"{system}-{seed}", system, seed)
        for system in SKILLS
        for seed in ((1,) if system is System.PROMPTED else (1, 2))
    ]


def change_rows(run: Path, file: str, change: Callable[[list[dict[str, Any]]], Any]) -> None:
    """Change the rows of a file of predictions."""
    path = folder_of(run, Split.TEST) / file
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows = change(rows) or rows
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
