"""Selection on development data: against scikit-learn and against plain enumeration."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interpact.verifier.selection import (
    Checkpoint,
    average_precision,
    balanced_accuracy,
    best_checkpoint,
    best_threshold,
    checkpoint_steps,
)

scored = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0]), st.booleans()),
    min_size=1,
    max_size=30,
)


@given(scored)
def test_average_precision_is_scikit_learns(rows):
    metrics = pytest.importorskip("sklearn.metrics")
    scores, labels = zip(*rows, strict=True)
    found = average_precision(scores, labels)
    if not any(labels):
        assert found is None
    else:
        assert found == pytest.approx(metrics.average_precision_score(labels, scores))


@given(scored)
def test_the_threshold_is_the_best_of_all_prediction_sets_and_the_largest(rows):
    scores, labels = zip(*rows, strict=True)
    found = best_threshold(scores, labels)
    if len(set(labels)) < 2:
        assert found is None
        return
    tried = {}
    for value in [math.inf, *scores]:
        tried[value] = balanced_accuracy([score >= value for score in scores], labels)
    best = max(tried.values())
    assert found is not None
    assert found.balanced_accuracy == pytest.approx(best)
    assert found.value == max(v for v, accuracy in tried.items() if accuracy >= best - 1e-9)


def test_thresholds_of_useless_scores_predict_nothing():
    found = best_threshold([0.2, 0.8], [True, False])
    assert found is not None and found.value == math.inf and found.balanced_accuracy == 0.5


def test_scores_that_are_no_numbers_are_refused():
    with pytest.raises(ValueError, match="not a number"):
        best_threshold([math.nan, 0.1], [True, False])


def test_ties_between_checkpoints_favour_the_earlier_step():
    steps = [Checkpoint(100, 0.5), Checkpoint(50, 0.5), Checkpoint(150, math.nan)]
    assert best_checkpoint(steps) == Checkpoint(50, 0.5)
    with pytest.raises(ValueError, match="no checkpoint"):
        best_checkpoint([Checkpoint(1, math.nan)])


def test_the_papers_eleven_checkpoints():
    updates = math.ceil(2 * 4168 / 16)
    steps = checkpoint_steps(updates, 50)
    assert (updates, len(steps), steps[:2], steps[-2:]) == (521, 11, [50, 100], [500, 521])
    assert checkpoint_steps(100, 50) == [50, 100]
