"""Tables of what results rest on: data, operations, audit, supervision, settings, runs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from interpact.case.problems import InputProblems, Problem, field_problems
from interpact.construct.operations import BRIEFS
from interpact.corpus.pairs import Operation, Split
from interpact.corpus.store import Corpus
from interpact.errors import InterPactError
from interpact.evaluate.compare import wilson
from interpact.evaluate.runs import Gap, Results
from interpact.evaluate.table import Cell, Column, Row, Section, Table, percent
from interpact.systems.predictions import System

SPLITS = {Split.TRAIN: "Train", Split.DEV: "Development", Split.TEST: "Test"}
NO_CORPUS = f" {Gap.MISSING}: no corpus was given."

SUPERVISION = {
    System.PROMPTED: ("None", "Target state, decision"),
    System.AFTER_STATE: ("Target state, decision", "Target state, decision"),
    System.EXECUTION: (
        "Target-state annotations for its estimator",
        "Target state, decision from aggregation",
    ),
    System.PAIRCFR: ("Decisions and pair relation", "Decision"),
    System.GENRM: ("Answer generation, candidate correctness", "Decision"),
    System.R2GUARD: (
        "SFT estimator, decisions for rule weights",
        "Target state, decision from weighted rules",
    ),
    System.WITHOUT_COMPOSITION: (
        "Shared estimator, decisions, complete mappings",
        "Target state, direct decision, conditional decisions",
    ),
    System.WITHOUT_BRANCH_LOSS: (
        "Shared estimator, observed decisions",
        "Target state, composed decision, conditional decisions",
    ),
    **dict.fromkeys(
        (System.WITHOUT_CHANGE_LOSS, System.WITHOUT_HARD_WARRANT, System.INTERPACT),
        (
            "Shared estimator, decisions, complete mappings",
            "Target state, composed decision, conditional decisions",
        ),
    ),
}


class AuditRow(BaseModel):
    """One aspect of a human audit: how many pairs passed of how many."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    aspect: str
    passed: Annotated[int, Field(ge=0)]
    total: Annotated[int, Field(ge=1)]


