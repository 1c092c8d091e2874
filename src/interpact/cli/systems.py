"""Commands that measure systems: evaluate and reproduce."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from interpact.cli.show import say
from interpact.cli.train import needs_torch, watched
from interpact.corpus.pairs import Split


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    app.command("evaluate")(evaluate)
    app.command("reproduce")(reproduce)


def evaluate(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a finished training.")],
    corpus: Annotated[Path, typer.Option(help="A corpus folder whose roots have splits.")],
    split: Annotated[Split, typer.Option(help="Whose pairs and roots.")] = Split.TEST,
    again: Annotated[
        bool, typer.Option("--again", help="Predict anew even where nothing has changed.")
    ] = False,
) -> None:
    """Predict all pairs and roots of a split, and measure the predictions.

    They are kept in RUN/predictions/SPLIT: a row a pair or root with the reference beside it, so that
    `interpact report` needs neither model nor corpus.
    """
    needs_torch()
    from interpact.corpus.store import Corpus
    from interpact.evaluate.measured import write_metrics
    from interpact.systems.predict import predict

    folder = predict(run, Corpus.read(corpus), split, again=again, say=say)
    for name, value in write_metrics(folder).items():
        print(f"{name}\t{'n/a' if value is None else f'{value:.4f}'}")
    say(f"{folder}: predictions and metrics")


def reproduce(
    config: Annotated[Path, typer.Argument(help="Settings, such as configs/cpu-smoke.yaml.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder of runs and report.")],
    corpus: Annotated[
        Path | None, typer.Option(help="Instead of the settings' corpus: a folder with splits.")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Only this system (give it several times for several)."),
    ] = None,
    seeds: Annotated[
        str | None, typer.Option(help="Instead of the settings' seeds, such as 1,2,3.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List the steps and how long they may take.")
    ] = False,
) -> None:
    """Train every system for every seed, evaluate, report: one straight line.

    Stopped at any moment, the same command goes on where it was; what is finished and still fits its
    settings and corpus is skipped.
    """
    needs_torch()
    from interpact.evaluate import reproduce as line

    settings = line.ReproduceConfig.read(config)
    changes = {"corpus": corpus and str(corpus), "seeds": seeds and seeds.split(",")}
    settings = line.ReproduceConfig.model_validate(
        settings.model_dump() | {name: value for name, value in changes.items() if value}
    )
    if dry_run:
        print(line.outlook(settings, out, only or ()), end="")
        return
    with watched() as watch:
        found = line.reproduce(settings, out, only or (), watch=watch, say=say)
    say(f"{found}: the report")
