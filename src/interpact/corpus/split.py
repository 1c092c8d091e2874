"""Components and splits: related roots share one split (tab:data).

Roots are related when their cases are one case, name the same document or rule family, read the
same in full, or hold near-duplicate evidence. Only evidence is compared: rule, query and
conditions may be the same for a whole source (the 17 hypotheses of ContractNLI) and say nothing
about where a case comes from. Evidence is compared unit by unit, because two cases of one
contract, or of two copies of it, may hold different clauses. A unit of fewer than 15 words
("3.3", "the Receiving Party agrees:") identifies nothing; the short units of a case are taken
together as one text, which again needs 15 words.

Similarity is the Jaccard similarity of the sets of three-word shingles. MinHash bands find
candidates, and each is verified on the whole sets, so that no link is false.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from interpact.case.case import Case
from interpact.case.files import read_cases
from interpact.case.states import did_you_mean
from interpact.corpus.pairs import PairRecord, RootRecord, Split
from interpact.corpus.store import CASES, PAIRS, ROOTS, read_records, write_records
from interpact.errors import InterPactError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SIMILAR = 0.8
IDENTIFYING_WORDS = 15
SHINGLE = 3
PERMUTATIONS = 128
MIX = 0x9E3779B97F4A7C15  # 2^64 over the golden ratio: spreads bits when multiplied
MISSED = 1e-6  # chance at which the bands may miss a pair that is just similar enough
CROWD = 64  # more texts than this in one bucket: boilerplate, or one big cluster
LITERAL = 3000  # texts up to which `leaks` compares each with each
NO_SOURCE = "(no source)"


@dataclass(frozen=True, slots=True)
class Component:
    """Cases that are related, directly or through others; its id is the first of them."""

    id: str
    cases: tuple[str, ...]


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


@dataclass(frozen=True, slots=True)
class SplitRow:
    """What one split holds of one source; of all sources where `source` is None."""

    split: Split
    source: str | None
    pairs: int
    controls: int
    roots: int
    components: int


@dataclass(frozen=True, slots=True)
class SplitReport:
    """The counts of a partition and its largest component."""

    rows: tuple[SplitRow, ...]
    components: int
    largest: Component | None
    largest_roots: int

    def markdown(self) -> str:
        """The table of the data splits (tab:data), with sources."""
        lines = [
            "| split | source | pairs | targets | controls | roots | components |",
            "|---|---|---:|---:|---:|---:|---:|",
        ]
        lines += [
            f"| {r.split} | {table_cell(r.source or 'all')} | {r.pairs:,} | {r.pairs - r.controls:,} "
            f"| {r.controls:,} | {r.roots:,} | {r.components:,} |"
            for r in self.rows
        ]
        if self.largest is not None:
            lines += [
                "",
                f"The largest component ({self.largest.id}) has {self.largest_roots:,} roots.",
            ]
        return "\n".join(lines) + "\n"


def table_cell(text: str) -> str:
    """Text that cannot break a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|")


# ---- What relates cases ------------------------------------------------------------------------


def identifying_texts(case: Case) -> list[str]:
    """The evidence of a case that is long enough to be compared, as words."""
    found: list[str] = []
    short: list[str] = []
    for unit in case.evidence:
        words = re.findall(r"\w+", unicodedata.normalize("NFKC", unit.text).casefold())
        if len(words) >= IDENTIFYING_WORDS:
            found.append(" ".join(words))
        else:
            short += words
    if len(short) >= IDENTIFYING_WORDS:
        found.append(" ".join(short))
    return found


def _names(case: Case) -> Iterator[tuple[str, str | bytes]]:
    yield "case", case.id
    if case.document is not None:
        yield "document", case.document
    if case.rule_family is not None:
        yield "rule family", case.rule_family
    texts = [case.rule, case.query, *case.conditions.values(), *(u.text for u in case.evidence)]
    yield "whole text", _digest("\0".join(texts))


def _digest(text: str, size: int = 16) -> bytes:
    return blake2b(text.encode(), digest_size=size).digest()


