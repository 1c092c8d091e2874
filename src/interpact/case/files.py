"""Reading and writing case files: YAML, JSON, JSONL (streamed) and Parquet."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, cast

from pydantic import ValidationError

from interpact.case.case import Case, Evidence, LabelledCase, Labels, Location, contradictions
from interpact.case.flood import bounded
from interpact.case.formats import (
    Document,
    Flaw,
    FormatError,
    RepeatedFields,
    decode,
    dump_yaml,
    json_document,
    parse_json,
    parse_yaml,
)
from interpact.case.problems import (
    MAX_PROBLEMS,
    InputProblems,
    Problem,
    describe,
    field_problems,
    half_character,
    sound,
)
from interpact.errors import InterPactError

SUFFIXES = {
    ".yaml": "yaml",
    ".yml": "yaml",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
}
SMALL = 100_000  # bytes that cannot hold problems enough to fill a memory
_CASE_FIELDS = tuple(LabelledCase.model_fields)
_FIELDS: dict[Location, tuple[str, ...]] = {
    (): _CASE_FIELDS,
    ("evidence", "*"): tuple(Evidence.model_fields),
    ("labels",): tuple(Labels.model_fields),
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One case of a file, or the problems that keep it from being one; `line` tells where it begins."""

    file: str
    line: int | None
    case: Case | None
    problems: list[Problem] = field(default_factory=list[Problem])


def read_case(path: str | Path) -> Case:
    """The one case of a file."""
    cases = read_cases(path)
    first = next(cases, None)
    if first is None:
        raise InterPactError(f"{path}: no case in this file")
    if next(cases, None) is not None:
        raise InterPactError(f"{path}: more than one case in this file; use read_cases")
    return first


def read_cases(path: str | Path, watch: Callable[[int], None] | None = None) -> Iterator[Case]:
    """The cases of a file or corpus folder, one by one; stops at the first that is none."""
    for entry in entries(path, watch):
        if entry.case is None:
            raise InputProblems(entry.problems)
        yield entry.case


def case_from(data: object, where: str = "case") -> Case:
    """A case from plain data, such as a parsed JSON object."""
    entry = _entry(where, None, data, lambda: Document(data, {}))
    if entry.case is None:
        raise InputProblems(entry.problems)
    return entry.case


def case_data(case: Case) -> dict[str, Any]:
    """The plain data of a case, as case files hold it."""
    return case.model_dump(mode="json", exclude_none=True)


def entries(path: str | Path, watch: Callable[[int], None] | None = None) -> Iterator[Entry]:
    """Every entry of a file, good or bad; `-` is standard input; `watch` is told the bytes read."""
    if str(path) == "-":
        yield from _sniffed("<standard input>", sys.stdin.buffer)
        return
    path = Path(path)
    try:
        if path.is_dir():
            path = path / "cases.jsonl"
            if not path.exists():
                yield _bad(
                    str(path.parent), None, "this folder is no corpus: it has no cases.jsonl"
                )
                return
        kind = SUFFIXES.get(path.suffix.lower())
        if kind is None:
            known = ", ".join(SUFFIXES)
            yield _bad(str(path), None, f"the format is told by the ending; use one of {known}")
        elif kind == "parquet":
            yield from _parquet(path, watch)
        else:
            with path.open("rb") as file:
                if kind == "jsonl":
                    yield from json_lines(str(path), file, watch)
                else:
                    yield from _whole(str(path), file.read(), kind)
                    if watch is not None:
                        watch(path.stat().st_size)
    except FileNotFoundError:
        yield _bad(str(path), None, "there is no such file")
    except OSError as error:
        yield _bad(str(path), None, f"cannot be read: {error.strerror or error}")


