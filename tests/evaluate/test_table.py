"""Tables: golden files of each format; marks, gaps and escaping."""

from __future__ import annotations

import csv
import io
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from interpact.corpus.pairs import Split
from interpact.evaluate.paired_tables import paired
from interpact.evaluate.reference import Reference
from interpact.evaluate.report import page
from interpact.evaluate.runs import Gap, Result, Results, Run, Spread
from interpact.evaluate.table import (
    Column,
    Mark,
    Row,
    Section,
    Table,
    as_csv,
    escape_latex,
    latex,
    markdown,
)
from interpact.systems.predictions import System
from tests.evaluate.made import meta

GOLDEN = Path(__file__).with_name("golden")
NASTY = r"""<script>alert(1)</script> & 100% $x_1^2$ #{~} \input{y} | *b* `c` "q" [d](e)"""

# two runs each, as fractions
MEASURED = {
    System.PROMPTED: (0.7, 0.72, None),
    System.AFTER_STATE: (0.8, 0.84, 0.8),
    System.GENRM: (0.9, 0.84, None),
    System.INTERPACT: (0.9, 0.92, 0.85),
}


def results() -> Results:
    """Results whose every number is given."""
    systems: list[Result] = []
    for system, (change, decision, state) in MEASURED.items():
        runs = []
        for seed, step in ((1, -0.01), (2, 0.01)):
            values = {
                "paired/change_ba": change + step,
                "paired/decision_accuracy": decision + step,
                "paired/decision_f1": None if system is System.PROMPTED else decision,
            }
            if state is not None:
                values |= {"paired/state_accuracy": state, "paired/state_f1": state + step}
            runs.append(Run(meta(system, seed), values))
        only = runs[:1] if system is System.PROMPTED else runs
        systems.append(Result(system, system.named("Tiny_1"), tuple(only)))
    return Results(Split.TEST, tuple(systems), Reference(Split.TEST), {}, 0)


@pytest.mark.parametrize(
    ("ending", "show"),
    [("md", markdown), ("tex", latex), ("csv", as_csv)],
    ids=["md", "tex", "csv"],
)
def test_the_paired_table_reads_like_the_golden_file(ending, show):
    assert show(paired(results())) == (GOLDEN / f"paired.{ending}").read_text(encoding="utf-8")


def test_the_page_reads_like_the_golden_file():
    shown = page(results(), [paired(results())], [])
    body = shown[shown.index("<body>") :]
    assert body == (GOLDEN / "paired.html").read_text(encoding="utf-8")


def nasty() -> Table:
    return Table(
        "nasty",
        NASTY,
        NASTY,
        NASTY,
        (Column(NASTY, NASTY, 1), Column("text", wide=True)),
        (Section(NASTY, (Row(NASTY, (Spread(0.5, 0.1, 3), NASTY)),)),),
    )


def test_nothing_in_a_table_is_latex():
    text = latex(nasty())
    body = text[text.index(r"\caption") :]
    # what we write ourselves
    for own in (r"\caption", r"\label", r"\centering\small", r"\setlength", r"\textwidth"):
        body = body.replace(own, "")
    assert r"\input" not in body and "<script>" not in body
    assert r"\textbackslash{}input\{y\}" in body
    # no character that means something is left bare
    bare = re.sub(
        r"\\[&%$#_{}]|\$\\(pm|uparrow)\$|\\cmidrule\S*|\\multicolumn\{\d\}\{[lc]\}", "", body
    )
    assert not re.search(r"[%#_~^]", bare.replace("tab:nasty", ""))
    # columns: as many separators a line as columns need
    rows = [line for line in text.splitlines() if r"\textbf" in line]
    assert len(rows) == 1 and len(re.findall(r"(?<!\\)&", rows[0])) == 2


def test_latex_of_braces_and_signs():
    assert escape_latex("a_b & 50% {x} \\ R²") == (
        r"a\_b \& 50\% \{x\} \textbackslash{} R\textsuperscript{2}"
    )
    # at the start of a line, these would be an option of the line break before it
    assert escape_latex("[1] *") == "{[}1{]} {*}"


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.links: list[str] = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]

    def handle_data(self, data):
        self.text += data


def test_nothing_in_a_table_is_html():
    tags = Tags()
    tags.feed(page(results(), [nasty()], []))
    assert "script" not in tags.seen and "b" in tags.seen
    assert NASTY in tags.text
    assert all(link.startswith("#") for link in tags.links)


def test_nothing_in_a_table_breaks_markdown():
    lines = markdown(nasty()).splitlines()
    rows = [line for line in lines if line.startswith("|")]
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in rows}) == 1
    assert not re.search(r"(?<!\\)[<`$]", "\n".join(lines))


def test_csv_gives_texts_back():
    header, row = csv.reader(io.StringIO(as_csv(nasty())))
    assert header[1] == NASTY and row == [NASTY, NASTY, "50", "10", "3", NASTY]


def marks(values, better: int, second: bool = True, reference: int | None = None) -> list[str]:
    rows = tuple(
        Row(str(i), (Spread(v, None, 1) if isinstance(v, float) else v,), reference=i == reference)
        for i, v in enumerate(values)
    )
    table = Table("t", "t", "", "", (Column("x", "", better),), (Section("", rows),), second=second)
    return [cells[0].mark.value for _, some in table.shown() for _, cells in some]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (([0.5, 0.7, 0.6], 1), ["", "best", "second"]),
        (([0.5, 0.7, 0.6], -1), ["best", "", "second"]),
        (([0.5, 0.7, 0.6], 0), ["", "", ""]),
        (([0.5, 0.7, 0.6], 1, False), ["", "best", ""]),
        # what reads the same is the same
        (([0.70001, 0.70002, 0.6], 1), ["best", "best", "second"]),
        (([0.5, Gap.MISSING, Gap.NO_OUTPUT], 1), ["best", "", ""]),
        # a reference row is neither marked nor in the way
        (([0.5, 0.9, 0.6], 1, True, 1), ["second", "", "best"]),
        (([0.09, 0.1, 1.0], -1), ["best", "second", ""]),
    ],
)
def test_best_and_second_best(arguments, expected):
    assert marks(*arguments) == expected
    assert set(expected) <= {mark.value for mark in Mark}


def test_sections_can_be_ranked_apart():
    rows = [(Row("a", (Spread(0.5, None, 1),)),), (Row("b", (Spread(0.7, None, 1),)),)]
    sections = tuple(Section(str(i), some) for i, some in enumerate(rows))
    for apart, expected in ((True, ["best", "best"]), (False, ["second", "best"])):
        table = Table("t", "t", "", "", (Column("x", "", 1),), sections, apart=apart)
        assert [c[0].mark.value for _, some in table.shown() for _, c in some] == expected
