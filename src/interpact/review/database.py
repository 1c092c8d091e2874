"""The file that holds everything of a review: one SQLite database in WAL mode beside the corpus."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from interpact.errors import InterPactError

FILE = "review.sqlite"
APPLICATION, VERSION = 0x49504143, 1

SCHEMA = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE people (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE COLLATE NOCASE, role TEXT NOT NULL,
  password TEXT, disabled INTEGER NOT NULL DEFAULT 0, made REAL NOT NULL) STRICT;
CREATE TABLE sessions (
  token TEXT PRIMARY KEY, person INTEGER NOT NULL REFERENCES people, expires REAL NOT NULL) STRICT;
CREATE TABLE invites (
  token TEXT PRIMARY KEY, person INTEGER NOT NULL REFERENCES people, expires REAL NOT NULL) STRICT;
CREATE TABLE failures (at REAL NOT NULL, name TEXT NOT NULL, address TEXT NOT NULL) STRICT;
CREATE TABLE queues (
  name TEXT PRIMARY KEY, kind TEXT NOT NULL, readers INTEGER NOT NULL, made REAL NOT NULL,
  facts TEXT NOT NULL) STRICT;
CREATE TABLE items (
  id INTEGER PRIMARY KEY, queue TEXT NOT NULL REFERENCES queues, position INTEGER NOT NULL,
  key TEXT NOT NULL, shown TEXT NOT NULL, revealed TEXT, status TEXT NOT NULL DEFAULT 'open',
  UNIQUE (queue, position), UNIQUE (queue, key)) STRICT;
CREATE TABLE reference (item INTEGER PRIMARY KEY REFERENCES items, data TEXT NOT NULL) STRICT;
CREATE TABLE claims (
  item INTEGER NOT NULL REFERENCES items, person INTEGER NOT NULL REFERENCES people,
  at REAL NOT NULL, opened REAL NOT NULL, complete INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (item, person)) STRICT;
CREATE INDEX claims_of ON claims (person, item);
-- `author` is the reader, or 0 for the adjudicated ruling; `parent` is where an undo leads.
CREATE TABLE answers (
  item INTEGER NOT NULL REFERENCES items, author INTEGER NOT NULL, version INTEGER NOT NULL,
  parent INTEGER NOT NULL, person INTEGER NOT NULL, change TEXT NOT NULL, answer TEXT NOT NULL,
  at REAL NOT NULL, seconds REAL NOT NULL, PRIMARY KEY (item, author, version)) STRICT;
CREATE TABLE log (at REAL NOT NULL, person TEXT NOT NULL, what TEXT NOT NULL) STRICT;
"""


class Database:
    """An open review file. Calls are short and take turns; every commit reaches the disk."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._turn = threading.RLock()

    @staticmethod
    def open(path: str | Path, create: bool = False) -> Database:
        """The review file at a path; a new one only where asked for."""
        path = Path(path)
        if not create and not path.is_file():
            raise InterPactError(
                f"{path}: there is no review here; make one with `interpact audit sample` or "
                "`interpact review queue`"
            )
        fresh = not path.exists()
        if fresh:
            path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))  # it holds password hashes
        connection = sqlite3.connect(
            path, timeout=30, isolation_level=None, check_same_thread=False
        )
        connection.row_factory = sqlite3.Row
        database = Database(path, connection)
        try:
            # An answer that was acknowledged must outlive the server, the machine too.
            for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
                connection.execute(f"PRAGMA {pragma}").close()
            database._prepare()
        except sqlite3.DatabaseError as error:
            connection.close()
            raise InterPactError(f"{path}: is no review file: {error}") from None
        except InterPactError:
            connection.close()
            raise
        return database

    def _prepare(self) -> None:
        with self.write() as sql:
            kind = sql.execute("PRAGMA application_id").fetchone()[0]
            version = sql.execute("PRAGMA user_version").fetchone()[0]
            if not version and not sql.execute("SELECT 1 FROM sqlite_master").fetchone():
                for statement in SCHEMA.strip().split(";\n"):
                    sql.execute(statement)
                sql.execute(f"PRAGMA application_id = {APPLICATION}")
                sql.execute(f"PRAGMA user_version = {VERSION}")
                sql.execute("INSERT INTO facts VALUES ('secret', ?)", (os.urandom(32).hex(),))
            elif (kind, version) != (APPLICATION, VERSION):
                raise InterPactError(
                    f"{self.path}: is no review file of this version of InterPact; "
                    "give the one that `interpact audit sample` wrote"
                )

    def close(self) -> None:
        """Close the file."""
        with self._turn:
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @contextmanager
    def write(self) -> Generator[sqlite3.Connection]:
        """A transaction: all of it is on the disk afterwards, or nothing."""
        with self._turn:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def all(self, query: str, *values: Any) -> list[sqlite3.Row]:
        """The rows of a query."""
        with self._turn:
            return self._connection.execute(query, values).fetchall()

    def one(self, query: str, *values: Any) -> sqlite3.Row | None:
        """The first row of a query."""
        with self._turn:
            return self._connection.execute(query, values).fetchone()

    def fact(self, name: str) -> str:
        """A fact about this file."""
        row = self.one("SELECT value FROM facts WHERE name = ?", name)
        assert row is not None, name
        return row[0]

    def copy_to(self, path: Path) -> None:
        """A copy as of now, also while others write."""
        with self._turn:
            self._connection.execute("VACUUM INTO ?", (str(path),))


def packed(data: object) -> str:
    """JSON as it is kept; the order of conditions and states stays."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))