def json_lines(
    name: str, file: Iterable[bytes], watch: Callable[[int], None] | None = None
) -> Iterator[Entry]:
    """The entries of JSON lines, one at a time."""
    for number, line in enumerate(file, 1):
        if watch is not None:
            watch(len(line))
        try:
            text = decode(line, number)
            if not text.strip():
                continue
            data = parse_json(text, number)
            flaws: Sequence[Flaw] = ()
        except RepeatedFields as error:
            data, flaws = error.data, error.flaws
        except FormatError as error:
            yield _bad(name, number, error.what)
            continue
        yield _entry(
            name,
            number,
            data,
            lambda n=number, d=data: Document(d, {(): n}),
            flaws=flaws,
            small=len(line) < SMALL,
        )


def _whole(name: str, content: bytes, kind: str) -> Iterator[Entry]:
    try:
        text = decode(content)
        if kind == "yaml":
            for document in parse_yaml(text):
                yield from _cases_of(name, document.data, lambda d=document: d, document.flaws)
        else:
            flaws: Sequence[Flaw] = ()
            try:
                data = parse_json(text)
            except RepeatedFields as error:
                data, flaws = error.data, error.flaws
            yield from _cases_of(name, data, lambda: json_document(text, data), flaws)
    except FormatError as error:
        problems = [
            Problem(name, line, describe(where, None), what) for where, line, what in error.flaws
        ]
        yield Entry(name, error.line, None, [*problems, Problem(name, error.line, "", error.what)])


def _cases_of(
    name: str, data: object, document: Callable[[], Document], flaws: Sequence[Flaw]
) -> Iterator[Entry]:
    """A document holds one case or a list of cases."""
    if not isinstance(data, list):
        yield _entry(name, None, data, document, flaws=flaws)
        return
    items = cast("list[object]", data)
    if not items:
        yield _bad(name, None, "the list of cases is empty; add one or drop the file")
    whole: list[Document] = []  # made once, where there is a problem to point at

    def once() -> Document:
        if not whole:
            whole.append(document())
        return whole[0]

    inside: dict[int, list[Flaw]] = {}
    for flaw in flaws:
        inside.setdefault(int(flaw[0][0]) if flaw[0] else 0, []).append(flaw)
    for position, item in enumerate(items):
        yield _entry(name, None, item, once, (position,), inside.get(position, ()))


def _parquet(path: Path, watch: Callable[[int], None] | None) -> Iterator[Entry]:
    from interpact.case.parquet import rows

    try:
        for number, row in enumerate(rows(path, watch), 1):
            yield _entry(str(path), number, row, lambda n=number, r=row: Document(r, {(): n}))
    except FormatError as error:
        yield _bad(str(path), None, error.what)


def _sniffed(name: str, file: BinaryIO) -> Iterator[Entry]:
    """Standard input: JSON lines where the first line is a whole JSON object, else JSON or YAML."""
    first, blank = b"", b""
    for first in file:
        if first.strip():
            break
        blank, first = blank + first, b""
    try:
        lone = isinstance(parse_json(decode(first)), dict)
    except RepeatedFields:
        lone = True
    except FormatError:
        lone = False
    if not lone:
        rest = blank + first + file.read()
        start = rest.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
        yield from _whole(name, rest, "json" if start in (b"{", b"[") else "yaml")
        return

    def lines() -> Iterator[bytes]:
        yield from blank.splitlines(keepends=True)
        yield first
        yield from file

    yield from json_lines(name, lines())


def _bad(name: str, line: int | None, what: str) -> Entry:
    return Entry(name, line, None, [Problem(name, line, "", what)])


