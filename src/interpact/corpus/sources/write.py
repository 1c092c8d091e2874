"""An import as a corpus folder."""

from __future__ import annotations

from pathlib import Path

from interpact.case.files import replacing, write_cases
from interpact.corpus.sources.ledger import Imported
from interpact.corpus.store import CASES, CRITICALITY, PAIRS, ROOTS, write_records
from interpact.errors import InterPactError


def write_import(folder: Path, imported: Imported, title: str, provenance: str) -> None:
    """Write cases, roots and a README with the ledger.

    A folder that holds pairs, or cases that no such import has written, is left alone; so is any
    folder where there is no case to write.
    """
    if not imported.cases:
        counted = f"\n\n{imported.ledger.markdown()}" if imported.ledger.counts else ""
        raise InterPactError(
            f"no case came of these files, so nothing is written{counted.rstrip()}"
        )
    for name in (PAIRS, CRITICALITY):
        if (folder / name).exists():
            raise InterPactError(
                f"{folder / name}: this corpus holds work on other cases; import into a new folder"
            )
    if (folder / CASES).exists() and not _written_as(folder / "README.md", title):
        raise InterPactError(
            f"{folder / CASES}: there are other cases already; import into a new folder"
        )
    write_cases(folder / CASES, imported.cases)
    write_records(folder / ROOTS, imported.roots)
    page = (
        f"# {title}\n\n{provenance}\n\n{len(imported.cases):,} cases, {len(imported.roots):,} roots. "
        f"What was kept and dropped:\n\n{imported.ledger.markdown()}"
    )
    with replacing(folder / "README.md") as temporary:
        temporary.write_text(page, encoding="utf-8")


def _written_as(readme: Path, title: str) -> bool:
    return readme.exists() and readme.read_text(encoding="utf-8").startswith(f"# {title}\n")
