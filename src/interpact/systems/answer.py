"""An answer to the direct question, and what it comes to."""

from __future__ import annotations

from dataclasses import dataclass

from interpact.systems.predictions import Verdict

WORDS = ("Yes", "No")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said about a root, and how likely it finds Yes against No."""

    text: str
    p_yes: float | None = None

    @property
    def verdict(self) -> Verdict:
        """Exactly Yes or No; anything else is invalid, never No."""
        said = self.text.strip()
        return Verdict(said.lower()) if said in WORDS else Verdict.INVALID
