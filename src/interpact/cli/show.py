"""What commands tell the person at the screen, on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager


def say(text: str) -> None:
    """Tell something that is not part of the output."""
    print(text, file=sys.stderr)


def count(number: int, noun: str) -> str:
    """`1 case`, `2 cases`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


@contextmanager
def progress_bar(
    noun: str, total: int | None = None, least: int = 0
) -> Generator[Callable[[int], None] | None]:
    """A bar to be told of progress, when a person is there to see it and the work is long enough."""
    if not sys.stderr.isatty() or (total is not None and total < least):
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    if noun == "bytes":
        columns = (DownloadColumn(), TransferSpeedColumn())
    else:
        columns = (MofNCompleteColumn(), TextColumn(noun))
    with Progress(
        BarColumn(), *columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True
    ) as progress:
        task = progress.add_task("", total=total)
        pending = 0
        # Telling every item would cost more than the work itself.
        step = max(1, (total or 100_000) // 1_000)

        def watch(done: int) -> None:
            nonlocal pending
            pending += done
            if pending >= step:
                progress.advance(task, pending)
                pending = 0

        yield watch