def components(cases: Iterable[Case], threshold: float = SIMILAR) -> list[Component]:
    """The components of cases, in the order of their ids."""
    _check_threshold(threshold)
    ids: list[str] = []
    held: list[list[int]] = []
    first: dict[tuple[str, str | bytes], int] = {}
    same: list[tuple[int, int]] = []
    texts = Texts()
    for number, case in enumerate(cases):
        ids.append(case.id)
        held.append([texts.add(text) for text in identifying_texts(case)])
        same += [
            (number, other)
            for name in _names(case)
            if (other := first.setdefault(name, number)) != number
        ]
    sets = near_duplicates(texts, threshold)
    owner: dict[int, int] = {}
    joined = _Sets(len(ids))
    for number, some in enumerate(held):
        for text in some:
            joined.merge(number, owner.setdefault(sets.find(text), number))
    for one, other in same:
        joined.merge(one, other)
    found: defaultdict[int, set[str]] = defaultdict(set)
    for number, case_id in enumerate(ids):
        found[joined.find(number)].add(case_id)
    members = sorted(tuple(sorted(some)) for some in found.values())
    return [Component(some[0], some) for some in members]


# ---- Near-duplicate texts ----------------------------------------------------------------------


class _Sets:
    """Sets that merge; incremental, so that texts already linked are never compared again."""

    def __init__(self, size: int) -> None:
        self._parent = list(range(size))

    def find(self, item: int) -> int:
        parent = self._parent
        while parent[item] != item:
            parent[item] = item = parent[parent[item]]
        return item

    def merge(self, one: int, other: int) -> None:
        self._parent[self.find(one)] = self.find(other)


class _WordHashes(dict[str, int]):
    """A 64-bit number for every word, the same in every run; 0 stays free for the end of a text."""

    def __missing__(self, word: str) -> int:
        self[word] = number = int.from_bytes(_digest(word, 8), "little") | 1
        return number


class Texts:
    """Distinct texts of three words or more as sets of shingles; each is shingled once, in batches.

    After `finish`, text i is `ids[starts[i]:starts[i + 1]]`: numbers of shingles, the rarest
    shingle of all texts first; `hashes` of the same shingles lie beside them.
    """

    BATCH = 20_000

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}
        self._words = _WordHashes()
        self._waiting: list[str] = []
        self._parts: list[NDArray[np.uint64]] = []
        self._sizes: list[NDArray[np.int64]] = []

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, text: str) -> int:
        """The number of a text."""
        known = len(self._numbers)
        number = self._numbers.setdefault(_digest(text), known)
        if number == known:
            self._waiting.append(text)
            if len(self._waiting) == self.BATCH:
                self._shingle()
        return number

    def _shingle(self) -> None:
        import numpy as np

        flat: list[int] = []
        for text in self._waiting:
            flat += [self._words[word] for word in text.split(" ")]
            flat.append(0)
        words = np.array(flat, np.uint64)
        windows = [words[i : len(words) - SHINGLE + 1 + i] for i in range(SHINGLE)]
        begins = np.all([window != 0 for window in windows], axis=0)
        owner = np.cumsum(words == 0)[: len(begins)][begins]
        hashes = np.zeros(len(begins), np.uint64)
        for window in windows:
            hashes = (hashes ^ window) * np.uint64(MIX)
            hashes ^= hashes >> np.uint64(32)
        hashes = hashes[begins]
        order = np.lexsort((hashes, owner))
        hashes, owner = hashes[order], owner[order]
        fresh = np.append(True, (hashes[1:] != hashes[:-1]) | (owner[1:] != owner[:-1]))
        self._parts.append(hashes[fresh])
        self._sizes.append(np.bincount(owner[fresh], minlength=len(self._waiting)))
        self._waiting.clear()

    def finish(self) -> None:
        """Number the shingles by how many texts have them."""
        import numpy as np

        if self._waiting:
            self._shingle()
        self.sizes = np.concatenate([*self._sizes, np.zeros(0, np.int64)])
        self.starts = np.append(0, np.cumsum(self.sizes))
        hashes = np.concatenate([*self._parts, np.zeros(0, np.uint64)])
        self._parts.clear()
        known, ids, texts = np.unique(hashes, return_inverse=True, return_counts=True)
        del hashes
        by_rarity = np.argsort(texts, kind="stable")
        rank = np.empty(len(known), np.uint32)
        rank[by_rarity] = np.arange(len(known), dtype=np.uint32)
        keys = np.repeat(np.arange(len(self), dtype=np.uint64) << np.uint64(32), self.sizes)
        keys |= rank[ids]
        keys.sort()
        self.ids = keys.astype(np.uint32)  # the lower half
        self.hashes = known[by_rarity][self.ids]
        self._marked = np.zeros(len(known), bool)

    def similarities(self, one: int, others: NDArray[np.int64]) -> NDArray[np.float64]:
        """The Jaccard similarity of a text to each of the others."""
        import numpy as np

        sizes = self.sizes[others]
        begins = np.cumsum(sizes) - sizes
        places = np.repeat(self.starts[others] - begins, sizes) + np.arange(sizes.sum())
        own = self.ids[self.starts[one] : self.starts[one + 1]]
        self._marked[own] = True
        common = np.add.reduceat(self._marked[self.ids[places]], begins, dtype=np.int64)
        self._marked[own] = False
        return common / (len(own) + sizes - common)


