"""Fitting judge.json: state scaling and calibration on development roots, reachability on training pairs.

Scores that conformal judging rests on are cross-fitted: none was made with a scaling that has seen its
own component.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from interpact.case.case import Case, LabelledCase
from interpact.case.states import State
from interpact.corpus.pairs import LabelledRoot, Operation, Pair, Split, intervened
from interpact.corpus.store import Corpus
from interpact.errors import InterPactError
from interpact.judging.engines.protocol import Chances, DirectAnswer, Engine, StateQuestion
from interpact.judging.intervene import intervene
from interpact.judging.judgment import DIRECT, INTERVENE, PROPAGATE
from interpact.judging.measures import measures
from interpact.judging.propagate import Reading, read, score
from interpact.judging.settings import (
    Conformal,
    ModeSettings,
    Platt,
    Reach,
    StateScaling,
    features,
    logit,
)

FOLDS = 5
LEAST = 10  # labelled development roots of each kind
STATES = list(State)

Say = Callable[[str], None]


@dataclass(frozen=True)
class LabelledScores:
    """Scores of one mode on labelled roots; None where there is no usable answer."""

    roots: Sequence[LabelledRoot]
    critical: Sequence[bool]
    scores: Sequence[float | None]
    said: Sequence[bool | None] | None = None  # the answers of mode direct, which count as they are


@dataclass
class Fitted:
    """All that calibration gives."""

    states: StateScaling
    reach: Reach
    modes: dict[str, ModeSettings] = field(default_factory=dict[str, ModeSettings])
    counts: dict[str, int] = field(default_factory=dict[str, int])

    @property
    def winner(self) -> str:
        """The mode of the highest balanced accuracy on development roots."""
        return max(self.modes, key=lambda mode: self.modes[mode].dev["balanced_accuracy"] or 0.0)


def fit(
    engine: Engine,
    corpus: Corpus,
    modes: Sequence[str] = (PROPAGATE, INTERVENE, DIRECT),
    say: Say = lambda text: None,
) -> Fitted:
    """Fit everything that judging needs besides the weights; the test split is never looked at."""
    roots, critical = labelled(corpus, Split.DEV)
    if min(sum(critical), len(critical) - sum(critical)) < LEAST:
        raise InterPactError(
            f"calibration needs {LEAST} critical and {LEAST} other development roots, but the "
            f"corpus labels {sum(critical)} and {len(critical) - sum(critical)}; label more "
            "(`interpact label`) or split the corpus otherwise"
        )
    reach = fit_reach(engine, [p for p in corpus.pairs if p.of.split is Split.TRAIN])
    cases = dev_cases(corpus)
    targets = {(r.root.case.id, r.root.evidence) for r in roots}
    say(f"reading {len(cases)} development cases")
    readings = {r.case.id: r for r in read(list(cases.values()), engine, only=targets)}
    found = Fitted(fit_states(list(readings.values()), cases), reach)
    found.counts = {
        "train_pairs": sum(p.of.split is Split.TRAIN for p in corpus.pairs),
        "dev_roots": len(roots),
        "dev_cases": len(cases),
    }
    crossed = crossfitted(readings, cases)
    for mode in modes:
        say(f"mode {mode} on {len(roots)} development roots")
        if mode == PROPAGATE:
            scored = propagate_scores(roots, critical, crossed, reach)
        elif mode == INTERVENE:
            scored = intervene_scores(roots, critical, crossed, engine)
        else:
            scored = direct_scores(roots, critical, engine)
        found.modes[mode] = fit_mode(scored)
    return found


def labelled(corpus: Corpus, split: Split) -> tuple[list[LabelledRoot], list[bool]]:
    """The roots of a split whose criticality is labelled, and the labels."""
    found = [
        (root, corpus.criticality[name].critical)
        for name, root in corpus.roots.items()
        if root.split is split and name in corpus.criticality
    ]
    return [root for root, _ in found], [critical for _, critical in found]


def dev_cases(corpus: Corpus) -> dict[str, LabelledCase]:
    """The labelled cases of development roots."""
    found: dict[str, LabelledCase] = {}
    for root in corpus.roots.values():
        case = corpus.cases[root.root.case.id]
        if root.split is Split.DEV and isinstance(case, LabelledCase):
            found[case.id] = case
    return found


def component(case: Case) -> str:
    """What a case shares with the cases that are its like."""
    return case.rule_family or case.document or case.id


def _fold(names: Sequence[str]) -> dict[str, int]:
    """Components dealt out to folds."""
    return {name: i % FOLDS for i, name in enumerate(sorted(set(names)))}


def crossfitted(readings: dict[str, Reading], cases: dict[str, LabelledCase]) -> dict[str, Reading]:
    """Readings scaled by what other components teach."""
    fold = _fold([component(case) for case in cases.values()])
    found: dict[str, Reading] = {}
    for number in range(FOLDS):
        inside = [c for c, case in cases.items() if fold[component(case)] == number]
        outside = [readings[c] for c in cases if c not in inside]
        scaling = fit_states(outside, cases)
        found |= {c: readings[c].scaled(scaling) for c in inside}
    return found


def propagate_scores(
    roots: Sequence[LabelledRoot],
    critical: Sequence[bool],
    readings: dict[str, Reading],
    reach: Reach,
) -> LabelledScores:
    """Scores of mode propagate."""
    scores: dict[str, dict[tuple[str, str], float]] = {
        name: score(r, reach).units for name, r in readings.items() if not r.missing
    }
    return LabelledScores(
        roots,
        critical,
        [
            scores[r.root.case.id][r.root.evidence, r.root.condition]
            if r.root.case.id in scores
            else None
            for r in roots
        ],
    )


def intervene_scores(
    roots: Sequence[LabelledRoot],
    critical: Sequence[bool],
    readings: dict[str, Reading],
    engine: Engine,
) -> LabelledScores:
    """Scores of mode intervene."""
    targets = {(r.root.case.id, r.root.evidence) for r in roots}
    names = list(readings)
    tries = intervene([readings[name] for name in names], engine, only=targets)
    by_case = dict(zip(names, tries, strict=True))
    best: list[float | None] = []
    for r in roots:
        tried = by_case[r.root.case.id].get((r.root.evidence, r.root.condition), [])
        changes = [t.change for t in tried if t.change is not None]
        best.append(max(changes, default=None))
    return LabelledScores(roots, critical, best)


def direct_scores(
    roots: Sequence[LabelledRoot], critical: Sequence[bool], engine: Engine
) -> LabelledScores:
    """P(Yes) of mode direct, and its answers."""
    answers: Sequence[DirectAnswer | None] = engine.direct([r.root for r in roots])
    return LabelledScores(
        roots,
        critical,
        [None if a is None or a.verdict is None else a.yes for a in answers],
        [None if a is None else a.verdict for a in answers],
    )


def fit_mode(scored: LabelledScores) -> ModeSettings:
    """Calibration and conformal scores of one mode, measured on components left out."""
    known = [i for i, s in enumerate(scored.scores) if s is not None]
    scores = [scored.scores[i] or 0.0 for i in known]
    critical = [scored.critical[i] for i in known]
    if len(set(critical)) < 2:
        return ModeSettings(dev=_dev(scored, [None] * len(scored.scores)))
    fold = _fold([component(r.root.case) for r in scored.roots])
    folds = [fold[component(scored.roots[i].root.case)] for i in known]
    crossed: list[float | None] = [None] * len(scored.scores)
    for number in range(FOLDS):
        train = [j for j, f in enumerate(folds) if f != number]
        platt = fit_platt([scores[j] for j in train], [critical[j] for j in train])
        for j, f in enumerate(folds):
            if f == number:
                crossed[known[j]] = platt(scores[j])
    return ModeSettings(
        platt=fit_platt(scores, critical),
        conformal=Conformal(
            critical=tuple(sorted(s for s, y in zip(scores, critical, strict=True) if y)),
            not_critical=tuple(sorted(s for s, y in zip(scores, critical, strict=True) if not y)),
        ),
        dev=_dev(scored, crossed),
    )


def _dev(scored: LabelledScores, chances: Sequence[float | None]) -> dict[str, float | None]:
    said = scored.said or [None if p is None else p >= 0.5 for p in chances]
    return measures(scored.critical, said, chances)


def fit_platt(scores: Sequence[float], critical: Sequence[bool]) -> Platt:
    """Platt scaling; the ridge toward the identity keeps it finite on separable data."""
    x = torch.tensor([logit(s) for s in scores], dtype=torch.float64)
    y = torch.tensor(critical, dtype=torch.float64)
    scale = torch.ones(1, dtype=torch.float64, requires_grad=True)
    shift = torch.zeros(1, dtype=torch.float64, requires_grad=True)

    def loss() -> Tensor:
        nll = torch.nn.functional.binary_cross_entropy_with_logits(
            scale * x + shift, y, reduction="sum"
        )
        return nll + ((scale - 1) ** 2).sum() / 2

    _minimise(loss, [scale, shift])
    return Platt(scale=max(0.01, scale.item()), shift=shift.item())


def fit_states(readings: Sequence[Reading], cases: dict[str, LabelledCase]) -> StateScaling:
    """Scaling of state probabilities on conditions whose states are annotated."""
    rows: list[Chances] = []
    targets: list[int] = []
    for reading in readings:
        labels = cases[reading.case.id].labels.states
        named = {condition for unit in reading.case.evidence for condition in unit.conditions}
        for condition, chances in reading.chances.items():
            if condition in named:
                rows.append(chances)
                targets.append(STATES.index(labels[condition]))
    if not rows:
        return StateScaling()
    logs = torch.tensor(rows, dtype=torch.float64).clamp_min(1e-9).log()
    y = torch.tensor(targets)
    scale = torch.ones(1, dtype=torch.float64, requires_grad=True)
    bias = torch.zeros(3, dtype=torch.float64, requires_grad=True)

    def loss() -> Tensor:
        nll = torch.nn.functional.cross_entropy(scale * logs + bias, y, reduction="sum")
        return nll + ((scale - 1) ** 2).sum() / 2 + (bias**2).sum() / 2

    _minimise(loss, [scale, bias])
    first, second, third = bias.tolist()
    return StateScaling(scale=max(0.01, scale.item()), bias=(first, second, third))


def fit_reach(engine: Engine, pairs: Sequence[Pair]) -> Reach:
    """Which states the edits of a root reached, from how its condition stands without the unit."""
    by_root: dict[str, list[Pair]] = {}
    for pair in pairs:
        if not pair.record.operation.control:
            by_root.setdefault(pair.record.root, []).append(pair)
    roots = [found[0].of for found in by_root.values()]
    others = [_others(root) for root in roots]
    asked = [
        StateQuestion(
            intervened(r.root.case, r.root.evidence, Operation.REMOVAL, None), r.root.condition
        )
        for r, n in zip(roots, others, strict=True)
        if n
    ]
    left = iter(engine.states(asked))
    rows: list[tuple[float, ...]] = []
    reached: list[bool] = []
    for root, n, found in zip(roots, others, by_root.values(), strict=True):
        without = next(left) if n else None
        held = 0.5 if without is None else without[STATES.index(root.state)]
        after = {pair.state_after for pair in found}
        for into in _targets(root.state):
            rows.append(features(root.state, into, n, held))
            reached.append(bool(after & into))
    if len(set(reached)) < 2:
        return Reach()
    x = torch.tensor(rows, dtype=torch.float64)
    y = torch.tensor(reached, dtype=torch.float64)
    weights = torch.zeros(x.shape[1], dtype=torch.float64, requires_grad=True)

    def loss() -> Tensor:
        nll = torch.nn.functional.binary_cross_entropy_with_logits(x @ weights, y, reduction="sum")
        return nll + (weights[1:] ** 2).sum() / 8

    _minimise(loss, [weights])
    return Reach(weights=tuple(weights.tolist()))


def _targets(state: State) -> list[frozenset[State]]:
    """The sets of states in which a monotone rule's decision can differ from that in a state."""
    settled = [s for s in (State.SATISFIED, State.NOT_SATISFIED) if s is not state]
    either = frozenset(State) - {state}
    return [*(frozenset([s]) for s in settled), either]


def _others(root: LabelledRoot) -> int:
    condition = root.root.condition
    return sum(condition in unit.conditions for unit in root.root.case.evidence) - 1


def _minimise(loss: Callable[[], Tensor], parameters: list[Tensor]) -> None:
    """A convex loss to its least."""
    optimizer = torch.optim.LBFGS(parameters, max_iter=200, line_search_fn="strong_wolfe")

    def closure() -> float:
        optimizer.zero_grad()
        found = loss()
        found.backward()
        return float(found.detach())

    optimizer.step(closure)
    if not all(math.isfinite(float(p.detach().sum())) for p in parameters):
        raise InterPactError("calibration did not settle; the scores hold no finite optimum")
