"""The search for the rule of a tree: what it finds, and when it refuses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interpact.case.rules import Rule
from interpact.case.states import Decision, State
from interpact.corpus.sources.sharc_rules import Outcome, States, fit_rule

YES, NO, MORE = Decision.YES, Decision.NO, Decision.INSUFFICIENT
MARKS = {"y": State.SATISFIED, "n": State.NOT_SATISFIED, "?": State.UNKNOWN}


def states(marks: str) -> States:
    return tuple(MARKS[mark] for mark in marks)


def votes(**answers: Decision) -> dict[States, dict[Decision, int]]:
    """Votes by marks: `votes(yn=NO)`; an underscore stands for unknown."""
    return {states(marks.replace("_", "?")): {d: 1} for marks, d in answers.items()}


def decide(aggregation: str, state: States) -> Decision:
    return Rule.parse(aggregation).decide({f"c{i}": s for i, s in enumerate(state, 1)})


def every_state(count: int) -> list[States]:
    return list(product(State, repeat=count))


def flat_rules(count: int) -> list[str]:
    """Every `all` and `any` over signed conditions, as text; of one condition they are the same."""
    signs = product(("", "not "), repeat=count)
    return [
        word.join(f"{sign}c{i}" for i, sign in enumerate(some, 1))
        for some in signs
        for word in ((" and ", " or ") if count > 1 else (" and ",))
    ]


def interview(aggregation: str, count: int) -> dict[States, dict[Decision, int]]:
    """What a tree that asks its questions in order, until the rule decides, shows of the rule."""
    seen: dict[States, dict[Decision, int]] = {}
    pending = [(State.UNKNOWN,) * count]
    while pending:
        state = pending.pop()
        decision = decide(aggregation, state)
        seen[state] = {decision: 1}
        if decision is MORE:
            at = state.index(State.UNKNOWN)
            pending += [
                (*state[:at], answer, *state[at + 1 :])
                for answer in (State.SATISFIED, State.NOT_SATISFIED)
            ]
    return seen


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_an_interview_settles_every_signed_rule(count: int) -> None:
    for rule in flat_rules(count):
        found = fit_rule(interview(rule, count)).aggregation
        assert found is not None
        assert all(decide(found, state) is decide(rule, state) for state in every_state(count))


@pytest.mark.parametrize(
    ("rule", "outcome", "written"),
    [
        ("c1", Outcome.ONE, "all"),
        ("not c1", Outcome.ONE, "not c1"),
        ("c1 and c2", Outcome.FLAT, "all"),
        ("c1 or c2 or c3", Outcome.FLAT, "any"),
        ("c1 and not c2", Outcome.SIGNED, "c1 and not c2"),
        ("c1 and (c2 or not c3)", Outcome.NESTED, "c1 and (c2 or not c3)"),
        ("c1 and c2 or c3 and c4", Outcome.NESTED, "c1 and c2 or c3 and c4"),
        ("c1 and (c2 or c3) or c2 and c3", Outcome.NESTED, None),
    ],
)
def test_the_form_of_a_rule_is_told(rule: str, outcome: Outcome, written: str | None) -> None:
    count = max(int(character) for character in rule if character.isdigit())
    fit = fit_rule({state: {decide(rule, state): 1} for state in every_state(count)})
    assert fit.outcome is outcome
    assert fit.aggregation is not None
    assert written in (None, fit.aggregation)
    assert all(
        decide(fit.aggregation, state) is decide(rule, state) for state in every_state(count)
    )


def completions(state: States) -> Iterator[States]:
    known = (State.SATISFIED, State.NOT_SATISFIED)
    yield from product(*(known if s is State.UNKNOWN else (s,) for s in state))


@st.composite
def random_votes(draw: st.DrawFn) -> dict[States, dict[Decision, int]]:
    """Some states of a random function with its answers, and now and then other answers."""
    count = draw(st.integers(1, 3))
    full = [s for s in every_state(count) if State.UNKNOWN not in s]
    function = dict(zip(full, draw(st.tuples(*[st.booleans()] * len(full))), strict=True))
    found: dict[States, dict[Decision, int]] = {}
    for state in draw(st.lists(st.sampled_from(every_state(count)), min_size=1, unique=True)):
        values = {function[c] for c in completions(state)}
        answer = MORE if len(values) > 1 else YES if True in values else NO
        noise = draw(st.sampled_from([{}] * 6 + [{d: n} for d in Decision for n in (1, 3)]))
        found[state] = {answer: 2} | noise
    return found


@given(random_votes())
def test_flat_rules_are_found_as_by_trying_each(
    some: dict[States, dict[Decision, int]],
) -> None:
    count = len(next(iter(some)))
    clear = {state: next(iter(d)) for state, d in some.items() if len(d) == 1}
    fitting = [
        rule
        for rule in flat_rules(count)
        if all(decide(rule, state) is decision for state, decision in clear.items())
    ]
    fit = fit_rule(some)
    if len(fitting) > 1:
        assert fit.outcome is Outcome.SEVERAL
    elif len(fitting) == 1 and fit.outcome is not Outcome.OUTVOTED:
        assert fit.outcome in (Outcome.ONE, Outcome.FLAT, Outcome.SIGNED)
        assert fit.aggregation is not None
        for state in every_state(count):
            assert decide(fit.aggregation, state) is decide(fitting[0], state)
    elif not fitting:
        assert fit.outcome not in (Outcome.ONE, Outcome.FLAT, Outcome.SIGNED)


@given(random_votes())
def test_a_rule_gives_every_clear_answer_and_no_outvoted_one(
    some: dict[States, dict[Decision, int]],
) -> None:
    fit = fit_rule(some)
    if fit.aggregation is not None:
        for state, given_answers in some.items():
            answer = decide(fit.aggregation, state)
            assert given_answers.get(answer) == max(given_answers.values())


@given(random_votes())
def test_a_rule_decides_once_all_completions_agree(
    some: dict[States, dict[Decision, int]],
) -> None:
    fit = fit_rule(some)
    if fit.aggregation is not None:
        for state in every_state(len(next(iter(some)))):
            agreed = {decide(fit.aggregation, full) for full in completions(state)}
            expected = agreed.pop() if len(agreed) == 1 else MORE
            assert decide(fit.aggregation, state) is expected


def test_every_small_function_of_three_conditions_is_found_and_nothing_else() -> None:
    full = [state for state in every_state(3) if State.UNKNOWN not in state]
    found = 0
    for values in product((YES, NO), repeat=len(full)):
        function = dict(zip(full, values, strict=True))
        answers = {s: {function[c] for c in completions(s)} for s in every_state(3)}
        expected = {s: a.pop() if len(a) == 1 else MORE for s, a in answers.items()}
        fit = fit_rule({state: {decision: 1} for state, decision in expected.items()})
        if fit.aggregation is not None:
            found += 1
            assert {s: decide(fit.aggregation, s) for s in expected} == expected
        else:
            assert fit.outcome is Outcome.NONE
    # Of the 218 functions that use all three conditions, 18 (parity and its like) need more than
    # six literals.
    assert found == 200


def test_one_of_two_ways_to_qualify_is_a_nested_rule() -> None:
    fit = fit_rule(
        votes(
            ____=MORE,
            y___=MORE,
            y_y_=YES,
            y_n_=NO,
            n___=MORE,
            nn__=NO,
            ny__=MORE,
            ny_y=YES,
            ny_n=NO,
        )
    )
    assert fit.outcome is Outcome.NESTED
    assert fit.aggregation is not None
    # Whichever of the two it is, both ways end well.
    assert decide(fit.aggregation, states("?yyy")) is YES
    assert decide(fit.aggregation, states("?nn?")) is NO


UNKNOWN_SIGN: Mapping[str, dict[States, dict[Decision, int]]] = {
    "nothing answered": votes(__=MORE),
    "a condition never answered": votes(__=MORE, n_=NO, y_=MORE),
    "only one branch": votes(__=MORE, nn=NO),
    "no clear state": {states("?"): {YES: 1, NO: 1}},
}


@pytest.mark.parametrize("name", UNKNOWN_SIGN)
def test_rules_that_the_answers_do_not_tell_apart_are_several(name: str) -> None:
    assert fit_rule(UNKNOWN_SIGN[name]).outcome is Outcome.SEVERAL


def test_answers_that_never_differ_have_no_rule() -> None:
    assert fit_rule(votes(_=MORE, y=YES, n=YES)).outcome is Outcome.NONE
    assert fit_rule(votes(__=MORE, n_=YES, y_=MORE, yn=YES, yy=YES)).outcome is Outcome.NONE


def test_a_rule_that_only_fits_without_the_contradictory_states_is_refused() -> None:
    undisputed = votes(__=MORE, n_=MORE, nn=NO, y_=NO)
    fitting = fit_rule(undisputed)
    assert fitting.aggregation == "not c1 and c2"
    assert fit_rule(undisputed | {states("ny"): {NO: 12, YES: 1}}).outcome is Outcome.OUTVOTED
    assert fit_rule(undisputed | {states("ny"): {NO: 1, YES: 1}}) == fitting
    assert fit_rule(undisputed | {states("ny"): {MORE: 1, YES: 2}}) == fitting


def test_many_questions_are_searched_up_to_a_limit() -> None:
    twelve = " and ".join(f"c{i}" if i != 11 else f"not c{i}" for i in range(1, 13))
    assert fit_rule(interview(twelve, 12)).aggregation == twelve
    thirteen = " or ".join(f"c{i}" for i in range(1, 14))
    assert fit_rule(interview(thirteen, 13)).outcome is Outcome.LARGE
    assert fit_rule({(): {YES: 1}}).outcome is Outcome.EMPTY
    assert fit_rule({}).outcome is Outcome.EMPTY
