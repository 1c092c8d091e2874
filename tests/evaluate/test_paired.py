"""Vectorised metrics of pairs say what plain loops over the rows say."""

from __future__ import annotations

import math
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import fmean

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from interpact.case.states import Decision, State
from interpact.corpus.pairs import Operation, Regime, Split
from interpact.evaluate.paired import Paired, hard_warrant, other_than, paired_metrics
from interpact.evaluate.scores import QUANTILES, change_scores, quantiles
from interpact.systems.predictions import PairPrediction, read_predictions, write_predictions
from tests.evaluate.test_paper import META

STATES, DECISIONS = list(State), list(Decision)
THIRD = 1 / 3
GRID = [
    (1, 0, 0),
    (0, 1, 0),
    (0, 0, 1),
    (0.5, 0.5, 0),
    (0, 0.5, 0.5),
    (0.2, 0.3, 0.5),
    (THIRD,) * 3,
]
THRESHOLD = 0.4567  # a score of its own; no sum of products of the grid lies within rounding of it
rows_of_three = st.sampled_from(GRID)


@st.composite
def predictions(draw) -> list[PairPrediction]:
    mappings = {
        root: draw(st.tuples(*[st.sampled_from(DECISIONS)] * 3))
        for root in ("a/e1", "a/e2", "b/e1")
    }
    before = {root: draw(st.sampled_from(STATES)) for root in mappings}
    chosen = draw(
        st.lists(
            st.tuples(st.sampled_from(sorted(mappings)), st.sampled_from(list(Operation))),
            min_size=1,
            max_size=24,
            unique=True,
        )
    )
    found: list[PairPrediction] = []
    for root, operation in chosen:
        mapping, after = mappings[root], draw(st.sampled_from(STATES))
        found.append(
            PairPrediction(
                pair=f"{root}/{operation}",
                root=root,
                source="one" if root.startswith("a") else "two",
                operation=operation,
                state_before=before[root],
                decision_before=mapping[STATES.index(before[root])],
                state_after=after,
                decision_after=mapping[STATES.index(after)],
                mapping=mapping,
                q=draw(st.none() | rows_of_three),
                p=draw(st.none() | rows_of_three),
                s=draw(st.none() | st.sampled_from([0.0, 0.25, THRESHOLD, 0.75, 1.0])),
                branches=draw(st.none() | st.tuples(*[rows_of_three] * 3)),
            )
        )
    return found


def read(rows: list[PairPrediction]) -> Paired:
    with tempfile.TemporaryDirectory() as name:
        write_predictions(Path(name), META, rows, None)
        pairs = read_predictions(Path(name)).pairs
    assert pairs is not None
    return Paired(pairs, THRESHOLD)


def likeliest(labels, chances):
    return None if chances is None else labels[max(range(3), key=lambda i: (chances[i], -i))]


def share(rights: list[bool]) -> float | None:
    return fmean(rights) if rights else None


def recall(rows, of, right) -> float | None:
    return share([right(row) for row in rows if of(row)])


def macro_f1(rows, labels, reference, predicted) -> float | None:
    scores = []
    for label in labels:
        hits = sum(reference(r) is label and predicted(r) is label for r in rows)
        said = sum(predicted(r) is label for r in rows)
        held = sum(reference(r) is label for r in rows)
        if not held:
            return None
        scores.append(2 * hits / (said + held))
    return fmean(scores)


def changed(row) -> bool:
    return row.decision_after is not row.decision_before


def fpr(rows, says) -> float | None:
    found = recall(rows, lambda row: not changed(row), lambda row: says(row) is False)
    return None if found is None else 1 - found


def miss(rows, says) -> float | None:
    found = recall(rows, changed, lambda row: says(row) is True)
    return None if found is None else 1 - found


def balanced(rows, says) -> float | None:
    rates = [fpr(rows, says), miss(rows, says)]
    return None if None in rates else 1 - fmean(rates)


def plainly(rows: list[PairPrediction]) -> dict[str, float | None]:
    """Every metric by loops over the rows."""

    def moved(r):
        return r.state_after is not r.state_before

    def says(r):
        return None if r.s is None else r.s >= THRESHOLD

    targets = [r for r in rows if not r.operation.control]
    controls = [r for r in rows if r.operation.control]
    regimes = {
        Regime.INVARIANT: [r for r in targets if not changed(r) and not moved(r)],
        Regime.ABSORBED: [r for r in targets if not changed(r) and moved(r)],
        Regime.PROPAGATED: [r for r in targets if changed(r)],
    }
    parts = {"": targets}
    for source in {r.source for r in rows}:
        parts[f"/source={source}"] = [r for r in targets if r.source == source]
    for operation in Operation:
        if not operation.control:
            parts[f"/operation={operation}"] = [r for r in rows if r.operation is operation]
    for regime, some in regimes.items():
        parts[f"/regime={regime}"] = some

    found: dict[str, float | None] = {}
    kinds = (
        (
            "decision",
            DECISIONS,
            lambda r: r.decision_after,
            lambda r: likeliest(DECISIONS, r.p),
            "p",
        ),
        ("state", STATES, lambda r: r.state_after, lambda r: likeliest(STATES, r.q), "q"),
    )
    for part, some in parts.items():
        regime = part.startswith("/regime=")
        if any(r.s is not None for r in rows):
            if regime:
                found[f"paired/change_error{part}"] = (miss if "propagated" in part else fpr)(
                    some, says
                )
            else:
                found[f"paired/change_fpr{part}"] = fpr(some, says)
                found[f"paired/change_miss{part}"] = miss(some, says)
                found[f"paired/change_ba{part}"] = balanced(some, says)
        for name, labels, reference, predicted, has in kinds:
            if any(getattr(r, has) is not None for r in rows):
                rights = [predicted(r) is reference(r) for r in some]
                found[f"paired/{name}_accuracy{part}"] = share(rights)
                if not regime:
                    f1 = macro_f1(some, labels, reference, predicted)
                    found[f"paired/{name}_f1{part}"] = f1
    if any(r.s is not None for r in rows):
        found["paired/control_fpr"] = fpr(controls, says)
        found["paired/unanswered"] = share([r.s is None for r in targets])
    if any(r.branches is not None for r in rows):
        by_root = defaultdict(list)
        for r in targets:
            rights = [
                r.branches is not None and likeliest(DECISIONS, r.branches[i]) is r.mapping[i]
                for i in range(3)
            ]
            others = [x for i, x in enumerate(rights) if STATES[i] is not r.state_before]
            by_root[r.root].append((fmean(others), all(rights)))
        for i, name in enumerate(("alternative", "all_three")):
            means = [fmean(float(x[i]) for x in some) for some in by_root.values()]
            found[f"conditional/{name}"] = fmean(means) if means else None
        if any(r.q is not None for r in rows):
            found |= warrant_plainly(targets, controls, regimes)
    return found


