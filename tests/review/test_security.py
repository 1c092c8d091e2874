"""Strangers, nosy colleagues and hostile files: what they must not get."""

from __future__ import annotations

import gzip
import html
import json
import re
import string
from collections.abc import Iterator
from contextlib import closing
from html.parser import HTMLParser
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import pytest

from interpact.case.case import LabelledCase
from interpact.case.files import case_data, case_from
from interpact.corpus.store import Corpus
from interpact.review.people import People, Person
from interpact.review.questions import Kind
from interpact.review.store import Store
from interpact.review.versions import NewItem, Queue
from interpact.review.web.app import create_app
from interpact.review.web.guard import POLICY
from tests.review.conftest import GOOD, PASSWORD, Visitor, read, served


@pytest.fixture
def app(store: Store, corpus: Corpus, audit: Queue, team: dict[str, Person]) -> Any:
    for name in ("ben", "cid", "dora"):
        read(store, "audit", team[name], [GOOD | {"comment": "x"}])
    store.next_position("audit", team["ben"].id)
    return create_app(store, corpus.cases.values())


def visitor(app: Any, name: str | None = None) -> Visitor:
    found = Visitor(app)
    if name is not None:
        assert found.sign_in(name).status_code == 200
    return found


ITEM, UNDO = "/queues/{name}/{position}", "/queues/{name}/{position}/undo"
ANYBODY = {"/", "/login", "/join/{token}"}
SIGNED_IN = {"/cases", "/cases/{key}", "/cases/{key}/export.html", "/cases/{key}/export.json", "/logout"}  # fmt: skip
READERS = {"/queues", "/queues/{name}/next", "/queues/{name}/done", ITEM, UNDO}
ADMINS = {
    *("/admin", "/admin/people", "/admin/people/{id}/invite", "/admin/people/{id}/disable"),
    *("/admin/queues/{name}", "/admin/queues/{name}/report", "/admin/queues/{name}/report.md"),
    *(f"/admin{ITEM}", f"/admin{UNDO}", "/admin/queues/{name}/release/{id}"),
}


def routes(app: Any) -> Iterator[tuple[str, str]]:
    for path, methods in app.openapi()["paths"].items():
        for method in methods:
            yield method.upper(), path


def test_every_route_is_known_to_this_file(app: Any):
    assert {path for _, path in routes(app)} == ANYBODY | SIGNED_IN | READERS | ADMINS


def ask(who: Visitor, method: str, path: str, token: str) -> Any:
    where = path.format(name="audit", position=2, id=1, key=1, token="x" * 43)
    fields = {"csrf": token, "base": "0", "question": "state", "value": "unknown", "reason": "r"}
    fields |= {"name": "zoe", "password": PASSWORD, **GOOD}
    data = fields if method == "POST" else None
    return who.request(method, where, data=data, follow_redirects=False)


def test_strangers_get_no_further_than_the_door(app: Any, store: Store):
    stranger = visitor(app)
    before = dump(store)
    for method, path in routes(app):
        answer = ask(stranger, method, path, stranger.token("/login"))
        if path == "/logout":
            assert answer.headers["location"] == "/login"
        elif path in ANYBODY:
            assert answer.status_code in (200, 303, 403, 404)
        elif method == "GET":
            assert (answer.status_code, answer.headers["location"]) == (303, "/login"), path
        else:
            assert answer.status_code == 401, path
        assert "Oduya" not in answer.text and "ada" not in answer.text
    assert dump(store) | {"failures": []} == before


def test_a_reader_reads_only_what_is_theirs(app: Any, store: Store):
    cid = visitor(app, "cid")
    token = cid.token("/queues")
    before = dump(store)
    for method, path in routes(app):
        if path in ADMINS:
            assert ask(cid, method, path, token).status_code == 403, path
        elif path in (ITEM, UNDO):
            assert ask(cid, method, path, token).status_code == 404  # item 2 is ben's
    assert dump(store) == before


def test_an_admin_does_not_read_and_a_reader_does_not_rule(app: Any, store: Store):
    ada = visitor(app, "ada")
    token = ada.token("/admin")
    for method, path in routes(app):
        if path in READERS:
            assert ask(ada, method, path, token).status_code == 403, path
    assert ask(ada, "GET", f"/admin{ITEM}", token).status_code == 404  # not finished by all
    assert ask(ada, "POST", f"/admin{ITEM}", token).status_code in (404, 422)


