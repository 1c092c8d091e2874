"""The command that turns evaluated runs into tables and figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from interpact.cli.show import count, say
from interpact.corpus.pairs import Split


def add_to(app: typer.Typer) -> None:
    """Add this command."""
    app.command("report")(report)


def report(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN", help="Folders of runs that were evaluated.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write.")],
    corpus: Annotated[
        Path | None,
        typer.Option(
            help="The corpus: checks the runs against it, adds its tables, resamples components."
        ),
    ] = None,
    split: Annotated[Split, typer.Option(help="The split to report.")] = Split.TEST,
    audit: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help='Result of a human audit: {"aspects": [{"aspect", "passed", "total"}]}.',
        ),
    ] = None,
    resamples: Annotated[
        int, typer.Option(min=100, help="Resamples of the differences between systems.")
    ] = 2_000,
) -> None:
    """Write every table (Markdown, LaTeX, CSV), every figure (PDF, PNG) and one page of all.

    Runs of one system with several seeds become a mean and a sample standard deviation. What was not
    run is shown as missing.
    """
    from interpact.corpus.store import Corpus
    from interpact.evaluate.facts import read_audit
    from interpact.evaluate.report import write_report
    from interpact.evaluate.runs import read_results

    found = None if audit is None else read_audit(audit)
    results = read_results(runs, split, None if corpus is None else Corpus.read(corpus))
    written = write_report(results, out, found, resamples)
    drawn = sum(bool(figure.png) for figure in written.figures)
    say(
        f"wrote {out / 'index.html'}: {count(len(written.tables), 'table')}, {count(drawn, 'figure')}"
    )
    if written.missing:
        say(f"with something missing: {', '.join(written.missing)}")
