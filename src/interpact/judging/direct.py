"""Mode direct: the paper's question, answered outright by the language model alone."""

from __future__ import annotations

from collections.abc import Sequence

from interpact.case.case import Case, Root
from interpact.judging.engines.protocol import DirectAnswer, Engine

Answers = dict[tuple[str, str], DirectAnswer | None]
"""The answer about every unit and condition."""


def ask(cases: Sequence[Case], engine: Engine) -> list[Answers]:
    """Ask about every unit and each of its conditions, all cases together."""
    roots = [
        [Root(case, unit.id, condition) for unit in case.evidence for condition in unit.conditions]
        for case in cases
    ]
    answers = iter(engine.direct([root for some in roots for root in some]))
    return [{(root.evidence, root.condition): next(answers) for root in some} for some in roots]
