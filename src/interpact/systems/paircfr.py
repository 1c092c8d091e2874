"""PairCFR: decisions of cases before and after edits, classified and contrasted (app:paircfr).

    loss = lambda contrast + (1 - lambda) cross-entropy

The representation of a case is the decoder's hidden state at its last token. The contrastive loss is
its authors': of an anchor's positives, only the one in the numerator is in the denominator.
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
from interpact.systems.config import PairCfrSettings, SystemConfig
from interpact.systems.learn import OneModel, choose, load_one, train_one_stage
from interpact.systems.system import Job
from interpact.verifier.backbone import Backbone
from interpact.verifier.encode import Encoder
from interpact.verifier.objectives import Item, Predictions
from interpact.verifier.pack import Row
from interpact.verifier.run import select_verifier

STAGE = "classification"
DECISIONS = list(Decision)


class PairCfrObjective:
    """Classify the original case of a root, once, and all its edits; whole roots make a batch."""

    parts: tuple[str, ...] = ("loss", "contrast", "classification")

    def __init__(self, encoder: Encoder, settings: PairCfrSettings) -> None:
        self.encoder, self.settings = encoder, settings

    def items(self, pairs: Sequence[Pair]) -> list[Item]:
        """One item a root, so that no batch separates an edit from its original."""
        roots: dict[str, list[Pair]] = {}
        for pair in pairs:
            roots.setdefault(pair.record.root, []).append(pair)
        found: list[Item] = []
        for root, edits in roots.items():
            first = edits[0]
            rows = (self.row(root, first.before), *(self.row(p.id, p.after) for p in edits))
            decisions = (first.of.decision, *(p.decision_after for p in edits))
            labels = tuple(DECISIONS.index(decision) for decision in decisions)
            found.append(Item(first, rows, labels=labels, pairs=len(edits)))
        return found

    def row(self, name: str, case: Case) -> Row:
        """A case, read at its last token."""
        tokens = self.encoder.prompt(prompts.decision(case))
        return self.encoder.row(name, tokens, (len(tokens) - 1,))

    def loss(self, items: Sequence[Item], logits: Sequence[Tensor]) -> dict[str, Tensor]:
        """Contrast and classification over the roots of a batch. logits: row x (class, width)."""
        found = torch.cat(list(logits)).float()
        labels = torch.tensor([n for item in items for n in item.labels], device=found.device)
        neutral = self.settings.neutral_label
        contrast = contrastive(
            found[:, 3:],
            labels,
            self.settings.temperature,
            None if neutral == "none" else DECISIONS.index(neutral),
        )
        classification = torch.nn.functional.cross_entropy(found[:, :3], labels)
        share = self.settings.contrast
        return {
            "loss": share * contrast + (1 - share) * classification,
            "contrast": contrast,
            "classification": classification,
        }

    def measure(self, backbone: Backbone, pairs: Sequence[Pair], limit: int) -> Predictions:
        """The class distribution of the case after the edit."""
        groups = [[self.row(pair.id, pair.after)] for pair in pairs]
        found = [logits[0, :3].log_softmax(-1).cpu() for logits in backbone.logits(groups, limit)]
        return Predictions(list(pairs), None, torch.stack(found) if found else torch.zeros(0, 3))


def contrastive(
    features: Tensor, labels: Tensor, temperature: float, neutral: int | None = None
) -> Tensor:
    """The mean over anchors of the mean over positives j of -[s_ij - log(sum_neg exp s_ik + exp s_ij)].

    An anchor without positives counts as zero. A neutral label has no negatives, and is nobody's.
    features: example x width; labels: example.
    """
    unit = torch.nn.functional.normalize(features, dim=-1)
    s = unit @ unit.T / temperature
    same = labels[:, None] == labels[None, :]
    positive = same & ~torch.eye(len(labels), dtype=torch.bool, device=s.device)
    negative = ~same
    if neutral is not None:
        apart = labels != neutral
        negative &= apart[:, None] & apart[None, :]
    against = s.masked_fill(~negative, -torch.inf).logsumexp(1, keepdim=True)
    each = torch.where(positive, torch.logaddexp(against, s) - s, 0.0)
    return (each.sum(1) / positive.sum(1).clamp_min(1)).mean()


def train(job: Job) -> None:
    """One stage of whole-root batches; decision NLL selects."""
    roots = job.config.paircfr.roots
    settings = job.config.baseline.model_copy(update={"batch": roots, "micro": roots})
    folder = train_one_stage(job, STAGE, settings, _objective(job.config), len(DECISIONS))
    best, dev = select_verifier(folder)
    choose(job, folder, best.step, dev)


def load(run: Path, config: SystemConfig) -> OneModel:
    """A finished one."""
    return load_one(run, config, _objective(config), len(DECISIONS))


def _objective(config: SystemConfig):
    return lambda backbone: PairCfrObjective(backbone.encoder, config.paircfr)
