# pyright: basic, reportAttributeAccessIssue=false
# (pyarrow makes its functions at import, so no checker sees them)
"""What predictions are held against: all runs of a report speak of the same roots, pairs and labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from interpact.case.problems import InputProblems, Problem
from interpact.case.states import Decision, State
from interpact.corpus.pairs import Operation, Split
from interpact.corpus.split import NO_SOURCE
from interpact.corpus.store import Corpus
from interpact.errors import InterPactError
from interpact.evaluate.metrics import Ints
from interpact.systems.columns import TOLD, PairColumns, RootColumns
from interpact.systems.predictions import PAIRS, ROOTS, Predictions, fingerprint

FACTS = ("operation", "state_before", "decision_before", "state_after", "decision_after", "mapping")
CRITICAL = ("critical",)


@dataclass(frozen=True, eq=False)
class Facts:
    """What is known of each pair, or of each root, by its id."""

    ids: pa.Array
    names: tuple[str, ...]
    values: Ints
    """`[row, name]`; a mapping is one number."""
    sources: list[str]
    source: Ints


class Reference:
    """The roots, pairs and labels of a split: of a corpus, or else of the first run that has them."""

    def __init__(self, split: Split, corpus: Corpus | None = None) -> None:
        self.split = split
        self.corpus = corpus
        self.home = "the corpus"
        self.fingerprint: str | None = None
        self.constant: dict[str, bool] = {}
        """Of roots: whether no state of the target condition can change the decision."""
        self.pairs: Facts | None = None
        self.roots: RootColumns | None = None
        if corpus is not None:
            self.fingerprint = fingerprint(corpus, split)
            self._of_corpus(corpus)

    def _of_corpus(self, corpus: Corpus) -> None:
        pairs = [pair for pair in corpus.pairs if pair.of.split is self.split]
        roots = {n: r for n, r in corpus.roots.items() if r.split is self.split}
        sources = sorted({root.root.case.source or NO_SOURCE for root in roots.values()})
        if not roots:
            raise InterPactError(
                f"the corpus has no {self.split} roots; give its roots splits with `interpact split`"
            )
        states, decisions, operations = list(State), list(Decision), list(Operation)
        values = [
            (
                operations.index(pair.record.operation),
                states.index(pair.of.state),
                decisions.index(pair.of.decision),
                states.index(pair.state_after),
                decisions.index(pair.decision_after),
                _one([decisions.index(pair.of.mapping[state]) for state in State]),
            )
            for pair in pairs
        ]
        ids = pa.array([pair.id for pair in pairs], pa.string())
        of_pair = [sources.index(pair.before.source or NO_SOURCE) for pair in pairs]
        table = np.array(values, np.int64).reshape(-1, len(FACTS))
        self.pairs = Facts(ids, FACTS, table, sources, np.array(of_pair, np.int64))
        of_root = [sources.index(root.root.case.source or NO_SOURCE) for root in roots.values()]
        labels = [corpus.criticality.get(name) for name in roots]
        self.roots = RootColumns(
            list(roots),
            sources,
            np.array(of_root, np.int32),
            np.array([-1 if label is None else int(label.critical) for label in labels], np.int32),
            np.zeros(len(roots), np.int32),
            None,
        )
        self.constant = {name: root.constant for name, root in roots.items()}

    def check(self, found: Predictions) -> None:
        """An error where predictions are of something else; it names the rows."""
        problems: list[Problem] = []
        meta, pairs, roots = found.meta, found.pairs, found.roots
        if meta.split is not self.split:
            raise InterPactError(f"{found.folder}: is of the {meta.split} split, not {self.split}")
        if pairs is not None:
            facts = Facts(pairs.ids, FACTS, _pair_facts(pairs), pairs.sources, pairs.source)
            if self.pairs is None:
                self.pairs, self.home = facts, str(found.folder)
                self.constant |= _constant(pairs)
            else:
                problems += self._differences(found.folder / PAIRS, "pair", facts, self.pairs)
        if roots is not None:
            if self.roots is None:
                self.roots, self.home = roots, str(found.folder)
            else:
                own, facts = _root_facts(self.roots), _root_facts(roots)
                problems += self._differences(found.folder / ROOTS, "root", facts, own)
        if problems:
            raise InputProblems(problems)
        if self.fingerprint is None:
            self.fingerprint = meta.corpus
        elif meta.corpus != self.fingerprint:
            raise InterPactError(
                f"{found.folder}: was made with another corpus (or other texts of it) than "
                f"{self.home}: {meta.corpus[:12]}, not {self.fingerprint[:12]}; evaluate the run again"
            )

    def _differences(self, path: Path, noun: str, found: Facts, own: Facts) -> Iterator[Problem]:
        """How the rows of a file differ from what is known."""
        at = pc.index_in(found.ids, own.ids).fill_null(-1).to_numpy(zero_copy_only=False)
        known = at >= 0
        yield from _told(path, found.ids, ~known, f"{self.home} has no such {noun}")
        rows = np.zeros(len(own.ids), bool)
        rows[at[known]] = True
        for name in own.ids.filter(pa.array(~rows)).to_pylist()[:TOLD]:
            what = f"this {noun} of {self.home} is not predicted; evaluate the run again"
            yield Problem(str(path), None, name, what)
        if (~rows).sum() > TOLD:
            yield Problem(str(path), None, "", f"{(~rows).sum() - TOLD:,} more are not predicted")
        expected = own.values[np.maximum(at, 0)]
        for number, name in enumerate(own.names):
            wrong = known & (found.values[:, number] != expected[:, number])
            yield from _told(path, found.ids, wrong, f"{name} is not what {self.home} says")
        place = {name: number for number, name in enumerate(own.sources)}
        renamed = np.array([place.get(name, -1) for name in found.sources] or [-1])[found.source]
        wrong = known & (renamed != own.source[np.maximum(at, 0)])
        yield from _told(path, found.ids, wrong, f"source is not what {self.home} says")


def _told(path: Path, ids: Any, where: Any, what: str) -> Iterator[Problem]:
    rows = np.flatnonzero(where).tolist()
    for row in rows[:TOLD]:
        yield Problem(str(path), row + 1, ids[row].as_py(), what, unit="row")
    if len(rows) > TOLD:
        yield Problem(str(path), None, "", f"{what} (the same in {len(rows) - TOLD:,} more rows)")


def _one(mapping: Sequence[int]) -> int:
    return mapping[0] * 9 + mapping[1] * 3 + mapping[2]


def _pair_facts(pairs: PairColumns) -> Ints:
    columns = [getattr(pairs, name) for name in FACTS[:-1]]
    return np.stack([*columns, pairs.mapping @ np.array([9, 3, 1])], 1).astype(np.int8)


def _root_facts(roots: RootColumns) -> Facts:
    ids = pa.array(roots.roots, pa.string())
    return Facts(ids, CRITICAL, roots.critical[:, None], roots.sources, roots.source)


def _constant(pairs: PairColumns) -> dict[str, bool]:
    same = (pairs.mapping == pairs.mapping[:, :1]).all(1)
    of_root = np.zeros(len(pairs.roots), bool)
    of_root[pairs.root] = same
    return dict(zip(pairs.roots, of_root.tolist(), strict=True))
