"""InterPact: which piece of evidence does a rule-governed decision hang on?

>>> from interpact import Rule
>>> Rule.parse("all").decide({"c1": "satisfied", "c2": "not_satisfied"}).value
'no'
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from interpact.case.case import Case, Evidence, LabelledCase, Labels, Root
    from interpact.case.files import case_from, read_cases, write_cases
    from interpact.case.rules import Rule
    from interpact.case.states import Decision, State
    from interpact.errors import InterPactError
    from interpact.judging.judge import judge
    from interpact.judging.judgment import Judgment
    from interpact.judging.verifier import Verifier

__version__ = "0.1.0"

_HOMES = {
    "Case": "case.case",
    "Decision": "case.states",
    "Evidence": "case.case",
    "InterPactError": "errors",
    "Judgment": "judging.judgment",
    "LabelledCase": "case.case",
    "Labels": "case.case",
    "Root": "case.case",
    "Rule": "case.rules",
    "State": "case.states",
    "Verifier": "judging.verifier",
    "case_from": "case.files",
    "judge": "judging.judge",
    "read_cases": "case.files",
    "write_cases": "case.files",
}

__all__ = [
    "Case",
    "Decision",
    "Evidence",
    "InterPactError",
    "Judgment",
    "LabelledCase",
    "Labels",
    "Root",
    "Rule",
    "State",
    "Verifier",
    "case_from",
    "judge",
    "read_cases",
    "write_cases",
]


def __getattr__(name: str) -> Any:
    # Names load on first use, so that `import interpact` costs nothing.
    if name in _HOMES:
        return getattr(importlib.import_module(f"interpact.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'interpact' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
