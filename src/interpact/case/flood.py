"""Cases with more wrong parts than anyone would read, cut down before they are checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from interpact.case.problems import MAX_PROBLEMS

_LONG_UNIT = 100
_UNIT = ("id", "conditions", "text")


def bounded(raw: dict[str, Any], fields: Sequence[str]) -> tuple[dict[str, Any], bool]:
    """The case without most of its wrong parts, if there are many; whether any were left out.

    Millions of them would fill the memory with messages before anyone could read one.
    """
    evidence, conditions = _list(raw.get("evidence")), _group(raw.get("conditions"))
    labels = _group(raw.get("labels"))
    states = None if labels is None else _group(labels.get("states"))
    size = sum(len(part) for part in (raw, evidence, conditions, states) if part is not None)
    if size <= MAX_PROBLEMS and not any(map(_is_long, evidence or ())):
        return raw, False
    room = _Room()
    found = room.kept(raw, lambda key, _: key in fields)
    if conditions is not None:
        found["conditions"] = room.kept(conditions, lambda _, text: _is_written(text))
    if labels is not None and states is not None:
        kept = room.kept(states, lambda _, state: _is_written(state))
        found["labels"] = {**labels, "states": kept}
    if evidence is not None:
        found["evidence"] = [
            room.shortened(unit) for unit in evidence if _is_plain(unit) or room.take()
        ]
    return found, room.full


class _Room:
    """Room for so many wrong parts."""

    def __init__(self) -> None:
        self.left = MAX_PROBLEMS
        self.full = False

    def take(self) -> bool:
        """Whether there is room for one more."""
        self.left -= 1
        self.full |= self.left < 0
        return self.left >= 0

    def kept(self, group: dict[str, Any], right: Callable[[str, Any], bool]) -> dict[str, Any]:
        return {key: part for key, part in group.items() if right(key, part) or self.take()}

    def shortened(self, unit: object) -> object:
        fields = _group(unit)
        if fields is None or not _is_long(fields) or _is_plain(fields):
            return unit
        found = self.kept(fields, lambda key, _: key in _UNIT)
        bears_on = _list(found.get("conditions"))
        if bears_on is not None:
            found["conditions"] = [name for name in bears_on if _is_written(name) or self.take()]
        return found


def _is_long(unit: object) -> bool:
    fields = _group(unit)
    if fields is None:
        return False
    return len(fields) > _LONG_UNIT or len(_list(fields.get("conditions")) or ()) > _LONG_UNIT


def _is_plain(unit: object) -> bool:
    fields = _group(unit)
    if fields is None or fields.keys() != set(_UNIT):
        return False
    bears_on = _list(fields["conditions"])
    return (
        _is_written(fields["id"])
        and _is_written(fields["text"])
        and bears_on is not None
        and all(map(_is_written, bears_on))
    )


def _is_written(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _group(value: object) -> dict[str, Any] | None:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _list(value: object) -> list[Any] | None:
    return cast("list[Any]", value) if isinstance(value, list) else None
