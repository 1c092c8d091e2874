"""Blindness: what a reviewer is sent does not depend on anything hidden, to the last byte.

Two reviews are made that differ only in what must stay hidden. One reviewer does the same in both,
and every byte of every response is compared.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from interpact.case.states import State
from interpact.corpus.pairs import LabelledRoot, Operation, Pair, PairRecord, Tier
from interpact.corpus.store import SAMPLE, Corpus
from interpact.review.audit import item
from interpact.review.database import FILE, Database
from interpact.review.people import Person
from interpact.review.questions import Kind
from interpact.review.store import Store
from interpact.review.web.app import create_app
from tests.review.conftest import GOOD, Visitor, add_team, read

SWAPPED = {
    Operation.WEAKENING: Operation.STRENGTHENING,
    Operation.STRENGTHENING: Operation.WEAKENING,
    Operation.POLARITY_REVERSAL: Operation.ALTERNATIVE_REPLACEMENT,
    Operation.ALTERNATIVE_REPLACEMENT: Operation.PARAPHRASE,
    Operation.PARAPHRASE: Operation.IRRELEVANT_REPLACEMENT,
    Operation.IRRELEVANT_REPLACEMENT: Operation.POLARITY_REVERSAL,
}
NEXT = dict(zip(State, [*list(State)[1:], State.SATISFIED], strict=True))


def hidden_otherwise(pair: Pair, operation: bool) -> Pair:
    """The same texts with other labels, and with another operation where that is hidden too."""
    record = pair.record
    other = SWAPPED.get(record.operation, record.operation) if operation else record.operation
    return Pair(
        LabelledRoot(pair.of.root, pair.of.labels, None),
        PairRecord(
            id=f"{record.root}/{other}",
            root=record.root,
            operation=other,
            text=record.text,
            state_after=NEXT[record.state_after],
            tier=Tier.EXTENDED,
            flags=("state_doubted",),
            editor="an editor nobody may know",
        ),
    )


@dataclass
class Review:
    store: Store
    team: dict[str, Person]
    visitor: Visitor
    sent: list[tuple[str, int, bytes, str]]
    csrf: str = ""

    def ask(self, method: str, where: str, **fields: object) -> str:
        data = {"csrf": self.csrf, **fields} if method == "POST" else None
        response = self.visitor.request(
            method, where, data=data, headers={"hx-request": "true"} if fields.get("part") else {}
        )
        text = re.sub(rb'name="csrf" value="\w+"', b"", response.content)
        headers = " ".join(
            f"{k}: {v}" for k, v in response.headers.items() if k not in ("set-cookie", "date")
        )
        self.sent.append((f"{method} {where}", response.status_code, text, headers))
        return response.text


def make(tmp_path: Path, name: str, pairs: list[Pair], others: dict[str, str]) -> Review:
    folder = tmp_path / name
    shutil.copytree(SAMPLE, folder)
    store = Store(Database.open(folder / FILE, create=True), lambda: 1_800_000_000.0)
    store.add_queue("audit", Kind.AUDIT, map(item, pairs), {"seed": 0, "n": 1, "of": len(pairs)})
    team = add_team(store)
    for person in ("cid", "dora"):
        read(store, "audit", team[person], [others] * len(pairs))
    app = create_app(store, Corpus.read(folder).cases.values())
    visitor = Visitor(app)
    visitor.sign_in("ben")
    return Review(store, team, visitor, [], visitor.token("/queues"))


@pytest.fixture
def pairs() -> list[Pair]:
    corpus = Corpus.read(SAMPLE)
    chosen: dict[Operation, Pair] = {}
    for pair in corpus.pairs:
        chosen.setdefault(pair.record.operation, pair)
    assert len(chosen) == len(Operation)
    return list(chosen.values())


PAGES = ["/", "/queues", "/cases", "/cases/1", "/queues/audit/done", "/openapi.json", "/login"]
FORBIDDEN = ["/admin", "/admin/queues/audit", "/admin/queues/audit/1", "/admin/queues/audit/report",
             "/admin/queues/audit/report.md", "/queues/audit/99"]  # fmt: skip


def work(review: Review, items: int, reveal: bool) -> None:
    """Do everything a reviewer can do, also what is refused."""
    for where in (*PAGES, *FORBIDDEN):
        review.ask("GET", where)
    for position in range(1, items + 1):
        review.ask("POST", "/queues/audit/next")
        here = f"/queues/audit/{position}"
        review.ask("GET", here)
        review.ask("POST", here, base=0, question="fidelity", value="yes")
        review.ask("POST", here, base=0, question="revealed", value="yes")
        base = 0
        for question in ("association", "state", "preserved"):
            review.ask("POST", here, base=base, question=question, value=GOOD[question], part="1")
            base += 1
        review.ask("POST", here, base=base, question="comment", value="hm")
        review.ask("POST", f"{here}/undo", base=base + 1)
        base += 2
        review.ask("POST", here, base=0, question="state", value="unknown")  # a conflict
        if reveal:
            review.ask("POST", here, base=base, question="revealed", value="yes", part="1")
            review.ask("POST", here, base=base + 1, question="fidelity", value="no", part="1")
            review.ask("POST", here, base=base + 1, question="state", value="unknown")
        review.ask("GET", here)
        review.ask("POST", f"/admin{here}", base=0, reason="I want to see", **GOOD)
        if not reveal:
            review.store.release("audit", review.team["ben"].id)
            with review.store.database.write() as sql:  # so that the next one can be looked at
                sql.execute("UPDATE items SET status = 'ruled' WHERE position = ?", (position,))
    for where in (*PAGES, *FORBIDDEN):
        review.ask("GET", where)


@pytest.mark.parametrize("reveal", [False, True])
def test_nothing_that_is_sent_depends_on_what_is_hidden(
    tmp_path: Path, pairs: list[Pair], reveal: bool
):
    """Before the reveal that is the operation too; labels and others' answers are so for ever."""
    one = make(tmp_path, "one", pairs, GOOD)
    others = {"association": "no", "state": "unknown", "preserved": "no", "fidelity": "no"}
    two = make(tmp_path, "two", [hidden_otherwise(p, operation=not reveal) for p in pairs], others)
    for review in (one, two):
        with review.visitor:
            work(review, len(pairs), reveal)
    assert len(one.sent) == len(two.sent) > 100
    for first, second in zip(one.sent, two.sent, strict=True):
        assert first == second
    states = [status for _, status, _, _ in one.sent]
    assert {200, 403, 404, 409, 422} <= set(states)


def test_the_comparison_would_see_a_leak(tmp_path: Path, pairs: list[Pair]):
    """The same comparison does tell the reviews apart where something may be seen: the reveal."""
    one = make(tmp_path, "one", pairs, GOOD)
    two = make(tmp_path, "two", [hidden_otherwise(p, operation=True) for p in pairs], GOOD)
    for review in (one, two):
        with review.visitor:
            work(review, len(pairs), reveal=True)
    different = [a for a, b in zip(one.sent, two.sent, strict=True) if a != b]
    assert different and all(b"Operation:" in content for _, _, content, _ in different)


def test_cases_of_the_corpus_are_not_for_reviewers(tmp_path: Path, pairs: list[Pair]):
    """The case page would show the complete mapping of a case under audit."""
    review = make(tmp_path, "one", pairs, GOOD)
    assert review.visitor.get("/cases/1").status_code == 404
    assert review.visitor.get("/cases/1/export.json").status_code == 404
    assert 'href="/cases/1"' not in review.visitor.get("/cases").text
