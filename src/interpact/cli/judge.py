"""Commands that judge: judge, and calibrate, which makes a verifier out of weights."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from interpact.cli.cases import Output, Paths, input_progress, opened
from interpact.cli.show import say
from interpact.errors import InterPactError

if TYPE_CHECKING:
    from interpact.case.files import Entry
    from interpact.case.states import State
    from interpact.judging.batch import Judge
    from interpact.judging.engines.endpoint import EndpointEngine
    from interpact.judging.output import Rows
    from interpact.judging.verifier import Verifier
    from interpact.judging.view import View

    How = Callable[[Iterable[Entry]], Iterator[tuple[Entry, View | InterPactError]]]


class Format(StrEnum):
    """How judgments are written."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"
    HTML = "html"
    PARQUET = "parquet"


class Mode(StrEnum):
    """How evidence is judged."""

    AUTO = "auto"
    EXACT = "exact"
    PROPAGATE = "propagate"
    INTERVENE = "intervene"
    DIRECT = "direct"


class Engine(StrEnum):
    """Who answers the verifier's questions."""

    LOCAL = "local"
    ENDPOINT = "endpoint"
    RAY = "ray"


Chosen = Annotated[
    Path | None,
    typer.Option(
        "--verifier",
        metavar="FOLDER",
        help="A verifier, training run or adapter; else the shipped.",
    ),
]
WhichEngine = Annotated[
    Engine,
    typer.Option(help="local: this machine; endpoint: a model server; ray: a cluster."),
]
Model = Annotated[str | None, typer.Option(help="The model that an endpoint is asked for.")]
BaseUrl = Annotated[str | None, typer.Option(help="The OpenAI-compatible endpoint.")]
Parameters = Annotated[
    str | None,
    typer.Option(metavar="JSON", help="Sent to the endpoint, such as '{\"max_tokens\": 5}'."),
]
Slots = Annotated[int, typer.Option(min=1, help="Requests to an endpoint at a time.")]
Answers = Annotated[
    Path | None, typer.Option(help="Where the endpoint's answers are kept, to be asked only once.")
]


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    app.command("judge")(judge)
    app.command("calibrate")(calibrate)


def judge(
    paths: Paths,
    mode: Annotated[
        Mode,
        typer.Option(
            help="exact: from given states and the rule. propagate, intervene, direct: by a verifier. "
            "auto: exact where states are given, else the verifier's best."
        ),
    ] = Mode.AUTO,
    format: Annotated[
        Format | None,
        typer.Option(help="How to write the judgments; else as the output file's ending says."),
    ] = None,
    output: Output = None,
    set_: Annotated[
        list[str],
        typer.Option("--set", metavar="CONDITION=STATE", help="What if: set a state; repeatable."),
    ] = [],  # noqa: B006 - typer copies it
    sets: Annotated[
        bool,
        typer.Option(
            "--sets",
            help="Show the minimal flip sets instead of the judgments (a page shows both).",
        ),
    ] = False,
    keep_going: Annotated[
        bool,
        typer.Option("--keep-going", help="Report bad cases and go on; exit code 2 at the end."),
    ] = False,
    verifier: Chosen = None,
    risk: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Abstain where it takes more to keep the share of wrong judgments below this.",
        ),
    ] = None,
    engine: WhichEngine = Engine.LOCAL,
    model: Model = None,
    base_url: BaseUrl = None,
    parameters: Parameters = None,
    slots: Slots = 16,
    answers: Answers = None,
    workers: Annotated[int, typer.Option(min=1, help="Workers of a Ray cluster.")] = 2,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Write case by case beside --output (.jsonl, .parquet), and go on after a kill.",
        ),
    ] = False,
    or_exact: Annotated[
        bool,
        typer.Option(
            "--or-exact", help="Where the verifier cannot be had, judge from given states instead."
        ),
    ] = False,
) -> None:
    """Tell for every evidence unit whether the decision hangs on it, and why."""
    from interpact.case.files import entries
    from interpact.judging.batch import Judge, judged
    from interpact.judging.output import judgment_rows, set_rows

    if sets and mode is Mode.DIRECT:
        raise InterPactError("--sets needs states, which mode direct has none of; use another mode")
    form = format or _form_of(output)
    states = _changes(set_)
    with ExitStack() as stack:
        load = loader(stack, verifier, engine, model, base_url, parameters, slots, answers)
        job = Judge(load, mode.value, states, risk)
        if or_exact:
            _or_exact(job)
        how: How = partial(judged, judge=job)
        watch = stack.enter_context(input_progress(paths))
        stream = _entries(paths, lambda path: entries(path, watch))
        rows = set_rows if sets else judgment_rows
        bad = [0]
        if engine is Engine.RAY:
            how = _on_ray(job, verifier, workers)
        if resume:
            _resumable(stream, how, rows, form, output, keep_going, bad)
        else:
            views = _sound(how(stream), keep_going, bad)
            _write(views, rows, form, output, sets)
    if bad[0]:
        say(f"{bad[0]:,} bad {'case was' if bad[0] == 1 else 'cases were'} left out")
        raise typer.Exit(2)


