"""Predictions of a finished system on a split of a corpus, written beside its run."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from pathlib import Path

from interpact.corpus.pairs import LabelledRoot, Pair, Split
from interpact.corpus.store import Corpus
from interpact.errors import InterPactError
from interpact.systems.direct import Answer
from interpact.systems.learn import CHOSEN
from interpact.systems.predictions import (
    META,
    Meta,
    PairPrediction,
    RootPrediction,
    fingerprint,
    folder_of,
    read_meta,
    write_predictions,
)
from interpact.systems.system import load
from interpact.verifier.objectives import Predictions
from interpact.verifier.run import CONFIG, SELECTED

NEVER = 2.0
"""The threshold that no score reaches: the best one where none separates."""


def predict(
    run: Path,
    corpus: Corpus,
    split: Split = Split.TEST,
    *,
    again: bool = False,
    say: Callable[[str], None] = lambda text: None,
) -> Path:
    """Predict all pairs and roots of a split; what has been predicted of them stands."""
    pairs = sorted(
        (pair for pair in corpus.pairs if pair.of.split is split), key=lambda p: p.record.root
    )
    roots = {name: root for name, root in corpus.roots.items() if root.split is split}
    if not roots:
        raise InterPactError(
            f"the corpus has no {split} roots; give its roots splits with `interpact split DIR`"
        )
    folder = folder_of(run, split)
    key = _key(run, corpus, roots, pairs)
    if not again and (folder / META).exists() and read_meta(folder).settings.get("key") == key:
        say(f"{folder}: predicted before")
        return folder
    config, system = load(run)
    say(f"{config.title}: {len(pairs):,} pairs and {len(roots):,} roots of the {split} split")
    predicted = system.pairs(pairs)
    answers = system.roots([root.root for root in roots.values()])
    threshold = system.threshold
    meta = Meta(
        system=config.key,
        name=config.title,
        run=run.name,
        seed=config.seed,
        backbone=config.model,
        split=split,
        threshold=None if threshold is None else min(threshold, NEVER),
        corpus=fingerprint(corpus, split),
        settings={"key": key, **config.model_dump(mode="json")},
    )
    write_predictions(
        folder,
        meta,
        _pair_rows(predicted),
        _root_rows(corpus, roots, answers),
    )
    return folder


def _pair_rows(found: Predictions) -> list[PairPrediction]:
    rows: list[PairPrediction] = []
    logs = found.log_s.tolist()
    for i, pair in enumerate(found.pairs):
        if math.isnan(logs[i]):  # an answer that could not be used
            rows.append(PairPrediction.of(pair))
            continue
        rows.append(
            PairPrediction.of(
                pair,
                q=None if found.log_q is None else found.log_q[i].exp().tolist(),
                p=found.log_p[i].exp().tolist(),
                s=math.exp(logs[i]),
                branches=None
                if found.log_branches is None
                else found.log_branches[i].exp().tolist(),
            )
        )
    return rows


def _root_rows(
    corpus: Corpus, roots: dict[str, LabelledRoot], answers: list[Answer]
) -> list[RootPrediction]:
    return [
        RootPrediction.of(
            name,
            root,
            corpus.criticality[name].critical if name in corpus.criticality else None,
            answer.text,
            answer.verdict,
            answer.p_yes,
        )
        for (name, root), answer in zip(roots.items(), answers, strict=True)
    ]


def _key(run: Path, corpus: Corpus, roots: dict[str, LabelledRoot], pairs: list[Pair]) -> str:
    """What the predictions follow from: the run's choice, and the texts and labels of the split."""
    digest = hashlib.sha256()
    for name in (CONFIG, CHOSEN, SELECTED):
        digest.update((run / name).read_bytes() if (run / name).exists() else b"-")
    for name, root in roots.items():
        label = corpus.criticality.get(name)
        texts = (name, root.root.case.model_dump_json(), root.root.condition, root.labels)
        digest.update(repr((*texts, label and label.critical)).encode())
    for pair in pairs:
        digest.update(pair.record.model_dump_json().encode())
    return digest.hexdigest()
