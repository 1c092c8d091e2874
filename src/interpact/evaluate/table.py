"""A table once, shown as Markdown, LaTeX, CSV and (by the page) HTML; every text is escaped."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from interpact.corpus.split import table_cell
from interpact.evaluate.runs import Gap, Spread

Cell = Spread | Gap | str | int


class Mark(StrEnum):
    """How a number stands among those it is compared with."""

    NONE = ""
    BEST = "best"
    SECOND = "second"


@dataclass(frozen=True, slots=True)
class Column:
    """A column; `better` is 1 where more is better, -1 where less is, 0 where nothing is ranked."""

    title: str
    group: str = ""
    better: int = 0
    wide: bool = False
    """Holds sentences."""

    @property
    def arrow(self) -> str:
        """Which direction is better."""
        return {1: " ↑", -1: " ↓", 0: ""}[self.better]


@dataclass(frozen=True, slots=True)
class Row:
    """A named row; a reference is shown but not ranked."""

    name: str
    cells: tuple[Cell, ...]
    reference: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """Rows under a heading, which may be empty."""

    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Table:
    """A table of a report."""

    id: str
    title: str
    caption: str
    head: str
    columns: tuple[Column, ...]
    sections: tuple[Section, ...]
    apart: bool = False
    """Whether sections are ranked each by itself."""
    second: bool = True

    @property
    def missing(self) -> int:
        """How many cells have no run."""
        return sum(
            cell is Gap.MISSING for part in self.sections for row in part.rows for cell in row.cells
        )

    @property
    def groups(self) -> list[tuple[str, int]]:
        """Neighbouring columns of one group, and how many."""
        return [(name, len(list(some))) for name, some in groupby(c.group for c in self.columns)]

    def shown(self) -> Iterator[tuple[Section, list[tuple[Row, list[Shown]]]]]:
        """The rows of each section as they are shown."""
        everything = [row for part in self.sections for row in part.rows]
        for part in self.sections:
            ranks = [
                _ranks(
                    [
                        row.cells[i]
                        for row in (part.rows if self.apart else everything)
                        if not row.reference
                    ],
                    column,
                )
                for i, column in enumerate(self.columns)
            ]
            yield (
                part,
                [
                    (
                        row,
                        [
                            self._shown(cell, [] if row.reference else rank)
                            for cell, rank in zip(row.cells, ranks, strict=True)
                        ],
                    )
                    for row in part.rows
                ],
            )

    def _shown(self, cell: Cell, ranks: Sequence[str]) -> Shown:
        if not isinstance(cell, Spread):
            return Shown(
                f"{cell:,}" if isinstance(cell, int) else str(cell), gap=isinstance(cell, Gap)
            )
        value = percent(cell.mean)
        mark = Mark.NONE
        if value in ranks[:1]:
            mark = Mark.BEST
        elif self.second and value in ranks[1:2]:
            mark = Mark.SECOND
        deviation = "" if cell.deviation is None else percent(cell.deviation)
        return Shown(value, deviation, mark)


@dataclass(frozen=True, slots=True)
class Shown:
    """A cell as text."""

    text: str
    deviation: str = ""
    mark: Mark = Mark.NONE
    gap: bool = False


def percent(share: float) -> str:
    """A share in percent, as it is shown and compared."""
    return f"{100 * share:.2f}"


def _ranks(cells: Sequence[Cell], column: Column) -> list[str]:
    """The values from best to worst; those that read the same are the same."""
    if not column.better:
        return []
    values = {percent(cell.mean) for cell in cells if isinstance(cell, Spread)}
    return sorted(values, key=float, reverse=column.better > 0)


def markdown(table: Table) -> str:
    """The table as Markdown: best bold, second best in italics."""
    titles = [_title(column) + column.arrow for column in table.columns]
    lines = [
        _bar([table.head, *titles]),
        "|---|" + "".join("---|" if c.wide else "---:|" for c in table.columns),
    ]
    for part, rows in table.shown():
        if part.title:
            lines.append(_bar([f"**{_markdown(part.title)}**", *[""] * len(titles)], raw=True))
        for row, cells in rows:
            texts = [
                _markdown(cell.text) + (f" ± {cell.deviation}" if cell.deviation else "")
                for cell in cells
            ]
            signs = [{Mark.BEST: "**", Mark.SECOND: "*"}.get(cell.mark, "") for cell in cells]
            marked = [f"{sign}{text}{sign}" for sign, text in zip(signs, texts, strict=True)]
            lines.append(_bar([_markdown(row.name), *marked], raw=True))
    return (
        f"### {_markdown(table.title)}\n\n" + "\n".join(lines) + f"\n\n{_markdown(table.caption)}\n"
    )


def _title(column: Column) -> str:
    return f"{column.group}: {column.title}" if column.group else column.title


def _bar(cells: Sequence[str], raw: bool = False) -> str:
    return f"| {' | '.join(cells if raw else map(_markdown, cells))} |"


def _markdown(text: str) -> str:
    return re.sub(r"([*_`<>\[\]&$~])", r"\\\1", table_cell(text.replace("\\", "\\\\")))


def as_csv(table: Table) -> str:
    """The table as CSV: numbers in percent with their deviation and runs, gaps by name."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    ranked = [
        any(isinstance(row.cells[i], Spread) for part in table.sections for row in part.rows)
        for i in range(len(table.columns))
    ]
    header = ["section", table.head]
    for column, numbers in zip(table.columns, ranked, strict=True):
        name = _title(column)
        header += [name, f"{name} SD", f"{name} runs"] if numbers else [name]
    writer.writerow(header)
    for part in table.sections:
        for row in part.rows:
            line: list[object] = [part.title, row.name]
            for cell, numbers in zip(row.cells, ranked, strict=True):
                line += _fields(cell) if numbers else [_plain(cell)]
            writer.writerow(line)
    return out.getvalue()


