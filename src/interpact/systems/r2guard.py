"""R2-Guard: predicted states and a direct decision, joined by weighted rule clauses (eq:r2guard).

With the clauses "A(c) = a implies d = a" of weight w_a, the sum over all assignments c collapses to

    P(d) ~ p0(d) [P_A(d) + sum over a != d of exp(-w_a) P_A(a)]

where P_A is what executing the rule gives and p0 the estimator's own decision. The weights depend on
the shape of the rule and on a: six numbers, fitted to training decisions with the estimator frozen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from interpact.case.case import Case
from interpact.case.expressions import AtLeast, Expression, Not, Or
from interpact.case.states import Decision
from interpact.corpus.pairs import Pair
from interpact.systems.config import SystemConfig
from interpact.systems.execution import executed
from interpact.systems.learn import (
    OneModel,
    after_state_stage,
    choose,
    chosen,
    open_backbone,
)
from interpact.systems.system import Job
from interpact.verifier.backbone import Backbone
from interpact.verifier.objectives import Predictions, scores
from interpact.verifier.questions import Questions, label_logs
from interpact.verifier.run import select_after_state
from interpact.verifier.train import checkpoints

CONJUNCTION, DISJUNCTION = 0, 1
SHAPES = ("conjunction", "disjunction")
DECISIONS = list(Decision)
PRIOR = 1e-5  # keeps a weight finite whose clause is never broken


@dataclass(frozen=True)
class Evidences:
    """What the frozen estimator says of pairs: log q of the target, log p0 and log P_A.

    log_q: pair x state; log_p0, log_rule: pair x decision; shape: pair.
    """

    log_q: Tensor
    log_p0: Tensor
    log_rule: Tensor
    shape: Tensor


def read(backbone: Backbone, pairs: Sequence[Pair], limit: int) -> Evidences:
    """The estimator's states of all conditions, and its decision, of the cases after the edits."""
    questions = Questions(backbone.encoder)
    groups = [
        [
            *questions.after_state(pair.id, pair.after, pair.of.root.condition),
            *(questions.state(pair.id, pair.after, c) for c in _others(pair)),
        ]
        for pair in pairs
    ]
    log_q, log_p0 = [torch.zeros(0, 3)], [torch.zeros(0, 3)]
    log_rule = [torch.zeros(0, 3, dtype=torch.double)]
    for pair, logits in zip(pairs, backbone.logits(groups, limit), strict=True):
        target = label_logs(logits[:1], questions.states).cpu()
        then = label_logs(logits[1:4], questions.decisions).cpu()
        others = label_logs(logits[4:], questions.states).cpu()
        logs = dict(zip(_others(pair), others, strict=True)) | {pair.of.root.condition: target[0]}
        log_q.append(target)
        log_p0.append((target[0][:, None] + then).logsumexp(0)[None])
        log_rule.append(executed(pair.after, {c: logs[c] for c in pair.after.conditions})[None])
    shape = torch.tensor([shape_of(pair.after) for pair in pairs], dtype=torch.long)
    return Evidences(torch.cat(log_q), torch.cat(log_p0).double(), torch.cat(log_rule), shape)


def marginal(log_p0: Tensor, log_rule: Tensor, w: Tensor) -> Tensor:
    """The log decision distribution of the weighted rules, in closed form.

    log_p0, log_rule, w: pair x decision.
    """
    # broken: pair x decision x what the rule says
    broken = -w[:, None, :] * (1 - torch.eye(len(DECISIONS), dtype=w.dtype, device=w.device))
    return (log_p0 + (broken + log_rule[:, None, :]).logsumexp(2)).log_softmax(1)


def fit(found: Evidences, decisions: Tensor) -> Tensor:
    """The six weights, shape x decision, of the highest likelihood of the decisions."""
    w = torch.ones(len(SHAPES), len(DECISIONS), dtype=torch.double, requires_grad=True)
    optimizer = torch.optim.LBFGS([w], max_iter=200, line_search_fn="strong_wolfe")

    def closure() -> Tensor:
        optimizer.zero_grad()
        log_p = marginal(found.log_p0, found.log_rule, w[found.shape])
        loss = -log_p.gather(1, decisions[:, None]).mean() + PRIOR * w.square().sum()
        loss.backward()
        return loss

    optimizer.step(closure)  # type: ignore[arg-type]
    return w.detach()


def shape_of(case: Case) -> int:
    """Conjunction or disjunction; a nested rule counts by its outermost gate.

    `at least k of n` is a conjunction where it asks for more than half; `not` turns a gate around.
    """
    return _shape(case.rule_of_decision.over(list(case.conditions)))


def _shape(expression: Expression) -> int:
    if isinstance(expression, Not):
        return 1 - _shape(expression.item)
    if isinstance(expression, AtLeast):
        return CONJUNCTION if 2 * expression.count > len(expression.items) else DISJUNCTION
    return DISJUNCTION if isinstance(expression, Or) else CONJUNCTION


def _others(pair: Pair) -> list[str]:
    return [c for c in pair.after.conditions if c != pair.of.root.condition]


class Weighted:
    """The frozen estimator with fitted weights."""

    def __init__(self, w: Tensor) -> None:
        self.w = w

    def measure(self, backbone: Backbone, pairs: Sequence[Pair], limit: int) -> Predictions:
        """The estimator's target state, and the decision of the weighted rules."""
        return self.predictions(pairs, read(backbone, pairs, limit))

    def predictions(self, pairs: Sequence[Pair], found: Evidences) -> Predictions:
        """The same from what the estimator said."""
        log_p = marginal(found.log_p0, found.log_rule, self.w[found.shape])
        return Predictions(list(pairs), found.log_q, log_p)


def train(job: Job) -> None:
    """After-State SFT, the estimator by change AP as InterPact's is; then the weights."""
    train_pairs, dev_pairs = job.pairs()
    folder = after_state_stage(job)
    estimator, _ = select_after_state(folder)
    backbone = open_backbone(
        job.run, job.config, str(checkpoints(folder)[estimator.step].resolve())
    )
    job.say(f"the estimator reads {len(train_pairs) + len(dev_pairs):,} pairs once")
    found = read(backbone, train_pairs, job.config.pack_tokens)
    decisions = torch.tensor([DECISIONS.index(pair.decision_after) for pair in train_pairs])
    system = Weighted(fit(found, decisions))
    dev = scores(system.measure(backbone, dev_pairs, job.config.pack_tokens))
    weights = dict(zip(SHAPES, system.w.tolist(), strict=True))
    choose(job, folder, estimator.step, dev, **weights)


def load(run: Path, config: SystemConfig) -> OneModel:
    """A finished one."""
    found = chosen(run)
    system = Weighted(torch.tensor([found.weights[s] for s in SHAPES], dtype=torch.double))
    backbone = open_backbone(run, config, found.checkpoint)
    return OneModel(backbone, system.measure, found.threshold, config.pack_tokens)
