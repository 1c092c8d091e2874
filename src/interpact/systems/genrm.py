"""GenRM without rationales: answer generation and candidate verification in one model (app:genrm).

loss = 1/4 generation + 3/4 (1/2 correct candidate + 1/4 each incorrect candidate)
p(d) = v(x, d) / sum of v(x, d'),  v: P(Yes) among Yes and No
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from interpact.case.case import Case
from interpact.case.states import Decision
from interpact.corpus.pairs import Pair
from interpact.systems import prompts
from interpact.systems.answers import answer_loss, spoken
from interpact.systems.config import GenRmSettings, SystemConfig
from interpact.systems.learn import OneModel, choose, load_one, train_one_stage
from interpact.systems.system import Job
from interpact.verifier.backbone import Backbone
from interpact.verifier.objectives import Item, Predictions
from interpact.verifier.pack import Row
from interpact.verifier.questions import Questions, label_logs
from interpact.verifier.run import select_verifier

STAGE = "verification"


class GenRmObjective:
    """Say the decision, and of each candidate decision whether it is correct."""

    parts: tuple[str, ...] = ("loss", "generation", "verification")

    def __init__(self, questions: Questions, settings: GenRmSettings) -> None:
        self.questions, self.encoder = questions, questions.encoder
        self.settings = settings

    def items(self, pairs: Sequence[Pair]) -> list[Item]:
        """Four answers a pair: the decision, and a verdict on each candidate in order."""
        found: list[Item] = []
        for pair in pairs:
            asked = (
                *self.encoder.prompt(prompts.decision(pair.after)),
                *self.encoder.text(prompts.DECISION_START),
            )
            words = self.questions.words[pair.decision_after]
            answers = [spoken(self.encoder, pair.id, asked, words)]
            for decision in Decision:
                verdict = self.encoder.text("Yes" if decision is pair.decision_after else "No")
                asked = self.encoder.prompt(prompts.candidate(pair.after, decision))
                answers.append(spoken(self.encoder, pair.id, asked, verdict))
            found.append(Item(pair, tuple(a.row for a in answers), answers=tuple(answers)))
        return found

    def loss(self, items: Sequence[Item], logits: Sequence[Tensor]) -> dict[str, Tensor]:
        """Generation and class-balanced verification, averaged over pairs."""
        each = torch.stack(
            [answer_loss(found, item.answers) for item, found in zip(items, logits, strict=True)]
        )
        weights = torch.tensor(
            [[0.5 if d is i.pair.decision_after else 0.25 for d in Decision] for i in items],
            device=each.device,
        )
        generation = each[:, 0].mean()
        verification = (weights * each[:, 1:]).sum(1).mean()
        share = self.settings.generation
        return {
            "loss": share * generation + (1 - share) * verification,
            "generation": generation,
            "verification": verification,
        }

    def rows(self, name: str, case: Case) -> list[Row]:
        """A verdict on each candidate decision, to be read."""
        found: list[Row] = []
        for decision in Decision:
            asked = self.encoder.prompt(prompts.candidate(case, decision))
            tokens = (*asked, *self.questions.verdicts.start)
            found.append(self.encoder.row(name, tokens, (len(tokens) - 1,)))
        return found

    def measure(self, backbone: Backbone, pairs: Sequence[Pair], limit: int) -> Predictions:
        """Normalised P(Yes) of the candidates (eq:genrm-score)."""
        groups = [self.rows(pair.id, pair.after) for pair in pairs]
        log_p = [
            label_logs(logits, self.questions.verdicts)[:, 0].log_softmax(0).cpu()
            for logits in backbone.logits(groups, limit)
        ]
        return Predictions(list(pairs), None, torch.stack(log_p) if log_p else torch.zeros(0, 3))


def train(job: Job) -> None:
    """Both tasks in one stage; decision NLL selects."""
    folder = train_one_stage(job, STAGE, job.config.baseline, _objective(job.config))
    best, dev = select_verifier(folder)
    choose(job, folder, best.step, dev)


def load(run: Path, config: SystemConfig) -> OneModel:
    """A finished one."""
    return load_one(run, config, _objective(config))


def _objective(config: SystemConfig):
    return lambda backbone: GenRmObjective(Questions(backbone.encoder), config.genrm)
