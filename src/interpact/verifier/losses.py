"""The three losses of the second stage, over one microbatch (eq:training-objective)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from interpact.verifier.compose import change


@dataclass(frozen=True)
class LossWeights:
    """How much each loss counts; an ablation sets one to zero."""

    branch: float = 0.5  # lambda_branch
    decision: float = 1.0
    change: float = 0.5  # lambda_change


@dataclass(frozen=True)
class Losses:
    """The losses of a microbatch and their weighted sum."""

    total: Tensor
    branch: Tensor
    decision: Tensor
    change: Tensor


def losses(
    log_R: Tensor,
    log_p: Tensor,
    mapping: Tensor,
    decision_before: Tensor,
    decision_after: Tensor,
    omega: Tensor,
    weights: LossWeights,
) -> Losses:
    """Branch loss on R before Hard Warrant; decision and change losses on p after it.

    log_R: pair x state x decision; log_p: pair x decision; mapping: pair x state (decisions);
    decision_before, decision_after, omega: pair.
    """
    branch = -log_R.gather(2, mapping[:, :, None]).mean()
    of_decision = -log_p.gather(1, decision_after[:, None]).squeeze(1)
    log_s, log_kept = change(log_p, decision_before)
    of_change = -torch.where(decision_after != decision_before, log_s, log_kept)
    decision = (omega * of_decision).sum() / omega.sum()
    changed = (omega * of_change).sum() / omega.sum()
    # A loss of weight zero is reported, but leaves the gradient alone even where it is infinite.
    total = sum(
        weight * loss
        for weight, loss in (
            (weights.branch, branch),
            (weights.decision, decision),
            (weights.change, changed),
        )
        if weight
    )
    if not isinstance(total, Tensor):
        raise ValueError("all three loss weights are zero; there is nothing to train")
    return Losses(total, branch, decision, changed)
