"""Settings files: YAML in which an unknown key is an error with line and remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from interpact.case.case import Location
from interpact.case.formats import FormatError, decode, parse_yaml
from interpact.case.problems import InputProblems, Problem, describe, field_problems
from interpact.errors import InterPactError

M = TypeVar("M", bound=BaseModel)

EXTENDS = "extends"
"""A settings file may begin from another one and name only what differs."""


def read_settings(path: Path, kind: type[M]) -> M:
    """The settings of a YAML file and of the file that it extends."""
    data, line_of = _load(
        path, set(), {n for n, f in kind.model_fields.items() if f.annotation == dict[str, Any]}
    )
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        fields: dict[Location, tuple[str, ...]] = {(): tuple(kind.model_fields)}
        for name, field in kind.model_fields.items():
            inner = field.annotation
            if isinstance(inner, type) and issubclass(inner, BaseModel):
                fields[(name,)] = tuple(inner.model_fields)
        raise InputProblems(
            [
                Problem(str(path), line_of(at), describe(at, data), what)
                for at, what in field_problems(error.errors(include_url=False), fields)
            ]
        ) from None


def _load(path: Path, seen: set[Path], typed: set[str]) -> tuple[dict[str, Any], Any]:
    if path.resolve() in seen:
        raise InterPactError(f"{path}: extends itself; name another file")
    seen.add(path.resolve())
    try:
        text = decode(path.read_bytes())
        document = next(parse_yaml(text), None)
    except OSError as error:
        raise InterPactError(f"{path}: cannot be read: {error.strerror or error}") from None
    except FormatError as error:
        raise InputProblems([Problem(str(path), error.line, "", error.what)]) from None
    if document is None or document.data is None:
        return {}, lambda at: None
    data = document.data
    if not isinstance(data, dict):
        raise InterPactError(f"{path}: is not a list of settings; write key: value")
    if typed & data.keys():
        # Scalars are read as text; where no field gives them a type, they have the one they look like.
        data |= {name: _typed(text, path)[name] for name in typed & data.keys()}
    other = data.pop(EXTENDS, None)
    if other is not None:
        data = merged(_load(path.parent / str(other), seen, typed)[0], data)
    return data, document.line_of


def merged(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """Settings with others over them, group by group."""
    found = dict(base)
    for key, value in over.items():
        both = isinstance(value, dict) and isinstance(found.get(key), dict)
        found[key] = merged(found[key], value) if both else value
    return found


def _typed(text: str, path: Path) -> dict[str, Any]:
    """The first document of a YAML text with numbers as numbers."""
    try:
        return next(yaml.safe_load_all(text))
    except (ValueError, yaml.YAMLError) as error:
        raise InterPactError(f"{path}: {error}; correct the value") from None
