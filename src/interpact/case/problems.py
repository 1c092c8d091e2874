"""Problems of input files: where, what and what to do."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from interpact.case.case import Location
from interpact.errors import InterPactError

MAX_PROBLEMS = 1_000
"""Of one case; who has more sees these first."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong at one place of a file; a note is not wrong but worth a look."""

    file: str
    line: int | None
    where: str
    what: str
    note: bool = False
    unit: str = "line"

    def __str__(self) -> str:
        place = self.file
        if self.line is not None:
            place += f":{self.line}" if self.unit == "line" else f": {self.unit} {self.line}"
        return visible(
            f"{place}: {'note: ' if self.note else ''}{self.where + ': ' if self.where else ''}{self.what}"
        )


class InputProblems(InterPactError):
    """Everything that is wrong with an input, at once."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, problems)))


def visible(text: str) -> str:
    """The text with control characters shown, so that it cannot steer a terminal."""
    return re.sub(
        r"[^\n\t\x20-\x7e\xa0-\u200a\u2010-\u2027\u202f-\u2064\u206a-\ud7ff\ue000-\ufefe\uff00-\uffef\ufffd\U00010000-\U000e0000\U000e0080-\U0010ffff]",
        lambda match: "\ufffd" if 0xD800 <= ord(match[0]) < 0xE000 else f"\\x{ord(match[0]):02x}",
        text,
    )


def describe(location: Location, raw: object) -> str:
    """A location in words a person finds in the file: `evidence[2] ("e3").text`."""
    words: list[str] = []
    here = raw
    for step in location:
        if isinstance(step, int):
            words[-1:] = [f"{words[-1] if words else ''}[{step}]"]
        else:
            words.append(step if len(step) <= 80 else step[:77] + "...")
        here = _inside(here, step)
        name = _inside(here, "id")
        if isinstance(step, int) and isinstance(name, str):
            words[-1] += f' ("{name[:60]}")'
    return ".".join(words)


def _inside(here: object, step: str | int) -> object:
    try:
        return here[step]  # type: ignore[index]
    except (KeyError, IndexError, TypeError):
        return None


def sound(name: str) -> bool:
    """Whether a name of a field can be written as UTF-8."""
    return not any("\ud800" <= character <= "\udfff" for character in name)


def half_character(name: str) -> str:
    """What is wrong with a field whose name cannot be written as UTF-8."""
    return f'the field name "{name[:80]}" {_HALF}'


_HALF = "holds half a character (a lone surrogate); save the text as UTF-8 again"


def field_problems(
    errors: Sequence[Any], fields: Mapping[Location, Sequence[str]]
) -> list[tuple[Location, str]]:
    """Pydantic's errors in our words; `fields` lists the known fields of each kind of object."""
    from interpact.case.states import did_you_mean

    found: list[tuple[Location, str]] = []
    for error in errors:
        location: Location = tuple(step for step in error["loc"] if step != "[key]")
        kind, value = error["type"], error.get("input")
        shape = tuple("*" if isinstance(step, int) else step for step in location[:-1])
        if kind == "extra_forbidden":
            known = list(fields.get(shape, ()))
            guess = did_you_mean(str(location[-1]), known)
            what = f"unknown field{guess}; correct or drop it, known are {', '.join(known)}"
        elif kind == "missing":
            what = "is missing; add it"
        elif kind == "string_pattern_mismatch":
            what = _bad_text(str(value), "[key]" in error["loc"])
        elif kind in ("string_type", "string_unicode"):
            what = _not_text(value)
        elif kind == "string_too_long":
            what = f"is longer than {error['ctx']['max_length']} characters; shorten it"
        elif kind in ("dict_type", "model_type", "model_attributes_type"):
            what = f"must be a group of named fields, not {_kind(value)}"
        elif kind in ("tuple_type", "list_type"):
            what = f"must be a list, not {_kind(value)}"
        elif kind == "enum":
            what = f"{_short(value)} is not one of {error['ctx']['expected'].replace(chr(39), '')}"
        elif kind == "too_short":
            if value:
                continue  # its items are wrong, which is told of them
            what = "is empty; give at least one"
        elif kind == "value_error":
            what = str(error["ctx"]["error"])
        else:
            what = str(error["msg"])
        found.append((location, what))
    return found


def _bad_text(value: str, key: bool) -> str:
    if "\x00" in value:
        return "holds a NUL character; remove it"
    if not value.strip():
        return "is empty; write the name" if key else "is empty; write the text or drop the field"
    return (
        "is no usable id: it begins or ends with a space or holds a line break or control character"
    )


def _not_text(value: object) -> str:
    if value is None:
        return "is empty; write the text or drop the field"
    if isinstance(value, str):
        return _HALF
    return f"must be text, not {_kind(value)}; put it in quotes"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _kind(value: object) -> str:
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return "a true/false value"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return f"the text {_short(value)}"
    return (
        "a list"
        if isinstance(value, list | tuple)
        else "a group of fields"
        if isinstance(value, Mapping)
        else "data"
    )
