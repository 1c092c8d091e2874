# pyright: basic
"""A corpus as Parquet tables with derived columns, laid out so that Hugging Face `datasets` loads it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from interpact.case.case import Case
from interpact.case.files import replacing
from interpact.case.states import Decision, State
from interpact.corpus.pairs import LabelledRoot, Operation, Pair, Regime, Split
from interpact.corpus.store import Corpus

_TEXT = pa.string()
_UNITS = pa.list_(pa.struct([("id", _TEXT), ("text", _TEXT), ("conditions", pa.list_(_TEXT))]))
_ROOT = [
    ("root", _TEXT),
    ("case", _TEXT),
    ("evidence", _TEXT),
    ("condition", _TEXT),
    ("source", _TEXT),
    ("document", _TEXT),
    ("rule_family", _TEXT),
    ("rule", _TEXT),
    ("query", _TEXT),
    ("aggregation", _TEXT),
    ("conditions", pa.list_(pa.struct([("id", _TEXT), ("text", _TEXT)]))),
    ("before", _UNITS),
    ("state_before", _TEXT),
    ("decision_before", _TEXT),
    *((f"decision_if_{state}", _TEXT) for state in State),
    ("constant_mapping", pa.bool_()),
]
ROOTS = pa.schema([*_ROOT, ("pairs", pa.int32()), ("critical", pa.bool_()), ("basis", _TEXT)])
PAIRS = pa.schema(
    [
        ("id", _TEXT),
        *_ROOT,
        ("operation", _TEXT),
        ("control", pa.bool_()),
        ("text", _TEXT),
        ("after", _UNITS),
        ("state_after", _TEXT),
        ("decision_after", _TEXT),
        ("changed", pa.bool_()),
        ("regime", _TEXT),
        ("tier", _TEXT),
        ("weight", pa.float32()),
        ("flags", pa.list_(_TEXT)),
        ("editor", _TEXT),
    ]
)
_BATCH = 1_000


def export(folder: Path, out: Path, progress: Callable[[int], None] | None = None) -> None:
    """Write `pairs/<split>.parquet`, `roots/<split>.parquet` and a data card."""
    corpus = Corpus.read(folder)
    corpus.need_roots(folder)
    pairs_of = corpus.pairs_of()
    splits: dict[str, list[str]] = {}
    for name, root in corpus.roots.items():
        splits.setdefault(str(root.split or "unsplit"), []).append(name)
    for split, names in splits.items():
        _write(
            out / "roots" / f"{split}.parquet",
            ROOTS,
            (root_row(corpus.roots[name], corpus, len(pairs_of[name])) for name in names),
            progress,
        )
        _write(
            out / "pairs" / f"{split}.parquet",
            PAIRS,
            (pair_row(pair) for name in names for pair in pairs_of[name]),
            progress,
        )
    for stale in [*out.glob("roots/*.parquet"), *out.glob("pairs/*.parquet")]:
        if stale.stem not in splits:
            stale.unlink()
    licence = folder / "README.md"
    told = licence.read_text(encoding="utf-8") if licence.exists() else None
    with replacing(out / "README.md") as temporary:
        temporary.write_text(
            data_card(corpus, [s for s in (*Split, "unsplit") if s in splits], told),
            encoding="utf-8",
        )


def pair_row(pair: Pair) -> dict[str, Any]:
    """A pair with everything that follows from it."""
    return {
        "id": pair.id,
        **_shared(pair.of, pair.record.root),
        "operation": str(pair.record.operation),
        "control": pair.record.operation.control,
        "text": pair.record.text,
        "after": _units(pair.after),
        "state_after": str(pair.state_after),
        "decision_after": str(pair.decision_after),
        "changed": pair.changed,
        "regime": str(pair.regime),
        "tier": str(pair.record.tier),
        "weight": pair.weight,
        "flags": list(pair.record.flags),
        "editor": pair.record.editor,
    }


def root_row(root: LabelledRoot, corpus: Corpus, pairs: int) -> dict[str, Any]:
    """A root with its mapping and its criticality label, if it has one."""
    label = corpus.criticality.get(root.root.id)
    return {
        **_shared(root, root.root.id),
        "pairs": pairs,
        "critical": label.critical if label else None,
        "basis": str(label.basis) if label else None,
    }


def _shared(root: LabelledRoot, name: str) -> dict[str, Any]:
    case = root.root.case
    return {
        "root": name,
        "case": case.id,
        "evidence": root.root.evidence,
        "condition": root.root.condition,
        "source": case.source,
        "document": case.document,
        "rule_family": case.rule_family,
        "rule": case.rule,
        "query": case.query,
        "aggregation": case.aggregation,
        "conditions": [{"id": c, "text": text} for c, text in case.conditions.items()],
        "before": _units(case),
        "state_before": str(root.state),
        "decision_before": str(root.decision),
        **{f"decision_if_{state}": str(root.mapping[state]) for state in State},
        "constant_mapping": root.constant,
    }


def _units(case: Case) -> list[dict[str, Any]]:
    return [
        {"id": unit.id, "text": unit.text, "conditions": list(unit.conditions)}
        for unit in case.evidence
    ]


def _write(
    path: Path,
    schema: pa.Schema,
    rows: Iterable[dict[str, Any]],
    progress: Callable[[int], None] | None,
) -> None:
    with (
        replacing(path) as temporary,
        pq.ParquetWriter(temporary, schema, compression="zstd") as file,
    ):
        for batch in _batches(rows):
            file.write_table(pa.Table.from_pylist(batch, schema))
            if progress is not None:
                progress(len(batch))


def _batches(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    for row in rows:
        batch.append(row)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def data_card(corpus: Corpus, splits: list[str], provenance: str | None) -> str:
    """The README of an export: what `datasets` needs to load it, and what a reader wants to know."""
    hub = {"train": "train", "dev": "validation", "test": "test"}
    lines = ["---", "configs:"]
    for table in ("pairs", "roots"):
        lines += [f"- config_name: {table}", "  data_files:"]
        for split in splits:
            lines += [f"  - split: {hub.get(split, split)}", f"    path: {table}/{split}.parquet"]
    lines += ["---", "", "# Evidence interventions", ""]
    lines += [
        "Cases under a governing rule; a *root* is a case, one evidence unit and a condition it bears on;",
        "a *pair* is an accepted edit of that unit with the state of the condition judged afterwards.",
        "Decisions, mappings (`decision_if_*`), `changed`, `regime` and `weight` follow from the rule.",
        "",
        '    from datasets import load_dataset\n    pairs = load_dataset("path/to/this/folder", "pairs")',
        "",
        "## Counts",
        "",
        "| split | roots | pairs | changed | critical | not critical |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for split in splits:
        roots = [n for n, r in corpus.roots.items() if str(r.split or "unsplit") == split]
        here = [p for p in corpus.pairs if str(p.of.split or "unsplit") == split]
        labels = [corpus.criticality[n].critical for n in roots if n in corpus.criticality]
        lines.append(
            f"| {split} | {len(roots):,} | {len(here):,} | {sum(p.changed for p in here):,} "
            f"| {sum(labels):,} | {len(labels) - sum(labels):,} |"
        )
    counts = Counter((p.record.operation, p.regime) for p in corpus.pairs)
    lines += [
        "",
        "| operation | pairs | invariant | absorbed | propagated |",
        "|---|---:|---:|---:|---:|",
    ]
    for operation in Operation:
        row = [counts[operation, regime] for regime in Regime]
        lines.append(f"| {operation} | {sum(row):,} | " + " | ".join(f"{n:,}" for n in row) + " |")
    lines += ["", f"States: {', '.join(State)}. Decisions: {', '.join(Decision)}.", ""]
    lines += ["## Provenance", "", provenance.strip() if provenance else "Not stated.", ""]
    return "\n".join(lines)
