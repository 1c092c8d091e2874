"""Every flow in a real Chromium, by click and by key, and what people with assistive tools meet.

Screenshots go into the folder that INTERPACT_SCREENSHOTS names, if it names one.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright

from interpact.case.case import Case
from interpact.corpus.store import Corpus
from interpact.judging.judge import judge
from interpact.review.people import People, Person, Role
from interpact.review.queues import queue_roots
from interpact.review.store import Store
from interpact.review.versions import Queue
from interpact.review.web.app import create_app
from tests.review.conftest import GOOD, PASSWORD, read, served

ARGUMENTS = [
    *("--no-sandbox", "--headless=new", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
PHONE = {"width": 375, "height": 740}


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        told = "there is no Chromium; get one with `apt-get install chromium`"
        if os.environ.get("CI") == "true":
            pytest.fail(told)
        pytest.skip(told)
    expect.set_options(timeout=30_000)  # of a busy machine
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


NewPage = Callable[..., Page]


@pytest.fixture
def new_page(browser: Browser) -> Generator[NewPage]:
    """Opens pages that may ask nobody but the server, and whose console must stay silent."""
    contexts = []
    complaints: list[str] = []

    def make(address: str, **options: object) -> Page:
        context = browser.new_context(base_url=address, **options)  # type: ignore[arg-type]
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.on(
            "request",
            lambda r: None if r.url.startswith(address) else complaints.append(f"asked {r.url}"),
        )
        page.on(
            "console",
            lambda m: complaints.append(m.text) if m.type in ("error", "warning") else None,
        )
        page.on("pageerror", lambda error: complaints.append(str(error)))
        return page

    yield make
    for context in contexts:
        context.close()
    # A refused answer and a server that a test takes away are errors for the console too.
    expected = ("status of 4", "net::ERR_FAILED", "ERR_CONNECTION_REFUSED", "htmx:error")
    assert [c for c in complaints if not any(e in c for e in expected)] == []


def shoot(page: Page, name: str) -> None:
    """A picture for people, where one is asked for."""
    folder = os.environ.get("INTERPACT_SCREENSHOTS")
    if folder:
        page.screenshot(path=Path(folder) / f"{name}.png")


def check_access(page: Page) -> None:
    """No serious accessibility problem, and nothing wider than the screen."""
    found = Axe().run(page)
    serious = [
        (v["id"], [n["html"] for n in v["nodes"]][:3])
        for v in found.response["violations"]
        if v["impact"] in ("serious", "critical")
    ]
    assert serious == []
    wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert wide <= 0, f"{wide} pixels too wide"


def verdicts(page: Page) -> list[str]:
    return page.locator(".unit .verdict").all_inner_texts()


@pytest.fixture
def viewer(examples: Path) -> Generator[str]:
    cases = [Case.load(path) for path in sorted(examples.glob("*.yaml"))]
    with served(create_app(None, cases)) as address:
        yield address


def sign_in(page: Page, name: str) -> None:
    page.goto("/login")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


def test_what_if_by_click_shows_at_once_what_becomes_critical(
    viewer: str, new_page: NewPage, examples: Path
):
    case = Case.load(examples / "visa.yaml")
    page = new_page(viewer)
    page.goto("/cases")
    listening(page)
    check_access(page)
    page.get_by_role("link", name=case.query).click()
    assert verdicts(page) == [j.verdict for j in judge(case)]
    check_access(page)
    number = list(case.conditions).index("ban")
    page.locator(f"#c{number}").get_by_text("satisfied", exact=True).click()
    expect(page.get_by_text("what if: 1 set")).to_be_visible()
    changed = judge(case, {"ban": "satisfied"})
    assert verdicts(page) == [j.verdict for j in changed]
    assert {j.verdict for j in changed} == {"critical", "not critical"}
    expect(page.locator(".answer .chip")).to_have_text("no")
    expect(page.locator(".because").first).to_contain_text("ban")
    assert f"c{number}=s" in page.url
    expect(page.locator(f"#c{number}s")).to_be_focused()
    shoot(page, "case-light")
    page.reload()
    assert verdicts(page) == [j.verdict for j in changed]
    page.get_by_role("link", name="Back to the beginning").click()
    assert verdicts(page) == [j.verdict for j in judge(case)]


def test_what_if_by_keyboard_alone(viewer: str, new_page: NewPage, examples: Path):
    case = Case.load(examples / "nda.yaml")
    number = sorted(p.name for p in examples.glob("*.yaml")).index("nda.yaml") + 1
    page = new_page(viewer)
    page.goto(f"/cases/{number}")
    listening(page)
    first, second = list(case.conditions)[:2]
    page.keyboard.press("j")
    page.keyboard.press("3")
    expect(page.get_by_text("what if: 1 set")).to_be_visible()
    assert verdicts(page) == [j.verdict for j in judge(case, {first: "unknown"})]
    expect(page.locator("#c0.chosen")).to_be_visible()
    # Arrow keys move among the states as in any group of radio buttons.
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#c1 :checked")).to_be_focused()
    state = page.locator("#c1 :checked").get_attribute("value")
    named = {"s": "satisfied", "n": "not_satisfied", "u": "unknown"}[state or ""]
    expect(page.locator(f"#c1{state}")).to_be_checked()
    page.wait_for_url(f"**c1={state}*")
    assert verdicts(page) == [j.verdict for j in judge(case, {first: "unknown", second: named})]


def test_the_case_page_on_a_phone_in_the_dark_and_without_scripts(
    viewer: str, new_page: NewPage, examples: Path
):
    phone = new_page(viewer, viewport=PHONE, color_scheme="dark", has_touch=True)
    for number in range(1, len(list(examples.glob("*.yaml"))) + 1):
        phone.goto(f"/cases/{number}")
        listening(phone)
        check_access(phone)
    phone.goto("/cases/6")
    listening(phone)
    shoot(phone, "case-phone-dark")
    light = new_page(viewer, viewport={"width": 1280, "height": 900}, color_scheme="dark")
    light.goto("/cases/6")
    listening(light)
    check_access(light)
    shoot(light, "case-dark")
    plain = new_page(viewer, java_script_enabled=False)
    plain.goto("/cases/6")
    plain.locator("#c0u").check()
    plain.get_by_role("button", name="Show what follows").click()
    expect(plain.locator("#c0u")).to_be_checked()


def test_a_file_is_opened_exported_and_printed(viewer: str, new_page: NewPage, examples: Path):
    page = new_page(viewer)
    page.goto("/cases")
    listening(page)
    page.get_by_label("Open a case file").set_input_files(examples / "nda.yaml")
    page.get_by_role("button", name="Open", exact=True).click()
    expect(page.locator("h1")).to_have_text(Case.load(examples / "nda.yaml").query)
    page.locator("#c0u").check()
    expect(page.get_by_text("what if: 1 set")).to_be_visible()
    with page.expect_download() as saved:
        page.get_by_role("link", name="Save as page").click()
    text = Path(saved.value.path()).read_text()
    assert "<!doctype html>" in text and "src=" not in text
    with page.expect_download() as saved:
        page.get_by_role("link", name="Save as JSON").click()
    assert (
        '"c1":"unknown"' in Path(saved.value.path()).read_text()
        or "unknown" in Path(saved.value.path()).read_text()
    )
    page.emulate_media(media="print")
    assert page.pdf().startswith(b"%PDF")
    expect(page.get_by_role("link", name="Save as page")).to_be_hidden()


def test_estimated_states_show_their_probabilities(new_page: NewPage, examples: Path):
    case = Case.load(examples / "nda.yaml").text_only()
    asked: list[str] = []

    def estimate(given: Case) -> Mapping[str, Sequence[float]]:
        asked.append(given.id)
        return dict.fromkeys(given.conditions, (0.7, 0.2, 0.1))

    with served(create_app(None, [case], estimate=estimate)) as address:
        page = new_page(address)
        page.goto("/cases/1")
        listening(page)
        expect(page.locator("#c0")).to_contain_text(
            "estimated satisfied 0.70, not satisfied 0.20, unknown 0.10"
        )
        chances = case.rule_of_decision.decision_chances(
            dict.fromkeys(case.conditions, (0.7, 0.2, 0.1))
        )
        told = ", ".join(f"{d.words} {p:.2f}" for d, p in chances.items())
        expect(page.get_by_text(f"Estimated decision: {told}")).to_be_visible()
        page.locator("#c0n").check()
        expect(page.get_by_text("what if: 1 set")).to_be_visible()
        check_access(page)
    assert asked == [case.id]


@pytest.fixture
def review(store: Store, corpus: Corpus, audit: Queue, team: dict[str, Person]) -> Generator[str]:
    with served(create_app(store, corpus.cases.values())) as address:
        yield address


def listening(page: Page) -> None:
    """Wait for the page's script: a page can be seen, in tests also used, before it runs."""
    expect(page.locator("html.scripted")).to_have_count(1)


