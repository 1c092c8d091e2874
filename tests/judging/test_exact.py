"""Exact judgments against trying every state by hand."""

from __future__ import annotations

import time
from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interpact import Case, case_from, judge
from interpact.case.rules import Rule
from interpact.case.states import State
from interpact.judging.exact import REACH
from interpact.judging.explain import listed
from interpact.judging.view import View
from tests.strategies import assignments, rules, states_of


@st.composite
def labelled(draw: st.DrawFn) -> Case:
    """A case whose units bear on none, one or several conditions."""
    expression, names = draw(rules())
    states = draw(states_of(names))
    bears_on = [[name] for name in names]
    bears_on += draw(st.lists(st.lists(st.sampled_from(names), unique=True), max_size=4))
    units = [
        {"id": f"e{i}", "conditions": conditions, "text": "Something is shown."}
        for i, conditions in enumerate(bears_on)
    ]
    return case_from(
        {
            "id": "case",
            "rule": "A rule.",
            "query": "Is it so?",
            "aggregation": str(expression),
            "conditions": dict.fromkeys(names, "Something holds."),
            "evidence": units,
            "labels": {"states": states, "decision": Rule.parse(str(expression)).decide(states)},
        }
    )


@given(labelled())
@settings(max_examples=200)
def test_evidence_is_critical_where_some_state_of_its_conditions_changes_the_decision(case):
    rule, states = case.rule_of_decision, case.labels.states
    judgments = judge(case)
    assert len(judgments) == sum(max(1, len(unit.conditions)) for unit in case.evidence)
    for judgment in judgments:
        moved = case.unit(judgment.evidence).conditions
        possible = any(
            rule.decide({**states, **dict(zip(moved, row, strict=True))})
            is not case.labels.decision
            for row in product(State, repeat=len(moved))
        )
        assert judgment.critical == possible
        assert (judgment.probability > 0) == possible
        if judgment.condition is None:
            continue
        assert judgment.pivotal == rule.is_pivotal(states, judgment.condition)
        others = {u.id for u in case.evidence if judgment.condition in u.conditions}
        assert set(judgment.also) == others - {judgment.evidence}
        assert {*judgment.shares, judgment.condition} == set(moved)


@given(labelled())
def test_witnesses_are_true(case):
    rule, states = case.rule_of_decision, case.labels.states
    names = list(case.conditions)
    for judgment in judge(case):
        if judgment.condition is None:
            continue
        if judgment.critical:
            head = judgment.witness.split(", the decision would turn")[0].removeprefix("if ")
            changed = dict(states)
            for part in head.replace(" were ", " was ").split(" satisfied")[:-1]:
                words = part.replace(" and ", " ").replace(",", " ").split()
                state = State.NOT_SATISFIED if words[-1] == "not" else State.SATISFIED
                changed |= {word: state for word in words if word in names}
            if "unknown" not in head:
                assert rule.decide(changed) is not case.labels.decision
                assert f"to {rule.decide(changed)}" in judgment.witness
        elif "whatever" in judgment.witness:
            decided = {
                rule.decide({**row, **{c: states[c] for c in names if c != judgment.condition}})
                for row in assignments([judgment.condition])
            }
            assert decided == {case.labels.decision}


def case_with(units: list[list[str]], aggregation: str, **states: str) -> Case:
    return case_from(
        {
            "id": "case",
            "rule": "A rule.",
            "query": "Is it so?",
            "aggregation": aggregation,
            "conditions": {name: f"{name} holds." for name in states},
            "evidence": [
                {"id": f"e{i}", "conditions": conditions, "text": "Shown."}
                for i, conditions in enumerate(units, 1)
            ],
            "labels": {"states": states, "decision": Rule.parse(aggregation).decide(states)},
        }
    )


def test_redundant_evidence_is_possible_and_less_likely():
    case = case_with([["a"], ["a"], ["b"]], "all", a="satisfied", b="satisfied")
    first, _, alone = judge(case)
    assert (first.verdict, first.also, first.probability) == ("possible", ("e2",), REACH[1])
    assert first.witness.endswith("but e2 also bears on a, so a change of e1 alone may not move it")
    assert (alone.verdict, alone.probability) == ("critical", REACH[0])


def test_shared_evidence_moves_its_conditions_together():
    # Each of the two suffices, so neither is pivotal alone; one unit shows both.
    case = case_with([["a", "b"]], "any", a="satisfied", b="satisfied")
    for judgment in judge(case):
        assert judgment.critical and not judgment.pivotal
        assert judgment.witness.startswith(
            "if a and b were not satisfied, the decision would turn from yes to no"
        )


