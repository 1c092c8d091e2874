"""Components: cases that are related, directly or through others.

Cases are related when they name the same document or rule family, read the same in full, or hold
near-duplicate evidence. Only evidence is compared: rule, query and conditions may be the same for
a whole source (the 17 hypotheses of ContractNLI) and say nothing about where a case comes from.
Evidence is compared unit by unit, because two cases of one contract, or of two copies of it, may
hold different clauses. A unit of fewer than 15 words ("3.3", "the Receiving Party agrees:")
identifies nothing; the short units of a case are taken together as one text, which again needs 15
words.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from interpact.case.case import Case
from interpact.corpus.near import Sets, Texts, digest, near_duplicates
from interpact.errors import InterPactError

SIMILAR = 0.8
IDENTIFYING_WORDS = 15


@dataclass(frozen=True, slots=True)
class Component:
    """Cases that are related, directly or through others; its id is the first of them."""

    id: str
    cases: tuple[str, ...]


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


def names_of(case: Case) -> Iterator[tuple[str, str | bytes]]:
    """What a case has in common with every case related to it outright."""
    yield "case", case.id
    if case.document is not None:
        yield "document", case.document
    if case.rule_family is not None:
        yield "rule family", case.rule_family
    texts = [case.rule, case.query, *case.conditions.values(), *(u.text for u in case.evidence)]
    yield "whole text", digest("\0".join(texts))


def components(cases: Iterable[Case], threshold: float = SIMILAR) -> list[Component]:
    """The components of cases, in the order of their ids."""
    check_threshold(threshold)
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
            for name in names_of(case)
            if (other := first.setdefault(name, number)) != number
        ]
    sets = near_duplicates(texts, threshold)
    owner: dict[int, int] = {}
    joined = Sets(len(ids))
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


def check_threshold(threshold: float) -> None:
    """Refuse what is no similarity."""
    if not 0 < threshold <= 1:
        raise InterPactError(f"threshold {threshold}: give a similarity above 0 and at most 1")
