"""After-State SFT: state and decision from the case after the intervention (eq:sft-marginal)."""

from __future__ import annotations

from pathlib import Path

from interpact.systems.config import SystemConfig
from interpact.systems.learn import (
    OneModel,
    after_state_objective,
    after_state_stage,
    choose,
    load_one,
)
from interpact.systems.system import Job
from interpact.verifier.run import select_verifier


def train(job: Job) -> None:
    """The first stage of InterPact by itself; decision NLL selects, not change AP."""
    folder = after_state_stage(job)
    best, dev = select_verifier(folder)
    choose(job, folder, best.step, dev)


def load(run: Path, config: SystemConfig) -> OneModel:
    """A finished one."""
    return load_one(run, config, after_state_objective)