def dump(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    tables = [
        r[0] for r in store.database.all("SELECT name FROM sqlite_master WHERE type = 'table'")
    ]
    return {t: [tuple(r) for r in store.database.all(f"SELECT * FROM {t}")] for t in tables}


def test_no_form_is_taken_without_its_token(app: Any, store: Store):
    for name in ("ben", "ada", None):
        who, other = visitor(app, name), visitor(app, "cid")
        foreign = other.token("/queues")
        own = who.token("/login" if name is None else "/")
        before = dump(store)
        for method, path in routes(app):
            if method != "POST":
                continue
            for token in ("", "0" * 64, foreign, own[:-1], "é" * 10):
                answer = ask(who, "POST", path, token)
                assert answer.status_code in (401, 403, 404), (path, token)
        assert dump(store) == before
    for origin in ("http://evil.example", "http://testserver.evil.example", "https://testserver:1"):
        answer = visitor(app).post("/login", headers={"origin": origin})
        assert answer.status_code == 403 and "other sites" in answer.text


def test_signing_in_and_out_changes_the_cookie(app: Any):
    """A cookie that somebody planted beforehand is worth nothing afterwards."""
    ben = Visitor(app)
    planted = "p" * 43
    ben.cookies.set("interpact", planted)
    ben.sign_in("ben")
    assert ben.cookies.get("interpact", domain="testserver.local") != planted
    attacker = Visitor(app)
    attacker.cookies.set("interpact", planted)
    assert attacker.get("/queues", follow_redirects=False).status_code == 303
    stolen = ben.cookies.get("interpact", domain="testserver.local")
    ben.fill("/logout", "/queues")
    attacker.cookies.set("interpact", stolen or "")
    assert attacker.get("/queues", follow_redirects=False).status_code == 303


def test_cookies_are_out_of_reach(app: Any):
    plain = Visitor(app).get("/login").headers["set-cookie"]
    assert "HttpOnly" in plain and "SameSite=Lax" in plain and "Secure" not in plain
    safe = Visitor(app, "https://testserver").get("/login")
    assert "Secure" in safe.headers["set-cookie"]
    assert "strict-transport-security" in safe.headers


def test_every_answer_carries_the_policy(app: Any):
    ben = visitor(app, "ben")
    for where in ("/", "/queues", "/static/style.css", "/static/nothing", "/nothing", "/queues/audit/2",
                  "/openapi.json"):  # fmt: skip
        headers = ben.get(where).headers
        assert headers["content-security-policy"] == POLICY
        assert headers["x-content-type-options"] == "nosniff"
        assert "no-store" in headers["cache-control"] or where == "/static/style.css"
    assert "unsafe" not in POLICY and "*" not in POLICY


def test_too_many_wrong_passwords_are_refused(app: Any):
    who = Visitor(app)
    answers = [who.fill("/login", name="ben", password="wrong password") for _ in range(7)]
    assert [a.status_code for a in answers] == [403] * 5 + [429] * 2
    assert answers[-1].headers["retry-after"] == "900"
    assert who.sign_in("ben").status_code == 429


def test_somebody_shut_out_is_out_at_once(app: Any, store: Store, team: dict[str, Person]):
    ben, ada = visitor(app, "ben"), visitor(app, "ada")
    assert ben.get("/queues").status_code == 200
    ada.fill(f"/admin/people/{team['ben'].id}/disable", "/admin", disabled="true")
    assert ben.get("/queues", follow_redirects=False).status_code == 303
    assert Visitor(app).sign_in("ben").status_code == 403
    assert ada.fill(f"/admin/people/{team['ada'].id}/disable", "/admin").status_code == 422
    log = store.database.all("SELECT person, what FROM log")
    assert [tuple(row) for row in log] == [("ada", "disabled ben")]


# ---- Hostile texts ---------------------------------------------------------------------------------

ATTACKS = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onfocus='alert(1)' autofocus='",
    "</textarea></title></style><svg/onload=alert(1)>",
    "javascript:alert(1)",
    "{{ 31337*31337 }}{% raw %}${31337*31337}",
    "<a hx-get=/admin hx-trigger=load>x</a>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
]


