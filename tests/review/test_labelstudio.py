"""Label Studio: tasks that blind readers can be given, and their answers back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from interpact.case.problems import InputProblems
from interpact.corpus.store import Corpus
from interpact.errors import InterPactError
from interpact.review.labelstudio import interface, take_in, tasks
from interpact.review.people import Person
from interpact.review.progress import counts
from interpact.review.questions import FORMS
from interpact.review.settled import readings
from interpact.review.store import Store
from interpact.review.versions import Queue
from tests.review.conftest import GOOD, read


def test_tasks_hold_what_readers_see_and_finished_answers(
    store: Store, audit: Queue, team: dict[str, Person], corpus: Corpus
):
    read(store, "audit", team["ben"], [GOOD | {"state": "unknown"}])
    store.next_position("audit", team["cid"].id)
    found = tasks(store, audit)
    assert [task["data"]["item"] for task in found] == [1, 2, 3, 4, 5, 6]
    [annotation] = found[0]["annotations"]
    assert annotation["completed_by"] == {"email": "ben"}
    given = {r["from_name"]: r["value"]["choices"] for r in annotation["result"]}
    assert given == {name: [value] for name, value in (GOOD | {"state": "unknown"}).items()}
    assert all(task["annotations"] == [] for task in found[1:])
    pairs = {pair.id: pair for pair in corpus.pairs}
    keys = [r[0] for r in store.database.all("SELECT key FROM items ORDER BY position")]
    for task, key in zip(found, keys, strict=True):
        text = json.dumps(task["data"])
        assert "state_after" not in text and "tier" not in text and key not in text
        for unit in pairs[key].after.evidence:
            assert unit.text in task["data"]["after"]


def test_answers_go_out_and_come_back_the_same(
    store: Store, audit: Queue, team: dict[str, Person], corpus: Corpus, tmp_path: Path
):
    answers = [GOOD, GOOD | {"fidelity": "no", "state": "ambiguous"}]
    for name in ("ben", "cid", "dora"):
        read(store, "audit", team[name], answers)
    store.save("audit", 1, team["ben"].id, 5, "comment", "hm")
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps(tasks(store, audit)))
    before = [[(s.person, s.answer) for s in item.said] for item in readings(store, audit)]
    with store.database.write() as sql:  # another review of the same sample
        for table in ("answers", "claims"):
            sql.execute(f"DELETE FROM {table}")
        sql.execute("UPDATE items SET status = 'open'")
    assert take_in(store, audit, path) == 6
    after = [[(s.person, s.answer) for s in item.said] for item in readings(store, audit)]
    assert after == before
    assert counts(store, "audit") == {"open": 4, "agreed": 1, "disputed": 1}
    assert take_in(store, audit, path) == 0  # what is there already stays


def chosen(**choices: str) -> list[dict[str, Any]]:
    return [
        {"from_name": name, "to_name": "case", "type": "choices", "value": {"choices": [value]}}
        for name, value in choices.items()
    ]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"by": "eve"}, "nobody here"),
        ({"queue": "roots"}, "another queue"),
        ({"item": 99}, "another queue"),
        ({"result": chosen(association="yes")}, "has not answered: state"),
        ({"result": chosen(**(GOOD | {"state": "maybe"}))}, "no such question or answer"),
        ({"result": [{"from_name": "state"}]}, "is no task"),
        ({"result": "x"}, "is no task"),
        ({"item": None}, "is no task"),
    ],
)
def test_what_is_not_sound_is_refused_as_a_whole(
    store: Store, audit: Queue, team: dict[str, Person], tmp_path: Path,
    change: dict[str, Any], told: str,
):  # fmt: skip
    def task(item: Any = 1, queue: str = "audit", by: str = "ben", result: Any = None) -> Any:
        answer = chosen(**GOOD) if result is None else result
        annotation = {"completed_by": {"email": by}, "result": answer}
        return {"data": {"queue": queue, "item": item}, "annotations": [annotation]}

    path = tmp_path / "tasks.json"
    path.write_text(json.dumps([task(item=2), task(**change)]))
    with pytest.raises(InputProblems, match=told):
        take_in(store, audit, path)
    assert store.database.all("SELECT 1 FROM answers") == []
    path.write_text(json.dumps([task(item=2)]))
    assert take_in(store, audit, path) == 1


def test_a_file_that_is_no_export_is_told(store: Store, audit: Queue, tmp_path: Path):
    path = tmp_path / "tasks.json"
    for content in ("{", '{"a": 1}', "\x00"):
        path.write_text(content)
        with pytest.raises(InterPactError):
            take_in(store, audit, path)


@pytest.mark.parametrize("form", FORMS.values(), ids=list(FORMS))
def test_the_interface_asks_every_question(form: Any):
    root = ElementTree.fromstring(interface(form))
    asked = {c.get("name"): [v.get("value") for v in c] for c in root.iter("Choices")}
    assert asked == {q.name: [c.value for c in q.choices] for q in form.questions}
    for name in (q.name for q in form.questions if q.late):
        [hidden] = [v for v in root.iter("View") if v.get("visibleWhen") == "choice-selected"]
        assert name in {c.get("name") for c in hidden.iter("Choices")}
        assert "operation" in {t.get("name") for t in hidden.iter("Text")}
