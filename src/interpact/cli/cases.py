"""Commands on case files: check, convert, schema."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from interpact.cli.show import count, progress_bar, say

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


class Kind(StrEnum):
    """What a JSON schema is for."""

    CASE = "case"
    JUDGMENT = "judgment"
    ROOT = "root"
    PAIR = "pair"
    CRITICALITY = "criticality"


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    app.command("check")(check)
    app.command("convert")(convert)
    app.command("schema")(schema)


def check(paths: Paths) -> None:
    """List every problem of every case file or corpus folder; exit code 2 if there is any."""
    from interpact.case.files import entries
    from interpact.case.problems import Problem

    wrong = notes = cases = 0

    def tell(problem: Problem) -> None:
        nonlocal wrong, notes
        wrong, notes = wrong + (not problem.note), notes + problem.note
        say(str(problem))

    with input_progress(paths) as watch:
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

    with input_progress([source]) as watch:
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


@contextmanager
def opened(output: Path | None) -> Generator[TextIO]:
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


def input_progress(paths: list[Path]) -> AbstractContextManager[Callable[[int], None] | None]:
    """A bar over the bytes of long inputs."""
    try:
        total = sum(
            (path / "cases.jsonl" if path.is_dir() else path).stat().st_size for path in paths
        )
    except OSError:
        total = 0
    return progress_bar("bytes", total, least=5_000_000)
