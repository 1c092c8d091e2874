"""What a case is: text only. Its annotated labels are a type of their own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    field_validator,
    model_validator,
)

from interpact.case.rules import Rule, shorten
from interpact.case.states import Decision, State, did_you_mean
from interpact.errors import InterPactError

# Rust regular expressions: linear time on any text.
Text = Annotated[str, StringConstraints(pattern=r"^[^\x00]*[^\s\x00][^\x00]*$")]
Id = Annotated[
    str, StringConstraints(pattern=r"^[^\s\p{Cc}](?:[^\p{Cc}]*[^\s\p{Cc}])?$", max_length=300)
]

Location = tuple[str | int, ...]
"""Where in a case something is: field names and positions."""


MANY = 1_000  # contradictions are told up to here


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Evidence(_Frozen):
    """One unit of evidence and the conditions it bears on."""

    id: Id
    conditions: tuple[Id, ...]
    text: Text


class Labels(_Frozen):
    """The annotated state of every condition and the decision that follows."""

    states: dict[Id, State]
    decision: Decision

    @field_validator("states", mode="before")
    @classmethod
    def _states(cls, value: object) -> object:
        return _read_each(State, value)

    @field_validator("decision", mode="before")
    @classmethod
    def _decision(cls, value: object) -> object:
        return _read(Decision, value)


class Case(_Frozen):
    """A governing rule, a decision query, conditions, evidence and an aggregation (eq:reasoning-instance).

    `aggregation` is `all`, `any` or an expression over condition ids.
    """

    id: Id
    source: Text | None = None
    document: Text | None = None
    rule_family: Text | None = None
    rule: Text
    query: Text
    aggregation: Text
    conditions: Annotated[dict[Id, Text], Field(min_length=1)]
    evidence: tuple[Evidence, ...]

    @staticmethod
    def load(path: str | Path) -> Case:
        """Read the one case of a file; a `LabelledCase` if the file gives its labels."""
        from interpact.case.files import read_case

        return read_case(path)

    @property
    def rule_of_decision(self) -> Rule:
        """The aggregation, parsed."""
        return Rule.parse(self.aggregation)

    def unit(self, evidence: str) -> Evidence:
        """The evidence unit of that id."""
        for unit in self.evidence:
            if unit.id == evidence:
                return unit
        guess = did_you_mean(evidence, [unit.id for unit in self.evidence])
        raise InterPactError(f'case "{self.id}" has no evidence unit "{evidence}"{guess}')

    def text_only(self) -> Case:
        """The case without labels."""
        return self

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        found = contradictions(
            self.conditions,
            enumerate((unit.id, unit.conditions) for unit in self.evidence),
            self.aggregation,
            getattr(self, "labels", None),
        )
        lines = [f"{'.'.join(map(str, where))}: {what}" for where, what in islice(found, MANY)]
        if lines:
            raise ValueError("\n".join(lines))
        return self


class LabelledCase(Case):
    """A case with its annotated labels, as case files hold them."""

    labels: Labels

    def text_only(self) -> Case:
        fields = {name: getattr(self, name) for name in Case.model_fields}
        return Case.model_construct(_fields_set=self.model_fields_set - {"labels"}, **fields)


@dataclass(frozen=True, slots=True)
class Root:
    """A case, a target evidence unit and the target condition it bears on; never any labels."""

    case: Case
    evidence: str
    condition: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "case", self.case.text_only())
        unit = self.case.unit(self.evidence)
        if self.condition not in unit.conditions:
            raise InterPactError(
                f'case "{self.case.id}": evidence unit "{self.evidence}" bears on '
                f'{", ".join(unit.conditions) or "no condition"}, not on "{self.condition}"'
            )

    @property
    def id(self) -> str:
        """`<case>/<evidence>`."""
        return f"{self.case.id}/{self.evidence}"


def contradictions(
    conditions: Mapping[str, object],
    units: Iterable[tuple[int, tuple[str, Iterable[str]]]],
    aggregation: str | None,
    labels: Labels | None,
) -> Iterator[tuple[Location, str]]:
    """What does not fit together in a case whose single fields are well-formed."""
    names = list(conditions)
    seen: dict[str, int] = {}
    supported: set[str] = set()
    for position, (unit, bears_on) in units:
        if unit in seen:
            yield (
                ("evidence", position, "id"),
                f'"{shorten(unit)}" is the id of evidence[{seen[unit]}] too; give each unit its own',
            )
        seen.setdefault(unit, position)
        once: set[str] = set()
        for i, condition in enumerate(bears_on):
            where = ("evidence", position, "conditions", i)
            if condition in once:
                yield where, f'names "{shorten(condition)}" twice; name each condition once'
            elif condition not in conditions:
                guess = did_you_mean(condition, names)
                yield (
                    where,
                    f'there is no condition "{shorten(condition)}"{guess}; '
                    "add it under conditions or correct the name",
                )
            once.add(condition)
        supported |= once
    rule = None
    if aggregation is not None:
        try:
            rule = Rule.parse(aggregation)
            if names:
                rule.named(names)
        except InterPactError as error:
            yield ("aggregation",), str(error)
            rule = None
    if labels is None:
        return
    for condition in labels.states:
        if condition not in conditions:
            guess = did_you_mean(condition, names)
            yield (
                ("labels", "states", condition),
                f"there is no such condition{guess}; correct or drop it",
            )
    missing = False
    for condition in names:
        state = labels.states.get(condition)
        if state is None:
            missing = True
            yield (
                ("labels", "states"),
                f'condition "{shorten(condition)}" has no state; add {", ".join(State)}',
            )
        elif state is not State.UNKNOWN and condition not in supported:
            yield (
                ("labels", "states", condition),
                f"is {state.words}, but no evidence unit names the condition; "
                "add the unit that shows it, or make the state unknown",
            )
    if rule is not None and names and not missing:
        decision = rule.decide({name: labels.states[name] for name in names})
        if decision is not labels.decision:
            yield (
                ("labels", "decision"),
                f"is {labels.decision}, but the states give {decision} under "
                f"`{shorten(rule.text)}`; correct a state, the decision or the aggregation",
            )


def _read(kind: type[State] | type[Decision], value: object) -> object:
    try:
        return kind(value)
    except ValueError:
        shown = shorten(repr(value), 40)
        raise ValueError(f"{shown} is not one of {', '.join(kind)}") from None


def _read_each(kind: type[State], value: object) -> object:
    if not isinstance(value, Mapping):
        return value
    return {key: _lenient(kind, item) for key, item in value.items()}  # type: ignore[misc]


def _lenient(kind: type[State], value: object) -> object:
    try:
        return kind(value)
    except ValueError:
        return value  # pydantic then says which entry is wrong