def begin(page: Page, name: str = "Begin") -> None:
    """Go from a queue to its next item."""
    page.get_by_role("button", name=name).click()
    page.wait_for_url(re.compile(r"/queues/[^/]+/\d+"))
    listening(page)


def test_a_reader_works_through_the_audit_by_keys(
    review: str, new_page: NewPage, store: Store, team: dict[str, Person]
):
    page = new_page(review)
    sign_in(page, "ben")
    check_access(page)
    begin(page)
    expect(page.get_by_text("your item 1 of 1")).to_be_visible()
    check_access(page)
    shoot(page, "audit-light")
    expect(page.get_by_text("Operation:")).to_have_count(0)
    # Keys pressed faster than the server answers are meant for the questions to come.
    for key in "131r":
        page.keyboard.press(key)
    expect(page.get_by_text("Operation:")).to_be_visible()
    check_access(page)
    page.locator(".unit.changed, .unit.gone, .unit.added").scroll_into_view_if_needed()
    shoot(page, "audit-revealed")
    expect(page.locator("#state-unknown")).to_be_disabled()
    page.keyboard.press("2")
    expect(page.locator("#fidelity-no")).to_be_checked()
    expect(page.locator("#next")).to_be_visible()
    page.keyboard.press("u")
    expect(page.locator("#fidelity-no")).not_to_be_checked()
    page.keyboard.press("u")
    expect(page.get_by_text("Operation:")).to_have_count(0)
    expect(page.locator("#state-unknown")).to_be_enabled()
    page.keyboard.press("r")
    page.keyboard.press("1")
    expect(page.locator("#fidelity-yes")).to_be_checked()
    expect(page.locator("#next")).to_be_visible()
    reading = store.reading("audit", 1, team["ben"].id)
    assert reading is not None
    assert reading.version.answer == GOOD | {"state": "unknown", "revealed": "yes"}
    page.keyboard.press("n")
    expect(page.get_by_text("your item 2 of 2, 1 finished")).to_be_visible()
    # Resume: another browser, another day.
    later = new_page(review)
    sign_in(later, "ben")
    begin(later, "Go on")
    expect(later.get_by_text("your item 2 of 2")).to_be_visible()
    later.keyboard.press("p")
    expect(later.get_by_text("your item 1 of 2")).to_be_visible()


