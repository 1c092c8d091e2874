"""How far everybody is, and how long items take."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import median

from interpact.review.store import Store
from interpact.review.versions import Status, Version, latest


@dataclass(frozen=True, slots=True)
class Progress:
    """One reader in one queue."""

    queue: str
    person: str
    person_id: int
    begun: int
    finished: int
    seconds: float | None
    """The median of the finished items."""
    hours: float


def counts(store: Store, queue: str) -> Counter[Status]:
    """How many items of a queue have which status."""
    rows = store.database.all(
        "SELECT status, count(*) FROM items WHERE queue = ? GROUP BY status", queue
    )
    return Counter({Status(row[0]): row[1] for row in rows})


def progress(store: Store) -> list[Progress]:
    """Every reader in every queue."""
    rows = store.database.all(
        "SELECT i.queue, p.name, p.id, c.complete, "
        "(SELECT coalesce(sum(a.seconds), 0) FROM answers a "
        " WHERE a.item = c.item AND a.author = c.person) AS seconds "
        "FROM claims c JOIN items i ON i.id = c.item JOIN people p ON p.id = c.person "
        "ORDER BY i.queue, p.name"
    )
    found: list[Progress] = []
    for queue, name, id in dict.fromkeys((r["queue"], r["name"], r["id"]) for r in rows):
        own = [row for row in rows if (row["queue"], row["id"]) == (queue, id)]
        times = [row["seconds"] for row in own if row["complete"]]
        found.append(
            Progress(
                *(queue, name, id, len(own), len(times)),
                median(times) if times else None,
                sum(row["seconds"] for row in own) / 3600,
            )
        )
    return found


def versions(store: Store, item: int, author: int) -> Version:
    """The latest version of an author's answer to an item."""
    with store.database.write() as sql:
        return latest(sql, item, author)
