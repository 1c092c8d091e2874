"""What tables of results share: which systems are rows, where they stand, and what a caption tells."""

from __future__ import annotations

from collections.abc import Sequence

from interpact.corpus.coverage import TITLES
from interpact.evaluate.paired import CONTROL
from interpact.evaluate.runs import Gap, Results
from interpact.evaluate.table import Row, Section
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

Groups = Sequence[tuple[str, Sequence[System]]]

GAPS = (
    f"{Gap.MISSING}: not run; {Gap.NO_OUTPUT}: no such output; {Gap.UNDEFINED}: undefined, as a "
    "class is missing."
)


def source_title(source: str) -> str:
    """The name of a source in tables."""
    return TITLES.get(source, source)


def sections(results: Results, groups: Groups, keys: Sequence[str]) -> tuple[Section, ...]:
    """Groups of systems with these metrics."""
    return tuple(
        Section(title, tuple(row for system in systems for row in rows_of(results, system, keys)))
        for title, systems in groups
    )


def rows_of(results: Results, system: System, keys: Sequence[str]) -> list[Row]:
    """The rows of a system: one, or one a model; a missing row where it was not run."""
    reference = system in REFERENCES
    found = [
        Row(result.name, tuple(result.spread(key) for key in keys), reference)
        for result in results.of(system)
    ]
    return found or [Row(system.named(), (Gap.MISSING,) * len(keys), reference)]


def caption(results: Results, what: str, groups: Groups = ()) -> str:
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


def sources(results: Results) -> list[str]:
    """The sources of the split."""
    found: set[str] = set()
    for result in results.systems:
        for run in result.runs:
            found |= {key.split("/source=")[1] for key in run.metrics if "/source=" in key}
    return sorted(found)


def root_count(results: Results, source: str | None = None) -> int:
    """How many labelled roots there are, or of a source."""
    roots = results.reference.roots
    if roots is None:
        return 0
    labelled = roots.critical >= 0
    if source is None:
        return int(labelled.sum())
    if source not in roots.sources:
        return 0
    return int((labelled & (roots.source == roots.sources.index(source))).sum())


def target_count(results: Results) -> int:
    """How many target pairs there are."""
    pairs = results.reference.pairs
    return 0 if pairs is None else int((~CONTROL[pairs.values[:, 0]]).sum())
