"""Documents say what is so."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

HOME = Path(__file__).parents[1]


def test_the_command_reference_is_current():
    spec = importlib.util.spec_from_file_location("cli_docs", HOME / "tools" / "cli_docs.py")
    assert spec and spec.loader
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.markdown() == (HOME / "docs" / "cli.md").read_text(), "run `make docs`"


def test_links_between_documents_lead_somewhere():
    for page in [*HOME.glob("*.md"), *HOME.glob("docs/**/*.md")]:
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_functions_named_in_the_method_notes_exist():
    text = (HOME / "docs" / "method.md").read_text()
    named = re.findall(r"`(interpact\.[\w.]+)`", text)
    assert len(named) >= 10
    for name in named:
        parts = name.split(".")
        for length in range(len(parts), 0, -1):
            try:
                found = importlib.import_module(".".join(parts[:length]))
            except ModuleNotFoundError:
                continue
            for part in parts[length:]:
                found = getattr(found, part)
            break


def test_the_file_map_names_every_folder():
    readme = (HOME / "README.md").read_text()
    for folder in sorted((HOME / "src" / "interpact").iterdir()):
        if folder.is_dir() and not folder.name.startswith("__"):
            assert f"{folder.name}/" in readme, folder.name
