"""What a judge says of one evidence unit and one condition; never a decision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

MODES = ("exact",)


@dataclass(frozen=True, slots=True)
class Judgment:
    """Whether the decision hangs on a unit of evidence, through a condition it bears on.

    `critical` is None where a judge gave no usable answer. `pivotal` says whether the decision can
    turn on the condition at all. `also` names other units of the condition (the first hundred),
    `shares` the other conditions of the unit.
    """

    case: str
    evidence: str
    condition: str | None
    critical: bool | None
    probability: float | None
    mode: str
    pivotal: bool | None
    witness: str
    also: tuple[str, ...] = ()
    shares: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """`critical`, `possible` (another unit may hold the condition), `not critical` or `invalid`."""
        if self.critical is None:
            return "invalid"
        if not self.critical:
            return "not critical"
        return "possible" if self.also else "critical"

    def data(self) -> dict[str, Any]:
        """The judgment as a flat JSON object."""
        return {
            "case": self.case,
            "evidence": self.evidence,
            "condition": self.condition,
            "verdict": self.verdict,
            "critical": self.critical,
            "probability": self.probability,
            "mode": self.mode,
            "pivotal": self.pivotal,
            "witness": self.witness,
            "also": list(self.also),
            "shares": list(self.shares),
        }
