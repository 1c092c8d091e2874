"""State judges: blind readings of the target condition after an intervention, and their ruling.

A judge is handed a root, which is text only, and the case after. It cannot see the operation, the
editor or any label, because nothing that is handed to it holds them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Protocol

from pydantic import BaseModel, BeforeValidator, ConfigDict

from interpact.case.case import Case, Root
from interpact.case.states import State
from interpact.construct import prompts
from interpact.construct.ask import Ask, Failure, Request

ABSTAINED = "abstained"

# JSON can spell half a character, which no file holds.
Said = Annotated[str, BeforeValidator(lambda text: text.encode(errors="replace").decode())]
"""A model's own words."""


class Role(StrEnum):
    """How a reading came about."""

    AFTER = "after"
    COMPARISON = "comparison"
    THIRD = "third"
    PERSON = "person"


class Reading(BaseModel):
    """A state and why; or no state, and the problem with the answer."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    role: Role
    state: State | None = None
    reason: Said = ""
    problem: str | None = None


class Judge(Protocol):
    """Reads the state of a root's target condition in the case after an intervention."""

    @property
    def name(self) -> str:
        """Who judges."""
        ...

    def request(self, root: Root, after: Case) -> Request | None:
        """The request that a reading needs, or none if it needs no model."""
        ...

    async def read(self, root: Root, after: Case) -> Reading:
        """A reading; an answer without a usable state stays one."""
        ...


_REQUESTS: dict[Role, Callable[[Root, Case], Request]] = {
    Role.AFTER: prompts.judge_after_request,
    Role.COMPARISON: prompts.judge_comparison_request,
    Role.THIRD: prompts.judge_third_request,
}


@dataclass(frozen=True, slots=True)
class ModelJudge:
    """A language model in one of the roles of a panel."""

    ask: Ask
    name: str
    role: Role

    def request(self, root: Root, after: Case) -> Request:
        """The prompt of the role."""
        return _REQUESTS[self.role](root, after)

    async def read(self, root: Root, after: Case) -> Reading:
        """What the model answers."""
        answer = await self.ask(self.request(root, after))
        if answer.data is None:
            return Reading(role=self.role, problem=answer.failure or Failure.MALFORMED)
        try:
            state = State(answer.data.get("state"))
        except ValueError:
            return Reading(role=self.role, problem=Failure.MALFORMED)
        said = [value for key, value in answer.data.items() if key != "state"]
        return Reading(role=self.role, state=state, reason=" / ".join(map(str, said)))


@dataclass(frozen=True, slots=True)
class AbstainingJudge:
    """Judges nothing: without a model every state is for a person to read."""

    role: Role
    name: str = "none"

    def request(self, root: Root, after: Case) -> None:
        """None: nothing is asked."""

    async def read(self, root: Root, after: Case) -> Reading:
        """No state."""
        return Reading(role=self.role, problem=ABSTAINED)


@dataclass(frozen=True, slots=True)
class Ruling:
    """The readings of an intervention and the state they settle on, if they do."""

    readings: tuple[Reading, ...]
    state: State | None

    @property
    def adjudicated(self) -> bool:
        """Whether a third opinion settled it."""
        return self.state is not None and len(self.readings) > 2


@dataclass(frozen=True, slots=True)
class Panel:
    """Two judges, and a third for where they do not agree; each may be another model."""

    after: Judge
    comparison: Judge
    third: Judge | None

    @staticmethod
    def of_model(ask: Ask, name: str, third: bool = True) -> Panel:
        """One model in all roles."""
        return Panel(
            ModelJudge(ask, name, Role.AFTER),
            ModelJudge(ask, name, Role.COMPARISON),
            ModelJudge(ask, name, Role.THIRD) if third else None,
        )

    @staticmethod
    def of_nobody() -> Panel:
        """Judges that abstain, so that every intervention goes to the review queue."""
        return Panel(AbstainingJudge(Role.AFTER), AbstainingJudge(Role.COMPARISON), None)

    @property
    def name(self) -> str:
        """The judges by name."""
        third = self.third.name if self.third else "no third"
        return f"{self.after.name}, {self.comparison.name}, {third}"

    async def rule(self, root: Root, after: Case) -> Ruling:
        """The state on which two readings agree; none where no two do.

        The two are asked at the same time: neither may know of the other. An unusable answer agrees
        with nothing. A third opinion is asked for only where it can agree with one of the two.
        """
        first, second = await asyncio.gather(
            self.after.read(root, after), self.comparison.read(root, after)
        )
        states = {first.state, second.state}
        if len(states) == 1:
            return Ruling((first, second), first.state)
        if self.third is None:
            return Ruling((first, second), None)
        last = await self.third.read(root, after)
        settled = last.state if last.state in states else None
        return Ruling((first, second, last), settled)
