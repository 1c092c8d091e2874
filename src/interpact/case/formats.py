"""Raw data out of untrusted YAML and JSON text, with the line of every part."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TextIO

import yaml

from interpact.case.case import Location

MAX_DEPTH = 50
MAX_YAML_BYTES = 64_000_000


class FormatError(Exception):
    """Text that is no YAML or JSON we read; `line` counts from 1."""

    def __init__(self, line: int | None, what: str) -> None:
        super().__init__(what)
        self.line, self.what = line, what


@dataclass(frozen=True, slots=True)
class Document:
    """One YAML or JSON document: its data and where its parts are."""

    data: Any
    lines: dict[Location, int]

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


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _Duplicate(key)
            seen.add(key)
    return found


def _no_constant(name: str) -> Any:
    raise _Duplicate(f"\x00{name}")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)


def parse_json(text: str, first_line: int = 1) -> Any:
    """The data of one JSON document; duplicate keys, NaN and runaway nesting are errors."""
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise FormatError(
            first_line + error.lineno - 1, f"not JSON: {error.msg} at character {error.colno}"
        ) from None
    except _Duplicate as error:
        name = str(error)
        if name.startswith("\x00"):
            raise FormatError(first_line, f"not JSON: {name[1:]} is not a JSON value") from None
        line = first_line + _second(text, name)
        raise FormatError(line, f'the field "{name[:80]}" occurs twice; keep one') from None
    except RecursionError:
        raise FormatError(first_line, "nested too deeply to be a case") from None
    except ValueError as error:  # a number of thousands of digits
        raise FormatError(first_line, f"not JSON: {error}") from None


def _second(text: str, key: str) -> int:
    """Lines before the second place where a key of this name stands in one object."""
    seen: set[Location] = set()
    for location, line in _json_parts(text):
        if location in seen and location[-1] == key:
            return line
        seen.add(location)
    return 0


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
            path[-1] = json.loads(token, strict=False)
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
                yield Document(builder.data, builder.lines)
                builder = _Builder()
            else:
                builder.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else None
        raise FormatError(line, f"not YAML: {error.problem or error.context}") from None
    except yaml.YAMLError as error:
        position = getattr(error, "position", None)
        line = text.count("\n", 0, position) + 1 if isinstance(position, int) else None
        character = getattr(error, "character", None)
        detail = f"the character U+{character:04X}" if isinstance(character, int) else "a character"
        raise FormatError(line, f"not YAML: {detail} is not allowed in YAML text") from None


class _Builder:
    """Builds plain data from parse events, without recursion."""

    def __init__(self) -> None:
        self.data: Any = None
        self.lines: dict[Location, int] = {}
        self.path: list[str | int] = []
        self.open: list[Any] = []
        self.key: list[str | None] = []

    def take(self, event: Any) -> None:
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent):
            raise FormatError(
                line, f"alias *{event.anchor}: write the value out, aliases are not read"
            )
        if isinstance(event, yaml.ScalarEvent):
            if event.tag is not None and event.tag != "tag:yaml.org,2002:str":
                raise FormatError(line, f"the tag {event.tag[:60]} is not read; write plain text")
            if self.open and isinstance(self.open[-1], dict) and self.key[-1] is None:
                self.named(event.value, line)
            else:
                null = event.style is None and event.implicit[0] and event.value in _NULLS
                self.place(None if null else event.value, line)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            if self.open and isinstance(self.open[-1], dict) and self.key[-1] is None:
                raise FormatError(line, "a field name must be plain text")
            if len(self.open) >= MAX_DEPTH:
                raise FormatError(line, f"nested deeper than {MAX_DEPTH} levels")
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
            raise FormatError(line, f'the field "{name[:80]}" occurs twice; keep one')
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
