"""Predicted judging against enumeration: the exact part of propagate, joint moves, settings."""

from __future__ import annotations

from itertools import product
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interpact import InterPactError, case_from, judge
from interpact.case.rules import Rule
from interpact.case.states import State
from interpact.judging.engines.protocol import DirectAnswer
from interpact.judging.exact import reach as counted
from interpact.judging.joint import joint_chance
from interpact.judging.propagate import read, score
from interpact.judging.settings import (
    Conformal,
    JudgeSettings,
    ModeSettings,
    Platt,
    Reach,
    StateScaling,
)
from interpact.judging.verifier import Verifier
from tests.strategies import rules

STATES = list(State)


class Scripted:
    """An engine that says what a test wants; counts what it was asked."""

    def __init__(self, states=None, branches=None, direct=None) -> None:
        self.said = (states, branches, direct)
        self.asked: list[object] = []

    def states(self, asked):
        self.asked += asked
        return [self.said[0](q.case, q.condition) for q in asked]

    def branches(self, asked):
        self.asked += asked
        return [self.said[1](q) for q in asked]

    def direct(self, asked):
        self.asked += asked
        return [self.said[2](root) for root in asked]


def case_of(aggregation="all", conditions=("c1", "c2"), units=(("c1",), ("c2",)), **fields):
    return case_from(
        {
            "id": "case",
            "rule": "A rule.",
            "query": "Is it so?",
            "aggregation": aggregation,
            "conditions": {c: f"Condition {c} holds." for c in conditions},
            "evidence": [
                {"id": f"e{i}", "conditions": list(named), "text": f"This is unit {i}."}
                for i, named in enumerate(units, 1)
            ],
            **fields,
        }
    )


@st.composite
def chances_of(draw: st.DrawFn, names) -> dict:
    found = {}
    for name in names:
        raw = [draw(st.integers(1, 9)) for _ in range(3)]
        found[name] = tuple(x / sum(raw) for x in raw)
    return found


@st.composite
def predicted(draw: st.DrawFn):
    expression, names = draw(rules())
    chances = draw(chances_of(names))
    group = (
        draw(st.lists(st.sampled_from(names), unique=True, min_size=2, max_size=3))
        if (len(names) > 1)
        else list(names)
    )
    return str(expression), names, chances, group


def assignments(names):
    return [dict(zip(names, row, strict=True)) for row in product(State, repeat=len(names))]


def chance(states, chances):
    return prod(chances[c][STATES.index(s)] for c, s in states.items())


@given(predicted())
@settings(max_examples=60)
def test_scores_are_the_chance_that_the_state_turns_the_decision(drawn):
    text, names, chances, _ = drawn
    case = case_of(text, names, [(name,) for name in names])
    (reading,) = read([case], Scripted(lambda case, c: chances[c]))
    found = score(reading, Reach())
    rule = Rule.parse(text)
    for i, name in enumerate(names, 1):
        expected = sum(
            chance(states, chances)
            for states in assignments(names)
            if any(rule.decide({**states, name: s}) is not rule.decide(states) for s in State)
        )
        assert found.pivotal[name] == pytest.approx(expected)
        assert found.units[f"e{i}", name] == pytest.approx(expected * counted(0))


@given(predicted())
@settings(max_examples=60)
def test_joint_moves_are_counted_exactly(drawn):
    text, names, chances, group = drawn
    rule = Rule.parse(text)
    expected = sum(
        chance(states, chances)
        for states in assignments(names)
        if len(
            {
                rule.decide({**states, **dict(zip(group, row, strict=True))})
                for row in product(State, repeat=len(group))
            }
        )
        > 1
    )
    assert joint_chance(rule, chances, group) == pytest.approx(expected)


def test_shared_units_move_their_conditions_together():
    case = case_of("any", ("c1", "c2"), [("c1", "c2")])
    sure = Scripted(lambda case, c: (1.0, 0.0, 0.0))
    rows = Verifier(sure, JudgeSettings()).judge(case)
    # On neither condition alone, as the other one holds; on both together.
    assert [row.critical for row in rows] == [True, True]
    assert rows[0].probability == pytest.approx(counted(0) ** 2, abs=0.01)


