"""The command that makes a verifier out of weights: calibrate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from interpact.cli.show import say


def add_to(app: typer.Typer) -> None:
    """Add this command."""
    app.command("calibrate")(calibrate)


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
