"""Judgments as JSON, JSON lines and CSV, written as they come."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from interpact.judging.view import View

Rows = Callable[[View], Iterator[dict[str, Any]]]
# Rows of both kinds are flat but for their lists, which CSV joins by "; ".
_encode = json.JSONEncoder(ensure_ascii=False).encode


def judgment_rows(view: View) -> Iterator[dict[str, Any]]:
    """One row for each evidence unit and condition."""
    for judgment in view.judgments:
        yield judgment.data()


def set_rows(view: View) -> Iterator[dict[str, Any]]:
    """One row for each minimal flip set, and for each set of answers that settles the decision."""
    for kind, changes in (("flips", view.flips), ("settles", view.settles)):
        for change in changes:
            yield {
                "case": view.case.id,
                "kind": kind,
                "from": view.decision,
                "to": change.decision,
                "conditions": list(change.states),
                "states": list(change.states.values()),
            }


COLUMNS: dict[Rows, tuple[str, ...]] = {
    judgment_rows: (
        *("case", "evidence", "condition", "verdict", "critical", "probability", "mode"),
        *("pivotal", "witness", "also", "shares", "chances"),
    ),
    set_rows: ("case", "kind", "from", "to", "conditions", "states"),
}
"""What the rows hold, in order; CSV needs it before the first row."""


def write_json(views: Iterable[View], rows: Rows, out: TextIO) -> None:
    """A JSON array, row by row."""
    before = "[\n"
    for view in views:
        for row in rows(view):
            out.write(before + _encode(row))
            before = ",\n"
    out.write("[]\n" if before == "[\n" else "\n]\n")


def write_json_lines(views: Iterable[View], rows: Rows, out: TextIO) -> None:
    """A JSON object a line."""
    for view in views:
        out.write("".join([_encode(row) + "\n" for row in rows(view)]))


def write_csv(views: Iterable[View], rows: Rows, out: TextIO) -> None:
    """Comma-separated rows under a header; cells that a spreadsheet would run are quoted with '."""
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS[rows])
    for view in views:
        for row in rows(view):
            writer.writerow([cell(value) for value in row.values()])


def cell(value: object) -> object:
    """A value as a cell that no spreadsheet runs."""
    if isinstance(value, list):
        value = "; ".join(map(str, value))  # type: ignore[reportUnknownArgumentType]
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return "'" + value
    return value


def write_parquet(rows: Iterable[dict[str, Any]], columns: tuple[str, ...], path: Path) -> None:
    """Rows as a Parquet file, in batches."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds: dict[str, Any] = {
        "critical": pa.bool_(),
        "pivotal": pa.bool_(),
        "probability": pa.float64(),
        "chances": pa.list_(pa.float64()),
        **dict.fromkeys(("also", "shares", "conditions", "states"), pa.list_(pa.string())),
    }
    schema = pa.schema([pa.field(name, kinds.get(name, pa.string())) for name in columns])
    stream = iter(rows)
    with pq.ParquetWriter(path, schema, compression="zstd") as file:
        while batch := list(islice(stream, 10_000)):
            file.write_table(pa.Table.from_pylist(batch, schema))
