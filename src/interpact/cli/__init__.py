"""The command line: one thin command per job, heavy imports only inside the commands."""

from __future__ import annotations

import os
import sys

import typer

from interpact.cli import cases, construct, corpora, judge, report, review, systems, train
from interpact.errors import InterPactError

app = typer.Typer(
    name="interpact",
    help="Which piece of evidence does a rule-governed decision hang on?",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
cases.add_to(app)
corpora.add_to(app)
construct.add_to(app)
train.add_to(app)
judge.add_to(app)
systems.add_to(app)
report.add_to(app)
review.add_to(app)


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