def _form_of(output: Path | None) -> Format:
    endings = {".ndjson": Format.JSONL, ".htm": Format.HTML}
    endings |= {f".{form}": form for form in Format if form is not Format.TABLE}
    return endings.get(output.suffix.lower(), Format.TABLE) if output else Format.TABLE


def _entries(paths: list[Path], read: Callable[[Path], Iterable[Entry]]) -> Iterator[Entry]:
    """All entries of all files; an empty file is a bad entry."""
    from interpact.case.files import Entry
    from interpact.case.problems import Problem

    for path in paths:
        empty = True
        for entry in read(path):
            empty = False
            yield entry
        if empty:
            yield Entry(
                str(path), None, None, [Problem(str(path), None, "", "no case in this file")]
            )


def loader(
    stack: ExitStack,
    verifier: Path | None,
    engine: Engine,
    model: str | None,
    base_url: str | None,
    parameters: str | None,
    slots: int,
    answers: Path | None,
) -> Callable[[], Verifier]:
    """Gives the verifier that options describe: of a folder, or a model server with its settings."""

    def load() -> Verifier:
        from interpact.judging.settings import JudgeSettings
        from interpact.judging.verifier import Verifier, located

        if engine is not Engine.ENDPOINT:
            return Verifier.load(verifier)
        if model is None:
            raise InterPactError("--engine endpoint needs --model NAME, the model to ask for")
        settings = JudgeSettings() if verifier is None else located(verifier)[1]
        asked = endpoint(stack, model, base_url, parameters, slots, answers)
        return Verifier(asked, settings, model)

    return load


def endpoint(
    stack: ExitStack,
    model: str,
    base_url: str | None,
    parameters: str | None,
    slots: int,
    answers: Path | None,
) -> EndpointEngine:
    """An engine that asks a model server, open as long as the stack."""
    import json

    from interpact.construct.endpoint import OPENAI
    from interpact.judging.engines.endpoint import EndpointEngine

    try:
        sent = json.loads(parameters or "{}")
        if not isinstance(sent, dict):
            raise ValueError("no object")
    except ValueError as error:
        raise InterPactError(
            f"--parameters: {error}; write a JSON object, such as '{{\"max_tokens\": 5}}'"
        ) from None
    return stack.enter_context(
        EndpointEngine(
            model,
            base_url=base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI,
            cache=answers or ":memory:",
            parameters=sent,
            slots=slots,
        )
    )


def _or_exact(job: Judge) -> None:
    """Try to load the verifier and its weights; without them the job is mode exact, and says so."""
    from interpact.judging.judgment import EXACT

    try:
        job.verifier.ready()
    except (InterPactError, ImportError, OSError) as error:
        say(f"{error}\nSo the given states are used instead of predicted ones (mode exact).")
        job.mode, job.risk = EXACT, None


def _on_ray(job: Judge, verifier: Path | None, workers: int) -> How:
    from interpact.judging.engines.cluster import Job, judged_on_ray

    return partial(
        judged_on_ray, job=Job(verifier, job.mode, dict(job.states), job.risk), workers=workers
    )


def _sound(
    outcomes: Iterable[tuple[Entry, View | InterPactError]], keep_going: bool, bad: list[int]
) -> Iterator[View]:
    """The views among the outcomes; what is bad ends the run, or is told and counted."""
    from interpact.judging.view import View

    for _, outcome in outcomes:
        if isinstance(outcome, View):
            yield outcome
        else:
            _tell(outcome, keep_going, bad)


def _tell(problem: InterPactError, keep_going: bool, bad: list[int]) -> None:
    if not keep_going:
        raise InterPactError(str(problem)) from None
    bad[0] += 1
    say(str(problem))


def _write(
    views: Iterator[View], rows: Rows, form: Format, output: Path | None, sets: bool
) -> None:
    from interpact.judging.output import (
        COLUMNS,
        write_csv,
        write_json,
        write_json_lines,
        write_parquet,
    )

    if form is Format.PARQUET:
        from interpact.case.files import replacing

        if output is None:
            raise InterPactError("Parquet needs a file to go to: --output FILE.parquet")
        with replacing(output) as part:
            write_parquet((row for view in views for row in rows(view)), COLUMNS[rows], part)
        return
    with opened(output) as out:
        if form is Format.TABLE:
            _print_table(views, out, sets)
        elif form is Format.HTML:
            from interpact.judging.page import write_page

            write_page(views, out)
        elif form is Format.JSON:
            write_json(views, rows, out)
        elif form is Format.CSV:
            write_csv(views, rows, out)
        else:
            write_json_lines(views, rows, out)


