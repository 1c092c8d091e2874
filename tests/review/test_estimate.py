"""The case page over a verifier's state estimator."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from interpact.case.case import Case, LabelledCase
from interpact.case.states import State
from interpact.judging.engines.protocol import StateQuestion
from interpact.judging.settings import JudgeSettings
from interpact.judging.verifier import Verifier
from interpact.review.estimate import Estimator
from interpact.review.web.app import create_app
from tests.review.conftest import Visitor

SURE = (0.8, 0.15, 0.05)


class Scripted:
    """An engine that answers state questions alone."""

    def __init__(self, answer: tuple[float, float, float] | None) -> None:
        self.answer = answer
        self.asked: list[StateQuestion] = []

    def states(self, asked: Sequence[StateQuestion]):
        self.asked += asked
        return [self.answer] * len(asked)

    def branches(self, asked):
        raise AssertionError("states are all that is asked for")

    direct = branches


def page(examples: Path, engine: Scripted) -> tuple[Case, Visitor]:
    case = Case.load(examples / "nda.yaml")
    settings = JudgeSettings(backbone="scripted", estimator=None, paired=None)
    estimator = Estimator(Verifier(engine, settings, "scripted"))  # type: ignore[arg-type]
    return case, Visitor(create_app(None, [case.text_only()], estimate=estimator))


def test_estimated_states_come_from_the_verifier(examples: Path):
    engine = Scripted(SURE)
    case, viewer = page(examples, engine)
    data = viewer.get("/cases/1/export.json").json()
    for condition in case.conditions:
        shown = data["estimates"]["states"][condition]
        assert max(shown, key=shown.__getitem__) == data["states"][condition] == State.SATISFIED
        assert sum(shown.values()) == pytest.approx(1)
    assert len(engine.asked) == len(case.conditions)
    assert "estimated satisfied 0." in viewer.get("/cases/1?c0=n").text
    assert len(engine.asked) == len(case.conditions)
    assert not any(isinstance(q.case, LabelledCase) for q in engine.asked)


def test_an_answer_that_cannot_be_used_is_told(examples: Path):
    _, viewer = page(examples, Scripted(None))
    answer = viewer.get("/cases/1")
    assert answer.status_code == 400 and "gave no usable state" in answer.text
