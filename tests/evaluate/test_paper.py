"""The paper's own arithmetic, from its counts."""

from __future__ import annotations

import pytest

from interpact.corpus.pairs import Split
from interpact.evaluate.compare import wilson
from interpact.evaluate.runs import Spread, read_results
from interpact.evaluate.table import percent
from interpact.systems.predictions import (
    Meta,
    PairPrediction,
    RootPrediction,
    System,
    Verdict,
    folder_of,
    write_predictions,
)

META = Meta.model_validate(
    {
        "system": "prompted",
        "name": "Prompted",
        "run": "r",
        "seed": 1,
        "backbone": "b",
        "split": "test",
        "threshold": 0.5,
        "corpus": "x",
    }
)


@pytest.fixture
def results(tmp_path):
    """207 roots: 85 critical, 88 with a constant mapping, 34 not critical by review."""
    pairs: list[PairPrediction] = []
    roots: list[RootPrediction] = []
    for number in range(207):
        critical, constant = number < 85, 85 <= number < 173
        name = f"case-{number}/e1"
        mapping = ["no"] * 3 if constant else ["yes", "no", "insufficient"]
        pairs.append(
            PairPrediction.model_validate(
                {
                    "pair": f"{name}/removal",
                    "root": name,
                    "source": "any",
                    "operation": "removal",
                    "state_before": "satisfied",
                    "decision_before": mapping[0],
                    "state_after": "unknown",
                    "decision_after": mapping[2],
                    "mapping": mapping,
                }
            )
        )
        roots.append(
            RootPrediction(
                root=name, source="any", critical=critical, answer="Yes", verdict=Verdict.YES
            )
        )
    write_predictions(folder_of(tmp_path, Split.TEST), META, pairs, roots)
    return read_results([tmp_path])


def shown(results, system: System) -> list[str]:
    (result,) = results.of(system)
    values = [result.spread(f"direct/{key}") for key in ("accuracy", "ba", "f1")]
    return [percent(value.mean) for value in values]


def test_the_rule_with_annotated_states_on_the_test_roots(results):
    assert shown(results, System.ORACLE_RULE) == ["83.57", "86.07", "83.57"]


def test_the_majority_class_on_the_test_roots(results):
    assert shown(results, System.MAJORITY)[:2] == ["58.94", "50.00"]


def test_a_single_answer_is_half_right(results):
    assert shown(results, System.PROMPTED)[:2] == ["41.06", "50.00"]


@pytest.mark.parametrize(
    ("passed", "ends"),
    [
        (400, ("99.05", "100.00")),
        (389, ("95.14", "98.46")),
        (363, ("87.51", "93.21")),
        (385, ("93.91", "97.71")),
    ],
)
def test_the_intervals_of_the_audit(passed, ends):
    assert tuple(map(percent, wilson(passed, 400))) == ends


@pytest.mark.parametrize(
    ("counts", "of", "mean", "deviation"),
    [
        ((0, 0, 1), 381, "0.09", "0.15"),  # GenRM, control FPR
        ((0, 5, 5), 207, "1.61", "1.39"),  # Predicted State Execution, invalid answers
        ((0, 3, 3), 207, "0.97", "0.84"),  # R²-Guard, invalid answers
    ],
)
def test_means_and_sample_deviations_over_three_runs(counts, of, mean, deviation):
    spread = Spread.of([count / of for count in counts])
    assert spread.deviation is not None
    assert (percent(spread.mean), percent(spread.deviation)) == (mean, deviation)
