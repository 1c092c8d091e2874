"""Queues of items, who reads which, and every answer in every version.

What a reviewer may be sent comes from `Store.reading` alone, whose query reads neither `reference`
nor the answers of anybody else. `Store.reference` gives nothing before an item is settled.
"""

from __future__ import annotations

import json
import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from interpact.errors import InterPactError
from interpact.review.database import Database, packed
from interpact.review.questions import FORMS, REVEALED, Answer, Form, Kind, Refused
from interpact.review.versions import (
    RULING,
    UNDO,
    Conflict,
    NewItem,
    Queue,
    Reading,
    Status,
    Version,
    append,
    changed_since,
    latest,
    undone,
)


class Store:
    """The queues of a review file."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self.database = database
        self.clock = clock

    # ---- Queues ----------------------------------------------------------------------------------

    def add_queue(
        self,
        name: str,
        kind: Kind,
        items: Iterable[NewItem],
        facts: Mapping[str, Any],
        readers: int | None = None,
    ) -> Queue:
        """A new queue, whole or not at all."""
        if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,39}", name):
            raise InterPactError(
                f'--name {name}: use up to 40 small letters, digits and "-" for a queue\'s name'
            )
        with self.database.write() as sql:
            if sql.execute("SELECT 1 FROM queues WHERE name = ?", (name,)).fetchone():
                raise InterPactError(
                    f'there is a queue "{name}" in {self.database.path} already; '
                    "give another name (--name)"
                )
            sql.execute(
                "INSERT INTO queues VALUES (?, ?, ?, ?, ?)",
                (name, kind, readers or FORMS[kind].readers, self.clock(), packed(facts)),
            )
            for position, item in enumerate(items, 1):
                row = sql.execute(
                    "INSERT INTO items (queue, position, key, shown, revealed) "
                    "VALUES (?, ?, ?, ?, ?)",
                    (
                        *(name, position, item.key, packed(item.shown)),
                        None if item.revealed is None else packed(item.revealed),
                    ),
                )
                sql.execute(
                    "INSERT INTO reference VALUES (?, ?)", (row.lastrowid, packed(item.reference))
                )
        return self.queue(name)

    def queues(self) -> list[Queue]:
        """All queues, the oldest first."""
        rows = self.database.all("SELECT name FROM queues ORDER BY made, name")
        return [self.queue(row[0]) for row in rows]

    def queue(self, name: str) -> Queue:
        """The queue of that name."""
        row = self.database.one(
            "SELECT q.*, (SELECT count(*) FROM items i WHERE i.queue = q.name) AS items "
            "FROM queues q WHERE name = ?",
            name,
        )
        if row is None:
            raise InterPactError(f'there is no queue "{name}" in {self.database.path}')
        kind, facts = Kind(row["kind"]), json.loads(row["facts"])
        return Queue(row["name"], kind, row["readers"], row["made"], facts, row["items"])

    # ---- Reading ---------------------------------------------------------------------------------

    def next_position(self, queue: str, person: int) -> int | None:
        """The first item that this person has begun and not finished, or a new one, or none.

        Asking for a new one claims it: no item gets more readers than it needs.
        """
        with self.database.write() as sql:
            row = sql.execute(
                "SELECT i.position FROM items i JOIN claims c ON c.item = i.id AND c.person = ? "
                "WHERE i.queue = ? AND NOT c.complete ORDER BY i.position",
                (person, queue),
            ).fetchone()
            if row is not None:
                return row[0]
            row = sql.execute(
                "SELECT i.id, i.position FROM items i JOIN queues q ON q.name = i.queue "
                "WHERE i.queue = ? AND i.status = 'open' "
                "AND NOT EXISTS (SELECT 1 FROM claims c WHERE c.item = i.id AND c.person = ?) "
                "AND (SELECT count(*) FROM claims c WHERE c.item = i.id) < q.readers "
                "ORDER BY i.position",
                (queue, person),
            ).fetchone()
            if row is None:
                return None
            now = self.clock()
            sql.execute("INSERT INTO claims VALUES (?, ?, ?, ?, 0)", (row[0], person, now, now))
            return row[1]

    def claim(self, queue: str, position: int, person: int) -> None:
        """Make a given item this person's to read, where a reader is still wanted."""
        with self.database.write() as sql:
            sql.execute(
                "INSERT OR IGNORE INTO claims SELECT i.id, ?1, ?2, ?2, 0 FROM items i "
                "JOIN queues q ON q.name = i.queue WHERE i.queue = ?3 AND i.position = ?4 "
                "AND (SELECT count(*) FROM claims c WHERE c.item = i.id) < q.readers",
                (person, self.clock(), queue, position),
            )

    def own_positions(self, queue: str, person: int) -> list[tuple[int, bool]]:
        """The items of a person in order, and whether each is finished."""
        rows = self.database.all(
            "SELECT i.position, c.complete FROM items i JOIN claims c ON c.item = i.id "
            "WHERE i.queue = ? AND c.person = ? ORDER BY i.position",
            *(queue, person),
        )
        return [(row[0], bool(row[1])) for row in rows]

    def reading(self, queue: str, position: int, person: int) -> Reading | None:
        """What a person is sent of an item that is theirs to read; none for any other."""
        row = self.database.one(
            "SELECT i.id, i.shown, i.status, c.complete FROM items i "
            "JOIN claims c ON c.item = i.id AND c.person = ? "
            "WHERE i.queue = ? AND i.position = ?",
            *(person, queue, position),
        )
        if row is None:
            return None
        with self.database.write() as sql:
            version = latest(sql, row["id"], person)
            if not row["complete"]:
                sql.execute(
                    "UPDATE claims SET opened = ? WHERE item = ? AND person = ?",
                    (self.clock(), row["id"], person),
                )
        revealed = None
        if REVEALED in version.answer:
            found = self.database.one("SELECT revealed FROM items WHERE id = ?", row["id"])
            revealed = json.loads(found[0]) if found and found[0] else None
        place = [at for at, _ in self.own_positions(queue, person)].index(position) + 1
        return Reading(
            self.queue(queue),
            position,
            json.loads(row["shown"]),
            revealed,
            version,
            row["status"] == Status.RULED,
            place,
        )

    def save(
        self, queue: str, position: int, person: int, base: int, name: str, value: str
    ) -> Version:
        """One change of a reader's answer. The same change sent again changes nothing."""
        form = self.queue(queue).form
        with self.database.write() as sql:
            item = _claimed(sql, queue, position, person)
            now = latest(sql, item, person)
            after = changed_since(sql, item, person, base)
            if {name: value} in after:
                return now  # it was saved; the acknowledgement was lost
            if any(name in c or UNDO in c or REVEALED in c for c in after) or base > now.number:
                raise Conflict("this answer was changed in another window; look at it again")
            answer = form.changed(now.answer, name, value)
            if answer == now.answer:
                return now
            made = Version(answer, now.number + 1, now.number)
            append(sql, item, person, made, {name: value}, person, self.clock())
            self._settle(sql, item, form)
        return made

    def undo(self, queue: str, position: int, person: int, base: int) -> Version:
        """Go back by one change; this is a new version too."""
        form = self.queue(queue).form
        with self.database.write() as sql:
            item = _claimed(sql, queue, position, person)
            made = undone(sql, item, person, person, base, self.clock())
            self._settle(sql, item, form)
        return made

    def _settle(self, sql: sqlite3.Connection, item: int, form: Form) -> None:
        """Note which readers are done, and what that makes of the item."""
        row = sql.execute(
            "SELECT q.readers FROM items i JOIN queues q ON q.name = i.queue WHERE i.id = ?",
            (item,),
        ).fetchone()
        claims = sql.execute("SELECT person FROM claims WHERE item = ?", (item,)).fetchall()
        done: list[Answer] = []
        for (person,) in claims:
            answer = latest(sql, item, person).answer
            complete = form.complete(answer)
            sql.execute(
                "UPDATE claims SET complete = ? WHERE item = ? AND person = ?",
                (complete, item, person),
            )
            done += [answer] if complete else []
        if latest(sql, item, RULING).answer:
            status = Status.RULED
        elif len(done) < row["readers"]:
            status = Status.OPEN
        else:
            status = Status.DISPUTED if form.consensus(done) is None else Status.AGREED
        sql.execute("UPDATE items SET status = ? WHERE id = ?", (status, item))

    # ---- Adjudication ----------------------------------------------------------------------------

    def rule(
        self,
        queue: str,
        position: int,
        person: int,
        base: int,
        values: Mapping[str, str],
        reason: str,
    ) -> Version:
        """The adjudicated answer to an item that all its readers have finished."""
        form = self.queue(queue).form
        if not reason.strip():
            raise Refused("give the reason of the ruling")
        answer = form.ruling(values) | {"reason": reason.strip()}
        with self.database.write() as sql:
            item = _finished(sql, queue, position)
            now = latest(sql, item, RULING)
            if now.answer == answer:
                return now
            if now.number != base:
                raise Conflict("this ruling was changed in another window; look at it again")
            made = Version(answer, now.number + 1, now.number)
            append(sql, item, RULING, made, answer, person, self.clock())
            self._settle(sql, item, form)
        return made

    def undo_ruling(self, queue: str, position: int, person: int, base: int) -> Version:
        """Take a ruling back, or back to the one before."""
        form = self.queue(queue).form
        with self.database.write() as sql:
            item = _finished(sql, queue, position)
            made = undone(sql, item, RULING, person, base, self.clock())
            self._settle(sql, item, form)
        return made

    def release(self, queue: str, person: int) -> int:
        """Give a person's unfinished items back to the queue; how many they were."""
        with self.database.write() as sql:
            return sql.execute(
                "DELETE FROM claims WHERE person = ? AND NOT complete "
                "AND item IN (SELECT id FROM items WHERE queue = ?)",
                (person, queue),
            ).rowcount

    def reference(self, item: int) -> dict[str, Any] | None:
        """The labels that were hidden from the readers; none before the item is settled."""
        row = self.database.one(
            "SELECT r.data FROM reference r JOIN items i ON i.id = r.item "
            "WHERE i.id = ? AND i.status IN ('agreed', 'ruled')",
            item,
        )
        return None if row is None else json.loads(row[0])

    def note(self, person: str, what: str) -> None:
        """Write something that was done into the log."""
        with self.database.write() as sql:
            sql.execute("INSERT INTO log VALUES (?, ?, ?)", (self.clock(), person, what))


def _claimed(sql: sqlite3.Connection, queue: str, position: int, person: int) -> int:
    row = sql.execute(
        "SELECT i.id, i.status FROM items i JOIN claims c ON c.item = i.id AND c.person = ? "
        "WHERE i.queue = ? AND i.position = ?",
        (person, queue, position),
    ).fetchone()
    if row is None:
        raise Refused("this item is not yours to answer")
    if row["status"] == Status.RULED:
        raise Refused("this item has been adjudicated; its answers are closed")
    return row["id"]


def _finished(sql: sqlite3.Connection, queue: str, position: int) -> int:
    row = sql.execute(
        "SELECT id, status FROM items WHERE queue = ? AND position = ?", (queue, position)
    ).fetchone()
    if row is None:
        raise Refused("there is no such item")
    if row["status"] == Status.OPEN:
        raise Refused("not all readers have answered this item yet")
    return row["id"]
