"""Closed forms of execution and of weighted rules, against the sums that define them."""

from __future__ import annotations

from itertools import product
from math import exp, prod

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from interpact.case.case import Case
from interpact.case.files import case_from
from interpact.case.states import Decision, State
from interpact.systems.execution import executed
from interpact.systems.r2guard import (
    CONJUNCTION,
    DECISIONS,
    DISJUNCTION,
    Evidences,
    fit,
    marginal,
    shape_of,
)
from tests.strategies import assignments, decide, expressions

NAMES = ["c1", "c2", "c3", "c4"]


def case(aggregation: str, conditions: int = 4) -> Case:
    names = NAMES[:conditions]
    return case_from(
        {
            "id": "case",
            "rule": "A rule.",
            "query": "Is it so?",
            "aggregation": aggregation,
            "conditions": {name: f"{name} holds." for name in names},
            "evidence": [{"id": "e1", "conditions": names, "text": "Plain."}],
        }
    )


logits = st.lists(st.floats(-4, 4), min_size=3, max_size=3)


def log_q(rows) -> dict[str, torch.Tensor]:
    return {
        name: torch.tensor(row, dtype=torch.double).log_softmax(-1)
        for name, row in zip(NAMES, rows, strict=False)
    }


@given(expressions(NAMES), st.lists(logits, min_size=4, max_size=4))
@settings(max_examples=30)
def test_execution_is_the_sum_over_all_assignments(expression, rows):
    logs = log_q(rows)
    expected = dict.fromkeys(Decision, 0.0)
    for states in assignments(NAMES):
        chance = prod(float(logs[c][list(State).index(s)].exp()) for c, s in states.items())
        expected[decide(expression, states)] += chance
    found = executed(case(str(expression)), logs).exp().tolist()
    assert found == pytest.approx(list(expected.values()), abs=1e-9)


@given(
    st.sampled_from(["all", "any", "c1 and (c2 or not c3)", "at least 2 of (c1, c2, c4)"]),
    st.lists(logits, min_size=4, max_size=4),
    logits,
    st.lists(st.floats(-3, 3), min_size=3, max_size=3),
)
@settings(max_examples=40)
def test_the_marginal_of_weighted_rules_is_the_sum_of_the_definition(rule, rows, prior, weights):
    """P(c, d) ~ p0(d) prod q_j(c_j) exp(sum of w_k [A(c) = d_k implies d = d_k])."""
    logs, one = log_q(rows), case(rule)
    log_p0 = torch.tensor(prior, dtype=torch.double).log_softmax(-1)
    total = dict.fromkeys(Decision, 0.0)
    for row, d in product(product(State, repeat=4), Decision):
        states = dict(zip(NAMES, row, strict=True))
        says = one.rule_of_decision.decide(states)
        held = sum(w for w, k in zip(weights, Decision, strict=True) if says is not k or d is k)
        q = prod(float(logs[c][list(State).index(s)].exp()) for c, s in states.items())
        total[d] += float(log_p0[DECISIONS.index(d)].exp()) * q * exp(held)
    expected = [total[d] / sum(total.values()) for d in Decision]
    w = torch.tensor([weights], dtype=torch.double)
    found = marginal(log_p0[None], executed(one, logs)[None], w)[0].exp().tolist()
    assert found == pytest.approx(expected, abs=1e-9)


def test_no_weight_leaves_the_prior_and_a_heavy_one_leaves_what_the_rule_says():
    log_p0 = torch.tensor([[0.2, 0.3, 0.5]], dtype=torch.double).log()
    log_rule = torch.tensor([[0.6, 0.3, 0.1]], dtype=torch.double).log()
    nothing = marginal(log_p0, log_rule, torch.zeros(1, 3, dtype=torch.double))
    torch.testing.assert_close(nothing, log_p0)
    heavy = marginal(log_p0, log_rule, torch.full((1, 3), 50.0, dtype=torch.double))
    torch.testing.assert_close(heavy, (log_p0 + log_rule).log_softmax(1))


def test_fitting_finds_the_weights_that_made_the_decisions():
    torch.manual_seed(0)
    n = 40_000
    log_p0 = torch.randn(n, 3, dtype=torch.double).log_softmax(1)
    log_rule = (3 * torch.randn(n, 3, dtype=torch.double)).log_softmax(1)
    shape = torch.randint(2, (n,))
    w = torch.tensor([[2.0, 0.5, 1.0], [-0.5, 1.5, 0.0]], dtype=torch.double)
    drawn = torch.multinomial(marginal(log_p0, log_rule, w[shape]).exp(), 1)[:, 0]
    found = fit(Evidences(torch.zeros(n, 3), log_p0, log_rule, shape), drawn)
    torch.testing.assert_close(found, w, atol=0.15, rtol=0)


@pytest.mark.parametrize(
    ("rule", "shape"),
    [
        ("all", CONJUNCTION),
        ("any", DISJUNCTION),
        ("c1 and (c2 or c3)", CONJUNCTION),
        ("c1 or (c2 and c3)", DISJUNCTION),
        ("not (c1 and c2)", DISJUNCTION),
        ("at least 3 of (c1, c2, c3)", CONJUNCTION),
        ("at least 2 of (c1, c2, c3, c4)", DISJUNCTION),
    ],
)
def test_a_nested_rule_counts_by_its_outermost_gate(rule, shape):
    assert shape_of(case(rule)) == shape
