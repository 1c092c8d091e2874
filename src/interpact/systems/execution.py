"""Predicted State Execution: the rule applied to predicted states of all conditions (eq:direct-execution).

    p(d) = P(A(c) = d), every condition c_j drawn by itself from the estimator's q_j

The distribution comes in closed form from the rule's circuit, never from the 3^m assignments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor

from interpact.case.case import Case
from interpact.case.states import Decision
from interpact.corpus.pairs import Pair
from interpact.systems.answers import answer_loss, spoken
from interpact.systems.config import SystemConfig
from interpact.systems.learn import OneModel, choose, load_one, train_one_stage
from interpact.systems.system import Job
from interpact.verifier.backbone import Backbone
from interpact.verifier.objectives import Item, Predictions
from interpact.verifier.questions import Questions, label_logs
from interpact.verifier.run import select_verifier

STAGE = "states"
TINY = 1e-30  # a decision that the rule excludes for sure keeps a finite logarithm


class StateObjective:
    """Say the state of the target condition after the intervention, and nothing else."""

    parts: tuple[str, ...] = ("loss",)

    def __init__(self, questions: Questions) -> None:
        self.questions = questions

    def items(self, pairs: Sequence[Pair]) -> list[Item]:
        """Rows with the state as it is to be said."""
        found: list[Item] = []
        for pair in pairs:
            asked = self.questions.asked_state(pair.after, pair.of.root.condition)
            words = self.questions.words[pair.state_after]
            answer = spoken(self.questions.encoder, pair.id, asked, words)
            found.append(Item(pair, (answer.row,), answers=(answer,)))
        return found

    def loss(self, items: Sequence[Item], logits: Sequence[Tensor]) -> dict[str, Tensor]:
        """Next-token cross-entropy, averaged over the tokens of an answer and over answers."""
        each = [answer_loss(found, item.answers) for item, found in zip(items, logits, strict=True)]
        return {"loss": torch.cat(each).mean()}

    def measure(self, backbone: Backbone, pairs: Sequence[Pair], limit: int) -> Predictions:
        """The target state by the estimator, the decision by the rule."""
        log_q: list[Tensor] = []
        log_p: list[Tensor] = []
        states = all_states(backbone, [(p.id, p.after) for p in pairs], limit)
        for pair, logs in zip(pairs, states, strict=True):
            log_q.append(logs[pair.of.root.condition])
            log_p.append(executed(pair.after, logs))
        if not log_q:
            return Predictions()
        return Predictions(list(pairs), torch.stack(log_q), torch.stack(log_p))


def all_states(
    backbone: Backbone, cases: Sequence[tuple[str, Case]], limit: int
) -> Iterator[dict[str, Tensor]]:
    """For each named case, log q of every condition; the conditions of a case share its text."""
    questions = Questions(backbone.encoder)
    groups = [[questions.state(name, case, c) for c in case.conditions] for name, case in cases]
    for (_, case), logits in zip(cases, backbone.logits(groups, limit), strict=True):
        logs = label_logs(logits, questions.states).cpu()
        yield dict(zip(case.conditions, logs, strict=True))


def executed(case: Case, log_q: Mapping[str, Tensor]) -> Tensor:
    """The log decision distribution that a case's rule gives states drawn from q."""
    chances = {c: logs.double().softmax(-1).tolist() for c, logs in log_q.items()}
    found = case.rule_of_decision.decision_chances(chances)
    return torch.tensor([found[d] for d in Decision], dtype=torch.double).clamp_min(TINY).log()


def train(job: Job) -> None:
    """An estimator of its own, trained on target states alone."""
    folder = train_one_stage(job, STAGE, job.config.baseline, _objective)
    best, dev = select_verifier(folder)
    choose(job, folder, best.step, dev)


def load(run: Path, config: SystemConfig) -> OneModel:
    """A finished one."""
    return load_one(run, config, _objective)


def _objective(backbone: Backbone) -> StateObjective:
    return StateObjective(Questions(backbone.encoder))
