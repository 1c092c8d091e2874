"""The synthetic source: cases, evidence and edits whose states are known by construction.

Facts come first; states follow from facts, decisions from states, and text is written from facts.
An edit changes a fact and is written again; an edit that a fact does not admit is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from random import Random
from typing import TextIO
from zlib import crc32

from interpact.case.files import replacing
from interpact.corpus.pairs import Regime, Split
from interpact.corpus.sources.synthetic_cases import CONFLICT, SyntheticCase, draw_case
from interpact.corpus.sources.synthetic_documents import Document
from interpact.corpus.sources.synthetic_facts import pick
from interpact.corpus.store import CASES, CRITICALITY, PAIRS, ROOTS
from interpact.errors import InterPactError


def synthesize(cases: int, seed: int) -> Iterator[SyntheticCase]:
    """So many cases; a larger number begins with the same ones."""
    if cases < 1:
        raise InterPactError(f"{cases} synthetic cases: ask for at least 1")
    made, number = 0, 0
    while made < cases:
        rng = Random(f"{seed}/{number}")
        document = Document(rng, number)
        name = f"synthetic-{seed}-{document.domain.name}-{number}"
        for i in range(min(pick(rng, (1, 2, 2, 3)), cases - made)):
            yield draw_case(document, name, split_of(name), f"{name}-{i + 1}")
            made += 1
        number += 1


def split_of(family: str) -> Split:
    """The split of a whole document and rule family: 60 : 20 : 20."""
    place = crc32(family.encode()) % 100
    return Split.TRAIN if place < 60 else Split.DEV if place < 80 else Split.TEST


@dataclass(slots=True)
class Counts:
    """How much a corpus holds, and of what."""

    cases: int = 0
    roots: int = 0
    pairs: int = 0
    of: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    """Counts by heading and value, such as operation and removal."""

    def add(self, made: SyntheticCase) -> None:
        """Count a case with all that belongs to it."""
        self.cases += 1
        self.roots += len(made.roots)
        self.pairs += len(made.pairs)
        labels = made.case.labels
        self.of["rule shape", made.shape.kind] += 1
        self.of["decision", labels.decision] += 1
        condition_of: dict[str, str] = {}
        for root in made.roots:
            condition_of[root.id] = root.condition
            self.of["split", root.split or ""] += 1
            self.of["state of a root", labels.states[root.condition]] += 1
        for pair in made.pairs:
            condition = condition_of[pair.root]
            self.of["operation", pair.operation] += 1
            self.of["state after", pair.state_after] += 1
            if pair.operation.control:
                continue
            if made.mappings[condition][pair.state_after] is not labels.decision:
                regime = Regime.PROPAGATED
            elif pair.state_after is labels.states[condition]:
                regime = Regime.INVARIANT
            else:
                regime = Regime.ABSORBED
            self.of["regime", regime] += 1

    def markdown(self) -> str:
        """The counts as a Markdown table."""
        rows = [("all", "cases", self.cases), ("all", "roots", self.roots)]
        rows += [("all", "pairs", self.pairs)]
        rows += [(*key, count) for key, count in sorted(self.of.items())]
        lines = ["| what | which | count |", "|---|---|---:|"]
        return "\n".join([*lines, *(f"| {a} | {b} | {n:,} |" for a, b, n in rows)]) + "\n"


README = """# Synthetic corpus

Written by `interpact synth --cases {cases} --seed {seed}`; the same command writes the same bytes.

Facts are drawn first, states follow from the facts, decisions from the states, and the text is
written from the facts. An edit changes a fact and is written again. No state was judged by a
person or a model, and no text was taken from anywhere: people, places and organisations are
invented. It is for tests, benchmarks and smoke training, not for claims about natural cases.

{counts}
Operations that a fact does not admit are left out. Where an edit contradicts another unit of the
same condition, its text says that the contradiction is unresolved, the state is unknown unless it
is the same whichever is right, and the pair is `extended` with the flag `{conflict}`. Criticality
with the basis `review` is known by construction: the unit bears on its condition alone, and the
mapping is not constant.

Licence: CC0-1.0.
"""


def write_synthetic(
    folder: Path, cases: int, seed: int, progress: Callable[[int], None] | None = None
) -> Counts:
    """Write a synthetic corpus, case by case; `progress` is told of every case that was written."""
    counts = Counts()
    made = synthesize(cases, seed)
    first = next(made)  # a bad number of cases touches no file
    with ExitStack() as stack:

        def lines(name: str) -> TextIO:
            temporary = stack.enter_context(replacing(folder / name))
            return stack.enter_context(temporary.open("w", encoding="utf-8", newline="\n"))

        files = [lines(name) for name in (CASES, ROOTS, PAIRS, CRITICALITY)]
        for one in chain((first,), made):
            counts.add(one)
            files[0].write(one.case.model_dump_json(exclude_none=True) + "\n")
            for file, records in zip(
                files[1:], (one.roots, one.pairs, one.criticality), strict=True
            ):
                file.writelines(record.model_dump_json() + "\n" for record in records)
            if progress is not None:
                progress(1)
        lines("README.md").write(
            README.format(cases=cases, seed=seed, counts=counts.markdown(), conflict=CONFLICT)
        )
    return counts