def test_conditions_without_evidence_are_not_asked_and_redundant_units_are_left_out_in_turn():
    case = case_of("all", ("c1", "c2", "c3"), [("c1",), ("c1",), ("c2",)])
    engine = Scripted(lambda case, c: (0.8, 0.1, 0.1))
    (reading,) = read([case], engine)
    assert reading.chances["c3"] == (0.01, 0.01, 0.98)
    asked = [(q.condition, len(q.case.evidence)) for q in engine.asked]
    assert asked == [("c1", 3), ("c1", 2), ("c1", 2), ("c2", 3)]
    assert set(reading.without) == {("e1", "c1"), ("e2", "c1")}


def test_what_the_estimator_says_without_the_unit_counts():
    case = case_of("all", ("c1", "c2"), [("c1",), ("c1",), ("c2",)])
    reach = Reach(weights=(3.0, -1.0, 0.0, 0.0, 0.0, 0.0, -4.0))

    def held_by_the_other(case, condition):
        alone = [u.id for u in case.evidence if condition in u.conditions]
        return (0.1, 0.0, 0.9) if alone == ["e1"] else (1.0, 0.0, 0.0)

    (reading,) = read([case], Scripted(held_by_the_other))
    found = score(reading, reach).units
    # Without e2 the condition would be unknown; without e1 it would still be satisfied.
    assert found["e2", "c1"] > 0.8 > 0.2 > found["e1", "c1"]


def test_labels_are_never_shown_to_an_engine():
    case = case_of(labels={"states": {"c1": "satisfied", "c2": "satisfied"}, "decision": "yes"})
    engine = Scripted(
        lambda case, c: (0.5, 0.25, 0.25),
        lambda q: ((0.5, 0.25, 0.25),) * 3,
        lambda root: DirectAnswer("Yes", 0.9),
    )
    verifier = Verifier(engine, JudgeSettings())
    for mode in ("propagate", "intervene", "direct"):
        assert all(row.mode == mode for row in verifier.judge(case, mode=mode))
    assert len(engine.asked) >= 10
    assert "labels" not in repr(engine.asked)


def test_set_states_are_taken_as_known():
    engine = Scripted(lambda case, c: (0.9, 0.05, 0.05))
    verifier = Verifier(engine, JudgeSettings())
    before = {row.condition: row.probability for row in verifier.judge(case_of())}
    after = {r.condition: r.probability for r in verifier.judge(case_of(), {"c2": "not_satisfied"})}
    assert after["c1"] < 0.01 < 0.8 < before["c1"]
    with pytest.raises(InterPactError, match='has no condition "c9"'):
        verifier.judge(case_of(), {"c9": "satisfied"})


def test_an_unusable_answer_makes_judgments_invalid_and_no_label():
    engine = Scripted(lambda case, c: None if c == "c2" else (0.9, 0.05, 0.05))
    rows = Verifier(engine, JudgeSettings()).judge(case_of())
    assert {(row.verdict, row.critical, row.probability) for row in rows} == {
        ("invalid", None, None)
    }
    assert "no usable answer about the state of c2" in rows[0].witness


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Yes", "critical"),
        (" No\n", "not critical"),
        ("Yes.", "invalid"),
        ("yes", "invalid"),
        ("", "invalid"),
        ("I am not sure", "invalid"),
    ],
)
def test_an_answer_outright_is_exactly_yes_or_no_or_invalid(text, verdict):
    engine = Scripted(direct=lambda root: DirectAnswer(text, 0.7))
    rows = Verifier(engine, JudgeSettings()).judge(case_of(), mode="direct")
    assert {row.verdict for row in rows} == {verdict}


def test_intervene_takes_the_edit_that_changes_most():
    case = case_from(
        {
            "id": "case",
            "rule": "A rule.",
            "query": "Is it so?",
            "aggregation": "all",
            "conditions": {"c1": "It is sealed."},
            "evidence": [{"id": "e1", "conditions": ["c1"], "text": "The tank is sealed."}],
        }
    )

    def states(case, condition):
        return (0.0, 1.0, 0.0) if "not" in case.evidence[0].text else (1.0, 0.0, 0.0)

    branches = lambda q: ((1.0, 0.0, 0.0), (0.1, 0.9, 0.0), (0.6, 0.0, 0.4))  # noqa: E731
    (row,) = Verifier(Scripted(states, branches), JudgeSettings()).judge(case, mode="intervene")
    # Removal leaves it unknown (0.98): 0.4 of 0.98 and 0.9 of 0.01; reversal: 0.9.
    assert row.probability == pytest.approx(0.9, abs=1e-6)
    assert row.witness.startswith("polarity reversal of e1 would change the decision from yes")


