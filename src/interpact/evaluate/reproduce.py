"""The straight line: a corpus, every system trained for every seed, evaluated, reported.

Every step can be resumed. A finished one is skipped as long as what it was made from is the same;
where that has changed, a training is not overwritten but told.
"""

from __future__ import annotations

import gc
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from interpact.corpus.pairs import Split
from interpact.corpus.store import Corpus
from interpact.errors import InterPactError
from interpact.evaluate.measured import write_metrics
from interpact.evaluate.prepare import prepared
from interpact.evaluate.report import write_report
from interpact.evaluate.runs import read_results
from interpact.settings import merged, read_settings
from interpact.systems.config import SystemConfig
from interpact.systems.learn import CHOSEN
from interpact.systems.predict import predict, predict_by_rule
from interpact.systems.predictions import META, System, fingerprint, folder_of
from interpact.systems.system import Job, train
from interpact.verifier.run import CONFIG, SELECTED
from interpact.verifier.train import Watch

FROM = "made-from.json"
TRAINED = list(System)[: list(System).index(System.MAJORITY)]
PAPER = [system for system in TRAINED if system is not System.OWN_EVIDENCE]
SHARING = (System.AFTER_STATE, System.R2GUARD)
"""Baselines that are the first stage of InterPact, or rest on it."""