def _fields(cell: Cell) -> list[object]:
    if not isinstance(cell, Spread):
        return [_plain(cell), "", ""]
    deviation = "" if cell.deviation is None else f"{100 * cell.deviation:.6g}"
    return [f"{100 * cell.mean:.6g}", deviation, cell.runs]


def _plain(cell: Cell) -> object:
    return cell.name.lower().replace("_", " ") if isinstance(cell, Gap) else cell


def latex(table: Table) -> str:
    """The table as LaTeX with booktabs: best bold, second best underlined."""
    width = len(table.columns) + 1
    wide = sum(column.wide for column in table.columns)
    kinds = [rf"p{{{0.7 / wide:.2f}\textwidth}}" if c.wide else "r" for c in table.columns]
    lines = [
        r"\begin{table}[htbp]",
        rf"\caption{{{escape_latex(table.caption)}}}",
        rf"\label{{tab:{table.id}}}",
        r"\centering\small",
        r"\setlength{\tabcolsep}{4pt}",
        rf"\begin{{tabular}}{{l{''.join(kinds)}}}",
        r"\toprule",
    ]
    if any(name for name, _ in table.groups):
        heads, rules, at = [""], "", 2
        for name, count in table.groups:
            heads.append(rf"\multicolumn{{{count}}}{{c}}{{{escape_latex(name)}}}")
            rules += rf"\cmidrule(lr){{{at}-{at + count - 1}}}" if name else ""
            at += count
        lines += [" & ".join(heads) + r"\\", rules]
    heads = [
        escape_latex(text) for text in (table.head, *(c.title + c.arrow for c in table.columns))
    ]
    lines.append(" & ".join(heads) + r"\\")
    for part, rows in table.shown():
        lines.append(r"\midrule")
        if part.title:
            lines.append(rf"\multicolumn{{{width}}}{{l}}{{\emph{{{escape_latex(part.title)}}}}}\\")
        for row, cells in rows:
            lines.append(" & ".join([escape_latex(row.name), *map(_latex_cell, cells)]) + r"\\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""])


def _latex_cell(cell: Shown) -> str:
    text = escape_latex(cell.text)
    wrap = {Mark.BEST: r"\textbf", Mark.SECOND: r"\underline"}.get(cell.mark)
    text = f"{wrap}{{{text}}}" if wrap else text
    return rf"{text}\,{{\scriptsize$\pm$\,{cell.deviation}}}" if cell.deviation else text


_LATEX = {
    "\\": r"\textbackslash{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    # a line that begins with one of these would be an option of the line break before it
    **{character: f"{{{character}}}" for character in "[]*"},
    "²": r"\textsuperscript{2}",
    "—": "---",
    "–": "--",
    "±": r"$\pm$",
    "−": "$-$",
    "×": r"$\times$",
    "≥": r"$\geq$",
    "λ": r"$\lambda$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
}


def escape_latex(text: str) -> str:
    """Text that LaTeX prints as it is."""
    return "".join(_LATEX.get(character, character) for character in " ".join(text.split()))
