"""Checks of every edit: automatic ones, and model-assisted assessments that may be unavailable."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from pydantic import TypeAdapter, ValidationError

from interpact.case.case import Case, Evidence, Root, Text
from interpact.construct.ask import Ask, Request
from interpact.construct.prompts import FIDELITY, NATURALNESS, NON_TARGET, assessment_request
from interpact.corpus.pairs import Operation


class Exclusion(StrEnum):
    """Why an edit never becomes a pair."""

    EMPTY = "empty text"
    UNSTORABLE = "characters that no file holds"
    CASE_CHANGED = "rule, query, conditions or other evidence changed"
    MISPLACED = "the edit is not where its operation puts it"
    UNCHANGED = "the text did not change"
    REPEATS = "repeats evidence of the case"
    ARTEFACTS = "remains of an instruction, JSON or markup"
    FIDELITY = "does not follow its operation"
    NON_TARGET = "changes another condition"
    NATURALNESS = "does not read naturally"
    REVIEWED = "rejected in review"


# ---- Automatic checks --------------------------------------------------------------------------

_ARTEFACTS = re.compile(
    r"""
    ```
  | <\|[^|<>]{1,30}\|> | \[/?INST\] | </?s>
  | </?(?:evidence|text|edit|target|unit|answer|output|think|html|body|div|span|p|br|b|i|em)\b[^<>]{0,80}>
  | ^\s*[\[{]\s*"\w+"\s*: | "(?:abstain|reason|text)"\s*:
  | ^\|\s
  | \*\*[^*\n]+\*\* | ^\#{1,6}\s
  | ^\s*(?:here\s+is|here['’]s|this\s+is)\s+(?:the|an?)\s+(?:\w+\s+)?(?:edited|rewritten|revised|modified|new|paraphrased|weakened|strengthened)\b
  | ^\s*(?:edited|rewritten|revised|modified|paraphrased|weakened|strengthened|new|target)\s+(?:text|evidence|version|unit|clause|sentence)\s*:
  | \b(?:polarity[ _]reversal|(?:alternative|irrelevant)[ _]replacement|distractor[ _]insertion|target\ (?:condition|unit))\b
  | \bas\ an\ ai\b
  | \[(?:insert|your|name|date|amount|placeholder|to\ be\ filled)\b[^\]\n]{0,60}\]
  | \\[nt"] | \\u[0-9a-f]{4}
    """,
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_STORABLE: TypeAdapter[str] = TypeAdapter(Text)


def text_exclusion(operation: Operation, text: str | None) -> Exclusion | None:
    """What keeps a text from being put into a case at all."""
    if operation is Operation.REMOVAL:
        return None
    if text is None or not text.strip():
        return Exclusion.EMPTY
    try:
        _STORABLE.validate_python(text)
    except ValidationError:
        return Exclusion.UNSTORABLE
    return None


def automatic_exclusion(
    before: Case, after: Case, evidence: str, operation: Operation, text: str | None
) -> Exclusion | None:
    """The first automatic check that an edit fails, if any."""
    unusable = text_exclusion(operation, text)
    if unusable is not None:
        return unusable
    if any(getattr(before, name) != getattr(after, name) for name in _FIXED):
        return Exclusion.CASE_CHANGED
    at = next(i for i, unit in enumerate(before.evidence) if unit.id == evidence)
    gone, added = 1, 1
    if operation is Operation.REMOVAL:
        added = 0
    elif operation is Operation.DISTRACTOR_INSERTION:
        at, gone = at + 1, 0
    if len(after.evidence) != len(before.evidence) - gone + added:
        return Exclusion.MISPLACED
    rest = (*after.evidence[:at], *after.evidence[at + added :])
    if rest != (*before.evidence[:at], *before.evidence[at + gone :]):
        return Exclusion.CASE_CHANGED
    if operation is Operation.REMOVAL or text is None:
        return None if text is None else Exclusion.MISPLACED
    if not _placed(before, after.evidence[at], evidence, operation, text):
        return Exclusion.MISPLACED
    if operation is not Operation.DISTRACTOR_INSERTION and _same(text, before.unit(evidence).text):
        return Exclusion.UNCHANGED
    if any(_same(text, unit.text) for unit in before.evidence):
        return Exclusion.REPEATS
    original = " ".join(_plain(unit.text) for unit in before.evidence)
    if any(_plain(found[0]) not in original for found in _ARTEFACTS.finditer(text)):
        return Exclusion.ARTEFACTS
    return None


_FIXED = [name for name in Case.model_fields if name != "evidence"]


def _placed(before: Case, unit: Evidence, evidence: str, operation: Operation, text: str) -> bool:
    if unit.text != text:
        return False
    if operation is Operation.DISTRACTOR_INSERTION:
        return not unit.conditions and all(unit.id != other.id for other in before.evidence)
    original = before.unit(evidence)
    return (unit.id, unit.conditions) == (original.id, original.conditions)


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _same(text: str, other: str) -> bool:
    return _plain(text) == _plain(other)


# ---- Model-assisted assessments ----------------------------------------------------------------


class Verdict(StrEnum):
    """What an assessment says; flagged: it could be seen either way."""

    PASS = "pass"
    FAIL = "fail"
    FLAGGED = "flagged"
    UNAVAILABLE = "unavailable"


_FAILURES = {
    FIDELITY: Exclusion.FIDELITY,
    NON_TARGET: Exclusion.NON_TARGET,
    NATURALNESS: Exclusion.NATURALNESS,
}


@dataclass(frozen=True, slots=True)
class Assessment:
    """The verdicts on an edit by aspect, with reasons where they are no pass."""

    verdicts: Mapping[str, Verdict]
    reasons: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def exclusion(self) -> Exclusion | None:
        """The first aspect that fails."""
        failed = (a for a, verdict in self.verdicts.items() if verdict is Verdict.FAIL)
        return next((_FAILURES[aspect] for aspect in failed), None)

    @property
    def flags(self) -> tuple[str, ...]:
        """The aspects that are flagged or unavailable: `fidelity_flagged`, `naturalness_unavailable`."""
        weak = (Verdict.FLAGGED, Verdict.UNAVAILABLE)
        return tuple(f"{a}_{verdict}" for a, verdict in self.verdicts.items() if verdict in weak)

    @property
    def note(self) -> str:
        """The reasons in one line."""
        return "; ".join(f"{aspect}: {reason}" for aspect, reason in self.reasons.items())


def aspects_in_question(root: Root, operation: Operation) -> list[str]:
    """What has to be assessed: not what holds by construction."""
    aspects = [] if operation is Operation.REMOVAL else [FIDELITY]
    if len(root.case.conditions) > 1:
        aspects.append(NON_TARGET)
    return aspects if operation is Operation.REMOVAL else [*aspects, NATURALNESS]


class Assessor(Protocol):
    """Assesses edits; unlike a judge it is told the operation."""

    @property
    def name(self) -> str:
        """Who assesses."""
        ...

    def request(self, root: Root, operation: Operation, text: str | None) -> Request | None:
        """The request that an assessment needs, or none if it needs no model."""
        ...

    async def assess(self, root: Root, operation: Operation, text: str | None) -> Assessment:
        """The verdicts on an edit."""
        ...


@dataclass(frozen=True, slots=True)
class ModelAssessor:
    """A language model that answers all questions about an edit at once."""

    ask: Ask
    name: str

    def request(self, root: Root, operation: Operation, text: str | None) -> Request | None:
        """The prompt with the questions, unless all holds by construction."""
        aspects = aspects_in_question(root, operation)
        return assessment_request(root, operation, text, aspects) if aspects else None

    async def assess(self, root: Root, operation: Operation, text: str | None) -> Assessment:
        """The model's verdicts; what it does not answer is unavailable."""
        request = self.request(root, operation, text)
        if request is None:
            return Assessment({})
        data = (await self.ask(request)).data or {}
        verdicts: dict[str, Verdict] = {}
        reasons: dict[str, str] = {}
        for aspect in aspects_in_question(root, operation):
            verdicts[aspect] = _VERDICTS.get(str(data.get(aspect)), Verdict.UNAVAILABLE)
            reason = str(data.get(f"{aspect}_reason", "")).strip()
            if reason and verdicts[aspect] is not Verdict.PASS:
                reasons[aspect] = reason
        return Assessment(verdicts, reasons)


_VERDICTS = {"pass": Verdict.PASS, "fail": Verdict.FAIL, "unsure": Verdict.FLAGGED}


@dataclass(frozen=True, slots=True)
class NoAssessor:
    """No model to ask: what is in question stays unavailable."""

    name: str = "none"

    def request(self, root: Root, operation: Operation, text: str | None) -> None:
        """None: nothing is asked."""

    async def assess(self, root: Root, operation: Operation, text: str | None) -> Assessment:
        """Every aspect in question is unavailable."""
        return Assessment(dict.fromkeys(aspects_in_question(root, operation), Verdict.UNAVAILABLE))
