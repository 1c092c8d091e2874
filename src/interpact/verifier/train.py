"""One stage of training: windows of pairs, packed; checkpoints that outlive a kill; exact resumption.

A window is the batch of one update. It is made of microbatches, over each of which the losses are
normalised; microbatches are packed as they fit, and each process of a launch takes its share of them.
"""

from __future__ import annotations

import json
import math
import random
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader
from transformers import PrinterCallback, Trainer, TrainerCallback, TrainingArguments

from interpact.corpus.pairs import Pair
from interpact.errors import InterPactError
from interpact.verifier.backbone import Backbone
from interpact.verifier.config import Order, StageSettings
from interpact.verifier.objectives import Item, Objective, Predictions, scores
from interpact.verifier.selection import checkpoint_steps

METRICS, COMPLETE = "metrics.jsonl", "complete.json"
_FOR_RESUMING = ("optimizer.pt", "scheduler.pt", "scaler.pt", "rng_state*.pth")

_TOGETHER = {Order.ROOTS: None, Order.MIXED: 4, Order.PAIRS: 1}
"""How many pairs of a root follow each other."""

Micro = list[Item]
Window = list[Micro]


@dataclass(frozen=True)
class Progress:
    """How far a stage has come."""

    stage: str
    step: int
    steps: int
    pairs: int  # since this start
    left: int  # pairs still to come
    seconds: float
    loss: float

    @property
    def remaining(self) -> float:
        """Seconds to the end of the stage at the speed so far."""
        return self.seconds * self.left / max(self.pairs, 1)


Watch = Callable[[Progress], None]


