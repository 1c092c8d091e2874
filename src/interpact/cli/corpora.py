"""Commands that make corpora: import, synth, split, label, coverage, export."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from interpact.cli.show import count, progress_bar, say
from interpact.errors import InterPactError

if TYPE_CHECKING:
    from interpact.corpus.sources.ledger import Imported

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="A corpus folder.")]
Out = Annotated[Path, typer.Option("--out", "-o", help="The folder to write.")]
Files = Annotated[
    list[Path],
    typer.Argument(metavar="FILE", help="Files of the data set, folders, or its .zip."),
]

imports = typer.Typer(
    no_args_is_help=True, help="Turn a public data set, or your own case files, into a corpus."
)


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    app.add_typer(imports, name="import")
    app.command("sample")(sample)
    app.command("synth")(synth)
    app.command("split")(split)
    app.command("label")(label)
    app.command("coverage")(coverage)
    app.command("export")(export)


@imports.command("cases")
def import_own(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE", help="Case files with labels, or corpus folders."),
    ],
    out: Out,
) -> None:
    """Your own case files: every evidence unit that bears on exactly one condition is a root."""
    from interpact.corpus.sources.ledger import Ledger
    from interpact.corpus.sources.own import import_cases
    from interpact.corpus.sources.write import write_import

    imported = import_cases(files, Ledger())
    read = ", ".join(path.name for path in files)
    write_import(out, imported, "Own cases", f"Imported from {read}.")
    _show(imported, out)


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


def sample(out: Out) -> None:
    """Copy the hand-written sample corpus that comes with InterPact."""
    import shutil

    from interpact.corpus.store import SAMPLE

    _refuse_full(out)
    shutil.copytree(SAMPLE, out, dirs_exist_ok=True)
    say(f"wrote {out}")


def synth(
    out: Out,
    cases: Annotated[int, typer.Option(help="How many cases; each has about seven pairs.")] = 100,
    seed: Annotated[int, typer.Option(help="The same seed gives the same cases.")] = 0,
) -> None:
    """Write a synthetic corpus whose states are known by construction, of any size."""
    from interpact.corpus.sources.synthetic import write_synthetic

    _refuse_full(out)
    with progress_bar("cases", cases, least=5_000) as watch:
        counts = write_synthetic(out, cases, seed, watch)
    print(counts.markdown(), end="")
    say(f"wrote {out}")


def split(
    folder: Folder,
    ratios: Annotated[
        str, typer.Option(help="Shares of train, dev and test.", metavar="A,B,C")
    ] = "60,20,20",
    seed: Annotated[int, typer.Option(help="Seed of the assignment.")] = 0,
    threshold: Annotated[
        float, typer.Option(help="Jaccard similarity from which evidence is a near-duplicate.")
    ] = 0.8,
    check: Annotated[
        bool, typer.Option("--check", help="Only look for related roots in different splits.")
    ] = False,
) -> None:
    """Give every root the split of its component: same case, document, rule family or text."""
    from interpact.corpus.leaks import leaks
    from interpact.corpus.split import split as assign

    if check:
        found = leaks(folder, threshold)
        for leak in found:
            say(str(leak))
        say(count(len(found), "leak"))
        if found:
            raise typer.Exit(2)
        return
    try:
        shares = [float(share) for share in ratios.split(",")]
    except ValueError:
        raise InterPactError(f"--ratios {ratios}: write three numbers, such as 60,20,20") from None
    print(assign(folder, shares, seed, threshold).markdown(), end="")


def label(
    folder: Folder,
    answers: Annotated[
        Path | None,
        typer.Option(help='Reviewed roots to merge in: lines {"root", "critical", "reason"}.'),
    ] = None,
) -> None:
    """Label roots critical or not where the data decides; queue the rest for review."""
    from interpact.corpus.labels import REVIEW, merge, read_answers, write_labelling
    from interpact.corpus.labels import label as label_roots
    from interpact.corpus.store import Corpus

    corpus = Corpus.read(folder)
    corpus.need_roots(folder)
    found = label_roots(corpus)
    if answers is not None:
        found = merge(found, read_answers(answers), str(answers))
    write_labelling(folder, found)
    print("| basis | critical | roots |\n|---|---|---:|")
    for (basis, critical), number in sorted(found.counts().items()):
        print(f"| {basis} | {'yes' if critical else 'no'} | {number:,} |")
    for record in found.overruled:
        say(f"{record.root}: the review said otherwise than the data says now; the data counts")
    say(f"{count(len(found.queue), 'root')} left to review in {folder / REVIEW}")


def coverage(
    folder: Folder,
    split: Annotated[str, typer.Option(help="Whose roots: train, dev or test.")] = "train",
    figure: Annotated[
        Path | None, typer.Option(help="Also draw the figure (.pdf, .png or .svg).")
    ] = None,
) -> None:
    """Show how much the complete mappings add to what cases and pairs show."""
    from interpact.corpus.coverage import coverage as cover
    from interpact.corpus.coverage import write_figure
    from interpact.corpus.pairs import Split
    from interpact.corpus.store import Corpus

    if split not in list(Split):
        raise InterPactError(f"--split {split}: use one of {', '.join(Split)}")
    found = cover(Corpus.read(folder), Split(split))
    print(found.markdown(), end="")
    if figure is not None:
        write_figure(found, figure)
        say(f"drew {figure}")


def export(folder: Folder, out: Out) -> None:
    """Write Parquet tables with derived columns and a data card, as Hugging Face datasets loads them."""
    from interpact.corpus.export import export

    with progress_bar("rows") as watch:
        export(folder, out, watch)
    say(f"wrote {out}")


def _refuse_full(out: Path) -> None:
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InterPactError(f"{out}: this folder is not empty; give a new one")


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
