"""Generated requests over the whole OpenAPI: whatever is sent, the server answers in order."""

from __future__ import annotations

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error

from interpact.corpus.store import Corpus
from interpact.review.people import Person
from interpact.review.store import Store
from interpact.review.versions import Queue
from interpact.review.web.app import create_app
from tests.review.conftest import Visitor


@pytest.mark.parametrize("name", [None, "ben", "ada"])
def test_no_request_breaks_the_server(
    store: Store, corpus: Corpus, audit: Queue, team: dict[str, Person], name: str | None
):
    app = create_app(store, corpus.cases.values())
    schema = schemathesis.openapi.from_asgi("/openapi.json", app)
    visitor = Visitor(app)
    if name is not None:
        visitor.sign_in(name)
        store.next_position("audit", team["ben"].id)
    csrf = visitor.token("/" if name else "/login")
    cookies = {"interpact": visitor.cookies.get("interpact", domain="testserver.local")}
    calls = 0
    with visitor:
        for result in schema.get_all_operations():
            operation = result.ok()
            if operation.path == "/logout":
                continue

            @settings(
                max_examples=4, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
            )
            @given(case=operation.as_strategy())
            def check(case: Any) -> None:
                nonlocal calls
                calls += 1
                if isinstance(case.body, dict) and "csrf" in case.body:
                    case.body["csrf"] = csrf
                if "name" in case.path_parameters:
                    case.path_parameters["name"] = "audit"
                if "position" in case.path_parameters and calls % 2:
                    case.path_parameters["position"] = 1
                response = case.call(session=None, cookies=cookies)
                case.validate_response(response, checks=(not_a_server_error,))

            check()
    assert calls > 50
