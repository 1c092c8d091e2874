"""A model that is only prompted: nine outcomes scored as continuations (app:prompted).

Each outcome is a state and a decision, written in one fixed form; their likelihoods are normalised
among the nine, and the marginals are q and p. A model may reason before; one that does not come to an
end within its budget is scored where it stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from interpact.case.states import Decision, State
from interpact.corpus.pairs import Pair
from interpact.systems import prompts
from interpact.systems.config import PromptedSettings, SystemConfig
from interpact.systems.direct import generated
from interpact.systems.learn import Chosen, OneModel, chosen, open_backbone
from interpact.systems.system import Job, System
from interpact.verifier.backbone import Backbone
from interpact.verifier.objectives import Predictions, scores
from interpact.verifier.pack import Row
from interpact.verifier.prompts import DECISION_START, STATE_START, PairText
from interpact.verifier.questions import Questions
from interpact.verifier.run import begin

OUTCOMES = [(state, decision) for state in State for decision in Decision]


@dataclass(frozen=True)
class Asked:
    """A pair's question up to where the outcome is written, and the nine ways to write it."""

    name: str
    asked: tuple[int, ...]
    written: tuple[tuple[int, ...], ...]

    def rows(self, questions: Questions) -> list[Row]:
        """The nine continuations, read before each of their tokens."""
        return [
            questions.encoder.row(
                self.name,
                (*self.asked, *words[:-1]),
                range(len(self.asked) - 1, len(self.asked) + len(words) - 1),
            )
            for words in self.written
        ]

    def joint(self, logits: Tensor) -> Tensor:
        """The log distribution over state x decision. logits: all reads x vocabulary."""
        logs = logits.log_softmax(-1)
        targets = torch.tensor([t for words in self.written for t in words], device=logs.device)
        said = logs.gather(1, targets[:, None])[:, 0]
        whole = [part.sum() for part in said.split([len(words) for words in self.written])]
        return torch.stack(whole).log_softmax(0).view(len(State), len(Decision)).cpu()


@dataclass(frozen=True)
class Prompted:
    """How a backbone is asked about pairs."""

    settings: PromptedSettings
    seed: int

    def asked(self, backbone: Backbone, questions: Questions, pair: Pair) -> Asked:
        """The question about a pair, with what the model reasoned first."""
        encoder, budget = backbone.encoder, self.settings.reasoning_tokens
        text = PairText(pair.of.root, pair.after)
        form = f"{prompts.REASON}\n{prompts.FORM}" if budget else prompts.FORM
        tokens = encoder.prompt(prompts.outcome(text, pair.of.state, pair.of.decision, form))
        start = encoder.text(STATE_START)
        if budget:
            torch.manual_seed(self.seed)
            tokens += generated(backbone, tokens, budget, self.settings.temperature)
            start = encoder.text(f"\n{STATE_START}")
        written = tuple(
            (*questions.words[s], *encoder.text(DECISION_START), *questions.words[d])
            for s, d in OUTCOMES
        )
        return Asked(pair.id, (*tokens, *start), written)

    def measure(self, backbone: Backbone, pairs: Sequence[Pair], limit: int) -> Predictions:
        """The marginals of the nine outcomes."""
        questions = Questions(backbone.encoder)
        asked = [self.asked(backbone, questions, pair) for pair in pairs]
        rows = [one.rows(questions) for one in asked]
        joint = [
            one.joint(logits)
            for one, logits in zip(asked, backbone.logits(rows, limit), strict=True)
        ]
        if not joint:
            return Predictions()
        both = torch.stack(joint)
        return Predictions(list(pairs), both.logsumexp(2), both.logsumexp(1))


def train(job: Job) -> None:
    """Nothing is learned; development pairs choose the threshold."""
    begin(job.config, job.run, job.resume)
    _, dev_pairs = job.pairs()
    dev = scores(answered(_asked(job.run, job.config, None).pairs(dev_pairs)))
    Chosen(job.config.system, None, dev.get("threshold"), dev).write(job.run)


def answered(found: Predictions) -> Predictions:
    """The predictions without pairs that an endpoint gave no usable answer about."""
    kept = [i for i, sound in enumerate((~found.log_p.isnan().any(1)).tolist()) if sound]
    log_q = None if found.log_q is None else found.log_q[kept]
    return Predictions([found.pairs[i] for i in kept], log_q, found.log_p[kept])


def load(run: Path, config: SystemConfig) -> System:
    """The prompted model with its threshold."""
    return _asked(run, config, chosen(run).threshold)


def _asked(run: Path, config: SystemConfig, threshold: float | None) -> System:
    if config.served is not None:
        from interpact.systems.endpoint import Served

        return Served(run, config.served, threshold)
    return OneModel(
        open_backbone(run, config, None),
        Prompted(config.prompted, config.seed).measure,
        threshold,
        config.pack_tokens,
    )
