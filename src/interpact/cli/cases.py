"""Commands on case files: judge, check, convert, schema."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from interpact.cli.show import count, progress_bar, say
from interpact.errors import InterPactError

if TYPE_CHECKING:
    from interpact.case.states import State
    from interpact.judging.view import View

Paths = Annotated[
    list[Path],
    typer.Argument(
        metavar="CASE",
        help="Case files (.yaml, .json, .jsonl, .parquet), corpus folders, or - for standard input.",
    ),
]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write to this file instead of the screen.")
]


MAX_TOLD = 10_000  # problems of one file


class Format(StrEnum):
    """How judgments are written."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"
    HTML = "html"


class Mode(StrEnum):
    """How evidence is judged."""

    EXACT = "exact"


class Kind(StrEnum):
    """What a JSON schema is for."""

    CASE = "case"
    JUDGMENT = "judgment"
    ROOT = "root"
    PAIR = "pair"
    CRITICALITY = "criticality"


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    app.command("judge")(judge)
    app.command("check")(check)
    app.command("convert")(convert)
    app.command("schema")(schema)


def judge(
    paths: Paths,
    mode: Annotated[
        Mode, typer.Option(help="exact: from the states that the case files give, and the rule.")
    ] = Mode.EXACT,
    format: Annotated[
        Format | None,
        typer.Option(
            help="How to write the judgments; without it the ending of --output, or a table."
        ),
    ] = None,
    output: Output = None,
    set_: Annotated[
        list[str],
        typer.Option("--set", metavar="CONDITION=STATE", help="What if: set a state; repeatable."),
    ] = [],  # noqa: B006 - typer copies it
    sets: Annotated[
        bool,
        typer.Option(
            "--sets",
            help="Show the minimal flip sets instead of the judgments (a page shows both).",
        ),
    ] = False,
    keep_going: Annotated[
        bool,
        typer.Option("--keep-going", help="Report bad cases and go on; exit code 2 at the end."),
    ] = False,
) -> None:
    """Tell for every evidence unit whether the decision hangs on it, and why."""
    from interpact.judging.output import (
        judgment_rows,
        set_rows,
        write_csv,
        write_json,
        write_json_lines,
    )

    bad = [0]
    format = format or _format_of(output)
    rows = set_rows if sets else judgment_rows
    with _progress(paths) as watch, _open(output) as out:
        views = _views(paths, _changes(set_), keep_going, watch, bad)
        if format is Format.TABLE:
            _print_table(views, out, sets)
        elif format is Format.HTML:
            from interpact.judging.page import write_page

            write_page(views, out)
        else:
            write = {
                Format.JSON: write_json,
                Format.JSONL: write_json_lines,
                Format.CSV: write_csv,
            }[format]
            write(views, rows, out)
    if bad[0]:
        say(f"{bad[0]:,} bad {'case was' if bad[0] == 1 else 'cases were'} left out")
        raise typer.Exit(2)


def check(paths: Paths) -> None:
    """List every problem of every case file or corpus folder; exit code 2 if there is any."""
    from interpact.case.files import entries
    from interpact.case.problems import Problem

    wrong = notes = cases = 0

    def tell(problem: Problem) -> None:
        nonlocal wrong, notes
        wrong, notes = wrong + (not problem.note), notes + problem.note
        say(str(problem))

    with _progress(paths) as watch:
        for path in paths:
            if path.is_dir() and (path / "roots.jsonl").exists():
                from interpact.corpus.store import Corpus, corpus_problems

                corpus = Corpus()
                for problem in corpus_problems(path, corpus):
                    tell(problem)
                cases += len(corpus.cases)
                continue
            found, before = 0, wrong
            ids: set[str] = set()
            repeated: list[tuple[int | None, str]] = []
            for entry in entries(path, watch):
                found += 1
                if entry.case is not None:
                    cases += 1
                    if entry.case.id in ids:
                        repeated.append((entry.line, entry.case.id))
                    ids.add(entry.case.id)
                for problem in entry.problems:
                    tell(problem)
                if entry.problems and wrong - before > MAX_TOLD:
                    tell(
                        Problem(
                            str(path),
                            None,
                            "",
                            f"has more than {MAX_TOLD:,} problems; mend these first, "
                            "the rest was not read",
                        )
                    )
                    break
            if repeated:
                line, name = repeated[0]
                many = count(len(repeated), "case")
                what = f"is the id of an earlier case too ({many} of the file); give each its own"
                tell(Problem(str(path), line, name, what, note=True))
            if not found:
                tell(Problem(str(path), None, "", "no case in this file"))
    say(f"{count(cases, 'sound case')}, {count(wrong, 'problem')}, {count(notes, 'note')}")
    if wrong:
        raise typer.Exit(2)


