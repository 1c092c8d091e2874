"""Resampling of components agrees with SciPy's, and finds what is there."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from interpact.evaluate.compare import comparisons, holm, interval
from interpact.evaluate.metrics import accuracy, balanced_accuracy
from interpact.evaluate.runs import Result, Run
from interpact.evaluate.tally import Tally
from interpact.systems.predictions import System
from tests.evaluate.made import meta


def result(system: System, runs: list[np.ndarray], value=accuracy) -> Result:
    """A system that was so often right and wrong (the last axis) on each component."""
    return Result(
        system,
        system.named(),
        tuple(
            Run(meta(system, seed), {}, {"direct/accuracy": Tally(counts, value)})
            for seed, counts in enumerate(runs)
        ),
    )


def counts(right: np.ndarray) -> np.ndarray:
    """Tables of one label, right or else not answered: one row a component."""
    table = np.zeros((len(right), 1, 2))
    table[:, 0, 0], table[:, 0, 1] = right, 1 - right
    return table


def test_the_interval_is_that_of_scipy():
    draw = np.random.default_rng(1)
    ours, theirs = draw.beta(4, 2, 60), draw.beta(3, 3, 60)
    (found,) = comparisons(
        result(System.INTERPACT, [counts(ours)]),
        [result(System.GENRM, [counts(theirs)])],
        ["direct/accuracy"],
        resamples=20_000,
    )
    expected = stats.bootstrap(
        (ours - theirs,), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(2)
    ).confidence_interval
    assert found.difference == pytest.approx((ours - theirs).mean())
    assert found.low == pytest.approx(expected.low, abs=0.003)
    assert found.high == pytest.approx(expected.high, abs=0.003)


def test_a_skewed_interval_is_that_of_scipy_too():
    values = np.random.default_rng(3).exponential(size=40)
    draw = np.random.default_rng(4)
    means = draw.choice(values, (20_000, 40)).mean(1)
    left_out = (values.sum() - values) / 39
    expected = stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(5)
    ).confidence_interval
    assert interval(means, left_out, values.mean()) == pytest.approx(tuple(expected), abs=0.02)


def test_the_test_is_the_exact_one_in_the_limit():
    draw = np.random.default_rng(6)
    ours, theirs = draw.beta(4, 2, 9), draw.beta(2, 3, 9)
    (found,) = comparisons(
        result(System.INTERPACT, [counts(ours)]),
        [result(System.GENRM, [counts(theirs)])],
        ["direct/accuracy"],
        resamples=20_000,
    )
    signs = np.array(list(product((1, -1), repeat=9)))
    exact = (np.abs(signs @ (ours - theirs)) >= abs((ours - theirs).sum()) - 1e-12).mean()
    assert found.p == pytest.approx(exact, abs=0.01)


def test_runs_are_averaged_never_pooled():
    # balanced accuracy is not linear: the mean of two runs is not that of their pooled counts
    one = np.array([[[8, 2, 0], [1, 1, 0]], [[3, 1, 0], [0, 4, 0]]], float)
    two = np.array([[[2, 8, 0], [2, 0, 0]], [[4, 0, 0], [3, 1, 0]]], float)
    other = np.array([[[5, 5, 0], [1, 1, 0]], [[2, 2, 0], [2, 2, 0]]], float)
    (found,) = comparisons(
        result(System.INTERPACT, [one, two], balanced_accuracy),
        [result(System.GENRM, [other], balanced_accuracy)],
        ["direct/accuracy"],
        resamples=200,
    )
    means = [float(balanced_accuracy(table.sum(0))) for table in (one, two)]
    assert found.difference == pytest.approx(np.mean(means) - 0.5)


def test_equal_systems_do_not_differ():
    same = counts(np.random.default_rng(7).integers(0, 2, 30).astype(float))
    (found,) = comparisons(
        result(System.INTERPACT, [same, same]),
        [result(System.GENRM, [same])],
        ["direct/accuracy"],
        200,
    )
    assert (found.difference, found.low, found.high, found.p, found.adjusted) == (0, 0, 0, 1, 1)


def test_a_clear_difference_is_found_and_the_same_each_time():
    draw = np.random.default_rng(8)
    ours, theirs = draw.beta(9, 1, 50), draw.beta(5, 5, 50)
    arguments = (
        result(System.INTERPACT, [counts(ours)]),
        [result(System.GENRM, [counts(theirs)]), result(System.PAIRCFR, [counts(ours)])],
        ["direct/accuracy"],
        1_000,
    )
    worse, same = comparisons(*arguments)
    assert worse.low is not None and worse.low > 0.2
    assert worse.p == pytest.approx(1 / 1_001) and worse.adjusted == pytest.approx(2 / 1_001)
    assert same.p == 1
    assert comparisons(*arguments) == [worse, same]


def test_a_run_that_knows_fewer_components_is_padded():
    ours, theirs = np.ones(4), np.array([1.0, 0.0])
    (found,) = comparisons(
        result(System.INTERPACT, [counts(ours)]),
        [result(System.GENRM, [counts(theirs)])],
        ["direct/accuracy"],
        200,
    )
    assert found.difference == 0.5


def test_a_metric_that_either_lacks_is_not_compared():
    bare = Result(System.PAIRCFR, "PairCFR", (Run(meta(System.PAIRCFR, 1), {}),))
    assert comparisons(result(System.INTERPACT, [counts(np.ones(3))]), [bare]) == []


def test_an_undefined_metric_is_not_compared():
    one_class = np.array([[[3, 1, 0], [0, 0, 0]]], float)
    main = result(System.INTERPACT, [one_class], balanced_accuracy)
    other = result(System.GENRM, [one_class], balanced_accuracy)
    assert comparisons(main, [other], ["direct/accuracy"], 100) == []


def test_holm():
    # the example of Holm's step-down: 0.01 x 4, 0.03 x 2 after 0.02 x 3, never smaller than before
    assert holm([0.03, 0.01, 0.04, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([]) == []
