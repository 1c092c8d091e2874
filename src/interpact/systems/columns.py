# pyright: basic, reportAttributeAccessIssue=false
# (pyarrow makes its functions at import, so no checker sees them)
"""Stored predictions as columns: a million pairs are read in seconds, and checked row by row all the same."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj
from numpy.typing import NDArray
from pydantic import BaseModel

from interpact.case.problems import InputProblems, Problem
from interpact.case.states import Decision, State
from interpact.corpus.pairs import Operation
from interpact.corpus.store import record_problems
from interpact.systems.predictions import TOLERANCE, PairPrediction, RootPrediction, Verdict

Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

TOLD = 20
"""Rows of one kind of problem that are named; the rest is counted."""

_TEXT, _NUMBER = pa.string(), pa.float64()
_ROW = pa.list_(_NUMBER)
_PAIRS = pa.schema(
    [
        *((name, _TEXT) for name in ("pair", "root", "source", "operation")),
        *(
            (f"{what}_{when}", _TEXT)
            for when in ("before", "after")
            for what in ("state", "decision")
        ),
        ("mapping", pa.list_(_TEXT)),
        ("q", _ROW),
        ("p", _ROW),
        ("s", _NUMBER),
        ("branches", pa.list_(_ROW)),
    ]
)
_ROOTS = pa.schema(
    [
        ("root", _TEXT),
        ("source", _TEXT),
        ("critical", pa.bool_()),
        ("answer", _TEXT),
        ("verdict", _TEXT),
        ("p_yes", _NUMBER),
    ]
)


@dataclass(frozen=True, eq=False)
class PairColumns:
    """pairs.jsonl as columns; labels are tensor indices, and a row of NaN is no answer."""

    ids: pa.Array
    roots: list[str]
    root: Codes
    sources: list[str]
    source: Codes
    operation: Codes
    state_before: Codes
    decision_before: Codes
    state_after: Codes
    decision_after: Codes
    mapping: Codes
    q: Floats | None
    p: Floats | None
    s: Floats | None
    branches: Floats | None

    def __len__(self) -> int:
        return len(self.root)


@dataclass(frozen=True, eq=False)
class RootColumns:
    """roots.jsonl as columns; `critical` is 1, 0 or -1 (no label), `verdict` an index into `Verdict`."""

    roots: list[str]
    sources: list[str]
    source: Codes
    critical: Codes
    verdict: Codes
    p_yes: Floats | None

    def __len__(self) -> int:
        return len(self.roots)


class _Rows:
    """A table that is being checked; problems name its rows."""

    def __init__(self, path: Path, table: pa.Table, key: str) -> None:
        self.path, self.table = path, table
        self.ids: pa.Array = _array(table, key)
        self.problems: list[Problem] = []
        self.wrong(_flags(self.ids.is_null()), f"{key} is missing; add it")
        counts = self.ids.value_counts()
        often = counts.field("values").filter(pc.greater(counts.field("counts"), 1))
        if len(often):
            self.wrong(
                _flags(pc.is_in(self.ids, often)), f"this {key} occurs more than once; keep one"
            )

    def wrong(self, where: Flags, what: str) -> None:
        """Tell what is wrong with some rows."""
        rows = np.flatnonzero(where)
        for row in rows[:TOLD].tolist():
            name = self.ids[row].as_py() or ""
            self.problems.append(Problem(str(self.path), row + 1, name, what, unit="row"))
        if len(rows) > TOLD:
            more = f"{what} (the same in {len(rows) - TOLD:,} more rows)"
            self.problems.append(Problem(str(self.path), None, "", more))

    def labels(self, name: str, kind: type[StrEnum], column: pa.Array | None = None) -> Codes:
        """A column of labels as their positions in their enumeration."""
        column = _array(self.table, name) if column is None else column
        codes = pc.index_in(column, pa.array([str(label) for label in kind])).fill_null(-1)
        found = _numbers(codes).astype(np.int32)
        if len(found) == len(self.ids):
            self.wrong(found < 0, f"{name} is none of {', '.join(kind)}")
        return found

    def names(self, name: str) -> tuple[list[str], Codes]:
        """A column of texts as positions in the list of its distinct ones, which is sorted."""
        column = _array(self.table, name)
        self.wrong(_flags(column.is_null()), f"{name} is missing; add it")
        known = sorted(str(value) for value in column.unique().to_pylist())
        codes = pc.index_in(column, pa.array(known, _TEXT)).fill_null(0)
        return known, _numbers(codes).astype(np.int32)

    def numbers(self, name: str) -> Floats | None:
        """A column of chances; None where no row has one."""
        column = _array(self.table, name)
        if column.null_count == len(column):
            return None
        answered = ~_flags(column.is_null())
        found = _numbers(column)
        self._chances(name, found[:, None], answered)
        return found

    def rows(self, name: str, branches: bool = False) -> Floats | None:
        """A column of distributions over three labels, or of three of them; None where no row has one."""
        column = _array(self.table, name)
        if column.null_count == len(column):
            return None
        count = len(column)
        answered = ~_flags(column.is_null())
        whole = _flags(pc.equal(pc.list_value_length(column), 3).fill_null(False))
        flat = column.filter(pa.array(whole)).flatten()
        if branches:
            inner = _flags(pc.equal(pc.list_value_length(flat), 3).fill_null(False)).reshape(-1, 3)
            whole[whole] = inner.all(1)
            flat = column.filter(pa.array(whole)).flatten().flatten()
        shape = "three distributions over three labels" if branches else "three chances"
        self.wrong(answered & ~whole, f"{name} has to be {shape}, in the order of the labels")
        found = np.full((count, 3, 3) if branches else (count, 3), np.nan)
        found[whole] = _numbers(flat).reshape(-1, *found.shape[1:])
        # An empty place in a list reads as NaN, and is told as one.
        self._chances(name, found.reshape(count, -1), whole)
        sums = found.sum(-1).reshape(count, -1)
        with np.errstate(invalid="ignore"):
            off = (np.abs(sums - 1) > TOLERANCE).any(1)
        self.wrong(whole & off & np.isfinite(sums).all(1), f"{name} does not add up to 1")
        return found

    def _chances(self, name: str, found: Floats, answered: Flags) -> None:
        finite = np.isfinite(found).all(1)
        self.wrong(
            answered & ~finite, f"{name} is not a number; write null where there is no answer"
        )
        with np.errstate(invalid="ignore"):
            outside = ((found < -TOLERANCE) | (found > 1 + TOLERANCE)).any(1)
        self.wrong(answered & finite & outside, f"{name} is no chance between 0 and 1")

    def check(self) -> None:
        """An error with every problem found."""
        if self.problems:
            raise InputProblems(self.problems)


def read_pairs(path: Path) -> PairColumns:
    """The pairs of a file of predictions."""
    rows = _Rows(path, _read(path, _PAIRS, PairPrediction), "pair")
    roots, root = rows.names("root")
    sources, source = rows.names("source")
    operation = rows.labels("operation", Operation)
    states = [rows.labels(f"state_{when}", State) for when in ("before", "after")]
    decisions = [rows.labels(f"decision_{when}", Decision) for when in ("before", "after")]
    mapping = _mapping(rows)
    for when, state, decision in zip(("before", "after"), states, decisions, strict=True):
        given = np.take_along_axis(mapping, np.maximum(state, 0)[:, None], 1)[:, 0]
        known = (given >= 0) & (state >= 0) & (decision >= 0)
        rows.wrong(known & (given != decision), f"decision_{when} is not what mapping says")
    found = PairColumns(
        rows.ids,
        roots,
        root,
        sources,
        source,
        operation,
        states[0],
        decisions[0],
        states[1],
        decisions[1],
        mapping,
        rows.rows("q"),
        rows.rows("p"),
        rows.numbers("s"),
        rows.rows("branches", branches=True),
    )
    rows.check()
    return found


def read_roots(path: Path) -> RootColumns:
    """The roots of a file of predictions."""
    rows = _Rows(path, _read(path, _ROOTS, RootPrediction), "root")
    sources, source = rows.names("source")
    critical = _array(rows.table, "critical").cast(pa.int32()).fill_null(-1)
    found = RootColumns(
        rows.ids.to_pylist(),
        sources,
        source,
        _numbers(critical).astype(np.int32),
        rows.labels("verdict", Verdict),
        rows.numbers("p_yes"),
    )
    rows.check()
    return found


def _mapping(rows: _Rows) -> Codes:
    column = _array(rows.table, "mapping")
    whole = _flags(pc.equal(pc.list_value_length(column), 3).fill_null(False))
    rows.wrong(~whole, "mapping has to be the decisions for satisfied, not_satisfied and unknown")
    found = np.full((len(column), 3), -1, np.int32)
    codes = pc.index_in(
        column.filter(pa.array(whole)).flatten(), pa.array([str(decision) for decision in Decision])
    )
    found[whole] = _numbers(codes.fill_null(-1)).reshape(-1, 3)
    rows.wrong(whole & (found < 0).any(1), f"mapping holds what is none of {', '.join(Decision)}")
    return found


R = TypeVar("R", bound=BaseModel)


def _read(path: Path, schema: pa.Schema, kind: type[R]) -> pa.Table:
    if not path.stat().st_size:
        return schema.empty_table()
    options = pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error")
    try:
        return pj.read_json(path, parse_options=options).select(schema.names)
    except (pa.ArrowException, ValueError) as error:
        # Read once more, slowly: these errors name the line and the field.
        problems = list(islice(record_problems(path, kind), TOLD))
        raise InputProblems(problems or [Problem(str(path), None, "", str(error))]) from None


def _array(table: pa.Table, name: str) -> Any:
    return table.column(name).combine_chunks()


def _flags(column: Any) -> Flags:
    return column.to_numpy(zero_copy_only=False).astype(bool)


def _numbers(column: Any) -> Any:
    return column.to_numpy(zero_copy_only=False)
