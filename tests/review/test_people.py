"""People: who gets in, and for how long."""

from __future__ import annotations

import pytest

from interpact.errors import InterPactError
from interpact.review.people import DAY, People, Role, TooMany
from interpact.review.store import Store
from tests.review.conftest import PASSWORD, Clock


@pytest.fixture
def people(store: Store, clock: Clock) -> People:
    return People(store.database, clock)


def test_only_the_right_password_of_somebody_who_is_let_in(people: People):
    ben = people.add("Ben", Role.REVIEWER, PASSWORD)
    nobody = people.add("Dora", Role.REVIEWER)
    assert people.check("ben", PASSWORD, "1.1.1.1") == ben
    assert people.check(" BEN ", PASSWORD, "1.1.1.1") == ben
    for name, password in [("ben", PASSWORD + "x"), ("ben", ""), ("eve", PASSWORD), ("dora", "")]:
        assert people.check(name, password, "1.1.1.1") is None
    people.disable(ben.id)
    assert people.check("ben", PASSWORD, "1.1.1.1") is None
    assert people.invited(people.invite(nobody.id)) == nobody


def test_passwords_and_tokens_are_nowhere_in_the_file(people: People, store: Store):
    ben = people.add("ben", Role.REVIEWER, PASSWORD)
    tokens = [people.open_session(ben.id), people.invite(ben.id)]
    store.database._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = store.database.path.read_bytes()
    assert b"$argon2id$" in content
    for secret in (PASSWORD, *tokens):
        assert secret.encode() not in content
    assert store.database.path.stat().st_mode & 0o077 == 0


def test_the_real_hashes_are_slow_and_large(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.undo()
    from interpact.review.people import _hasher

    hasher = _hasher()
    assert hasher.memory_cost >= 19_456 and hasher.time_cost >= 2  # OWASP's least for argon2id


def test_guessing_is_stopped_for_a_while(people: People, clock: Clock):
    ben = people.add("ben", Role.REVIEWER, PASSWORD)
    for _ in range(5):
        assert people.check("ben", "wrong password", "6.6.6.6") is None
    with pytest.raises(TooMany):
        people.check("ben", PASSWORD, "6.6.6.6")
    assert people.check("ben", PASSWORD, "1.1.1.1") == ben  # the owner elsewhere
    clock.now += 901
    assert people.check("ben", PASSWORD, "6.6.6.6") == ben


def test_guessing_many_names_or_from_many_places_is_stopped(people: People, clock: Clock):
    people.add("ben", Role.REVIEWER, PASSWORD)
    for n in range(40):
        assert people.check(f"name{n}", "wrong password", "6.6.6.6") is None
    with pytest.raises(TooMany):
        people.check("another", "wrong password", "6.6.6.6")
    for n in range(60):
        assert people.check("ben", "wrong password", f"7.7.7.{n}") is None
    with pytest.raises(TooMany):
        people.check("ben", "wrong password", "8.8.8.8")


def test_sessions_and_invitations_end(people: People, clock: Clock):
    ben = people.add("ben", Role.REVIEWER, PASSWORD)
    session, other = people.open_session(ben.id), people.open_session(ben.id)
    assert people.who(session) == people.who(other) == ben
    people.close_session(session)
    assert people.who(session) is None and people.who(other) == ben
    first = people.invite(ben.id)
    second = people.invite(ben.id)
    assert people.invited(first) is None and people.invited(second) == ben
    clock.now += 7 * DAY + 1
    assert people.who(other) is None and people.invited(second) is None
    third, session = people.invite(ben.id), people.open_session(ben.id)
    people.set_password(ben.id, "another long password")
    assert people.invited(third) is None and people.who(session) is None


@pytest.mark.parametrize("name", ["", " ", "-x", "<b>", "a\nb", "x" * 61, "a/b", "\u202eben"])
def test_odd_names_are_refused(people: People, name: str):
    with pytest.raises(InterPactError, match="give a name"):
        people.add(name, Role.REVIEWER)


def test_names_are_given_once_and_passwords_have_a_length(people: People):
    people.add("Ben", Role.REVIEWER)
    with pytest.raises(InterPactError, match="already"):
        people.add("ben", Role.ADMIN)
    with pytest.raises(InterPactError, match="at least 10"):
        people.add("cid", Role.REVIEWER, "short")
