"""What queues hold, and answers in all their versions.

An answer is never overwritten: each change is a row with the version it was made from, and an undo is a
row too.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from interpact.errors import InterPactError
from interpact.review.database import packed
from interpact.review.questions import FORMS, Form, Kind, Refused

RULING = 0  # the author of an adjudicated answer
LONGEST = 600.0  # seconds between two answers that count as work
UNDO = "undo"


class Status(StrEnum):
    """How far an item is: read by all and disputed, or settled by consensus or by a ruling."""

    OPEN = "open"
    DISPUTED = "disputed"
    AGREED = "agreed"
    RULED = "ruled"


SETTLED = (Status.AGREED, Status.RULED)


class Conflict(InterPactError):
    """The answer has been changed since the page was made."""


@dataclass(frozen=True, slots=True)
class NewItem:
    """An item of a new queue: what is shown, what is revealed later, what stays hidden."""

    key: str
    shown: Mapping[str, Any]
    revealed: Mapping[str, Any] | None
    reference: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue and how it was made."""

    name: str
    kind: Kind
    readers: int
    made: float
    facts: dict[str, Any]
    items: int

    @property
    def form(self) -> Form:
        """What is asked."""
        return FORMS[self.kind]


@dataclass(frozen=True, slots=True)
class Version:
    """An answer as it stands; version 0 is the blank one."""

    answer: dict[str, str]
    number: int = 0
    parent: int = -1

    @property
    def can_undo(self) -> bool:
        """Whether there is something to go back to."""
        return self.parent >= 0


@dataclass(frozen=True, slots=True)
class Reading:
    """All that the reader of an item is sent."""

    queue: Queue
    position: int
    shown: dict[str, Any]
    revealed: dict[str, Any] | None
    version: Version
    locked: bool
    place: int
    """The how manyth of this reader's items it is."""


def version_of(sql: sqlite3.Connection, item: int, author: int, number: int) -> Version:
    row = sql.execute(
        "SELECT answer, version, parent FROM answers WHERE item = ? AND author = ? AND version = ?",
        (item, author, number),
    ).fetchone()
    return Version({}) if row is None else Version(json.loads(row[0]), row[1], row[2])


def latest(sql: sqlite3.Connection, item: int, author: int) -> Version:
    row = sql.execute(
        "SELECT max(version) FROM answers WHERE item = ? AND author = ?", (item, author)
    ).fetchone()
    return version_of(sql, item, author, row[0] or 0)


def changed_since(
    sql: sqlite3.Connection, item: int, author: int, base: int
) -> list[dict[str, str]]:
    rows = sql.execute(
        "SELECT change FROM answers WHERE item = ? AND author = ? AND version > ? ORDER BY version",
        (item, author, base),
    )
    return [json.loads(row[0]) for row in rows]


def undone(
    sql: sqlite3.Connection, item: int, author: int, person: int, base: int, now_is: float
) -> Version:
    """Go back by one change, unless that was done already or the answer has moved on."""
    now = latest(sql, item, author)
    if now.number == base + 1 and changed_since(sql, item, author, base) == [{UNDO: str(base)}]:
        return now
    if now.number != base:
        raise Conflict("this answer was changed in another window; look at it again")
    if not now.can_undo:
        raise Refused("there is nothing to undo")
    back = version_of(sql, item, author, now.parent)
    made = Version(back.answer, now.number + 1, back.parent)
    append(sql, item, author, made, {UNDO: str(base)}, person, now_is)
    return made


def append(
    sql: sqlite3.Connection,
    item: int,
    author: int,
    version: Version,
    change: Mapping[str, str],
    person: int,
    now: float,
) -> None:
    """Keep a new version, with the time since the item was opened or last answered."""
    since = sql.execute(
        "SELECT max(coalesce((SELECT opened FROM claims WHERE item = :item AND person = :author), 0),"
        " coalesce((SELECT max(at) FROM answers WHERE item = :item AND author = :author), 0))",
        {"item": item, "author": author},
    ).fetchone()[0]
    seconds = min(max(now - since, 0.0), LONGEST) if since else 0.0
    sql.execute(
        "INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(item, author, version.number, version.parent, person),
            *(packed(change), packed(version.answer), now, seconds),
        ),
    )