def windows(items: Sequence[Item], stage: StageSettings, seed: int) -> list[Window]:
    """The batches of all updates: the passes follow each other without a seam."""
    wanted = round(stage.passes * len(items))
    stream: list[Item] = []
    for number in range(math.ceil(stage.passes)):
        stream += _shuffled(items, stage.order, random.Random(f"{seed}/{number}"))
    micros = [stream[i : i + stage.micro] for i in range(0, wanted, stage.micro)]
    micros[-1] = micros[-1][: wanted - stage.micro * (len(micros) - 1)]
    each = max(1, stage.batch // stage.micro)
    return [micros[i : i + each] for i in range(0, len(micros), each)]


def _shuffled(items: Sequence[Item], order: Order, rng: random.Random) -> list[Item]:
    of_root: dict[str, list[Item]] = {}
    for item in items:
        of_root.setdefault(item.pair.record.root, []).append(item)
    groups: list[list[Item]] = []
    for _, found in sorted(of_root.items()):
        rng.shuffle(found)
        size = _TOGETHER[order] or len(found)
        groups += [found[i : i + size] for i in range(0, len(found), size)]
    rng.shuffle(groups)
    return [item for group in groups for item in group]


class StageTrainer(Trainer):
    """The trainer of transformers, fed with windows of packed microbatches."""

    def __init__(
        self,
        backbone: Backbone,
        objective: Objective,
        batches: Sequence[Window],
        limit: int,
        **kwargs: Any,
    ) -> None:
        super().__init__(model=backbone.reader, **kwargs)
        self.backbone, self.objective = backbone, objective
        self.batches, self.limit = batches, limit
        self.parts: dict[str, float] = {}

    def get_train_dataloader(self) -> DataLoader[Any]:
        """All windows in order; processes share each of them, so nothing is sharded here."""
        return DataLoader(list(self.batches), batch_size=1, shuffle=False, collate_fn=_only)  # type: ignore[arg-type]

    def training_step(
        self, model: nn.Module, inputs: Any, num_items_in_batch: Any = None
    ) -> Tensor:
        """Forward and backward over this process's microbatches of a window."""
        window: Window = inputs
        model.train()
        world, rank = self.args.world_size, self.args.process_index
        mine = window[rank::world]
        share = world / len(window)
        if not mine:  # every process takes part in every update
            mine, share = window[:1], 0.0
        total = dict.fromkeys(self.objective.parts, 0.0)
        batches = self.backbone.batches(
            [[row for item in micro for row in item.rows] for micro in mine], self.limit
        )
        for i, (span, batch) in enumerate(batches):
            last = i == len(batches) - 1
            with nullcontext() if last else self.accelerator.no_sync(model):
                logits = model(batch.to(self.args.device))
                loss = torch.zeros((), device=logits.device)
                taken = 0
                for micro in mine[span.start : span.stop]:
                    found: list[Tensor] = []
                    for item in micro:
                        reads = sum(len(row.reads) for row in item.rows)
                        found.append(logits[taken : taken + reads])
                        taken += reads
                    parts = self.objective.loss(micro, found)
                    loss = loss + share * parts["loss"]
                    for name, value in parts.items():
                        total[name] += share * float(value.detach())
                if not torch.isfinite(loss):
                    raise InterPactError(self._not_finite(mine[span.start : span.stop]))
                self.accelerator.backward(loss)
        values = torch.tensor(list(total.values()), dtype=torch.float64, device=self.args.device)
        if world > 1:
            torch.distributed.all_reduce(values)
            values /= world
        self.parts = dict(zip(total, values.tolist(), strict=True))
        return torch.tensor(self.parts["loss"], device=self.args.device)

    def _not_finite(self, micros: Sequence[Micro]) -> str:
        pairs = ", ".join(item.pair.id for micro in micros for item in micro)
        return (
            f"the loss is not a finite number at update {self.state.global_step + 1} (pairs {pairs}); "
            f"the checkpoints in {self.args.output_dir} are kept. Lower the learning rate or use "
            "float32, and start again with --resume"
        )

    def _save(
        self, output_dir: str | None = None, state_dict: dict[str, Any] | None = None
    ) -> None:
        self.backbone.save(output_dir or str(self.args.output_dir))

    def _load_from_checkpoint(
        self, resume_from_checkpoint: str, model: nn.Module | None = None
    ) -> None:
        from peft import load_peft_weights, set_peft_model_state_dict

        weights = load_peft_weights(resume_from_checkpoint, device="cpu")
        set_peft_model_state_dict(self.backbone.model, weights)
        self.backbone.load_head(resume_from_checkpoint)


def _only(batch: list[Window]) -> Window:
    return batch[0]


def _pairs(window: Window) -> int:
    return sum(item.pairs for micro in window for item in micro)


class _Bookkeeping(TrainerCallback):
    """Metrics of every update, a measured checkpoint at every so many, and progress for the user."""

    def __init__(
        self,
        stage: str,
        folder: Path,
        steps: Sequence[int],
        measure: Callable[[], Predictions],
        watch: Watch | None,
    ) -> None:
        self.steps = frozenset(steps)
        self.stage, self.folder = stage, folder
        self.measure, self.watch = measure, watch
        self.trainer: StageTrainer | None = None
        self.began, self.first = 0.0, 0

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.began, self.first = time.monotonic(), state.global_step

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        trainer = self.trainer
        if trainer is None:
            return
        step: int = state.global_step
        seconds = time.monotonic() - self.began
        window = trainer.batches[step - 1]
        if args.should_save:
            self._write(
                {
                    "step": step,
                    **trainer.parts,
                    "learning_rate": trainer._get_learning_rate(),
                    "pairs": _pairs(window),
                    "seconds": round(seconds, 3),
                }
            )
        if self.watch and args.process_index == 0:
            sizes = [_pairs(w) for w in trainer.batches]
            self.watch(
                Progress(
                    self.stage,
                    step,
                    len(sizes),
                    sum(sizes[self.first : step]),
                    sum(sizes[step:]),
                    seconds,
                    trainer.parts["loss"],
                )
            )
        control.should_save = step in self.steps

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if self.trainer is None:
            return
        here = self.folder / f"checkpoint-{state.global_step}"
        if args.should_save:
            _finish(here)
        began = time.monotonic()
        self.measured(state.global_step)
        self.began += time.monotonic() - began  # speed and remaining time are those of training

    def measured(self, step: int) -> None:
        """Measure the weights as they are now on development pairs."""
        found = scores(self.measure())
        if self.trainer is not None and self.trainer.args.should_save:
            self._write({"step": step, "dev": found})

    def _write(self, record: dict[str, Any]) -> None:
        with (self.folder / METRICS).open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")


def _finish(checkpoint: Path) -> None:
    """Mark a checkpoint as whole; only the newest keeps what resuming needs."""
    (checkpoint / COMPLETE).write_text("{}\n", encoding="utf-8")
    for other in checkpoint.parent.glob("checkpoint-*"):
        if other != checkpoint:
            for pattern in _FOR_RESUMING:
                for path in other.glob(pattern):
                    path.unlink()


def checkpoints(folder: Path) -> dict[int, Path]:
    """The whole checkpoints of a stage by step."""
    found = {
        int(path.name.rpartition("-")[2]): path
        for path in folder.glob("checkpoint-*")
        if (path / COMPLETE).exists()
    }
    return dict(sorted(found.items()))


def metrics(folder: Path) -> tuple[list[dict[str, Any]], dict[int, dict[str, float | None]]]:
    """What a stage recorded: one record an update, and the development scores by step."""
    updates: dict[int, dict[str, Any]] = {}
    dev: dict[int, dict[str, float | None]] = {}
    path = folder / METRICS
    for record in _lines(path) if path.exists() else ():
        if "dev" in record:
            dev[record["step"]] = record["dev"]
        else:
            updates[record["step"]] = record
    return [updates[step] for step in sorted(updates)], dict(sorted(dev.items()))


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            try:
                yield json.loads(line)
            except ValueError:  # the last line of a killed process
                continue


def _forget_after(folder: Path, step: int) -> None:
    """Drop what a killed process recorded after its last whole checkpoint."""
    path = folder / METRICS
    if path.exists():
        kept = [r for r in _lines(path) if r["step"] <= step]
        part = path.with_suffix(".part")
        part.write_text("".join(json.dumps(r) + "\n" for r in kept), encoding="utf-8")
        part.replace(path)
    for other in folder.glob("checkpoint-*"):
        if not (other / COMPLETE).exists():
            shutil.rmtree(other)


def train_stage(
    name: str,
    backbone: Backbone,
    objective: Objective,
    train: Sequence[Pair],
    dev: Sequence[Pair],
    stage: StageSettings,
    folder: Path,
    *,
    seed: int,
    limit: int,
    resume: bool = False,
    watch: Watch | None = None,
) -> None:
    """Train one stage into a folder of checkpoints, each measured on the development pairs."""
    batches = windows(objective.items(train), stage, seed)
    steps = checkpoint_steps(len(batches), stage.checkpoint_every)
    args = TrainingArguments(
        output_dir=str(folder),
        max_steps=len(batches),
        per_device_train_batch_size=1,
        gradient_accumulation_steps=1,
        learning_rate=stage.learning_rate,
        weight_decay=stage.weight_decay,
        lr_scheduler_type="cosine",
        warmup_steps=math.ceil(stage.warmup * len(batches)),
        optim="adamw_torch",
        seed=seed,
        use_cpu=backbone.device.type == "cpu",
        ddp_find_unused_parameters=False,
        save_strategy="no",
        logging_strategy="steps" if _trackers() else "no",
        logging_steps=10,
        report_to=_trackers(),
        disable_tqdm=True,
        dataloader_pin_memory=False,
        remove_unused_columns=False,
        label_names=[],
    )
    main = args.process_index == 0
    done = checkpoints(folder)
    if main:
        folder.mkdir(parents=True, exist_ok=True)
        _forget_after(folder, max(done, default=0) if resume else 0)
        if not resume:
            for path in folder.glob("checkpoint-*"):
                shutil.rmtree(path)
    book = _Bookkeeping(
        name, folder, steps, lambda: _measure(objective, backbone, dev, limit, args), watch
    )
    trainer = StageTrainer(backbone, objective, batches, limit, args=args, callbacks=[book])
    trainer.remove_callback(PrinterCallback)
    book.trainer = trainer
    last = max(done, default=0) if resume else 0
    try:
        if last and last not in metrics(folder)[1]:  # killed while it was measured
            trainer._load_from_checkpoint(str(done[last]))
            book.measured(last)
        if last < len(batches):
            trainer.train(resume_from_checkpoint=str(done[last]) if last else None)
    except OSError as error:
        raise InterPactError(
            f"{folder}: {error.strerror or error}; the whole checkpoints are kept. Make room and start "
            "again with --resume"
        ) from None


def _measure(
    objective: Objective,
    backbone: Backbone,
    dev: Sequence[Pair],
    limit: int,
    args: TrainingArguments,
) -> Predictions:
    """Predictions on the development target pairs, shared between processes root by root."""
    dev = [
        pair for pair in dev if not pair.record.operation.control
    ]  # checkpoints compare no others
    world = args.world_size
    if world == 1:
        return objective.measure(backbone, dev, limit)
    roots = sorted({pair.record.root for pair in dev})
    mine = set(roots[args.process_index :: world])
    found = objective.measure(backbone, [p for p in dev if p.record.root in mine], limit)
    gathered: list[Any] = [None] * world
    torch.distributed.all_gather_object(gathered, (found.log_q, found.log_p, found.log_branches))
    pairs = [p for rank in range(world) for p in dev if p.record.root in set(roots[rank::world])]
    parts = list(zip(*gathered, strict=True))
    log_q, log_p, branches = (None if p[0] is None else torch.cat(p) for p in parts)
    return Predictions(pairs, log_q, torch.zeros(0, 3) if log_p is None else log_p, branches)


def _trackers() -> list[str]:
    """Trackers that are installed."""
    return [name for name in ("trackio", "tensorboard") if find_spec(name)]
