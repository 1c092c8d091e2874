"""Criticality labels of roots (app:criticality-labels), and the queue of those left to a reviewer.

A root is critical where an accepted target intervention changes the decision, and not critical
where the mapping gives one decision for every state. All others are for a reviewer: that no
intervention at hand changes the decision does not show that none could.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from interpact.case.case import Id, Text
from interpact.case.problems import InputProblems, Problem
from interpact.case.states import Decision, State, did_you_mean
from interpact.corpus.pairs import Basis, CriticalityRecord, LabelledRoot, Operation, Pair
from interpact.corpus.store import CRITICALITY, Corpus, read_all_records, write_records
from interpact.errors import InterPactError

REVIEW = "review_criticality.jsonl"


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ReviewAnswer(_Record):
    """What a reviewer says about a root of the queue."""

    root: Id
    critical: bool
    reason: Text | None = None


class ReviewEvidence(_Record):
    """An evidence unit as the reviewer sees it; `target` marks the one that may be edited."""

    id: Id
    conditions: tuple[Id, ...]
    text: Text
    target: bool


class ReviewIntervention(_Record):
    """An accepted target intervention: the unit's new text and the state it was judged to be in."""

    operation: Operation
    text: Text | None = None
    state_after: State
    decision_after: Decision


class ReviewItem(_Record):
    """A line of review_criticality.jsonl: all that a reviewer needs to label one root."""

    root: Id
    rule: Text
    query: Text
    aggregation: Text
    conditions: dict[Id, Text]
    evidence: tuple[ReviewEvidence, ...]
    condition: Id
    """The target condition."""
    states: dict[Id, State]
    decision: Decision
    mapping: dict[State, Decision]
    """The decision for every state of the target condition."""
    interventions: tuple[ReviewIntervention, ...]


@dataclass(frozen=True)
class Labelling:
    """The labels that the data and the reviewers give, and the roots still open."""

    records: tuple[CriticalityRecord, ...]
    queue: tuple[ReviewItem, ...]
    overruled: tuple[CriticalityRecord, ...] = ()
    """Earlier reviews that the data now contradicts."""

    def counts(self) -> Counter[tuple[Basis, bool]]:
        """How many roots have each label on each basis."""
        return Counter((record.basis, record.critical) for record in self.records)


def label(corpus: Corpus) -> Labelling:
    """The labels of all roots; reviews that the corpus holds stay where the data decides nothing."""
    records: list[CriticalityRecord] = []
    queue: list[ReviewItem] = []
    overruled: list[CriticalityRecord] = []
    pairs_of = corpus.pairs_of()
    for name, root in corpus.roots.items():
        targets = [pair for pair in pairs_of[name] if not pair.record.operation.control]
        earlier = corpus.criticality.get(name)
        review = earlier if earlier is not None and earlier.basis is Basis.REVIEW else None
        if any(pair.changed for pair in targets):
            record = CriticalityRecord(root=name, critical=True, basis=Basis.CHANGED_PAIR)
        elif root.constant:
            record = CriticalityRecord(root=name, critical=False, basis=Basis.CONSTANT_MAPPING)
        elif review is not None:
            record = review
        else:
            queue.append(_item(name, root, targets))
            continue
        records.append(record)
        if review is not None and review.critical is not record.critical:
            overruled.append(review)
    return Labelling(tuple(records), tuple(queue), tuple(overruled))


def merge(
    labelling: Labelling, answers: Iterable[ReviewAnswer], file: str = "the answers"
) -> Labelling:
    """The labelling with reviewers' answers merged in; a new answer replaces an earlier review.

    Refused are answers about roots that the data decides or that do not exist, and two answers
    that differ.
    """
    decided = {r.root: r for r in labelling.records if r.basis is not Basis.REVIEW}
    reviewed = {r.root: r for r in labelling.records if r.basis is Basis.REVIEW}
    open_roots = {item.root for item in labelling.queue} | set(reviewed)
    given: dict[str, CriticalityRecord] = {}
    problems: list[Problem] = []
    for answer in answers:
        record = CriticalityRecord(root=answer.root, critical=answer.critical, basis=Basis.REVIEW)
        if answer.root in decided:
            what = _contradiction(answer, decided[answer.root])
        elif answer.root not in open_roots:
            guess = did_you_mean(answer.root, [*open_roots, *decided])
            what = f"there is no such root{guess}; correct or drop the answer"
        elif given.setdefault(answer.root, record) != record:
            what = "is answered both ways; keep one answer"
        else:
            continue
        problems.append(Problem(file, None, answer.root, what))
    if problems:
        raise InputProblems(problems)
    return Labelling(
        (*decided.values(), *(reviewed | given).values()),
        tuple(item for item in labelling.queue if item.root not in given),
        labelling.overruled,
    )


def _contradiction(answer: ReviewAnswer, record: CriticalityRecord) -> str:
    if record.basis is Basis.CHANGED_PAIR:
        why = "an accepted intervention changes its decision, so it is critical"
    else:
        why = "no state of its condition changes the decision, so it is not critical"
    said = "critical" if answer.critical else "not critical"
    return f"is answered {said}, but is not in the queue: {why}; drop the answer"


def read_answers(path: str | Path) -> list[ReviewAnswer]:
    """The answers of reviewers, one a line; every bad line is told at once."""
    path = Path(path)
    if not path.exists():
        raise InterPactError(f'{path}: there is no such file; give lines {{"root", "critical"}}')
    return read_all_records(path, ReviewAnswer)


def write_labelling(folder: str | Path, labelling: Labelling) -> None:
    """Write criticality.jsonl, in the order of root ids, and the review queue beside it."""
    folder = Path(folder)
    by_root = {record.root: record for record in labelling.records}
    write_records(folder / CRITICALITY, (by_root[root] for root in sorted(by_root)))
    write_records(folder / REVIEW, labelling.queue)


def _item(name: str, root: LabelledRoot, targets: Iterable[Pair]) -> ReviewItem:
    case, evidence = root.root.case, root.root.evidence
    return ReviewItem(
        root=name,
        rule=case.rule,
        query=case.query,
        aggregation=case.aggregation,
        conditions=case.conditions,
        evidence=tuple(
            ReviewEvidence(
                id=unit.id, conditions=unit.conditions, text=unit.text, target=unit.id == evidence
            )
            for unit in case.evidence
        ),
        condition=root.root.condition,
        states=root.labels.states,
        decision=root.decision,
        mapping=root.mapping,
        interventions=tuple(
            ReviewIntervention(
                operation=pair.record.operation,
                text=pair.record.text,
                state_after=pair.state_after,
                decision_after=pair.decision_after,
            )
            for pair in targets
        ),
    )
