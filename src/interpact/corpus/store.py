"""A corpus folder: reading, checking and writing it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from interpact.case.case import Case, LabelledCase, Location
from interpact.case.files import Entry, entries, replacing
from interpact.case.formats import FormatError, decode, parse_json
from interpact.case.problems import InputProblems, Problem, describe, field_problems
from interpact.case.states import did_you_mean
from interpact.corpus.pairs import (
    Basis,
    CriticalityRecord,
    LabelledRoot,
    Operation,
    Pair,
    PairRecord,
    RootRecord,
    Split,
)
from interpact.errors import InterPactError

R = TypeVar("R", bound=BaseModel)

SAMPLE = Path(__file__).with_name("sample")
"""The corpus that comes with the package."""

CASES, ROOTS, PAIRS, CRITICALITY = "cases.jsonl", "roots.jsonl", "pairs.jsonl", "criticality.jsonl"


@dataclass
class Corpus:
    """Cases, roots, pairs and criticality labels, joined."""

    cases: dict[str, Case] = field(default_factory=dict[str, Case])
    roots: dict[str, LabelledRoot] = field(default_factory=dict[str, LabelledRoot])
    pairs: list[Pair] = field(default_factory=list[Pair])
    criticality: dict[str, CriticalityRecord] = field(default_factory=dict[str, CriticalityRecord])

    @staticmethod
    def read(folder: str | Path) -> Corpus:
        """The corpus of a folder; every problem of every file is told at once."""
        corpus = Corpus()
        problems = [p for p in corpus_problems(folder, corpus) if not p.note]
        if problems:
            raise InputProblems(problems)
        return corpus

    def need_roots(self, folder: str | Path) -> None:
        """An error where the corpus names no target units."""
        if not self.roots:
            raise InterPactError(
                f"{Path(folder) / ROOTS}: no roots; make the corpus with `interpact import`, or "
                "name its target units there"
            )

    def pairs_of(self) -> dict[str, list[Pair]]:
        """The pairs of every root, also of those that have none."""
        found: dict[str, list[Pair]] = {root: [] for root in self.roots}
        for pair in self.pairs:
            found[pair.record.root].append(pair)
        return found


def write_records(path: Path, records: Iterable[BaseModel]) -> None:
    """Write records as JSON lines, all or nothing."""
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        for record in records:
            file.write(
                record.model_dump_json(exclude_none=not isinstance(record, PairRecord)) + "\n"
            )


def read_records(path: Path, kind: type[R]) -> Iterator[R]:
    """The records of a JSON lines file, one by one."""
    for _, record, _, problems in _records(path, kind):
        if record is None:
            raise InputProblems(problems)
        yield record


def read_all_records(path: Path, kind: type[R]) -> list[R]:
    """The records of a JSON lines file; every problem is told at once."""
    found: list[R] = []
    wrong: list[Problem] = []
    for _, record, _, problems in _records(path, kind):
        wrong += problems
        if record is not None:
            found.append(record)
    if wrong:
        raise InputProblems(wrong)
    return found


def record_problems(path: Path, kind: type[R]) -> Iterator[Problem]:
    """What is wrong with a JSON lines file, line by line."""
    for _, _, _, problems in _records(path, kind):
        yield from problems


def _records(path: Path, kind: type[R]) -> Iterator[tuple[int, R | None, Any, list[Problem]]]:
    """Line, record if it is one, the plain data, and what keeps it from being a record."""
    fields: dict[Location, tuple[str, ...]] = {(): tuple(kind.model_fields)}
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            data: Any = None
            try:
                text = decode(line, number)
                if not text.strip():
                    continue
                data = parse_json(text, number)
                yield number, kind.model_validate(data), data, []
            except FormatError as error:
                yield number, None, None, [Problem(str(path), number, "", error.what)]
            except ValidationError as error:
                found = field_problems(error.errors(include_url=False), fields)
                yield (
                    number,
                    None,
                    data,
                    [Problem(str(path), number, describe(at, data), what) for at, what in found],
                )


def corpus_problems(folder: str | Path, into: Corpus | None = None) -> Iterator[Problem]:
    """Every problem of a corpus folder; what is sound is put `into` a corpus."""
    folder = Path(folder)
    corpus = Corpus() if into is None else into
    yield from _add_all(_case_entries(folder / CASES), corpus.cases, "case", str(folder / CASES))
    roots: dict[str, RootRecord] = {}
    told: set[str] = (
        set()
    )  # roots that are wrong themselves: their pairs and labels need no mending
    yield from _checked(
        folder / ROOTS, RootRecord, roots, lambda r: r.id, lambda r: _root(r, corpus), told
    )
    yield from _linked_splits(folder / ROOTS, roots, corpus)
    pairs: dict[str, PairRecord] = {}
    yield from _checked(
        folder / PAIRS, PairRecord, pairs, lambda p: p.id, lambda p: _pair(p, corpus, told)
    )
    changed = {pair.record.root for pair in corpus.pairs if pair.changed}
    yield from _checked(
        folder / CRITICALITY,
        CriticalityRecord,
        corpus.criticality,
        lambda c: c.root,
        lambda c: _criticality(c, corpus, told, changed),
    )


Finding = tuple[str, str, bool]
"""Field, what is wrong, whether it is only a note."""


def _case_entries(path: Path) -> Iterator[tuple[int, tuple[str, Case] | None, list[Problem]]]:
    found: Iterable[Entry] = entries(path)
    for entry in found:
        case = entry.case
        yield entry.line or 0, None if case is None else (case.id, case), entry.problems


def _add_all(
    found: Iterable[tuple[int, tuple[str, Any] | None, list[Problem]]],
    into: dict[str, Any],
    noun: str,
    file: str,
) -> Iterator[Problem]:
    first: dict[str, int] = {}
    for line, item, problems in found:
        yield from problems
        if item is None:
            continue
        name, value = item
        if name in first:
            what = f"this {noun} is on line {first[name]} too; give each its own id"
            yield Problem(file, line, name, what)
            continue
        first[name] = line
        into[name] = value


def _checked(
    path: Path,
    kind: type[R],
    into: dict[str, R],
    name: Callable[[R], str],
    findings: Callable[[R], Iterable[Finding]],
    wrong: set[str] | None = None,
) -> Iterator[Problem]:
    """The problems of one file of records, which need not exist; `wrong` takes the ids of bad ones."""
    if not path.exists():
        return

    def sound() -> Iterator[tuple[int, tuple[str, R] | None, list[Problem]]]:
        for line, record, data, problems in _records(path, kind):
            if record is not None:
                problems = [
                    Problem(str(path), line, f"{name(record)}: {at}", what, note)
                    for at, what, note in findings(record)
                ]
                if any(not problem.note for problem in problems):
                    record = None
            if wrong is not None and record is None and isinstance(data, dict):
                wrong.add(str(data.get("id")))
            yield line, None if record is None else (name(record), record), problems

    yield from _add_all(sound(), into, "record", str(path))


def _root(record: RootRecord, corpus: Corpus) -> Iterator[Finding]:
    if record.id != f"{record.case}/{record.evidence}":
        yield "id", f'must be "{record.case}/{record.evidence}", its case and evidence', False
    case = corpus.cases.get(record.case)
    if case is None:
        guess = did_you_mean(record.case, list(corpus.cases))
        yield "case", f'there is no case "{record.case}"{guess} in {CASES}', False
        return
    unit = next((u for u in case.evidence if u.id == record.evidence), None)
    if unit is None:
        guess = did_you_mean(record.evidence, [u.id for u in case.evidence])
        yield "evidence", f'the case has no evidence unit "{record.evidence}"{guess}', False
    elif record.condition not in unit.conditions:
        known = ", ".join(unit.conditions) or "no condition"
        yield "condition", f'the unit bears on {known}, not on "{record.condition}"', False
    elif not isinstance(case, LabelledCase):
        yield "case", "the case has no labels; a root needs them", False
    else:
        corpus.roots[record.id] = LabelledRoot.of(record, case)


def _pair(record: PairRecord, corpus: Corpus, told: Collection[str]) -> Iterator[Finding]:
    if record.id != f"{record.root}/{record.operation}":
        yield "id", f'must be "{record.root}/{record.operation}", its root and operation', False
    root = corpus.roots.get(record.root)
    if root is None:
        yield from _no_root(record.root, corpus, told)
        return
    original = root.root.case.unit(root.root.evidence).text
    if record.operation is not Operation.DISTRACTOR_INSERTION and record.text == original:
        yield "text", "is the original text; an intervention has to change it", False
    if record.operation.control and record.state_after is not root.state:
        yield (
            "state_after",
            f"is {record.state_after.words} after a control, {root.state.words} before",
            True,
        )
    corpus.pairs.append(Pair(root, record))


def _no_root(root: str, corpus: Corpus, told: Collection[str]) -> Iterator[Finding]:
    if root not in told:
        guess = did_you_mean(root, list(corpus.roots))
        yield "root", f'there is no root "{root}"{guess} in {ROOTS}', False


def _criticality(
    record: CriticalityRecord, corpus: Corpus, told: Collection[str], changed: Collection[str]
) -> Iterator[Finding]:
    root = corpus.roots.get(record.root)
    if root is None:
        yield from _no_root(record.root, corpus, told)
    elif record.basis is Basis.CONSTANT_MAPPING and (record.critical or not root.constant):
        yield "basis", "constant_mapping needs a constant mapping and critical false", False
    elif record.basis is Basis.CHANGED_PAIR and (record.critical is False or root.constant):
        yield "basis", "changed_pair needs a decision-changing pair and critical true", False
    elif record.basis is Basis.CHANGED_PAIR and record.root not in changed:
        what = "is changed_pair, but no pair of the root changes the decision; run interpact label"
        yield "basis", what, True
    elif record.basis is Basis.REVIEW and record.critical and root.constant:
        yield "critical", "is true, but no state of the condition can change the decision", False


def _linked_splits(
    path: Path, roots: Mapping[str, RootRecord], corpus: Corpus
) -> Iterator[Problem]:
    """Roots of one case, document or rule family that lie in different splits."""
    split_of: dict[tuple[str, str], tuple[str, Split]] = {}
    for record in roots.values():
        case = corpus.cases[record.case]
        if record.split is None:
            continue
        links = [("case", case.id), ("document", case.document), ("rule_family", case.rule_family)]
        for kind, value in links:
            if value is None:
                continue
            other, split = split_of.setdefault((kind, value), (record.id, record.split))
            if split is not record.split:
                what = (
                    f"is {record.split}, but {other} of the same {kind.replace('_', ' ')} is {split}; "
                    "related roots share one split (interpact split)"
                )
                yield Problem(str(path), None, f"{record.id}: split", what)
                break


__all__ = ["Corpus", "corpus_problems", "read_all_records", "read_records", "write_records"]
