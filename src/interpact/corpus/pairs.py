"""Roots, intervention pairs and criticality labels: what is stored, and what follows from the rule.

Decisions, mappings, regimes and the changed label are computed, never stored, so that they cannot
disagree with the rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import count
from typing import Self

from pydantic import BaseModel, ConfigDict, model_validator

from interpact.case.case import Case, Evidence, Id, LabelledCase, Labels, Root, Text
from interpact.case.states import Decision, State


class Operation(StrEnum):
    """The six target operations and the two controls (tab:operation-composition)."""

    REMOVAL = "removal"
    POLARITY_REVERSAL = "polarity_reversal"
    ALTERNATIVE_REPLACEMENT = "alternative_replacement"
    IRRELEVANT_REPLACEMENT = "irrelevant_replacement"
    WEAKENING = "weakening"
    STRENGTHENING = "strengthening"
    DISTRACTOR_INSERTION = "distractor_insertion"
    PARAPHRASE = "paraphrase"

    @property
    def control(self) -> bool:
        """Whether the operation is an invariance control."""
        return self in (Operation.DISTRACTOR_INSERTION, Operation.PARAPHRASE)


class Split(StrEnum):
    """The part of a corpus that a root belongs to, with its whole component."""

    TRAIN = "train"
    DEV = "dev"
    TEST = "test"


class Tier(StrEnum):
    """`extended`: some assessment of the edit was flagged or unavailable."""

    STANDARD = "standard"
    EXTENDED = "extended"


class Basis(StrEnum):
    """Why a root has its criticality label."""

    CHANGED_PAIR = "changed_pair"
    CONSTANT_MAPPING = "constant_mapping"
    REVIEW = "review"


class Regime(StrEnum):
    """What became of a target intervention: of the state, and of the decision."""

    INVARIANT = "invariant"
    ABSORBED = "absorbed"
    PROPAGATED = "propagated"


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RootRecord(_Record):
    """A line of roots.jsonl."""

    id: Id
    case: Id
    evidence: Id
    condition: Id
    split: Split | None = None


class PairRecord(_Record):
    """A line of pairs.jsonl: the target unit's new text, or the distractor that follows it."""

    id: Id
    root: Id
    operation: Operation
    text: Text | None
    state_after: State
    tier: Tier = Tier.STANDARD
    flags: tuple[Text, ...] = ()
    editor: Text | None = None

    @model_validator(mode="after")
    def _text_fits(self) -> Self:
        if (self.text is None) != (self.operation is Operation.REMOVAL):
            raise ValueError(
                "text: removal has no text; every other operation has the new or inserted text"
            )
        return self


class CriticalityRecord(_Record):
    """A line of criticality.jsonl."""

    root: Id
    critical: bool
    basis: Basis


@dataclass(frozen=True)
class LabelledRoot:
    """A root with the labels of its case and the split it belongs to."""

    root: Root
    labels: Labels
    split: Split | None = None

    @staticmethod
    def of(record: RootRecord, case: LabelledCase) -> LabelledRoot:
        """The root that a record names."""
        return LabelledRoot(
            Root(case, record.evidence, record.condition), case.labels, record.split
        )

    @property
    def state(self) -> State:
        """The target state before any intervention."""
        return self.labels.states[self.root.condition]

    @property
    def decision(self) -> Decision:
        """The decision before any intervention."""
        return self.labels.decision

    @cached_property
    def mapping(self) -> dict[State, Decision]:
        """The decision for every state of the target condition (eq:target)."""
        return self.root.case.rule_of_decision.mapping(
            {c: self.labels.states[c] for c in self.root.case.conditions}, self.root.condition
        )

    @property
    def constant(self) -> bool:
        """Whether no state of the target condition can change the decision."""
        return len(set(self.mapping.values())) == 1


@dataclass(frozen=True)
class Pair:
    """An accepted intervention on a root: the case before and after."""

    of: LabelledRoot
    record: PairRecord

    @property
    def id(self) -> str:
        """`<root>/<operation>`."""
        return self.record.id

    @property
    def before(self) -> Case:
        """The original case."""
        return self.of.root.case

    @cached_property
    def after(self) -> Case:
        """The case after the intervention."""
        return intervened(
            self.before, self.of.root.evidence, self.record.operation, self.record.text
        )

    @property
    def state_after(self) -> State:
        """The judged target state after the intervention."""
        return self.record.state_after

    @property
    def decision_after(self) -> Decision:
        """The decision that the rule gives after the intervention."""
        return self.of.mapping[self.record.state_after]

    @property
    def changed(self) -> bool:
        """Whether the decision changes: the label y of the pair."""
        return self.decision_after is not self.of.decision

    @property
    def regime(self) -> Regime:
        """Invariant, absorbed or propagated."""
        if self.changed:
            return Regime.PROPAGATED
        return Regime.INVARIANT if self.state_after is self.of.state else Regime.ABSORBED

    @property
    def weight(self) -> float:
        """The weight of the pair in the decision and change losses."""
        return 1.0 if self.record.tier is Tier.STANDARD else 0.5


def intervened(case: Case, evidence: str, operation: Operation, text: str | None) -> Case:
    """The case with one unit removed, rewritten, or followed by a distractor."""
    units: list[Evidence] = []
    for unit in case.evidence:
        if unit.id != evidence:
            units.append(unit)
        elif operation is Operation.DISTRACTOR_INSERTION:
            # A name like any other: it must not tell a reader or a model what was done.
            taken = {other.id for other in case.evidence}
            name = next(n for i in count(len(taken) + 1) if (n := f"e{i}") not in taken)
            units += [unit, Evidence(id=name, conditions=(), text=text or "")]
        elif operation is not Operation.REMOVAL:
            units.append(unit.model_copy(update={"text": text}))
    return case.text_only().model_copy(update={"evidence": tuple(units)})
