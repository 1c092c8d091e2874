"""Estimated states for the case page, by a verifier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING

from interpact.case.case import Case
from interpact.errors import InterPactError
from interpact.judging.propagate import read

if TYPE_CHECKING:
    from interpact.judging.verifier import Verifier


class Estimator:
    """Asks the state estimator of a verifier, one case at a time."""

    def __init__(self, verifier: Verifier) -> None:
        self.verifier = verifier
        self._turn = Lock()

    def __call__(self, case: Case) -> Mapping[str, Sequence[float]]:
        """The state distribution of every condition of a case."""
        with self._turn:
            (reading,) = read([case], self.verifier.engine, removals=False)
        if reading.missing:
            raise InterPactError(
                f'case "{case.id}": {self.verifier.name} gave no usable state of '
                f"{', '.join(reading.missing[:5])}; ask again, or serve without --verifier"
            )
        return reading.scaled(self.verifier.settings.states).chances
