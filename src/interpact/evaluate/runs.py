"""Runs and what they come to: metrics of each, then means and sample deviations; never ensembled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np

from interpact.corpus.components import components
from interpact.corpus.pairs import Regime, Split
from interpact.corpus.store import Corpus
from interpact.errors import InterPactError
from interpact.evaluate.direct import direct_metrics, direct_tallies, scored
from interpact.evaluate.metrics import Floats, Ints, reliability
from interpact.evaluate.paired import Paired, paired_metrics, paired_tallies
from interpact.evaluate.reference import Reference
from interpact.evaluate.scores import ChangeScores, change_scores
from interpact.evaluate.tally import Tally, Units
from interpact.systems.predictions import (
    Meta,
    Predictions,
    System,
    Verdict,
    folder_of,
    read_predictions,
)

COMPARED = (
    "direct/accuracy",
    "direct/ba",
    "direct/f1",
    "paired/change_ba",
    "paired/decision_accuracy",
    "paired/decision_f1",
    "paired/state_accuracy",
    "paired/control_fpr",
    "conditional/all_three",
)
"""The metrics whose differences between systems are tested."""


_YES, _NO = list(Verdict).index(Verdict.YES), list(Verdict).index(Verdict.NO)


class Gap(StrEnum):
    """Why a cell holds no number."""

    MISSING = "—"
    NO_OUTPUT = "N/A"
    UNDEFINED = "n/a"


@dataclass(frozen=True, slots=True)
class Spread:
    """A metric over runs; one run has no deviation."""

    mean: float
    deviation: float | None
    runs: int

    @staticmethod
    def of(values: Sequence[float]) -> Spread:
        """Mean and sample standard deviation."""
        return Spread(fmean(values), stdev(values) if len(values) > 1 else None, len(values))


@dataclass(frozen=True, eq=False)
class Run:
    """What a report keeps of a run."""

    meta: Meta
    metrics: dict[str, float | None]
    tallies: dict[str, Tally] = field(default_factory=dict[str, Tally])
    """Of the compared metrics, by component."""
    reliability: Floats | None = None
    changes: dict[Regime, ChangeScores] = field(default_factory=dict[Regime, ChangeScores])
    """Of the main system."""


@dataclass(frozen=True, eq=False)
class Result:
    """A system over its runs: a row of a table."""

    system: System
    name: str
    runs: tuple[Run, ...]

    def spread(self, key: str) -> Spread | Gap:
        """A metric over the runs, or why there is none."""
        values: list[float] = []
        for run in self.runs:
            if key not in run.metrics:
                return Gap.NO_OUTPUT
            value = run.metrics[key]
            if value is None:
                return Gap.UNDEFINED
            values.append(value)
        return Spread.of(values)


@dataclass(frozen=True, eq=False)
class Results:
    """Every system that was run, in the order of the paper."""

    split: Split
    systems: tuple[Result, ...]
    reference: Reference
    component_of: dict[str, str]
    """The component of each case of the corpus; empty without one."""

    units: int
    """How many of them, or else cases, hold roots of the split."""

    @property
    def clusters(self) -> str:
        """What is resampled."""
        return "components" if self.component_of else "cases"

    def of(self, system: System) -> list[Result]:
        """The results of a system; a prompted one may have several models."""
        return [result for result in self.systems if result.system is system]


def metrics_of(found: Predictions) -> dict[str, float | None]:
    """Every metric of stored predictions, by name; None is undefined, absent is no output."""
    direct = {} if found.roots is None else direct_metrics(found.roots)
    pairs = _paired(found)
    return direct | ({} if pairs is None else paired_metrics(pairs))


def _paired(found: Predictions) -> Paired | None:
    if found.pairs is None:
        return None
    if found.pairs.s is not None and found.meta.threshold is None:
        raise InterPactError(
            f"{found.folder}: has scores of decision changes but no threshold; it is chosen on "
            "development pairs"
        )
    return Paired(found.pairs, found.meta.threshold)


class _Clusters:
    """Components as numbers; a root that no corpus knows is in the component of its case."""

    def __init__(self, corpus: Corpus | None) -> None:
        self.of_case: dict[str, str] = {}
        if corpus is not None:
            for component in components(corpus.cases.values()):
                self.of_case |= dict.fromkeys(component.cases, component.id)
        self._codes: dict[str, int] = {}

    @property
    def count(self) -> int:
        """How many have been met."""
        return len(self._codes)

    def units(self, roots: Sequence[str], of: Any = None) -> Units:
        """The components of rows, given the roots and the position of each row's root."""
        codes = np.empty(len(roots), np.int64)
        for number, root in enumerate(roots):
            case = root.rpartition("/")[0]
            codes[number] = self._codes.setdefault(self.of_case.get(case, case), len(self._codes))
        return Units(codes if of is None else codes[of], len(self._codes))


