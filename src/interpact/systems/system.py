"""The protocol of systems: each learns from a corpus into a run, and predicts from its run.

A module of a system has two functions: `train(job)` and `load(run, config)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from interpact.case.case import Root
from interpact.corpus.pairs import Pair
from interpact.corpus.store import Corpus
from interpact.errors import InterPactError
from interpact.systems.answer import Answer
from interpact.systems.config import SystemConfig
from interpact.verifier.objectives import Predictions
from interpact.verifier.run import CONFIG, Say, train_and_dev
from interpact.verifier.train import Watch


class System(Protocol):
    """A finished system."""

    @property
    def threshold(self) -> float | None:
        """Change scores from here on predict a change; chosen on development pairs."""
        ...

    def pairs(self, pairs: Sequence[Pair]) -> Predictions:
        """What the complete system predicts of intervention pairs."""
        ...

    def roots(self, roots: Sequence[Root]) -> list[Answer]:
        """What its language model answers to the direct question."""
        ...


@dataclass(frozen=True)
class Job:
    """What is to be learned, from what, and where to."""

    config: SystemConfig
    corpus: Corpus
    run: Path
    resume: bool = False
    shared: Path | None = None  # a run whose After-State SFT is taken
    watch: Watch | None = None
    say: Say = lambda text: None

    def pairs(self) -> tuple[list[Pair], list[Pair]]:
        """The training and the development pairs."""
        return train_and_dev(self.corpus)


def train(job: Job) -> None:
    """Train a system into a run folder."""
    _module(job.config).train(job)


def load(run: Path) -> tuple[SystemConfig, System]:
    """The system of a run, and its settings."""
    if not (run / CONFIG).exists():
        raise InterPactError(f"{run}: holds no run ({CONFIG}); name the folder of a training")
    config = SystemConfig.read(run / CONFIG)
    return config, _module(config).load(run, config)


def _module(config: SystemConfig) -> Any:
    return import_module(f"interpact.systems.{config.system}")
