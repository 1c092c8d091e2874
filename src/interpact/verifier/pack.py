"""Rows of tokens that begin alike, computed once: merged as a tree in which branches stay apart.

A row is one prompt with the positions that are read. Rows of one root share their case; in a pack a
shared beginning stands once, and every token attends to its own row's tokens only. So the numbers are
those of the rows computed one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Row:
    """Tokens, and the positions after which the next token is asked for."""

    tokens: tuple[int, ...]
    reads: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Tokens that follow each other, and the ranges of tokens above them in the tree."""

    start: int
    stop: int
    above: tuple[tuple[int, int], ...]

    def up_to(self, stop: int) -> tuple[tuple[int, int], ...]:
        """The ranges above a token that follows this stretch's token before `stop`."""
        if self.above and self.above[-1][1] == self.start:
            return (*self.above[:-1], (self.above[-1][0], stop))
        return (*self.above, (self.start, stop))


@dataclass(frozen=True, slots=True)
class Batch:
    """What a model is given: batch x length, and which places of it are read (in order of rows).

    Either `mask` tells padding from tokens, or `stretches` how the one sequence is a tree.
    """

    tokens: Tensor
    positions: Tensor
    reads: Tensor
    mask: Tensor | None = None
    stretches: tuple[Stretch, ...] = ()

    def to(self, device: torch.device | str) -> Batch:
        """The batch on another device."""
        return replace(
            self,
            tokens=self.tokens.to(device),
            positions=self.positions.to(device),
            reads=self.reads.to(device),
            mask=None if self.mask is None else self.mask.to(device),
        )


@dataclass
class Tree:
    """Rows merged where they begin alike; a node is a token after all tokens above it."""

    tokens: list[int] = field(default_factory=list[int])
    depths: list[int] = field(default_factory=list[int])
    reads: list[int] = field(default_factory=list[int])
    stretches: list[Stretch] = field(default_factory=list[Stretch])
    _stretch_of: list[int] = field(default_factory=list[int])
    _children: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])

    def __len__(self) -> int:
        return len(self.tokens)

    def extra(self, rows: Iterable[Row]) -> int:
        """How many tokens these rows would add (rows among themselves counted as if apart)."""
        return sum(len(row.tokens) - len(self._shared(row)) for row in rows)

    def add(self, row: Row) -> None:
        """Add a row."""
        path = self._shared(row)
        depth, at = len(path), path[-1] if path else -1
        start, stop = len(self.tokens), len(self.tokens) + len(row.tokens) - depth
        if stop > start:
            above = self.stretches[self._stretch_of[at]].up_to(at + 1) if path else ()
            self._stretch_of += [len(self.stretches)] * (stop - start)
            self.stretches.append(Stretch(start, stop, above))
        for node, token in enumerate(row.tokens[depth:], start):
            self._children[at, token] = at = node
            path.append(node)
        self.tokens += row.tokens[depth:]
        self.depths += range(depth, len(row.tokens))
        self.reads += [path[read] for read in row.reads]

    def _shared(self, row: Row) -> list[int]:
        """The nodes of the row's beginning that are there already."""
        path: list[int] = []
        at = -1
        for token in row.tokens:
            below = self._children.get((at, token))
            if below is None:
                break
            at = below
            path.append(at)
        return path

    def batch(self) -> Batch:
        """The whole tree as one sequence."""
        return Batch(
            torch.tensor([self.tokens]),
            torch.tensor([self.depths]),
            torch.tensor([[0, read] for read in self.reads]).reshape(-1, 2),
            stretches=tuple(self.stretches),
        )


def packed(groups: Sequence[Sequence[Row]], limit: int) -> list[tuple[range, Tree]]:
    """Consecutive groups in as few trees of at most `limit` tokens as greedily fit; a group is never cut."""
    found: list[tuple[range, Tree]] = []
    start, tree = 0, Tree()
    for i, group in enumerate(groups):
        if len(tree) and len(tree) + tree.extra(group) > limit:
            found.append((range(start, i), tree))
            start, tree = i, Tree()
        for row in group:
            tree.add(row)
    if start < len(groups):
        found.append((range(start, len(groups)), tree))
    return found


def plain(rows: Sequence[Row]) -> Batch:
    """Rows side by side, padded at the end, for models whose layers cannot be kept apart."""
    length = max(len(row.tokens) for row in rows)
    tokens = torch.zeros(len(rows), length, dtype=torch.long)
    mask = torch.zeros(len(rows), length, dtype=torch.long)
    for i, row in enumerate(rows):
        tokens[i, : len(row.tokens)] = torch.tensor(row.tokens)
        mask[i, : len(row.tokens)] = 1
    reads = [[i, read] for i, row in enumerate(rows) for read in row.reads]
    positions = torch.arange(length).expand(len(rows), -1)
    return Batch(tokens, positions, torch.tensor(reads).reshape(-1, 2), mask=mask)


def dense_mask(stretches: Sequence[Stretch], length: int) -> Tensor:
    """The tree as a matrix, token x token: whether it is seen."""
    seen = torch.zeros(length, length, dtype=torch.bool)
    for part in stretches:
        for start, stop in part.above:
            seen[part.start : part.stop, start:stop] = True
        n = part.stop - part.start
        seen[part.start : part.stop, part.start : part.stop] = torch.ones(
            n, n, dtype=torch.bool
        ).tril()
    return seen
