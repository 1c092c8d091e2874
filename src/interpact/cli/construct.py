"""The command that makes intervention pairs: construct."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import AsyncExitStack, ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interpact.cli.show import say

if TYPE_CHECKING:
    from interpact.construct.config import ConstructConfig
    from interpact.construct.endpoint import Endpoint, Usage
    from interpact.construct.report import ConstructionReport
    from interpact.construct.run import Progress


def add_to(app: typer.Typer) -> None:
    """Add this command."""
    app.command("construct")(construct)


def construct(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A corpus folder with roots.")],
    config: Annotated[
        Path | None,
        typer.Option(help="Settings, such as configs/construct-paper.yaml (the default ones)."),
    ] = None,
    model: Annotated[str | None, typer.Option(help="Instead of the settings' model.")] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Instead of the settings' OpenAI-compatible endpoint.")
    ] = None,
    slots: Annotated[
        int | None, typer.Option(help="Instead of the settings' requests at a time.", min=1)
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Only the first so many roots.", min=1)] = None,
    max_requests: Annotated[
        int | None, typer.Option(help="Stop after so many new requests; a re-run goes on.", min=0)
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Count the requests and tokens; send nothing.")
    ] = False,
    report: Annotated[
        bool, typer.Option("--report", help="Print what has come of it so far; do nothing else.")
    ] = False,
    merge_review: Annotated[
        Path | None,
        typer.Option(help="Take in a review.jsonl in which people filled in the states."),
    ] = None,
) -> None:
    """Make intervention pairs: edit each root's unit, check the edit, judge the state blind.

    Every finished attempt and every answer is kept at once: stopped at any moment, the same command
    goes on where it was and asks nothing twice. The key comes from the environment alone.
    """
    import asyncio

    from interpact.construct.config import ConstructConfig

    if report:
        from interpact.construct.run import report as report_on

        return _print(report_on(folder))
    if merge_review is not None:
        from interpact.construct.review import merge_review as merge
        from interpact.construct.review import read_answers

        return _print(merge(folder, read_answers(merge_review)))
    settings = ConstructConfig() if config is None else ConstructConfig.read(config)
    asked = {"model": model, "base_url": base_url, "slots": slots}
    changes = {name: value for name, value in asked.items() if value is not None}
    settings = ConstructConfig.model_validate(settings.model_dump() | changes)
    if dry_run:
        asyncio.run(_dry_run(folder, settings, limit))
    else:
        _print(asyncio.run(_construct(folder, settings, limit, max_requests)))
    return None


async def _construct(
    folder: Path, settings: ConstructConfig, limit: int | None, max_requests: int | None
) -> ConstructionReport:
    from interpact.construct.ask import Unanswered
    from interpact.construct.config import makers, open_endpoint, usage_line
    from interpact.construct.endpoint import BudgetSpent
    from interpact.construct.run import construct
    from interpact.construct.run import report as report_on
    from interpact.corpus.store import Corpus

    async with AsyncExitStack() as stack:
        corpus = Corpus.read(folder)
        corpus.need_roots(folder)
        endpoint = await open_endpoint(stack, settings, folder, max_requests)
        try:
            with _progress(endpoint) as watch:
                return await construct(
                    folder,
                    makers(settings, corpus, endpoint),
                    limit=limit,
                    at_once=3 * settings.slots,
                    progress=watch,
                )
        except BudgetSpent as spent:  # as the user asked
            say(str(spent))
            return report_on(folder)
        except Unanswered as left:  # everything else is made
            say(str(left))
            _print(report_on(folder))
            raise typer.Exit(2) from None
        finally:
            if endpoint is not None:
                say(usage_line(endpoint.usage))


async def _dry_run(folder: Path, settings: ConstructConfig, limit: int | None) -> None:
    from interpact.construct.config import kept_answers, makers
    from interpact.construct.run import dry_run
    from interpact.corpus.store import Corpus

    with ExitStack() as stack:
        ask = kept_answers(stack, settings, folder)
        found = await dry_run(folder, makers(settings, Corpus.read(folder), ask), limit=limit)
    print(f"{found.attempts:,} attempts to make, {found.finished:,} finished before")
    for purpose, number in sorted(found.requests.items()):
        print(f"{number:,} requests to {purpose}")
    print(f"about {found.tokens_in:,} tokens in and {found.tokens_out:,} out")


@contextmanager
def _progress(endpoint: Endpoint | None) -> Generator[Callable[[Progress], None] | None]:
    """A bar with the rate, the time left and the tokens so far."""
    if not sys.stderr.isatty():
        yield None
        return
    import time

    from rich import progress as bars
    from rich.console import Console

    columns: tuple[Any, ...] = (
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        bars.TextColumn("attempts, {task.fields[told]}"),
        bars.TimeElapsedColumn(),
        bars.TextColumn("left"),
        bars.TimeRemainingColumn(),
    )
    began = time.monotonic()
    with bars.Progress(*columns, console=Console(stderr=True)) as shown:
        task = shown.add_task("", total=None, told="")

        def watch(now: Progress) -> None:
            usage = endpoint.usage if endpoint is not None else None
            told = progress_line(now, usage, time.monotonic() - began)
            shown.update(task, completed=now.done, total=now.total, told=told)

        yield watch


def progress_line(now: Progress, usage: Usage | None, seconds: float) -> str:
    """What a run has come to so far, how fast it is, and what it has cost."""
    parts = [", ".join(f"{n:,} {outcome}" for outcome, n in sorted(now.outcomes.items()))]
    if usage is None:
        parts.append(f"{(now.done - now.resumed) / max(seconds, 1e-9):,.1f}/s")
    else:
        parts.append(f"{usage.asked / max(seconds, 1e-9):,.1f} requests/s")
        parts.append(f"{usage.tokens_in + usage.tokens_out:,} tokens")
    return "; ".join(parts)


def _print(found: ConstructionReport) -> None:
    print(found.markdown(), end="")
