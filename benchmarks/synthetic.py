"""How fast the synthetic source writes pairs, and in how much memory.

    python benchmarks/synthetic.py                    # 20,000 to 1,000,000 pairs
    python benchmarks/synthetic.py --pairs 50000

Side by side: `write_synthetic`, which streams, and the same corpus held in lists before it is
written. Each run is a process of its own; memory is the peak of its resident set.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PAIRS_PER_CASE = 7.07
LARGEST_HELD = 200_000  # pairs


def stream(folder: Path, cases: int) -> int:
    """The pairs that `write_synthetic` writes."""
    from interpact.corpus.sources.synthetic import write_synthetic

    return write_synthetic(folder, cases, seed=1).pairs


def hold(folder: Path, cases: int) -> int:
    """The same corpus, held whole and then written with the general writers."""
    from interpact.case.files import write_cases
    from interpact.corpus.sources.synthetic import synthesize
    from interpact.corpus.store import CASES, CRITICALITY, PAIRS, ROOTS, write_records

    made = list(synthesize(cases, seed=1))
    write_cases(folder / CASES, [one.case for one in made])
    write_records(folder / ROOTS, [record for one in made for record in one.roots])
    write_records(folder / CRITICALITY, [record for one in made for record in one.criticality])
    pairs = [record for one in made for record in one.pairs]
    write_records(folder / PAIRS, pairs)
    return len(pairs)


def measure(how: str, cases: int) -> None:
    """One run, told as JSON on standard output."""
    with tempfile.TemporaryDirectory() as name:
        began, began_cpu = time.perf_counter(), time.process_time()
        pairs = {"stream": stream, "hold": hold}[how](Path(name), cases)
        found = {
            "pairs": pairs,
            "seconds": time.perf_counter() - began,
            "cpu": time.process_time() - began_cpu,
            "bytes": sum(path.stat().st_size for path in Path(name).iterdir()),
            "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        }
    print(json.dumps(found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, nargs="+", default=[20_000, 200_000, 1_000_000])
    parser.add_argument("--run", nargs=2, metavar=("HOW", "CASES"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        measure(arguments.run[0], int(arguments.run[1]))
        return
    print("| how | pairs | seconds | pairs/s | pairs/s of CPU | written | peak memory |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for pairs in arguments.pairs:
        for how in ("stream", "hold"):
            if how == "hold" and pairs > LARGEST_HELD:
                continue
            command = [sys.executable, __file__, "--run", how, str(round(pairs / PAIRS_PER_CASE))]
            run = subprocess.run(command, check=True, capture_output=True, text=True)
            found = json.loads(run.stdout)
            print(
                f"| {how} | {found['pairs']:,} | {found['seconds']:.1f} "
                f"| {found['pairs'] / found['seconds']:,.0f} | {found['pairs'] / found['cpu']:,.0f} "
                f"| {found['bytes'] / 2**20:,.0f} MiB | {found['memory'] / 2**20:,.0f} MiB |",
                flush=True,
            )


if __name__ == "__main__":
    main()
