"""The case page: the same judgments as anywhere else, for any states, and nothing else to run."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path

import pytest
from benchmarks.review import long_cases
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interpact.case.case import Case, LabelledCase
from interpact.case.expressions import Expression
from interpact.case.files import case_data, case_from
from interpact.case.states import Decision, State
from interpact.judging.judge import judge
from interpact.judging.view import View
from interpact.review.web.app import create_app
from tests.review.conftest import Visitor
from tests.strategies import decide, expressions, rules, states_of

CASES = [Case.load(p) for p in sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))]


@pytest.fixture(scope="module")
def viewer() -> Generator[Visitor]:
    with Visitor(create_app(None, CASES)) as visitor:
        yield visitor


def asked(states: Mapping[int, State]) -> str:
    return "&".join(f"c{n}={state.value[0]}" for n, state in states.items())


def shown_verdicts(page: str) -> list[str]:
    return re.findall(r'class="verdict [^"]*">([^<]+)<', page)


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(1, len(CASES)), st.dictionaries(st.integers(0, 3), st.sampled_from(list(State))))
def test_what_if_shows_what_the_exact_judge_says(
    viewer: Visitor, number: int, states: dict[int, State]
):
    case = CASES[number - 1]
    names = list(case.conditions)
    states = {n: s for n, s in states.items() if n < len(names)}
    page = viewer.get(f"/cases/{number}?{asked(states)}", headers={"hx-request": "true"}).text
    changes = {names[n]: s for n, s in states.items()}
    judgments = judge(case, changes)
    assert shown_verdicts(page) == [j.verdict for j in judgments]
    data = viewer.get(f"/cases/{number}/export.json?{asked(states)}").json()
    assert data["judgments"] == [j.data() for j in judgments]
    assert case_from(data["case"]) == case
    for name, mapping in case.rule_of_decision.mappings(data["states"]).items():
        at = names.index(name)
        told = re.findall(rf'name="c{at}" value="(\w)".*?<small>\w+ (\w+)</small>', page)
        assert dict(told) == {s.value[0]: d.words for s, d in mapping.items()}


@settings(max_examples=30)
@given(expressions([f"c{n}" for n in range(1, 6)]))
def test_the_page_holds_any_rule(expression: object):
    names = sorted(set(re.findall(r"c\d+", str(expression))))
    case = case_from(
        {
            "id": "any",
            "rule": "r",
            "query": "q",
            "aggregation": str(expression),
            "conditions": {name: f"text of {name}" for name in names},
            "evidence": [{"id": f"e-{n}", "conditions": [n], "text": n} for n in names],
        }
    )
    page = Visitor(create_app(None, [case])).get("/cases/1")
    assert page.status_code == 200
    assert page.text.count("<fieldset") == len(names)
    assert "No states are known" in page.text


def test_smallest_changes_of_a_large_rule_are_looked_for_when_asked():
    case = long_cases()["all of 200"]
    viewer = Visitor(create_app(None, [case]))
    assert "Smallest changes" not in viewer.get("/cases/1").text
    asked_for = viewer.get("/cases/1?sets=1").text
    assert "Smallest changes" in asked_for and 'name="sets" value="1" checked' in asked_for


def test_estimated_states_are_used_and_asked_for_once():
    case = CASES[0].text_only()
    calls: list[str] = []

    def estimate(given: Case) -> Mapping[str, Sequence[float]]:
        assert not isinstance(given, LabelledCase)
        calls.append(given.id)
        return dict.fromkeys(given.conditions, (0.1, 0.6, 0.3))

    viewer = Visitor(create_app(None, [case], estimate=estimate))
    data = viewer.get("/cases/1/export.json").json()
    assert set(data["states"].values()) == {"not_satisfied"}
    chances = dict.fromkeys(case.conditions, (0.1, 0.6, 0.3))
    rule = case.rule_of_decision
    assert data["estimates"]["decision"] == {
        d.value: p for d, p in rule.decision_chances(chances).items()
    }
    assert data["estimates"]["pivotal"] == rule.pivotal_chances(chances)
    viewer.get("/cases/1?c0=s")
    assert calls == [case.id]


def test_the_estimator_never_sees_labels():
    seen: list[Case] = []

    def estimate(given: Case) -> Mapping[str, Sequence[float]]:
        seen.append(given)
        return dict.fromkeys(given.conditions, (1.0, 0.0, 0.0))

    page = Visitor(create_app(None, CASES, estimate=estimate)).get("/cases/1").text
    assert "States as annotated" in page and "estimated satisfied 1.00" in page
    assert not isinstance(seen[0], LabelledCase)


def test_the_exported_page_runs_nothing_and_asks_for_nothing(viewer: Visitor):
    page = viewer.get("/cases/1/export.html?c0=u")
    assert page.headers["content-disposition"].startswith("attachment")
    assert "<script" not in page.text and not re.search(r'(src|href)="', page.text)
    assert "default-src 'none'" in page.text


@pytest.mark.parametrize("ending", [".yaml", ".json", ".jsonl"])
def test_a_case_is_opened_by_its_owner_alone(ending: str):
    import io

    from interpact.case.formats import dump_yaml

    app = create_app(None, [])
    one, two = Visitor(app), Visitor(app)
    out = io.StringIO()
    dump_yaml([case_data(CASES[1])], out)
    text = out.getvalue() if ending == ".yaml" else json.dumps(case_data(CASES[1]))
    answer = one.post(
        "/cases", data={"csrf": one.token("/cases")}, files={"file": (f"x{ending}", text.encode())}
    )
    assert answer.status_code == 200 and answer.url.path.startswith("/cases/u-")
    assert shown_verdicts(answer.text) == [j.verdict for j in judge(CASES[1])]
    two.token("/cases")
    assert two.get(answer.url.path).status_code == 404
    assert answer.url.path in one.get("/cases").text
    assert answer.url.path not in two.get("/cases").text


BAD = {
    "empty.yaml": (b"", "no case"),
    "two.yaml": (b"a: 1\n---\nb: 2\n", "is missing"),
    "notes.txt": (b"hello", "not .txt"),
    "case": (b"{}", "without an ending"),
    "bomb.zip": (b"PK\x03\x04", "not .zip"),
    "table.parquet": (b"PAR1", "Parquet"),
    "deep.json": (b"[" * 100_000, "nested"),
    "alias.yaml": (b"a: &x [1]\nb: [*x, *x]\n", "alias"),
    "binary.json": (bytes(range(256)), "UTF-8"),
    "tagged.yaml": (b"!!python/object/apply:os.system ['true']\n", "tag"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_is_no_case_is_told_in_words(viewer: Visitor, name: str):
    content, told = BAD[name]
    answer = viewer.post(
        "/cases", data={"csrf": viewer.token("/cases")}, files={"file": (name, content)}
    )
    assert answer.status_code == 422
    assert told.lower() in answer.text.lower()
    assert "/tmp" not in answer.text and "Traceback" not in answer.text


def test_cases_are_found_and_paged():
    many = [CASES[0].model_copy(update={"id": f"case-{n}"}) for n in range(120)]
    viewer = Visitor(create_app(None, many))
    first = viewer.get("/cases").text
    assert first.count('<li><a href="/cases/') == 50 and "page 1 of 3" in first
    assert viewer.get("/cases?page=3").text.count('<li><a href="/cases/') == 20
    assert viewer.get("/cases?find=CASE-77").text.count('<li><a href="/cases/') == 1
    assert "No case with these words" in viewer.get("/cases?find=nothing").text


def test_the_api_of_others_is_mounted_and_guarded(store, team):
    from fastapi import APIRouter

    router = APIRouter()
    router.add_api_route("/v1/judge", lambda: {"judged": True}, methods=["POST"])
    open_to_all = Visitor(create_app(None, [], routers=[router]))
    assert open_to_all.post("/v1/judge").json() == {"judged": True}
    ben = Visitor(create_app(store, [], routers=[router]))
    assert ben.post("/v1/judge").status_code == 401
    ben.sign_in("ben")
    assert ben.post("/v1/judge").json() == {"judged": True}


@given(rules(), st.data())
def test_the_tree_shows_the_value_of_every_part(
    rule: tuple[Expression, list[str]], data: st.DataObject
):
    expression, names = rule
    states = data.draw(states_of(names))
    case = case_from(
        {
            "id": "any",
            "rule": "r",
            "query": "q",
            "aggregation": str(expression),
            "conditions": dict.fromkeys(names, "text"),
            "evidence": [],
        }
    )
    of = {Decision.YES: "satisfied", Decision.NO: "not_satisfied", Decision.INSUFFICIENT: "unknown"}
    assert View(case, states, []).tree.state == of[decide(expression, states)]
