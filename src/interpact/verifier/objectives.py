"""What each stage learns, and how its checkpoints are measured on development pairs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor

from interpact.case.states import Decision, State
from interpact.corpus.pairs import Pair
from interpact.verifier.backbone import Backbone
from interpact.verifier.compose import change, compose, flat, hard_warrant
from interpact.verifier.config import LossSettings, Variant
from interpact.verifier.losses import losses
from interpact.verifier.pack import Row
from interpact.verifier.prompts import PairText
from interpact.verifier.questions import Answered, Questions, estimate, label_logs
from interpact.verifier.selection import average_precision, balanced_accuracy, best_threshold

STATES, DECISIONS = list(State), list(Decision)


@dataclass(frozen=True)
class Item:
    """A training pair as rows; a root's items stay together."""

    pair: Pair
    rows: tuple[Row, ...]
    answered: Answered | None = None
    log_q: Tensor | None = None
    answers: tuple[Answered, ...] = ()  # of every row
    labels: tuple[int, ...] = ()  # of every row
    pairs: int = 1  # how many pairs the rows stand for


class Objective(Protocol):
    """A stage: its items, its loss over one microbatch, its measurement on development pairs."""

    parts: tuple[str, ...]

    def items(self, pairs: Sequence[Pair]) -> list[Item]: ...

    def loss(self, items: Sequence[Item], logits: Sequence[Tensor]) -> dict[str, Tensor]:
        """The parts of the loss; `loss` is what is minimised. logits: an item's reads x vocabulary."""
        ...

    def measure(self, backbone: Backbone, pairs: Sequence[Pair], limit: int) -> Predictions: ...


@dataclass
class Predictions:
    """Of pairs: log p, and where there are any log q and the log branches before Hard Warrant."""

    pairs: list[Pair] = field(default_factory=list[Pair])
    log_q: Tensor | None = field(default_factory=lambda: torch.zeros(0, 3))  # pair x state
    log_p: Tensor = field(default_factory=lambda: torch.zeros(0, 3))  # pair x decision
    log_branches: Tensor | None = None  # pair x state x decision

    @property
    def log_s(self) -> Tensor:
        """The log decision-change score."""
        return change(self.log_p, _decisions_before(self.pairs))[0]


class AfterStateObjective:
    """Stage 1: say the target state and then the decision, from the case after the intervention."""

    parts: tuple[str, ...] = ("loss",)

    def __init__(self, questions: Questions) -> None:
        self.questions = questions

    def items(self, pairs: Sequence[Pair]) -> list[Item]:
        """Rows with their answers."""
        found: list[Item] = []
        for pair in pairs:
            answered = self.questions.answered(
                pair.id, pair.after, pair.of.root.condition, pair.state_after, pair.decision_after
            )
            found.append(Item(pair, (answered.row,), answered))
        return found

    def loss(self, items: Sequence[Item], logits: Sequence[Tensor]) -> dict[str, Tensor]:
        """Next-token cross-entropy, averaged over the tokens of an answer and over answers."""
        each = [
            torch.nn.functional.cross_entropy(
                found.float(), torch.tensor(item.answered.targets, device=found.device)
            )
            for item, found in zip(items, logits, strict=True)
            if item.answered
        ]
        return {"loss": torch.stack(each).mean()}

    def measure(self, backbone: Backbone, pairs: Sequence[Pair], limit: int) -> Predictions:
        """Predictions with the decision marginalised over the state prefixes."""
        found = estimate(
            backbone, [(p.id, p.after, p.of.root.condition) for p in pairs], limit=limit
        )
        return Predictions(list(pairs), found.log_q, found.log_p)


