# pyright: basic
"""Cases as Parquet rows; imported only when a Parquet file is read or written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from interpact.case.formats import FormatError

_TEXT = pa.string()
_NAMED = [pa.field("id", _TEXT), pa.field("text", _TEXT)]
SCHEMA = pa.schema(
    [
        *(pa.field(name, _TEXT) for name in ("id", "source", "document", "rule_family")),
        *(pa.field(name, _TEXT) for name in ("rule", "query", "aggregation")),
        pa.field("conditions", pa.list_(pa.struct(_NAMED))),
        pa.field(
            "evidence", pa.list_(pa.struct([*_NAMED, pa.field("conditions", pa.list_(_TEXT))]))
        ),
        pa.field(
            "labels",
            pa.struct(
                [
                    pa.field(
                        "states",
                        pa.list_(
                            pa.struct([pa.field("condition", _TEXT), pa.field("state", _TEXT)])
                        ),
                    ),
                    pa.field("decision", _TEXT),
                ]
            ),
        ),
    ]
)
_ROWS = 2_000


def rows(path: Path, watch: Callable[[int], None] | None = None) -> Iterator[Any]:
    """The raw cases of a Parquet file."""
    try:
        with pq.ParquetFile(path) as file:
            size, count = path.stat().st_size, max(1, file.metadata.num_rows)
            for batch in file.iter_batches(_ROWS):
                if watch is not None:
                    watch(size * batch.num_rows // count)
                for row in batch.to_pylist():
                    yield _case_fields(row)
    except (pa.ArrowException, ValueError) as error:
        reason = str(error).split("\n")[0][:200]
        raise FormatError(None, f"not a Parquet file that can be read: {reason}") from None


def write_rows(path: Path, cases: Iterable[dict[str, Any]]) -> None:
    """Write raw cases, in batches."""
    with pq.ParquetWriter(path, SCHEMA, compression="zstd") as file:
        batch: list[dict[str, Any]] = []
        for case in cases:
            batch.append(_row(case))
            if len(batch) == _ROWS:
                file.write_table(pa.Table.from_pylist(batch, SCHEMA))
                batch.clear()
        if batch:
            file.write_table(pa.Table.from_pylist(batch, SCHEMA))


def _row(case: dict[str, Any]) -> dict[str, Any]:
    row = dict(case)
    row["conditions"] = [{"id": i, "text": t} for i, t in case["conditions"].items()]
    if "labels" in case:
        states = case["labels"]["states"].items()
        row["labels"] = {
            "states": [{"condition": c, "state": s} for c, s in states],
            "decision": case["labels"]["decision"],
        }
    return row


def _case_fields(row: dict[str, Any]) -> dict[str, Any]:
    case = {name: value for name, value in row.items() if value is not None}
    case["conditions"] = _named(case.get("conditions"), "id", "text")
    labels = case.get("labels")
    if isinstance(labels, dict):
        case["labels"] = {**labels, "states": _named(labels.get("states"), "condition", "state")}
    return case


def _named(value: Any, key: str, item: str) -> Any:
    """A list of named entries (or Arrow's map) as a mapping; anything else is left for the checks."""
    if not isinstance(value, list):
        return value
    pairs = [
        (entry.get(key), entry.get(item)) if isinstance(entry, dict) else entry for entry in value
    ]
    if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        return value
    return dict(pairs) if len({name for name, _ in pairs}) == len(pairs) else value
