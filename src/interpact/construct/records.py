"""What became of each attempt: the journal, which survives kill -9, and the review queue.

`attempts.jsonl` gets one line per finished attempt. The last line about a root and operation counts.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from interpact.case.case import Id, Root, Text
from interpact.case.files import replacing
from interpact.case.states import State
from interpact.construct.judges import Reading, Said
from interpact.corpus.pairs import Operation, PairRecord, Tier, intervened
from interpact.errors import InterPactError

try:
    import fcntl
except ImportError:  # Windows: two runs on one folder are not kept apart
    fcntl = None

ATTEMPTS, REVIEW = "attempts.jsonl", "review.jsonl"
ADJUDICATED, REVIEWED, SHARED = "state_adjudicated", "state_reviewed", "shared_bearing"


class Outcome(StrEnum):
    """What became of an attempt; `review`: the judges did not settle on a state."""

    ACCEPTED = "accepted"
    ABSTAINED = "abstained"
    EXCLUDED = "excluded"
    REVIEW = "review"


class Attempt(BaseModel):
    """A line of attempts.jsonl: one root and operation, finished."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: Id
    root: Id
    operation: Operation
    outcome: Outcome
    reason: str = ""
    """Why it was abstained from or excluded: one of few, to be counted."""
    note: Said = ""
    editor: Text | None = None
    text: str | None = None
    state: State | None = None
    flags: tuple[Text, ...] = ()
    readings: tuple[Reading, ...] = ()
    by: str
    """The editor, judges and assessor that were asked."""
    case: str
    """The digest of the root's text when it was attempted."""

    def pair(self) -> PairRecord:
        """The pair of an accepted attempt."""
        assert self.state is not None, "accepted attempts have a state"
        return PairRecord(
            id=self.id,
            root=self.root,
            operation=self.operation,
            text=self.text,
            state_after=self.state,
            tier=Tier.EXTENDED if self.flags else Tier.STANDARD,
            flags=self.flags,
            editor=self.editor,
        )


class ReviewItem(BaseModel):
    """A line of review.jsonl: all that a person needs to read the state; they fill in `state`."""

    id: str
    state: State | None = None
    rule: str
    query: str
    condition: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    operation: Operation
    editor: str | None
    text: str | None
    flags: tuple[str, ...]
    readings: tuple[Reading, ...]

    @staticmethod
    def of(root: Root, attempt: Attempt) -> ReviewItem:
        """The open question of an attempt."""
        after = intervened(root.case, root.evidence, attempt.operation, attempt.text)
        return ReviewItem(
            id=attempt.id,
            rule=root.case.rule,
            query=root.case.query,
            condition=root.case.conditions[root.condition],
            before=tuple(unit.text for unit in root.case.evidence),
            after=tuple(unit.text for unit in after.evidence),
            operation=attempt.operation,
            editor=attempt.editor,
            text=attempt.text,
            flags=attempt.flags,
            readings=attempt.readings,
        )


def write_review(path: Path, items: Iterable[ReviewItem]) -> None:
    """Write the queue, all or nothing; an item that needs no answer any more is gone from it."""
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        for item in items:
            file.write(item.model_dump_json() + "\n")


def digest(root: Root) -> str:
    """A digest of everything an attempt on the root depends on; labels are no part of it."""
    content = "\0".join((root.case.model_dump_json(), root.evidence, root.condition))
    return blake2b(content.encode(), digest_size=12).hexdigest()


def attempts(folder: str | Path) -> Iterator[Attempt]:
    """The attempts of a folder in the order in which they ended; a torn last line is no attempt."""
    path = Path(folder) / ATTEMPTS
    if not path.exists():
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            try:
                yield Attempt.model_validate_json(line)
            except ValidationError as error:
                first = error.errors(include_url=False)[0]
                at = ".".join(map(str, first["loc"]))
                raise InterPactError(
                    f"{path}:{number}: {at + ': ' if at else ''}{first['msg']}; "
                    "restore the file, or remove this line to have the attempt made again"
                ) from None


@dataclass
class Journal:
    """The open attempts.jsonl of a folder; no two runs hold it at once."""

    path: Path
    _file: BinaryIO
    _unsynced: int = 0

    GROUP = 32  # lines between two fsyncs: what a power failure may cost; a kill costs none

    @staticmethod
    def open(folder: str | Path) -> Journal:
        """Open for appending; what a kill left of a half-written line is cut off."""
        path = Path(folder) / ATTEMPTS
        file = path.open("ab+")
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                file.close()
                raise InterPactError(
                    f"{path}: another run is writing this corpus; wait until it has ended"
                ) from None
        _cut_torn_line(file)
        return Journal(path, file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.sync()
        self._file.close()

    def append(self, attempt: Attempt) -> bool:
        """Write a finished attempt; whether it is time to sync."""
        self._file.write(attempt.model_dump_json(exclude_defaults=True).encode() + b"\n")
        self._file.flush()
        self._unsynced += 1
        return self._unsynced >= self.GROUP

    def sync(self) -> None:
        """Have everything written reach the disk."""
        self._unsynced = 0
        os.fsync(self._file.fileno())


def _cut_torn_line(file: BinaryIO) -> None:
    end = file.seek(0, os.SEEK_END)
    keep = end
    while keep > 0:
        start = max(0, keep - 65536)
        file.seek(start)
        block = file.read(keep - start)
        newline = block.rfind(b"\n")
        if newline >= 0:
            keep = start + newline + 1
            break
        keep = start
    if keep < end:
        file.truncate(keep)