def warrant_plainly(targets, controls, regimes) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for name in ("raw", "fixed"):

        def p(r, name=name):
            if r.q is None or r.branches is None:
                return None
            rows = [list(row) for row in r.branches]
            if name == "fixed":
                rows[STATES.index(r.state_before)] = [
                    float(d is r.decision_before) for d in DECISIONS
                ]
            return [sum(r.q[c] * rows[c][d] for c in range(3)) for d in range(3)]

        def says(r, p=p):
            chances = p(r)
            if chances is None:
                return None
            known = DECISIONS.index(r.decision_before)
            return sum(x for d, x in enumerate(chances) if d != known) >= THRESHOLD

        found[f"warrant/{name}/change_ba"] = balanced(targets, says)
        found[f"warrant/{name}/control_fpr"] = fpr(controls, says)
        found[f"warrant/{name}/propagated_miss"] = miss(regimes[Regime.PROPAGATED], says)
        found[f"warrant/{name}/invariant_accuracy"] = share(
            [likeliest(DECISIONS, p(r)) is r.decision_after for r in regimes[Regime.INVARIANT]]
        )
    return found


@settings(max_examples=80, deadline=None)
@given(predictions())
def test_metrics_are_those_of_plain_loops(rows):
    found, expected = paired_metrics(read(rows)), plainly(rows)
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        if value is None:
            assert found[name] is None, name
        else:
            assert math.isclose(found[name], value, abs_tol=1e-12), (name, found[name], value)


@settings(max_examples=40, deadline=None)
@given(predictions())
def test_hard_warrant_never_raises_a_change_score(rows):
    rows = [r for r in rows if r.q and r.branches]
    if not rows:
        return
    pairs = read(rows).pairs
    raw, fixed = (
        other_than(np.einsum("is,isd->id", pairs.q, branches), pairs.decision_before)
        for branches in (pairs.branches, hard_warrant(pairs))
    )
    assert (fixed <= raw + 1e-12).all()
    # the bound of the paper: no decision change without a state change
    assert (fixed <= other_than(pairs.q, pairs.state_before) + 1e-12).all()


def test_ties_go_to_the_first_label():
    row = PairPrediction(
        pair="a/e1/removal",
        root="a/e1",
        source="one",
        operation=Operation.REMOVAL,
        state_before=State.SATISFIED,
        decision_before=Decision.YES,
        state_after=State.SATISFIED,
        decision_after=Decision.YES,
        mapping=(Decision.YES, Decision.NO, Decision.INSUFFICIENT),
        q=(THIRD, THIRD, THIRD),
        p=(0.5, 0.5, 0),
        s=THRESHOLD,
    )
    found = read([row])
    assert found.state is not None and found.decision is not None and found.change is not None
    assert (found.state[0], found.decision[0]) == (0, 0)
    assert found.change[0] == 1  # the threshold itself is reached


def test_scores_weigh_roots_the_same_and_pairs_within_them():
    def row(root, operation, s):
        return PairPrediction(
            pair=f"{root}/{operation}",
            root=root,
            source="one",
            operation=operation,
            state_before=State.SATISFIED,
            decision_before=Decision.YES,
            state_after=State.UNKNOWN,
            decision_after=Decision.NO,
            mapping=(Decision.YES, Decision.NO, Decision.NO),
            q=(0.1, 0.2, 0.7),
            s=s,
        )

    rows = [
        row("a/e1", Operation.REMOVAL, 0.1),
        row("b/e1", Operation.REMOVAL, 0.9),
        row("b/e1", Operation.WEAKENING, 0.8),
        row("b/e1", Operation.PARAPHRASE, 0.5),  # a control, left out
    ]
    scores = change_scores(read(rows))
    assert set(scores) == {Regime.PROPAGATED}
    found = scores[Regime.PROPAGATED]
    assert found.decision.tolist() == [0.1, 0.9, 0.8]
    assert found.weight.tolist() == [0.5, 0.25, 0.25]
    np.testing.assert_allclose(found.state, 0.9)
    drawn = dict(zip(QUANTILES, quantiles([found.decision], [found.weight]), strict=True))
    assert drawn == {0: 0.1, 0.05: 0.1, 0.25: 0.1, 0.5: 0.1, 0.75: 0.8, 0.95: 0.9, 1: 0.9}
    # a second run counts as much, however many pairs it has
    both = quantiles([found.decision, np.array([0.0])], [found.weight, np.array([1.0])])
    assert both[3] == 0.0 and both[-1] == 0.9
    assert META.split == Split.TEST
