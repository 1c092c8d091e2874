"""Exact chances against ProbLog, an independent exact engine."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interpact.case.expressions import AtLeast, Condition, Expression
from interpact.case.rules import Rule
from interpact.case.states import Decision
from tests.problog_rules import rule_clauses, solve, state_facts
from tests.strategies import chances_of, rules


def with_problog(expression: Expression, chances: dict[str, list[float]]) -> dict[str, float]:
    lines, holds, fails = rule_clauses(
        expression, "w", lambda name, state: f"state({name},{state})"
    )
    queries = [f"yes :- {holds}.", f"no :- {fails}.", "query(yes).", "query(no)."]
    return solve([*state_facts(chances), *lines, *queries])


@given(rules().flatmap(lambda drawn: st.tuples(st.just(drawn[0]), chances_of(drawn[1]))))
@settings(max_examples=60)
def test_decision_chances_equal_problog(drawn):
    expression, chances = drawn
    expected = with_problog(expression, chances)
    found = Rule.parse(str(expression)).decision_chances(chances)
    assert found[Decision.YES] == pytest.approx(expected.get("yes", 0.0), abs=1e-9)
    assert found[Decision.NO] == pytest.approx(expected.get("no", 0.0), abs=1e-9)


def test_the_oracle_sees_at_least():
    expression = AtLeast(2, (Condition("c1"), Condition("c2"), Condition("c3")))
    chances = {name: [0.5, 0.25, 0.25] for name in ("c1", "c2", "c3")}
    assert with_problog(expression, chances)["yes"] == pytest.approx(0.5)
