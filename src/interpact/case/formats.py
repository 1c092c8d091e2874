"""Raw data out of untrusted YAML and JSON text, with the line of every part."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TextIO, cast

import yaml

from interpact.case.case import Location

MAX_DEPTH = 50
MAX_YAML_BYTES = 64_000_000
MAX_FLAWS = 1_000
TWICE = "this field occurs twice; keep one"


Flaw = tuple[Location, int, str]
"""Something that a text says and must not say, though it can be read: where, line, what."""


class FormatError(Exception):
    """Text that is no YAML or JSON we read; `line` counts from 1, `flaws` were seen before it."""

    def __init__(self, line: int | None, what: str, flaws: Sequence[Flaw] = ()) -> None:
        super().__init__(what)
        self.line, self.what, self.flaws = line, what, flaws


class RepeatedFields(FormatError):
    """JSON that can be read, `data`, but for fields given twice."""

    def __init__(self, data: Any, flaws: Sequence[Flaw]) -> None:
        name = str(flaws[0][0][-1])[:80]
        super().__init__(flaws[0][1], f'the field "{name}" occurs twice; keep one', flaws)
        self.data = data


@dataclass(frozen=True, slots=True)
class Document:
    """One YAML or JSON document: its data and where its parts are."""

    data: Any
    lines: dict[Location, int]
    flaws: Sequence[Flaw] = ()

    def line_of(self, location: Location) -> int | None:
        """The line of the nearest part that encloses the location."""
        for end in range(len(location), -1, -1):
            if location[:end] in self.lines:
                return self.lines[location[:end]]
        return None


def decode(data: bytes, first_line: int = 1) -> str:
    """UTF-8 text; a byte order mark is dropped."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FormatError(first_line, "this is UTF-16 text; save the file as UTF-8")
    if b"\x00" in data:
        at = data.index(b"\x00")
        line = first_line + data.count(b"\n", 0, at)
        column = at - data.rfind(b"\n", 0, at)
        raise FormatError(
            line,
            f"byte {column} of the line is NUL, which no text holds; the file is damaged, or it is "
            "UTF-16: save it as UTF-8",
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = first_line + data.count(b"\n", 0, error.start)
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise FormatError(
            line, f"byte {column} of the line is not UTF-8; save the file as UTF-8"
        ) from None


# ---- JSON ------------------------------------------------------------------------------------


class _Duplicate(Exception):
    pass


class _Constant(Exception):
    pass


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Duplicate
    return found


def _no_constant(name: str) -> Any:
    raise _Constant(name)


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)
_LENIENT = json.JSONDecoder(parse_constant=_no_constant)


def parse_json(text: str, first_line: int = 1) -> Any:
    """The data of one JSON document; duplicate keys, NaN and runaway nesting are errors."""
    try:
        try:
            return _DECODER.decode(text)
        except _Duplicate:
            data = _LENIENT.decode(text)  # what else is wrong shall be told as well
        raise RepeatedFields(data, _repeated(text, first_line))
    except json.JSONDecodeError as error:
        said = error.msg.removesuffix(" at")
        raise FormatError(
            first_line + error.lineno - 1,
            f"not JSON: {said} at character {error.colno}; correct the text there",
        ) from None
    except _Constant as error:
        name = str(error)
        place = re.search(rf'(?<![\w"]){re.escape(name)}(?![\w"])', text)
        line = first_line + (text.count("\n", 0, place.start()) if place else 0)
        raise FormatError(
            line, f"not JSON: {name} is not a JSON value; write a value or drop the field"
        ) from None
    except RecursionError:
        raise FormatError(
            first_line, "nested too deeply to be a case; write lists and fields as the formats say"
        ) from None
    except ValueError:
        raise FormatError(
            first_line, "not JSON: a number of thousands of digits; put it in quotes"
        ) from None


def _repeated(text: str, first_line: int) -> list[Flaw]:
    """The fields that an object of valid JSON text holds again."""
    seen: set[Location] = set()
    found: list[Flaw] = []
    for location, line in _json_parts(text):
        if location in seen:
            found.append((location, first_line + line, TWICE))
            if len(found) == MAX_FLAWS:
                break
        seen.add(location)
    return found


_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')


def _json_parts(text: str) -> Iterator[tuple[Location, int]]:
    """Every part of valid JSON text with the number of lines before it."""
    path: list[str | int] = []
    lists: list[bool] = []
    line = position = 0
    expects_key = False
    for match in _JSON_TOKEN.finditer(text):
        line += text.count("\n", position, match.start())
        position = match.start()
        token = match.group()
        if token == ":":
            expects_key = False
        elif token == ",":
            if lists[-1]:
                path[-1] = int(path[-1]) + 1
            else:
                expects_key = True
        elif token in "}]":
            lists.pop()
            path.pop()
            expects_key = False
        elif expects_key:
            path[-1] = json.loads(token) if "\\" in token else token[1:-1]
            yield tuple(path), line
        else:
            if not (lists and not lists[-1]):
                yield tuple(path), line
            if token in "{[":
                lists.append(token == "[")
                path.append(0 if token == "[" else "")
                expects_key = token == "{"


