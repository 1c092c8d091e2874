"""Metrics are scikit-learn's where it has them; what it lacks follows the paper."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

from interpact.evaluate.metrics import (
    accuracy,
    auroc,
    average_precision,
    balanced_accuracy,
    brier,
    calibration_error,
    confusion,
    macro_f1,
    recalls,
    reliability,
    unanswered,
)
from interpact.verifier.selection import average_precision as plain_average_precision

answers = st.lists(st.tuples(st.integers(0, 2), st.integers(-1, 2)), min_size=1, max_size=40)
# few distinct scores, so that ties are common
scored = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0]), st.booleans()),
    min_size=1,
    max_size=40,
)


def near(found: float, expected: float | None) -> bool:
    if expected is None:
        return math.isnan(found)
    return math.isclose(found, expected, abs_tol=1e-12)


@given(answers)
def test_label_metrics_are_those_of_scikit_learn(rows):
    reference, predicted = map(np.array, zip(*rows, strict=True))
    table = confusion(reference, predicted, 3)[0]
    # for scikit-learn, no answer is a class of its own that is never right
    said = np.where(predicted < 0, 3, predicted)
    whole = set(reference.tolist()) == {0, 1, 2}
    assert near(accuracy(table), sk.accuracy_score(reference, said))
    assert near(unanswered(table), float((predicted < 0).mean()))
    labels = [0, 1, 2]
    options = {"labels": labels, "average": "macro", "zero_division": 0}
    assert near(
        balanced_accuracy(table), sk.recall_score(reference, said, **options) if whole else None
    )
    assert near(macro_f1(table), sk.f1_score(reference, said, **options) if whole else None)
    each = sk.recall_score(reference, said, labels=labels, average=None, zero_division=0)
    for label, recall in enumerate(recalls(table)):
        assert near(recall, each[label] if label in reference else None)


@given(answers)
def test_tables_of_units_add_up(rows):
    reference, predicted = map(np.array, zip(*rows, strict=True))
    units = np.arange(len(rows)) % 3
    parts = confusion(reference, predicted, 3, units, 3)
    np.testing.assert_array_equal(parts.sum(0), confusion(reference, predicted, 3)[0])
    np.testing.assert_array_equal(parts[1], confusion(reference[1::3], predicted[1::3], 3)[0])


@given(scored)
def test_score_metrics_are_those_of_scikit_learn(rows):
    scores, positive = map(np.array, zip(*rows, strict=True))
    both = len(set(positive.tolist())) == 2
    assert near(auroc(scores, positive), sk.roc_auc_score(positive, scores) if both else None)
    expected = sk.average_precision_score(positive, scores) if positive.any() else None
    assert near(average_precision(scores, positive), expected)
    plain = plain_average_precision(scores.tolist(), positive.tolist())
    assert near(average_precision(scores, positive), plain)
    assert near(brier(scores, positive), float(np.mean((scores - positive) ** 2)))
    if both:
        assert near(brier(scores, positive), sk.brier_score_loss(positive, scores))


@given(scored)
def test_the_calibration_error_is_that_of_a_plain_loop(rows):
    bins: dict[int, list[tuple[float, bool]]] = {}
    for score, label in rows:
        bins.setdefault(min(int(score * 10), 9), []).append((score, label))
    expected = sum(
        abs(sum(s for s, _ in some) - sum(y for _, y in some)) for some in bins.values()
    ) / len(rows)
    scores, positive = map(np.array, zip(*rows, strict=True))
    assert near(calibration_error(scores, positive), expected)
    counts = reliability(scores, positive)[0]
    assert {i: len(some) for i, some in bins.items()} == {
        i: int(n) for i, n in enumerate(counts) if n
    }


def test_certain_and_right_is_calibrated():
    scores, positive = np.array([1.0, 1.0, 0.0]), np.array([True, True, False])
    assert calibration_error(scores, positive) == 0 == brier(scores, positive)


def test_nothing_is_undefined():
    empty = confusion(np.array([], int), np.array([], int), 2)[0]
    for metric in (accuracy, balanced_accuracy, macro_f1, unanswered):
        assert math.isnan(metric(empty))
    none = np.array([]), np.array([], bool)
    for metric in (auroc, average_precision, brier, calibration_error):
        assert math.isnan(metric(*none))


@pytest.mark.parametrize("answer", [0, 1])
def test_an_invalid_answer_is_an_error_and_never_the_other_label(answer):
    reference = np.array([0, 0, 1, 1])
    predicted = np.array([0, -1, 1, 1])
    if answer:
        reference, predicted = 1 - reference, np.where(predicted < 0, -1, 1 - predicted)
    table = confusion(reference, predicted, 2)[0]
    assert accuracy(table) == 0.75
    assert recalls(table)[answer] == 0.5 and recalls(table)[1 - answer] == 1
    # the other class gains no false alarm by it
    assert macro_f1(table) == pytest.approx((2 / 3 + 1) / 2)
