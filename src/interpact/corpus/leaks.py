"""Leaks: related cases in different splits, by a full comparison without MinHash."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from interpact.case.files import read_cases
from interpact.corpus.components import SIMILAR, check_threshold, identifying_texts, names_of
from interpact.corpus.near import SHINGLE, Texts, sharing_rare
from interpact.corpus.pairs import Split
from interpact.corpus.split import roots_of
from interpact.corpus.store import ROOTS
from interpact.errors import InterPactError

LITERAL = 3000  # texts up to which each is compared with each


@dataclass(frozen=True, slots=True)
class Leak:
    """Two related cases in different splits, and what relates them."""

    kind: str
    cases: tuple[str, str]
    splits: tuple[Split, Split]
    similarity: float = 1.0

    def __str__(self) -> str:
        (a, b), (s, t) = self.cases, self.splits
        if self.kind == "evidence":
            return f"{a} ({s}) and {b} ({t}): evidence {self.similarity:.2f} alike"
        return f"{a} ({s}) and {b} ({t}): same {self.kind}"


def leaks(folder: str | Path, threshold: float = SIMILAR) -> list[Leak]:
    """Cases of different splits that are related: a full comparison, without MinHash.

    Up to 3,000 texts, each is compared with each, sharing no code with `components` but the choice
    of texts. Beyond, those are compared that share a rare shingle, which leaves no pair out.
    """
    check_threshold(threshold)
    folder = Path(folder)
    splits_of: defaultdict[str, set[Split]] = defaultdict(set)
    for root in roots_of(folder):
        if root.split is None:
            raise InterPactError(
                f'{folder / ROOTS}: root "{root.id}" has no split; run interpact split first'
            )
        splits_of[root.case].add(root.split)
    found: list[Leak] = []
    first: dict[tuple[str, str | bytes], tuple[str, Split]] = {}
    holders: defaultdict[str, dict[Split, str]] = defaultdict(dict)
    for case in read_cases(folder):
        texts = identifying_texts(case)
        for part in sorted(splits_of.get(case.id, ())):
            for name in names_of(case):
                other, where = first.setdefault(name, (case.id, part))
                if where is not part:
                    found.append(Leak(name[0], (other, case.id), (where, part)))
                    break
            for text in texts:
                holders[text].setdefault(part, case.id)
    return found + list(_alike(holders, threshold))


def _alike(holders: Mapping[str, Mapping[Split, str]], threshold: float) -> Iterator[Leak]:
    texts, held = list(holders), list(holders.values())
    for some in held:
        for (s, a), (t, b) in combinations(some.items(), 2):
            yield Leak("evidence", (a, b), (s, t))
    similar = similar_literally if len(texts) <= LITERAL else similar_by_rarest
    for i, j, similarity in similar(texts, [frozenset(some) for some in held], threshold):
        for s, a in held[i].items():
            for t, b in held[j].items():
                if s is not t:
                    yield Leak("evidence", (a, b), (s, t), similarity)


def similar_literally(
    texts: Sequence[str], splits: Sequence[frozenset[Split]], threshold: float
) -> Iterator[tuple[int, int, float]]:
    """Every similar pair of texts of different splits, each compared with each."""
    sets: list[set[tuple[str, ...]]] = []
    for text in texts:
        words = text.split()
        sets.append({tuple(words[i : i + SHINGLE]) for i in range(len(words) - SHINGLE + 1)})
    for i, j in combinations(range(len(texts)), 2):
        if len(splits[i] | splits[j]) > 1:
            common = len(sets[i] & sets[j])
            similarity = common / (len(sets[i]) + len(sets[j]) - common)
            if similarity >= threshold:
                yield i, j, similarity


def similar_by_rarest(
    texts: Sequence[str], splits: Sequence[frozenset[Split]], threshold: float
) -> Iterator[tuple[int, int, float]]:
    """The same pairs, from those that share a rare shingle."""
    import numpy as np

    numbered = Texts()
    for text in texts:
        numbered.add(text)
    numbered.finish()
    found: set[tuple[int, int]] = set()
    for bucket, heads in sharing_rare(numbered, np.arange(len(texts)), threshold):
        for place, one in enumerate(bucket[:heads].tolist(), 1):
            others = bucket[place:]
            others = others[[len(splits[one] | splits[other]) > 1 for other in others.tolist()]]
            if not len(others):
                continue
            alike = numbered.similarities(one, others).tolist()
            for other, similarity in zip(others.tolist(), alike, strict=True):
                pair = (min(one, other), max(one, other))
                if similarity >= threshold and pair not in found:
                    found.add(pair)
                    yield one, other, similarity
