"""Commands that make corpora: import, synth, split, label, coverage, export."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from interpact.cli.show import count, progress_bar, say

if TYPE_CHECKING:
    from interpact.corpus.sources.ledger import Imported

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="A corpus folder.")]
Out = Annotated[Path, typer.Option("--out", "-o", help="The folder to write.")]
Files = Annotated[
    list[Path],
    typer.Argument(metavar="FILE", help="Files of the data set, folders, or its .zip."),
]

imports = typer.Typer(no_args_is_help=True, help="Turn a public data set into a corpus.")


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    app.add_typer(imports, name="import")
    app.command("export")(export)


@imports.command("contractnli")
def import_contractnli(
    files: Files,
    out: Out,
    subsets: Annotated[
        int, typer.Option(help="Random subsets of 2 to 4 hypotheses for each contract.")
    ] = 4,
    seed: Annotated[int, typer.Option(help="Seed of the subsets.")] = 0,
    policies: Annotated[
        Path | None,
        typer.Option(help="Instead: a YAML or JSON list of {name, hypotheses, rule, query}."),
    ] = None,
) -> None:
    """ContractNLI: contracts to cases by conjunction over subsets of hypotheses."""
    from interpact.corpus.sources.contractnli import PUBLISHED, import_contractnli
    from interpact.corpus.sources.contractnli_policies import NamedPolicies, RandomSubsets
    from interpact.corpus.sources.ledger import Ledger
    from interpact.corpus.sources.write import write_import

    policy = RandomSubsets(subsets, seed) if policies is None else NamedPolicies.read(policies)
    imported = import_contractnli(files, policy, Ledger())
    how = (
        f"{subsets} random subsets a contract, seed {seed}"
        if policies is None
        else "named policies"
    )
    write_import(out, imported, "ContractNLI cases", f"{PUBLISHED}. Policy: {how}.")
    _show(imported, out)


@imports.command("sharc")
def import_sharc(
    files: Files,
    out: Out,
    negative_questions: Annotated[
        Path | None,
        typer.Option(help="The data set's list of utterance ids with a foreign question."),
    ] = None,
) -> None:
    """ShARC: dialogue states to cases under the rule that reproduces every answer of a rule tree."""
    from interpact.corpus.sources.ledger import Ledger
    from interpact.corpus.sources.sharc import import_sharc
    from interpact.corpus.sources.sharc_utterances import PUBLISHED
    from interpact.corpus.sources.write import write_import

    imported = import_sharc(files, Ledger(), negative_questions)
    write_import(out, imported, "ShARC cases", f"{PUBLISHED}.")
    _show(imported, out)


def export(folder: Folder, out: Out) -> None:
    """Write Parquet tables with derived columns and a data card, as Hugging Face datasets loads them."""
    from interpact.corpus.export import export

    with progress_bar("rows") as watch:
        export(folder, out, watch)
    say(f"wrote {out}")


def _show(imported: Imported, out: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    for name in ("what", "fate", "why"):
        table.add_column(name)
    table.add_column("count", justify="right")
    for noun, fate, reason, number in imported.ledger.rows():
        table.add_row(noun, fate, reason, f"{number:,}")
    Console().print(table)
    told = f"{count(len(imported.cases), 'case')}, {count(len(imported.roots), 'root')}"
    say(f"{told}; the table is in {out / 'README.md'} too")