def near_duplicates(texts: Texts, threshold: float) -> _Sets:
    """Which texts are near-duplicates, directly or through others."""
    import numpy as np

    texts.finish()
    sets = _Sets(len(texts))
    everything = np.arange(len(texts))
    crowded = np.zeros(len(texts), bool)
    for keys in _band_keys(texts, threshold):
        for bucket in _buckets(keys, everything):
            if len(bucket) <= CROWD:
                _link(texts, bucket, len(bucket), sets, threshold)
            else:
                crowded[bucket] = True
    for bucket, heads in _sharing_rare(texts, np.flatnonzero(crowded), threshold):
        _link(texts, bucket, heads, sets, threshold)
    return sets


def _link(
    texts: Texts, bucket: NDArray[np.int64], heads: int, sets: _Sets, threshold: float
) -> None:
    """Merge the sets of near-duplicates of which one is among the first `heads` of the bucket."""
    import numpy as np

    def compare(one: int, others: NDArray[np.int64]) -> None:
        for other in others[texts.similarities(one, others) >= threshold].tolist():
            sets.merge(one, other)

    def with_first() -> NDArray[np.bool_]:
        first = sets.find(int(bucket[0]))
        return np.array([sets.find(text) == first for text in bucket.tolist()])

    if with_first().all():
        return
    compare(int(bucket[0]), bucket[1:])
    linked = with_first()
    near, near_heads, apart = bucket[linked], bucket[:heads][linked[:heads]], bucket[~linked]
    for done, one in enumerate(apart.tolist(), 1):
        if done <= heads - len(near_heads):
            compare(one, np.concatenate([near, apart[done:]]))
        else:
            compare(one, near_heads)


