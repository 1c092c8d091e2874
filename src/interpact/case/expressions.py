"""The rule language: conditions combined by `and`, `or`, `not` and `at least K of (...)`.

`parse_expression` and `str` are inverse to each other; errors point at the character.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from interpact.errors import InterPactError

MAX_NESTING = 100
_KEYWORDS = {"and", "or", "not", "at", "least", "of", "all", "any"}
# A bare id may hold dashes, dots and slashes inside; any other id is written in double quotes.
_BARE = r"\w(?:[\w./-]*\w)?"
_SIGNS = {"&": "and", "|": "or", "!": "not"}
_TOKEN = re.compile(rf'\s*(?:(?P<word>{_BARE})|(?P<quoted>"(?:[^"\\]|\\["\\])*")|(?P<mark>[(),]))')


class RuleSyntaxError(InterPactError):
    """A rule text that cannot be read; `position` is the offset of the offending character."""

    def __init__(self, text: str, position: int, message: str) -> None:
        self.text, self.position, self.reason = text, position, message
        start, stop = max(0, position - 40), min(len(text), position + 40)
        excerpt = re.sub(r"\s", " ", text[start:stop])
        lead, tail = "..." if start else "", "..." if stop < len(text) else ""
        pointer = " " * (len(lead) + position - start) + "^"
        super().__init__(
            f"rule, character {position + 1}: {message}\n  {lead}{excerpt}{tail}\n  {pointer}"
        )


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition of the case, by its id."""

    id: str

    def __str__(self) -> str:
        if re.fullmatch(_BARE, self.id) and self.id.lower() not in _KEYWORDS:
            return self.id
        return '"' + self.id.replace("\\", "\\\\").replace('"', '\\"') + '"'


@dataclass(frozen=True, slots=True)
class Not:
    """Swaps satisfied and not satisfied, keeps unknown."""

    item: Expression

    def __str__(self) -> str:
        return "not " + _inside(self.item, And, Or)


@dataclass(frozen=True, slots=True)
class And:
    """The least of its items, in the order not satisfied < unknown < satisfied."""

    items: tuple[Expression, ...]

    def __str__(self) -> str:
        return " and ".join(_inside(item, And, Or) for item in self.items)


@dataclass(frozen=True, slots=True)
class Or:
    """The greatest of its items."""

    items: tuple[Expression, ...]

    def __str__(self) -> str:
        return " or ".join(_inside(item, Or) for item in self.items)


@dataclass(frozen=True, slots=True)
class AtLeast:
    """Satisfied when `count` items are; not satisfied when too few others are left."""

    count: int
    items: tuple[Expression, ...]

    def __str__(self) -> str:
        return f"at least {self.count} of ({', '.join(map(str, self.items))})"


Expression = Condition | Not | And | Or | AtLeast


def _inside(item: Expression, *bracketed: type) -> str:
    return f"({item})" if isinstance(item, bracketed) else str(item)


def parse_expression(text: str) -> Expression:
    """Read an expression such as `c1 and (c2 or not c3)`."""
    parser = _Parser(text)
    expression = parser.any_of(0)
    if parser.kind != "end":
        hint = "" if parser.kind == "mark" else "; write an id with spaces in double quotes"
        parser.fail(f"expected `and`, `or` or the end, found {parser.shown}{hint}")
    return expression


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.stop = 0
        self.advance()

    def advance(self) -> None:
        match = _TOKEN.match(self.text, self.stop)
        if match is None:
            rest = self.text[self.stop :]
            self.start = self.stop + len(rest) - len(rest.lstrip())
            if self.start < len(self.text):
                bad = self.text[self.start]
                if bad == '"':
                    self.fail("this quoted id has no closing quote")
                word = _SIGNS.get(bad)
                remedy = (
                    f"write `{word}`"
                    if word
                    else "write ids with other characters in double quotes"
                )
                self.fail(f"unexpected character {bad!r}; {remedy}")
            self.kind, self.value = "end", ""
            return
        kind = str(match.lastgroup)
        self.start, self.stop = match.span(kind)
        self.value = match.group(kind)
        if kind == "word" and self.value.lower() in _KEYWORDS:
            kind, self.value = "keyword", self.value.lower()
        self.kind = kind

    @property
    def shown(self) -> str:
        return "the end" if self.kind == "end" else f"`{self.value}`"

    def fail(self, message: str, position: int | None = None) -> NoReturn:
        raise RuleSyntaxError(self.text, self.start if position is None else position, message)

    def at(self, kind: str, value: str) -> bool:
        return self.kind == kind and self.value == value

    def take(self, kind: str, value: str, purpose: str) -> None:
        if not self.at(kind, value):
            self.fail(f"expected `{value}` {purpose}, found {self.shown}")
        self.advance()

    def any_of(self, depth: int) -> Expression:
        return self.joined("or", Or, self.all_of, depth)

    def all_of(self, depth: int) -> Expression:
        return self.joined("and", And, self.factor, depth)

    def joined(
        self,
        word: str,
        gate: type[And] | type[Or],
        part: Callable[[int], Expression],
        depth: int,
    ) -> Expression:
        items = [part(depth)]
        while self.at("keyword", word):
            self.advance()
            items.append(part(depth))
        return items[0] if len(items) == 1 else gate(tuple(items))

    def factor(self, depth: int) -> Expression:
        if depth > MAX_NESTING:
            self.fail(f"nested deeper than {MAX_NESTING}; split the rule into conditions")
        if self.kind == "word":
            found = Condition(self.value)
            self.advance()
            return found
        if self.kind == "quoted":
            name = re.sub(r"\\(.)", r"\1", self.value[1:-1])
            if not name.strip():
                self.fail("a condition id is empty")
            self.advance()
            return Condition(name)
        if self.at("keyword", "not"):
            self.advance()
            return Not(self.factor(depth + 1))
        if self.at("keyword", "at"):
            self.advance()
            return self.at_least(depth)
        if self.at("mark", "("):
            self.advance()
            inner = self.any_of(depth + 1)
            self.take("mark", ")", "to close the bracket")
            return inner
        if self.kind == "keyword" and self.value in ("all", "any"):
            self.fail(
                f"`{self.value}` stands alone for every condition of the case; "
                f'inside an expression join ids with `and`/`or` (a condition named so: "{self.value}")'
            )
        self.fail(f"expected a condition id, `not`, `at least` or `(`, found {self.shown}")

    def at_least(self, depth: int) -> Expression:
        self.take("keyword", "least", "after `at`")
        where = self.start
        if self.kind != "word" or not re.fullmatch(r"[0-9]{1,9}", self.value):
            self.fail(f"expected a number after `at least`, found {self.shown}")
        count = int(self.value)
        self.advance()
        self.take("keyword", "of", f"after `at least {count}`")
        self.take("mark", "(", "before the list")
        items = [self.any_of(depth + 1)]
        while self.at("mark", ","):
            self.advance()
            items.append(self.any_of(depth + 1))
        self.take("mark", ")", "to close the list")
        if not 1 <= count <= len(items):
            self.fail(
                f"`at least {count}` of {len(items)} is constant; give a number from 1 to {len(items)}",
                where,
            )
        return AtLeast(count, tuple(items))
