"""Tables of the direct task."""

from __future__ import annotations

from interpact.evaluate.rows import (
    ABLATIONS,
    ADAPTED,
    BASELINE_GROUPS,
    LLM,
    MAIN,
    REFERENCE_GROUP,
    REFERENCES,
    caption,
    root_count,
    rows_of,
    sections,
    source_title,
    sources,
)
from interpact.evaluate.runs import Results
from interpact.evaluate.table import Column, Section, Table


def direct(results: Results) -> Table:
    """tab:direct-criticality, with reference rows."""
    groups = (*BASELINE_GROUPS, REFERENCE_GROUP)
    keys = [f"direct/{name}" for name in ("accuracy", "ba", "f1", "invalid")]
    judged = "Criticality judgment"
    return Table(
        "direct-criticality",
        "Direct criticality",
        caption(results, f"Direct criticality on {root_count(results):,} roots (%).", groups),
        "Method",
        (
            Column("Acc.", judged, 1),
            Column("BA", judged, 1),
            Column("Macro-F1", judged, 1),
            Column("Invalid rate"),
        ),
        sections(results, groups, keys),
    )


def direct_ablations(results: Results) -> Table:
    """tab:direct-ablations."""
    groups = (("", ABLATIONS), ("", MAIN))
    keys = [f"direct/{name}" for name in ("accuracy", "ba", "f1")]
    return Table(
        "direct-ablations",
        "Training ablations on direct criticality",
        caption(results, f"Training ablations on {root_count(results):,} roots (%).", groups),
        "Method",
        (Column("Acc.", "", 1), Column("BA", "", 1), Column("Macro-F1", "", 1)),
        sections(results, groups, keys),
        second=False,
    )


def direct_by_source(results: Results) -> Table:
    """tab:direct-criticality-by-source."""
    systems = (*LLM, *ADAPTED, *MAIN, *ABLATIONS, *REFERENCES)
    groups = [("", systems)]
    parts: list[Section] = []
    for source in sources(results):
        keys = [f"direct/{name}/source={source}" for name in ("accuracy", "ba", "f1")]
        rows = [row for system in systems for row in rows_of(results, system, keys)]
        count = root_count(results, source)
        parts.append(Section(f"{source_title(source)}: {count:,} roots", tuple(rows)))
    return Table(
        "direct-criticality-by-source",
        "Direct criticality by source",
        caption(results, "Direct criticality and training ablations by source (%).", groups),
        "Method",
        (Column("Acc.", "", 1), Column("BA", "", 1), Column("Macro-F1", "", 1)),
        tuple(parts),
        apart=True,
    )


def answer_chances(results: Results) -> Table:
    """How well P(Yes) ranks roots and how far it can be taken at its word; not in the paper."""
    groups = (*BASELINE_GROUPS, ("Ablations", ABLATIONS))
    keys = [f"direct/{name}" for name in ("auroc", "ap", "brier", "ece")]
    return Table(
        "answer-chances",
        "P(Yes) of the direct answer",
        caption(results, "Chances of the direct answer Yes (%); ECE over ten equal bins.", groups),
        "Method",
        (
            Column("AUROC", "Ranking", 1),
            Column("AP", "Ranking", 1),
            Column("Brier", "Calibration", -1),
            Column("ECE", "Calibration", -1),
        ),
        sections(results, groups, keys),
    )
