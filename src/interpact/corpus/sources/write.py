"""An import as a corpus folder."""

from __future__ import annotations

from pathlib import Path

from interpact.case.files import replacing, write_cases
from interpact.corpus.sources.ledger import Imported
from interpact.corpus.store import CASES, CRITICALITY, PAIRS, ROOTS, write_records
from interpact.errors import InterPactError


def write_import(folder: Path, imported: Imported, title: str, provenance: str) -> None:
    """Write cases, roots and a README with the ledger; a folder that holds pairs is left alone."""
    for name in (PAIRS, CRITICALITY):
        if (folder / name).exists():
            raise InterPactError(
                f"{folder / name}: this corpus holds work on other cases; import into a new folder"
            )
    write_cases(folder / CASES, imported.cases)
    write_records(folder / ROOTS, imported.roots)
    page = (
        f"# {title}\n\n{provenance}\n\n{len(imported.cases):,} cases, {len(imported.roots):,} roots. "
        f"What was kept and dropped:\n\n{imported.ledger.markdown()}"
    )
    with replacing(folder / "README.md") as temporary:
        temporary.write_text(page, encoding="utf-8")
