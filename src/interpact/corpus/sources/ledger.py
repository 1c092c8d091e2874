"""What an import kept and dropped, and why: every row of the source is accounted for."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from interpact.case.case import LabelledCase
from interpact.corpus.pairs import RootRecord


@dataclass
class Ledger:
    """Counts by noun (what is counted), fate (kept, dropped or noted) and reason."""

    counts: Counter[tuple[str, str, str]] = field(default_factory=Counter[tuple[str, str, str]])

    def keep(self, noun: str, reason: str = "", count: int = 1) -> None:
        """Count things that made it into the corpus."""
        self.counts[noun, "kept", reason] += count

    def drop(self, noun: str, reason: str, count: int = 1) -> None:
        """Count things that did not."""
        self.counts[noun, "dropped", reason] += count

    def note(self, noun: str, reason: str, count: int = 1) -> None:
        """Count things that were kept but handled in a particular way."""
        self.counts[noun, "noted", reason] += count

    def total(self, noun: str, fate: str) -> int:
        """How many of a noun met that fate."""
        return sum(n for (what, how, _), n in self.counts.items() if (what, how) == (noun, fate))

    def rows(self) -> list[tuple[str, str, str, int]]:
        """Noun, fate, reason and count, in the order in which they were first counted."""
        return [(*key, count) for key, count in self.counts.items()]

    def markdown(self) -> str:
        """The ledger as a Markdown table."""
        lines = ["| what | fate | why | count |", "|---|---|---|---:|"]
        lines += [
            f"| {noun} | {fate} | {reason or '-'} | {n:,} |"
            for noun, fate, reason, n in self.rows()
        ]
        return "\n".join(lines) + "\n"


@dataclass
class Imported:
    """The cases and roots that a source gives, with its ledger."""

    cases: list[LabelledCase]
    roots: list[RootRecord]
    ledger: Ledger