def json_document(text: str, data: Any, first_line: int = 1) -> Document:
    """A document for data that `parse_json` has read from the text."""
    return Document(data, {where: first_line + line for where, line in _json_parts(text)})


# ---- YAML ------------------------------------------------------------------------------------

_PLAIN_TAGS = {f"tag:yaml.org,2002:{kind}" for kind in ("str", "map", "seq")} | {"!"}
_NULLS = {"", "~", "null", "Null", "NULL"}


def parse_yaml(text: str) -> Iterator[Document]:
    """The documents of a YAML text; every scalar stays the text it is (`yes` is "yes", 7 is "7")."""
    if len(text) > MAX_YAML_BYTES:
        raise FormatError(
            None, f"YAML over {MAX_YAML_BYTES // 1_000_000} MB; use JSON or JSONL for large cases"
        )
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    builder = _Builder()
    try:
        for event in yaml.parse(text, Loader=loader):  # type: ignore[no-untyped-call]
            if isinstance(event, yaml.DocumentEndEvent):
                yield Document(builder.data, builder.lines, builder.flaws)
                builder = _Builder()
            else:
                builder.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else None
        said = error.problem or error.context
        raise FormatError(
            line,
            f"not YAML: {said}; correct the text there (a text with `: `, `#` or quotes needs quotes)",
            builder.flaws,
        ) from None
    except FormatError as error:
        raise FormatError(error.line, error.what, builder.flaws) from None
    except yaml.YAMLError as error:
        position = getattr(error, "position", None)
        line = text.count("\n", 0, position) + 1 if isinstance(position, int) else None
        character = getattr(error, "character", None)
        detail = f"the character U+{character:04X}" if isinstance(character, int) else "a character"
        raise FormatError(
            line, f"not YAML: {detail} is not allowed in YAML text; remove it", builder.flaws
        ) from None


class _Builder:
    """Builds plain data from parse events, without recursion."""

    def __init__(self) -> None:
        self.data: Any = None
        self.lines: dict[Location, int] = {}
        self.path: list[str | int] = []
        self.open: list[Any] = []
        self.key: list[str | None] = []
        self.flaws: list[Flaw] = []

    def flaw(self, line: int, what: str) -> None:
        """Note what must not be there at the part that comes next, and read on."""
        if len(self.flaws) >= MAX_FLAWS:
            raise FormatError(line, f"more than {MAX_FLAWS:,} problems; mend these first")
        where = tuple(self.path)
        if self.open and isinstance(self.open[-1], list):
            where = (*where[:-1], len(cast("list[Any]", self.open[-1])))
        self.flaws.append((where, line, what))

    def take(self, event: Any) -> None:
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent):
            what = f"alias *{event.anchor[:60]}: write the value out, aliases are not read"
            if self.open and isinstance(self.open[-1], dict) and self.key[-1] is None:
                raise FormatError(line, what)
            self.flaw(line, what)
            self.place(f"*{event.anchor}", line)
            return
        tag = getattr(event, "tag", None)
        if tag is not None and tag not in _PLAIN_TAGS:
            self.flaw(line, f"the tag {tag[:60]} is not read; write the plain value")
        if isinstance(event, yaml.ScalarEvent):
            if self.open and isinstance(self.open[-1], dict) and self.key[-1] is None:
                self.named(event.value, line)
            else:
                null = event.style is None and event.implicit[0] and event.value in _NULLS
                self.place(None if null else event.value, line)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            if self.open and isinstance(self.open[-1], dict) and self.key[-1] is None:
                raise FormatError(line, "a field name must be plain text")
            if len(self.open) >= MAX_DEPTH:
                raise FormatError(line, f"nested deeper than {MAX_DEPTH} levels, as no case is")
            fresh: Any = {} if isinstance(event, yaml.MappingStartEvent) else []
            self.place(fresh, line)
            self.open.append(fresh)
            self.key.append(None)
            self.path.append(0)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            self.open.pop()
            self.key.pop()
            self.path.pop()
            self.placed()

    def named(self, name: str, line: int) -> None:
        if name in self.open[-1]:
            self.path[-1] = name
            self.flaw(line, TWICE)
        self.key[-1] = name
        self.path[-1] = name
        self.lines[tuple(self.path)] = line

    def place(self, value: Any, line: int) -> None:
        if not self.open:
            self.data = value
            self.lines[()] = line
            return
        parent = self.open[-1]
        if isinstance(parent, dict):
            parent[str(self.key[-1])] = value
        else:
            self.path[-1] = len(parent)
            parent.append(value)
            self.lines[tuple(self.path)] = line
        if not isinstance(value, dict | list):
            self.placed()

    def placed(self) -> None:
        if self.key:
            self.key[-1] = None


def dump_yaml(data: Iterable[Any], file: TextIO) -> None:
    """Write documents that `parse_yaml` reads back as they are."""
    yaml.dump_all(
        data,
        file,
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=100,
        explicit_start=True,
    )


_FastDumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Dumper(_FastDumper):
    pass


def _represent_text(dumper: Any, text: str) -> Any:
    # Inside plain and single-quoted text YAML folds these line breaks into spaces.
    style = '"' if re.search("[\r\x85\u2028\u2029\ufeff]", text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)
