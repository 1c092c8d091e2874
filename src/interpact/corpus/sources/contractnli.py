"""ContractNLI: each contract gives cases by conjunction over subsets of its hypotheses.

The source labels become states and the annotated spans become evidence units (app:provenance);
every contract, annotation, evidence link, span, subset and root is accounted for in the ledger.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, StrictInt, ValidationError

from interpact.case.case import Evidence, LabelledCase, Labels, Text
from interpact.case.formats import FormatError, decode, json_document, parse_json
from interpact.case.problems import InputProblems, Problem, field_problems
from interpact.case.rules import Rule
from interpact.case.states import State
from interpact.corpus.pairs import RootRecord
from interpact.corpus.sources.contractnli_policies import (
    Name,
    NamedPolicies,
    Policy,
    RandomSubsets,
    Subset,
    plain,
)
from interpact.corpus.sources.ledger import Imported, Ledger
from interpact.corpus.sources.published import failed, located, read_all

PUBLISHED = (
    "ContractNLI is published by Stanford NLP at https://stanfordnlp.github.io/contract-nli/ "
    "under CC BY 4.0; download its archive and give the .zip, the folder in it, or any of "
    "train.json, dev.json and test.json"
)
_SPLITS = ("train", "dev", "test")
_STATES = {
    "Entailment": State.SATISFIED,
    "Contradiction": State.NOT_SATISFIED,
    "NotMentioned": State.UNKNOWN,
}
_NOUNS = ("contract", "annotation", "evidence link", "span", "subset", "root")
_FATES = ("kept", "dropped", "noted")
_SHOWN = 20


# ---- the published format --------------------------------------------------------------------


class _Annotation(BaseModel):
    choice: str
    spans: list[StrictInt]


class _AnnotationSet(BaseModel):
    annotations: dict[str, _Annotation]


class _Contract(BaseModel):
    id: Annotated[Name, BeforeValidator(lambda v: str(v) if type(v) is int else v)]
    text: str
    spans: list[tuple[StrictInt, StrictInt]]
    annotation_sets: list[_AnnotationSet]


class _Hypothesis(BaseModel):
    hypothesis: Text


class _Content(BaseModel):
    documents: list[_Contract]
    labels: dict[str, _Hypothesis]


@dataclass(frozen=True, slots=True)
class _File:
    """A file or archive member; `stem` is its split, where it is named after one."""

    name: str
    stem: str
    content: _Content


# ---- contracts to cases ----------------------------------------------------------------------


@dataclass
class _Reading:
    """What can be used of a contract, and why the rest cannot."""

    texts: dict[int, str] = field(default_factory=dict[int, str])
    faults: dict[int, str] = field(default_factory=dict[int, str])
    states: dict[str, State] = field(default_factory=dict[str, State])
    refused: dict[str, str] = field(default_factory=dict[str, str])
    links: dict[tuple[str, int], str] = field(default_factory=dict[tuple[str, int], str])

    def evidence(self, key: str) -> list[int]:
        """The spans that can serve a hypothesis."""
        return [index for (of, index), fault in self.links.items() if of == key and not fault]


def import_contractnli(files: Sequence[Path], policy: Policy, ledger: Ledger) -> Imported:
    """The cases and roots of ContractNLI files, folders or archives, in whatever order given."""
    tally = Ledger()
    cases: list[LabelledCase] = []
    roots: list[RootRecord] = []
    texts: set[str] = set()
    owners: dict[str, str] = {}
    for file in _read(files):
        hypotheses = {key: h.hypothesis.strip() for key, h in file.content.labels.items()}
        named: list[Subset] = []
        if isinstance(policy, NamedPolicies):
            named = policy.resolve(hypotheses, file.name)
        for position, contract in enumerate(file.content.documents):
            text = plain(contract.text)
            if text in texts or not contract.annotation_sets:
                why = "same text as another contract" if text in texts else "not annotated"
                tally.drop("contract", why)
                _drop_annotations(contract.annotation_sets, "its contract is dropped", tally)
                _count(tally, "span", "its contract is dropped", len(contract.spans))
                continue
            texts.add(text)
            _drop_annotations(contract.annotation_sets[1:], "not in the first set", tally)
            document = f"contractnli-{file.stem}-{contract.id}"
            reading = _reading(contract, hypotheses, tally)
            subsets = _subsets(policy, named, document, reading, tally)
            place = f'{file.name}: documents[{position}] ("{contract.id}")'
            for subset in subsets:
                case = _case(document, subset, contract, reading, hypotheses)
                if case.id in owners:
                    what = (
                        f'its case id "{case.id}" is taken by {owners[case.id]}; '
                        "give each contract of a file its own id, and each file its own name"
                    )
                    raise InputProblems([Problem(place, None, "", what)])
                owners[case.id] = place
                cases.append(case)
                roots += _roots(case, tally)
            _count(tally, "contract", "" if subsets else "none of its subsets is a case")
            _tally(contract, reading, {key for subset in subsets for key in subset.keys}, tally)
    rows = sorted(tally.rows(), key=lambda r: (_NOUNS.index(r[0]), _FATES.index(r[1]), -r[3], r[2]))
    for noun, fate, reason, count in rows:
        ledger.counts[noun, fate, reason] += count
    return Imported(cases, roots, ledger)


def _reading(contract: _Contract, hypotheses: Mapping[str, str], tally: Ledger) -> _Reading:
    reading = _Reading()
    for index, (start, end) in enumerate(contract.spans):
        text = contract.text[start:end].strip() if 0 <= start <= end <= len(contract.text) else None
        if text is None:
            reading.faults[index] = "offsets outside the text"
        elif not text:
            reading.faults[index] = "only whitespace"
        elif "\x00" in text:
            reading.faults[index] = "holds a NUL character"
        else:
            reading.texts[index] = text
    for key, annotation in contract.annotation_sets[0].annotations.items():
        for index in annotation.spans:
            fault = "" if index in reading.texts else reading.faults.get(index, "no such span")
            reading.links[key, index] = fault
        twice = len(annotation.spans) - len(set(annotation.spans))
        _count(tally, "evidence link", "listed twice", twice)
        state = _STATES.get(annotation.choice)
        if key not in hypotheses:
            reading.refused[key] = "not a hypothesis of its file"
        elif state is None:
            reading.refused[key] = f"the choice is none of {', '.join(_STATES)}"
        elif state is not State.UNKNOWN and not reading.evidence(key):
            reading.refused[key] = "settled, but without usable evidence"
        else:
            reading.states[key] = state
    return reading


def _subsets(
    policy: Policy, named: list[Subset], document: str, reading: _Reading, tally: Ledger
) -> list[Subset]:
    if isinstance(policy, RandomSubsets):
        subsets = policy.draw(document, list(reading.states))
        missing = policy.per_contract - len(subsets)
        _count(tally, "subset", "too few usable hypotheses for another one", missing)
        return subsets
    subsets = [s for s in named if reading.states.keys() >= set(s.keys)]
    missing = len(named) - len(subsets)
    _count(tally, "subset", "names a hypothesis that is not usable in the contract", missing)
    return subsets


def _case(
    document: str,
    subset: Subset,
    contract: _Contract,
    reading: _Reading,
    hypotheses: Mapping[str, str],
) -> LabelledCase:
    names = {key: f"c{i}" for i, key in enumerate(subset.keys, 1)}
    bearing: dict[int, list[str]] = {}
    for key, name in names.items():
        for index in reading.evidence(key):
            bearing.setdefault(index, []).append(name)
    order = sorted(bearing, key=lambda index: (contract.spans[index], index))
    states = {names[key]: reading.states[key] for key in subset.keys}
    return LabelledCase(
        id=f"{document}-{subset.name}",
        source="contractnli",
        document=document,
        rule=subset.rule,
        query=subset.query,
        aggregation="all",
        conditions={name: hypotheses[key] for key, name in names.items()},
        evidence=tuple(
            Evidence(id=f"e{i}", conditions=tuple(bearing[at]), text=reading.texts[at])
            for i, at in enumerate(order, 1)
        ),
        labels=Labels(states=states, decision=Rule.parse("all").decide(states)),
    )


def _roots(case: LabelledCase, tally: Ledger) -> Iterator[RootRecord]:
    """The roots of a case; every unit and condition of a case is one or is dropped."""
    tally.keep("subset", f"decision {case.labels.decision}")
    rootless = True
    for unit in case.evidence:
        for condition in unit.conditions:
            if len(unit.conditions) > 1:
                tally.drop("root", "its span serves several conditions of the case")
            elif case.labels.states[condition] is State.UNKNOWN:
                tally.drop("root", "its condition is not mentioned, although it has evidence")
            else:
                rootless = False
                tally.keep("root")
                name = f"{case.id}/{unit.id}"
                yield RootRecord(id=name, case=case.id, evidence=unit.id, condition=condition)
    if rootless:
        tally.note("subset", "a case without a root")


def _tally(contract: _Contract, reading: _Reading, used: set[str], tally: Ledger) -> None:
    """Account for the annotations, evidence links and spans of a contract."""
    for key in contract.annotation_sets[0].annotations:
        unused = "" if key in used else "in no subset"
        _count(tally, "annotation", reading.refused.get(key, unused))
    fates: dict[int, str] = {}
    for (key, index), fault in reading.links.items():
        unused = "" if key in used else "in no subset"
        why = fault or ("its annotation is dropped" if key in reading.refused else unused)
        _count(tally, "evidence link", why)
        # A span is kept where any of its links is.
        fates[index] = why and fates.get(index, why)
    for index in range(len(contract.spans)):
        fate = fates.get(index, "evidence of no hypothesis")
        _count(tally, "span", reading.faults.get(index, fate))


def _drop_annotations(sets: Sequence[_AnnotationSet], why: str, tally: Ledger) -> None:
    for annotation in (a for s in sets for a in s.annotations.values()):
        _count(tally, "annotation", why)
        _count(tally, "evidence link", why, len(annotation.spans))


def _count(tally: Ledger, noun: str, why: str, count: int = 1) -> None:
    if count and why:
        tally.drop(noun, why, count)
    elif count:
        tally.keep(noun, count=count)


def _read(paths: Sequence[Path]) -> list[_File]:
    """Every file, train, dev and test first, so that the order of the paths means nothing."""
    members = {f"{split}.json" for split in _SPLITS}
    files = read_all(paths, members.__contains__, _file, PUBLISHED)
    rank = {split: i for i, split in enumerate(_SPLITS)}
    return sorted(files, key=lambda f: (rank.get(f.stem, len(rank)), f.stem, f.name))


def _file(name: str, data: bytes) -> _File:
    try:
        text = decode(data)
        raw = parse_json(text)
    except FormatError as error:
        raise failed(name, error.what, error.line) from None
    try:
        content = _Content.model_validate(raw)
    except ValidationError as error:
        wrong = field_problems(error.errors(include_url=False), {})
        problems = located(name, json_document(text, raw), wrong[:_SHOWN])
        more = f"{len(wrong) - _SHOWN} more problems; " if len(wrong) > _SHOWN else ""
        problems.append(
            Problem(name, None, "", f"{more}this is not the file as published. {PUBLISHED}")
        )
        raise InputProblems(problems) from None
    # The stem becomes part of ids, which hold no line breaks or other controls.
    stem = re.sub(r"[^\w.-]+", "-", Path(name).stem)[:80]
    return _File(name, stem, content)
