"""InterPact and its ablations: a frozen estimator, and a verifier that says the branches."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from interpact.case.case import Root
from interpact.corpus.pairs import Pair
from interpact.systems.answer import Answer
from interpact.systems.config import SystemConfig
from interpact.systems.direct import answers
from interpact.systems.learn import open_backbone
from interpact.systems.system import Job
from interpact.verifier import run as runs
from interpact.verifier.backbone import Backbone
from interpact.verifier.objectives import Predictions, PropagationObjective
from interpact.verifier.questions import Questions

KEPT = "estimates-predicted.jsonl"


@dataclass(frozen=True)
class Verifier:
    """A finished run of both stages; only the verifier answers the direct question."""

    run: Path
    config: SystemConfig
    chosen: runs.Selected

    @property
    def threshold(self) -> float | None:
        """The threshold of the selected verifier."""
        return self.chosen.threshold

    def pairs(self, pairs: Sequence[Pair]) -> Predictions:
        """Composed predictions; runs that share an estimator read with it once."""
        adapter = (self.run / self.chosen.estimator).resolve()
        estimator = open_backbone(self.run, self.config, self.chosen.estimator)
        kept = adapter.parent.parent / KEPT
        log_q = runs.estimates(kept, estimator, adapter, pairs, self.config.pack_tokens)
        del estimator
        gc.collect()
        objective = PropagationObjective(
            Questions(self.backbone.encoder), log_q, self.config.variant, self.config.losses
        )
        return objective.measure(self.backbone, pairs, self.config.pack_tokens)

    def roots(self, roots: Sequence[Root]) -> list[Answer]:
        """What the trained language model answers."""
        return answers(self.backbone, roots, self.config.pack_tokens)

    @cached_property
    def backbone(self) -> Backbone:
        """The selected verifier."""
        return open_backbone(self.run, self.config, self.chosen.verifier)


def train(job: Job) -> None:
    """Both stages; an ablation shares the first with the full verifier."""
    found = runs.train(
        job.config.verifier,
        job.corpus,
        job.run,
        resume=job.resume,
        shared=job.shared,
        watch=job.watch,
        say=job.say,
    )
    job.say(
        f"{job.config.title}: {found.verifier}, development decision NLL {found.verifier_nll:.4f}, "
        f"change BA {found.verifier_ba:.4f}"
    )


def load(run: Path, config: SystemConfig) -> Verifier:
    """A finished one."""
    return Verifier(run, config, runs.selected(run))
