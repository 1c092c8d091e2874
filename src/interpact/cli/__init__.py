"""The command line: one thin command per job, heavy imports only inside the commands."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from interpact.cli import cases, construct, corpora, judge, report, review, systems, train, triage
from interpact.errors import InterPactError

app = typer.Typer(
    name="interpact",
    help="Which piece of evidence does a rule-governed decision hang on?",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
judge.add_to(app)
triage.add_to(app)
cases.add_to(app)
corpora.add_to(app)
construct.add_to(app)
train.add_to(app)
systems.add_to(app)
report.add_to(app)
review.add_to(app)


def _version(asked: bool) -> None:
    if asked:
        from interpact import __version__

        print(f"interpact {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=_version, help="Print the version."),
    ] = False,
) -> None:
    """Which piece of evidence does a rule-governed decision hang on?"""


def main() -> None:
    """Run the command line; errors are told in plain words and end with exit code 2."""
    try:
        app()
    except InterPactError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        _drop_output()  # its reader has gone
        sys.exit(141)
    except OSError as error:
        named = f"{error.filename}: " if error.filename is not None else ""
        print(f"{named}cannot be read or written: {error.strerror or error}", file=sys.stderr)
        _drop_output()
        sys.exit(2)
    except MemoryError:
        print("not enough memory; use JSON lines, which are read case by case", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)


def _drop_output() -> None:
    """Forget what could not be written; Python would complain once more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
