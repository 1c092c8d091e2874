"""Answers kept on disk by what was asked: each is committed before it is handed on."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sqlite3
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Self, TypeVar

from interpact.errors import InterPactError

T = TypeVar("T")

_APPLICATION = 0x49504143  # "IPAC": tells our file from any other SQLite file
_TIDY_EVERY = 1000  # answers; keeps the write-ahead log at a few megabytes
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def cache_key(
    model: str,
    parameters: Mapping[str, Any],
    messages: Sequence[Mapping[str, str]],
    schema: Mapping[str, Any],
) -> str:
    """What tells one question from another, as 64 hexadecimal digits."""
    parts = [model, parameters, messages, schema]
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


class Cache:
    """A file of answers for any number of processes; `:memory:` keeps them for one run.

    A kept answer survives `kill -9`; a power cut may cost the last moments, never the file. Without
    a sync to the disk for each, a commit takes some twenty microseconds on a local disk: less than
    handing it to a thread would cost the event loop.
    """

    def __init__(self, path: str | Path, *, patience: float = 30.0) -> None:
        self.path, self.patience = str(path), patience
        self._database: sqlite3.Connection | None = None
        self._running: dict[str, asyncio.Task[Any]] = {}
        self._kept = 0

    def __enter__(self) -> Self:
        try:
            if self.path != ":memory:":
                Path(self.path).parent.mkdir(parents=True, exist_ok=True)
            self._database = self._opened()
        except (sqlite3.Error, OSError) as error:
            raise self._explained(error) from None
        return self

    def __exit__(self, *_: object) -> None:
        database, self._database = self._database, None
        if database is not None:
            with suppress(sqlite3.Error):
                database.close()

    async def get(self, key: str) -> str | None:
        """The value kept for a key."""
        rows = await self._run("select value from answers where key = ?", key)
        return rows[0][0] if rows else None

    async def put(self, key: str, value: str) -> str:
        """Keep a value and return, once it is committed, what is kept: the first value wins."""
        rows = await self._run(
            "insert into answers values (?, ?) on conflict do nothing returning value", key, value
        )
        self._kept += 1
        if self._kept % _TIDY_EVERY == 0 and self.path != ":memory:":
            asyncio.get_running_loop().run_in_executor(None, self._tidy)
        return rows[0][0] if rows else await self.get(key) or value

    async def share(self, key: str, make: Callable[[], Coroutine[Any, Any, T]]) -> tuple[T, bool]:
        """What `make` gives, and whether another caller's call gave it: one at a time for a key.

        The call goes on when its callers are cancelled: what has been sent is paid for.
        """
        running = self._running.get(key)
        task = running or asyncio.get_running_loop().create_task(make())
        if running is None:
            self._running[key] = task
            task.add_done_callback(lambda done: self._finished(key, done))
        return await asyncio.shield(task), running is not None

    def _finished(self, key: str, task: asyncio.Task[Any]) -> None:
        del self._running[key]
        if not task.cancelled():
            task.exception()  # its callers may be gone

    async def _run(self, statement: str, *values: str) -> list[tuple[str]]:
        """The rows of a statement; others go on while another process holds the file."""
        until = time.monotonic() + self.patience
        while True:
            if self._database is None:
                raise InterPactError(f"{self.path}: the answer cache is closed; open it first")
            try:
                return self._database.execute(statement, values).fetchall()
            except sqlite3.Error as error:
                busy = _code(error) in _BUSY
                if not busy or time.monotonic() > until:
                    raise self._explained(error) from None
            await asyncio.sleep(0.01)

    def _opened(self) -> sqlite3.Connection:
        database = sqlite3.connect(
            self.path, timeout=self.patience, isolation_level=None, check_same_thread=False
        )
        try:
            # In this order: a process that makes the file sets both at one moment.
            (tables,) = database.execute("select count(*) from sqlite_master").fetchone()
            (application,) = database.execute("pragma application_id").fetchone()
            if tables and application != _APPLICATION:
                raise sqlite3.DatabaseError("file is not a database of answers")
            _switch_to_wal(database, self.patience)
            database.execute("pragma synchronous = normal")
            database.execute("pragma wal_autocheckpoint = 0")  # its syncs would hold up the loop
            database.execute("begin immediate")
            database.execute(f"pragma application_id = {_APPLICATION}")
            database.execute(
                "create table if not exists answers "
                "(key text primary key, value text not null) without rowid"
            )
            database.execute("commit")
            database.execute("pragma busy_timeout = 0")
        except BaseException:
            database.close()
            raise
        return database

    def _tidy(self) -> None:
        """Bring the write-ahead log into the file; not now is soon enough."""
        with suppress(sqlite3.Error), closing(sqlite3.connect(self.path)) as database:
            database.execute("pragma wal_checkpoint(passive)")

    def _explained(self, error: Exception) -> InterPactError:
        """An error of SQLite in words that tell what to do."""
        code, what = _code(error), str(error)
        if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
            advice = "make room on the disk and run again; every answer kept so far stays"
        elif code in _BUSY:
            advice = "another process holds it; wait for it or end it, then run again"
        elif code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, None):
            advice = "name a file in a folder that can be written to"
        else:
            advice = (
                "it is damaged, or something else than an answer cache; move it away or name "
                "another file (what it held is asked again)"
            )
        return InterPactError(f"{self.path}: the answer cache fails ({what}); {advice}")


def _code(error: Exception) -> int | None:
    """SQLite's primary result code; nothing for an error of the file system."""
    if not isinstance(error, sqlite3.Error):
        return None
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_NOTADB) & 0xFF


def _switch_to_wal(database: sqlite3.Connection, patience: float) -> None:
    # SQLite does not wait by itself when two processes switch a new file at the same moment.
    until = time.monotonic() + patience
    while True:
        try:
            database.execute("pragma journal_mode = wal")
            return
        except sqlite3.OperationalError as error:
            if _code(error) not in _BUSY or time.monotonic() > until:
                raise
            time.sleep(0.02)
