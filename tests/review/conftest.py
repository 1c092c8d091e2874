"""A corpus with a review in it, people in it, and a server for browsers."""

from __future__ import annotations

import re
import shutil
import socket
import threading
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from argon2 import PasswordHasher
from starlette.applications import Starlette
from starlette.testclient import TestClient

from interpact.corpus.store import SAMPLE, Corpus
from interpact.review import people as people_module
from interpact.review.audit import sample
from interpact.review.database import FILE, Database
from interpact.review.people import People, Person, Role
from interpact.review.questions import REVEALED
from interpact.review.store import Store
from interpact.review.versions import Queue

PASSWORD = "a long enough password"


@pytest.fixture(autouse=True)
def cheap_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hashing costs time by design; tests need only that it is done."""
    hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr(people_module, "_hasher", lambda: hasher)
    people_module._nobody.cache_clear()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The sample corpus, to be changed at will."""
    target = tmp_path / "corpus"
    shutil.copytree(SAMPLE, target)
    return target


@pytest.fixture
def corpus(folder: Path) -> Corpus:
    return Corpus.read(folder)


class Clock:
    """A time that tests move."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(folder: Path, clock: Clock) -> Generator[Store]:
    with Database.open(folder / FILE, create=True) as database:
        yield Store(database, clock)


@pytest.fixture
def audit(store: Store, corpus: Corpus) -> Queue:
    """An audit of six pairs."""
    return sample(store, corpus, 6, seed=3)


@pytest.fixture
def team(store: Store) -> dict[str, Person]:
    """Three reviewers and an admin."""
    return add_team(store)


def add_team(store: Store) -> dict[str, Person]:
    people = People(store.database, store.clock)
    team = {n: people.add(n, Role.REVIEWER, PASSWORD) for n in ("ben", "cid", "dora")}
    return team | {"ada": people.add("ada", Role.ADMIN, PASSWORD)}


GOOD = {"association": "yes", "state": "satisfied", "preserved": "yes", "fidelity": "yes"}


def read(store: Store, queue: str, person: Person, answers: Iterable[dict[str, str]]) -> list[int]:
    """Answer the next items of a queue as a person; gives their positions."""
    found: list[int] = []
    for answer in answers:
        position = store.next_position(queue, person.id)
        assert position is not None
        give(store, queue, position, person, answer)
        found.append(position)
    return found


def give(store: Store, queue: str, position: int, person: Person, answer: dict[str, str]) -> None:
    """Answer one claimed item, revealing what is to be revealed on the way."""
    version = 0
    for question in store.queue(queue).form.questions:
        if question.late:
            version = store.save(queue, position, person.id, version, REVEALED, "yes").number
        version = store.save(
            queue, position, person.id, version, question.name, answer[question.name]
        ).number


class Visitor(TestClient):
    """A browser without scripts: forms are found on pages, filled in and sent."""

    def __init__(self, app: Any, base_url: str = "http://testserver") -> None:
        super().__init__(app, base_url=base_url, raise_server_exceptions=True)
        self.headers["accept"] = "text/html"

    def token(self, page: str) -> str:
        found = re.search(r'name="csrf" value="(\w+)"', self.get(page).text)
        assert found, page
        return found[1]

    def fill(self, where: str, page: str | None = None, **fields: Any) -> Any:
        """Send a form with the token of a page."""
        token = self.token(page or where)
        return self.post(where, data={"csrf": token, **fields})

    def sign_in(self, name: str, password: str = PASSWORD) -> Any:
        return self.fill("/login", name=name, password=password)


@contextmanager
def served(app: Starlette) -> Generator[str]:
    """A running server; gives its address."""
    sock = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_level="warning", access_log=False, lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{sock.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)
        sock.close()
