"""A million stored pair predictions to metrics, bootstrap and report, beside a loop over rows.

    python benchmarks/evaluate.py            # 5 systems, 2 runs each, 100,000 pairs a run

The loop reads the lines with `json`, picks each subgroup in Python and asks scikit-learn for every
metric; a resample gathers the rows of its components and asks again. Both are timed in this run, each
in a process of its own. The loop is too slow for a million pairs and 2,000 resamples: it is given
one run and one resample, which are scaled up; what was measured and what was scaled is told. Parts and
ratios are processor seconds, which a busy machine does not change; the whole is also told by the clock.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import numpy as np

from interpact.case.states import Decision, State
from interpact.corpus.pairs import Operation, Split
from interpact.systems.predictions import Meta, System, Verdict, folder_of

SYSTEMS = (
    System.PROMPTED,
    System.AFTER_STATE,
    System.GENRM,
    System.WITHOUT_HARD_WARRANT,
    System.INTERPACT,
)
RUNS = 2
RESAMPLES = 2_000
THRESHOLD = 0.5
PAIRS_OF_ROOT = 7  # six targets and a control
ROOTS_OF_CASE = 2
STATES, DECISIONS, OPERATIONS = list(State), list(Decision), list(Operation)


def write_runs(folder: Path, pairs: int) -> list[Path]:
    """Runs of made-up predictions; their references are the same, their skill differs."""
    roots = pairs // PAIRS_OF_ROOT
    facts = np.random.default_rng(0)
    mapping = facts.integers(3, size=(roots, 3))
    before = facts.integers(2, size=roots)
    after = facts.integers(3, size=(roots, PAIRS_OF_ROOT))
    runs: list[Path] = []
    for skill, system in enumerate(SYSTEMS, 1):
        for seed in range(RUNS):
            draw = np.random.default_rng([skill, seed])
            run = folder / f"{system}-{seed}"
            place = folder_of(run, Split.TEST)
            place.mkdir(parents=True)
            write_pairs(place / "pairs.jsonl", system, skill, draw, mapping, before, after)
            write_roots(place / "roots.jsonl", skill, draw, mapping)
            meta = Meta.model_validate(
                {
                    "system": system,
                    "name": system.named("made up"),
                    "run": run.name,
                    "seed": seed,
                    "backbone": "none",
                    "split": "test",
                    "threshold": THRESHOLD,
                    "corpus": "made up",
                }
            )
            (place / "meta.json").write_text(meta.model_dump_json())
            runs.append(run)
    return runs


def chances(draw: np.random.Generator, right: np.ndarray, skill: float) -> np.ndarray:
    logits = draw.normal(size=(*right.shape, 3))
    np.put_along_axis(
        logits, right[..., None], np.take_along_axis(logits, right[..., None], -1) + skill, -1
    )
    found = np.exp(logits)
    return found / found.sum(-1, keepdims=True)


def write_pairs(path: Path, system, skill, draw, mapping, before, after) -> None:
    decision = np.take_along_axis(mapping, after, 1)
    q, p = chances(draw, after, skill), chances(draw, decision, skill)
    branches = chances(draw, np.repeat(mapping[:, None], PAIRS_OF_ROOT, 1), skill)
    whole = system in (System.INTERPACT, System.WITHOUT_HARD_WARRANT)
    with path.open("w") as file:
        for root in range(len(mapping)):
            name = f"case-{root // ROOTS_OF_CASE}/e{root % ROOTS_OF_CASE}"
            names = [DECISIONS[d].value for d in mapping[root]]
            known = names[before[root]]
            for number in range(PAIRS_OF_ROOT):
                operation = OPERATIONS[number if number < 6 else 6 + root % 2].value
                row = {
                    "pair": f"{name}/{operation}",
                    "root": name,
                    "source": ("contractnli", "sharc")[root % 2],
                    "operation": operation,
                    "state_before": STATES[before[root]].value,
                    "decision_before": known,
                    "state_after": STATES[after[root, number]].value,
                    "decision_after": names[after[root, number]],
                    "mapping": names,
                    "q": q[root, number].tolist(),
                    "p": p[root, number].tolist(),
                    "s": 1 - p[root, number, mapping[root, before[root]]],
                    "branches": branches[root, number].tolist() if whole else None,
                }
                file.write(json.dumps(row) + "\n")


def write_roots(path: Path, skill, draw, mapping) -> None:
    with path.open("w") as file:
        for root, row in enumerate(mapping):
            critical = len(set(row.tolist())) > 1
            p_yes = 1 / (1 + np.exp(-draw.normal() - (skill if critical else -skill) / 2))
            record = {
                "root": f"case-{root // ROOTS_OF_CASE}/e{root % ROOTS_OF_CASE}",
                "source": ("contractnli", "sharc")[root % 2],
                "critical": critical,
                "answer": "Yes" if p_yes > 0.5 else "No",
                "verdict": Verdict("yes" if p_yes > 0.5 else "no").value,
                "p_yes": float(p_yes),
            }
            file.write(json.dumps(record) + "\n")


def columnar(folder: Path) -> dict[str, float]:
    """Metrics, bootstrap and report of all runs, as the command does it."""
    from interpact.evaluate.report import write_report
    from interpact.evaluate.runs import read_results

    runs = sorted(path for path in folder.iterdir() if path.is_dir() and path.name != "report")
    began = time.process_time()
    results = read_results(runs)
    read = time.process_time()
    write_report(results, folder / "report", resamples=RESAMPLES)
    # the loop's metrics are checked against these
    main = next(run for run in runs if run.name.startswith("interpact"))
    stored = json.loads((folder / "report" / "metrics.json").read_text())
    found = next(row["metrics"] for row in stored if row["run"] == main.name)
    return {
        "metrics": read - began,
        "report": time.process_time() - read,
        **{f"value {name}": found[name] for name in CHECKED},
    }


CHECKED = (
    "paired/change_ba",
    "paired/decision_f1",
    "paired/state_accuracy/operation=weakening",
    "paired/change_ba/source=sharc",
    "paired/control_fpr",
    "conditional/all_three",
    "direct/ba",
    "direct/auroc",
)


def by_rows(folder: Path) -> dict[str, float]:
    """One run read and measured row by row, then one resample of all its components."""
    run = next(p for p in sorted(folder.iterdir()) if p.name.startswith("interpact"))
    place = folder_of(run, Split.TEST)
    began = time.process_time()
    pairs = [json.loads(line) for line in (place / "pairs.jsonl").open()]
    roots = [json.loads(line) for line in (place / "roots.jsonl").open()]
    found = measured(pairs, roots)
    metrics = time.process_time() - began
    by_case: dict[str, tuple[list, list]] = defaultdict(lambda: ([], []))
    for row in pairs:
        by_case[row["root"].rpartition("/")[0]][0].append(row)
    for row in roots:
        by_case[row["root"].rpartition("/")[0]][1].append(row)
    began = time.process_time()
    names = list(by_case)
    picks = np.random.default_rng(0).integers(len(names), size=len(names))
    drawn = [by_case[names[pick]] for pick in picks]
    compared([r for some, _ in drawn for r in some], [r for _, some in drawn for r in some])
    return {
        "metrics": metrics,
        "resample": time.process_time() - began,
        **{f"value {name}": found[name] for name in CHECKED},
    }


def argmax(row: list[float], labels: list) -> str:
    return labels[max(range(3), key=lambda i: (row[i], -i))].value


def changed(row: dict) -> bool:
    return row["decision_after"] != row["decision_before"]


def regime(row: dict) -> str:
    if changed(row):
        return "propagated"
    return "invariant" if row["state_after"] == row["state_before"] else "absorbed"


def compared(pairs: list[dict], roots: list[dict]) -> dict[str, float]:
    """The metrics whose differences are tested."""
    from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score

    targets = [r for r in pairs if r["operation"] not in ("distractor_insertion", "paraphrase")]
    controls = [r for r in pairs if r["operation"] in ("distractor_insertion", "paraphrase")]
    found = {
        "paired/change_ba": balanced_accuracy_score(
            [changed(r) for r in targets], [r["s"] >= THRESHOLD for r in targets]
        )
    }
    for name, labels, key in (("decision", DECISIONS, "p"), ("state", STATES, "q")):
        reference = [r[f"{name}_after"] for r in targets]
        predicted = [argmax(r[key], labels) for r in targets]
        found[f"paired/{name}_accuracy"] = accuracy_score(reference, predicted)
        found[f"paired/{name}_f1"] = f1_score(reference, predicted, average="macro")
    unchanged = [r for r in controls if not changed(r)]
    found["paired/control_fpr"] = sum(r["s"] >= THRESHOLD for r in unchanged) / len(unchanged)
    by_root = defaultdict(list)
    for r in targets:
        rights = [argmax(r["branches"][i], DECISIONS) == r["mapping"][i] for i in range(3)]
        by_root[r["root"]].append(all(rights))
    found["conditional/all_three"] = sum(sum(s) / len(s) for s in by_root.values()) / len(by_root)
    reference = [r["critical"] for r in roots]
    predicted = [r["verdict"] == "yes" for r in roots]
    found["direct/accuracy"] = accuracy_score(reference, predicted)
    found["direct/ba"] = balanced_accuracy_score(reference, predicted)
    found["direct/f1"] = f1_score(reference, predicted, average="macro")
    return found


def measured(pairs: list[dict], roots: list[dict]) -> dict[str, float]:
    """The same metrics of every source and operation too, and those of regimes and scores."""
    from sklearn.metrics import (
        accuracy_score,
        average_precision_score,
        balanced_accuracy_score,
        brier_score_loss,
        f1_score,
        roc_auc_score,
    )

    found = compared(pairs, roots)
    targets = [r for r in pairs if r["operation"] not in ("distractor_insertion", "paraphrase")]
    parts = {f"source={s}": lambda r, s=s: r["source"] == s for s in {r["source"] for r in pairs}}
    parts |= {f"operation={o}": lambda r, o=o: r["operation"] == o for o in OPERATIONS[:6]}
    for part, of in parts.items():
        some = [r for r in targets if of(r)]
        found[f"paired/change_ba/{part}"] = balanced_accuracy_score(
            [changed(r) for r in some], [r["s"] >= THRESHOLD for r in some]
        )
        for name, labels, key in (("decision", DECISIONS, "p"), ("state", STATES, "q")):
            reference = [r[f"{name}_after"] for r in some]
            predicted = [argmax(r[key], labels) for r in some]
            found[f"paired/{name}_accuracy/{part}"] = accuracy_score(reference, predicted)
            found[f"paired/{name}_f1/{part}"] = f1_score(reference, predicted, average="macro")
    for name in ("invariant", "absorbed", "propagated"):
        some = [r for r in targets if regime(r) == name]
        wrong = [(r["s"] >= THRESHOLD) != changed(r) for r in some]
        found[f"paired/change_error/{name}"] = sum(wrong) / len(wrong)
        found[f"paired/decision_accuracy/{name}"] = accuracy_score(
            [r["decision_after"] for r in some], [argmax(r["p"], DECISIONS) for r in some]
        )
    critical, p_yes = [r["critical"] for r in roots], [r["p_yes"] for r in roots]
    found["direct/auroc"] = roc_auc_score(critical, p_yes)
    found["direct/ap"] = average_precision_score(critical, p_yes)
    found["direct/brier"] = brier_score_loss(critical, p_yes)
    return found


WORK = {"columnar": columnar, "by_rows": by_rows}


def in_a_process(work: str, folder: Path) -> dict[str, float]:
    """A piece of work in a process of its own, with its peak memory."""
    command = [sys.executable, __file__, "--do", work, str(folder)]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(output.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=1_000_000, help="of all runs together")
    parser.add_argument("--do", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.do:
        began = time.perf_counter()
        found = WORK[given.do[0]](Path(given.do[1]))
        found["seconds"] = time.perf_counter() - began
        found["peak MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps(found))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        count = len(SYSTEMS) * RUNS
        runs = write_runs(folder, given.pairs // count)
        size = sum(path.stat().st_size for run in runs for path in run.rglob("*.jsonl"))
        print(f"{count} runs of {given.pairs // count:,} pairs, {size / 1e6:,.0f} MB", flush=True)
        ours = in_a_process("columnar", folder)
        print(
            f"columnar: metrics {ours['metrics']:.1f} s, bootstrap, tests, tables and figures "
            f"{ours['report']:.1f} s; {ours['seconds']:.1f} s by the clock, peak {ours['peak MB']:,.0f} MB",
            flush=True,
        )
        loop = in_a_process("by_rows", folder)
    for metric in CHECKED:
        if abs(ours[f"value {metric}"] - loop[f"value {metric}"]) > 1e-9:
            raise SystemExit(
                f"{metric}: {ours[f'value {metric}']}, {loop[f'value {metric}']} by rows"
            )
    metrics, resamples = loop["metrics"] * count, loop["resample"] * count * RESAMPLES
    print(
        f"row by row with scikit-learn, measured on one run: metrics {loop['metrics']:.1f} s, one "
        f"resample {loop['resample']:.1f} s, peak {loop['peak MB']:,.0f} MB; the same numbers"
    )
    print(
        f"  scaled to {count} runs: metrics {metrics:,.0f} s; with {RESAMPLES:,} resamples "
        f"{(metrics + resamples) / 3600:,.1f} h (without permutation tests)"
    )
    ours_all = ours["metrics"] + ours["report"]
    print(
        f"ratio: metrics {metrics / ours['metrics']:.1f}x, all {(metrics + resamples) / ours_all:,.0f}x"
    )


if __name__ == "__main__":
    main()