def _resumable(
    stream: Iterator[Entry],
    how: How,
    rows: Rows,
    form: Format,
    output: Path | None,
    keep_going: bool,
    bad: list[int],
) -> None:
    """Write rows through a journal; what an earlier run finished is not judged again."""
    from interpact.case.files import replacing
    from interpact.judging.batch import Done, Journal, after
    from interpact.judging.output import COLUMNS, write_parquet
    from interpact.judging.view import View

    if output is None or form not in (Format.JSONL, Format.PARQUET):
        raise InterPactError("--resume needs --output FILE.jsonl or FILE.parquet")
    journal = Journal(output)
    if journal.finished:
        say(f"{output}: is finished; delete it to judge anew")
        return
    done = journal.done()
    bad[0] += sum(case.bad for case in done)
    if done:
        say(f"{len(done):,} cases were judged before the interruption")

    def finished() -> Iterator[tuple[Done, list[dict[str, Any]]]]:
        for entry, outcome in how(after(stream, done, journal.path)):
            good = isinstance(outcome, View)
            if not good:
                _tell(outcome, keep_going, bad)
            name = None if entry.case is None else entry.case.id
            yield Done(name, not good), list(rows(outcome)) if good else []

    journal.write(finished())
    if form is Format.PARQUET:
        with replacing(output) as part:
            write_parquet(journal.rows(), COLUMNS[rows], part)
        journal.drop()
    else:
        journal.finish()


def _changes(assignments: list[str]) -> dict[str, State]:
    from interpact.case.states import State

    found: dict[str, State] = {}
    for assignment in assignments:
        condition, equals, state = assignment.rpartition("=")
        try:
            if not equals or not condition:
                raise ValueError
            found[condition] = State(state)
        except ValueError:
            raise InterPactError(
                f"--set {assignment}: write CONDITION=STATE, STATE one of {', '.join(State)}"
            ) from None
    return found


def _print_table(views: Iterator[View], out: TextIO, sets: bool) -> None:
    from rich.console import Console

    from interpact.judging.table import print_view

    console = Console(file=out, highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = 120
    for view in views:
        print_view(view, console, sets)


def calibrate(
    source: Annotated[
        Path,
        typer.Argument(metavar="RUN_OR_ADAPTER", help="A finished training run, or an adapter."),
    ],
    corpus: Annotated[
        Path, typer.Option(help="A corpus folder with training pairs and labelled dev roots.")
    ],
    out: Annotated[Path, typer.Option(help="The verifier folder to write.")],
    backbone: Annotated[
        str | None, typer.Option(help="The model under a bare adapter, such as smollm2.")
    ] = None,
    state_prompt: Annotated[
        str | None,
        typer.Option(help="How the adapter was taught to tell states: own_state or after_state."),
    ] = None,
    modes: Annotated[
        str, typer.Option(help="The modes to fit, in a list.")
    ] = "propagate,intervene,direct",
    notes: Annotated[
        Path | None, typer.Option(help="Text to add to the model card, such as how it was trained.")
    ] = None,
) -> None:
    """Make a verifier folder: weights, judge.json fitted on training pairs and dev roots, model card.

    The test split is never read.
    """
    from interpact.corpus.store import Corpus
    from interpact.judging.fit import fit
    from interpact.judging.folder import write_adapters, write_card
    from interpact.judging.settings import StatePrompt
    from interpact.judging.verifier import local_engine, located

    folder, settings = located(source)
    changes = {"backbone": backbone, "state_prompt": state_prompt and StatePrompt(state_prompt)}
    settings = settings.model_copy(update={k: v for k, v in changes.items() if v is not None})
    data = Corpus.read(corpus)
    settings = write_adapters(folder, settings, out)
    found = fit(local_engine(out, settings), data, modes.split(","), say)
    settings = settings.model_copy(
        update={
            "states": found.states,
            "reach": found.reach,
            "modes": found.modes,
            "mode": found.winner,
            "corpus": found.counts,
        }
    )
    settings.write(out)
    write_card(out, settings, "" if notes is None else f"\n{notes.read_text(encoding='utf-8')}\n")
    print("| mode | accuracy | balanced accuracy | macro F1 | invalid | ECE |")
    print("|---|---:|---:|---:|---:|---:|")
    for mode, fitted in found.modes.items():
        names = ("accuracy", "balanced_accuracy", "macro_f1", "invalid", "ece")
        cells = (fitted.dev.get(name) for name in names)
        told = ("-" if cell is None else f"{100 * cell:.1f}" for cell in cells)
        print(f"| {mode} | {' | '.join(told)} |")
    say(f"{out}: a verifier of mode {settings.mode}")
