"""Root labelling and construction review: from the corpus to people and back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Generator
from pathlib import Path

import pytest

from interpact.construct.checks import NoAssessor
from interpact.construct.editors import ScriptedEditor
from interpact.construct.judges import Panel
from interpact.construct.run import Makers, construct
from interpact.corpus.pairs import Basis, Tier
from interpact.corpus.store import Corpus, corpus_problems
from interpact.errors import InterPactError
from interpact.review.audit import apply as apply_audit
from interpact.review.database import FILE, Database
from interpact.review.people import Person
from interpact.review.queues import apply, queue_construction, queue_roots
from interpact.review.store import Store
from interpact.review.web.app import create_app
from tests.construct.made_up import write_corpus
from tests.review.conftest import Visitor, add_team, give, read


@pytest.fixture
def unlabelled(folder: Path) -> Path:
    """The sample without its labels: some roots are for reviewers."""
    (folder / "criticality.jsonl").unlink()
    return folder


def test_reviewed_roots_become_labels(store: Store, unlabelled: Path, team: dict[str, Person]):
    queue = queue_roots(store, unlabelled)
    roots = [r["key"] for r in store.database.all("SELECT key FROM items ORDER BY position")]
    assert len(roots) == queue.items >= 3
    read(store, "roots", team["ben"], [{"critical": "yes"}, {"critical": "no"}, {"critical": "no"}])
    read(
        store, "roots", team["cid"], [{"critical": "yes"}, {"critical": "no"}, {"critical": "yes"}]
    )
    assert "2 reviewed labels" in apply(store, "roots", unlabelled)
    store.rule("roots", 3, team["ada"].id, 0, {"critical": "ambiguous"}, "cannot be told")
    assert "2 reviewed labels" in apply(store, "roots", unlabelled)
    store.rule("roots", 3, team["ada"].id, 1, {"critical": "no"}, "no text could do it")
    assert "3 reviewed labels" in apply(store, "roots", unlabelled)
    labels = Corpus.read(unlabelled).criticality
    assert [(labels[r].critical, labels[r].basis) for r in roots[:3]] == [
        (True, Basis.REVIEW),
        (False, Basis.REVIEW),
        (False, Basis.REVIEW),
    ]
    lines = (unlabelled / "review_criticality.jsonl").read_text().splitlines()
    left = [json.loads(line)["root"] for line in lines]
    assert left == roots[3:]
    assert [p for p in corpus_problems(unlabelled) if not p.note] == []
    with pytest.raises(InterPactError, match="no root is left"):
        queue_roots(store, unlabelled, "more")
    with pytest.raises(InterPactError, match="is no audit"):
        apply_audit(store, "roots", unlabelled)


def test_the_page_of_a_root_shows_what_the_paper_asks_for(
    store: Store, unlabelled: Path, team: dict[str, Person]
):
    queue_roots(store, unlabelled)
    ben = Visitor(create_app(store))
    ben.sign_in("ben")
    page = ben.fill("/queues/roots/next", "/queues").text
    row = store.database.one("SELECT shown FROM items WHERE position = 1")
    assert row is not None
    shown = json.loads(row[0])
    from markupsafe import escape

    for text in (
        shown["rule"],
        *(u["text"] for u in shown["before"]),
        *shown["conditions"].values(),
    ):
        assert str(escape(text)) in page
    for tried in shown["interventions"]:
        assert tried["text"] is None or str(escape(tried["text"])) in page
    assert "Could changing only the marked evidence" in page


def test_a_corpus_without_a_construction_has_nothing_to_review(store: Store, folder: Path):
    with pytest.raises(InterPactError, match="no intervention waits"):
        queue_construction(store, folder)


NOBODY = Makers(
    ScriptedEditor({"mill/e1/paraphrase": "In spring the mill wheel was mended."}),
    Panel.of_nobody(),
    NoAssessor(),
)


@pytest.fixture
def constructed(tmp_path: Path) -> Generator[tuple[Path, Store]]:
    """A construction in which six interventions wait for a person."""
    folder = tmp_path / "made"
    folder.mkdir()
    write_corpus(folder)
    asyncio.run(construct(folder, NOBODY))
    with Database.open(folder / FILE, create=True) as database:
        yield folder, Store(database)


def test_what_the_judges_left_open_becomes_pairs(constructed: tuple[Path, Store]):
    folder, store = constructed
    queue = queue_construction(store, folder)
    assert (queue.items, queue.readers) == (6, 1)
    team = add_team(store)
    ben = Visitor(create_app(store))
    ben.sign_in("ben")
    page = ben.fill("/queues/construction/next", "/queues").text
    assert "abstained" not in page and "Operation:" not in page
    keys = [r["key"] for r in store.database.all("SELECT key FROM items ORDER BY position")]
    give(store, "construction", 1, team["ben"], {"state": "unknown"})
    token = ben.token("/queues")
    revealed = ben.post(
        "/queues/construction/1",
        data={"csrf": token, "base": 1, "question": "revealed", "value": "yes"},
    ).text
    assert "Operation:" in revealed and "abstained" in revealed
    read(store, "construction", team["ben"], [{"state": "reject"}, {"state": "ambiguous"}])
    assert apply(store, "construction", folder) == "1 pairs made, 1 changes rejected"
    pairs = {pair.id: pair.record for pair in Corpus.read(folder).pairs}
    assert set(pairs) == {keys[0]}
    assert (pairs[keys[0]].state_after, pairs[keys[0]].tier) == ("unknown", Tier.EXTENDED)
    assert len((folder / "review.jsonl").read_text().splitlines()) == 4
    assert apply(store, "construction", folder) == "1 pairs made, 1 changes rejected"
    assert len(Corpus.read(folder).pairs) == 1


def test_a_pair_removed_by_an_audit_is_not_made_again_by_the_constructor(
    constructed: tuple[Path, Store],
):
    from interpact.review.audit import sample

    folder, store = constructed
    queue_construction(store, folder)
    team = add_team(store)
    read(store, "construction", team["ben"], [{"state": "unknown"}] * 2)
    apply(store, "construction", folder)
    sample(store, Corpus.read(folder), 2, 0)
    good = {"association": "yes", "state": "unknown", "preserved": "yes", "fidelity": "yes"}
    for name in ("ben", "cid", "dora"):
        read(store, "audit", team[name], [good | {"fidelity": "no"}, good | {"state": "satisfied"}])
    changes, _ = apply_audit(store, "audit", folder, drop_failed=True)
    removed, corrected = (change.id for change in changes[:2])
    asyncio.run(construct(folder, NOBODY))
    pairs = {pair.id: pair.record.state_after for pair in Corpus.read(folder).pairs}
    assert pairs == {corrected: "satisfied"} and removed not in pairs
    (folder / "pairs.jsonl").unlink()
    asyncio.run(construct(folder, NOBODY))
    assert {p.id: p.state_after for p in Corpus.read(folder).pairs} == pairs
