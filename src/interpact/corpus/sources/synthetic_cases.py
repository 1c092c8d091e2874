"""Cases of the synthetic source: a rule over a document, its roots, and the edits of their units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from interpact.case.case import LabelledCase
from interpact.case.rules import Rule
from interpact.case.states import Decision, State
from interpact.corpus.pairs import (
    Basis,
    CriticalityRecord,
    Operation,
    PairRecord,
    RootRecord,
    Split,
    Tier,
)
from interpact.corpus.sources import synthetic_domains as words
from interpact.corpus.sources.synthetic_documents import Document, Statement, sentence
from interpact.corpus.sources.synthetic_domains import Topic
from interpact.corpus.sources.synthetic_facts import (
    Extent,
    Fact,
    Matter,
    both,
    pick,
    possible,
    state_of,
)
from interpact.corpus.sources.synthetic_rules import Shape, draw_shape, hopes, rule_text

SOURCE = "synthetic"
CONFLICT = "contradicts_other_evidence"
OPERATIONS = tuple(Operation)
ASIDES = 6  # two units, and an irrelevant replacement and a distractor for each of two roots


@dataclass(frozen=True, slots=True)
class SyntheticCase:
    """A case with its roots and pairs, and the facts that all its labels follow from."""

    case: LabelledCase
    shape: Shape
    roots: tuple[RootRecord, ...]
    pairs: tuple[PairRecord, ...]
    criticality: tuple[CriticalityRecord, ...]
    matters: dict[str, Matter]
    """The matter of each condition."""
    accepted: dict[str, Extent]
    """What each condition accepts."""
    facts: dict[str, Fact | None]
    """The fact that a unit states, or a pair's new text; none where it states nothing relevant."""
    mappings: dict[str, dict[State, Decision]]
    """The decision for every state of each condition, the others fixed."""


@dataclass(slots=True)
class _Unit:
    """A unit of evidence in the making: its text, and what it states about which condition."""

    text: str
    condition: str | None = None
    topic: Topic | None = None
    statement: Statement | None = None
    id: str = ""


@dataclass(slots=True)
class _Draft:
    """A case in the making."""

    document: Document
    matters: dict[str, Matter]
    accepted: dict[str, Extent]
    units: list[_Unit]
    asides: Iterator[str]
    """Sentences that bear on no condition and are not in the case yet."""

    def state(self, condition: str, *units: _Unit) -> State:
        """The state of a condition that these units bear on."""
        return self.judged(condition, *units)[0]

    def judged(self, condition: str, *units: _Unit) -> tuple[State, bool]:
        """The state, and whether the units contradict each other about it."""
        matter, accepted = self.matters[condition], self.accepted[condition]
        known: Extent | None = matter.everything
        for unit in units:
            if unit.statement is not None and known is not None:
                known = both(known, possible(matter, unit.statement.fact))
        if known is not None:
            return state_of(known, accepted), False
        # It is known all the same where it does not depend on which of the units is right.
        alone = {self.state(condition, unit) for unit in units}
        return alone.pop() if len(alone) == 1 else State.UNKNOWN, True


def draw_case(document: Document, family: str, split: Split, name: str) -> SyntheticCase:
    """A case of a document, with its roots and their pairs."""
    rng = document.rng
    topics = _topics(document)
    ids = [f"c{i + 1}" for i in range(len(topics))]
    shape = draw_shape(rng, len(topics))
    favourable = rng.random() < 0.5
    hoped = [hope == favourable for hope in hopes(shape.aggregation, len(topics))]
    matters = {c: document.matter(topic) for c, topic in zip(ids, topics, strict=True)}
    accepted = {
        c: matters[c].hoped if hope else matters[c].feared
        for c, hope in zip(ids, hoped, strict=True)
    }
    background = document.domain.background
    asides = (sentence(document.fill(text)) for text in rng.sample(background, ASIDES))
    units = [
        _Unit(document.say(topic, statement), condition, topic, statement)
        for condition, topic in zip(ids, topics, strict=True)
        for statement in document.evidence(topic)
    ]
    units += [_Unit(next(asides)) for _ in range(pick(rng, (0, 0, 1, 2)))]
    rng.shuffle(units)
    for i, unit in enumerate(units):
        unit.id = f"e{i + 1}"
    draft = _Draft(document, matters, accepted, units, asides)

    states = {c: draft.state(c, *(u for u in units if u.condition == c)) for c in ids}
    head, query = document.domain.favourable if favourable else document.domain.adverse
    labels = {c: topic.label for c, topic in zip(ids, topics, strict=True)}
    case = LabelledCase.model_validate(
        {
            "id": name,
            "source": SOURCE,
            "document": family,
            "rule_family": family,
            "rule": rule_text(rng, shape, head, labels),
            "query": query.format(**document.names),
            "aggregation": shape.aggregation,
            "conditions": {
                c: document.condition(topic, hope)
                for c, topic, hope in zip(ids, topics, hoped, strict=True)
            },
            "evidence": [
                {
                    "id": unit.id,
                    "conditions": [] if unit.condition is None else [unit.condition],
                    "text": unit.text,
                }
                for unit in units
            ],
            "labels": {"states": states, "decision": Rule.parse(shape.aggregation).decide(states)},
        }
    )
    return _with_roots(case, shape, draft, split)


