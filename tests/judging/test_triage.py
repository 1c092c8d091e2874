"""Triage against enumeration: what a check is worth, the order, the curve, a checker."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings

from interpact import InterPactError, case_from, write_cases
from interpact.case.rules import Rule
from interpact.case.states import Decision, State
from interpact.judging.propagate import read
from interpact.judging.settings import certain
from interpact.judging.triage import Queue, checks, decided, have_checked, plan
from interpact.judging.triage_curve import curves
from tests.cli.test_cases import run
from tests.judging.test_endpoint import LabelStub, serving
from tests.judging.test_propagate import Scripted, assignments, case_of, chance, predicted


def reading_of(text, names, chances, number=0):
    case = case_of(text, names, [(name,) for name in names])
    case = case.model_copy(update={"id": f"case-{number}"})
    return read([case], Scripted(lambda case, c: chances[c]))[0]


@given(predicted())
@settings(max_examples=40)
def test_a_check_is_worth_the_errors_it_averts(drawn):
    text, names, chances, _ = drawn
    rule = Rule.parse(text)

    def error(known):
        """P(the likeliest decision is wrong), some states known."""
        left = {c: certain(known[c]) if c in known else chances[c] for c in names}
        right = dict.fromkeys(Decision, 0.0)
        for states in assignments(names):
            right[rule.decide(states)] += chance(states, left)
        return 1 - max(right.values())

    for check in checks(reading_of(text, names, chances)):
        q = chances[check.condition]
        after = sum(p * error({check.condition: s}) for p, s in zip(q, State, strict=True))
        assert check.averted == pytest.approx(error({}) - after, abs=1e-9)
        assert check.sharpened >= -1e-9


def test_what_cannot_matter_is_checked_last():
    sure, doubtful = (0.0, 1.0, 0.0), (0.5, 0.4, 0.1)
    fixed = reading_of("all", ["c1", "c2"], {"c1": sure, "c2": doubtful})
    free = reading_of("all", ["c1"], {"c1": (0.7, 0.2, 0.1)}, 1)
    found = plan([fixed, free], 3)
    # c2 of the first case is the least certain, but its decision is no anyway.
    assert (found[0].reading, found[0].condition) == (1, "c1")
    assert found[0].averted == pytest.approx(0.3)
    assert all(c.averted == 0 for c in found[1:])


def test_a_queue_values_anew_what_is_left():
    doubtful = (0.6, 0.3, 0.1)
    queue = Queue([reading_of("all", ["c1", "c2"], {"c1": doubtful, "c2": doubtful})])
    (first,) = queue.take()
    queue.learn(first, certain(State.NOT_SATISFIED))
    (second,) = queue.take()
    assert first.averted > 0 and second.averted == 0
    assert queue.take() == []
    both = Queue(
        [reading_of("all", ["c1", "c2"], {"c1": doubtful, "c2": doubtful}, i) for i in (0, 1)]
    )
    assert [c.reading for c in both.take(4)] == [0, 1]  # one of each case at a time


def labelled_cases(count=40):
    import random

    rng = random.Random(1)
    cases, chances = [], {}
    for i in range(count):
        names = [f"c{j}" for j in range(rng.choice([1, 2, 3]))]
        states = {c: rng.choice(list(State)) for c in names}
        text = rng.choice(["all", "any"])
        cases.append(
            case_from(
                {
                    **case_of(text, names, [(c,) for c in names]).model_dump(
                        mode="json", exclude_none=True
                    ),
                    "id": f"case-{i}",
                    "labels": {"states": states, "decision": Rule.parse(text).decide(states)},
                }
            )
        )
        for c in names:
            said = states[c] if rng.random() < 0.7 else rng.choice(list(State))
            sure = rng.uniform(0.4, 0.95)
            chances[f"case-{i}", c] = tuple(sure if s is said else (1 - sure) / 2 for s in State)
    return cases, Scripted(lambda case, c: chances[case.id, c])


def test_the_curve_begins_unchecked_and_ends_right(tmp_path):
    cases, engine = labelled_cases()
    readings = read([case.text_only() for case in cases], engine, removals=False)
    found = curves(cases, readings)
    start = sum(
        decided(r) is case.labels.decision for r, case in zip(readings, cases, strict=True)
    ) / len(cases)
    for values in found.accuracy.values():
        assert values[0] == pytest.approx(start) and values[-1] == 1.0
        assert len(values) == found.checks + 1
    area = {name: sum(values) for name, values in found.accuracy.items()}
    assert area["errors averted"] > area["random"]
    assert area["errors averted"] >= area["uncertainty"]
    assert found.markdown().splitlines()[2].startswith("| 0 % (0) |")
    found.draw(tmp_path / "curve.png")
    assert (tmp_path / "curve.png").stat().st_size > 5_000


def test_a_checker_is_asked_no_more_than_the_budget_and_learned_from():
    cases, engine = labelled_cases()
    readings = read([case.text_only() for case in cases], engine, removals=False)
    of = {case.id: case.labels.states for case in cases}
    truth = Scripted(lambda case, c: certain(of[case.id][c]))
    checked, after = have_checked(readings, truth, budget=25, at_once=4)
    assert len(checked) == len(truth.asked) == 25
    assert len({(c.check.reading, c.check.condition) for c in checked}) == 25
    right = [
        [decided(r) is case.labels.decision for r, case in zip(some, cases, strict=True)]
        for some in (readings, after)
    ]
    assert sum(right[1]) > sum(right[0])
    silent, unchanged = have_checked(readings, Scripted(lambda case, c: None), budget=5)
    assert [c.after for c in silent] == [None] * 5
    assert [r.chances for r in unchanged] == [r.chances for r in readings]


def test_the_command(calibrated, tmp_path):
    cases, _ = labelled_cases(6)
    path = tmp_path / "cases.jsonl"
    write_cases(path, cases)
    command = ["triage", path, "--verifier", calibrated[0], "--budget", 4]
    out = tmp_path / "checks.jsonl"
    run(*command, "--output", out)
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["rank"] for row in rows] == [1, 2, 3, 4]
    assert sorted((r["errors_averted"] for r in rows), reverse=True) == [
        r["errors_averted"] for r in rows
    ]
    told = run(*command, "--curve", tmp_path / "curve.png")
    assert "| checked | errors averted | uncertainty | criticality | random |" in told
    assert "errors averted" in run(*command).splitlines()[0]

    def right(prompt, nth):
        return "Satisfied", [("S", 0.9), ("Not", 0.05), ("Un", 0.05)]

    with serving(LabelStub(right)) as stub:
        run(*command, "--checker", "big", "--checker-url", stub.base_url, "--output", out)
        rows = [json.loads(line) for line in out.read_text().splitlines()]
        assert len(rows) == 4 >= stub.requests.total() > 0  # equal questions are asked once
        assert {row["checked"] for row in rows} == {"satisfied"}
    write_cases(path, [case.text_only() for case in cases])
    with pytest.raises(InterPactError, match="needs cases with labels"):
        run(*command, "--curve", tmp_path / "curve.png")