def _entry(
    name: str,
    line: int | None,
    data: object,
    document: Callable[[], Document],
    inside: Location = (),
    flaws: Sequence[Flaw] = (),
    small: bool = False,
) -> Entry:
    found: list[tuple[Location, str]] = []
    if isinstance(data, dict):
        raw = cast("dict[str, Any]", data)
        kind = LabelledCase if raw.get("labels") is not None else Case
        if kind is Case and "labels" in raw:
            raw = {key: value for key, value in raw.items() if key != "labels"}
        raw, left_out = (raw, False) if small else bounded(raw, _CASE_FIELDS)
        try:
            case = kind.model_validate(raw)
            if not flaws:
                return Entry(name, line, case)
        except ValidationError as error:
            # Errors of no place are contradictions, which are looked for below.
            wrong = [e for e in error.errors(include_url=False) if e["loc"]]
            found = field_problems(wrong[:MAX_PROBLEMS], _FIELDS)
        found += [((), half_character(key)) for key in raw if not sound(key)]
        fields = {where for where, _ in found}
        if not left_out:
            room = MAX_PROBLEMS + 1 - len(found)
            found += [(at, what) for at, what in islice(_lenient(raw), room) if at not in fields]
        told = [where[len(inside) :] for where, _, _ in flaws]
        found = [(at, what) for at, what in found if not any(at[: len(t)] == t for t in told if t)]
        if left_out or len(found) > MAX_PROBLEMS:
            found = [*found[:MAX_PROBLEMS], ((), "has more problems than these; mend these first")]
    else:
        found = [
            ((), "this is no case: expected fields such as id, rule, query, conditions, evidence")
        ]
    at = document()
    unit = "row" if name.lower().endswith(".parquet") else "line"
    problems = [
        Problem(
            name, at.line_of(inside + where), describe(inside + where, at.data), what, unit=unit
        )
        for where, what in found
    ]
    problems += [
        Problem(name, number, describe(where, at.data), what) for where, number, what in flaws
    ]
    problems.sort(key=lambda problem: problem.line or 0)
    return Entry(name, line, None, problems)


def _lenient(raw: Mapping[str, Any]) -> Iterator[tuple[Location, str]]:
    """Contradictions between those parts of a malformed case that can be read."""
    conditions = raw.get("conditions")
    if not isinstance(conditions, dict):
        return
    units: list[tuple[int, tuple[str, list[str]]]] = []
    evidence: object = raw.get("evidence")
    for position, unit in enumerate(
        cast("list[Any]", evidence) if isinstance(evidence, list) else []
    ):
        if isinstance(unit, dict):
            fields = cast("dict[str, Any]", unit)
            bears_on: object = fields.get("conditions")
            names = (
                [n for n in cast("list[Any]", bears_on) if isinstance(n, str)]
                if isinstance(bears_on, list)
                else []
            )
            name = fields.get("id")
            units.append((position, (name if isinstance(name, str) else f"\x00{position}", names)))
    aggregation = raw.get("aggregation")
    labels = None
    with suppress(ValidationError):
        labels = Labels.model_validate(raw.get("labels"))
    if not isinstance(evidence, list):
        labels = None  # every settled state would look unsupported
    yield from contradictions(
        cast("dict[str, Any]", conditions),
        units,
        aggregation if isinstance(aggregation, str) else None,
        labels,
    )


@contextmanager
def replacing(path: Path) -> Generator[Path]:
    """A temporary file that takes the place of `path` only when all went well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_cases(path: str | Path, cases: Iterable[Case]) -> None:
    """Write cases in the format that the ending of the path names."""
    path = Path(path)
    kind = SUFFIXES.get(path.suffix.lower())
    if kind is None:
        raise InterPactError(f"{path}: use one of the endings {', '.join(SUFFIXES)}")
    with replacing(path) as temporary:
        if kind == "parquet":
            from interpact.case.parquet import write_rows

            write_rows(temporary, map(case_data, cases))
            return
        with temporary.open("w", encoding="utf-8", newline="\n") as file:
            if kind == "jsonl":
                for case in cases:
                    file.write(json.dumps(case_data(case), ensure_ascii=False) + "\n")
            elif kind == "json":
                data = [case_data(case) for case in cases]
                json.dump(data[0] if len(data) == 1 else data, file, ensure_ascii=False, indent=2)
                file.write("\n")
            else:
                dump_yaml(map(case_data, cases), file)
