"""Tables of paired prediction."""

from __future__ import annotations

from interpact.corpus.pairs import Operation, Regime
from interpact.evaluate.rows import (
    ABLATIONS,
    ADAPTED,
    BASELINE_GROUPS,
    LLM,
    MAIN,
    caption,
    rows_of,
    sections,
    source_title,
    sources,
    target_count,
)
from interpact.evaluate.runs import Gap, Results
from interpact.evaluate.table import Column, Row, Section, Table
from interpact.systems.predictions import System

TARGETS = tuple(operation for operation in Operation if not operation.control)
WARRANT = (
    ("change_ba", "Decision change balanced acc.", 1),
    ("invariant_accuracy", "Invariant decision acc.", 1),
    ("control_fpr", "Control FPR", -1),
    ("propagated_miss", "Propagated FNR", -1),
)


def paired(results: Results) -> Table:
    """tab:main-results."""
    keys = ["change_ba", "decision_accuracy", "decision_f1", "state_accuracy", "state_f1"]
    return Table(
        "main-results",
        "Paired predictions",
        caption(
            results,
            f"Paired predictions on {target_count(results):,} target interventions (%).",
            BASELINE_GROUPS,
        ),
        "Method",
        (
            Column("Balanced acc.", "Decision change", 1),
            Column("Acc.", "Decision", 1),
            Column("Macro-F1", "Decision", 1),
            Column("Acc.", "Condition", 1),
            Column("Macro-F1", "Condition", 1),
        ),
        sections(results, BASELINE_GROUPS, [f"paired/{key}" for key in keys]),
    )


def matched_ablations(results: Results) -> Table:
    """tab:controls."""
    groups = (("", ABLATIONS), ("", MAIN))
    keys = [
        "paired/change_ba",
        "paired/decision_accuracy",
        "paired/decision_f1",
        f"paired/decision_accuracy/regime={Regime.ABSORBED}",
        f"paired/decision_accuracy/regime={Regime.PROPAGATED}",
    ]
    what = (
        f"Matched ablations on {target_count(results):,} target pairs (%). Variants share condition "
        "estimates; the last two columns are the accuracies on absorbed and propagated pairs."
    )
    return Table(
        "controls",
        "Matched ablations",
        caption(results, what, groups),
        "Method",
        (
            Column("Balanced acc.", "Decision change", 1),
            Column("Acc.", "Decision", 1),
            Column("Macro-F1", "Decision", 1),
            Column("Absorbed acc.", "Decision", 1),
            Column("Propagated acc.", "Decision", 1),
        ),
        sections(results, groups, keys),
    )


def by_operation(results: Results) -> Table:
    """tab:operation-results."""
    systems = (*LLM, *ADAPTED, *MAIN)
    parts: list[Section] = []
    for title, metric in (
        ("Decision change balanced acc.", "change_ba"),
        ("Decision accuracy", "decision_accuracy"),
    ):
        keys = [f"paired/{metric}/operation={operation}" for operation in TARGETS]
        rows = [row for system in systems for row in rows_of(results, system, keys)]
        parts.append(Section(title, tuple(rows)))
    return Table(
        "operation-results",
        "Paired results by operation",
        caption(
            results,
            "Decision-change and decision accuracy by target operation (%).",
            [("", systems)],
        ),
        "Method",
        tuple(Column(operation.replace("_", " ").capitalize(), "", 1) for operation in TARGETS),
        tuple(parts),
        apart=True,
    )


def by_source(results: Results) -> Table:
    """tab:source-controls and tab:source-results."""
    groups = (*BASELINE_GROUPS, ("Ablations", ABLATIONS))
    columns: list[Column] = []
    keys: list[str] = []
    for source in sources(results):
        for title, metric in (
            ("BA", "change_ba"),
            ("D-Acc.", "decision_accuracy"),
            ("C-F1", "state_f1"),
        ):
            columns.append(Column(title, source_title(source), 1))
            keys.append(f"paired/{metric}/source={source}")
    what = (
        "Paired results by source, and false decision changes on controls (%). BA: decision-change "
        "balanced accuracy; D-Acc.: decision accuracy; C-F1: condition-state macro-F1."
    )
    return Table(
        "source-results",
        "Paired results by source and controls",
        caption(results, what, groups),
        "Method",
        (*columns, Column("FPR", "Controls", -1)),
        sections(results, groups, [*keys, "paired/control_fpr"]),
    )


def regime_errors(results: Results) -> Table:
    """tab:regime-errors."""
    groups = (("", (*LLM, *ADAPTED)), ("", (*ABLATIONS, *MAIN)))
    keys = [f"paired/change_error/regime={regime}" for regime in Regime]
    return Table(
        "regime-errors",
        "Decision-change errors by regime",
        caption(
            results,
            "Decision-change errors by reference-defined regime (%), at each model's global "
            "development threshold.",
            groups,
        ),
        "Method",
        (
            Column("FPR", "Invariant", -1),
            Column("FPR", "Absorbed", -1),
            Column("FNR", "Propagated", -1),
            Column("FPR", "Controls", -1),
        ),
        sections(results, groups, [*keys, "paired/control_fpr"]),
    )


def conditional(results: Results) -> Table:
    """The numbers of fig:branch-accuracy."""
    groups = (("", ABLATIONS), ("", MAIN))
    what = (
        "Conditional decisions before Hard Warrant (%), averaged within roots and then over roots."
    )
    return Table(
        "branch-accuracy",
        "Conditional decision accuracy",
        caption(results, what, groups),
        "Method",
        (
            Column("Decision acc. (alternative states)", "", 1),
            Column("All three decisions correct", "", 1),
        ),
        sections(results, groups, ["conditional/alternative", "conditional/all_three"]),
    )


def warrant(results: Results) -> Table:
    """The numbers of fig:factual-correction."""
    found = results.of(System.INTERPACT)
    rows = [
        Row(
            f"{result.name}, {title}",
            tuple(result.spread(f"warrant/{name}/{key}") for key, _, _ in WARRANT),
        )
        for result in found
        for name, title in (("raw", "without the constraint"), ("fixed", "with Hard Warrant"))
    ]
    missing = Row(System.INTERPACT.named(), (Gap.MISSING,) * len(WARRANT))
    return Table(
        "factual-correction",
        "Hard Warrant at a fixed checkpoint",
        caption(
            results,
            "The same checkpoint and threshold, with and without Hard Warrant (%).",
            [("", MAIN)],
        ),
        "Prediction",
        tuple(Column(title, "", better) for _, title, better in WARRANT),
        (Section("", tuple(rows) or (missing,)),),
        second=False,
    )
