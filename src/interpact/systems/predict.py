"""Predictions of a finished system on a split of a corpus, written beside its run."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from pathlib import Path

from interpact.case.states import State
from interpact.corpus.pairs import LabelledRoot, Pair, Split
from interpact.corpus.store import Corpus
from interpact.errors import InterPactError
from interpact.systems.answer import Answer
from interpact.systems.execution import all_states
from interpact.systems.learn import CHOSEN, OneModel
from interpact.systems.predictions import (
    META,
    Meta,
    PairPrediction,
    RootPrediction,
    System,
    fingerprint,
    folder_of,
    write_predictions,
)
from interpact.systems.system import load
from interpact.verifier.objectives import Predictions
from interpact.verifier.run import CONFIG, SELECTED

KEY = "made-from.txt"
"""Holds what predictions follow from; they stand while it is the same."""


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
    if not again and (folder / META).exists() and key == _kept_key(folder):
        say(f"{folder}: predicted before")
        return folder
    config, system = load(run)
    say(f"{config.title}: {len(pairs):,} pairs and {len(roots):,} roots of the {split} split")
    predicted = system.pairs(pairs)
    answers = system.roots([root.root for root in roots.values()])
    meta = Meta(
        system=config.key,
        name=config.title,
        run=run.name,
        seed=config.seed,
        backbone=config.model,
        split=split,
        threshold=system.threshold,
        corpus=fingerprint(corpus, split),
        settings=config.stated,
    )
    write_predictions(
        folder,
        meta,
        _pair_rows(predicted),
        _root_rows(corpus, roots, answers),
    )
    (folder / KEY).write_text(key + "\n", encoding="utf-8")
    return folder


def predict_by_rule(run: Path, to: Path, corpus: Corpus, split: Split = Split.TEST) -> Path:
    """The predicted rule: a root is critical where its mapping is not constant, in predicted states.

    The states of the original case are those that the estimator of an execution run finds likeliest.
    """
    config, system = load(run)
    if config.key is not System.EXECUTION or not isinstance(system, OneModel):
        raise InterPactError(
            f"{run}: is of {config.title}; the rule needs an execution run's states"
        )
    roots = {name: root for name, root in corpus.roots.items() if root.split is split}
    folder = folder_of(to, split)
    key = _key(run, corpus, roots, [])
    if (folder / META).exists() and key == _kept_key(folder):
        return folder
    cases = {root.root.case.id: root.root.case for root in roots.values()}
    states: dict[str, dict[str, State]] = {}
    asked = list(cases.items())
    for name, found in zip(cases, all_states(system.backbone, asked, system.limit), strict=True):
        states[name] = {c: list(State)[int(logs.argmax())] for c, logs in found.items()}
    answers: list[Answer] = []
    for root in roots.values():
        case = root.root.case
        critical = case.rule_of_decision.is_pivotal(states[case.id], root.root.condition)
        answers.append(Answer("Yes" if critical else "No"))
    meta = Meta(
        system=System.PREDICTED_RULE,
        name=System.PREDICTED_RULE.named(),
        run=to.name,
        seed=config.seed,
        backbone=config.model,
        split=split,
        corpus=fingerprint(corpus, split),
    )
    write_predictions(folder, meta, None, _root_rows(corpus, roots, answers))
    (folder / KEY).write_text(key + "\n", encoding="utf-8")
    return folder


def _kept_key(folder: Path) -> str:
    path = folder / KEY
    return path.read_text(encoding="utf-8").strip() if path.exists() else ""


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
