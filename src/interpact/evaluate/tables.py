"""The paper's tables of results, and three that it lacks; a system that was not run is a missing row."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from interpact.corpus.coverage import TITLES
from interpact.corpus.pairs import Operation, Regime
from interpact.evaluate.compare import Comparison
from interpact.evaluate.paired import CONTROL
from interpact.evaluate.runs import Gap, Results
from interpact.evaluate.table import Cell, Column, Row, Section, Table, percent
from interpact.systems.predictions import System

LLM = (System.PROMPTED, System.AFTER_STATE, System.EXECUTION)
ADAPTED = (System.PAIRCFR, System.GENRM, System.R2GUARD)
ABLATIONS = (
    System.WITHOUT_COMPOSITION,
    System.WITHOUT_BRANCH_LOSS,
    System.WITHOUT_CHANGE_LOSS,
    System.WITHOUT_HARD_WARRANT,
)
MAIN = (System.INTERPACT,)
REFERENCES = (System.MAJORITY, System.ORACLE_RULE, System.PREDICTED_RULE)

BASELINE_GROUPS = (
    ("LLM-based baselines", LLM),
    ("Adapted reasoning baselines", ADAPTED),
    ("", MAIN),
)
REFERENCE_GROUP = ("Reference rows, not ranked", REFERENCES)
TARGETS = tuple(operation for operation in Operation if not operation.control)

Groups = Sequence[tuple[str, Sequence[System]]]


def source_title(source: str) -> str:
    """The name of a source in tables."""
    return TITLES.get(source, source)


def _sections(results: Results, groups: Groups, keys: Sequence[str]) -> tuple[Section, ...]:
    return tuple(
        Section(title, tuple(row for system in systems for row in _rows(results, system, keys)))
        for title, systems in groups
    )


def _rows(results: Results, system: System, keys: Sequence[str]) -> list[Row]:
    reference = system in REFERENCES
    found = [
        Row(result.name, tuple(result.spread(key) for key in keys), reference)
        for result in results.of(system)
    ]
    return found or [Row(system.named(), (Gap.MISSING,) * len(keys), reference)]


def _caption(results: Results, what: str, groups: Groups = ()) -> str:
    """What the table shows, over how many runs, and what the gaps mean."""
    counts: dict[int, list[str]] = {}
    for system in (system for _, systems in groups for system in systems):
        if system not in REFERENCES:
            for result in results.of(system):
                counts.setdefault(len(result.runs), []).append(result.name)
    told = " ".join(
        f"{'One run' if runs == 1 else f'Mean ± sample standard deviation over {runs} runs'}: {', '.join(names)}."
        for runs, names in sorted(counts.items(), reverse=True)
    )
    return f"{what} {told}".strip() + " " + GAPS


GAPS = (
    f"{Gap.MISSING}: not run; {Gap.NO_OUTPUT}: no such output; {Gap.UNDEFINED}: undefined, as a "
    "class is missing."
)


def direct(results: Results) -> Table:
    """tab:direct-criticality, with reference rows."""
    groups = (*BASELINE_GROUPS, REFERENCE_GROUP)
    keys = [f"direct/{name}" for name in ("accuracy", "ba", "f1", "invalid")]
    judged = "Criticality judgment"
    return Table(
        "direct-criticality",
        "Direct criticality",
        _caption(results, f"Direct criticality on {_roots(results):,} roots (%).", groups),
        "Method",
        (
            Column("Acc.", judged, 1),
            Column("BA", judged, 1),
            Column("Macro-F1", judged, 1),
            Column("Invalid rate"),
        ),
        _sections(results, groups, keys),
    )


def direct_ablations(results: Results) -> Table:
    """tab:direct-ablations."""
    groups = (("", ABLATIONS), ("", MAIN))
    keys = [f"direct/{name}" for name in ("accuracy", "ba", "f1")]
    return Table(
        "direct-ablations",
        "Training ablations on direct criticality",
        _caption(results, f"Training ablations on {_roots(results):,} roots (%).", groups),
        "Method",
        (Column("Acc.", "", 1), Column("BA", "", 1), Column("Macro-F1", "", 1)),
        _sections(results, groups, keys),
        second=False,
    )


def direct_by_source(results: Results) -> Table:
    """tab:direct-criticality-by-source."""
    systems = (*LLM, *ADAPTED, *MAIN, *ABLATIONS, *REFERENCES)
    groups = [("", systems)]
    sections: list[Section] = []
    for source in sources(results):
        keys = [f"direct/{name}/source={source}" for name in ("accuracy", "ba", "f1")]
        rows = [row for system in systems for row in _rows(results, system, keys)]
        count = _roots(results, source)
        sections.append(Section(f"{source_title(source)}: {count:,} roots", tuple(rows)))
    return Table(
        "direct-criticality-by-source",
        "Direct criticality by source",
        _caption(results, "Direct criticality and training ablations by source (%).", groups),
        "Method",
        (Column("Acc.", "", 1), Column("BA", "", 1), Column("Macro-F1", "", 1)),
        tuple(sections),
        apart=True,
    )


def answer_chances(results: Results) -> Table:
    """How well P(Yes) ranks roots and how far it can be taken at its word; not in the paper."""
    groups = (*BASELINE_GROUPS, ("Ablations", ABLATIONS))
    keys = [f"direct/{name}" for name in ("auroc", "ap", "brier", "ece")]
    return Table(
        "answer-chances",
        "P(Yes) of the direct answer",
        _caption(results, "Chances of the direct answer Yes (%); ECE over ten equal bins.", groups),
        "Method",
        (
            Column("AUROC", "Ranking", 1),
            Column("AP", "Ranking", 1),
            Column("Brier", "Calibration", -1),
            Column("ECE", "Calibration", -1),
        ),
        _sections(results, groups, keys),
    )


def paired(results: Results) -> Table:
    """tab:main-results."""
    keys = ["change_ba", "decision_accuracy", "decision_f1", "state_accuracy", "state_f1"]
    return Table(
        "main-results",
        "Paired predictions",
        _caption(
            results,
            f"Paired predictions on {_targets(results):,} target interventions (%).",
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
        _sections(results, BASELINE_GROUPS, [f"paired/{key}" for key in keys]),
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
        f"Matched ablations on {_targets(results):,} target pairs (%). Variants share condition "
        "estimates; the last two columns are the accuracies on absorbed and propagated pairs."
    )
    return Table(
        "controls",
        "Matched ablations",
        _caption(results, what, groups),
        "Method",
        (
            Column("Balanced acc.", "Decision change", 1),
            Column("Acc.", "Decision", 1),
            Column("Macro-F1", "Decision", 1),
            Column("Absorbed acc.", "Decision", 1),
            Column("Propagated acc.", "Decision", 1),
        ),
        _sections(results, groups, keys),
    )


def by_operation(results: Results) -> Table:
    """tab:operation-results."""
    systems = (*LLM, *ADAPTED, *MAIN)
    sections: list[Section] = []
    for title, metric in (
        ("Decision change balanced acc.", "change_ba"),
        ("Decision accuracy", "decision_accuracy"),
    ):
        keys = [f"paired/{metric}/operation={operation}" for operation in TARGETS]
        rows = [row for system in systems for row in _rows(results, system, keys)]
        sections.append(Section(title, tuple(rows)))
    return Table(
        "operation-results",
        "Paired results by operation",
        _caption(
            results,
            "Decision-change and decision accuracy by target operation (%).",
            [("", systems)],
        ),
        "Method",
        tuple(Column(operation.replace("_", " ").capitalize(), "", 1) for operation in TARGETS),
        tuple(sections),
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
        _caption(results, what, groups),
        "Method",
        (*columns, Column("FPR", "Controls", -1)),
        _sections(results, groups, [*keys, "paired/control_fpr"]),
    )


def regime_errors(results: Results) -> Table:
    """tab:regime-errors."""
    groups = (("", (*LLM, *ADAPTED)), ("", (*ABLATIONS, *MAIN)))
    keys = [f"paired/change_error/regime={regime}" for regime in Regime]
    return Table(
        "regime-errors",
        "Decision-change errors by regime",
        _caption(
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
        _sections(results, groups, [*keys, "paired/control_fpr"]),
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
        _caption(results, what, groups),
        "Method",
        (
            Column("Decision acc. (alternative states)", "", 1),
            Column("All three decisions correct", "", 1),
        ),
        _sections(results, groups, ["conditional/alternative", "conditional/all_three"]),
    )


WARRANT = (
    ("change_ba", "Decision change balanced acc.", 1),
    ("invariant_accuracy", "Invariant decision acc.", 1),
    ("control_fpr", "Control FPR", -1),
    ("propagated_miss", "Propagated FNR", -1),
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
        _caption(
            results,
            "The same checkpoint and threshold, with and without Hard Warrant (%).",
            [("", MAIN)],
        ),
        "Prediction",
        tuple(Column(title, "", better) for _, title, better in WARRANT),
        (Section("", tuple(rows) or (missing,)),),
        second=False,
    )


METRIC_TITLES = {
    "direct/accuracy": "Direct accuracy",
    "direct/ba": "Direct balanced accuracy",
    "direct/f1": "Direct macro-F1",
    "paired/change_ba": "Decision-change balanced accuracy",
    "paired/decision_accuracy": "Decision accuracy",
    "paired/decision_f1": "Decision macro-F1",
    "paired/state_accuracy": "Condition accuracy",
    "paired/control_fpr": "Control FPR",
    "conditional/all_three": "All three conditional decisions correct",
}


def differences(results: Results, found: Sequence[Comparison], resamples: int) -> Table:
    """How far InterPact is above each other system, with intervals and tests; not in the paper."""
    sections = tuple(
        Section(
            title,
            tuple(
                Row(f"{c.system} − {c.other}", _difference(c)) for c in found if c.metric == metric
            ),
        )
        for metric, title in METRIC_TITLES.items()
        if any(c.metric == metric for c in found)
    )
    missing = Section("", (Row(f"{System.INTERPACT.named()} − others", (Gap.MISSING,) * 4),))
    caption = (
        f"Differences in percentage points. {resamples:,} resamples of {results.units:,} whole "
        f"{results.clusters}, the same for every system and run: bias-corrected and accelerated 95% intervals; two-sided "
        "permutation tests; Holm's correction over the systems of a metric. "
    )
    columns = tuple(Column(title) for title in ("Difference", "95% interval", "p", "p (Holm)"))
    return Table(
        "differences",
        "Differences between systems",
        caption + GAPS,
        "Systems",
        columns,
        sections or (missing,),
    )


def _difference(found: Comparison) -> tuple[Cell, ...]:
    ends: Cell = Gap.UNDEFINED
    if found.low is not None and found.high is not None:
        ends = f"[{percent(found.low)}, {percent(found.high)}]"
    return (f"{100 * found.difference:+.2f}", ends, _chance(found.p), _chance(found.adjusted))


def _chance(p: float) -> str:
    return f"{p:.4f}"


def sources(results: Results) -> list[str]:
    """The sources of the split."""
    found: set[str] = set()
    for result in results.systems:
        for run in result.runs:
            found |= {key.split("/source=")[1] for key in run.metrics if "/source=" in key}
    return sorted(found)


def _roots(results: Results, source: str | None = None) -> int:
    roots = results.reference.roots
    if roots is None:
        return 0
    labelled = roots.critical >= 0
    if source is None:
        return int(labelled.sum())
    if source not in roots.sources:
        return 0
    return int((labelled & (roots.source == roots.sources.index(source))).sum())


def _targets(results: Results) -> int:
    pairs = results.reference.pairs
    return 0 if pairs is None else int((~CONTROL[pairs.values[:, 0]]).sum())


RESULT_TABLES: tuple[Callable[[Results], Table], ...] = (
    direct,
    direct_ablations,
    paired,
    matched_ablations,
    direct_by_source,
    by_operation,
    by_source,
    regime_errors,
    conditional,
    warrant,
    answer_chances,
)
