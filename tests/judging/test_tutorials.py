"""Every command and every block of Python in the tutorials runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from interpact.cli import app
from interpact.judging.verifier import shipped

HOME = Path(__file__).parents[2]


@pytest.mark.parametrize(("who", "least"), [("reviewer", 7), ("researcher", 5), ("engineer", 3)])
def test_the_commands_of_a_tutorial_run(who, least, calibrated, tmp_path, monkeypatch):
    (tmp_path / "examples").symlink_to(HOME / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("INTERPACT_VERIFIER", str(calibrated[0]))
    shipped.cache_clear()
    page = (HOME / "docs" / f"tutorial-{who}.md").read_text()
    commands = re.findall(r"^    interpact (.+)$", page, re.MULTILINE)
    assert len(commands) >= least
    for command in commands:
        result = CliRunner().invoke(app, shlex.split(command))
        assert result.exit_code == 0, (command, result.output, result.exception)
    names: dict[str, object] = {}
    for block in re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        exec(block, names)
    shipped.cache_clear()


def test_every_option_in_a_tutorial_exists():
    reference = (HOME / "docs" / "cli.md").read_text()
    for page in HOME.glob("docs/tutorial-*.md"):
        for verb, rest in re.findall(
            r"(?<!from )interpact (\w+) ([^\n`]*(?:\\\n[^\n`]*)*)", page.read_text()
        ):
            section = reference.partition(f"## interpact {verb}\n")[2].partition("\n## ")[0]
            assert section, f"{page.name}: interpact {verb}"
            for option in re.findall(r"(?<!\S)(--[\w-]+)", rest):
                assert option in section, f"{page.name}: interpact {verb} {option}"
