"""The corpus of a reproduction: given, cut down to a few roots, or constructed first."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections import Counter
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

from interpact.case.files import replacing
from interpact.corpus.store import CASES, CRITICALITY, PAIRS, ROOTS, SAMPLE, Corpus
from interpact.errors import InterPactError

FILES = (CASES, ROOTS, PAIRS, CRITICALITY)


def prepared(
    given: str, construct: Path | None, roots: int | None, out: Path, say: Callable[[str], None]
) -> Path:
    """The folder of the corpus; one that is cut down or constructed lies beside the runs."""
    if not given:
        raise InterPactError("corpus: name a folder with --corpus or in the settings, or `sample`")
    source = SAMPLE if given == "sample" else Path(given)
    if construct is None and roots is None:
        return source
    folder = out / "corpus"
    if not (folder / CASES).exists():
        _copy(source, folder, roots)
    if construct is not None:
        asyncio.run(_construct(folder, construct, say))
    return folder


def _copy(source: Path, folder: Path, limit: int | None) -> None:
    """Copy a corpus, with the first roots of each split and what belongs to them."""
    kept: set[str] = set()
    cases: set[str] = set()
    counts: Counter[str] = Counter()
    for root in _lines(source / ROOTS):
        counts[root.get("split", "")] += 1
        if limit is None or counts[root.get("split", "")] <= limit:
            kept.add(root["id"])
            cases.add(root["case"])
    for name, key, among in (
        (ROOTS, "id", kept),
        (PAIRS, "root", kept),
        (CRITICALITY, "root", kept),
        (CASES, "id", cases),  # last: with it the copy is whole
    ):
        if (source / name).exists():
            with replacing(folder / name) as part, part.open("w", encoding="utf-8") as file:
                for record in _lines(source / name):
                    if record[key] in among:
                        file.write(json.dumps(record, ensure_ascii=False) + "\n")
    if (source / "README.md").exists():
        shutil.copy(source / "README.md", folder)


def _lines(path: Path):
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)


async def _construct(folder: Path, settings: Path, say: Callable[[str], None]) -> None:
    """Make the pairs, and label the roots from them."""
    from interpact.construct.config import ConstructConfig, makers, open_endpoint
    from interpact.construct.run import construct
    from interpact.corpus.labels import label, write_labelling

    config = ConstructConfig.read(settings)
    async with AsyncExitStack() as stack:
        endpoint = await open_endpoint(stack, config, folder, None)
        made = makers(config, Corpus.read(folder), endpoint)
        await construct(folder, made, at_once=3 * config.slots)
    corpus = Corpus.read(folder)
    write_labelling(folder, label(corpus))
    say(f"{folder}: {len(corpus.pairs):,} pairs")