class ReproduceConfig(BaseModel):
    """What is to be trained on what; `train` is laid over the settings of the file `base`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    base: Path | None = None
    train: dict[str, Any] = Field(default_factory=dict[str, Any])
    corpus: str = ""  # a folder whose roots have splits, or "sample"
    constructor: Path | None = None  # settings with which pairs are first made for the corpus
    roots: Annotated[int, Field(ge=1)] | None = None  # only so many of each split
    systems: tuple[System, ...] = tuple(PAPER)
    seeds: Annotated[tuple[int, ...], Field(min_length=1)] = (1, 2, 3)
    split: Split = Split.TEST
    resamples: Annotated[int, Field(ge=100)] = 2000

    @staticmethod
    def read(path: Path) -> ReproduceConfig:
        """The settings of a YAML file; the files it names are seen from it."""
        found = read_settings(path, ReproduceConfig)
        seen = {n: path.parent / p for n in ("base", "constructor") if (p := getattr(found, n))}
        return found.model_copy(update=seen)

    def of(self, system: System, seed: int) -> SystemConfig:
        """The settings of one run."""
        base = {} if self.base is None else SystemConfig.read(self.base).model_dump(mode="json")
        found = SystemConfig.model_validate(merged(base, self.train) | {"seed": seed})
        return found.of(system)


@dataclass(frozen=True)
class Run:
    """One training of the line."""

    config: SystemConfig
    folder: Path
    shared: Path | None
    reported: bool = True

    @property
    def finished(self) -> bool:
        """Whether it has chosen its checkpoint."""
        return (self.folder / CHOSEN).exists() or (self.folder / SELECTED).exists()

    def made_from(self, corpus: Corpus) -> dict[str, str]:
        """What its results follow from."""
        data = {split: fingerprint(corpus, split) for split in (Split.TRAIN, Split.DEV)}
        settings = self.config.model_dump_json(exclude={"device"})
        shared = "" if self.shared is None else self.shared.name
        parts = {"settings": settings, "shared": shared}
        return data | {name: hashlib.sha256(v.encode()).hexdigest() for name, v in parts.items()}


def runs_of(config: ReproduceConfig, out: Path, only: Sequence[str] = ()) -> list[Run]:
    """All trainings in an order in which what is shared comes first."""
    unknown = sorted(set(only) - set(config.systems))
    if unknown:
        raise InterPactError(
            f"--only {', '.join(unknown)}: not among the systems of these settings "
            f"({', '.join(config.systems)})"
        )
    wanted = [s for s in config.systems if not only or s in only]
    unfit = [s for s in wanted if s not in TRAINED]
    if unfit:
        raise InterPactError(
            f"systems: {', '.join(unfit)} is not trained; the report has it anyway"
        )
    sharing = [s for s in wanted if s in SHARING or s.startswith("without_")]
    needed = {*wanted, *([System.INTERPACT] if sharing else [])}
    order = sorted(needed, key=lambda s: (s is not System.INTERPACT, TRAINED.index(s)))
    return [
        Run(
            config.of(system, seed),
            out / f"{system}-seed{seed}",
            out / f"{System.INTERPACT}-seed{seed}" if system in sharing else None,
            system in wanted,
        )
        for seed in config.seeds
        for system in order
    ]


def reproduce(
    config: ReproduceConfig,
    out: Path,
    only: Sequence[str] = (),
    *,
    watch: Watch | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Path:
    """Go down the line; the page of the report."""
    planned = runs_of(config, out, only)
    folder = prepared(config.corpus, config.constructor, config.roots, out, say)
    corpus = Corpus.read(folder)
    evaluated: list[Path] = []
    for run in planned:
        _train(run, corpus, watch, say)
        if run.reported:
            write_metrics(predict(run.folder, corpus, config.split, say=say))
            evaluated.append(run.folder)
        if run.reported and run.config.key is System.EXECUTION:
            rule = out / f"{System.PREDICTED_RULE}-seed{run.config.seed}"
            predict_by_rule(run.folder, rule, corpus, config.split)
            evaluated.append(rule)
        gc.collect()
    return _report(config, corpus, evaluated, out / "report", say)


def _train(run: Run, corpus: Corpus, watch: Watch | None, say: Callable[[str], None]) -> None:
    path, now = run.folder / FROM, run.made_from(corpus)
    if path.exists():
        then = json.loads(path.read_text(encoding="utf-8"))
        if other := [name for name in now if then.get(name) != now[name]]:
            raise InterPactError(
                f"{run.folder}: was begun from something else ({', '.join(other)}); move it away to "
                "train it anew, or name another folder with --out"
            )
    if run.finished:
        say(f"{run.folder}: trained before")
        return
    run.folder.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(now, indent=2) + "\n", encoding="utf-8")
    resume = (run.folder / CONFIG).exists()
    train(Job(run.config, corpus, run.folder, resume, run.shared, watch, say))


def _report(
    config: ReproduceConfig,
    corpus: Corpus,
    evaluated: Sequence[Path],
    to: Path,
    say: Callable[[str], None],
) -> Path:
    digest = hashlib.sha256(f"{config.resamples} {config.split}".encode())
    for run in evaluated:
        for path in sorted(folder_of(run, config.split).glob("*.json*")):
            digest.update(path.read_bytes())
    key, path = digest.hexdigest(), to / "made-from.txt"
    if path.exists() and path.read_text(encoding="utf-8").strip() == key:
        say(f"{to}: reported before")
        return to / "index.html"
    results = read_results(evaluated, config.split, corpus)
    write_report(results, to, resamples=config.resamples)
    path.write_text(key + "\n", encoding="utf-8")
    return to / "index.html"


def outlook(config: ReproduceConfig, out: Path, only: Sequence[str] = ()) -> str:
    """The steps, what is done of them, and about how long the rest takes on this machine."""
    from interpact.systems.cost import Cost

    planned = runs_of(config, out, only)
    folder = prepared(config.corpus, None, config.roots, out, lambda text: None)
    corpus = Corpus.read(folder)
    cost = Cost.measured(planned[0].config, corpus)
    lines: list[str] = []
    total = 0.0
    for run in planned:
        predicted = (folder_of(run.folder, config.split) / META).exists()
        training = 0.0 if run.finished else cost.training(run.config, run.shared is not None)
        evaluating = cost.evaluating(run.config, config.split) if run.reported else 0.0
        evaluating *= not predicted
        total += training + evaluating
        told = "done" if run.finished else f"{training / 60:6.1f} min"
        then = "done" if predicted else f"{evaluating / 60:6.1f} min"
        lines.append(f"{run.folder.name:32} train {told:>10}   evaluate {then:>10}\n")
    lines.append(f"together about {total / 3600:.1f} h, then the report\n")
    return "".join(lines)
