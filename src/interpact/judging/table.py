"""Judged cases on a terminal."""

from __future__ import annotations

from rich.console import Console, Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from interpact.case.problems import visible
from interpact.case.rules import Changes
from interpact.case.states import Decision, State
from interpact.judging.explain import flips, settles
from interpact.judging.view import View

STYLES = {
    "critical": "bold red",
    "possible": "yellow",
    "not critical": "dim",
    "abstained": "cyan",
    "invalid": "magenta",
    Decision.YES: "bold green",
    Decision.NO: "bold red",
    Decision.INSUFFICIENT: "bold blue",
    State.SATISFIED: "green",
    State.NOT_SATISFIED: "red",
    State.UNKNOWN: "blue",
}


def print_view(view: View, console: Console, sets: bool) -> None:
    """Print a judged case; with `sets` the minimal flip sets instead of the judgments."""
    heading = Text.assemble(
        (visible(view.case.id), "bold"),
        "  ",
        visible(view.case.query),
        "  ",
        *_decided(view),
    )
    console.print(heading)
    if not sets:
        console.print(_judgments(view))
    _print_sets(console, view, sets)
    console.print()


def _decided(view: View) -> list[tuple[str, str]]:
    """The decision, which is only predicted where the states are; mode direct knows none."""
    if not view.states:
        return [("(asked outright)", "dim")]
    decision = (view.decision.words, STYLES[view.decision])
    return [decision] if view.chances is None else [decision, ("  (predicted)", "dim")]


def _judgments(view: View) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    table.add_column("evidence", overflow="fold", max_width=24)
    table.add_column("condition", overflow="fold", max_width=24)
    table.add_column("state", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    table.add_column("p", justify="right", no_wrap=True)
    table.add_column("why", overflow="fold", ratio=1)
    for judgment in view.judgments:
        state = None if judgment.condition is None else view.states.get(judgment.condition)
        table.add_row(
            Text(visible(judgment.evidence)),
            Text(visible(judgment.condition or "-")),
            Text(state.words if state else "", STYLES[state] if state else ""),
            Text(judgment.verdict, STYLES[judgment.verdict]),
            "" if judgment.probability is None else f"{judgment.probability:.2f}",
            Text(visible(judgment.witness)),
        )
    if not view.judgments:
        table.add_row("-", "-", "", "", "", Text("this case has no evidence to judge"))
    return table


def _print_sets(console: Console, view: View, all_of_them: bool) -> None:
    if view.states and view.decision is Decision.INSUFFICIENT:
        lines = [visible(settles(change)) for change in view.settles]
        _listing(console, "settled soonest by", lines, view.settles, all_of_them)
    if all_of_them:
        lines = [visible(flips(change)) for change in view.flips]
        _listing(console, "minimal flip sets", lines, view.flips, True)


def _listing(
    console: Console, title: str, lines: list[str], changes: Changes, everything: bool
) -> None:
    shown = lines if everything else lines[:3]
    more = len(lines) > len(shown) or not changes.complete
    body = Group(*map(Text, shown), *([Text("... and more", "dim")] if more else []))
    if not lines:
        body = Group(Text("none" if changes.complete else "none found in reasonable time"))
    console.print(Panel(body, title=title, title_align="left", border_style="dim", expand=False))
