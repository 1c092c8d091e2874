"""Documents say what is so."""

from __future__ import annotations

import importlib.util
import re
import shlex
from pathlib import Path

from typer.testing import CliRunner

from interpact.cli import app

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


def test_the_commands_of_the_walk_through_corpora_run(tmp_path, monkeypatch):
    for name in ("examples", "configs"):
        (tmp_path / name).symlink_to(HOME / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    page = (HOME / "docs" / "corpora.md").read_text()
    commands = re.findall(r"^    interpact (.+)$", page, re.MULTILINE)
    assert len(commands) >= 12
    for command in commands:
        result = CliRunner().invoke(app, shlex.split(command))
        assert result.exit_code == 0, (command, result.output, result.exception)
    assert (tmp_path / "coverage.pdf").exists()
    assert (tmp_path / "demo-export" / "pairs" / "train.parquet").exists()


def test_the_commands_of_the_readme_for_a_corpus_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (HOME / "README.md").read_text()
    commands = re.findall(
        r"^    interpact (import|split|construct|label|export) ([^#\n]+)", page, re.M
    )
    assert len(commands) == 5
    for verb, rest in commands:
        words = [str(p) for w in rest.split() for p in (HOME.glob(w) if "*" in w else [w])]
        result = CliRunner().invoke(app, [verb, *words])
        assert result.exit_code == 0, (verb, result.output, result.exception)
