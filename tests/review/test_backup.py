"""Backup and restore: everything comes back, and nothing is overwritten by mistake."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path

import pytest

from interpact.errors import InterPactError
from interpact.review.backup import backup, in_use, restore
from interpact.review.database import FILE, Database
from interpact.review.people import People, Person
from interpact.review.store import Store
from interpact.review.versions import Queue
from tests.review.conftest import GOOD, PASSWORD, read


def test_a_backup_made_while_people_work_holds_whole_answers(
    store: Store, folder: Path, audit: Queue, team: dict[str, Person], tmp_path: Path
):
    stop = threading.Event()
    ben = team["ben"].id
    store.next_position("audit", ben)

    def work() -> None:
        number = 0
        while not stop.is_set():
            value = "yes" if number % 2 else "no"
            number = store.save("audit", 1, ben, number, "association", value).number

    worker = threading.Thread(target=work)
    worker.start()
    try:
        backup(folder, tmp_path / "one.backup")
    finally:
        stop.set()
        worker.join()
    read(store, "audit", team["cid"], [GOOD])
    backup(folder, tmp_path / "two.backup")
    assert os.stat(tmp_path / "two.backup").st_mode & 0o077 == 0
    answers = [tuple(row) for row in store.database.all("SELECT * FROM answers")]
    store.save("audit", 1, team["cid"].id, 5, "comment", "after the backup")
    store.database.close()
    with pytest.raises(InterPactError, match="already"):
        restore(folder, tmp_path / "two.backup")
    restore(folder, tmp_path / "two.backup", force=True)
    with Database.open(folder / FILE) as database:
        assert [tuple(row) for row in database.all("SELECT * FROM answers")] == answers
        assert People(database).check("ben", PASSWORD, "1.1.1.1") is not None
        reading = Store(database).reading("audit", 1, team["cid"].id)
        assert reading is not None and reading.version.answer == GOOD | {"revealed": "yes"}
    restore(folder, tmp_path / "one.backup", force=True)
    with Database.open(folder / FILE) as database:
        versions = [row[0] for row in database.all("SELECT version FROM answers ORDER BY version")]
        assert versions == list(range(1, len(versions) + 1))


def test_what_a_killed_server_left_beside_the_file_does_not_come_back(
    store: Store, folder: Path, audit: Queue, team: dict[str, Person], tmp_path: Path
):
    backup(folder, tmp_path / "empty.backup")
    read(store, "audit", team["ben"], [GOOD])
    dead = tmp_path / "dead"
    dead.mkdir()
    for ending in ("", "-wal", "-shm"):  # as kill -9 leaves them
        shutil.copy(folder / (FILE + ending), dead / (FILE + ending))
    with Database.open(dead / FILE) as database:
        assert len(database.all("SELECT 1 FROM answers")) == 5
    for ending in ("", "-wal", "-shm"):
        if (folder / (FILE + ending)).exists():
            shutil.copy(folder / (FILE + ending), dead / (FILE + ending))
    restore(dead, tmp_path / "empty.backup", force=True)
    with Database.open(dead / FILE) as database:
        assert database.all("SELECT 1 FROM answers") == []


def test_what_is_no_backup_is_refused(store: Store, folder: Path, tmp_path: Path):
    (tmp_path / "no.backup").write_bytes(b"hello " * 1000)
    backup(folder, tmp_path / "torn.backup")
    content = bytearray((tmp_path / "torn.backup").read_bytes())
    content[4096 : 4096 * 3] = os.urandom(4096 * 2)
    (tmp_path / "torn.backup").write_bytes(content)
    for name in ("no.backup", "torn.backup", "missing.backup"):
        with pytest.raises(InterPactError, match="backup"):
            restore(folder, tmp_path / name, force=True)
    with pytest.raises(InterPactError, match="exists already"):
        backup(folder, tmp_path / "no.backup")
    assert [p.name for p in folder.glob(f".{FILE}.*") if not p.name.endswith(".lock")] == []


def test_a_review_that_is_served_is_not_replaced(store: Store, folder: Path, tmp_path: Path):
    backup(folder, tmp_path / "one.backup")
    with in_use(folder), pytest.raises(InterPactError, match="is being served"):
        restore(folder, tmp_path / "one.backup", force=True)
    restore(folder, tmp_path / "one.backup", force=True)