class PropagationObjective:
    """Stage 2: the decision under each state, composed with a frozen estimator's q."""

    parts: tuple[str, ...] = ("loss", "branch", "decision", "change")

    def __init__(
        self,
        questions: Questions,
        log_q: Mapping[str, Tensor],
        variant: Variant,
        settings: LossSettings,
    ) -> None:
        self.questions, self.log_q = questions, log_q
        self.variant, self.weights = variant, settings.of(variant)
        self.outright = variant is Variant.WITHOUT_COMPOSITION

    def rows(self, pair: Pair) -> tuple[Row, ...]:
        """The paired question of a pair."""
        text = PairText(pair.of.root, pair.after)
        return (
            self.questions.paired(pair.id, text, pair.of.state, pair.of.decision, self.outright),
        )

    def items(self, pairs: Sequence[Pair]) -> list[Item]:
        """Rows with the frozen estimate of each pair."""
        return [Item(pair, self.rows(pair), log_q=self.log_q[pair.id]) for pair in pairs]

    def loss(self, items: Sequence[Item], logits: Sequence[Tensor]) -> dict[str, Tensor]:
        """The three losses over a microbatch."""
        pairs = [item.pair for item in items]
        log_q = torch.stack([item.log_q for item in items if item.log_q is not None])
        log_R, log_p = self.composed(pairs, log_q, torch.stack(list(logits)))
        at = log_R.device
        found = losses(
            log_R,
            log_p,
            torch.tensor([[DECISIONS.index(p.of.mapping[s]) for s in STATES] for p in pairs]).to(
                at
            ),
            _decisions_before(pairs).to(at),
            torch.tensor([DECISIONS.index(p.decision_after) for p in pairs]).to(at),
            torch.tensor([p.weight for p in pairs]).to(at),
            self.weights,
        )
        return {
            "loss": found.total,
            "branch": found.branch,
            "decision": found.decision,
            "change": found.change,
        }

    def composed(
        self, pairs: Sequence[Pair], log_q: Tensor, logits: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The branches R before Hard Warrant, and the decision p as the variant composes it.

        logits: pair x read x vocabulary.
        """
        logs = label_logs(logits.flatten(0, 1), self.questions.decisions).view(len(pairs), -1, 3)
        log_q = log_q.to(logs.device)
        log_R = logs[:, :3]
        state = torch.tensor([STATES.index(p.of.state) for p in pairs]).to(logs.device)
        decision = _decisions_before(pairs).to(logs.device)
        if self.variant is Variant.WITHOUT_COMPOSITION:
            return log_R, flat(log_q, logs[:, 3], state, decision)
        if self.variant is Variant.WITHOUT_HARD_WARRANT:
            return log_R, compose(log_q, log_R)
        return log_R, compose(log_q, hard_warrant(log_R, state, decision))

    def measure(self, backbone: Backbone, pairs: Sequence[Pair], limit: int) -> Predictions:
        """Composed predictions, with the branches before Hard Warrant."""
        found = list(backbone.logits([self.rows(p) for p in pairs], limit))
        if not found:
            return Predictions(log_branches=torch.zeros(0, 3, 3))
        log_q = torch.stack([self.log_q[p.id] for p in pairs])
        log_R, log_p = self.composed(pairs, log_q, torch.stack(found))
        return Predictions(list(pairs), log_q, log_p.cpu(), log_R.cpu())


def scores(predictions: Predictions) -> dict[str, float | None]:
    """What checkpoints are compared by, over the target pairs among the predictions."""
    kept = [i for i, pair in enumerate(predictions.pairs) if not pair.record.operation.control]
    if not kept:
        return {}
    pairs = [predictions.pairs[i] for i in kept]
    log_p, log_q = predictions.log_p[kept].double(), predictions.log_q
    after = torch.tensor([DECISIONS.index(p.decision_after) for p in pairs])
    states = torch.tensor([STATES.index(p.state_after) for p in pairs])
    change_scores = predictions.log_s[kept].tolist()
    changed = [pair.changed for pair in pairs]
    threshold = best_threshold(change_scores, changed)
    return {
        "nll": float(-log_p.gather(1, after[:, None]).mean()),
        "change_ap": average_precision(change_scores, changed),
        "change_ba": threshold and threshold.balanced_accuracy,
        "threshold": threshold and math.exp(threshold.value),
        "decision_accuracy": float((log_p.argmax(1) == after).double().mean()),
        "state_accuracy": None
        if log_q is None
        else float((log_q[kept].argmax(1) == states).double().mean()),
    }


def change_ba(predictions: Predictions, threshold: float) -> float | None:
    """Balanced accuracy of the decision-change prediction at a threshold, over target pairs."""
    kept = [i for i, pair in enumerate(predictions.pairs) if not pair.record.operation.control]
    found = predictions.log_s.exp().tolist()
    return balanced_accuracy(
        [found[i] >= threshold for i in kept], [predictions.pairs[i].changed for i in kept]
    )


def _decisions_before(pairs: Sequence[Pair]) -> Tensor:
    return torch.tensor([DECISIONS.index(p.of.decision) for p in pairs])
