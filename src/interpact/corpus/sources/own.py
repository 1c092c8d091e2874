"""A user's own case files as a corpus: each unit that bears on exactly one condition is a root."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from interpact.case.case import LabelledCase
from interpact.case.files import entries
from interpact.case.problems import InputProblems, Problem
from interpact.case.states import State
from interpact.corpus.pairs import RootRecord
from interpact.corpus.sources.ledger import Imported, Ledger

UNLABELLED = "without labels: their states are where every intervention starts from"


def import_cases(files: Sequence[Path], ledger: Ledger) -> Imported:
    """The cases and roots of case files; the problems of all files are told at once."""
    cases: list[LabelledCase] = []
    roots: list[RootRecord] = []
    problems: list[Problem] = []
    places: dict[str, str] = {}
    for path in files:
        for entry in entries(path):
            if entry.case is None:
                problems += entry.problems
                continue
            case, place = entry.case, entry.file + (f":{entry.line}" if entry.line else "")
            if case.id in places:
                what = f'the id "{case.id}" is taken by {places[case.id]}; give each case its own'
                problems.append(Problem(entry.file, entry.line, "id", what))
                continue
            places[case.id] = place
            if not isinstance(case, LabelledCase):
                ledger.drop("case", UNLABELLED)
                continue
            ledger.keep("case", f"decision {case.labels.decision}")
            cases.append(case)
            roots += _roots(case, ledger)
    if problems:
        raise InputProblems(problems)
    return Imported(cases, roots, ledger)


def _roots(case: LabelledCase, ledger: Ledger) -> list[RootRecord]:
    roots: list[RootRecord] = []
    for unit in case.evidence:
        if len(unit.conditions) != 1:
            many = "several conditions" if unit.conditions else "no condition"
            ledger.drop("evidence unit", f"no root: bears on {many}")
            continue
        ledger.keep("evidence unit", "root")
        (of,) = unit.conditions
        if case.labels.states[of] is State.UNKNOWN:
            ledger.note("evidence unit", "root whose condition is unknown before any edit")
        name = f"{case.id}/{unit.id}"
        roots.append(RootRecord(id=name, case=case.id, evidence=unit.id, condition=of))
    if not roots:
        ledger.note("case", "a case without a root")
    return roots
