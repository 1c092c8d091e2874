"""A run is a folder: its settings, both stages, what was selected, and how the losses went."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

import torch
import yaml
from torch import Tensor

from interpact.case.files import replacing
from interpact.case.states import Decision
from interpact.corpus.pairs import Pair, Split
from interpact.corpus.store import Corpus
from interpact.errors import InterPactError
from interpact.settings import read_settings
from interpact.verifier.backbone import Backbone, load_backbone
from interpact.verifier.config import TrainConfig
from interpact.verifier.objectives import AfterStateObjective, PropagationObjective
from interpact.verifier.questions import Questions, estimate
from interpact.verifier.selection import Checkpoint, best_checkpoint
from interpact.verifier.train import Watch, checkpoints, metrics, train_stage

CONFIG, VERSIONS, SELECTED, ESTIMATES = (
    "config.yaml",
    "versions.json",
    "verifier.json",
    "estimates.jsonl",
)
AFTER_STATE, PROPAGATION = "after_state", "propagation"

Say = Callable[[str], None]


@dataclass(frozen=True)
class Selected:
    """What a run selected on development pairs; steps name checkpoints of its stages."""

    backbone: str
    variant: str
    estimator: str  # folder of the frozen estimator's adapter, seen from the run
    standalone: str  # the After-State SFT checkpoint that would be used by itself
    verifier: str
    threshold: float
    estimator_ap: float
    standalone_nll: float
    verifier_nll: float
    verifier_ba: float


def selected(run: Path) -> Selected:
    """What a finished run selected."""
    try:
        return Selected(**json.loads((run / SELECTED).read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise InterPactError(
            f"{run}: holds no finished training ({SELECTED}); finish it with "
            f"`interpact train --out {run} --resume`"
        ) from None


def train(
    config: TrainConfig,
    corpus: Corpus,
    run: Path,
    *,
    resume: bool = False,
    shared: Path | None = None,
    watch: Watch | None = None,
    say: Say = lambda text: None,
) -> Selected:
    """Both stages of a training; with `shared`, the estimator and initialisation of another run."""
    train_pairs, dev_pairs = train_and_dev(corpus)
    run.mkdir(parents=True, exist_ok=True)
    begin(config, run, resume)
    first = run / AFTER_STATE
    if shared is None:
        backbone = fresh(config, None)
        say(f"{backbone.name}: {how(backbone)}")
        train_stage(
            AFTER_STATE,
            backbone,
            AfterStateObjective(Questions(backbone.encoder)),
            train_pairs,
            dev_pairs,
            config.after_state,
            first,
            seed=config.seed,
            limit=config.pack_tokens,
            resume=resume,
            watch=watch,
        )
        del backbone
    else:
        first = shared / AFTER_STATE
        same_backbone(shared, config)
        if is_main() and (shared / ESTIMATES).exists() and not (run / ESTIMATES).exists():
            shutil.copy(shared / ESTIMATES, run / ESTIMATES)
    estimator, standalone = select_after_state(first)
    adapter = checkpoints(first)[estimator.step]
    say(
        f"estimator: update {estimator.step}, AP {-estimator.criterion:.3f}; standalone: update "
        f"{standalone.step}, NLL {standalone.criterion:.3f}"
    )
    backbone = fresh(config, adapter)
    log_q = estimates(
        run / ESTIMATES,
        backbone,
        adapter,
        [*train_pairs, *dev_pairs],
        config.pack_tokens,
        say,
    )
    objective = PropagationObjective(
        Questions(backbone.encoder), log_q, config.variant, config.losses
    )
    train_stage(
        PROPAGATION,
        backbone,
        objective,
        train_pairs,
        dev_pairs,
        config.propagation,
        run / PROPAGATION,
        seed=config.seed,
        limit=config.pack_tokens,
        resume=resume,
        watch=watch,
    )
    if not is_main():
        return selected(run) if (run / SELECTED).exists() else _nothing(config)
    second = run / PROPAGATION
    best, dev = select_verifier(second)
    found = Selected(
        config.backbone,
        config.variant,
        seen_from(run, adapter),
        seen_from(run, checkpoints(first)[standalone.step]),
        seen_from(run, checkpoints(second)[best.step]),
        dev["threshold"] or 0.0,
        -estimator.criterion,
        standalone.criterion,
        best.criterion,
        dev["change_ba"] or 0.0,
    )
    with replacing(run / SELECTED) as part:
        part.write_text(json.dumps(asdict(found), indent=2) + "\n", encoding="utf-8")
    from interpact.verifier.curves import draw_curves

    draw_curves({AFTER_STATE: first, PROPAGATION: second}, run / "curves.png")
    return found


def select_after_state(folder: Path) -> tuple[Checkpoint, Checkpoint]:
    """The estimator (best change AP) and the standalone baseline (best decision NLL)."""
    dev = _measured(folder)
    return (
        best_checkpoint([Checkpoint(s, -_number(d["change_ap"])) for s, d in dev.items()]),
        best_checkpoint([Checkpoint(s, _number(d["nll"])) for s, d in dev.items()]),
    )


def select_verifier(folder: Path) -> tuple[Checkpoint, dict[str, float | None]]:
    """The verifier (best decision NLL, eq:validation-nll) and its development scores."""
    dev = _measured(folder)
    best = best_checkpoint([Checkpoint(s, _number(d["nll"])) for s, d in dev.items()])
    return best, dev[best.step]


def _measured(folder: Path) -> dict[int, dict[str, float | None]]:
    whole = checkpoints(folder)
    dev = {step: found for step, found in metrics(folder)[1].items() if step in whole}
    if not dev:
        raise InterPactError(f"{folder}: holds no measured checkpoint; train it first")
    return dev


def _number(value: float | None) -> float:
    return float("nan") if value is None else value


def train_and_dev(corpus: Corpus) -> tuple[list[Pair], list[Pair]]:
    """The training and development pairs; an error where they cannot serve."""
    found = {split: [pair for pair in corpus.pairs if pair.of.split is split] for split in Split}
    for split in (Split.TRAIN, Split.DEV):
        if not found[split]:
            raise InterPactError(
                f"the corpus has no {split} pairs; give its roots splits with `interpact split DIR`"
            )
    targets = [pair for pair in found[Split.DEV] if not pair.record.operation.control]
    for changed in (True, False):
        if not any(pair.changed is changed for pair in targets):
            raise InterPactError(
                f"none of the {len(targets):,} development target pairs "
                f"{'changes' if changed else 'keeps'} its decision, so no checkpoint or threshold "
                "can be selected; split the corpus otherwise or add roots"
            )
    missing = [d for d in Decision if not any(p.decision_after is d for p in found[Split.TRAIN])]
    if missing:
        raise InterPactError(
            f"no training pair ends in the decision {', '.join(missing)}, so it cannot be learned; "
            "add roots or split the corpus otherwise"
        )
    return found[Split.TRAIN], found[Split.DEV]


def begin(config: TrainConfig, run: Path, resume: bool) -> None:
    """Write down the settings, or see that a run to resume has the same."""
    path = run / CONFIG
    if path.exists():
        if not resume:
            raise InterPactError(
                f"{run}: holds a run already; go on with it (--resume) or name another folder"
            )
        old = read_settings(path, type(config))
        if old != config:
            names = [
                name
                for name in type(config).model_fields
                if getattr(old, name) != getattr(config, name)
            ]
            raise InterPactError(
                f"{path}: the run was begun with other settings ({', '.join(names)}); resume it "
                "with its own, or name another folder"
            )
        return
    if not is_main():
        return
    with replacing(path) as part:
        data = config.model_dump(mode="json")
        part.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
    packages = ("interpact", "torch", "transformers", "peft", "accelerate")
    with replacing(run / VERSIONS) as part:
        found = {"python": platform.python_version(), **{name: version(name) for name in packages}}
        part.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


def fresh(config: TrainConfig, adapter: Path | None, classes: int = 0) -> Backbone:
    """The backbone with a new adapter, or with one to go on from."""
    torch.manual_seed(config.seed)
    return load_backbone(
        config.backbone,
        adapter=adapter,
        new_adapter=config.lora if adapter is None else None,
        trainable=True,
        dtype=config.dtype,
        device=config.device,
        classes=classes,
    )


def how(backbone: Backbone) -> str:
    """How the rows of this backbone are computed."""
    if backbone.packs:
        return "every layer attends in full, so pairs of a root share their case in one sequence"
    return "not every layer attends in full, so each pair is a row of its own"


def same_backbone(shared: Path, config: TrainConfig) -> None:
    """An error where another run does not fit these settings."""
    # The other run may be of a system with more settings than these.
    other = yaml.safe_load((shared / CONFIG).read_text(encoding="utf-8"))
    mine = config.model_dump(mode="json")
    for name in ("backbone", "seed", "lora", "dtype"):
        if other[name] != mine[name]:
            raise InterPactError(
                f"{shared}: has another {name} ({other[name]}); what shares a run's estimator has its "
                "backbone, seed and adapters"
            )


def estimates(
    path: Path,
    backbone: Backbone,
    adapter: Path,
    pairs: Sequence[Pair],
    limit: int,
    say: Say = lambda text: None,
) -> dict[str, Tensor]:
    """The frozen estimator's log q of every pair, computed once and kept in a file."""
    texts = "".join(f"{p.id}\n{p.after.model_dump_json()}\n{p.of.root.condition}\n" for p in pairs)
    weights = (adapter / "adapter_model.safetensors").read_bytes()
    key = hashlib.sha256(texts.encode() + weights).hexdigest()
    if path.exists():
        first, *lines = path.read_text(encoding="utf-8").splitlines()
        if json.loads(first) == {"key": key}:
            return {r["pair"]: torch.tensor(r["log_q"]) for r in map(json.loads, lines)}
    say(f"the estimator reads {len(pairs):,} pairs once")
    found = estimate(backbone, [(p.id, p.after, p.of.root.condition) for p in pairs], limit)
    log_q = {pair.id: row for pair, row in zip(pairs, found.log_q, strict=True)}
    if is_main():
        with replacing(path) as part, part.open("w", encoding="utf-8") as file:
            file.write(json.dumps({"key": key}) + "\n")
            for name, row in log_q.items():
                file.write(json.dumps({"pair": name, "log_q": row.tolist()}) + "\n")
    return log_q


def is_main() -> bool:
    """Whether this process writes."""
    return not torch.distributed.is_initialized() or torch.distributed.get_rank() == 0


def _nothing(config: TrainConfig) -> Selected:
    return Selected(config.backbone, config.variant, "", "", "", 0.0, 0.0, 0.0, 0.0, 0.0)


def seen_from(run: Path, path: Path) -> str:
    """A path, as it is named in a run."""
    return os.path.relpath(path, run)
