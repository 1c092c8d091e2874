"""Paired prediction: decision changes, decisions and states after an intervention (app:metric-details)."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property

import numpy as np

from interpact.corpus.pairs import Operation, Regime
from interpact.evaluate import metrics
from interpact.evaluate.metrics import Flags, Floats, Ints
from interpact.evaluate.tally import Tally, Units
from interpact.systems.columns import PairColumns

CONTROL = np.array([operation.control for operation in Operation])


class Paired:
    """The references of stored pairs, and what a system predicts for them."""

    def __init__(self, pairs: PairColumns, threshold: float | None) -> None:
        self.pairs = pairs
        self.threshold = threshold
        self.control: Flags = CONTROL[pairs.operation]
        self.target: Flags = ~self.control
        self.changed: Flags = pairs.decision_after != pairs.decision_before
        moved = pairs.state_after != pairs.state_before
        self.regimes: dict[Regime, Flags] = {
            Regime.INVARIANT: self.target & ~self.changed & ~moved,
            Regime.ABSORBED: self.target & ~self.changed & moved,
            Regime.PROPAGATED: self.target & self.changed,
        }

    @cached_property
    def change(self) -> Ints | None:
        """1 where the score reaches the threshold, 0 below it, -1 without a score."""
        return None if self.pairs.s is None else reaches(self.pairs.s, self.threshold)

    @cached_property
    def decision(self) -> Ints | None:
        """The likeliest decision."""
        return None if self.pairs.p is None else likeliest(self.pairs.p)

    @cached_property
    def state(self) -> Ints | None:
        """The likeliest state."""
        return None if self.pairs.q is None else likeliest(self.pairs.q)

    @cached_property
    def parts(self) -> dict[str, Flags]:
        """Targets: all, by source, by operation, by regime."""
        pairs = self.pairs
        return (
            {"": self.target}
            | {
                f"/source={name}": self.target & (pairs.source == code)
                for code, name in enumerate(pairs.sources)
            }
            | {
                f"/operation={name}": pairs.operation == code
                for code, name in enumerate(Operation)
                if not name.control
            }
            | {f"/regime={name}": where for name, where in self.regimes.items()}
        )


def likeliest(chances: Floats) -> Ints:
    """The position of the largest chance, the first on ties; -1 without an answer."""
    answered = ~np.isnan(chances).any(-1)
    return np.where(answered, np.nan_to_num(chances, nan=-1.0).argmax(-1), -1)


def reaches(scores: Floats, threshold: float | None) -> Ints:
    """1 from the threshold on, 0 below, -1 without a score."""
    return np.where(np.isnan(scores), -1, scores >= (np.inf if threshold is None else threshold))


def missed(table: Floats) -> Floats:
    """The miss rate of the positive class."""
    return 1 - metrics.recalls(table)[..., 1]


def false_alarms(table: Floats) -> Floats:
    """The false-positive rate; a negative that is not answered counts as one."""
    return 1 - metrics.recalls(table)[..., 0]


def paired_tallies(
    found: Paired, units: Units | None = None, only: Collection[str] | None = None
) -> dict[str, Tally]:
    """The metrics of paired prediction, all or some, that the system has outputs for."""
    units = units or Units.one(len(found.pairs))
    tallies: dict[str, Tally] = {}

    def add(name: str, part: str, reference: Ints, predicted: Ints, value: metrics.Metric) -> None:
        key = f"paired/{name}{part}"
        if only is None or key in only:
            where = found.control if name == "control_fpr" else found.parts[part]
            tallies[key] = units.confusion(where, reference, predicted, value)

    pairs = found.pairs
    for part in found.parts:
        regime = part.startswith("/regime=")
        if found.change is not None and not regime:
            add("change_ba", part, found.changed, found.change, metrics.balanced_accuracy)
            add("change_miss", part, found.changed, found.change, missed)
            add("change_fpr", part, found.changed, found.change, false_alarms)
        if found.change is not None and regime:
            rate = missed if part.endswith(Regime.PROPAGATED) else false_alarms
            add("change_error", part, found.changed, found.change, rate)
        for name, reference, predicted in (
            ("decision", pairs.decision_after, found.decision),
            ("state", pairs.state_after, found.state),
        ):
            if predicted is not None:
                add(f"{name}_accuracy", part, reference, predicted, metrics.accuracy)
                if not regime:
                    add(f"{name}_f1", part, reference, predicted, metrics.macro_f1)
    if found.change is not None:
        add("control_fpr", "", found.changed, found.change, false_alarms)
        add("unanswered", "", found.changed, found.change, metrics.unanswered)
    return tallies | conditional_tallies(found, units)


def conditional_tallies(found: Paired, units: Units | None = None) -> dict[str, Tally]:
    """Conditional decisions before Hard Warrant: averaged within roots, then over roots."""
    pairs = found.pairs
    if pairs.branches is None:
        return {}
    units = units or Units.one(len(pairs))
    right = likeliest(pairs.branches) == pairs.mapping
    other = np.arange(3) != pairs.state_before[:, None]
    targets = np.bincount(pairs.root[found.target], minlength=len(pairs.roots))
    # each target pair counts as its part of its root
    weight = np.where(found.target, 1 / np.maximum(targets[pairs.root], 1), 0.0)
    columns = {
        "alternative": weight * (right & other).sum(1) / 2,
        "all_three": weight * right.all(1),
    }
    return {
        f"conditional/{name}": units.sums(_mean, column, weight) for name, column in columns.items()
    }


def _mean(sums: Floats) -> Floats:
    return metrics.share(sums[..., 0], sums[..., 1])


def warrant_tallies(found: Paired) -> dict[str, Tally]:
    """Hard Warrant with checkpoint and threshold fixed (fig:factual-correction): without and with it."""
    pairs = found.pairs
    if pairs.q is None or pairs.branches is None or found.threshold is None:
        return {}
    units = Units.one(len(pairs))
    tallies: dict[str, Tally] = {}
    for name, branches in (("raw", pairs.branches), ("fixed", hard_warrant(pairs))):
        p = np.einsum("is,isd->id", pairs.q, branches)
        change = reaches(other_than(p, pairs.decision_before), found.threshold)
        regimes = found.regimes
        for metric, where, reference, predicted, value in (
            ("change_ba", found.target, found.changed, change, metrics.balanced_accuracy),
            (
                "invariant_accuracy",
                regimes[Regime.INVARIANT],
                pairs.decision_after,
                likeliest(p),
                metrics.accuracy,
            ),
            ("control_fpr", found.control, found.changed, change, false_alarms),
            ("propagated_miss", regimes[Regime.PROPAGATED], found.changed, change, missed),
        ):
            tallies[f"warrant/{name}/{metric}"] = units.confusion(
                where, reference, predicted, value
            )
    return tallies


def hard_warrant(pairs: PairColumns) -> Floats:
    """The branches with the row of the known state fixed to the known decision (eq:hard-warrant)."""
    assert pairs.branches is not None
    fixed = pairs.branches.copy()
    fixed[np.arange(len(pairs)), pairs.state_before] = np.eye(3)[pairs.decision_before]
    return fixed


def other_than(chances: Floats, label: Ints) -> Floats:
    """The chance of any other label, as a sum, which keeps small chances."""
    return np.where(np.arange(3) == label[:, None], 0.0, chances).sum(1)


def paired_metrics(found: Paired) -> dict[str, float | None]:
    """Every metric of paired prediction; what the system does not give is absent."""
    tallies = paired_tallies(found) | warrant_tallies(found)
    return {name: tally.metric() for name, tally in tallies.items()}