def test_reasons_name_what_decides():
    case = case_with([["a"], ["b"], ["c"]], "all", a="satisfied", b="not_satisfied", c="unknown")
    assert [judgment.witness for judgment in judge(case)] == [
        "b is not satisfied, so the decision is no whatever a is",
        "if b were satisfied, the decision would turn from no to insufficient",
        "b is not satisfied, so the decision is no whatever c is",
    ]


def test_lists_read_like_sentences():
    assert listed(["a"]) == "a"
    assert listed(["a", "b"]) == "a and b"
    assert listed(["a", "b", "c", "d"]) == "a, b, c and d"
    assert listed([str(i) for i in range(2_000)]) == "0, 1, 2 and 1,997 others"


@given(labelled())
def test_the_tree_carries_the_value_of_every_part(case):
    view = View(case, dict(case.labels.states), judge(case))

    def value(node) -> int:
        if node.condition is not None:
            assert node.state is case.labels.states[node.condition]
        truth = {State.SATISFIED: 2, State.UNKNOWN: 1, State.NOT_SATISFIED: 0}[node.state]
        values = [value(part) for part in node.parts]
        if node.label == "not":
            assert truth == 2 - values[0]
        elif node.label == "all of":
            assert truth == min(values)
        elif node.label == "any of":
            assert truth == max(values)
        elif values:
            k = int(node.label.split()[2])
            assert truth == sorted(values, reverse=True)[k - 1]
        return truth

    assert {2: "yes", 1: "insufficient", 0: "no"}[value(view.tree)] == view.decision


def test_a_unit_on_many_conditions_is_judged_through_each_of_them():
    names = [f"c{i}" for i in range(30)]
    states = dict.fromkeys(names, "not_satisfied")
    (*judgments,) = judge(case_with([names], "any", **states))
    assert len(judgments) == 30
    for judgment in judgments:
        assert judgment.critical and judgment.pivotal
        assert judgment.witness.startswith(f"if {judgment.condition} were satisfied")


@pytest.mark.parametrize("shape", ["chain", "counting"])
def test_ten_thousand_conditions_that_occur_twice_or_move_jointly_take_seconds(shape):
    names = [f"c{i}" for i in range(10_000)]
    pairs = list(pairwise(names))
    units = [[name] for name in names] + [list(pair) for pair in pairs[:1_000]]
    if shape == "chain":  # every condition but two occurs twice; either of a pair will do
        rule = " and ".join(f"({a} or {b})" for a, b in pairs)
    else:
        rule = f"at least 9999 of ({', '.join(names)})"
    case = case_with(units, rule, **dict.fromkeys(names, "satisfied"))
    started = time.perf_counter()
    judgments = judge(case)
    assert time.perf_counter() - started < 60
    assert not any(j.critical for j in judgments[:10_000])
    assert all(j.critical and not j.pivotal for j in judgments[10_000:])
    assert judgments[10_000].witness.startswith(
        "if c0 and c1 were not satisfied, the decision would turn from yes to no"
    )


def test_a_unit_in_an_entangled_rule_is_judged_exactly():
    # Only u and w together turn the decision; c0 occurs twice, so the rule is not read-once.
    clauses = [f"(c{3 * i} or c{3 * i + 1} or c{3 * i + 2})" for i in range(12)]
    rule = "u and w and (" + " and ".join([*clauses, "(c0 or c5)"]) + ")"
    names = ["u", "w", *(f"c{i}" for i in range(36))]
    states = dict.fromkeys(names, "satisfied") | {"u": "not_satisfied", "w": "not_satisfied"}
    case = case_with([["u", "w"], *([name] for name in names)], rule, **states)
    shared = judge(case)[:2]
    assert all(j.critical and not j.pivotal and j.probability > 0 for j in shared)
    assert "u and w" in shared[0].witness
    assert judge(case, {"u": "satisfied", "w": "satisfied"})[0].critical


@pytest.mark.parametrize("kind", ["one unit on all", "pairs"])
def test_ten_thousand_conditions_and_shared_units_take_seconds(kind):
    names = [f"c{i}" for i in range(10_000)]
    states = dict.fromkeys(names, "satisfied")
    if kind == "pairs":
        states |= {"c0": "not_satisfied", "c9999": "not_satisfied"}
        units = [list(pair) for pair in zip(names[::2], names[1::2], strict=True)]
        case = case_with([*units, ["c0", "c9999"]], "all", **states)
        judgments = judge(case)
        assert [j.evidence for j in judgments if j.critical] == [judgments[-1].evidence] * 2
    else:
        case = case_with([names, *[["c0"]] * 10_000], "any", **states)
        judgments = judge(case)
        assert len(judgments) == 20_000
        assert all(j.critical and not j.pivotal for j in judgments[:10_000])
        assert len(judgments[0].also) == 100
        assert "10,000 other units also bear on c0" in judgments[0].witness
        assert not any(j.critical for j in judgments[10_000:])