class Audit(BaseModel):
    """The result of a human audit: `{"aspects": [{"aspect", "passed", "total"}]}`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    aspects: tuple[AuditRow, ...]


def read_audit(path: Path) -> Audit:
    """The result of an audit."""
    try:
        audit = Audit.model_validate_json(path.read_bytes())
    except ValidationError as error:
        known = {(): tuple(Audit.model_fields), ("aspects", "*"): tuple(AuditRow.model_fields)}
        found = field_problems(error.errors(include_url=False), known)
        raise InputProblems(
            [Problem(str(path), None, ".".join(map(str, at)), what) for at, what in found]
        ) from None
    for row in audit.aspects:
        if row.passed > row.total:
            raise InterPactError(f"{path}: {row.aspect}: {row.passed} of {row.total} cannot be")
    return audit


def data(corpus: Corpus | None, component_of: Mapping[str, str]) -> Table:
    """tab:data."""
    names = ("Pairs", "Targets", "Controls", "Roots", "Components")
    rows: list[Row] = []
    totals = Counter[str]()
    for split, title in SPLITS.items():
        cells: tuple[Cell, ...] = (Gap.MISSING,) * len(names)
        if corpus is not None:
            pairs = [pair for pair in corpus.pairs if pair.of.split is split]
            controls = sum(pair.record.operation.control for pair in pairs)
            roots = [root for root in corpus.roots.values() if root.split is split]
            held = {component_of[root.root.case.id] for root in roots}
            counts = (len(pairs), len(pairs) - controls, controls, len(roots), len(held))
            totals.update(dict(zip(names, counts, strict=True)))
            cells = counts
        rows.append(Row(title, cells))
    total = tuple(totals[name] for name in names) if corpus else (Gap.MISSING,) * len(names)
    caption = "Intervention data splits, with related roots assigned to the same component."
    return Table(
        "data",
        "Data splits",
        caption + ("" if corpus else NO_CORPUS),
        "Split",
        tuple(map(Column, names)),
        (Section("", tuple(rows)), Section("", (Row("Total", total),))),
    )


def operations(corpus: Corpus | None) -> Table:
    """tab:operation-composition."""
    counts = Counter((p.record.operation, p.of.split) for p in corpus.pairs) if corpus else None
    sections = tuple(
        Section(
            "",
            tuple(
                Row(
                    operation.replace("_", " ").capitalize() + (" (control)" if control else ""),
                    (
                        BRIEFS[operation].definition,
                        *(
                            counts[operation, s] if counts is not None else Gap.MISSING
                            for s in SPLITS
                        ),
                    ),
                )
                for operation in Operation
                if operation.control is control
            ),
        )
        for control in (False, True)
    )
    caption = (
        "Intervention operations and retained pair counts. Target operations may leave the target "
        "condition state unchanged."
    )
    return Table(
        "operation-composition",
        "Operations",
        caption + ("" if corpus else NO_CORPUS),
        "Operation",
        (Column("Intended edit", wide=True), *(Column(title) for title in SPLITS.values())),
        sections,
    )


def audit(found: Audit | None) -> Table:
    """tab:semantic-audit, with the Wilson intervals of the text."""
    rows = [
        Row(
            row.aspect,
            (
                f"{row.passed:,}/{row.total:,}",
                percent(row.passed / row.total),
                "[{}, {}]".format(*map(percent, wilson(row.passed, row.total))),
            ),
        )
        for row in (found.aspects if found else ())
    ]
    missing = Row("Human audit", (Gap.MISSING,) * 3)
    return Table(
        "semantic-audit",
        "Human audit",
        "Human audit of sampled pairs before correction; approximate 95% Wilson intervals."
        + ("" if found else f" {Gap.MISSING}: no result of an audit was given."),
        "Aspect assessed",
        (Column("n/N"), Column("Pass / agreement (%)"), Column("95% interval (%)")),
        (Section("", tuple(rows) or (missing,)),),
    )


def supervision() -> Table:
    """tab:supervision."""
    return Table(
        "supervision",
        "Training supervision and paired outputs",
        "Training supervision and paired outputs. After-intervention reference labels and complete "
        "mappings are not prediction inputs. Target state denotes target condition state.",
        "Method",
        (Column("Training supervision", wide=True), Column("Paired outputs", wide=True)),
        (Section("", tuple(Row(system.named(), cells) for system, cells in SUPERVISION.items())),),
    )


def settings(results: Results) -> Table:
    """tab:training: the settings of all runs; where they differ, whose each is."""
    values: dict[str, dict[str, list[str]]] = {}
    runs = [(result.name, run.meta) for result in results.systems for run in result.runs]
    for name, meta in runs:
        flat = {"backbone": meta.backbone} | _flat(meta.settings)
        for key, value in flat.items():
            if key.rpartition(".")[2] != "seed" and value != "":
                owners = values.setdefault(key, {}).setdefault(value, [])
                if name not in owners:
                    owners.append(name)
    rows = [
        Row(
            key.replace("_", " ").replace(".", ": "),
            (
                "; ".join(
                    value if len(found) == 1 else f"{value} ({', '.join(owners)})"
                    for value, owners in found.items()
                ),
            ),
        )
        for key, found in values.items()
    ]
    return Table(
        "training",
        "Settings",
        "Settings of training and paired evaluation, as the runs state them.",
        "Setting",
        (Column("Specification", wide=True),),
        (Section("", tuple(rows) or (Row("(none stated)", (Gap.MISSING,)),)),),
    )


def _flat(settings: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Nested settings as dotted names."""
    flat: dict[str, str] = {}
    for key, value in settings.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{key}.")  # pyright: ignore[reportUnknownArgumentType]
        else:
            flat[prefix + key] = value if isinstance(value, str) else json.dumps(value)
    return flat


def runs(results: Results) -> Table:
    """Which runs the report is of."""
    rows = [
        Row(
            result.name,
            (
                run.meta.run,
                str(run.meta.seed),
                run.meta.backbone or Gap.NO_OUTPUT,
                Gap.NO_OUTPUT if run.meta.threshold is None else f"{run.meta.threshold:.4f}",
            ),
        )
        for result in results.systems
        for run in result.runs
        if run.meta.run
    ]
    return Table(
        "runs",
        "Runs",
        f"The runs behind this report, on the {results.split} split. Thresholds of decision-change "
        "scores were chosen on development pairs.",
        "Method",
        tuple(map(Column, ("Run", "Seed", "Backbone", "Threshold"))),
        (Section("", tuple(rows)),),
    )
