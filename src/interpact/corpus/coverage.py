"""How much the complete mapping adds to what a root's case and pairs show (app:supervision-coverage)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from interpact.case.files import replacing
from interpact.case.states import State
from interpact.corpus.pairs import LabelledRoot, Pair, Split
from interpact.corpus.split import NO_SOURCE, table_cell
from interpact.corpus.store import Corpus
from interpact.errors import InterPactError

TITLES = {"contractnli": "ContractNLI", "sharc": "ShARC"}
SPLIT_TITLES = {Split.TRAIN: "Training", Split.DEV: "Development", Split.TEST: "Test"}
SEGMENTS = {"none": "#d9dde3", "one": "#6fa8c9", "two": "#1f4e79"}
ENDINGS = {
    ".pdf": "CreationDate",
    ".png": "Software",
    ".svg": "Date",
}  # what changes from run to run


@dataclass(frozen=True, slots=True)
class SourceCoverage:
    """Counts of the roots of one source."""

    source: str
    roots: int
    few_states: int
    """Roots whose case and pairs cover fewer than three target states."""
    additional: tuple[int, int, int]
    """Roots by the number of decisions (0, 1 or 2) that only the mapping supplies."""

    @property
    def few_states_share(self) -> float:
        """The share of roots that cover fewer than three target states."""
        return self.few_states / self.roots

    @property
    def additional_share(self) -> float:
        """The share of roots for which the mapping supplies decisions not observed."""
        return (self.roots - self.additional[0]) / self.roots


@dataclass(frozen=True, slots=True)
class Coverage:
    """Coverage of the roots of one split, by source."""

    split: Split
    sources: tuple[SourceCoverage, ...]

    @property
    def total(self) -> SourceCoverage:
        """All sources together."""
        zero, one, two = (sum(s.additional[n] for s in self.sources) for n in range(3))
        return SourceCoverage(
            "all",
            sum(s.roots for s in self.sources),
            sum(s.few_states for s in self.sources),
            (zero, one, two),
        )

    def markdown(self) -> str:
        """The coverage as a table."""
        lines = [
            f"| {self.split} roots of | roots | fewer than three states | decisions not observed "
            "| +0 | +1 | +2 |",
            "|---|---:|---:|---:|---:|---:|---:|",
        ]
        for row in (*self.sources, self.total):
            counts = " | ".join(f"{n:,}" for n in row.additional)
            lines.append(
                f"| {table_cell(row.source)} | {row.roots:,} | {row.few_states:,} ({row.few_states_share:.1%}) "
                f"| {row.roots - row.additional[0]:,} ({row.additional_share:.1%}) | {counts} |"
            )
        return "\n".join(lines) + "\n"


def coverage(corpus: Corpus, split: Split = Split.TRAIN) -> Coverage:
    """The coverage of the roots of a split; controls and the original case count as observed."""
    pairs_of = corpus.pairs_of()
    roots: Counter[str] = Counter()
    few: Counter[str] = Counter()
    additional: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for name, root in corpus.roots.items():
        if root.split is split:
            source = root.root.case.source or NO_SOURCE
            roots[source] += 1
            few[source] += len(_states(root, pairs_of[name])) < len(State)
            additional[source][_additional(root, pairs_of[name])] += 1
    if not roots:
        raise InterPactError(
            f"the corpus has no {split} roots; give its roots their splits (interpact split)"
        )
    return Coverage(
        split,
        tuple(
            SourceCoverage(
                source,
                roots[source],
                few[source],
                (additional[source][0], additional[source][1], additional[source][2]),
            )
            for source in sorted(roots)
        ),
    )


def _states(root: LabelledRoot, pairs: Iterable[Pair]) -> set[State]:
    return {root.state, *(pair.state_after for pair in pairs)}


def _additional(root: LabelledRoot, pairs: Iterable[Pair]) -> int:
    observed = {root.decision, *(pair.decision_after for pair in pairs)}
    return len(set(root.mapping.values()) - observed)


def write_figure(found: Coverage, path: str | Path) -> None:
    """Draw additional decisions by source (fig:branch-coverage); the ending tells PDF, PNG or SVG."""
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise InterPactError(f"{path}: use one of the endings {', '.join(ENDINGS)}")

    from matplotlib import rc_context
    from matplotlib.figure import Figure

    rows = found.sources
    figure = Figure(figsize=(6.4, 1.25 + 0.5 * len(rows)), layout="constrained")
    axes = figure.add_subplot()
    start = [0.0] * len(rows)
    for number, (name, colour) in enumerate(SEGMENTS.items()):
        shares = [100 * row.additional[number] / row.roots for row in rows]
        bars = axes.barh(
            range(len(rows)), shares, 0.62, start, color=colour, edgecolor="white", label=name
        )
        axes.bar_label(
            bars,
            # narrower segments have no room; the table has their numbers
            [f"{share:.1f}%" if share >= 7 else "" for share in shares],
            label_type="center",
            color="white" if name == "two" else "black",
            fontsize=8,
        )
        start = [left + share for left, share in zip(start, shares, strict=True)]
    names = [f"{TITLES.get(row.source, row.source)}\n(n = {row.roots:,})" for row in rows]
    axes.set_yticks(range(len(rows)), names, parse_math=False)
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    axes.set_xlabel(f"{SPLIT_TITLES[found.split]} roots (%)")
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    figure.legend(
        title="Decisions that only the complete mapping supplies",
        loc="outside upper center",
        ncols=len(SEGMENTS),
        frameon=False,
    )
    # text stays text, and the same counts give the same bytes
    steady = rc_context({"pdf.fonttype": 42, "svg.fonttype": "none", "svg.hashsalt": "interpact"})
    with steady, replacing(path) as temporary:
        figure.savefig(temporary, format=ending[1:], dpi=200, metadata={ENDINGS[ending]: None})
