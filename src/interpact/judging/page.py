"""Judged cases as one self-contained HTML page: no script, no request, every text escaped."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import TextIO

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from interpact.case.states import Decision, State
from interpact.judging.explain import flips, settles
from interpact.judging.view import View


def write_page(views: Iterable[View], out: TextIO) -> None:
    """Write the page, case by case."""
    out.write(_template("page_head.html").render())
    body = _template("case.html")
    for view in views:
        out.write(
            body.render(
                view=view,
                State=State,
                Decision=Decision,
                flips=flips,
                settles=settles,
            )
        )
    out.write("</main>\n</body>\n</html>\n")


@lru_cache
def _template(name: str) -> Template:
    folder = Path(__file__).with_name("templates")
    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)