def convert(
    source: Annotated[Path, typer.Argument(help="A case file or corpus folder, or -.")],
    target: Annotated[Path, typer.Argument(help="The file to write; its ending names the format.")],
) -> None:
    """Write cases in another format: .yaml, .json, .jsonl or .parquet."""
    from interpact.case.files import read_cases, write_cases

    with _progress([source]) as watch:
        write_cases(target, read_cases(source, watch))


def schema(
    kind: Annotated[Kind, typer.Argument(help="What to describe.")] = Kind.CASE,
) -> None:
    """Print the JSON Schema of a case file, a judgment or a record of a corpus."""
    import json

    from pydantic import TypeAdapter

    from interpact.case.case import LabelledCase
    from interpact.corpus.pairs import CriticalityRecord, PairRecord, RootRecord
    from interpact.judging.judgment import Judgment

    described: dict[Kind, Any] = {
        Kind.CASE: LabelledCase,
        Kind.JUDGMENT: Judgment,
        Kind.ROOT: RootRecord,
        Kind.PAIR: PairRecord,
        Kind.CRITICALITY: CriticalityRecord,
    }
    found = TypeAdapter(described[kind]).json_schema()
    if kind is Kind.CASE:
        found["required"].remove("labels")  # a case file may leave them out
    print(
        json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **found}, indent=2)
    )


def _views(
    paths: list[Path],
    changes: dict[str, State],
    keep_going: bool,
    watch: Callable[[int], None] | None,
    bad: list[int],
) -> Iterator[View]:
    from interpact.case.files import entries
    from interpact.case.problems import InputProblems
    from interpact.judging.exact import judge_exact
    from interpact.judging.judge import known_states
    from interpact.judging.view import View

    for path in paths:
        empty = True
        for entry in entries(path, watch):
            empty = False
            try:
                if entry.case is None:
                    raise InputProblems(entry.problems)
                states = known_states(entry.case, changes)
                yield View(entry.case, states, judge_exact(entry.case, states))
            except InterPactError as error:
                place = entry.file + (f":{entry.line}" if entry.line else "")
                told = error if isinstance(error, InputProblems) else f"{place}: {error}"
                if not keep_going:
                    raise InterPactError(str(told)) from None
                bad[0] += 1
                say(str(told))
        if empty:
            if not keep_going:
                raise InterPactError(f"{path}: no case in this file")
            bad[0] += 1
            say(f"{path}: no case in this file")


def _format_of(output: Path | None) -> Format:
    """The format that the ending of the output names, else a table."""
    ending = "" if output is None else output.suffix.lower().lstrip(".")
    return Format(ending) if ending in list(Format) else Format.TABLE


def _changes(assignments: list[str]) -> dict[str, State]:
    from interpact.case.states import State

    found: dict[str, State] = {}
    for assignment in assignments:
        condition, equals, state = assignment.rpartition("=")
        try:
            if not equals or not condition:
                raise ValueError
            found[condition] = State(state)
        except ValueError:
            raise InterPactError(
                f"--set {assignment}: write CONDITION=STATE, STATE one of {', '.join(State)}"
            ) from None
    return found


def _print_table(views: Iterator[View], out: TextIO, sets: bool) -> None:
    from rich.console import Console

    from interpact.judging.table import print_view

    console = Console(file=out, highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = 120
    for view in views:
        print_view(view, console, sets)


@contextmanager
def _open(output: Path | None) -> Generator[TextIO]:
    """Standard output, or a file that appears whole when all is written."""
    if output is None:
        sys.stdout.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
        yield sys.stdout
        sys.stdout.flush()
        return
    if output.exists() and not output.is_file():  # a pipe or a device is written as it stands
        with output.open("w", encoding="utf-8") as file:
            yield file
        return
    from interpact.case.files import replacing

    with replacing(output) as temporary, temporary.open("w", encoding="utf-8") as file:
        yield file


def _progress(paths: list[Path]) -> AbstractContextManager[Callable[[int], None] | None]:
    """A bar over the bytes of long inputs."""
    try:
        total = sum(
            (path / "cases.jsonl" if path.is_dir() else path).stat().st_size for path in paths
        )
    except OSError:
        total = 0
    return progress_bar("bytes", total, least=5_000_000)
