"""Seconds and memory of `interpact split` and its check on 10^4, 10^5 and 10^6 generated roots.

    python benchmarks/split.py [--roots 10000 100000 1000000] [--datasketch 10000 100000]

A case has two evidence units with a root each; two cases share a document. A unit is one of three
boilerplate clauses and 20 to 35 random words. Every 40th case holds a copy of a unit of another
document with one word changed. The components have to be exactly those planted. For comparison, in
the same run, datasketch's MinHashLSH (same bands, same verification) links the same units.
Each measurement is a process of its own.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from interpact.case.files import read_cases
from interpact.corpus.components import SIMILAR, components, identifying_texts
from interpact.corpus.leaks import leaks
from interpact.corpus.near import bands
from interpact.corpus.split import split

CLAUSES = [
    "the parties agree that under the terms set out above the applicant states that",
    "in witness whereof the undersigned declares to the best of his knowledge that",
    "notwithstanding any other provision of this agreement each party acknowledges that",
]
DOCUMENT = 2
COPY_EVERY, COPIED_BEFORE = 40, 7


def copied(number: int) -> bool:
    return number % COPY_EVERY == COPY_EVERY - 1


def write_corpus(folder: Path, roots: int) -> None:
    some = random.Random(roots)
    syllables = [a + b for a in "bcdfglmnprstv" for b in "aeiou"]
    words = ["".join(some.choices(syllables, k=some.choice((2, 3)))) for _ in range(20_000)]
    recent: list[list[str]] = []
    with (folder / "cases.jsonl").open("w") as cases, (folder / "roots.jsonl").open("w") as lines:
        for number in range(roots // 2):
            units = [
                some.choice(CLAUSES).split() + some.choices(words, k=some.randint(20, 35))
                for _ in range(2)
            ]
            if copied(number):
                units[0] = list(recent[-COPIED_BEFORE])
                units[0][some.randrange(15, 30)] = "changed"
            recent = [*recent[-COPIED_BEFORE:], units[1]]
            case = {
                "id": f"c{number}",
                "source": ("letters", "forms")[number // DOCUMENT % 2],
                "document": f"d{number // DOCUMENT}",
                "rule": "The claim is paid if both conditions hold.",
                "query": "Is the claim paid?",
                "aggregation": "all",
                "conditions": {"c1": "It came in time.", "c2": "It is signed."},
                "evidence": [
                    {"id": f"e{i}", "conditions": [f"c{i}"], "text": " ".join(unit)}
                    for i, unit in enumerate(units, 1)
                ],
                "labels": {
                    "states": {"c1": "satisfied", "c2": "satisfied"},
                    "decision": "yes",
                },
            }
            cases.write(json.dumps(case) + "\n")
            for i in (1, 2):
                root = {"case": f"c{number}", "evidence": f"e{i}", "condition": f"c{i}"}
                lines.write(json.dumps({"id": f"c{number}/e{i}", **root}) + "\n")


def planted(roots: int) -> set[frozenset[str]]:
    """The components that documents and copies make."""
    group = list(range(roots // 2 // DOCUMENT + 1))

    def find(document: int) -> int:
        while group[document] != document:
            document = group[document]
        return document

    for number in range(roots // 2):
        if copied(number):
            group[find(number // DOCUMENT)] = find((number - COPIED_BEFORE) // DOCUMENT)
    found: dict[int, set[str]] = {}
    for number in range(roots // 2):
        found.setdefault(find(number // DOCUMENT), set()).add(f"c{number}")
    return {frozenset(some) for some in found.values()}


def timed_reading(folder: Path, roots: int) -> None:
    for _ in read_cases(folder):
        pass


def timed_components(folder: Path, roots: int) -> None:
    found = components(read_cases(folder))
    if {frozenset(some.cases) for some in found} != planted(roots):
        raise SystemExit(f"{roots}: the components are not those planted")


def timed_split(folder: Path, roots: int) -> None:
    split(folder)


def timed_check(folder: Path, roots: int) -> None:
    if leaks(folder):
        raise SystemExit(f"{roots}: the split leaks")


def timed_datasketch(folder: Path, roots: int) -> None:
    from datasketch import MinHash, MinHashLSH

    count, rows = bands(SIMILAR)
    index = MinHashLSH(num_perm=count * rows, params=(count, rows))
    shingles: list[set[str]] = []
    linked: set[tuple[int, int]] = set()
    for text in dict.fromkeys(t for case in read_cases(folder) for t in identifying_texts(case)):
        words = text.split()
        own = {" ".join(words[i : i + 3]) for i in range(len(words) - 2)}
        sketch = MinHash(count * rows)
        sketch.update_batch([shingle.encode() for shingle in own])
        for other in index.query(sketch):
            if len(own & shingles[other]) / len(own | shingles[other]) >= SIMILAR:
                linked.add((other, len(shingles)))
        index.insert(len(shingles), sketch)
        shingles.append(own)
    if len(linked) != sum(map(copied, range(roots // 2))):
        raise SystemExit(f"{roots}: datasketch does not link what was planted")


WORK = {
    work.__name__: work
    for work in (timed_reading, timed_components, timed_split, timed_check, timed_datasketch)
}


def measured(work: str, folder: Path, roots: int) -> tuple[float, float]:
    """Seconds and peak megabytes of one piece of work in a process of its own."""
    command = [sys.executable, __file__, "--do", work, str(folder), str(roots)]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    seconds, megabytes = map(float, output.split())
    return seconds, megabytes


def rows(sizes: list[int], compared: list[int]) -> Iterator[tuple[str, int, float, float]]:
    for roots in sizes:
        with tempfile.TemporaryDirectory() as name:
            write_corpus(Path(name), roots)
            for work in WORK:
                if work != "timed_datasketch" or roots in compared:
                    yield work.removeprefix("timed_"), roots, *measured(work, Path(name), roots)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--roots", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--datasketch", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument("--do", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.do:
        work, folder, roots = given.do
        started = time.perf_counter()
        WORK[work](Path(folder), int(roots))
        seconds = time.perf_counter() - started
        print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        return
    before: dict[str, tuple[int, float]] = {}
    print(f"{'what':12} {'roots':>9} {'seconds':>9} {'peak MB':>9} {'growth per tenfold':>19}")
    for work, roots, seconds, megabytes in rows(given.roots, given.datasketch):
        growth = ""
        if work in before:
            fewer, earlier = before[work]
            growth = f"{(seconds / earlier) / (roots / fewer) * 10:.1f}"
        before[work] = roots, seconds
        print(f"{work:12} {roots:9,} {seconds:9.1f} {megabytes:9.0f} {growth:>19}", flush=True)


if __name__ == "__main__":
    main()
