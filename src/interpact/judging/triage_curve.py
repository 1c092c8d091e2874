"""What checking buys, on cases whose states are known: decision accuracy by number of checks."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from interpact.case.case import LabelledCase
from interpact.judging.propagate import Reading
from interpact.judging.settings import certain
from interpact.judging.triage import ORDERS, Order, Queue, checks, decided

RANDOM = "random"
REPEATS = 20  # random orders that are averaged
SHARES = (0, 5, 10, 20, 30, 40, 50, 75, 100)


@dataclass(frozen=True)
class Curves:
    """Decision accuracy after 0, 1, 2, ... checks, in each order."""

    cases: int
    checks: int
    accuracy: Mapping[str, Sequence[float]]

    def markdown(self) -> str:
        """Accuracy in percent after some shares of all checks."""
        lines = ["| checked | " + " | ".join(self.accuracy) + " |"]
        lines.append("|---:|" + "---:|" * len(self.accuracy))
        for share in SHARES:
            at = round(share * self.checks / 100)
            cells = [f"{100 * values[at]:.1f}" for values in self.accuracy.values()]
            lines.append(f"| {share} % ({at:,}) | {' | '.join(cells)} |")
        return "\n".join(lines) + "\n"

    def draw(self, path: Path) -> None:
        """The curves as a picture."""
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
        for name, values in self.accuracy.items():
            axes.plot(range(len(values)), [100 * v for v in values], label=name)
        axes.set(xlabel=f"conditions checked (of {self.checks:,})", ylabel="decisions right (%)")
        axes.legend(frameon=False, loc="lower right")
        figure.savefig(path, dpi=150)
        plt.close(figure)


def curves(cases: Sequence[LabelledCase], readings: Sequence[Reading]) -> Curves:
    """Check with the annotated states in every order; each order values anew what has become known."""
    every = [check for i, reading in enumerate(readings) for check in checks(reading, i)]
    found = {name: _curve(cases, readings, order) for name, order in ORDERS.items()}
    drawn: list[list[float]] = []
    for seed in range(REPEATS):
        rng = random.Random(seed)
        place = {(c.reading, c.condition): rng.random() for c in every}
        drawn.append(_curve(cases, readings, lambda c, p=place: (p[c.reading, c.condition],)))
    found[RANDOM] = [sum(values) / REPEATS for values in zip(*drawn, strict=True)]
    return Curves(len(cases), len(every), found)


def _curve(cases: Sequence[LabelledCase], readings: Sequence[Reading], order: Order) -> list[float]:
    queue = Queue(list(readings), order)
    right = [
        decided(reading) is case.labels.decision
        for case, reading in zip(cases, readings, strict=True)
    ]
    found = [sum(right) / len(right)]
    while some := queue.take():
        (check,) = some
        case = cases[check.reading]
        queue.learn(check, certain(case.labels.states[check.condition]))
        right[check.reading] = decided(queue.readings[check.reading]) is case.labels.decision
        found.append(sum(right) / len(right))
    return found