def test_answers_by_click_in_quick_succession_are_all_saved(
    review: str, new_page: NewPage, store: Store, team: dict[str, Person]
):
    page = new_page(review)
    sign_in(page, "cid")
    begin(page)
    expect(page.locator("#item")).to_be_visible()
    page.evaluate(
        "for (const id of ['association-yes', 'state-satisfied', 'state-unknown', 'preserved-no'])"
        " document.getElementById(id).click()"
    )
    expect(page.locator("#preserved-no")).to_be_checked()
    expect(page.locator("#state-unknown")).to_be_checked()
    expect(page.locator(".saved")).to_contain_text("version 4")
    page.get_by_label("Remark").fill("What is <b>meant</b>?")
    page.get_by_label("Remark").blur()
    expect(page.locator(".saved")).to_contain_text("version 5")
    reading = store.reading("audit", 1, team["cid"].id)
    assert reading is not None
    assert reading.version.answer == {
        "association": "yes",
        "state": "unknown",
        "preserved": "no",
        "comment": "What is <b>meant</b>?",
    }


def test_a_lost_server_is_told_and_nothing_is_shown_as_saved(review: str, new_page: NewPage):
    page = new_page(review)
    sign_in(page, "cid")
    begin(page)
    page.route("**/queues/audit/1", lambda route: route.abort())
    page.locator("#association-yes").click()
    expect(page.get_by_role("alert")).to_contain_text("Not saved")
    page.unroute("**/queues/audit/1")
    page.get_by_role("button", name="Load this page again").click()
    expect(page.locator("#association-yes")).not_to_be_checked()


