"""Writes docs/cli.md from the command line itself; `make docs` runs it, a test keeps it current."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from interpact.cli import app

TARGET = Path(__file__).parents[1] / "docs" / "cli.md"


def markdown() -> str:
    """The whole page."""
    group: Any = typer.main.get_command(app)
    lines = [
        "# Commands",
        "",
        "Generated from the command line by `make docs`; do not edit.",
        "",
        "Exit codes: 0 done, 2 something is wrong with the input (told on standard error), 130 stopped",
        "by the user.",
        "",
    ]
    for name, command in sorted(group.commands.items()):
        lines += _command(f"interpact {name}", command)
    return "\n".join(lines).rstrip() + "\n"


def _command(name: str, command: Any) -> list[str]:
    if hasattr(command, "commands"):
        return [
            line
            for child, inner in sorted(command.commands.items())
            for line in _command(f"{name} {child}", inner)
        ]
    context = typer.Context(command, info_name=name)
    lines = [f"## {name}", "", f"    {' '.join([name, *command.collect_usage_pieces(context)])}"]
    lines += ["", (command.help or "").strip(), ""]
    rows = [param for param in command.params if param.name != "help" and not param.hidden]
    if rows:
        lines += ["| argument or option | meaning | default |", "|---|---|---|"]
        lines += [_row(param, context) for param in rows]
        lines += [""]
    return lines


def _row(param: Any, context: Any) -> str:
    names = param.get_help_record(context)[0]
    default = getattr(param.default, "value", param.default)
    told = "" if default in (None, [], (), False) or callable(default) else f"`{default}`"
    cells = (f"`{names}`", param.help or "", told)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    TARGET.write_text(markdown(), encoding="utf-8")
