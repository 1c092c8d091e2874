"""The two label spaces of the paper: condition states and decisions.

The order of each enumeration is tensor order everywhere (section "Preliminaries").
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from enum import StrEnum
from itertools import islice
from typing import Self


class _Label(StrEnum):
    """A label that also reads the spellings people write: `Not satisfied`, `YES`, `insufficient evidence`."""

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        if not isinstance(value, str):
            return None
        word = re.sub(r"[\s-]+", "_", value.strip().lower())
        word = "insufficient" if word == "insufficient_evidence" else word
        return next((label for label in cls if label.value == word), None)

    @property
    def words(self) -> str:
        """The label as it reads in a sentence."""
        return self.value.replace("_", " ")


class State(_Label):
    """What the evidence says about a condition; unknown is never treated as not satisfied."""

    SATISFIED = "satisfied"
    NOT_SATISFIED = "not_satisfied"
    UNKNOWN = "unknown"


class Decision(_Label):
    """The answer to the decision query that a rule gives."""

    YES = "yes"
    NO = "no"
    INSUFFICIENT = "insufficient"

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        # `decision: yes` is a boolean for many YAML readers, and `true` is what they write back.
        if value is True or value == "true":
            return cls("yes")
        if value is False or value == "false":
            return cls("no")
        return super()._missing_(value)


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """` (did you mean "x"?)` for the nearest known word, or nothing."""
    # A file of thousands of wrong names must not take minutes: few candidates, chosen cheaply.
    alike = [
        name
        for name in islice(known, 1000)
        if abs(len(name) - len(word)) <= 3 and (name[:1] == word[:1] or name[-1:] == word[-1:])
    ]
    near = difflib.get_close_matches(word, alike[:20], n=1, cutoff=0.6)
    return f' (did you mean "{near[0]}"?)' if near else ""