def bands(threshold: float) -> tuple[int, int]:
    """How many bands of how many permutations: the narrowest that miss next to nothing."""
    for rows in range(PERMUTATIONS, 1, -1):
        if (1 - threshold**rows) ** (PERMUTATIONS // rows) <= MISSED:
            return PERMUTATIONS // rows, rows
    return PERMUTATIONS, 1


def _band_keys(texts: Texts, threshold: float) -> Iterator[NDArray[np.uint64]]:
    """For each band, a key of every text; equal keys are a bucket.

    One band at a time in arrays, where datasketch keeps a MinHash object and an entry in a
    dictionary per band for every text (benchmarks/split.py compares).
    """
    import numpy as np

    random = np.random.default_rng(0)
    count, rows = bands(threshold)
    for _ in range(count):
        keys = np.zeros(len(texts), np.uint64)
        for factor, mask in random.integers(0, 2**64, (rows, 2), np.uint64):
            for low in range(0, len(texts), texts.BATCH):
                starts = texts.starts[low : low + texts.BATCH + 1]
                some = texts.hashes[starts[0] : starts[-1]] * (factor | np.uint64(1))
                part = keys[low : low + texts.BATCH]
                part *= np.uint64(MIX)
                part ^= np.minimum.reduceat(some ^ mask, starts[:-1] - starts[0])
        yield keys


def _buckets(
    keys: NDArray[np.unsignedinteger], texts: NDArray[np.int64]
) -> Iterator[NDArray[np.int64]]:
    """The texts that share a key, for every key that two texts share."""
    import numpy as np

    order = np.argsort(keys, kind="stable")
    keys, texts = keys[order], texts[order]
    ends = np.flatnonzero(np.append(keys[1:] != keys[:-1], True)) + 1
    starts = np.append(0, ends[:-1])
    shared = ends - starts > 1
    for start, end in zip(starts[shared], ends[shared], strict=True):
        yield texts[start:end]


def _sharing_rare(
    texts: Texts, some: NDArray[np.int64], threshold: float
) -> Iterator[tuple[NDArray[np.int64], int]]:
    """Buckets in which every similar pair of `some` texts meets for certain, one of it as a head.

    The heads come first; their number is given. A text of n shingles shares one of its rarest
    n - ceil(threshold n) + 1 with every similar text, and one of fewer with those at least as long
    (the prefixes of PPJoin), so boilerplate, never among the rarest, brings no texts together.
    """
    import numpy as np

    sizes = texts.sizes[some]
    longest = (sizes - np.ceil(threshold * sizes - 1e-9)).astype(np.int64) + 1
    head = sizes - np.ceil(2 * threshold / (1 + threshold) * sizes - 1e-9) + 1
    begins = np.cumsum(longest) - longest
    rank = np.arange(longest.sum()) - np.repeat(begins, longest)
    is_head = rank < np.repeat(head, longest)
    shingles = texts.ids[np.repeat(texts.starts[some], longest) + rank]
    members = np.repeat(some, longest)
    order = np.argsort(~is_head, kind="stable")
    numbered = np.arange(len(members))[order]
    for bucket in _buckets(shingles[order], numbered):
        heads = int(is_head[bucket].sum())
        if heads:
            yield members[bucket], heads


# ---- Splitting ---------------------------------------------------------------------------------


def split(
    folder: str | Path,
    ratios: Sequence[float] = (60, 20, 20),
    seed: int = 0,
    threshold: float = SIMILAR,
) -> SplitReport:
    """Give every root of a corpus the split of its component, and rewrite roots.jsonl.

    The result depends on the corpus, the ratios, the seed and the threshold, not on any order.
    """
    folder = Path(folder)
    shares = _shares(ratios)
    case_of = {root.id: root.case for root in _roots(folder)}
    sources: dict[str, str] = {}

    def cases() -> Iterator[Case]:
        wanted = set(case_of.values())
        for case in read_cases(folder):
            if case.id in wanted:
                sources[case.id] = case.source or NO_SOURCE
                yield case

    found = components(cases(), threshold)
    component_of = {case: number for number, some in enumerate(found) for case in some.cases}
    counts = [Counter[tuple[str, str]]() for _ in found]
    for root, case in case_of.items():
        if case not in component_of:
            guess = did_you_mean(case, list(sources))
            raise InterPactError(
                f'{folder / ROOTS}: root "{root}": there is no case "{case}"{guess} in {CASES}; '
                "add the case or drop the root"
            )
        counts[component_of[case]][sources[case], "roots"] += 1
    if (folder / PAIRS).exists():
        for pair in read_records(folder / PAIRS, PairRecord):
            case = case_of.get(pair.root)
            if case is None:
                raise InterPactError(
                    f'{folder / PAIRS}: pair "{pair.id}": there is no root "{pair.root}" in {ROOTS}; '
                    "add the root or drop the pair"
                )
            count = counts[component_of[case]]
            count[sources[case], "pairs"] += 1
            count[sources[case], "controls"] += pair.operation.control
    placed = _balanced(found, counts, shares, seed)
    write_records(
        folder / ROOTS,
        (
            root.model_copy(update={"split": placed[component_of[root.case]]})
            for root in _roots(folder)
        ),
    )
    return _report(found, counts, placed)


def _balanced(
    found: Sequence[Component],
    counts: Sequence[Counter[tuple[str, str]]],
    shares: Mapping[Split, float],
    seed: int,
) -> list[Split]:
    """A split for every component: the largest first, each where it brings the counts of roots and
    pairs of every source nearest to the shares (in squared deviations over expected counts)."""
    total: Counter[tuple[str, str]] = Counter()
    for count in counts:
        total.update(count)
    weights = [
        [(key, n / total[key]) for key, n in sorted(count.items()) if n and key[1] != "controls"]
        for count in counts
    ]
    order = sorted(
        range(len(found)),
        key=lambda i: (-sum(w for _, w in weights[i]), _digest(f"{seed} {found[i].id}")),
    )
    held = {part: dict.fromkeys(total, 0.0) for part in shares}
    placed = [Split.TRAIN] * len(found)
    for i in order:
        costs = {
            part: sum(w * ((2 * held[part][key] + w) / share - 2) for key, w in weights[i])
            for part, share in shares.items()
        }
        placed[i] = part = min(costs, key=costs.__getitem__)
        for key, w in weights[i]:
            held[part][key] += w
    return placed


def _report(
    found: Sequence[Component], counts: Sequence[Counter[tuple[str, str]]], placed: Sequence[Split]
) -> SplitReport:
    sums: Counter[tuple[Split, str | None, str]] = Counter()
    for count, part in zip(counts, placed, strict=True):
        for source in {source for source, _ in count}:
            sums[part, source, "components"] += 1
        sums[part, None, "components"] += 1
        for (source, what), n in count.items():
            sums[part, source, what] += n
            sums[part, None, what] += n
    sources = sorted({source for count in counts for source, _ in count})
    rows = tuple(
        SplitRow(
            part,
            source,
            *(sums[part, source, what] for what in ("pairs", "controls", "roots", "components")),
        )
        for part in Split
        for source in (None, *(sources if len(sources) > 1 else ()))
    )
    sizes = [sum(n for (_, what), n in count.items() if what == "roots") for count in counts]
    largest = max(range(len(found)), key=sizes.__getitem__, default=None)
    if largest is None:
        return SplitReport(rows, 0, None, 0)
    return SplitReport(rows, len(found), found[largest], sizes[largest])


def _shares(ratios: Sequence[float]) -> dict[Split, float]:
    if len(ratios) != 3 or not all(math.isfinite(r) and r >= 0 for r in ratios) or not sum(ratios):
        given = ", ".join(map(str, ratios))
        raise InterPactError(
            f"ratios {given}: give three shares of {', '.join(Split)}, none negative, such as 60,20,20"
        )
    return {part: r / sum(ratios) for part, r in zip(Split, ratios, strict=True) if r}


def _check_threshold(threshold: float) -> None:
    if not 0 < threshold <= 1:
        raise InterPactError(f"threshold {threshold}: give a similarity above 0 and at most 1")


def _roots(folder: Path) -> Iterator[RootRecord]:
    if not (folder / ROOTS).exists():
        raise InterPactError(f"{folder}: this folder has no {ROOTS}; give a corpus with roots")
    return read_records(folder / ROOTS, RootRecord)


# ---- Checking ----------------------------------------------------------------------------------


def leaks(folder: str | Path, threshold: float = SIMILAR) -> list[Leak]:
    """Cases of different splits that are related: a full comparison, without MinHash.

    Up to 3,000 texts, each is compared with each, sharing no code with `components` but the choice
    of texts. Beyond, those are compared that share a rare shingle, which leaves no pair out.
    """
    _check_threshold(threshold)
    folder = Path(folder)
    splits_of: defaultdict[str, set[Split]] = defaultdict(set)
    for root in _roots(folder):
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
            for name in _names(case):
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
    similar = _similar_literally if len(texts) <= LITERAL else _similar
    for i, j, similarity in similar(texts, [frozenset(some) for some in held], threshold):
        for s, a in held[i].items():
            for t, b in held[j].items():
                if s is not t:
                    yield Leak("evidence", (a, b), (s, t), similarity)


def _similar_literally(
    texts: Sequence[str], splits: Sequence[frozenset[Split]], threshold: float
) -> Iterator[tuple[int, int, float]]:
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


def _similar(
    texts: Sequence[str], splits: Sequence[frozenset[Split]], threshold: float
) -> Iterator[tuple[int, int, float]]:
    import numpy as np

    numbered = Texts()
    for text in texts:
        numbered.add(text)
    numbered.finish()
    found: set[tuple[int, int]] = set()
    for bucket, heads in _sharing_rare(numbered, np.arange(len(texts)), threshold):
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
