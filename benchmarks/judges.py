"""Judges side by side on the labelled roots of a corpus split: accuracy, calibration, abstention.

    python benchmarks/judges.py --corpus DIR --verifier FOLDER [--split test] [--out judges]
    python benchmarks/judges.py ... --served NAME=URL       # also a model behind an endpoint, by prompt

Majority takes the commoner label of the training roots; the oracle rule says critical where the mapping
under the annotated states is not constant. All others see the text alone. Intervals are bootstrapped
over components: cases that share a document or rule family are drawn together. What was fitted on
development roots (calibration, abstention) flatters on that split; the model card has numbers with
components left out.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from interpact.case.case import Case
from interpact.corpus.pairs import LabelledRoot, Split
from interpact.corpus.store import Corpus
from interpact.judging.engines.protocol import Engine
from interpact.judging.fit import (
    LabelledScores,
    component,
    direct_scores,
    intervene_scores,
    labelled,
    propagate_scores,
)
from interpact.judging.judgment import DIRECT, INTERVENE, PROPAGATE
from interpact.judging.measures import ece, measures, reliability
from interpact.judging.propagate import read
from interpact.judging.settings import JudgeSettings
from interpact.judging.verifier import Verifier

RESAMPLES = 2_000
RISKS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4)


@dataclass(frozen=True)
class Row:
    """One judge: what it said of every root, and how probable it found critical."""

    name: str
    said: Sequence[bool | None]
    chances: Sequence[float | None]
    scored: LabelledScores | None = None
    mode: str | None = None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--verifier", type=Path, required=True)
    parser.add_argument("--split", choices=[str(s) for s in Split], default="dev")
    parser.add_argument("--out", type=Path, default=Path("judges"))
    parser.add_argument("--modes", default="propagate,intervene,direct")
    parser.add_argument("--served", metavar="NAME=URL", help="a model behind an endpoint")
    parser.add_argument("--no-base", action="store_true", help="leave out the untrained backbone")
    options = parser.parse_args()
    corpus = Corpus.read(options.corpus)
    roots, critical = labelled(corpus, Split(options.split))
    verifier = Verifier.load(options.verifier)
    modes = options.modes.split(",")
    rows = [majority(corpus, len(roots)), oracle(roots)]
    if not options.no_base:
        base = Verifier.base(verifier.settings.backbone)
        rows += judges("base", base.engine, base.settings, roots, critical, [DIRECT])
    rows += judges("trained", verifier.engine, verifier.settings, roots, critical, modes)
    for row in list(rows):
        if row.mode == verifier.settings.mode and row.name.startswith("trained"):
            rows.append(Row(f"auto (= {row.mode})", row.said, row.chances, row.scored, row.mode))
    if options.served:
        from interpact.judging.engines.endpoint import EndpointEngine

        name, _, url = options.served.partition("=")
        cache = options.out / "answers.sqlite"
        with EndpointEngine(name, base_url=url, cache=cache, parameters={"max_tokens": 5}) as e:
            rows += judges(name, e, JudgeSettings(), roots, critical, [PROPAGATE, DIRECT])
    options.out.mkdir(parents=True, exist_ok=True)
    told = table(rows, roots, critical)
    told += "\n" + abstention(rows, verifier.settings, critical)
    print(told)
    (options.out / f"{options.split}.md").write_text(told + "\n")
    keep = [
        {
            "judge": row.name,
            "roots": [
                {"root": r.root.id, "critical": y, "said": s, "probability": p}
                for r, y, s, p in zip(roots, critical, row.said, row.chances, strict=True)
            ],
        }
        for row in rows
    ]
    (options.out / f"{options.split}.json").write_text(json.dumps(keep, indent=1) + "\n")
    draw(rows, verifier.settings, critical, options.out / f"{options.split}.png")


def majority(corpus: Corpus, count: int) -> Row:
    """The commoner label of training roots, for every root."""
    _, labels = labelled(corpus, Split.TRAIN)
    common = sum(labels) * 2 >= len(labels)
    return Row("majority", [common] * count, [None] * count)


def oracle(roots: Sequence[LabelledRoot]) -> Row:
    """The rule with the annotated states."""
    return Row("oracle rule", [not root.constant for root in roots], [None] * len(roots))


def judges(
    name: str,
    engine: Engine,
    settings: JudgeSettings,
    roots: Sequence[LabelledRoot],
    critical: Sequence[bool],
    modes: Sequence[str],
) -> list[Row]:
    """Each mode of a verifier."""
    cases: dict[str, Case] = {r.root.case.id: r.root.case for r in roots}
    targets = {(r.root.case.id, r.root.evidence) for r in roots}
    found: list[Row] = []
    readings = {}
    if set(modes) - {DIRECT}:
        raw = read(list(cases.values()), engine, only=targets)
        readings = {r.case.id: r.scaled(settings.states) for r in raw}
    for mode in modes:
        if mode == PROPAGATE:
            scored = propagate_scores(roots, critical, readings, settings.reach)
        elif mode == INTERVENE:
            scored = intervene_scores(roots, critical, readings, engine)
        else:
            scored = direct_scores(roots, critical, engine)
        platt = settings.of(mode).platt
        chances = [None if s is None else platt(s) for s in scored.scores]
        said = scored.said or [None if p is None else p >= 0.5 for p in chances]
        found.append(Row(f"{name} {mode}", said, chances, scored, mode))
    return found


def source(root: LabelledRoot) -> str:
    """Where a root comes from."""
    return root.root.case.source or root.root.case.id.partition("-")[0]


def table(rows: Sequence[Row], roots: Sequence[LabelledRoot], critical: Sequence[bool]) -> str:
    """Accuracy and balanced accuracy with intervals, macro F1, invalid, ECE; then each source."""
    groups: dict[str, list[int]] = {}
    for i, root in enumerate(roots):
        groups.setdefault(component(root.root.case), []).append(i)
    lines = [
        f"{len(roots)} roots, {sum(critical)} critical, {len(groups)} components",
        "",
        "| judge | accuracy (95 %) | balanced accuracy (95 %) | macro F1 | invalid | ECE |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        found = measures(critical, row.said, row.chances)
        low = interval(row, critical, list(groups.values()))
        cells = [
            f"{percent(found['accuracy'])} ({low[0]})",
            f"{percent(found['balanced_accuracy'])} ({low[1]})",
            *(percent(found[name]) for name in ("macro_f1", "invalid", "ece")),
        ]
        lines.append(f"| {row.name} | {' | '.join(cells)} |")
    sources = sorted({source(root) for root in roots})
    lines += ["", "| judge | " + " | ".join(f"{s}: accuracy / balanced" for s in sources) + " |"]
    lines += ["|---|" + "---:|" * len(sources)]
    for row in rows:
        cells = []
        for name in sources:
            at = [i for i, root in enumerate(roots) if source(root) == name]
            found = measures(
                [critical[i] for i in at],
                [row.said[i] for i in at],
                [row.chances[i] for i in at],
            )
            cells.append(
                f"{percent(found['accuracy'])} / {percent(found['balanced_accuracy'])} ({len(at)})"
            )
        lines.append(f"| {row.name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def interval(row: Row, critical: Sequence[bool], groups: Sequence[list[int]]) -> tuple[str, str]:
    """Percentile intervals of accuracy and balanced accuracy over resampled components."""
    # Of each component: roots and hits, critical ones and the others.
    sums = np.array(
        [
            [
                sum(critical[i] is label and (not hit or row.said[i] is label) for i in group)
                for label in (True, False)
                for hit in (False, True)
            ]
            for group in groups
        ],
        dtype=float,
    )
    rng = np.random.default_rng(0)
    drawn = sums[rng.integers(len(groups), size=(RESAMPLES, len(groups)))].sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        accuracy = (drawn[:, 1] + drawn[:, 3]) / (drawn[:, 0] + drawn[:, 2])
        balanced = (drawn[:, 1] / drawn[:, 0] + drawn[:, 3] / drawn[:, 2]) / 2
    told = []
    for values in (accuracy, balanced):
        low, high = np.nanpercentile(values, [2.5, 97.5])
        told.append(f"{100 * low:.1f} to {100 * high:.1f}")
    return told[0], told[1]


def abstention(rows: Sequence[Row], settings: JudgeSettings, critical: Sequence[bool]) -> str:
    """At each risk: how many roots are judged, how many of those rightly, and the wrong of all of a kind."""
    lines = [
        "| judge | risk | judged | right among judged | critical judged not | others judged critical |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        for risk in RISKS:
            said = verdicts(row, settings, risk)
            if said is None:
                continue
            judged = [(s, y) for s, y in zip(said, critical, strict=True) if s is not None]
            right = sum(s is y for s, y in judged) / len(judged) if judged else None
            wrong = [
                sum(s is (not label) for s, y in zip(said, critical, strict=True) if y is label)
                / max(1, sum(y is label for y in critical))
                for label in (True, False)
            ]
            lines.append(
                f"| {row.name} | {risk:g} | {percent(len(judged) / len(critical))} | "
                f"{percent(right)} | {percent(wrong[0])} | {percent(wrong[1])} |"
            )
    return "\n".join(lines)


def verdicts(row: Row, settings: JudgeSettings, risk: float) -> list[bool | None] | None:
    """What a calibrated judge says when it may abstain."""
    if row.scored is None or row.mode is None or not row.name.startswith("trained"):
        return None
    conformal = settings.of(row.mode).conformal
    if not conformal.critical:
        return None
    return [None if s is None else conformal.verdict(s, risk) for s in row.scored.scores]


def draw(
    rows: Sequence[Row], settings: JudgeSettings, critical: Sequence[bool], path: Path
) -> None:
    """Reliability, and accuracy of what is judged against how much is."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
    left.plot([0, 1], [0, 1], color="0.7", linewidth=1)
    for row in rows:
        if not row.name.startswith("trained"):
            continue
        known = [(p, y) for p, y in zip(row.chances, critical, strict=True) if p is not None]
        if not known:
            continue
        chances, labels = [p for p, _ in known], [y for _, y in known]
        points = reliability(chances, labels, bins=5)
        error = ece(chances, labels) or 0.0
        name = row.name.removeprefix("trained ")
        (line,) = left.plot(
            [p for p, _, _ in points],
            [share for _, share, _ in points],
            marker="o",
            label=f"{name} (ECE {100 * error:.1f} %)",
        )
        curve = []
        for risk in np.linspace(0.02, 0.6, 59):
            said = verdicts(row, settings, float(risk)) or []
            judged = [s is y for s, y in zip(said, critical, strict=False) if s is not None]
            if judged:
                curve.append((100 * len(judged) / len(critical), 100 * sum(judged) / len(judged)))
        if curve:
            right.plot(
                [x for x, _ in curve],
                [y for _, y in curve],
                ".-",
                color=line.get_color(),
                label=name,
            )
    left.set(xlabel="predicted probability", ylabel="share critical", xlim=(0, 1), ylim=(0, 1))
    left.legend(loc="upper left", frameon=False)
    right.set(xlabel="roots judged (%)", ylabel="accuracy of the judged (%)", xlim=(0, 102))
    right.legend(loc="lower left", frameon=False)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def percent(value: float | None) -> str:
    """A share in percent."""
    return "-" if value is None else f"{100 * value:.1f}"


if __name__ == "__main__":
    main()
