"""Backup and restore of a review file, safe while people work."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

from interpact.case.files import replacing
from interpact.errors import InterPactError
from interpact.review.database import APPLICATION, FILE, VERSION, Database

try:
    import fcntl
except ImportError:  # Windows: a restore is not kept from a running server
    fcntl = None


def backup(folder: str | Path, to: str | Path) -> None:
    """Copy the review of a folder as it is now into a file; people may go on working."""
    to = Path(to)
    if to.exists():
        raise InterPactError(f"{to}: exists already; give a new name")
    with Database.open(Path(folder) / FILE) as database, replacing(to) as temporary:
        temporary.unlink()
        database.copy_to(temporary)
        _check(temporary)
    to.chmod(0o600)


def restore(folder: str | Path, source: str | Path, force: bool = False) -> None:
    """Put a backup in the place of the review of a folder, which no server may be using."""
    target, source = Path(folder) / FILE, Path(source)
    _check(source)
    if target.exists() and not force:
        raise InterPactError(
            f"{target}: there is a review already; make a backup of it, then use --force"
        )
    with in_use(folder, alone=True), replacing(target) as temporary:
        with closing(sqlite3.connect(f"file:{source}?mode=ro", uri=True)) as found:
            found.execute("VACUUM INTO ?", (_emptied(temporary),))
        _check(temporary)
        # What the replaced file has not taken in yet must not be put into the new one.
        for ending in ("-wal", "-shm"):
            target.with_name(target.name + ending).unlink(missing_ok=True)
    target.chmod(0o600)


@contextmanager
def in_use(folder: str | Path, alone: bool = False) -> Generator[None]:
    """Hold the review of a folder while serving it, or alone while replacing it."""
    path = Path(folder) / f".{FILE}.lock"
    with path.open("w") as file:
        if fcntl is not None:
            try:
                fcntl.flock(file, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
            except OSError:
                what = "is being served; stop `interpact serve`" if alone else "is being restored"
                raise InterPactError(f"{folder}: this review {what} first") from None
        yield


def _emptied(path: Path) -> str:
    path.unlink()
    return str(path)


def _check(path: Path) -> None:
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as found:
            kind = found.execute("PRAGMA application_id").fetchone()[0]
            version = found.execute("PRAGMA user_version").fetchone()[0]
            sound = found.execute("PRAGMA integrity_check").fetchone()[0]
    except sqlite3.DatabaseError as error:
        raise InterPactError(f"{path}: is no backup of a review: {error}") from None
    if (kind, version) != (APPLICATION, VERSION) or sound != "ok":
        raise InterPactError(f"{path}: is no sound backup of a review of this version: {sound}")