class Tags(HTMLParser):
    """The tags and attributes of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [(tag, name, value or "") for name, value in attrs] or [(tag, "", "")]


def check_page(text: str, attack: str) -> None:
    """The attack is text, or the value of an attribute that holds text; it makes nothing."""
    for tag, name, value in Tags(text).found:
        assert tag not in ("img", "svg", "iframe", "object", "base", "style")
        assert not name.startswith("on")
        if tag == "script":
            assert value in ("/static/htmx.min.js", "/static/app.js", "")
        if name in ("href", "src", "action", "hx-get", "hx-post"):
            assert value.startswith(("/", "#", "?", "http://testserver/")) and attack not in value
    assert html.escape(attack, quote=False) in text.replace("&#39;", "'").replace("&#34;", '"')
    assert str(31337 * 31337) not in text


def attacked(attack: str) -> LabelledCase:
    return LabelledCase.model_validate(
        {
            "id": f"i {attack}",
            "rule": f"r {attack}",
            "query": f"q {attack}",
            "document": attack,
            "source": attack,
            "rule_family": attack,
            "aggregation": "all",
            "conditions": {f"c {attack}": f"t {attack}", "other": f"o {attack}"},
            "evidence": [
                {"id": f"e {attack}", "conditions": [f"c {attack}"], "text": f"x {attack}"},
                {"id": "e2", "conditions": ["other"], "text": attack},
            ],
            "labels": {
                "states": {f"c {attack}": "satisfied", "other": "unknown"},
                "decision": "insufficient",
            },
        }
    )


@pytest.mark.parametrize("attack", ATTACKS)
def test_hostile_texts_of_a_case_stay_texts(attack: str):
    case = attacked(attack)
    viewer = Visitor(create_app(None, [case]))
    check_page(viewer.get("/cases/1?c0=n").text, attack)
    check_page(viewer.get("/cases").text, attack)
    exported = viewer.get("/cases/1/export.html").text
    assert html.escape(attack, quote=False) in exported.replace("&#39;", "'").replace("&#34;", '"')
    assert "<script" not in exported and not re.search("<[^>]* on\\w+=", exported)
    assert viewer.get("/cases/1/export.json").json()["case"] == case_data(case)


@pytest.mark.parametrize("attack", ATTACKS)
def test_hostile_texts_of_an_item_and_of_answers_stay_texts(
    store: Store, team: dict[str, Person], attack: str
):
    case = attacked(attack)
    unit = case.evidence[0]
    shown = {
        "rule": case.rule,
        "query": case.query,
        "aggregation": attack,
        "conditions": dict(case.conditions),
        "target": {"evidence": unit.id, "condition": unit.conditions[0]},
        "states": dict.fromkeys(case.conditions, "unknown"),
        "decision": "insufficient",
        "before": [
            {"id": u.id, "conditions": list(u.conditions), "text": u.text} for u in case.evidence
        ],
        "after": [{"id": unit.id, "text": f"now {attack}"}],
    }
    state = {
        "state_after": "unknown",
        "decisions": dict.fromkeys(("satisfied", "not_satisfied", "unknown", attack), "yes"),
    }
    store.add_queue(
        "audit", Kind.AUDIT, [NewItem(f"k {attack}", shown, {"operation": "removal"}, state)], {}
    )
    app = create_app(store)
    for name in ("ben", "cid", "dora"):
        answer = GOOD | {"state": "unknown" if name == "ben" else "satisfied"}
        read(store, "audit", team[name], [answer])
        store.save("audit", 1, team[name].id, 5, "comment", attack)
    ben, ada = visitor(app, "ben"), visitor(app, "ada")
    check_page(ben.get("/queues/audit/1").text, attack)
    ada.fill("/admin/queues/audit/1", base="0", reason=attack, **GOOD)
    check_page(ada.get("/admin/queues/audit/1").text, attack)
    check_page(ada.get("/admin/queues/audit/report").text, attack)
    reflected = ada.fill("/admin/people", "/admin", name=attack)
    assert attack not in reflected.text or "<" not in attack
    again = Visitor(app).fill("/login", name=attack, password="wrong password")
    check_page(again.text, attack)


# ---- Hostile requests ------------------------------------------------------------------------------


def test_paths_lead_nowhere_else(app: Any):
    ben = visitor(app, "ben")
    for where in (
        "/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static//etc/passwd",
        "/static/%2fetc%2fpasswd", "/static/....//app.py", "/static/..\\app.py", "/static/%00",
        "/cases/..%2f..%2fetc%2fpasswd", "/cases/%00", "/queues/..%2fadmin/1", "/queues/audit/%2e%2e",
        "/join/..%2f..%2fadmin",
    ):  # fmt: skip
        answer = ben.get(where)
        assert answer.status_code in (404, 403, 422, 405), where
        assert "create_app" not in answer.text and "root:" not in answer.text
    assert ben.get("/static/htmx.min.js").status_code == 200


@pytest.mark.parametrize(
    "name", ["../../x.yaml", "/etc/x.yaml", "x\x00.yaml", "a" * 5000 + ".yaml", "..", ""]
)
def test_names_of_uploads_are_only_names(name: str):
    viewer = Visitor(create_app(None, []))
    content = json.dumps(case_data(attacked("x"))).encode()
    answer = viewer.post(
        "/cases", data={"csrf": viewer.token("/cases")}, files={"file": (name, content)}
    )
    assert answer.status_code in (200, 400, 422)


def test_a_hundred_megabytes_are_refused_unread(app: Any):
    part = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.json"\r\n\r\n'
    with served(app) as address:
        place = urlsplit(address).netloc
        with closing(HTTPConnection(place, timeout=10)) as declared:
            declared.request("POST", "/cases", body=b"x", headers={"Content-Length": "100000000"})
            assert declared.getresponse().status == 413
        with closing(HTTPConnection(place, timeout=10)) as chunked:
            chunked.putrequest("POST", "/cases")
            chunked.putheader("Transfer-Encoding", "chunked")
            chunked.putheader("Content-Type", "multipart/form-data; boundary=x")
            chunked.endheaders()
            sent = 0
            try:
                for block in (part, *[b"a" * 100_000] * 1000):
                    chunked.send(b"%x\r\n%s\r\n" % (len(block), block))
                    sent += len(block)
            except OSError:
                assert sent < 50_000_000  # the server has had enough
            try:
                assert chunked.getresponse().status == 413
            except OSError:
                assert sent < 50_000_000


def test_compressed_bodies_are_refused(app: Any):
    ben = visitor(app, "ben")
    bomb = gzip.compress(b"0" * 20_000_000)
    for encoding in ("gzip", "deflate", "br", "zstd"):
        answer = ben.post("/cases", content=bomb, headers={"content-encoding": encoding})
        assert answer.status_code == 415
    answer = ben.post(
        "/cases", data={"csrf": ben.token("/cases")}, files={"file": ("case.json", bomb)}
    )
    assert answer.status_code == 422


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/json", b'{"csrf": 1}'),
        ("multipart/form-data", b"no boundary"),
        ("multipart/form-data; boundary=x", b"--x\r\nnothing"),
        ("application/x-www-form-urlencoded", b"\xff\xfe&&&=&csrf=%ff"),
        ("text/xml", b"<!DOCTYPE x [<!ENTITY a 'b'>]><x>&a;</x>"),
    ],
)  # fmt: skip
def test_bodies_of_other_kinds_are_refused_in_words(app: Any, kind: str, body: bytes):
    ben = visitor(app, "ben")
    for where in ("/queues/audit/2", "/cases", "/login", "/logout", "/queues/audit/2/undo"):
        answer = ben.post(where, content=body, headers={"content-type": kind})
        assert answer.status_code in (400, 403, 422), where
        assert "Traceback" not in answer.text


def test_wrong_values_are_refused_in_words(app: Any):
    ben = visitor(app, "ben")
    token = ben.token("/queues")
    for fields in (
        {"base": "x"}, {"base": "-1"}, {"base": "9" * 40}, {"base": ""}, {"question": "x" * 100},
        {"value": "y" * 30_000}, {"question": "state", "value": "\x00"}, {"question": ""},
    ):  # fmt: skip
        data = {"csrf": token, "base": "0", "question": "state", "value": "no", **fields}
        assert ben.post("/queues/audit/2", data=data).status_code == 422, fields
    for where in (
        "/queues/audit/0",
        "/queues/audit/-1",
        "/queues/audit/1e3",
        "/queues/audit/" + "9" * 50,
    ):
        assert ben.get(where).status_code in (404, 422)
    assert ben.get("/queues/nothing/1").status_code == 404
    assert ben.post("/queues/nothing/next", data={"csrf": token}).status_code == 404


def test_the_server_answers_to_its_own_names_only():
    """A page of another site that has its name resolved to this machine gets nothing."""
    app = create_app(None, [attacked("x")], hosts=["127.0.0.1", "localhost", "::1"])
    for host, status in (("localhost", 200), ("127.0.0.1:8000", 200), ("[::1]:8000", 200),
                         ("evil.example", 400), ("localhost.evil.example", 400), ("", 400), ("[", 400)):  # fmt: skip
        assert Visitor(app).get("/cases", headers={"host": host}).status_code == status, host


def test_invitations_work_once(app: Any, store: Store, team: dict[str, Person]):
    token = People(store.database, store.clock).invite(team["ben"].id)
    first, second = Visitor(app), Visitor(app)
    assert second.get(f"/join/{token}").status_code == 200
    csrf = second.token(f"/join/{token}")
    assert first.fill(f"/join/{token}", password="a new long password").url.path == "/queues"
    late = second.post(f"/join/{token}", data={"csrf": csrf, "password": "mine, all mine now"})
    assert late.status_code == 404
    assert second.sign_in("ben", "a new long password").status_code == 200
    for guess in ("", "x", "%2e%2e", token[:-1], token.swapcase()):
        assert Visitor(app).get(f"/join/{guess}").status_code == 404


def test_uploads_do_not_fill_the_memory():
    from interpact.review.web.desk import MAX_UPLOADS, Shelf

    shelf = Shelf()
    case = case_from(case_data(attacked("x")))
    first = shelf.add(case, "a")
    for _ in range(MAX_UPLOADS):
        shelf.add(case, "b")
    assert shelf.find(first.key) is None and len(shelf.uploads("b")) == MAX_UPLOADS
    assert set(first.key) <= set(string.ascii_letters + string.digits + "-_")
