"""Judges: blind to operation, editor and labels; and a panel that never makes up a state."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interpact.case.case import Root
from interpact.case.states import State
from interpact.construct.ask import Answer, Failure, Request
from interpact.construct.checks import NoAssessor
from interpact.construct.editors import Abstention, Edit
from interpact.construct.judges import ModelJudge, Panel, Role, Ruling
from interpact.construct.run import Makers, construct
from interpact.corpus.pairs import LabelledRoot, Operation, intervened
from tests.construct.made_up import Script, case, write_corpus

S, N, U = State
REWRITING = [o for o in Operation if o not in (Operation.REMOVAL, Operation.DISTRACTOR_INSERTION)]
ROOT = Root(case("gate", ["It was locked.", "The fence is high."], [S, U]), "e1", "c1")
AFTER = intervened(ROOT.case, "e1", Operation.PARAPHRASE, "It was shut.")


class Same:
    """Writes the same text for every operation, with a note and a name that differ."""

    def __init__(self, name: str) -> None:
        self.name = name

    def request(self, root: LabelledRoot, operation: Operation) -> None:
        """None: nothing is asked."""

    async def edit(self, root: LabelledRoot, operation: Operation) -> Edit | Abstention:
        return Edit("It was shut.", self.name, f"{operation}: I expect {root.state}")


def judged(
    folder: Path, editor: str, states: list[State], answers: dict[str, str]
) -> list[Request]:
    """The requests of the judges when a labelled case goes through the whole constructor."""
    folder.mkdir()
    texts = ["It was locked.", "The fence is high."]
    write_corpus(folder, [case("gate", texts, states)])

    def answer(request: Request) -> dict[str, Any]:
        parts = request.schema["properties"]
        return {p: answers[request.purpose] if p == "state" else "because" for p in parts}

    ask = Script(answer)
    makers = Makers(Same(editor), Panel.of_model(ask, "m"), NoAssessor())
    asyncio.run(construct(folder, makers, operations=REWRITING, limit=1))
    return ask.requests


def test_nothing_in_any_judge_prompt_depends_on_operation_editor_or_labels(tmp_path: Path):
    seen: set[tuple[str, str, str]] = set()
    count = 0
    for i, (editor, states) in enumerate(
        [("deletion", [S, S]), ("gpt", [N, N]), ("hand", [S, U]), ("offline", [N, S])]
    ):
        # The judges disagree in a different way each time: the third is told nothing of it.
        answers = {"judge_after": [S, N, U, S][i], "judge_comparison": [N, U, S, U][i]}
        answers["judge_third"] = S
        requests = judged(tmp_path / str(i), editor, states, answers)
        count += len(requests)
        seen |= {(r.purpose, r.system, r.user) for r in requests}
        assert len({str(r.schema) for r in requests}) == 2
    assert count == 4 * 3 * len(REWRITING)
    assert sorted(purpose for purpose, _, _ in seen) == [
        "judge_after",
        "judge_comparison",
        "judge_third",
    ]


@pytest.mark.parametrize("role", [Role.AFTER, Role.COMPARISON, Role.THIRD])
def test_a_judge_prompt_holds_no_ids(role: Role):
    """The id of an inserted unit would tell of the operation, and so would its missing condition."""
    shown = case("gate", ["It was locked."], [S])
    root = Root(shown, "e1", "c1")
    after = intervened(root.case, "e1", Operation.DISTRACTOR_INSERTION, "It rained.")
    request = ModelJudge(Script(lambda _: {}), "m", role).request(root, after)
    assert "| It rained." in request.user
    assert "inserted" not in request.user
    assert "e1" not in request.user
    assert "c1" not in request.user


def rule(*answers: State | Failure | str | None, third: bool = True) -> tuple[Ruling, int]:
    """The ruling when the judges answer so: after, comparison, third."""
    given_answers = dict(
        zip(("judge_after", "judge_comparison", "judge_third"), answers, strict=False)
    )

    def answer(request: Request) -> Answer:
        said = given_answers[request.purpose]
        if isinstance(said, Failure):
            return Answer(None, said)
        return Answer({"reason": "because", "state": said})

    ask = Script(answer)
    return asyncio.run(Panel.of_model(ask, "m", third).rule(ROOT, AFTER)), len(ask.requests)


@pytest.mark.parametrize(
    ("answers", "state", "adjudicated"),
    [
        ((S, S), S, False),
        ((U, U), U, False),
        ((S, N, S), S, True),
        ((S, N, N), N, True),
        ((S, N, U), None, False),
        ((S, N, Failure.REFUSED), None, False),
        ((Failure.MALFORMED, N, N), N, True),
        ((S, Failure.EMPTY, U), None, False),
        ((S, "perhaps", S), S, True),
        ((Failure.TRUNCATED, Failure.REFUSED), None, False),
        ((None, 3), None, False),
    ],
)
def test_two_readings_have_to_agree(answers: Any, state: State | None, adjudicated: bool):
    ruling, asked = rule(*answers)
    assert (ruling.state, ruling.adjudicated) == (state, adjudicated)
    assert asked == len(ruling.readings) == len(answers)


def test_the_two_readings_are_asked_at_the_same_time():
    both = asyncio.Barrier(2)

    async def ask(request: Request) -> Answer:
        await asyncio.wait_for(both.wait(), 5)
        return Answer({"reason": "because", "state": S})

    ruling = asyncio.run(Panel.of_model(ask, "m").rule(ROOT, AFTER))
    assert [reading.role for reading in ruling.readings] == [Role.AFTER, Role.COMPARISON]


def test_without_a_third_judge_disagreement_stays():
    ruling, asked = rule(S, N, third=False)
    assert ruling.state is None
    assert asked == 2


@given(st.lists(st.sampled_from([*State, *Failure]), min_size=3, max_size=3))
def test_a_state_is_one_that_two_judges_gave(answers: list[State | Failure]):
    ruling, asked = rule(*answers)
    said = [reading.state for reading in ruling.readings]
    assert said == [a if isinstance(a, State) else None for a in answers[:asked]]
    assert ruling.state is None or said.count(ruling.state) == 2


def test_the_problem_of_an_unusable_answer_is_kept():
    ruling, _ = rule(Failure.REFUSED, "maybe")
    assert [reading.problem for reading in ruling.readings] == ["refused", "malformed"]


def test_half_characters_of_a_model_do_not_break_the_record():
    ask = Script(lambda _: {"reason": "odd \ud83d", "state": "unknown"})
    reading = asyncio.run(ModelJudge(ask, "m", Role.AFTER).read(ROOT, AFTER))
    assert reading.reason == "odd ?"
    assert reading.model_dump_json()


def test_without_a_model_every_state_is_left_to_people():
    ruling = asyncio.run(Panel.of_nobody().rule(ROOT, AFTER))
    assert ruling.state is None
    assert {reading.problem for reading in ruling.readings} == {"abstained"}
