"""Editors: an edit, or an abstention with a reason that can be counted; never a made-up text."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from interpact.construct.ask import Answer, Failure, Request
from interpact.construct.editors import (
    Abstention,
    Edit,
    ModelEditor,
    ScriptedEditor,
    edited,
)
from interpact.corpus.pairs import Operation
from tests.construct.made_up import Script, roots


def edit_of(answer: Answer, tmp_path: Path) -> Edit | Abstention:
    def answers(_: Request) -> Answer:
        return answer

    root = roots(tmp_path)["ferry/e1"]
    return asyncio.run(ModelEditor(Script(answers), "m").edit(root, Operation.WEAKENING))


def data(abstain: Any, text: Any) -> Answer:
    return Answer({"abstain": abstain, "reason": " too short ", "text": text})


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (
            data(False, " The licence seems valid.\n"),
            Edit("The licence seems valid.", "m", "too short"),
        ),
        (data(True, ""), Abstention("the editor found no suitable edit", "too short")),
        (data(True, "leftover"), Abstention("the editor found no suitable edit", "too short")),
        (data(False, "  "), Abstention("unusable answer: empty")),
        (data(False, None), Abstention("unusable answer: malformed")),
        (data("no", "text"), Abstention("unusable answer: malformed")),
        (Answer({}), Abstention("unusable answer: malformed")),
        (Answer(None, Failure.REFUSED), Abstention("the model refused")),
        (Answer(None, Failure.TRUNCATED), Abstention("unusable answer: truncated")),
        (Answer(None), Abstention("unusable answer: malformed")),
    ],
)
def test_a_model_gives_a_text_or_a_reason(
    answer: Answer, expected: Edit | Abstention, tmp_path: Path
):
    assert edit_of(answer, tmp_path) == expected


def test_removal_asks_nobody(tmp_path: Path):
    ask = Script(lambda _: {})
    root = roots(tmp_path)["ferry/e1"]
    edit = asyncio.run(edited(ModelEditor(ask, "m"), root, Operation.REMOVAL))
    assert edit == Edit(None, "deletion")
    assert not ask.requests


def test_the_prompt_of_an_editor_does_not_depend_on_labels(tmp_path: Path):
    root = roots(tmp_path)["ferry/e1"]
    other = root.labels.model_copy(update={"states": {}, "decision": "no"})
    editor = ModelEditor(Script(lambda _: {}), "m")
    for operation in list(Operation)[1:]:
        relabelled = type(root)(root.root, other, root.split)
        assert editor.request(root, operation) == editor.request(relabelled, operation)


def test_a_script_abstains_from_what_it_does_not_hold(tmp_path: Path):
    root = roots(tmp_path)["ferry/e1"]
    editor = ScriptedEditor({"ferry/e1/paraphrase": "The licence is in force."})
    assert asyncio.run(edited(editor, root, Operation.PARAPHRASE)) == Edit(
        "The licence is in force.", "scripted"
    )
    assert isinstance(asyncio.run(edited(editor, root, Operation.WEAKENING)), Abstention)
