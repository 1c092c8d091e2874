"""A report: every table in four formats, every figure, every metric of every run."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from interpact.case.files import replacing
from interpact.corpus.coverage import coverage
from interpact.corpus.coverage import write_figure as write_coverage
from interpact.corpus.pairs import Split
from interpact.evaluate import facts, table
from interpact.evaluate.compare import RESAMPLES, comparisons
from interpact.evaluate.difference_table import differences
from interpact.evaluate.direct_tables import (
    answer_chances,
    direct,
    direct_ablations,
    direct_by_source,
)
from interpact.evaluate.figures import FIGURES, FORMATS, write_figure
from interpact.evaluate.paired_tables import (
    by_operation,
    by_source,
    conditional,
    matched_ablations,
    paired,
    regime_errors,
    warrant,
)
from interpact.evaluate.rows import REFERENCES
from interpact.evaluate.runs import Results
from interpact.evaluate.table import Table
from interpact.systems.predictions import System

COVERAGE = "branch-coverage"
RESULT_TABLES: tuple[Callable[[Results], Table], ...] = (
    direct,
    direct_ablations,
    paired,
    matched_ablations,
    direct_by_source,
    by_operation,
    by_source,
    regime_errors,
    conditional,
    warrant,
    answer_chances,
)


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure of the report; the PNG is empty where it could not be drawn."""

    id: str
    title: str
    png: str


@dataclass(frozen=True, slots=True)
class Written:
    """What a report holds."""

    tables: tuple[Table, ...]
    figures: tuple[Picture, ...]

    @property
    def missing(self) -> list[str]:
        """Tables with missing cells, and figures that could not be drawn, by title."""
        return [t.title for t in self.tables if t.missing] + [
            f.title for f in self.figures if not f.png
        ]


def write_report(
    results: Results, out: Path, audit: facts.Audit | None = None, resamples: int = RESAMPLES
) -> Written:
    """Write a report into a folder; `index.html` shows all of it."""
    made = all_tables(results, audit, resamples)
    for one in made:
        for ending, text in (
            ("md", table.markdown(one)),
            ("tex", table.latex(one)),
            ("csv", table.as_csv(one)),
        ):
            _write(out / "tables" / f"{one.id}.{ending}", text)
    pictures = _figures(results, out / "figures")
    heading = f"# Results on the {results.split} split\n\n{summary(results)}\n\n"
    note = "**Bold**: best; *italics*: second best.\n\n"
    _write(out / "report.md", heading + note + "\n".join(map(table.markdown, made)))
    _write(out / "metrics.json", json.dumps(metrics(results), indent=1) + "\n")
    _write(out / "index.html", page(results, made, pictures))
    return Written(tuple(made), tuple(pictures))


def all_tables(results: Results, audit: facts.Audit | None, resamples: int) -> list[Table]:
    """Every table, in the order of the report."""
    corpus = results.reference.corpus
    shown = [make(results) for make in RESULT_TABLES]
    main = next(iter(results.of(System.INTERPACT)), None)
    compared = (
        comparisons(
            main,
            [r for r in results.systems if r is not main and r.system not in REFERENCES],
            resamples=resamples,
        )
        if main is not None
        else []
    )
    return [
        *shown,
        differences(results, compared, resamples),
        facts.data(corpus, results.component_of),
        facts.operations(corpus),
        facts.audit(audit),
        facts.supervision(),
        facts.settings(results),
        facts.runs(results),
    ]


def _figures(results: Results, folder: Path) -> list[Picture]:
    pictures: list[Picture] = []
    for name, (title, draw) in FIGURES.items():
        figure = draw(results)
        if figure is not None:
            write_figure(figure, folder, name)
        pictures.append(_picture(folder, name, title, figure is not None))
    corpus = results.reference.corpus
    known = corpus is not None and any(r.split is Split.TRAIN for r in corpus.roots.values())
    if corpus is not None and known:
        for ending in FORMATS:
            write_coverage(coverage(corpus), folder / f"{COVERAGE}{ending}")
    pictures.append(_picture(folder, COVERAGE, "Decisions that only mappings supply", known))
    return pictures


def _picture(folder: Path, name: str, title: str, drawn: bool) -> Picture:
    if drawn:
        png = base64.b64encode((folder / f"{name}.png").read_bytes()).decode()
        return Picture(name, title, png)
    for ending in FORMATS:
        # of an earlier report, perhaps
        (folder / f"{name}{ending}").unlink(missing_ok=True)
    return Picture(name, title, "")


def summary(results: Results) -> str:
    """What the report is of, in a sentence."""
    systems = [r for r in results.systems if r.system not in REFERENCES]
    runs = sum(len(result.runs) for result in systems)
    pairs = results.reference.pairs
    roots = results.reference.roots
    return (
        f"{len(systems)} systems in {runs} runs, {0 if roots is None else len(roots):,} roots, "
        f"{0 if pairs is None else len(pairs.ids):,} pairs with controls."
    )


def metrics(results: Results) -> list[dict[str, object]]:
    """Every metric of every run; null is undefined, absent is no output."""
    return [
        {**run.meta.model_dump(mode="json", exclude={"settings"}), "metrics": run.metrics}
        for result in results.systems
        for run in result.runs
    ]


def page(results: Results, made: Sequence[Table], pictures: Sequence[Picture]) -> str:
    """The report as one HTML page: no script, no request, every text escaped."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).with_name("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html").render(
        split=str(results.split), summary=summary(results), tables=made, figures=pictures
    )


def _write(path: Path, text: str) -> None:
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
