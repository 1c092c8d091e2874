"""Propagation composition with Hard Warrant, in log space.

Axes are named in comments: pair, state (order of `State`), decision (order of `Decision`). Everything
is a logarithm of a probability; nowhere is 1 - p computed from p.
"""

from __future__ import annotations

import torch
from torch import Tensor

States, Decisions = 3, 3


def hard_warrant(log_R: Tensor, state: Tensor, decision: Tensor) -> Tensor:
    """The branches with the row of the original state fixed to the original decision (eq:hard-warrant).

    log_R: pair x state x decision; state, decision: pair.
    """
    known = torch.nn.functional.one_hot(state, States).bool()[:, :, None]
    certain = torch.nn.functional.one_hot(decision, Decisions).bool()[:, None, :]
    warranted = torch.where(certain, 0.0, -torch.inf).to(log_R.dtype)
    return torch.where(known, warranted, log_R)


def compose(log_q: Tensor, log_R: Tensor) -> Tensor:
    """log p = log(q R): the decision distribution after the intervention (eq:projection).

    log_q: pair x state; log_R: pair x state x decision; result: pair x decision.
    """
    return (log_q[:, :, None] + log_R).logsumexp(dim=1)


def flat(log_q: Tensor, log_u: Tensor, state: Tensor, decision: Tensor) -> Tensor:
    """The composition ablation: a direct decision with the warrant's mass (eq:flat-ablation).

    log_u: pair x decision, the direct decision; result: pair x decision.
    """
    rows = log_u[:, None, :].expand(-1, States, -1)
    return compose(log_q, hard_warrant(rows, state, decision))


def change(log_p: Tensor, decision: Tensor) -> tuple[Tensor, Tensor]:
    """log s and log(1 - s) of the decision-change score s = 1 - p[d_b] (eq:criticality-probability)."""
    original = torch.nn.functional.one_hot(decision, Decisions).bool()
    kept = log_p.masked_fill(~original, -torch.inf).logsumexp(dim=1)
    changed = log_p.masked_fill(original, -torch.inf).logsumexp(dim=1)
    return changed, kept
