"""A prompted model behind any OpenAI-compatible endpoint, on both tasks.

Chat endpoints score no continuations, so the nine outcomes are numbered and the number is asked for.
Where the endpoint tells the logprobs of its tokens, they give the distribution; elsewhere the answer
alone counts. What cannot be used is no answer, never a label. Answers are cached in the run.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from interpact.case.case import Root
from interpact.case.states import Decision, State
from interpact.construct.ask import Answer as Reply
from interpact.construct.ask import Failure, Request
from interpact.construct.cache import Cache
from interpact.construct.endpoint import Endpoint, Unanswered
from interpact.corpus.pairs import Pair
from interpact.systems import prompts
from interpact.systems.answer import WORDS, Answer
from interpact.systems.config import EndpointSettings
from interpact.verifier.objectives import Predictions
from interpact.verifier.prompts import DECISION_WORDS, STATE_WORDS, PairText, direct

CACHE = "answers.sqlite"
OUTCOMES = [(state, decision) for state in State for decision in Decision]
NUMBERS = [str(i + 1) for i in range(len(OUTCOMES))]
FORM = "Answer with one number, and nothing else:\n" + "\n".join(
    f"{n}: {STATE_WORDS[s]}, {DECISION_WORDS[d]}"
    for n, (s, d) in zip(NUMBERS, OUTCOMES, strict=True)
)
UNSEEN = 1e-6
"""The chance of an answer that is not among those a server tells."""


LOGPROBS = {"logprobs": True, "top_logprobs": 20}


class TextEndpoint(Endpoint):
    """An endpoint that answers in text, with logprobs where it can."""

    def _body(self, request: Request, plain: bool) -> dict[str, Any]:
        sent = {"messages": [{"role": "user", "content": request.user}]}
        return sent if plain else {**sent, **LOGPROBS}

    def _read(self, payload: object, request: Request) -> Reply:
        return read_text(payload)


@dataclass(frozen=True)
class Served:
    """The prompted model; it satisfies `System`."""

    run: Path
    settings: EndpointSettings
    threshold: float | None

    def pairs(self, pairs: Sequence[Pair]) -> Predictions:
        """Marginals of the nine outcomes; a row of NaN where there is no usable answer."""
        asked = [
            prompts.outcome(PairText(p.of.root, p.after), p.of.state, p.of.decision, FORM)
            for p in pairs
        ]
        joint = [outcome_of(reply) for reply in self._ask("outcome", asked)]
        if not joint:
            return Predictions()
        both = torch.stack(joint).view(len(pairs), len(State), len(Decision))
        return Predictions(list(pairs), both.logsumexp(2), both.logsumexp(1))

    def roots(self, roots: Sequence[Root]) -> list[Answer]:
        """The text of each answer, and P(Yes) where the endpoint tells logprobs."""
        return [answer_of(reply) for reply in self._ask("direct", [direct(root) for root in roots])]

    def _ask(self, purpose: str, asked: Sequence[str]) -> list[Reply | None]:
        # The schema is of no use to a text; it keeps these answers apart from others in a cache.
        requests = [Request(purpose, "", text, "text", LOGPROBS) for text in asked]
        return asyncio.run(_replies(self.run / CACHE, self.settings, requests))


async def _replies(
    cache: Path, settings: EndpointSettings, requests: Sequence[Request]
) -> list[Reply | None]:
    """The replies in order, many asked at once; None for one that cannot be had."""
    found: list[Reply | None] = [None] * len(requests)
    waiting = iter(enumerate(requests))
    with Cache(cache) as kept:
        endpoint = TextEndpoint(
            settings.model,
            kept,
            base_url=settings.base_url,
            parameters=settings.parameters,
            key_variable=settings.key_variable,
            slots=settings.slots,
            timeout=settings.timeout,
            patience=settings.patience,
        )

        async def worker() -> None:
            for i, request in waiting:
                try:
                    found[i] = await endpoint(request)
                except Unanswered:
                    continue

        async with endpoint:
            try:
                async with asyncio.TaskGroup() as workers:
                    for _ in range(min(3 * settings.slots, len(requests))):
                        workers.create_task(worker())
            except BaseExceptionGroup as failures:
                raise failures.exceptions[0] from None
    return found


def read_text(payload: Any) -> Reply:
    """The text of a chat completion, and for each token what else it could have been."""
    try:
        choice: dict[str, Any] = payload["choices"][0]
        message, used = choice["message"], payload.get("usage") or {}
        text, refusal = message.get("content") or "", message.get("refusal")
        counts = (used.get("prompt_tokens") or 0, used.get("completion_tokens") or 0)
        tokens = (choice.get("logprobs") or {}).get("content") or []
        told = [
            {str(one["token"]): float(one["logprob"]) for one in token.get("top_logprobs") or []}
            for token in tokens
        ]
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        raise ValueError("no chat completion") from error
    if refusal or choice.get("finish_reason") == "content_filter":
        return Reply(None, Failure.REFUSED, *counts)
    if not text.strip():
        return Reply(None, Failure.EMPTY, *counts)
    return Reply({"text": text, "tokens": told}, None, *counts)


def outcome_of(reply: Reply | None) -> Tensor:
    """The log distribution over the nine outcomes that a reply comes to; NaN for an unusable one."""
    chances = None if reply is None or reply.data is None else spread(reply.data["tokens"], NUMBERS)
    if chances is None:
        text = "" if reply is None or reply.data is None else reply.data["text"]
        said = text.strip().rstrip(".")
        if said not in NUMBERS:
            return torch.full((len(NUMBERS),), math.nan)
        chances = [float(number == said) for number in NUMBERS]
    return torch.tensor(chances, dtype=torch.double).log()


def answer_of(reply: Reply | None) -> Answer:
    """What a reply says about a root; an empty text, which is invalid, where there is none."""
    if reply is None or reply.data is None:
        return Answer("")
    chances = spread(reply.data["tokens"], WORDS)
    return Answer(reply.data["text"], None if chances is None else chances[0])


def spread(tokens: Sequence[Mapping[str, float]], labels: Sequence[str]) -> list[float] | None:
    """The chances of labels at the first token that is one; None where none is told."""
    for told in tokens:
        chances = dict.fromkeys(labels, 0.0)
        for token, logprob in told.items():
            if token.strip() in chances:
                chances[token.strip()] += math.exp(logprob)
        if any(chances.values()):
            total = sum(max(chance, UNSEEN) for chance in chances.values())
            return [max(chance, UNSEEN) / total for chance in chances.values()]
        if any(token.strip() for token in told):
            return None  # it began to say something else
    return None
