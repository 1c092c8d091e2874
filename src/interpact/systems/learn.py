"""What the baselines share when they learn: one stage from the pretrained backbone, one choice."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from interpact.case.case import Root
from interpact.case.files import replacing
from interpact.corpus.pairs import Pair
from interpact.errors import InterPactError
from interpact.systems.answer import Answer
from interpact.systems.config import SystemConfig
from interpact.systems.direct import answers
from interpact.systems.system import Job
from interpact.verifier.backbone import Backbone, load_backbone
from interpact.verifier.config import StageSettings
from interpact.verifier.curves import draw_curves
from interpact.verifier.objectives import AfterStateObjective, Objective, Predictions
from interpact.verifier.questions import Questions
from interpact.verifier.run import (
    AFTER_STATE,
    begin,
    fresh,
    how,
    is_main,
    same_backbone,
    seen_from,
)
from interpact.verifier.train import checkpoints, train_stage

CHOSEN = "system.json"


@dataclass(frozen=True)
class Chosen:
    """What a run of a baseline chose on development pairs."""

    system: str
    checkpoint: str | None  # folder of its adapter, seen from the run
    threshold: float | None
    dev: dict[str, float | None]
    weights: dict[str, list[float]] = field(default_factory=dict[str, list[float]])

    def write(self, run: Path) -> None:
        """Keep it; a run is finished with it."""
        if not is_main():
            return
        with replacing(run / CHOSEN) as part:
            part.write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")


def chosen(run: Path) -> Chosen:
    """What a finished run of a baseline chose."""
    try:
        return Chosen(**json.loads((run / CHOSEN).read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise InterPactError(
            f"{run}: holds no finished training ({CHOSEN}); finish it with "
            f"`interpact train --out {run} --resume`"
        ) from None


@dataclass(frozen=True)
class OneModel:
    """A system that is one language model and a way to ask it about pairs."""

    backbone: Backbone
    measure: Callable[[Backbone, Sequence[Pair], int], Predictions]
    threshold: float | None
    limit: int

    def pairs(self, pairs: Sequence[Pair]) -> Predictions:
        """What it predicts of pairs."""
        return self.measure(self.backbone, pairs, self.limit)

    def roots(self, roots: Sequence[Root]) -> list[Answer]:
        """What it answers to the direct question."""
        return answers(self.backbone.without_head(), roots, self.limit)


def train_one_stage(
    job: Job,
    stage: str,
    settings: StageSettings,
    objective: Callable[[Backbone], Objective],
    classes: int = 0,
    further: Sequence[Pair] = (),
) -> Path:
    """Train one stage from the pretrained backbone; the folder of its checkpoints."""
    config = job.config
    train_pairs, dev_pairs = job.pairs()
    begin(config, job.run, job.resume)
    backbone = fresh(config, None, classes)
    job.say(f"{config.title}: {how(backbone)}")
    train_stage(
        stage,
        backbone,
        objective(backbone),
        [*train_pairs, *further],
        dev_pairs,
        settings,
        job.run / stage,
        seed=config.seed,
        limit=config.pack_tokens,
        resume=job.resume,
        watch=job.watch,
    )
    if is_main():
        draw_curves({stage: job.run / stage}, job.run / "curves.png")
    return job.run / stage


def after_state_stage(job: Job) -> Path:
    """An After-State SFT: trained for this run, or another run's that it shares."""
    if job.shared is None:
        return train_one_stage(job, AFTER_STATE, job.config.after_state, after_state_objective)
    begin(job.config, job.run, job.resume)
    same_backbone(job.shared, job.config)
    return job.shared / AFTER_STATE


def after_state_objective(backbone: Backbone) -> AfterStateObjective:
    """The objective of After-State SFT for a backbone."""
    return AfterStateObjective(Questions(backbone.encoder))


def choose(
    job: Job, folder: Path, step: int, dev: dict[str, float | None], **weights: list[float]
) -> None:
    """Write down a checkpoint with the threshold that development pairs give it."""
    here = seen_from(job.run, checkpoints(folder)[step])
    Chosen(job.config.system, here, dev["threshold"], dev, weights).write(job.run)
    nll, ba = dev["nll"], dev["change_ba"]
    job.say(
        f"{job.config.title}: update {step}, development decision NLL {nll:.4f}, change BA {ba:.4f}"
    )


def load_one(
    run: Path, config: SystemConfig, objective: Callable[[Backbone], Objective], classes: int = 0
) -> OneModel:
    """A finished baseline whose objective also tells how it is asked."""
    found = chosen(run)
    backbone = open_backbone(run, config, found.checkpoint, classes)
    return OneModel(backbone, objective(backbone).measure, found.threshold, config.pack_tokens)


def open_backbone(
    run: Path, config: SystemConfig, checkpoint: str | None, classes: int = 0
) -> Backbone:
    """The backbone of a run with one of its adapters."""
    return load_backbone(
        config.backbone,
        adapter=None if checkpoint is None else run / checkpoint,
        dtype=config.dtype,
        device=config.device,
        classes=classes,
    )
