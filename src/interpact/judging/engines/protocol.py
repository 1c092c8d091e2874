"""What a judge asks of a language model, whoever runs it: the one seam between rules and models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from interpact.case.case import Case, Root
from interpact.case.states import Decision, State
from interpact.verifier.prompts import PairText

Chances = tuple[float, float, float]
"""Probabilities of satisfied, not satisfied and unknown, or of yes, no and insufficient."""


@dataclass(frozen=True, slots=True)
class StateQuestion:
    """What state the evidence of a case puts a condition in."""

    case: Case
    condition: str


@dataclass(frozen=True, slots=True)
class BranchQuestion:
    """What the decision is after an edit, for each state that the target may have then."""

    pair: PairText
    state: State
    decision: Decision


@dataclass(frozen=True, slots=True)
class DirectAnswer:
    """What a model generates when asked outright, and its P(Yes) among Yes and No if it tells."""

    text: str
    yes: float | None

    @property
    def verdict(self) -> bool | None:
        """True for exactly Yes, False for exactly No, None for anything else."""
        return {"Yes": True, "No": False}.get(self.text.strip())


class Engine(Protocol):
    """Anything that answers the three questions, many at a time; None where it gives no usable answer."""

    def states(self, asked: Sequence[StateQuestion]) -> list[Chances | None]: ...

    def branches(self, asked: Sequence[BranchQuestion]) -> list[tuple[Chances, ...] | None]: ...

    def direct(self, asked: Sequence[Root]) -> list[DirectAnswer | None]: ...