def _topics(document: Document) -> list[Topic]:
    """Two to six topics, of which at least one has evidence."""
    rng = document.rng
    while True:
        count = rng.choices((2, 3, 4, 5, 6), (20, 30, 25, 15, 10))[0]
        topics = rng.sample(document.domain.topics, count)
        if any(document.evidence(topic) for topic in topics):
            return topics


def _with_roots(case: LabelledCase, shape: Shape, draft: _Draft, split: Split) -> SyntheticCase:
    rng = draft.document.rng
    bearing = [unit for unit in draft.units if unit.condition is not None]
    targets = rng.sample(bearing, 2 if len(bearing) > 1 and rng.random() < 0.15 else 1)
    mappings = Rule.parse(shape.aggregation).mappings(case.labels.states)
    facts: dict[str, Fact | None] = {
        unit.id: unit.statement and unit.statement.fact for unit in draft.units
    }
    roots: list[RootRecord] = []
    pairs: list[PairRecord] = []
    criticality: list[CriticalityRecord] = []
    for unit in targets:
        assert unit.condition is not None
        root = RootRecord(
            id=f"{case.id}/{unit.id}",
            case=case.id,
            evidence=unit.id,
            condition=unit.condition,
            split=split,
        )
        roots.append(root)
        operations = OPERATIONS if len(targets) == 1 else rng.sample(OPERATIONS, 4)
        mapping = mappings[unit.condition]
        changed = False
        for edit in _edits(draft, unit, operations):
            pair = PairRecord(
                id=f"{root.id}/{edit.operation}",
                root=root.id,
                operation=edit.operation,
                text=edit.text,
                state_after=edit.state,
                tier=Tier.EXTENDED if edit.conflict else Tier.STANDARD,
                flags=(CONFLICT,) if edit.conflict else (),
                editor=SOURCE,
            )
            pairs.append(pair)
            facts[pair.id] = edit.fact
            changed |= mapping[edit.state] is not case.labels.decision
        alone = sum(other.condition == unit.condition for other in bearing) == 1
        criticality += _criticality(root.id, len(set(mapping.values())) == 1, changed, alone)
    return SyntheticCase(
        case,
        shape,
        tuple(roots),
        tuple(pairs),
        tuple(criticality),
        draft.matters,
        draft.accepted,
        facts,
        mappings,
    )


def _criticality(
    root: str, constant: bool, changed: bool, alone: bool
) -> Iterator[CriticalityRecord]:
    """The label of a root; none where other units bear on the condition and no pair changed."""
    if constant:
        yield CriticalityRecord(root=root, critical=False, basis=Basis.CONSTANT_MAPPING)
    elif changed:
        yield CriticalityRecord(root=root, critical=True, basis=Basis.CHANGED_PAIR)
    elif alone:
        # The unit settles the condition by itself, so another fact can bring about any state.
        yield CriticalityRecord(root=root, critical=True, basis=Basis.REVIEW)


@dataclass(frozen=True, slots=True)
class _Edit:
    """What an operation makes of a unit, and the state of its condition afterwards."""

    operation: Operation
    text: str | None
    state: State
    fact: Fact | None = None
    conflict: bool = False


def _edits(draft: _Draft, unit: _Unit, operations: Sequence[Operation]) -> Iterator[_Edit]:
    """The edits that the unit admits; the facts say to what they lead."""
    condition, statement = unit.condition, unit.statement
    assert condition is not None and statement is not None and unit.topic is not None
    document, rng = draft.document, draft.document.rng
    others = [o for o in draft.units if o.condition == condition and o is not unit]
    before, without = draft.state(condition, unit, *others), draft.state(condition, *others)
    taken = {unit.text}
    for operation in operations:
        match operation:
            case Operation.REMOVAL:
                yield _Edit(operation, None, without)
                continue
            case Operation.IRRELEVANT_REPLACEMENT:
                yield _Edit(operation, next(draft.asides), without)
                continue
            case Operation.DISTRACTOR_INSERTION:
                yield _Edit(operation, next(draft.asides), before)
                continue
            case _:
                edited = document.edited(unit.topic, statement, operation, not others)
        if edited is None:
            continue
        after = _Unit("", condition, unit.topic, edited)
        state, conflict = draft.judged(condition, after, *others)
        if conflict:
            # Honest only where the text itself says that the contradiction is unresolved.
            if rng.random() < 0.5:
                continue
            edited = edited._replace(lead="", tail=pick(rng, words.CONFLICTS))
        text = document.say(unit.topic, edited)
        if text not in taken:
            taken.add(text)
            yield _Edit(operation, text, state, edited.fact, conflict)
