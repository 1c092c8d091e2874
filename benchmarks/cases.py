"""How fast `interpact judge --mode exact` streams generated cases, and in how much memory.

    python benchmarks/cases.py [--cases 1000000]

The comparison, in the same run and on a part of the same cases: reading each line with the standard
library's json and enumerating all 3^n states of the conditions of each unit in plain Python.
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
from itertools import product
from pathlib import Path

from interpact.case.rules import Rule

STATES = ("satisfied", "not_satisfied", "unknown")
RULES = ("all", "any", "c1 and (c2 or not c3)", "at least 2 of (c1, c2, c3)")
WORDS = [
    "the",
    "applicant",
    "supplier",
    "lease",
    "permit",
    "was",
    "is",
    "has",
    "not",
    "been",
    "shown",
    "signed",
    "dated",
    "paid",
    "before",
    "after",
]


def kleene(rule: str, s: dict[str, str]) -> str:
    """The decision, written out for the four rules of this benchmark."""
    value = {c: STATES.index(x) for c, x in s.items()}  # 0 satisfied, 1 not satisfied, 2 unknown
    truth = {c: (2, 0, 1)[v] for c, v in value.items()}
    if rule == "all":
        found = min(truth.values())
    elif rule == "any":
        found = max(truth.values())
    elif rule.startswith("c1"):
        found = min(truth["c1"], max(truth["c2"], 2 - truth["c3"]))
    else:
        found = sorted(truth[c] for c in ("c1", "c2", "c3"))[1]
    return ("no", "insufficient", "yes")[found]


def generate(path: Path, cases: int) -> None:
    random.seed(5)
    text = lambda n: " ".join(random.choices(WORDS, k=n)) + "."  # noqa: E731
    with path.open("w") as file:
        for i in range(cases):
            rule = RULES[i % 4]
            names = [f"c{j}" for j in range(1, 4 + (i % 3 if i % 4 < 2 else 0))]
            states = {c: random.choice(STATES) for c in names}
            evidence = [
                {"id": f"e{j}", "conditions": [c], "text": text(14)} for j, c in enumerate(names, 1)
            ]
            if i % 5 == 0:
                evidence.append({"id": "e9", "conditions": ["c1"], "text": text(9)})
            if i % 9 == 0:
                evidence.append({"id": "e8", "conditions": ["c1", "c2"], "text": text(9)})
            case = {
                "id": f"case-{i}",
                "rule": text(12),
                "query": "Is it granted?",
                "aggregation": rule,
                "conditions": {c: text(8) for c in names},
                "evidence": evidence,
                "labels": {"states": states, "decision": kleene(rule, states)},
            }
            file.write(json.dumps(case) + "\n")


def generate_varied(path: Path, cases: int) -> None:
    """Cases of 8 conditions of which hardly any rule and states come twice, so that no cache helps."""
    random.seed(6)
    names = [f"c{j}" for j in range(1, 9)]

    def nested(part: list[str]) -> str:
        if len(part) == 1:
            return random.choice(["", "", "not "]) + part[0]
        cut = random.randint(1, len(part) - 1)
        return f"({nested(part[:cut])} {random.choice(['and', 'or'])} {nested(part[cut:])})"

    with path.open("w") as file:
        for i in range(cases):
            rule = random.choice(["all", "any", nested(random.sample(names, 8))])
            states = {c: random.choice(STATES) for c in names}
            case = {
                "id": f"case-{i}",
                "rule": "A rule.",
                "query": "Is it granted?",
                "aggregation": rule,
                "conditions": dict.fromkeys(names, "Something holds."),
                "evidence": [
                    {"id": f"e{c}", "conditions": [c], "text": "Something is shown."} for c in names
                ],
                "labels": {"states": states, "decision": Rule.parse(rule).decide(states)},
            }
            file.write(json.dumps(case) + "\n")


def naive(path: Path, limit: int) -> tuple[float, list[tuple[str, str, bool]]]:
    """A plain script: for each unit, try all states of its conditions."""
    started = time.perf_counter()
    found: list[tuple[str, str, bool]] = []
    with path.open() as file:
        for number, line in enumerate(file):
            if number == limit:
                break
            case = json.loads(line)
            states, decision = case["labels"]["states"], case["labels"]["decision"]
            for unit in case["evidence"]:
                # Every state vector of the case, of which those that keep the other conditions count.
                critical = False
                for row in product(STATES, repeat=len(states)):
                    changed = dict(zip(states, row, strict=True))
                    others = (c for c in states if c not in unit["conditions"])
                    if all(changed[c] == states[c] for c in others):
                        critical |= kleene(case["aggregation"], changed) != decision
                found += [(case["id"], unit["id"], critical) for _ in unit["conditions"]]
    return time.perf_counter() - started, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1_000_000)
    cases = parser.parse_args().cases
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "cases.jsonl", Path(folder) / "judgments.jsonl"
        generate(path, cases)
        print(f"{cases:,} cases, {path.stat().st_size / 1e6:,.0f} MB of JSON lines")
        command = [sys.executable, "-m", "interpact", "judge", str(path), "--format", "jsonl"]
        started = time.perf_counter()
        subprocess.run([*command, "-o", str(out)], check=True)
        seconds = time.perf_counter() - started
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        rate, peak = cases / seconds, usage.ru_maxrss / 1024
        print(f"interpact judge:   {rate:10,.0f} cases/s on one core, peak {peak:,.0f} MB")
        limit = min(cases, 2_000)
        slow, expected = naive(path, limit)
        print(f"3^n enumeration:   {limit / slow:10,.0f} cases/s (first {limit:,} cases)")
        print(f"ratio:             {rate / (limit / slow):10.1f} x")
        with out.open() as file:
            for row, (case, unit, critical) in zip(file, expected, strict=False):
                got = json.loads(row)
                assert (got["case"], got["evidence"], got["critical"]) == (case, unit, critical), (
                    row
                )
        print(f"same answers on {len(expected):,} judgments of those cases")
        few = min(cases, 100_000)
        generate_varied(path, few)
        started = time.perf_counter()
        subprocess.run([*command, "-o", str(out)], check=True)
        varied = few / (time.perf_counter() - started)
        print(f"8 conditions each, hardly any rule and states twice: {varied:,.0f} cases/s")
        assert rate >= 10_000, "slower than 10,000 cases/s"
        assert peak < 500, "over 500 MB"


if __name__ == "__main__":
    main()
