"""Near-duplicate texts: MinHash bands find candidates, and each is verified on the whole sets.

Similarity is the Jaccard similarity of the sets of three-word shingles; no link is false.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHINGLE = 3
PERMUTATIONS = 128
MIX = 0x9E3779B97F4A7C15  # 2^64 over the golden ratio: spreads bits when multiplied
MISSED = 1e-6  # chance at which the bands may miss a pair that is just similar enough
CROWD = 64  # more texts than this in one bucket: boilerplate, or one big cluster


def digest(text: str, size: int = 16) -> bytes:
    """A number for a text, the same in every run."""
    return blake2b(text.encode(), digest_size=size).digest()


class Sets:
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
        self[word] = number = int.from_bytes(digest(word, 8), "little") | 1
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
        number = self._numbers.setdefault(digest(text), known)
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


def near_duplicates(texts: Texts, threshold: float) -> Sets:
    """Which texts are near-duplicates, directly or through others."""
    import numpy as np

    texts.finish()
    sets = Sets(len(texts))
    everything = np.arange(len(texts))
    crowded = np.zeros(len(texts), bool)
    for keys in _band_keys(texts, threshold):
        for bucket in _buckets(keys, everything):
            if len(bucket) <= CROWD:
                link(texts, bucket, len(bucket), sets, threshold)
            else:
                crowded[bucket] = True
    for bucket, heads in sharing_rare(texts, np.flatnonzero(crowded), threshold):
        link(texts, bucket, heads, sets, threshold)
    return sets


def link(texts: Texts, bucket: NDArray[np.int64], heads: int, sets: Sets, threshold: float) -> None:
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


def sharing_rare(
    texts: Texts, some: NDArray[np.int64], threshold: float
) -> Iterator[tuple[NDArray[np.int64], int]]:
    """Buckets in which every similar pair of `some` texts meets for certain, one of it as a head.

    The heads come first; their number is given. A text of n shingles shares one of its rarest
    n - ceil(threshold n) + 1 with every similar text, and one of fewer with those at least as long
    (the prefixes of PPJoin), so boilerplate brings together only texts that are little else.
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
