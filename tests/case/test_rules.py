"""Rules against the definition of Kleene logic, and exact chances against all 3^n states."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise, product
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interpact.case.expressions import RuleSyntaxError, parse_expression
from interpact.case.rules import Rule
from interpact.case.states import Decision, State
from interpact.errors import InterPactError
from tests.strategies import assignments, chances_of, decide, read_once, rules, states_of

ids = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).filter(str.strip)


@given(rules())
def test_printing_and_parsing_are_inverse(drawn):
    expression, _ = drawn
    assert parse_expression(str(expression)) == expression


@given(ids, ids)
def test_any_id_can_be_named(first, second):
    from interpact.case.expressions import Condition, Or

    expression = Or((Condition(first), Condition(second)))
    assert parse_expression(str(expression)) == expression


@given(rules().flatmap(lambda drawn: st.tuples(st.just(drawn), states_of(drawn[1]))))
def test_decisions_and_mappings_follow_the_definition(drawn):
    (expression, names), states = drawn
    rule = Rule.parse(str(expression))
    assert rule.decide(states) is decide(expression, states)
    for name in names:
        expected = [decide(expression, {**states, name: state}) for state in State]
        assert list(rule.mapping(states, name).values()) == expected
        assert rule.is_pivotal(states, name) == (len(set(expected)) > 1)
    assert rule.mappings(states) == {name: rule.mapping(states, name) for name in names}


@given(st.lists(st.sampled_from(list(State)), min_size=1, max_size=6))
def test_all_and_any_are_the_papers_conjunction_and_disjunction(row):
    states = {f"c{i}": state for i, state in enumerate(row)}
    if State.NOT_SATISFIED in row:
        conjunction = Decision.NO
    else:
        conjunction = Decision.INSUFFICIENT if State.UNKNOWN in row else Decision.YES
    if State.SATISFIED in row:
        disjunction = Decision.YES
    else:
        disjunction = Decision.INSUFFICIENT if State.UNKNOWN in row else Decision.NO
    assert Rule.parse("all").decide(states) is conjunction
    assert Rule.parse("any").decide(states) is disjunction


@given(
    st.one_of(rules(), read_once()).flatmap(
        lambda drawn: st.tuples(st.just(drawn), chances_of(drawn[1]))
    )
)
@settings(max_examples=300)
def test_chances_equal_enumeration(drawn):
    (expression, names), chances = drawn
    rule = Rule.parse(str(expression))
    order = list(State)
    decisions: Counter[Decision] = Counter()
    mappings: dict[str, Counter[tuple[Decision, ...]]] = {name: Counter() for name in names}
    for states in assignments(names):
        weight = {name: chances[name][order.index(states[name])] for name in names}
        decisions[decide(expression, states)] += prod(weight.values())  # type: ignore[assignment]
        for name in names:
            if states[name] is State.SATISFIED:  # once for each state of the others
                mapping = tuple(decide(expression, {**states, name: state}) for state in State)
                others = prod(weight[other] for other in names if other != name)
                mappings[name][mapping] += others  # type: ignore[assignment]
    assert rule.decision_chances(chances) == pytest.approx(
        {decision: decisions[decision] for decision in Decision}, abs=1e-12
    )
    pivotal = rule.pivotal_chances(chances)
    for name in names:
        found = rule.mapping_chances(chances, name)
        for mapping in set(found) | set(mappings[name]):
            assert found.get(mapping, 0.0) == pytest.approx(mappings[name][mapping], abs=1e-12)
        moving = sum(p for mapping, p in mappings[name].items() if len(set(mapping)) > 1)
        assert pivotal[name] == pytest.approx(moving, abs=1e-12)


@given(rules().flatmap(lambda drawn: st.tuples(st.just(drawn), states_of(drawn[1]))))
@settings(max_examples=200)
def test_flip_sets_are_all_minimal_sets(drawn):
    (expression, names), states = drawn
    rule = Rule.parse(str(expression))
    decision = rule.decide(states)
    minimal: list[tuple[str, ...]] = []
    for size in range(1, len(names) + 1):
        for chosen in combinations(names, size):
            if any(set(known) <= set(chosen) for known in minimal):
                continue
            if any(
                decide(expression, {**states, **dict(zip(chosen, row, strict=True))})
                is not decision
                for row in product(State, repeat=size)
            ):
                minimal.append(chosen)
    flips = rule.flips(states, limit=1000)
    assert flips.complete
    assert sorted(tuple(flip.states) for flip in flips) == sorted(minimal)
    assert [len(flip.states) for flip in flips] == sorted(map(len, minimal))
    for flip in flips:
        assert rule.decide({**states, **flip.states}) is flip.decision is not decision


@given(rules().flatmap(lambda drawn: st.tuples(st.just(drawn), states_of(drawn[1]))))
@settings(max_examples=200)
def test_settling_sets_are_all_minimal_answers(drawn):
    (expression, names), states = drawn
    rule = Rule.parse(str(expression))
    settles = rule.settles(states, limit=1000)
    if rule.decide(states) is not Decision.INSUFFICIENT:
        assert len(settles) == 0
        return
    unknown = [name for name in names if states[name] is State.UNKNOWN]
    expected: list[tuple[Decision, tuple[str, ...]]] = []
    for goal in (Decision.YES, Decision.NO):
        minimal: list[tuple[str, ...]] = []
        for size in range(1, len(unknown) + 1):
            for chosen in combinations(unknown, size):
                answers = product((State.SATISFIED, State.NOT_SATISFIED), repeat=size)
                if not any(set(known) <= set(chosen) for known in minimal) and any(
                    decide(expression, {**states, **dict(zip(chosen, row, strict=True))}) is goal
                    for row in answers
                ):
                    minimal.append(chosen)
        expected += [(goal, chosen) for chosen in minimal]
    assert sorted((s.decision, tuple(s.states)) for s in settles) == sorted(expected)


@given(rules().flatmap(lambda drawn: st.tuples(st.just(drawn), states_of(drawn[1]))))
def test_reasons_fix_the_decision_whatever_the_rest(drawn):
    (expression, names), states = drawn
    rule = Rule.parse(str(expression))
    for without in ((), *names):
        held = rule.reason(states, without)
        if held is None:
            continue
        assert without not in held or without == ()
        free = [name for name in names if name not in held]
        assert {
            decide(expression, {**states, **dict(zip(free, row, strict=True))})
            for row in product(State, repeat=len(free))
        } == {rule.decide(states)}


@given(read_once().flatmap(lambda drawn: st.tuples(st.just(drawn), states_of(drawn[1]))))
def test_a_reason_exists_for_every_condition_that_is_not_pivotal(drawn):
    (expression, names), states = drawn
    rule = Rule.parse(str(expression))
    for name in names:
        assert (rule.reason(states, without=name) is None) == rule.is_pivotal(states, name)


@given(
    st.one_of(rules(), read_once()).flatmap(
        lambda drawn: st.tuples(
            st.just(drawn), states_of(drawn[1]), st.sets(st.sampled_from(drawn[1]))
        )
    )
)
@settings(max_examples=200)
def test_a_group_can_flip_where_some_of_its_states_do(drawn):
    (expression, _), states, group = drawn
    rule = Rule.parse(str(expression))
    reached = {
        decide(expression, {**states, **dict(zip(group, row, strict=True))})
        for row in product(State, repeat=len(group))
    }
    assert rule.can_flip(states, group) == (len(reached) > 1)
    # The sets among a group are the same by a search over the whole rule and by one around it.
    (found,) = rule.group_flips(states, [group], limit=1000)
    whole = rule.flips(states, among=group, limit=1000)
    assert found.complete and whole.complete
    assert {frozenset(f.states) for f in found} == {frozenset(f.states) for f in whole}
    assert all(rule.decide({**states, **f.states}) is f.decision for f in found)
    assert bool(found.found) == (len(reached) > 1)


def test_kleene_where_a_condition_occurs_twice():
    # Whatever c1 is, one of the two holds; Kleene logic does not see that, by choice.
    rule = Rule.parse("c1 or not c1")
    assert rule.decide({"c1": State.UNKNOWN}) is Decision.INSUFFICIENT
    assert rule.decide({"c1": State.NOT_SATISFIED}) is Decision.YES


def test_unknown_is_never_false():
    states = {"c1": State.UNKNOWN, "c2": State.UNKNOWN}
    for text in ("all", "any", "not c1", "at least 1 of (c1, c2)", "c1 and not c2"):
        assert Rule.parse(text).decide(states) is Decision.INSUFFICIENT


@pytest.mark.parametrize("text", ["all", "any", "at least 700 of ({})"])
def test_two_thousand_conditions_take_no_time(text):
    names = [f"c{i}" for i in range(2000)]
    rule = Rule.parse(text.format(", ".join(names)))
    chances = {name: [0.9995, 0.0003, 0.0002] for name in names}
    assert sum(rule.decision_chances(chances).values()) == pytest.approx(1.0)
    assert len(rule.pivotal_chances(chances)) == 2000


def test_long_chains_of_shared_conditions_stay_exact():
    # (c0 or c1) and (c1 or c2) and ...: every clause shares a condition with the next.
    size = 800
    text = " and ".join(f"(c{i} or c{i + 1})" for i in range(size))
    chances = {f"c{i}": [0.5, 0.5, 0.0] for i in range(size + 1)}
    # Without unknowns: strings without two not-satisfied neighbours, counted by Fibonacci numbers.
    a, b = 1, 2
    for _ in range(size):
        a, b = b, a + b
    found = Rule.parse(text).decision_chances(chances)
    assert found[Decision.YES] == pytest.approx(b / 2 ** (size + 1), rel=1e-9)


def test_hopeless_rules_are_refused_not_attempted():
    import random

    random.seed(3)
    names = [f"c{i}" for i in range(90)]
    clauses = [" or ".join(random.sample(names, 4)) for _ in range(200)]
    rule = Rule.parse(" and ".join(f"({clause})" for clause in clauses))
    with pytest.raises(InterPactError, match="too often for exact answers"):
        rule.decision_chances({name: [0.4, 0.3, 0.3] for name in names})


@pytest.mark.parametrize("n", [17, 30, 200])
@pytest.mark.parametrize("state", ["not_satisfied", "unknown"])
def test_flips_of_plain_counting_rules_are_found_at_once(n, state):
    names = [f"c{i}" for i in range(n)]
    rule = Rule.parse(f"at least {n // 2} of ({', '.join(names)})")
    found = rule.flips(dict.fromkeys(names, state), limit=10)
    assert len(found) == 10 and not found.complete
    assert {len(flip.states) for flip in found} == {n // 2}


def test_the_order_of_clauses_does_not_matter():
    import random

    names = [f"c{i}" for i in range(40)]
    clauses = [f"({a} or {b})" for a, b in pairwise(names)]
    chances = {name: [0.5, 0.3, 0.2] for name in names}
    expected = Rule.parse(" and ".join(clauses)).decision_chances(chances)
    random.Random(5).shuffle(clauses)
    shuffled = Rule.parse(" and ".join(clauses))
    assert shuffled.decision_chances(chances) == pytest.approx(expected, rel=1e-9)
    assert shuffled.flips(dict.fromkeys(names, "satisfied")).found


def test_chances_do_not_depend_on_earlier_calls():
    names = [f"c{i}" for i in range(150)]
    rule = Rule.parse(" and ".join(f"({a} or {b})" for a, b in pairwise(names)))
    chances = {name: [0.9, 0.05, 0.05] for name in names}
    first = rule.pivotal_chances(chances, ["c149"])
    every = rule.pivotal_chances(chances)
    assert every["c149"] == first["c149"] == rule.pivotal_chances(chances, ["c149"])["c149"]


def test_what_a_rule_hands_out_is_the_callers_own():
    rule = Rule.parse("all")
    states = {"a": "satisfied", "b": "satisfied"}
    rule.mapping(states, "a")[State.SATISFIED] = Decision.NO
    assert rule.mapping(states, "b")[State.SATISFIED] is Decision.YES


def test_flip_search_gives_up_openly():
    names = [f"c{i}" for i in range(40)]
    clauses = [f"(c{i} or c{(7 * i + 3) % 40} or not c{(11 * i + 5) % 40})" for i in range(40)]
    states = dict.fromkeys(names, State.UNKNOWN)
    found = Rule.parse(" and ".join(clauses)).flips(states, limit=50)
    assert found.found and not found.complete


@pytest.mark.parametrize(
    ("text", "character", "message"),
    [
        ("", 1, "expected a condition id"),
        ("c1 and", 7, "expected a condition id"),
        ("c1 and and c2", 8, "found `and`"),
        ("c1 c2", 4, "expected `and`, `or` or the end, found `c2`"),
        ("(c1 or c2", 10, "expected `)` to close the bracket"),
        ("proof of age and c2", 7, "write an id with spaces in double quotes"),
        ("c1 & c2", 4, "unexpected character '&'; write `and`"),
        ("!c1", 1, "write `not`"),
        ("c1 + c2", 4, "write ids with other characters in double quotes"),
        ('"c1 or c2', 1, "no closing quote"),
        ("at least 3 of (c1, c2)", 10, "from 1 to 2"),
        ("at least 0 of (c1, c2)", 10, "from 1 to 2"),
        ("at least two of (c1, c2)", 10, "expected a number"),
        ("at most 2 of (c1)", 4, "expected `least`"),
        ("c1 and all", 8, "`all` stands alone"),
        ('""', 1, "empty"),
        ("c1)", 3, "found `)`"),
        ("(" * 5000 + "c1", 102, "nested deeper"),
        ("not " * 5000 + "c1", 4 * 101 + 1, "nested deeper"),
    ],
)
def test_syntax_errors_point_at_the_character(text, character, message):
    with pytest.raises(RuleSyntaxError) as error:
        Rule.parse(text)
    assert message in str(error.value)
    assert f"rule, character {character}:" in str(error.value)


def test_the_pointer_stands_under_the_character():
    with pytest.raises(RuleSyntaxError) as error:
        Rule.parse("residency and employment & age")
    _, excerpt, pointer = str(error.value).split("\n")
    assert excerpt[pointer.index("^")] == "&"


def test_unknown_conditions_get_a_suggestion():
    with pytest.raises(InterPactError, match=r'names "residancy".*did you mean "residency"'):
        Rule.parse("residancy and job").decide({"residency": "satisfied", "job": "unknown"})
    with pytest.raises(InterPactError, match="'maybe' is not a state; use one of satisfied"):
        Rule.parse("all").decide({"c1": "maybe"})
    with pytest.raises(InterPactError, match=r"add up to 1\.2, not to 1"):
        Rule.parse("all").decision_chances({"c1": [0.5, 0.5, 0.2]})
    with pytest.raises(InterPactError, match="is not a distribution"):
        Rule.parse("all").decision_chances({"c1": [float("nan"), 0.5, 0.5]})


def test_labels_read_the_spellings_people_write():
    assert State("Not satisfied") is State.NOT_SATISFIED
    assert Decision("Insufficient evidence") is Decision.INSUFFICIENT
    assert Decision(True) is Decision.YES
    for word in ("perhaps", "no evidence", "yes evidence"):
        with pytest.raises(ValueError, match=word):
            Decision(word)
