"""The endpoint engine: any OpenAI-compatible server, asked once a condition, with exact rules on top."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from threading import Lock
from typing import Any, Self, TypeVar

from interpact.case.case import Root
from interpact.case.states import State
from interpact.construct.ask import Answer
from interpact.construct.cache import Cache
from interpact.construct.endpoint import OPENAI, Unanswered, Usage
from interpact.judging.engines.labels import LabelEndpoint, label_chances, label_request, said
from interpact.judging.engines.protocol import (
    BranchQuestion,
    Chances,
    DirectAnswer,
    StateQuestion,
)
from interpact.verifier import prompts

T = TypeVar("T")

STATES = list(prompts.STATE_WORDS.values())
DECISIONS = list(prompts.DECISION_WORDS.values())
VERDICTS = ["Yes", "No"]
SMOOTHING = 0.5  # answers added to each label where chances are counted from samples


class EndpointEngine:
    """Answers by a model behind a URL; every answer is kept in a cache, so nothing is asked twice.

    Where the server tells the log-probabilities of the label's first token, they are the chances;
    otherwise shares among `samples` answers. Use it as a context manager, or close it.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str = OPENAI,
        cache: str | Path = ":memory:",
        samples: int = 5,
        parameters: Mapping[str, Any] | None = None,
        key_variable: str = "OPENAI_API_KEY",
        slots: int = 16,
        timeout: float = 120.0,
        patience: float = 300.0,
    ) -> None:
        self.samples = samples
        self._stack = ExitStack()
        self._lock = Lock()
        self._runner = self._stack.enter_context(asyncio.Runner())
        self.endpoint = LabelEndpoint(
            model,
            self._stack.enter_context(Cache(cache)),
            base_url=base_url,
            parameters=parameters,
            key_variable=key_variable,
            slots=slots,
            timeout=timeout,
            patience=patience,
        )
        self._open = False

    @property
    def usage(self) -> Usage:
        """What was asked so far."""
        return self.endpoint.usage

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the connections."""
        with self._lock:
            if self._open:
                self._runner.run(self.endpoint.__aexit__())
                self._open = False
            self._stack.close()

    def states(self, asked: Sequence[StateQuestion]) -> list[Chances | None]:
        """One question a condition."""
        texts = [prompts.own_state(q.case, q.condition) for q in asked]
        return self._run(_all(self._chances("state", text, STATES) for text in texts))

    def branches(self, asked: Sequence[BranchQuestion]) -> list[tuple[Chances, ...] | None]:
        """One question for each state that the target may have."""
        texts = [
            f"{prompts.paired(q.pair, q.state, q.decision)}\n{prompts.conditional_question(state)}"
            for q in asked
            for state in State
        ]
        rows = self._run(_all(self._chances("branch", text, DECISIONS) for text in texts))
        found: list[tuple[Chances, ...] | None] = []
        for at in range(0, len(rows), len(State)):
            whole = [row for row in rows[at : at + len(State)] if row is not None]
            found.append(tuple(whole) if len(whole) == len(State) else None)
        return found

    def direct(self, asked: Sequence[Root]) -> list[DirectAnswer | None]:
        """The paper's prompt, word for word."""

        async def one(root: Root) -> DirectAnswer | None:
            answer = await self._ask("direct", prompts.direct(root), VERDICTS)
            if answer is None:
                return None
            chances = label_chances(answer, VERDICTS)
            return DirectAnswer(answer["text"], None if chances is None else chances[0])

        return self._run(_all(one(root) for root in asked))

    async def _chances(self, purpose: str, prompt: str, words: Sequence[str]) -> Chances | None:
        answer = await self._ask(purpose, prompt, words)
        if answer is None:
            return None
        found = label_chances(answer, words)
        if found is None:
            more = (self._ask(purpose, prompt, words, n) for n in range(1, self.samples))
            texts = [a["text"] for a in (answer, *await _all(more)) if a is not None]
            labels = [i for text in texts if (i := said(text, words)) is not None]
            if not labels:
                return None
            total = len(labels) + SMOOTHING * len(words)
            found = [(labels.count(i) + SMOOTHING) / total for i in range(len(words))]
        first, second, third = found
        return first, second, third

    async def _ask(
        self, purpose: str, prompt: str, words: Sequence[str], sample: int = 0
    ) -> dict[str, Any] | None:
        try:
            answer: Answer = await self.endpoint(label_request(purpose, prompt, words, sample))
        except Unanswered:
            return None
        return answer.data

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        with self._lock:
            if not self._open:
                self._runner.run(self.endpoint.__aenter__())
                self._open = True
            return self._runner.run(work)


async def _all(work: Any) -> list[Any]:
    return list(await asyncio.gather(*work))
