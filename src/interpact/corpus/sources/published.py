"""Files of a published data set: one by one, in a folder, or in the official archive."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Sequence
from lzma import LZMAError
from pathlib import Path
from typing import TypeVar

from interpact.case.case import Location
from interpact.case.formats import Document
from interpact.case.problems import InputProblems, Problem, describe
from interpact.errors import InterPactError

T = TypeVar("T")


def read_all(
    paths: Sequence[Path],
    wanted: Callable[[str], bool],
    read: Callable[[str, bytes], T],
    published: str,
) -> list[T]:
    """What `read` makes of every file, and of every wanted one in folders and archives.

    The problems of all files are told at once; `published` says where the data set is to be had.
    """
    if not paths:
        raise InterPactError(f"no file to import; {published}")
    found: list[T] = []
    problems: list[Problem] = []
    for path in paths:
        try:
            for name, data in _parts(Path(path), wanted, published):
                try:
                    found.append(read(name, data))
                except InputProblems as error:
                    problems += error.problems
        except InputProblems as error:
            problems += error.problems
    if problems:
        raise InputProblems(problems)
    return found


def _parts(path: Path, wanted: Callable[[str], bool], published: str) -> list[tuple[str, bytes]]:
    try:
        if path.is_dir():
            files = sorted(f for f in path.rglob("*") if f.is_file() and wanted(f.name))
            if not files:
                raise failed(path, f"this folder has none of the data set's files; {published}")
            return [(str(file), file.read_bytes()) for file in files]
        if path.suffix.lower() != ".zip":
            return [(str(path), path.read_bytes())]
        with zipfile.ZipFile(path) as archive:
            # Archives packed on a Mac hold a shadow of every file under __MACOSX.
            names = sorted(
                name
                for name in archive.namelist()
                if wanted(name.rsplit("/", 1)[-1]) and not name.startswith("__MACOSX/")
            )
            if not names:
                raise failed(path, f"this archive has none of the data set's files; {published}")
            return [(f"{path}/{name}", archive.read(name)) for name in names]
    except FileNotFoundError:
        raise failed(path, f"there is no such file or folder; {published}") from None
    except OSError as error:
        raise failed(path, f"cannot be read: {error.strerror or error}") from None
    except (zipfile.BadZipFile, zlib.error, LZMAError, EOFError, RuntimeError, ValueError) as error:
        what = f"not a ZIP archive that can be read ({error}); download it again"
        raise failed(path, what) from None


def failed(path: Path | str, what: str, line: int | None = None) -> InputProblems:
    """One problem of a whole file."""
    return InputProblems([Problem(str(path), line, "", what)])


def located(name: str, document: Document, wrong: Sequence[tuple[Location, str]]) -> list[Problem]:
    """Problems at places of a document."""
    return [
        Problem(name, document.line_of(where), describe(where, document.data), what)
        for where, what in wrong
    ]