def test_the_known_row_is_fixed_by_hard_warrant():
    case = case_of("all", ("c1",), [("c1",)])
    engine = Scripted(lambda case, c: (1.0, 0.0, 0.0), lambda q: ((0.0, 1.0, 0.0),) * 3)
    (row,) = Verifier(engine, JudgeSettings()).judge(case, mode="intervene")
    # Only removal is possible here: satisfied stays yes by warrant, however the branches are.
    assert row.probability == pytest.approx(0.99, abs=1e-6)


def test_risk_is_kept_by_abstaining():
    engine = Scripted(lambda case, c: (0.6, 0.3, 0.1))
    conformal = Conformal(
        critical=tuple(0.3 + i / 30 for i in range(20)),
        not_critical=tuple(i / 30 for i in range(20)),
    )
    fitted = JudgeSettings(modes={"propagate": ModeSettings(conformal=conformal)})
    verifier = Verifier(engine, fitted)
    loose = verifier.judge(case_of(), risk=0.5)
    strict = verifier.judge(case_of(), risk=0.04)  # less than 20 units of a kind can show
    assert {row.verdict for row in loose} == {"critical"}
    assert {row.verdict for row in strict} == {"abstained"}
    assert all(row.critical is None and row.probability is not None for row in strict)
    with pytest.raises(InterPactError, match="no share"):
        verifier.judge(case_of(), risk=1.5)
    with pytest.raises(InterPactError, match="lacks for mode intervene"):
        verifier.judge(case_of(), mode="intervene", risk=0.1)


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.05, 0.1, 0.2]))
@settings(max_examples=10)
def test_the_risk_holds_for_units_like_those_it_was_fitted_on(seed, risk):
    import numpy as np

    rng = np.random.default_rng(seed)
    wrong = [0, 0]
    for _ in range(60):  # fresh development scores each time: the guarantee is over both draws
        draw = {y: rng.beta(4 - 2 * (not y), 2 + 2 * (not y), 40) for y in (True, False)}
        conformal = Conformal(
            critical=tuple(sorted(draw[True])), not_critical=tuple(sorted(draw[False]))
        )
        for y in (True, False):
            for s in rng.beta(4 - 2 * (not y), 2 + 2 * (not y), 20):
                wrong[y] += conformal.verdict(float(s), risk) is (not y)
    # 1,200 units of each kind: three standard deviations, widened for the shared draws.
    assert max(wrong) / 1200 <= risk + 0.05


def test_scaling_and_calibration_leave_distributions():
    scaled = StateScaling(scale=0.5, bias=(0.0, 1.0, -2.0))((0.7, 0.2, 0.1))
    assert sum(scaled) == pytest.approx(1.0)
    assert Platt()(0.3) == pytest.approx(0.3)
    assert 0 < Platt(scale=2.0, shift=-1.0)(0.0) < 1e-5


def test_auto_is_exact_where_states_are_given_and_asks_a_verifier_elsewhere():
    engine = Scripted(lambda case, c: (0.9, 0.05, 0.05))
    verifier = Verifier(engine, JudgeSettings())
    given = case_of(labels={"states": {"c1": "satisfied", "c2": "satisfied"}, "decision": "yes"})
    assert {row.mode for row in judge(given, verifier=verifier)} == {"exact"}
    assert not engine.asked
    assert {row.mode for row in judge(case_of(), verifier=verifier)} == {"propagate"}
    both = {"c1": "satisfied", "c2": "unknown"}
    assert {row.mode for row in judge(case_of(), both, verifier=verifier)} == {"exact"}


def test_witnesses_name_the_predicted_states():
    engine = Scripted(lambda case, c: (0.9, 0.05, 0.05) if c == "c1" else (0.1, 0.8, 0.1))
    rows = Verifier(engine, JudgeSettings()).judge(case_of())
    assert rows[0].witness == (
        "c2 is not satisfied, so the decision is no whatever c1 is (predicted: c1 satisfied 0.90, "
        "c2 not satisfied 0.80)"
    )
    assert rows[1].chances == pytest.approx((0.1, 0.8, 0.1))
