"""How far readers agree, and how sure a share is.

Ratings are given as one list for each item, holding what each reader said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from math import sqrt

Ratings = Sequence[Sequence[Hashable]]

Z95 = 1.959963984540054


def wilson(successes: int, trials: int, z: float = Z95) -> tuple[float, float]:
    """The Wilson interval of a share; (0, 1) where nothing was tried.

    >>> [round(100 * bound, 2) for bound in wilson(389, 400)]
    [95.14, 98.46]
    """
    if not trials:
        return 0.0, 1.0
    share, spread = successes / trials, z * z / trials
    middle = (share + spread / 2) / (1 + spread)
    half = sqrt(share * (1 - share) * spread + spread * spread / 4) / (1 + spread)
    # At 0 and 1 the bounds are exact; rounding must not push them past.
    low = 0.0 if successes == 0 else max(0.0, middle - half)
    high = 1.0 if successes == trials else min(1.0, middle + half)
    return low, high


def raw_agreement(ratings: Ratings) -> float | None:
    """The share of pairs of readers of one item that say the same, over all items."""
    same = pairs = 0
    for item in ratings:
        same += sum(n * (n - 1) for n in Counter(item).values())
        pairs += len(item) * (len(item) - 1)
    return same / pairs if pairs else None


def fleiss_kappa(ratings: Ratings) -> float | None:
    """Fleiss' kappa; none where the items have different numbers of readers, or less than two.

    Where all readers gave one and the same answer to everything chance alone would agree, and kappa
    is not defined.
    """
    sizes = {len(item) for item in ratings}
    if len(sizes) != 1 or min(sizes) < 2:
        return None
    totals: Counter[Hashable] = Counter()
    for item in ratings:
        totals.update(item)
    everything = totals.total()
    chance = sum((n / everything) ** 2 for n in totals.values())
    observed = raw_agreement(ratings)
    if observed is None or chance == 1:
        return None
    return (observed - chance) / (1 - chance)


def krippendorff_alpha(ratings: Ratings) -> float | None:
    """Krippendorff's alpha for nominal answers; items may have different numbers of readers."""
    paired = [item for item in ratings if len(item) > 1]
    totals: Counter[Hashable] = Counter()
    differing = 0.0
    for item in paired:
        counts = Counter(item)
        totals.update(item)
        differing += sum(n * (len(item) - n) for n in counts.values()) / (len(item) - 1)
    everything = totals.total()
    by_chance = sum(n * (everything - n) for n in totals.values())
    if not by_chance:
        return None
    return 1 - (everything - 1) * differing / by_chance
