"""The report of an audit: the paper's table, and how far the readers agreed (tab:semantic-audit)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from interpact.review.agreement import fleiss_kappa, krippendorff_alpha, raw_agreement, wilson
from interpact.review.questions import AMBIGUOUS
from interpact.review.settled import Read, Settled, readings, settled
from interpact.review.store import Store
from interpact.review.versions import Queue, Status


@dataclass(frozen=True, slots=True)
class Rate:
    """How many items pass an aspect, with a Wilson interval."""

    aspect: str
    n: int
    of: int

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% Wilson interval."""
        return wilson(self.n, self.of)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far independent readers agreed on a question."""

    aspect: str
    items: int
    raw: float | None
    kappa: float | None
    alpha: float | None


@dataclass(frozen=True, slots=True)
class Report:
    """What an audit has come to so far."""

    queue: Queue
    settled: int
    consensus: int
    ruled: int
    disputed: int
    unresolved: int
    unblinded: int
    rates: tuple[Rate, ...]
    agreements: tuple[Agreement, ...]
    corrections: tuple[dict[str, str], ...]

    def markdown(self) -> str:
        """The report as Markdown tables."""
        facts = self.queue.facts
        lines = [
            f"# {self.queue.form.title}: {self.queue.name}",
            "",
            f"{self.queue.items:,} items"
            + (f" of {facts['of']:,} pairs, seed {facts['seed']}" if "of" in facts else "")
            + f"; {self.queue.readers} readers each. Settled: {self.settled:,} ({self.consensus:,} by "
            f"consensus, {self.ruled:,} adjudicated); {self.disputed:,} wait for adjudication.",
            "",
        ]
        if self.rates:
            lines += ["| aspect assessed | n/N | % | 95% Wilson interval |", "|---|---:|---:|---:|"]
            for rate in self.rates:
                low, high = rate.interval
                share = f"{100 * rate.n / rate.of:.2f}" if rate.of else "-"
                lines.append(
                    f"| {rate.aspect} | {rate.n}/{rate.of} | {share} "
                    f"| [{100 * low:.2f}, {100 * high:.2f}] |"
                )
            lines += [""]
        lines += [
            "Agreement of independent readers, before adjudication:",
            "",
            "| aspect | items | raw | Fleiss kappa | Krippendorff alpha |",
            "|---|---:|---:|---:|---:|",
        ]
        for a in self.agreements:
            cells = " | ".join("-" if v is None else f"{v:.3f}" for v in (a.raw, a.kappa, a.alpha))
            lines.append(f"| {a.aspect} | {a.items} | {cells} |")
        lines += [
            "",
            f"{self.unresolved:,} items stay ambiguous in some aspect (not the state unknown; they "
            f"count as not passing). In {self.unblinded:,} readings an answer was changed after the "
            "operation had been seen.",
        ]
        if self.corrections:
            lines += ["", "| pair | aspect | labelled | settled | why |", "|---|---|---|---|---|"]
            for c in self.corrections:
                cells = (c[k].replace("|", "\\|").replace("\n", " ") for k in _COLUMNS)
                lines.append("| " + " | ".join(cells) + " |")
        return "\n".join(lines) + "\n"

    def data(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "queue": self.queue.name,
            "items": self.queue.items,
            "facts": self.queue.facts,
            "settled": self.settled,
            "consensus": self.consensus,
            "adjudicated": self.ruled,
            "disputed": self.disputed,
            "unresolved": self.unresolved,
            "unblinded": self.unblinded,
            "rates": [
                {"aspect": r.aspect, "n": r.n, "of": r.of, "interval": list(r.interval)}
                for r in self.rates
            ],
            "agreement": [
                {
                    "aspect": a.aspect,
                    "items": a.items,
                    "raw": a.raw,
                    "fleiss_kappa": a.kappa,
                    "krippendorff_alpha": a.alpha,
                }
                for a in self.agreements
            ],
            "corrections": list(self.corrections),
        }


_COLUMNS = ("pair", "aspect", "labelled", "settled", "why")


def report(store: Store, queue: Queue) -> Report:
    """The report of a queue; rates only where it is an audit."""
    read = list(readings(store, queue))
    done = list(settled(store, queue))
    audit = queue.form.question("association") is not None
    return Report(
        queue,
        len(done),
        sum(s.read.status is Status.AGREED for s in done),
        sum(s.read.status is Status.RULED for s in done),
        sum(r.status is Status.DISPUTED for r in read),
        sum(AMBIGUOUS in s.answer.values() for s in done),
        sum(bool(said.unblinded) for r in read for said in r.said),
        tuple(_rates(done)) if audit else (),
        tuple(_agreement(queue, read)),
        tuple(_corrections(done)) if audit else (),
    )


def _rates(done: Sequence[Settled]) -> list[Rate]:
    aspects: list[tuple[str, Callable[[Settled], bool]]] = [
        ("Case structure and evidence association", lambda s: s.answer["association"] == "yes"),
        ("Intervention fidelity", lambda s: s.answer["fidelity"] == "yes"),
        ("Target condition state", lambda s: s.answer["state"] == s.reference["state_after"]),
        ("Decision after intervention", _same_decision),
        ("Non-target states preserved", lambda s: s.answer["preserved"] == "yes"),
    ]
    return [Rate(name, sum(map(holds, done)), len(done)) for name, holds in aspects]


def _same_decision(item: Settled) -> bool:
    """Whether the aggregation gives the labelled decision for the settled state too."""
    decisions = item.reference["decisions"]
    state = item.answer["state"]
    return state != AMBIGUOUS and decisions[state] == decisions[item.reference["state_after"]]


def _agreement(queue: Queue, read: Sequence[Read]) -> list[Agreement]:
    found: list[Agreement] = []
    for question in queue.form.questions:
        ratings = [[said.answer[question.name] for said in item.said] for item in read]
        found.append(
            Agreement(
                question.aspect,
                len(ratings),
                raw_agreement(ratings),
                fleiss_kappa(ratings),
                krippendorff_alpha(ratings),
            )
        )
    return found


def _corrections(done: Sequence[Settled]) -> list[dict[str, str]]:
    found: list[dict[str, str]] = []
    for item in done:
        wrong = [(name, "yes", item.answer[name]) for name in item.failed]
        labelled = item.reference["state_after"]
        if item.answer["state"] not in (labelled, AMBIGUOUS):
            wrong.append(("state", labelled, item.answer["state"]))
        for aspect, before, after in wrong:
            cells = (item.key, aspect, before, after, item.reason or item.by)
            found.append(dict(zip(_COLUMNS, cells, strict=True)))
    return found
