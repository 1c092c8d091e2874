"""The HTTP API: answers, limits, keys, errors, and many clients at once."""

from __future__ import annotations

import asyncio
import json
import threading
import time

import httpx2 as httpx
import pytest

from interpact import case_from
from interpact.case.files import case_data
from interpact.judging.api import Limits, api_app, view_data
from interpact.judging.settings import JudgeSettings
from interpact.judging.verifier import Verifier
from tests.judging.test_propagate import Scripted, case_of

JSON = {"Content-Type": "application/json"}


def judged(app, requests, headers=None):
    """The responses to requests that are sent at once."""

    async def run():
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://api") as client:
            return await asyncio.gather(
                *(
                    client.request(method, path, content=body, headers=JSON | (headers or {}))
                    for method, path, body in requests
                )
            )

    return asyncio.run(run())


def post(data, path="/v1/judge"):
    return ("POST", path, data if isinstance(data, bytes) else json.dumps(data).encode())


def sure(case, condition):
    return (0.9, 0.06, 0.04)


@pytest.fixture
def app():
    return api_app(Verifier(Scripted(sure), JudgeSettings(), "scripted"))


def test_a_case_is_judged_as_in_python(app):
    case = case_of()
    (response,) = judged(app, [post({"case": case_data(case)})])
    assert response.status_code == 200
    verifier = Verifier(Scripted(sure), JudgeSettings())
    (view,) = verifier.views([case])
    assert response.json() == json.loads(json.dumps(view_data(view)))
    assert response.json()["mode"] == "propagate"
    states = {"c1": "satisfied", "c2": "not_satisfied"}
    (response,) = judged(app, [post({"case": case_data(case), "states": states})])
    assert response.json()["mode"] == "exact"
    assert response.json()["decision"] == "no"


def test_a_batch_tells_of_each_case(app):
    cases = [case_data(case_of()), {"id": "x"}, case_data(case_of())]
    (response,) = judged(app, [post({"cases": cases}, "/v1/judge/batch")])
    first, second, third = response.json()["results"]
    assert first == third and len(first["judgments"]) == 2
    assert second["error"]["code"] == "case" and second["error"]["problems"]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"{", 400, "json"),
        (b"\xff", 400, "json"),
        (b"[1]", 422, "request"),
        ({"case": {"id": "x"}}, 422, "case"),
        ({"case": case_data(case_of()), "mode": "guess"}, 422, "mode"),
        ({"case": case_data(case_of()), "states": {"c1": "maybe"}}, 422, "request"),
        ({"case": case_data(case_of()), "states": {"c9": "unknown"}}, 422, "case"),
        ({"case": case_data(case_of()), "risk": 0.1}, 422, "judge"),
        ({"case": case_data(case_of()), "colour": "red"}, 422, "request"),
        (b" " * 3_000_000, 413, "too_large"),
    ],
)
def test_errors_are_structured(app, body, status, code):
    (response,) = judged(app, [post(body)])
    assert (response.status_code, response.json()["error"]["code"]) == (status, code)
    assert response.json()["error"]["message"]


def test_other_sites_cannot_make_a_browser_ask(app):
    body = post({"case": case_data(case_of())})
    (response,) = judged(app, [body], {"Content-Type": "text/plain"})
    assert (response.status_code, response.json()["error"]["code"]) == (415, "content_type")


def test_a_body_without_a_length_is_cut_off_too(app):
    async def endless():
        while True:
            yield b" " * 100_000

    async def run():
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://api") as client:
            return await client.post("/v1/judge", content=endless(), headers=JSON)

    assert asyncio.run(run()).status_code == 413


def test_batches_are_bounded(app):
    cases = [case_data(case_of())] * 101
    (response,) = judged(app, [post({"cases": cases}, "/v1/judge/batch")])
    assert response.status_code == 413


def test_a_key_is_wanted_where_one_is_set():
    app = api_app(Verifier(Scripted(sure), JudgeSettings()), key="ké")
    body = post({"case": case_data(case_of())})
    assert judged(app, [body])[0].status_code == 401
    wrong = {"Authorization": "Bearer no"}
    assert judged(app, [body], wrong)[0].status_code == 401
    app = api_app(Verifier(Scripted(sure), JudgeSettings()), key="key")
    assert judged(app, [body], {"Authorization": "Bearer key"})[0].status_code == 200
    assert judged(app, [("GET", "/v1/health", b"")])[0].json()["status"] == "ok"


def test_slow_work_times_out_and_a_flood_is_refused():
    def slow(case, condition):
        time.sleep(0.05)
        return sure(case, condition)

    app = api_app(Verifier(Scripted(slow), JudgeSettings()), Limits(seconds=0.6, waiting=4))
    responses = judged(app, [post({"case": case_data(case_of())})] * 12)
    statuses = sorted(r.status_code for r in responses)
    assert statuses == [200] * 4 + [503] * 8
    assert all(r.headers["retry-after"] for r in responses if r.status_code == 503)
    app = api_app(Verifier(Scripted(slow), JudgeSettings()), Limits(seconds=0.12))
    statuses = [r.status_code for r in judged(app, [post({"case": case_data(case_of())})] * 3)]
    assert 504 in statuses


def test_without_a_verifier_only_given_states_are_judged():
    app = api_app(None)
    case = case_data(case_of())
    states = {"c1": "satisfied", "c2": "satisfied"}
    bodies = [post({"case": case}), post({"case": case, "states": states})]
    assert [r.status_code for r in judged(app, bodies)] == [503, 200]


def test_many_clients_get_their_own_answers():
    def told(case, condition):
        share = int(case.id) / 1000
        return (share, 1 - share, 0.0)

    app = api_app(Verifier(Scripted(told), JudgeSettings()), Limits(waiting=1000))
    cases = [case_of().model_copy(update={"id": str(n)}) for n in range(300)]
    responses = judged(app, [post({"case": case_data(c)}) for c in cases])
    for case, response in zip(cases, responses, strict=True):
        data = response.json()
        assert data["case"] == case.id
        assert data["states"]["c1"]["chances"][0] == pytest.approx(int(case.id) / 1000, abs=1e-6)
    assert threading.active_count() < 50


def test_openapi_describes_the_routes(app):
    (response,) = judged(app, [("GET", "/openapi.json", b"")])
    paths = response.json()["paths"]
    assert set(paths) == {"/v1/judge", "/v1/judge/batch", "/v1/health"}
    schema = paths["/v1/judge"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert "case" in schema["properties"]
    assert case_from(case_data(case_of())).id == "case"
