"""Splits: each component goes wholly to train, dev or test, sources balanced (tab:data)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from interpact.case.case import Case
from interpact.case.files import read_cases
from interpact.case.states import did_you_mean
from interpact.corpus.components import SIMILAR, Component, components
from interpact.corpus.near import digest
from interpact.corpus.pairs import PairRecord, RootRecord, Split
from interpact.corpus.store import CASES, PAIRS, ROOTS, read_records, write_records
from interpact.errors import InterPactError

NO_SOURCE = "(no source)"


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
    case_of = {root.id: root.case for root in roots_of(folder)}
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
            for root in roots_of(folder)
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
        key=lambda i: (-sum(w for _, w in weights[i]), digest(f"{seed} {found[i].id}")),
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


def roots_of(folder: Path) -> Iterator[RootRecord]:
    """The roots of a corpus folder, without their cases."""
    if not (folder / ROOTS).exists():
        raise InterPactError(f"{folder}: this folder has no {ROOTS}; give a corpus with roots")
    return read_records(folder / ROOTS, RootRecord)
