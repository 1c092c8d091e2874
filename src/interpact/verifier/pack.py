"""Rows of tokens that begin alike, computed once: packed as a tree with a mask that keeps branches apart.

A row is one prompt with the positions that are read. Rows of one root share their case; in a pack, a
shared beginning stands once, and every token attends to its own row's tokens only. So the numbers are
those of the rows computed one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Row:
    """Tokens, and the positions after which the next token is asked for."""

    tokens: tuple[int, ...]
    reads: tuple[int, ...]


@dataclass(frozen=True)
class Batch:
    """What a model is given: batch x length, and which places of it are read (in order of rows)."""

    tokens: Tensor
    positions: Tensor
    mask: Tensor
    reads: Tensor

    def to(self, device: torch.device | str) -> Batch:
        """The batch on another device."""
        return Batch(*(getattr(self, name).to(device) for name in self.__dataclass_fields__))


@dataclass
class Tree:
    """Rows merged where they begin alike; a node is a token after all tokens above it."""

    tokens: list[int] = field(default_factory=list[int])
    parents: list[int] = field(default_factory=list[int])
    depths: list[int] = field(default_factory=list[int])
    reads: list[int] = field(default_factory=list[int])
    _children: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])

    def __len__(self) -> int:
        return len(self.tokens)

    def extra(self, rows: Iterable[Row]) -> int:
        """How many tokens these rows would add (rows among themselves counted as if apart)."""
        return sum(len(row.tokens) - self._shared(row)[0] for row in rows)

    def add(self, row: Row) -> None:
        """Add a row."""
        depth, at = self._shared(row)
        path = self._path(at)
        for token in row.tokens[depth:]:
            self._children[at, token] = node = len(self.tokens)
            self.tokens.append(token)
            self.parents.append(at)
            self.depths.append(len(path))
            path.append(node)
            at = node
        self.reads += [path[read] for read in row.reads]

    def _shared(self, row: Row) -> tuple[int, int]:
        at = -1
        for depth, token in enumerate(row.tokens):
            below = self._children.get((at, token))
            if below is None:
                return depth, at
            at = below
        return len(row.tokens), at

    def _path(self, at: int) -> list[int]:
        found: list[int] = []
        while at >= 0:
            found.append(at)
            at = self.parents[at]
        return found[::-1]

    def batch(self) -> Batch:
        """The whole tree as one sequence."""
        length = len(self.tokens)
        seen = np.zeros((length, length), dtype=bool)
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                seen[node] = seen[parent]
            seen[node, node] = True
        return Batch(
            torch.tensor([self.tokens]),
            torch.tensor([self.depths]),
            torch.from_numpy(seen)[None, None],
            torch.tensor([[0, read] for read in self.reads]).reshape(-1, 2),
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
    """Rows side by side, padded at the end, for models whose layers cannot be masked."""
    length = max(len(row.tokens) for row in rows)
    tokens = torch.zeros(len(rows), length, dtype=torch.long)
    mask = torch.zeros(len(rows), length, dtype=torch.long)
    for i, row in enumerate(rows):
        tokens[i, : len(row.tokens)] = torch.tensor(row.tokens)
        mask[i, : len(row.tokens)] = 1
    reads = [[i, read] for i, row in enumerate(rows) for read in row.reads]
    positions = torch.arange(length).expand(len(rows), -1)
    return Batch(tokens, positions, mask, torch.tensor(reads).reshape(-1, 2))
