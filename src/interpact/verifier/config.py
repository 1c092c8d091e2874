"""The settings of a training; the defaults are the paper's (tab:training)."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from interpact.verifier.losses import LossWeights


class _Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Variant(StrEnum):
    """The full verifier and its four matched ablations (app. "Matched ablations")."""

    INTERPACT = "interpact"
    WITHOUT_COMPOSITION = "without_composition"
    WITHOUT_BRANCH_LOSS = "without_branch_loss"
    WITHOUT_CHANGE_LOSS = "without_change_loss"
    WITHOUT_HARD_WARRANT = "without_hard_warrant"


class Order(StrEnum):
    """How training pairs follow each other."""

    ROOTS = "roots"  # pairs of a root side by side: fastest, but a batch sees two or three roots
    MIXED = "mixed"  # the same in fours, shuffled
    PAIRS = "pairs"  # all pairs shuffled


class LoraSettings(_Settings):
    """Adapters on all linear layers."""

    rank: Annotated[int, Field(ge=1)] = 32
    scale: Annotated[int, Field(ge=1)] = 64  # lora_alpha
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.05
    embeddings: bool = True  # embeddings and output layer are trained too


class StageSettings(_Settings):
    """One stage of training."""

    passes: Annotated[float, Field(gt=0)] = 2.0
    learning_rate: Annotated[float, Field(gt=0)] = 5e-5
    warmup: Annotated[float, Field(ge=0, lt=1)] = 0.03  # share of the updates; then cosine decay
    weight_decay: Annotated[float, Field(ge=0)] = 0.1
    batch: Annotated[int, Field(ge=1)] = 16  # pairs of an update
    micro: Annotated[int, Field(ge=1)] = 2  # pairs over which a loss is normalised
    checkpoint_every: Annotated[int, Field(ge=1)] = 50
    order: Order = Order.MIXED


class LossSettings(_Settings):
    """How much each loss of the second stage counts."""

    branch: Annotated[float, Field(ge=0)] = 0.5
    decision: Annotated[float, Field(ge=0)] = 1.0
    change: Annotated[float, Field(ge=0)] = 0.5

    def of(self, variant: Variant) -> LossWeights:
        """The weights that a variant trains with."""
        return LossWeights(
            0.0 if variant is Variant.WITHOUT_BRANCH_LOSS else self.branch,
            self.decision,
            0.0 if variant is Variant.WITHOUT_CHANGE_LOSS else self.change,
        )


class TrainConfig(_Settings):
    """A training of the verifier in two stages."""

    backbone: str = "Qwen/Qwen3.5-4B"
    dtype: Annotated[str, Field(pattern="^(auto|float32|bfloat16|float16)$")] = "auto"
    device: str = "auto"
    seed: int = 1
    variant: Variant = Variant.INTERPACT
    lora: LoraSettings = LoraSettings()
    after_state: StageSettings = StageSettings()
    propagation: StageSettings = StageSettings()
    losses: LossSettings = LossSettings()
    pack_tokens: Annotated[int, Field(ge=1)] = 1536  # tokens that are computed together
