"""The losses of PairCFR and GenRM against plain loops, and what goes into a batch."""

from __future__ import annotations

import math

import pytest
import torch

from interpact.case.states import Decision
from interpact.corpus.pairs import Split
from interpact.corpus.store import SAMPLE, Corpus
from interpact.systems.config import GenRmSettings, PairCfrSettings
from interpact.systems.genrm import GenRmObjective
from interpact.systems.paircfr import PairCfrObjective, contrastive
from interpact.verifier.config import StageSettings
from interpact.verifier.encode import Encoder
from interpact.verifier.questions import Questions
from interpact.verifier.train import windows
from tests.verifier import tiny

DECISIONS = list(Decision)


@pytest.fixture(scope="module")
def pairs():
    return [p for p in Corpus.read(SAMPLE).pairs if p.of.split is Split.DEV]


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return Encoder(tiny.tokenizer(), 8192)


def plain(features, labels, temperature, neutral=None) -> float:
    """The authors' contrastive loss, anchor by anchor and positive by positive."""
    unit = [row / row.norm() for row in features]
    anchors = []
    for i, own in enumerate(labels):
        s = [float(unit[i] @ other) / temperature for other in unit]
        negatives = [
            s[k] for k, label in enumerate(labels) if label != own and neutral not in (own, label)
        ]
        each = []
        for j, label in enumerate(labels):
            if j != i and label == own:
                below = sum(math.exp(x) for x in negatives) + math.exp(s[j])
                each.append(-(s[j] - math.log(below)))
        anchors.append(sum(each) / len(each) if each else 0.0)
    return sum(anchors) / len(anchors)


@pytest.mark.parametrize("neutral", [None, 0, 1, 2])
@pytest.mark.parametrize("labels", [[0, 0, 1, 2, 1, 0, 2], [0, 1, 2], [1, 1, 1], [0, 0, 2]])
def test_the_contrastive_loss_is_its_definition(labels, neutral):
    torch.manual_seed(len(labels))
    features = torch.randn(len(labels), 8)
    found = contrastive(features, torch.tensor(labels), 0.9, neutral)
    assert float(found) == pytest.approx(plain(features, labels, 0.9, neutral), rel=1e-5)


def test_other_positives_are_not_in_the_denominator():
    # One positive at the anchor, one far off: were it in the denominator, the loss would not be 0.
    features = torch.tensor([[1.0, 0.0], [1.0, 0.0], [-1.0, 0.0]])
    assert float(contrastive(features, torch.tensor([0, 0, 0]), 0.9)) == pytest.approx(0)


def test_a_neutral_label_repels_nobody_and_the_default_has_none():
    features = torch.tensor([[1.0, 0.0], [0.9, 0.1], [0.8, 0.2], [0.7, 0.1]])
    labels = torch.tensor([0, 0, 2, 2])
    assert float(contrastive(features, labels, 0.9, neutral=2)) == pytest.approx(0)
    assert float(contrastive(features, labels, 0.9)) > 0.1
    assert PairCfrSettings().neutral_label == "none"


def test_gradients_are_finite_where_an_anchor_has_no_negatives():
    features = torch.randn(3, 4, requires_grad=True)
    contrastive(features, torch.tensor([1, 1, 1]), 0.9).backward()
    assert features.grad is not None and torch.isfinite(features.grad).all()


def test_a_root_is_one_item_with_its_original_once(pairs, encoder):
    objective = PairCfrObjective(encoder, PairCfrSettings())
    items = objective.items(pairs)
    assert len(items) == len({p.record.root for p in pairs})
    assert sum(item.pairs for item in items) == len(pairs)
    for item in items:
        edits = [p for p in pairs if p.record.root == item.pair.record.root]
        assert len(item.rows) == len(edits) + 1 == len(item.labels)
        assert item.rows[0] == objective.row("", edits[0].before)
        assert [DECISIONS[n] for n in item.labels] == [
            edits[0].of.decision,
            *(p.decision_after for p in edits),
        ]
    # Edits that change nothing are there, as examples of the original's own class.
    assert any(item.labels.count(item.labels[0]) > 1 for item in items)
    stage = StageSettings(batch=2, micro=2, passes=1)
    for window in windows(items, stage, 1):
        (micro,) = window
        roots = [item.pair.record.root for item in micro]
        assert len(set(roots)) == len(roots)


def test_classification_and_contrast_are_weighed(pairs, encoder):
    objective = PairCfrObjective(encoder, PairCfrSettings(contrast=0.7))
    items = objective.items(pairs)[:2]
    torch.manual_seed(0)
    found = [torch.randn(len(item.rows), 3 + 8) for item in items]
    parts = objective.loss(items, found)
    rows, labels = torch.cat(found), [n for item in items for n in item.labels]
    logs = rows[:, :3].log_softmax(1)
    expected = -sum(float(logs[i, n]) for i, n in enumerate(labels)) / len(labels)
    assert float(parts["classification"]) == pytest.approx(expected, rel=1e-5)
    assert float(parts["contrast"]) == pytest.approx(plain(rows[:, 3:], labels, 0.9), rel=1e-5)
    assert float(parts["loss"]) == pytest.approx(
        0.7 * float(parts["contrast"]) + 0.3 * expected, rel=1e-5
    )


def test_genrm_weighs_generation_and_candidates_as_the_paper_does(pairs, encoder):
    objective = GenRmObjective(Questions(encoder), GenRmSettings())
    items = objective.items(pairs[:5])
    torch.manual_seed(0)
    vocabulary = len(tiny.tokenizer())
    logits = [torch.randn(sum(len(r.reads) for r in item.rows), vocabulary) for item in items]
    total = 0.0
    for item, found in zip(items, logits, strict=True):
        logs = found.log_softmax(1)
        at, each = 0, []
        for answer in item.answers:
            own = [-float(logs[at + i, token]) for i, token in enumerate(answer.targets)]
            each.append(sum(own) / len(own))
            at += len(own)
        generation, *candidates = each
        assert len(candidates) == 3
        weights = [0.5 if d is item.pair.decision_after else 0.25 for d in Decision]
        assert sum(weights) == 1
        verification = sum(w * c for w, c in zip(weights, candidates, strict=True))
        total += (0.25 * generation + 0.75 * verification) / len(items)
    assert float(objective.loss(items, logits)["loss"]) == pytest.approx(total, rel=1e-5)


def test_what_genrm_is_to_say(pairs, encoder):
    tokenizer = tiny.tokenizer()
    for item in GenRmObjective(Questions(encoder), GenRmSettings()).items(pairs[:8]):
        said = [
            tokenizer.decode(answer.targets).removesuffix("<|im_end|>") for answer in item.answers
        ]
        words = {"yes": " Yes", "no": " No", "insufficient": " Insufficient evidence"}
        assert said[0] == words[item.pair.decision_after]
        assert said[1:] == ["Yes" if d is item.pair.decision_after else "No" for d in Decision]
