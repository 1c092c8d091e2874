"""Operations as data: complete, in the paper's words, and chosen by the source of the case."""

from __future__ import annotations

import pytest

from interpact.case.states import State
from interpact.construct.operations import BRIEFS, Style, style_of
from interpact.corpus.pairs import Operation
from tests.construct.made_up import case


def test_every_operation_has_a_definition_and_only_removal_needs_no_editor():
    assert list(BRIEFS) == list(Operation)
    assert len({brief.definition for brief in BRIEFS.values()}) == 8
    assert not BRIEFS[Operation.REMOVAL].instructions


@pytest.mark.parametrize("operation", [o for o in Operation if o is not Operation.REMOVAL])
def test_every_other_operation_is_told_for_every_style_and_may_be_abstained_from(
    operation: Operation,
):
    brief = BRIEFS[operation]
    assert list(brief.instructions) == list(Style)
    assert len(set(brief.instructions.values())) == 3
    assert brief.abstain.startswith("Abstain if ")


@pytest.mark.parametrize(
    ("source", "style"),
    [
        ("contractnli", Style.CONTRACT),
        ("sharc", Style.DIALOGUE),
        ("our-files", Style.GENERIC),
        (None, Style.GENERIC),
    ],
)
def test_the_source_of_a_case_chooses_the_style(source: str | None, style: Style):
    assert style_of(case("kiln", ["It is hot."], [State.SATISFIED], source=source)) is style
