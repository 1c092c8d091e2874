"""What the verifier is asked, as rows of tokens, and what its logits say, as log-probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from interpact.case.case import Case, Root
from interpact.case.states import Decision, State
from interpact.verifier import prompts
from interpact.verifier.backbone import Backbone
from interpact.verifier.encode import Encoder, Labels
from interpact.verifier.pack import Row


@dataclass(frozen=True, slots=True)
class Answered:
    """A row with the tokens that are to follow its read positions."""

    row: Row
    targets: tuple[int, ...]


class Questions:
    """The prompts of the verifier in the tokens of one model."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self.states = encoder.labels(prompts.as_answers(prompts.STATE_WORDS.values()))
        self.decisions = encoder.labels(prompts.as_answers(prompts.DECISION_WORDS.values()))
        self.verdicts = encoder.labels(["Yes", "No"])
        self.words = {
            label: encoder.text(f" {word}")
            for label, word in {**prompts.STATE_WORDS, **prompts.DECISION_WORDS}.items()
        }

    def after_state(self, name: str, case: Case, condition: str) -> list[Row]:
        """The state, then the decision after each of the three states: four reads."""
        asked = self.asked_state(case, condition)
        at_state = len(asked) + len(self.states.start) - 1
        rows: list[Row] = []
        for state in State:
            tokens = (*asked, *self.words[state], *self._decision_start, *self.decisions.start)
            reads = (at_state, len(tokens) - 1) if not rows else (len(tokens) - 1,)
            rows.append(self.encoder.row(name, tokens, reads))
        return rows

    def state(self, name: str, case: Case, condition: str) -> Row:
        """The state alone: one read."""
        tokens = (*self.asked_state(case, condition), *self.states.start)
        return self.encoder.row(name, tokens, (len(tokens) - 1,))

    def answered(
        self, name: str, case: Case, condition: str, state: State, decision: Decision
    ) -> Answered:
        """The state and the decision as they are to be said, and the end of the turn."""
        tokens = list(self.asked_state(case, condition))
        reads: list[int] = []
        targets: list[int] = []

        def say(words: Sequence[int]) -> None:
            for token in words:
                reads.append(len(tokens) - 1)
                targets.append(token)
                tokens.append(token)

        say(self.words[state])
        tokens += self._decision_start
        say(self.words[decision])
        if self.encoder.end is not None:
            say((self.encoder.end,))
        return Answered(self.encoder.row(name, tokens[:-1], reads), tuple(targets))

    def paired(
        self,
        name: str,
        pair: prompts.PairText,
        state: State,
        decision: Decision,
        outright: bool = False,
    ) -> Row:
        """The decision under each state, a placeholder at each answer; also outright if asked."""
        tokens = list(self.encoder.prompt(prompts.paired(pair, state, decision)))
        reads: list[int] = []
        lines = [prompts.conditional_question(s) for s in State]
        if outright:
            lines.append(prompts.FLAT_QUESTION)
        for i, line in enumerate(lines):
            tokens += self.encoder.text(line if i == 0 else f"\n{line}")
            tokens += self.decisions.start
            reads.append(len(tokens) - 1)
            if i < len(lines) - 1:
                tokens += self.encoder.placeholder
        return self.encoder.row(name, tokens, reads)

    def own_state(self, name: str, case: Case, condition: str) -> Row:
        """The state of a condition from its own evidence: one read."""
        tokens = (
            *self.encoder.prompt(prompts.own_state(case, condition)),
            *self.encoder.text(prompts.STATE_START),
            *self.states.start,
        )
        return self.encoder.row(name, tokens, (len(tokens) - 1,))

    def direct(self, root: Root) -> Row:
        """The paper's question about one piece of evidence: Yes or No."""
        tokens = (*self.encoder.prompt(prompts.direct(root)), *self.verdicts.start)
        return self.encoder.row(root.id, tokens, (len(tokens) - 1,))

    def asked_state(self, case: Case, condition: str) -> tuple[int, ...]:
        """The question for a state, up to where the answer begins."""
        return (
            *self.encoder.prompt(prompts.after_state(case, condition)),
            *self.encoder.text(prompts.STATE_START),
        )

    @property
    def _decision_start(self) -> tuple[int, ...]:
        return self.encoder.text(prompts.DECISION_START)


def label_logs(logits: Tensor, labels: Labels) -> Tensor:
    """Log-probabilities of the labels among themselves, at each read position."""
    return logits.float()[:, list(labels.tokens)].log_softmax(-1)


@dataclass(frozen=True)
class Estimates:
    """What the estimator says of a condition: log q, and the log decision after each state.

    log_q: item x state; log_d: item x state x decision.
    """

    log_q: Tensor
    log_d: Tensor

    @property
    def log_p(self) -> Tensor:
        """The decision, marginalised over the state prefixes (eq:sft-marginal)."""
        return (self.log_q[:, :, None] + self.log_d).logsumexp(1)


def estimate(
    backbone: Backbone,
    asked: Sequence[tuple[str, Case, str]],
    limit: int = 1536,
    watch: Callable[[int], None] | None = None,
) -> Estimates:
    """State and decision of each (name, case, condition), from the case text alone."""
    questions = Questions(backbone.encoder)
    groups = [questions.after_state(name, case, condition) for name, case, condition in asked]
    log_q, log_d = [torch.zeros(0, 3)], [torch.zeros(0, 3, 3)]
    for logits in backbone.logits(groups, limit, watch):
        log_q.append(label_logs(logits[:1], questions.states).cpu())
        log_d.append(label_logs(logits[1:], questions.decisions)[None].cpu())
    return Estimates(torch.cat(log_q), torch.cat(log_d))
