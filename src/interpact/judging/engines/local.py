"""The local engine: a transformers model; what prompts share is computed once, all rows batched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeVar

from torch import Tensor

from interpact.case.case import Root
from interpact.judging.engines.protocol import (
    BranchQuestion,
    Chances,
    DirectAnswer,
    StateQuestion,
)
from interpact.judging.settings import StatePrompt
from interpact.systems.direct import answers
from interpact.verifier import prompts
from interpact.verifier.backbone import Backbone
from interpact.verifier.pack import Row
from interpact.verifier.questions import Questions, label_logs

T = TypeVar("T")

PACK = 2048  # tokens that are computed together
ROOM = 4  # or as many times those of the longest row
CHARACTERS = 3  # of a token, at least on average


class LocalEngine:
    """Answers by a model in this process; `paired` may be another adapter than the estimator's."""

    def __init__(
        self,
        estimator: Callable[[], Backbone],
        paired: Callable[[], Backbone] | None = None,
        state_prompt: StatePrompt = StatePrompt.OWN,
        limit: int = PACK,
    ) -> None:
        self._load_estimator, self._load_paired = estimator, paired
        self.state_prompt, self.limit = state_prompt, limit

    @cached_property
    def estimator(self) -> Backbone:
        """The model that tells states, loaded when it is first asked."""
        return self._load_estimator()

    @cached_property
    def paired(self) -> Backbone:
        """The model that tells branches and answers outright."""
        return self._load_paired() if self._load_paired else self.estimator

    def states(self, asked: Sequence[StateQuestion]) -> list[Chances | None]:
        """One row a question; rows of a case share what they begin with."""
        questions = Questions(self.estimator.encoder)
        rows = [[self._state_row(questions, q)] for q in asked]
        return self._read(
            self.estimator, rows, lambda logits: _chances(label_logs(logits, questions.states)[0])
        )

    def branches(self, asked: Sequence[BranchQuestion]) -> list[tuple[Chances, ...] | None]:
        """The three conditional questions of an edit are one row."""
        questions = Questions(self.paired.encoder)
        rows = [[questions.paired(q.pair.root.id, q.pair, q.state, q.decision)] for q in asked]
        return self._read(
            self.paired,
            rows,
            lambda logits: tuple(map(_chances, label_logs(logits, questions.decisions))),
        )

    def direct(self, asked: Sequence[Root]) -> list[DirectAnswer | None]:
        """The greedy answer, and P(Yes)."""
        longest = max((len(prompts.direct(root)) for root in asked), default=0) // CHARACTERS
        found = answers(self.paired, asked, self._room(longest))
        return [DirectAnswer(answer.text, answer.p_yes) for answer in found]

    def _state_row(self, questions: Questions, q: StateQuestion) -> Row:
        name = f"{q.case.id}, {q.condition}"
        ask = questions.own_state if self.state_prompt is StatePrompt.OWN else questions.state
        return ask(name, q.case, q.condition)

    def _room(self, longest: int) -> int:
        """Tokens that are computed together: what long rows share must not be repeated for each few."""
        return max(self.limit, ROOM * longest)

    def _read(
        self, backbone: Backbone, groups: Sequence[Sequence[Row]], of: Callable[[Tensor], T]
    ) -> list[T]:
        """What `of` makes of the logits of every group; equal groups are computed once."""
        place: dict[tuple[Row, ...], int] = {}
        for group in groups:
            place.setdefault(tuple(group), len(place))
        longest = max((len(row.tokens) for group in place for row in group), default=0)
        found = [of(logits) for logits in backbone.logits(list(place), self._room(longest))]
        return [found[place[tuple(group)]] for group in groups]


def _chances(logs: Tensor) -> Chances:
    first, second, third = logs.exp().tolist()
    return first, second, third
