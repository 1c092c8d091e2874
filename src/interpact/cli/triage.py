"""The command that spends checks where they avert most errors: triage."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interpact.cli.cases import Output, Paths, opened
from interpact.cli.judge import (
    Answers,
    BaseUrl,
    Chosen,
    Engine,
    Model,
    Parameters,
    Slots,
    endpoint,
    loader,
)
from interpact.cli.show import count, say
from interpact.errors import InterPactError

if TYPE_CHECKING:
    from interpact.case.case import Case
    from interpact.judging.propagate import Reading
    from interpact.judging.triage import Checked


class Asked(StrEnum):
    """Who predicts the states."""

    LOCAL = "local"
    ENDPOINT = "endpoint"


def add_to(app: typer.Typer) -> None:
    """Add this command."""
    app.command("triage")(triage)


def triage(
    paths: Paths,
    budget: Annotated[int, typer.Option(min=1, help="How many conditions can be checked.")] = 50,
    output: Output = None,
    verifier: Chosen = None,
    engine: Annotated[Asked, typer.Option(help="Who predicts the states.")] = Asked.LOCAL,
    model: Model = None,
    base_url: BaseUrl = None,
    parameters: Parameters = None,
    slots: Slots = 16,
    answers: Answers = None,
    checker: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="Have the checks made by this model at an endpoint."),
    ] = None,
    checker_url: Annotated[
        str | None, typer.Option(help="The checker's OpenAI-compatible endpoint.")
    ] = None,
    curve: Annotated[
        Path | None,
        typer.Option(help="With labelled cases: draw what checking buys (.png, .pdf, .svg)."),
    ] = None,
) -> None:
    """Tell which conditions to check first, by the decision errors that a check averts.

    Predicted states alone are looked at; labels serve the curve, and to say how decisions came out.
    """
    from interpact.case.files import read_cases
    from interpact.judging.triage import have_checked, plan, row

    cases = [case for path in paths for case in read_cases(path)]
    with ExitStack() as stack:
        load = loader(stack, verifier, Engine(engine), model, base_url, parameters, slots, answers)
        readings = load().read([case.text_only() for case in cases])
        if curve is not None:
            _curve(cases, readings, curve)
        found = plan(readings, budget)
        rows: Sequence[dict[str, Any]] = [row(readings, c, i) for i, c in enumerate(found, 1)]
        if checker is not None:
            asked = endpoint(stack, checker, checker_url, parameters, slots, answers)
            checked, after = have_checked(readings, asked, budget, slots)
            rows = [{**row(readings, c.check, i), **_outcome(c)} for i, c in enumerate(checked, 1)]
            _tell(cases, readings, after, checked)
    _write(rows, output)


def _outcome(checked: Checked) -> dict[str, Any]:
    from interpact.judging.settings import likeliest

    after = checked.after
    return {
        "checked": None if after is None else likeliest(after),
        "checked_probability": None if after is None else max(after),
        "decision_before": checked.decision_before,
        "decision_after": checked.decision_after,
    }


def _tell(
    cases: Sequence[Case],
    before: Sequence[Reading],
    after: Sequence[Reading],
    checked: Sequence[Checked],
) -> None:
    from interpact.case.case import LabelledCase
    from interpact.judging.triage import decided

    turned = sum(c.decision_before is not c.decision_after for c in checked)
    unusable = sum(c.after is None for c in checked)
    say(
        f"{count(len(checked), 'check')}, {unusable:,} without a usable answer; "
        f"{count(turned, 'decision')} turned"
    )
    known = [i for i, case in enumerate(cases) if isinstance(case, LabelledCase)]
    if known:
        shares = []
        for readings in (before, after):
            right = sum(decided(readings[i]) is cases[i].labels.decision for i in known)  # type: ignore[attr-defined]
            shares.append(f"{100 * right / len(known):.1f} %")
        say(f"decisions right before {shares[0]}, after {shares[1]} of {len(known):,} labelled")


def _curve(cases: Sequence[Case], readings: Sequence[Reading], path: Path) -> None:
    from interpact.case.case import LabelledCase
    from interpact.judging.triage_curve import curves

    pairs = [
        (case, reading)
        for case, reading in zip(cases, readings, strict=True)
        if isinstance(case, LabelledCase) and not reading.missing
    ]
    if not pairs:
        raise InterPactError("--curve needs cases with labels, to know what a check would say")
    found = curves([case for case, _ in pairs], [reading for _, reading in pairs])
    found.draw(path)
    print(found.markdown())
    say(f"drew {path}")


def _write(rows: Sequence[dict[str, Any]], output: Path | None) -> None:
    import csv
    import json

    with opened(output) as out:
        ending = "" if output is None else output.suffix.lower()
        if ending in (".jsonl", ".ndjson"):
            for row in rows:
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
        elif ending == ".json":
            out.write(json.dumps(list(rows), ensure_ascii=False, indent=1) + "\n")
        elif ending == ".csv":
            from interpact.judging.output import cell

            writer = csv.writer(out, lineterminator="\n")
            writer.writerow(list(rows[0]) if rows else [])
            writer.writerows([[cell(value) for value in row.values()] for row in rows])
        else:
            _table(rows, out)


def _table(rows: Sequence[dict[str, Any]], out: Any) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from interpact.case.problems import visible

    console = Console(file=out, highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = 120
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    for name in rows[0] if rows else ():
        table.add_column(name.replace("_", " "), overflow="fold")
    for row in rows:
        table.add_row(*(Text(visible(_shown(value))) for value in row.values()))
    console.print(table)


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, list):
        return ", ".join(map(str, value))  # type: ignore[reportUnknownArgumentType]
    return "-" if value is None else str(value).replace("_", " ")
