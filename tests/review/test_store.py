"""Answers: saved at once, in every version, never doubled, never anybody else's."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interpact.errors import InterPactError
from interpact.review.database import FILE, Database
from interpact.review.people import Person
from interpact.review.progress import counts, progress
from interpact.review.questions import FORMS, REVEALED, Kind, Refused
from interpact.review.settled import readings, settled
from interpact.review.store import Store
from interpact.review.versions import Conflict, NewItem, Queue
from tests.review.conftest import GOOD, Clock, give, read


def test_every_answer_is_a_version_and_undo_goes_back_one_by_one(
    store: Store, audit: Queue, team: dict[str, Person]
):
    ben = team["ben"].id
    assert store.next_position("audit", ben) == 1
    changes = [
        ("association", "yes"),
        ("state", "unknown"),
        ("state", "satisfied"),
        ("comment", "x"),
    ]
    states: list[dict[str, str]] = [{}]
    for base, (name, value) in enumerate(changes):
        version = store.save("audit", 1, ben, base, name, value)
        assert version.number == base + 1
        states.append(version.answer)
    assert states[-1] == {"association": "yes", "state": "satisfied", "comment": "x"}
    number = 4
    for expected in reversed(states[:-1]):
        version = store.undo("audit", 1, ben, number)
        number += 1
        assert (version.number, version.answer) == (number, expected)
    with pytest.raises(Refused, match="nothing to undo"):
        store.undo("audit", 1, ben, number)
    assert store.save("audit", 1, ben, number, "state", "unknown").answer == {"state": "unknown"}
    kept = store.database.one("SELECT count(*) FROM answers")
    assert kept is not None and kept[0] == 9


def test_the_same_change_sent_again_is_one_change(
    store: Store, audit: Queue, team: dict[str, Person]
):
    ben = team["ben"].id
    store.next_position("audit", ben)
    first = store.save("audit", 1, ben, 0, "state", "unknown")
    assert store.save("audit", 1, ben, 0, "state", "unknown") == first
    other = store.save(
        "audit", 1, ben, 0, "association", "yes"
    )  # another question, from the same page
    assert other.answer == {"state": "unknown", "association": "yes"}
    with pytest.raises(Conflict):
        store.save("audit", 1, ben, 0, "state", "satisfied")  # decided over an answer not seen
    undone = store.undo("audit", 1, ben, 2)
    assert store.undo("audit", 1, ben, 2) == undone
    with pytest.raises(Conflict):
        store.undo("audit", 1, ben, 1)
    with pytest.raises(Conflict):
        store.save("audit", 1, ben, 99, "state", "satisfied")


def test_the_state_is_judged_before_the_operation_and_stays_as_it_was(
    store: Store, audit: Queue, team: dict[str, Person]
):
    ben = team["ben"].id
    store.next_position("audit", ben)
    with pytest.raises(Refused):
        store.save("audit", 1, ben, 0, "fidelity", "yes")
    with pytest.raises(Refused):
        store.save("audit", 1, ben, 0, REVEALED, "yes")
    for base, name in enumerate(("association", "state", "preserved")):
        reading = store.reading("audit", 1, ben)
        assert reading is not None and reading.revealed is None
        store.save("audit", 1, ben, base, name, GOOD[name])
    store.save("audit", 1, ben, 3, REVEALED, "yes")
    reading = store.reading("audit", 1, ben)
    assert reading is not None and reading.revealed is not None
    with pytest.raises(Refused, match="blind"):
        store.save("audit", 1, ben, 4, "state", "unknown")
    store.undo("audit", 1, ben, 4)
    reading = store.reading("audit", 1, ben)
    assert reading is not None and reading.revealed is None
    store.save("audit", 1, ben, 5, "state", "unknown")
    store.save("audit", 1, ben, 6, REVEALED, "yes")
    store.save("audit", 1, ben, 7, "fidelity", "yes")
    for name in ("cid", "dora"):
        read(store, "audit", team[name], [GOOD])
    [item] = readings(store, audit)
    assert {s.person: s.unblinded for s in item.said} == {"ben": ("state",), "cid": (), "dora": ()}


@pytest.mark.parametrize("change", [("nothing", "yes"), ("state", "maybe"), ("state", "")])
def test_what_is_no_answer_is_refused(
    store: Store, audit: Queue, team: dict[str, Person], change: tuple[str, str]
):
    store.next_position("audit", team["ben"].id)
    with pytest.raises(Refused):
        store.save("audit", 1, team["ben"].id, 0, *change)


def test_no_item_gets_more_readers_than_it_needs(store: Store, team: dict[str, Person]):
    items = (NewItem(f"i{n}", {}, None, {}) for n in range(20))
    store.add_queue("roots", Kind.ROOTS, items, {})
    seen: list[tuple[str, int]] = []

    def work(name: str) -> None:
        while (position := store.next_position("roots", team[name].id)) is not None:
            give(store, "roots", position, team[name], {"critical": "no"})
            seen.append((name, position))

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(work, ("ben", "cid", "dora")))
    assert len(seen) == len(set(seen)) == 40
    assert counts(store, "roots") == {"agreed": 20}


def test_an_item_of_another_reader_is_out_of_reach(
    store: Store, audit: Queue, team: dict[str, Person]
):
    store.next_position("audit", team["ben"].id)
    assert store.reading("audit", 1, team["cid"].id) is None
    assert store.reading("audit", 2, team["ben"].id) is None
    with pytest.raises(Refused):
        store.save("audit", 1, team["cid"].id, 0, "state", "unknown")
    with pytest.raises(Refused):
        store.undo("audit", 1, team["cid"].id, 0)


def test_labels_are_given_only_of_settled_items(
    store: Store, audit: Queue, team: dict[str, Person]
):
    row = store.database.one("SELECT id FROM items WHERE position = 1")
    assert row is not None
    read(store, "audit", team["ben"], [GOOD])
    read(store, "audit", team["cid"], [GOOD])
    assert store.reference(row[0]) is None
    with pytest.raises(Refused, match="not all readers"):
        store.rule("audit", 1, team["ada"].id, 0, GOOD, "because")
    read(store, "audit", team["dora"], [GOOD | {"fidelity": "no"}])
    assert counts(store, "audit") == {"open": 5, "disputed": 1}
    assert store.reference(row[0]) is None
    with pytest.raises(Refused, match="reason"):
        store.rule("audit", 1, team["ada"].id, 0, GOOD, " ")
    with pytest.raises(Refused, match="answer this too"):
        store.rule("audit", 1, team["ada"].id, 0, {"state": "unknown"}, "because")
    ruled = store.rule("audit", 1, team["ada"].id, 0, GOOD, "It inserts, as it says.")
    assert store.rule("audit", 1, team["ada"].id, 0, GOOD, "It inserts, as it says.") == ruled
    assert store.reference(row[0]) is not None
    [item] = settled(store, audit)
    assert (item.answer, item.reason, item.by) == (
        GOOD,
        "It inserts, as it says.",
        "adjudicated by ada",
    )
    with pytest.raises(Refused, match="closed"):
        store.save("audit", 1, team["ben"].id, 99, "state", "unknown")
    store.undo_ruling("audit", 1, team["ada"].id, 1)
    assert store.reference(row[0]) is None


def test_ambiguity_is_no_consensus_even_where_all_see_it(
    store: Store, audit: Queue, team: dict[str, Person]
):
    for name in ("ben", "cid", "dora"):
        read(
            store, "audit", team[name], [GOOD | {"state": "ambiguous"}, GOOD | {"state": "unknown"}]
        )
    assert counts(store, "audit") == {"open": 4, "disputed": 1, "agreed": 1}


def test_time_is_counted_without_the_breaks(
    store: Store, audit: Queue, team: dict[str, Person], clock: Clock
):
    ben = team["ben"]
    position = store.next_position("audit", ben.id)
    assert position == 1
    clock.now += 50
    store.reading("audit", 1, ben.id)  # opened once more
    clock.now += 10
    store.save("audit", 1, ben.id, 0, "association", "yes")
    clock.now += 20
    store.save("audit", 1, ben.id, 1, "state", "unknown")
    clock.now += 80_000  # until tomorrow
    store.save("audit", 1, ben.id, 2, "preserved", "yes")
    [row] = progress(store)
    assert (row.begun, row.finished) == (1, 0)
    assert row.hours == pytest.approx((10 + 20 + 600) / 3600)


def test_unfinished_items_can_be_given_to_others(
    store: Store, audit: Queue, team: dict[str, Person]
):
    read(store, "audit", team["ben"], [GOOD])
    assert store.next_position("audit", team["ben"].id) == 2
    assert store.release("audit", team["ben"].id) == 1
    assert store.own_positions("audit", team["ben"].id) == [(1, True)]
    assert store.next_position("audit", team["ben"].id) == 2


def test_a_queue_is_made_whole_or_not_at_all(store: Store):
    with pytest.raises(Exception, match="UNIQUE"):
        store.add_queue("roots", Kind.ROOTS, [NewItem("a", {}, None, {})] * 2, {})
    assert store.queues() == []
    for bad in ("", "a b", "../x", "A", "x" * 41):
        with pytest.raises(InterPactError, match="--name"):
            store.add_queue(bad, Kind.ROOTS, [], {})


def test_a_file_that_is_no_review_is_told(tmp_path: Path):
    with pytest.raises(InterPactError, match="no review here"):
        Database.open(tmp_path / FILE)
    (tmp_path / FILE).write_text("hello " * 100)
    with pytest.raises(InterPactError, match="no review file"):
        Database.open(tmp_path / FILE)


@settings(max_examples=30)
@given(
    st.lists(st.tuples(st.sampled_from(["save", "undo", "again"]), st.integers(0, 30)), max_size=25)
)
def test_versions_are_a_plain_list_of_answers_under_any_use(steps: list[tuple[str, int]]):
    """Against a model: the history of a plain stack, with repeats that change nothing."""
    questions = [q for q in FORMS[Kind.AUDIT].questions if not q.late]
    with (
        TemporaryDirectory() as folder,
        Database.open(Path(folder) / FILE, create=True) as database,
    ):
        store = Store(database)
        store.add_queue("audit", Kind.AUDIT, [NewItem("a", {}, {"operation": "removal"}, {})], {})
        with database.write() as sql:
            sql.execute("INSERT INTO people (name, role, made) VALUES ('ben', 'reviewer', 0)")
        store.next_position("audit", 1)
        stack: list[dict[str, str]] = [{}]
        number, last = 0, None
        for kind, n in steps:
            question = questions[n % 3]
            value = question.choices[n % len(question.choices)].value
            if kind == "again" and last is not None:
                assert store.save("audit", 1, 1, *last).number == number
            elif kind == "undo":
                last = None
                if len(stack) > 1:
                    stack.pop()
                    number = store.undo("audit", 1, 1, number).number
            elif kind == "save":
                last = (number, question.name, value)
                made = store.save("audit", 1, 1, *last)
                if made.number != number:
                    stack.append(stack[-1] | {question.name: value})
                number = made.number
            reading = store.reading("audit", 1, 1)
            assert reading is not None
            assert (reading.version.number, reading.version.answer) == (number, stack[-1])


def test_many_threads_share_one_file(store: Store, audit: Queue, team: dict[str, Person]):
    """Two processes would do the same: every write is a transaction of its own."""
    other = Store(Database.open(store.database.path))
    barrier = threading.Barrier(2)

    def claim(one: Store) -> list[int | None]:
        barrier.wait()
        return [one.next_position("audit", team[n].id) for n in ("ben", "cid", "dora")]

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(claim, (store, other)))
    assert found == [[1, 1, 1], [1, 1, 1]]
    row = store.database.one("SELECT count(*) FROM claims")
    assert row is not None and row[0] == 3
    other.database.close()