def read_results(
    runs: Iterable[Path], split: Split = Split.TEST, corpus: Corpus | None = None
) -> Results:
    """Read runs, see that they speak of the same, and keep what a report needs."""
    reference = Reference(split, corpus)
    clusters = _Clusters(corpus)
    kept: list[Run] = []
    seen: dict[tuple[str, str, str, int], Path] = {}
    for path in runs:
        found = read_predictions(folder_of(path, split))
        meta = found.meta
        key = (meta.system, meta.name, meta.backbone, meta.seed)
        if key in seen:
            raise InterPactError(
                f"{path}: is {meta.name} with seed {meta.seed}, as is {seen[key]}; give each run once"
            )
        seen[key] = path
        reference.check(found)
        kept.append(_kept(found, clusters))
    if not kept:
        raise InterPactError("no runs; name the folders of runs that were evaluated")
    kept += _reference_runs(reference, clusters, {run.meta.system for run in kept})
    return Results(split, _results(kept), reference, clusters.of_case, clusters.count)


def _kept(found: Predictions, clusters: _Clusters) -> Run:
    metrics: dict[str, float | None] = {}
    tallies: dict[str, Tally] = {}
    scores, changes = None, {}
    if found.roots is not None:
        metrics |= direct_metrics(found.roots)
        tallies |= direct_tallies(found.roots, clusters.units(found.roots.roots), COMPARED)
        scores = scored(found.roots)
    pairs = _paired(found)
    if pairs is not None:
        units = clusters.units(pairs.pairs.roots, pairs.pairs.root)
        metrics |= paired_metrics(pairs)
        tallies |= paired_tallies(pairs, units, COMPARED)
        changes = change_scores(pairs) if found.meta.system is System.INTERPACT else {}
    reliable = None if scores is None else reliability(*scores)
    return Run(found.meta, metrics, tallies, reliable, changes)


def _reference_runs(reference: Reference, clusters: _Clusters, given: set[System]) -> list[Run]:
    """The majority class, and the rule with annotated states, where no run gives them."""
    roots = reference.roots
    if roots is None or not (roots.critical >= 0).any():
        return []
    labelled = roots.critical >= 0
    said: dict[System, Ints] = {}
    majority = roots.critical[labelled].mean() > 0.5
    said[System.MAJORITY] = np.full(len(roots), majority)
    if all(
        name in reference.constant
        for name, known in zip(roots.roots, labelled, strict=True)
        if known
    ):
        constant = [reference.constant.get(name, True) for name in roots.roots]
        said[System.ORACLE_RULE] = ~np.array(constant)
    units = clusters.units(roots.roots)
    runs: list[Run] = []
    for system, critical in said.items():
        if system not in given:
            verdicts = np.where(critical, _YES, _NO).astype(np.int32)
            columns = replace(roots, verdict=verdicts, p_yes=None)
            meta = Meta(
                system=system,
                name=system.named(),
                run="",
                seed=0,
                backbone="",
                split=reference.split,
                corpus=reference.fingerprint or "",
            )
            tallies = direct_tallies(columns, units, COMPARED)
            runs.append(Run(meta, direct_metrics(columns), tallies))
    return runs


def _results(runs: Sequence[Run]) -> tuple[Result, ...]:
    """Runs by system, in the order of the paper; the model is named where there are several."""
    groups: dict[tuple[int, str, str], list[Run]] = {}
    order = list(System)
    for run in runs:
        meta = run.meta
        groups.setdefault((order.index(meta.system), meta.name, meta.backbone), []).append(run)
    names = Counter((system, name) for system, name, _ in groups)
    return tuple(
        Result(
            order[system],
            name if names[system, name] == 1 else f"{name} ({backbone})",
            tuple(sorted(some, key=lambda run: run.meta.seed)),
        )
        for (system, name, backbone), some in sorted(groups.items())
    )
