"""Agreement and intervals, beside the libraries that compute them too and the paper's own numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.metrics.agreement import AnnotationTask
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as fleiss_of_statsmodels
from statsmodels.stats.proportion import proportion_confint

from interpact.review.agreement import fleiss_kappa, krippendorff_alpha, raw_agreement, wilson

answers = st.sampled_from(["satisfied", "not_satisfied", "unknown", "ambiguous"])


@given(st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_is_that_of_statsmodels(case: tuple[int, int]):
    k, n = case
    assert wilson(k, n) == pytest.approx(proportion_confint(k, n, method="wilson"), abs=1e-12)


@pytest.mark.parametrize(
    ("n", "interval"),
    [(400, "99.05,100.00"), (389, "95.14,98.46"), (363, "87.51,93.21"), (385, "93.91,97.71")],
)
def test_wilson_gives_the_intervals_of_the_paper(n: int, interval: str):
    assert ",".join(f"{100 * bound:.2f}" for bound in wilson(n, 400)) == interval


@given(st.integers(2, 5).flatmap(lambda n: st.lists(st.lists(answers, min_size=n, max_size=n), min_size=1, max_size=30)))  # fmt: skip
def test_fleiss_kappa_is_that_of_statsmodels(ratings: list[list[str]]):
    ours = fleiss_kappa(ratings)
    if len({a for item in ratings for a in item}) == 1:
        assert ours is None  # 0/0: agreement that chance alone gives
        return
    table, _ = aggregate_raters([[*item] for item in ratings])
    assert ours == pytest.approx(fleiss_of_statsmodels(table), abs=1e-9)


@given(st.lists(st.lists(answers, min_size=1, max_size=4), min_size=1, max_size=30))
def test_krippendorff_alpha_is_that_of_nltk(ratings: list[list[str]]):
    paired = [item for item in ratings if len(item) > 1]
    ours = krippendorff_alpha(ratings)
    if len({a for item in paired for a in item}) < 2:
        assert ours is None
        return
    triples = [(f"r{r}", f"i{i}", a) for i, item in enumerate(paired) for r, a in enumerate(item)]
    assert ours == pytest.approx(AnnotationTask(triples).alpha(), abs=1e-9)


def test_raw_agreement_counts_pairs_of_readers():
    assert raw_agreement([["a", "a", "b"], ["a", "a", "a"]]) == pytest.approx(4 / 6)
    assert raw_agreement([["a"]]) is None
    assert fleiss_kappa([["a", "b"], ["a", "b", "b"]]) is None
