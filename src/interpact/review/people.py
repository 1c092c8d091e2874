"""Reviewers and admins: passwords, invitations, sessions, and a limit on guessing."""

from __future__ import annotations

import re
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from hashlib import sha256

from interpact.errors import InterPactError
from interpact.review.database import Database

DAY = 86_400.0
SESSION, INVITE, WINDOW = 7 * DAY, 7 * DAY, 900.0
MAX_FAILURES = {"name and address": 5, "address": 40, "name": 60}
SHORTEST, LONGEST = 10, 1_000  # characters of a password


class Role(StrEnum):
    """What a person may do: readers answer, admins invite, adjudicate and see everything."""

    REVIEWER = "reviewer"
    ADMIN = "admin"


class TooMany(InterPactError):
    """Too many wrong passwords; try later."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who signs in."""

    id: int
    name: str
    role: Role
    disabled: bool = False


class People:
    """The people of a review file."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self.database = database
        self.clock = clock

    def all(self) -> list[Person]:
        """Everybody, by name."""
        return [_person(row) for row in self.database.all("SELECT * FROM people ORDER BY name")]

    def named(self, name: str) -> Person | None:
        """The person of that name."""
        row = self.database.one("SELECT * FROM people WHERE name = ?", name)
        return None if row is None else _person(row)

    def add(self, name: str, role: Role, password: str | None = None) -> Person:
        """A new person."""
        name = name.strip()
        if not re.fullmatch(r"[\w][\w .@'+-]{0,59}", name):
            raise InterPactError(
                "give a name of up to 60 letters, digits, spaces and . @ ' + -, "
                "beginning with a letter or digit"
            )
        hashed = None if password is None else _hashed(password)
        try:
            with self.database.write() as sql:
                made = sql.execute(
                    "INSERT INTO people (name, role, password, made) VALUES (?, ?, ?, ?)",
                    (name, role, hashed, self.clock()),
                ).lastrowid
        except sqlite3.IntegrityError:
            raise InterPactError(f'there is a person "{name}" already; give another name') from None
        assert made is not None
        return Person(made, name, role)

    def set_password(self, person: int, password: str) -> None:
        """A new password; it ends all sessions and invitations of the person."""
        hashed = _hashed(password)
        with self.database.write() as sql:
            sql.execute("UPDATE people SET password = ? WHERE id = ?", (hashed, person))
            sql.execute("DELETE FROM sessions WHERE person = ?", (person,))
            sql.execute("DELETE FROM invites WHERE person = ?", (person,))

    def disable(self, person: int, disabled: bool = True) -> None:
        """Shut a person out, or let them in again; what they answered stays."""
        with self.database.write() as sql:
            sql.execute("UPDATE people SET disabled = ? WHERE id = ?", (disabled, person))
            sql.execute("DELETE FROM sessions WHERE person = ?", (person,))
            sql.execute("DELETE FROM invites WHERE person = ?", (person,))

    def check(self, name: str, password: str, address: str) -> Person | None:
        """The person of that name and password; none if they do not fit."""
        name = name.strip()
        attempt = self._attempt(name.casefold()[:60], address)
        row = self.database.one("SELECT * FROM people WHERE name = ? AND NOT disabled", name)
        # An unknown name takes as long as a wrong password, so that names cannot be told apart.
        right = _verified((row["password"] if row else None) or _nobody(), password)
        if row is None or not row["password"] or not right:
            return None
        with self.database.write() as sql:
            sql.execute(
                "DELETE FROM failures WHERE rowid = ? OR (name = ? AND address = ?)",
                (attempt, name.casefold()[:60], address),
            )
        return _person(row)

    def _attempt(self, name: str, address: str) -> int:
        """Count an attempt as failed before it is looked at: many at once must not slip through."""
        now = self.clock()
        with self.database.write() as sql:
            sql.execute("DELETE FROM failures WHERE at < ?", (now - WINDOW,))
            row = sql.execute(
                "SELECT coalesce(sum(name = ?1 AND address = ?2), 0) AS 'name and address', "
                "coalesce(sum(address = ?2), 0) AS address, coalesce(sum(name = ?1), 0) AS name "
                "FROM failures",
                (name, address),
            ).fetchone()
            if any(row[what] >= most for what, most in MAX_FAILURES.items()):
                raise TooMany("too many wrong passwords; wait a quarter of an hour and try again")
            made = sql.execute(
                "INSERT INTO failures VALUES (?, ?, ?)", (now, name, address)
            ).lastrowid
        assert made is not None
        return made

    def open_session(self, person: int) -> str:
        """A new session; its token is kept only as a digest."""
        token = secrets.token_urlsafe(32)
        with self.database.write() as sql:
            now = self.clock()
            sql.execute("DELETE FROM sessions WHERE expires < ?", (now,))
            sql.execute(
                "INSERT INTO sessions VALUES (?, ?, ?)", (_digest(token), person, now + SESSION)
            )
        return token

    def who(self, token: str) -> Person | None:
        """The person whose session it is."""
        row = self.database.one(
            "SELECT p.* FROM sessions s JOIN people p ON p.id = s.person "
            "WHERE s.token = ? AND s.expires >= ? AND NOT p.disabled",
            *(_digest(token), self.clock()),
        )
        return None if row is None else _person(row)

    def close_session(self, token: str) -> None:
        """End a session."""
        with self.database.write() as sql:
            sql.execute("DELETE FROM sessions WHERE token = ?", (_digest(token),))

    def invite(self, person: int) -> str:
        """The token of a link with which the person sets a password, once and within a week."""
        token = secrets.token_urlsafe(32)
        with self.database.write() as sql:
            sql.execute("DELETE FROM invites WHERE person = ?", (person,))
            sql.execute(
                "INSERT INTO invites VALUES (?, ?, ?)",
                (_digest(token), person, self.clock() + INVITE),
            )
        return token

    def invited(self, token: str) -> Person | None:
        """The person whom an invitation is for."""
        row = self.database.one(
            "SELECT p.* FROM invites i JOIN people p ON p.id = i.person "
            "WHERE i.token = ? AND i.expires >= ? AND NOT p.disabled",
            *(_digest(token), self.clock()),
        )
        return None if row is None else _person(row)


def _person(row: sqlite3.Row) -> Person:
    return Person(row["id"], row["name"], Role(row["role"]), bool(row["disabled"]))


def _digest(token: str) -> str:
    return sha256(token.encode()).hexdigest()


# Each check takes 64 MB by design; more than two at a time would let strangers fill the memory.
_hashing = threading.BoundedSemaphore(2)


@cache
def _hasher():
    from argon2 import PasswordHasher

    return PasswordHasher()


@cache
def _nobody() -> str:
    return _hasher().hash(secrets.token_urlsafe(16))


def _hashed(password: str) -> str:
    if not SHORTEST <= len(password) <= LONGEST:
        raise InterPactError(f"choose a password of at least {SHORTEST} characters")
    with _hashing:
        return _hasher().hash(password)


def _verified(hashed: str, password: str) -> bool:
    from argon2.exceptions import VerificationError

    with _hashing:
        try:
            return _hasher().verify(hashed, password[:LONGEST])
        except VerificationError:
            return False
