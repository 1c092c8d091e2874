"""The settings of a construction: who edits, judges and checks, and how the endpoint is asked."""

from __future__ import annotations

from contextlib import AsyncExitStack, ExitStack
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from interpact.construct.ask import Answer, Ask, Request, Unkept
from interpact.construct.cache import Cache
from interpact.construct.checks import ModelAssessor, NoAssessor
from interpact.construct.editors import ModelEditor
from interpact.construct.endpoint import OPENAI, Endpoint, Usage, kept_answer
from interpact.construct.judges import Panel
from interpact.construct.offline import OfflineEditor
from interpact.construct.run import Makers
from interpact.corpus.store import Corpus
from interpact.errors import InterPactError
from interpact.settings import read_settings

CACHE = "answers.sqlite"


class Who(StrEnum):
    """Who does a part of the work."""

    MODEL = "model"
    OFFLINE = "offline"
    NOBODY = "nobody"


class ConstructConfig(BaseModel):
    """Settings; the defaults are the paper's model in every part."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    editor: Who = Who.MODEL
    judges: Who = Who.MODEL
    third_opinion: bool = True
    checks: Who = Who.MODEL
    model: str = "gpt-5.4"
    base_url: str = OPENAI
    key_variable: str = "OPENAI_API_KEY"
    parameters: dict[str, Any] = Field(default_factory=dict[str, Any])
    slots: Annotated[int, Field(ge=1)] = 16
    timeout: Annotated[float, Field(gt=0)] = 120.0  # seconds for one answer
    patience: Annotated[float, Field(gt=0)] = 300.0  # seconds without any answer

    @staticmethod
    def read(path: Path) -> ConstructConfig:
        """The settings of a YAML file; unknown ones are errors."""
        return read_settings(path, ConstructConfig)

    @property
    def needs_model(self) -> bool:
        """Whether anything is asked of an endpoint."""
        return Who.MODEL in (self.editor, self.judges, self.checks)


async def nothing_kept(request: Request) -> Answer:
    """An `Ask` that asks nothing and knows no answer."""
    raise Unkept(request)


def kept_answers(stack: ExitStack, config: ConstructConfig, folder: Path) -> Ask:
    """An `Ask` that gives the answers that are cached beside the corpus, and asks nothing."""
    if not config.needs_model or not (folder / CACHE).exists():
        return nothing_kept
    cache = stack.enter_context(Cache(folder / CACHE))

    async def kept(request: Request) -> Answer:
        answer = await kept_answer(cache, config.model, config.parameters, request)
        if answer is None:
            raise Unkept(request)
        return answer

    return kept


def makers(config: ConstructConfig, corpus: Corpus, ask: Ask | None) -> Makers:
    """Editor, judges and assessor; without anyone to ask their requests are counted, not sent."""
    asked = ask or nothing_kept
    if config.judges is Who.OFFLINE or config.checks is Who.OFFLINE:
        raise InterPactError(
            "judges and checks: use model or nobody; only the editor works offline"
        )
    if config.editor is Who.NOBODY:
        raise InterPactError("editor: use model or offline")
    return Makers(
        ModelEditor(asked, config.model) if config.editor is Who.MODEL else OfflineEditor(corpus),
        Panel.of_model(asked, config.model, config.third_opinion)
        if config.judges is Who.MODEL
        else Panel.of_nobody(),
        ModelAssessor(asked, config.model) if config.checks is Who.MODEL else NoAssessor(),
    )


async def open_endpoint(
    stack: AsyncExitStack, config: ConstructConfig, folder: Path, max_requests: int | None
) -> Endpoint | None:
    """The endpoint of the settings with its answers cached beside the corpus; None if nothing asks."""
    if not config.needs_model:
        return None
    cache = stack.enter_context(Cache(folder / CACHE))
    return await stack.enter_async_context(
        Endpoint(
            config.model,
            cache,
            base_url=config.base_url,
            parameters=config.parameters,
            key_variable=config.key_variable,
            slots=config.slots,
            timeout=config.timeout,
            patience=config.patience,
            max_requests=max_requests,
        )
    )


def usage_line(usage: Usage) -> str:
    """What was asked, in one line."""
    failures = ", ".join(f"{n:,} {kind}" for kind, n in sorted(usage.failures.items()))
    return (
        f"{usage.asked:,} requests sent, {usage.cached:,} answered from the cache, "
        f"{usage.retried:,} retried, {usage.tokens_in:,} tokens in, {usage.tokens_out:,} out"
        + (f"; unusable: {failures}" if failures else "")
    )
