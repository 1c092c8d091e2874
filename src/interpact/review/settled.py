"""Items that are settled: what everybody said, what was ruled, and the labels that were hidden."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from interpact.review.questions import AMBIGUOUS, COMMENT, REVEALED, Form
from interpact.review.store import Store
from interpact.review.versions import RULING, SETTLED, Queue, Status


@dataclass(frozen=True, slots=True)
class Said:
    """The finished answer of one reader."""

    person: str
    answer: dict[str, str]
    seconds: float
    unblinded: tuple[str, ...] = ()
    """Questions whose answer was changed after the operation had been seen."""


@dataclass(frozen=True, slots=True)
class Read:
    """An item that all its readers have finished."""

    id: int
    position: int
    key: str
    status: Status
    shown: dict[str, Any]
    revealed: dict[str, Any] | None
    said: tuple[Said, ...]

    def differing(self, form: Form) -> list[str]:
        """The questions on which the readers differ, or which they leave ambiguous."""
        return [
            q.name
            for q in form.questions
            if len(found := {s.answer[q.name] for s in self.said}) > 1 or AMBIGUOUS in found
        ]


@dataclass(frozen=True, slots=True)
class Settled:
    """An item with its final answer, how it came about, and the hidden labels."""

    read: Read
    answer: dict[str, str]
    reason: str
    by: str
    reference: dict[str, Any]

    @property
    def key(self) -> str:
        """The pair, root or attempt that the item is about."""
        return self.read.key

    @property
    def failed(self) -> list[str]:
        """The aspects that do not hold, other than the state."""
        return [
            name
            for name in ("association", "preserved", "fidelity")
            if self.answer.get(name) == "no"
        ]

    def why(self, aspects: Iterable[str]) -> str:
        """The recorded reason in one line."""
        told = "; ".join(f"{name}: {self.answer[name]}" for name in aspects)
        return f"{told} ({self.by}{': ' + self.reason if self.reason else ''})"


def readings(store: Store, queue: Queue) -> Iterator[Read]:
    """The items that all readers have finished, in order."""
    for row in store.database.all(
        "SELECT * FROM items WHERE queue = ? AND status != 'open' ORDER BY position", queue.name
    ):
        revealed = json.loads(row["revealed"]) if row["revealed"] else None
        yield Read(
            *(row["id"], row["position"], row["key"], Status(row["status"])),
            json.loads(row["shown"]),
            revealed,
            tuple(_said(store, queue.form, row["id"])),
        )


def settled(store: Store, queue: Queue) -> Iterator[Settled]:
    """The settled items of a queue, in order."""
    for read in readings(store, queue):
        found = settlement(store, read)
        if found is not None:
            yield found


def settlement(store: Store, read: Read) -> Settled | None:
    """How an item was settled, if it is."""
    reference = store.reference(read.id)
    if reference is None or read.status not in SETTLED:
        return None
    ruling = store.database.one(
        "SELECT a.answer, p.name FROM answers a JOIN people p ON p.id = a.person "
        "WHERE a.item = ? AND a.author = ? ORDER BY a.version DESC",
        *(read.id, RULING),
    )
    if read.status is Status.RULED and ruling is not None:
        answer = json.loads(ruling["answer"])
        reason = answer.pop("reason", "")
        return Settled(read, answer, reason, f"adjudicated by {ruling['name']}", reference)
    answer = {n: v for n, v in read.said[0].answer.items() if n not in (COMMENT, REVEALED)}
    return Settled(read, answer, "", "consensus", reference)


def _said(store: Store, form: Form, item: int) -> Iterator[Said]:
    rows = store.database.all(
        "SELECT p.name, a.answer, a.seconds, a.author FROM answers a "
        "JOIN claims c ON c.item = a.item AND c.person = a.author AND c.complete "
        "JOIN people p ON p.id = a.author WHERE a.item = ? ORDER BY p.id, a.version",
        item,
    )
    for person in dict.fromkeys(row["name"] for row in rows):
        own = [row for row in rows if row["name"] == person]
        history = [json.loads(row["answer"]) for row in own]
        seen = next((answer for answer in history if REVEALED in answer), None)
        late = {q.name for q in form.questions if q.late}
        changed = (
            [n for n, v in seen.items() if n in _names(form) - late and history[-1].get(n) != v]
            if seen
            else []
        )
        yield Said(person, history[-1], sum(row["seconds"] for row in own), tuple(changed))


def _names(form: Form) -> set[str]:
    return {q.name for q in form.questions}