def test_an_audit_without_scripts_and_on_a_phone(review: str, new_page: NewPage):
    page = new_page(review, java_script_enabled=False, viewport=PHONE)
    sign_in(page, "dora")
    page.get_by_role("button", name="Begin").click()
    for question, value in GOOD.items():
        if question == "fidelity":
            page.get_by_role("button", name="Reveal the intended operation").click()
        page.locator(f"#{question}-{value}").check()
        page.locator(f"form:has(#{question}-{value})").get_by_role("button", name="Save").click()
        expect(page.locator(f"#{question}-{value}")).to_be_checked()
    page.get_by_role("button", name="Next item").click()
    expect(page.get_by_text("your item 2 of 2, 1 finished")).to_be_visible()
    phone = new_page(review, viewport=PHONE, color_scheme="dark")
    sign_in(phone, "dora")
    phone.goto("/queues/audit/1")
    listening(phone)
    check_access(phone)
    shoot(phone, "audit-phone-dark")


def test_adjudication_report_and_people(
    review: str, new_page: NewPage, store: Store, team: dict[str, Person]
):
    for name, state in (("ben", "satisfied"), ("cid", "unknown"), ("dora", "unknown")):
        read(store, "audit", team[name], [GOOD | {"state": state}, GOOD | {"state": "unknown"}])
    page = new_page(review)
    sign_in(page, "ada")
    check_access(page)
    shoot(page, "admin-light")
    page.get_by_role("link", name="audit", exact=True).click()
    check_access(page)
    page.get_by_role("link", name="Item 1").click()
    check_access(page)
    expect(page.get_by_text("Label before the audit")).to_have_count(0)
    page.get_by_role("group", name="After the change").get_by_text("unknown").click()
    page.get_by_label("Reason").fill("The unit no longer says when.")
    page.get_by_role("button", name="Rule").click()
    expect(page.get_by_text("Label before the audit")).to_be_visible()
    check_access(page)
    shoot(page, "adjudicated-light")
    page.get_by_role("button", name="Undo the ruling").click()
    expect(page.get_by_text("Label before the audit")).to_have_count(0)
    page.goto("/admin/queues/audit/report")
    listening(page)
    expect(page.get_by_role("heading", name="Semantic audit: audit")).to_be_visible()
    check_access(page)
    page.goto("/admin")
    listening(page)
    page.get_by_label("Name").fill("Eve")
    page.get_by_role("button", name="Invite").click()
    link = page.locator("#link").inner_text()
    check_access(page)
    eve = new_page(review)
    eve.goto(link)
    listening(eve)
    check_access(eve)
    eve.get_by_label("Password").fill("short")
    eve.get_by_role("button").click()
    assert "/join/" in eve.url
    eve.get_by_label("Password").fill(PASSWORD)
    eve.get_by_role("button").click()
    expect(eve.get_by_role("heading", name="My queues")).to_be_visible()
    eve.get_by_role("button", name="Sign out").click()
    expect(eve.get_by_role("heading", name="Sign in")).to_be_visible()
    check_access(eve)


def test_roots_are_labelled(new_page: NewPage, store: Store, folder: Path, corpus: Corpus):
    (folder / "criticality.jsonl").unlink()
    queue_roots(store, folder)
    people = People(store.database)
    for name in ("fay", "gil"):
        people.add(name, Role.REVIEWER, PASSWORD)
    with served(create_app(store)) as address:
        for name in ("fay", "gil"):
            page = new_page(address)
            sign_in(page, name)
            begin(page)
            expect(page.get_by_text("Changes that were tried")).to_be_visible()
            check_access(page)
            shoot(page, "root-light")
            page.keyboard.press("2")
            expect(page.locator(".saved")).to_contain_text("Saved")
            expect(page.locator("#critical-no")).to_be_checked()
            page.keyboard.press("n")
            expect(page.get_by_text("your item 2 of 2, 1 finished")).to_be_visible()
    row = store.database.one("SELECT status FROM items WHERE queue = 'roots' AND position = 1")
    assert row is not None and row["status"] == "agreed"
