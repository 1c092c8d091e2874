"""Pairs per second of the second stage, beside a straightforward implementation of the same losses.

    python benchmarks/training.py [--corpus DIR] [--windows 12] [--dtype float32 bfloat16]

Straightforward: plain transformers and PEFT, a row for each branch, the frozen estimator asked anew at
every step, logits over the whole vocabulary at every position, rows padded to the longest. Ours counts
the estimator too: it reads each pair once for the two passes of a training. Both train on the same
pairs in the same order, from the same weights. The losses of the first batch are held against each
other without dropout; then both are timed with it.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from interpact.case.states import Decision, State
from interpact.corpus.pairs import Pair, Split
from interpact.corpus.store import SAMPLE, Corpus
from interpact.verifier.backbone import Backbone, load_backbone
from interpact.verifier.compose import compose, hard_warrant
from interpact.verifier.config import LoraSettings, LossSettings, StageSettings, Variant
from interpact.verifier.fetch import SMOLLM2, fetch_smollm2
from interpact.verifier.losses import losses
from interpact.verifier.objectives import PropagationObjective
from interpact.verifier.questions import Questions, estimate
from interpact.verifier.train import Window, metrics, train_stage, windows

DROPOUT = 0.05
LIMIT = 1536
PASSES = 2  # of a training, over which the estimator's one reading is spread
STATES, DECISIONS = list(State), list(Decision)


class Straightforward:
    """The same training as one would write it first."""

    def __init__(self, dtype: str) -> None:
        from peft import LoraConfig, get_peft_model
        from transformers import AutoModelForCausalLM

        kind = getattr(torch, dtype)
        where = fetch_smollm2()
        torch.manual_seed(1)
        adapters = LoraConfig(
            r=32, lora_alpha=64, lora_dropout=DROPOUT, target_modules="all-linear"
        )
        self.model = get_peft_model(
            AutoModelForCausalLM.from_pretrained(where, dtype=kind), adapters
        )
        self.estimator = AutoModelForCausalLM.from_pretrained(where, dtype=kind).eval()
        self.optimizer = torch.optim.AdamW(
            [p for p in self.model.parameters() if p.requires_grad], lr=1e-4
        )

    def reads(self, model: Any, rows: Sequence[Sequence[int]]) -> Tensor:
        """The logits after the last token of each row."""
        length = max(map(len, rows))
        tokens = torch.tensor([[*row, *[0] * (length - len(row))] for row in rows])
        mask = torch.tensor([[1] * len(row) + [0] * (length - len(row)) for row in rows])
        logits = model(input_ids=tokens, attention_mask=mask, use_cache=False).logits
        return logits[range(len(rows)), [len(row) - 1 for row in rows]].float()

    def loss(self, questions: Questions, pairs: Sequence[Pair]) -> Tensor:
        """The loss of a microbatch."""
        asked = [questions.after_state(p.id, p.after, p.of.root.condition)[0] for p in pairs]
        with torch.no_grad():
            states = self.reads(self.estimator, [r.tokens[: r.reads[0] + 1] for r in asked])
        log_q = states[:, list(questions.states.tokens)].log_softmax(-1)
        objective = PropagationObjective(questions, {}, Variant.INTERPACT, LossSettings())
        rows = [row for pair in pairs for row in objective.rows(pair)]
        branches = [row.tokens[: read + 1] for row in rows for read in row.reads]
        logits = self.reads(self.model, branches)[:, list(questions.decisions.tokens)]
        log_R = logits.log_softmax(-1).view(len(pairs), 3, 3)
        before = torch.tensor([DECISIONS.index(p.of.decision) for p in pairs])
        known = torch.tensor([STATES.index(p.of.state) for p in pairs])
        return losses(
            log_R,
            compose(log_q, hard_warrant(log_R, known, before)),
            torch.tensor([[DECISIONS.index(p.of.mapping[s]) for s in STATES] for p in pairs]),
            before,
            torch.tensor([DECISIONS.index(p.decision_after) for p in pairs]),
            torch.tensor([p.weight for p in pairs]),
            LossSettings().of(Variant.INTERPACT),
        ).total

    def step(self, questions: Questions, window: Window) -> None:
        """One update."""
        self.model.train()
        for micro in window:
            (self.loss(questions, [item.pair for item in micro]) / len(window)).backward()
        self.optimizer.step()
        self.optimizer.zero_grad()


def fresh(dtype: str) -> Backbone:
    """The backbone with new adapters, the same weights as the straightforward one has."""
    torch.manual_seed(1)
    settings = LoraSettings(dropout=DROPOUT, embeddings=False)
    return load_backbone(SMOLLM2, new_adapter=settings, trainable=True, dtype=dtype)


def first_loss(backbone: Backbone, objective: PropagationObjective, window: Window) -> float:
    """The loss of a window without dropout."""
    with torch.no_grad():
        found = list(backbone.logits([item.rows for micro in window for item in micro], LIMIT))
    total, at = 0.0, 0
    for micro in window:
        total += float(objective.loss(micro, found[at : at + len(micro)])["loss"]) / len(window)
        at += len(micro)
    return total


def floating_point_operations(
    backbone: Backbone, objective: PropagationObjective, window: Window
) -> int:
    """Of the matrix multiplications of one update."""
    backbone.reader.train()
    with FlopCounterMode(display=False) as counter:
        batches = backbone.batches([item.rows for micro in window for item in micro], LIMIT)
        for _, batch in batches:
            backbone.reader(batch).float().logsumexp(-1).sum().backward()
    backbone.model.zero_grad()
    return counter.get_total_flops()


def peak(dtype: str, size: int = 2048, seconds: float = 3.0) -> float:
    """Floating-point operations a second of plain square matrix multiplications."""
    a, b = (torch.randn(size, size).to(getattr(torch, dtype)) for _ in range(2))
    a @ b
    done, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        a @ b
        done += 1
    return 2 * size**3 * done / (time.perf_counter() - began)


def measure(dtype: str, pairs: Sequence[Pair], batches: int, slow: int) -> float:
    """Prints both speeds; gives their ratio."""
    plain = Straightforward(dtype)
    backbone = fresh(dtype)
    questions = Questions(backbone.encoder)
    stage = StageSettings(passes=1.0, checkpoint_every=1 << 30)
    kept = pairs[: batches * stage.batch]

    began = time.perf_counter()
    asked = [(p.id, p.after, p.of.root.condition) for p in kept]
    backbone.model.disable_adapter_layers()  # the estimator is the backbone as it was
    log_q = dict(zip([p.id for p in kept], estimate(backbone, asked, LIMIT).log_q, strict=True))
    backbone.model.enable_adapter_layers()
    estimating = (time.perf_counter() - began) / len(kept) / PASSES
    objective = PropagationObjective(questions, log_q, Variant.INTERPACT, LossSettings())
    order = windows(objective.items(kept), stage, 1)

    plain.model.eval()
    with torch.no_grad():
        theirs = sum(
            float(plain.loss(questions, [i.pair for i in micro])) / len(order[0])
            for micro in order[0]
        )
    ours = first_loss(backbone, objective, order[0])
    tolerance = 1e-3 if dtype == "float32" else 5e-2
    assert abs(ours - theirs) < tolerance * theirs, f"losses differ: {ours} and {theirs}"

    began = time.perf_counter()
    for window in order[:slow]:
        plain.step(questions, window)
    slow_rate = sum(len(micro) for window in order[:slow] for micro in window) / (
        time.perf_counter() - began
    )

    operations = sum(
        floating_point_operations(backbone, objective, window) for window in order[1:3]
    ) / sum(len(micro) for window in order[1:3] for micro in window)
    with tempfile.TemporaryDirectory() as folder:
        train_stage(
            "propagation", backbone, objective, kept, [], stage, Path(folder), seed=1, limit=LIMIT
        )
        first, *rest = metrics(Path(folder))[0]  # the first update warms up
    training = (rest[-1]["seconds"] - first["seconds"]) / sum(r["pairs"] for r in rest)
    fast_rate = 1 / (training + estimating)
    reached = operations / training / peak(dtype)
    ratio = fast_rate / slow_rate
    print(
        f"{dtype:9} straightforward {slow_rate:6.2f} pairs/s, ours {fast_rate:6.2f} pairs/s: "
        f"{ratio:.1f} x; first loss {theirs:.4f} and {ours:.4f}; "
        f"{reached:.0%} of the measured matrix-multiply peak"
    )
    return ratio


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, default=SAMPLE)
    parser.add_argument("--windows", type=int, default=8, help="updates of 16 pairs, ours")
    parser.add_argument("--slow", type=int, default=1, help="updates of the straightforward one")
    parser.add_argument("--dtype", nargs="+", default=["float32", "bfloat16"])
    given = parser.parse_args()
    pairs = [p for p in Corpus.read(given.corpus).pairs if p.of.split is Split.TRAIN]
    for dtype in given.dtype:
        ratio = measure(dtype, pairs, given.windows, given.slow)
        aim = 10 if dtype == "float32" else 4
        print(f"{'':9} aim {aim} x: {'reached' if ratio >= aim else 'missed'}")


if __name__ == "__main__":
    main()
