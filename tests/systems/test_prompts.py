"""What the baselines are asked, and that no reference label ever reaches it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch

from interpact import Case, Root
from interpact.case.case import Labels
from interpact.case.states import Decision, State
from interpact.corpus.pairs import LabelledRoot, Operation, Pair, PairRecord, Tier, intervened
from interpact.systems import prompts
from interpact.systems.config import GenRmSettings, PairCfrSettings, PromptedSettings
from interpact.systems.endpoint import FORM
from interpact.systems.execution import StateObjective
from interpact.systems.genrm import GenRmObjective
from interpact.systems.paircfr import PairCfrObjective
from interpact.systems.prompted import Prompted
from interpact.systems.r2guard import Weighted
from interpact.verifier.backbone import backbone_of
from interpact.verifier.config import LossSettings, Variant
from interpact.verifier.objectives import AfterStateObjective, PropagationObjective
from interpact.verifier.prompts import PairText
from interpact.verifier.questions import Questions
from tests.verifier import tiny

GOLDEN = Path(__file__).with_name("golden")


@pytest.fixture
def visa(examples: Path):
    case = Case.load(examples / "visa.yaml")
    return case, Root(case, "diploma", "degree")


@pytest.mark.parametrize("name", ["decision", "candidate", "outcome", "outcome_served"])
def test_word_for_word(visa, name):
    case, root = visa
    after = intervened(case, "diploma", Operation.PARAPHRASE, 'Two lines,\nand "quotes".')
    pair = PairText(root, after)
    found = {
        "decision": lambda: prompts.decision(after),
        "candidate": lambda: prompts.candidate(after, Decision.INSUFFICIENT),
        "outcome": lambda: prompts.outcome(pair, State.UNKNOWN, Decision.NO),
        "outcome_served": lambda: prompts.outcome(pair, State.UNKNOWN, Decision.NO, FORM),
    }[name]()
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(found + "\n")
    assert path.read_text() == found + "\n", "run with UPDATE_GOLDEN=1 if this is meant"


class Asked(Exception):
    pass


def asked_of(measure, backbone, pair: Pair) -> list:
    """The rows that a system computes when it is asked about a pair."""
    seen: list = []

    class Listening:
        def __getattr__(self, name):
            return getattr(backbone, name)

        def logits(self, groups, *rest):
            seen.extend(row for group in groups for row in group)
            raise Asked

    with pytest.raises(Asked):
        measure(Listening(), [pair], 4096)
    return seen


def test_no_label_after_the_edit_and_no_label_of_another_condition_reaches_a_prompt(visa):
    case, root = visa
    backbone = backbone_of("tiny", tiny.llama(), tiny.tokenizer(), torch.device("cpu"))
    questions = Questions(backbone.encoder)

    def pair(operation: Operation, after: State, others: State, tier: Tier) -> Pair:
        states = dict.fromkeys(case.conditions, others) | {"degree": State.UNKNOWN}
        labels = Labels(states=states, decision=Decision.INSUFFICIENT)
        record = PairRecord(
            id=f"{root.id}/{operation}",
            root=root.id,
            operation=operation,
            text="The diploma is not recognised.",
            state_after=after,
            tier=tier,
            flags=() if tier is Tier.STANDARD else ("naturalness",),
        )
        return Pair(LabelledRoot(root, labels), record)

    one = pair(Operation.POLARITY_REVERSAL, State.NOT_SATISFIED, State.SATISFIED, Tier.STANDARD)
    other = pair(Operation.STRENGTHENING, State.SATISFIED, State.UNKNOWN, Tier.EXTENDED)
    systems = {
        "after_state": AfterStateObjective(questions).measure,
        "execution": StateObjective(questions).measure,
        "genrm": GenRmObjective(questions, GenRmSettings()).measure,
        "paircfr": PairCfrObjective(backbone.encoder, PairCfrSettings()).measure,
        "r2guard": Weighted(torch.ones(2, 3)).measure,
        "prompted": Prompted(PromptedSettings(), 1).measure,
    }
    log_q = {p.id: torch.zeros(3) for p in (one, other)}
    for variant in Variant:
        objective = PropagationObjective(questions, log_q, variant, LossSettings())
        systems[variant] = objective.measure
    for name, measure in systems.items():
        rows = asked_of(measure, backbone, one)
        assert rows and rows == asked_of(measure, backbone, other), name
