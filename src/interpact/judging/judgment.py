"""What a judge says of one evidence unit and one condition; never a decision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

EXACT, PROPAGATE, INTERVENE, DIRECT = MODES = ("exact", "propagate", "intervene", "direct")
AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Judgment:
    """Whether the decision hangs on a unit of evidence, through a condition it bears on.

    `critical` is None where a judge gave no usable answer, or abstained because the risk that the
    user allows cannot be met. `pivotal` says whether the decision can turn on the condition at all
    (in predicted modes: in the likeliest states). `also` names other units of the condition (the
    first hundred), `shares` the other conditions of the unit. `chances` are the predicted
    probabilities of the condition being satisfied, not satisfied and unknown.
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
    chances: tuple[float, ...] = ()
    abstained: bool = False

    @property
    def verdict(self) -> str:
        """`critical`, `possible`, `not critical`, `abstained` or `invalid`.

        `possible` is critical where another unit may hold the condition.
        """
        if self.critical is None:
            return "abstained" if self.abstained else "invalid"
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
            "chances": list(self.chances),
        }
