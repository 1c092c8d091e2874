"""Own-evidence judging: what is asked, what counts how much, and that it learns."""

from __future__ import annotations

import pytest
import torch

from interpact.case.states import State
from interpact.corpus.pairs import Split
from interpact.corpus.store import SAMPLE, Corpus
from interpact.systems.config import Kind, OwnEvidenceSettings, SystemConfig
from interpact.systems.own_evidence import Lesson, OwnEvidenceObjective, named, own_states
from interpact.systems.system import Job, load, train
from interpact.verifier.backbone import load_backbone
from interpact.verifier.config import LoraSettings, StageSettings
from interpact.verifier.questions import Questions
from tests.verifier import tiny
from tests.verifier.test_train import small


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return small(Corpus.read(SAMPLE), roots=6)


@pytest.fixture(scope="module")
def backbone(tmp_path_factory):
    folder = tiny.saved(tiny.llama(), tmp_path_factory.mktemp("llama"))
    return load_backbone(str(folder), dtype="float32")


@pytest.fixture(scope="module")
def objective(backbone) -> OwnEvidenceObjective:
    return OwnEvidenceObjective(Questions(backbone.encoder), OwnEvidenceSettings(direct=0.5))


def test_every_named_condition_of_an_original_case_and_each_edit_is_asked_once(corpus, objective):
    train = [p for p in corpus.pairs if p.of.split is Split.TRAIN]
    items = objective.items(train)
    rows = [a.row.tokens for item in items if isinstance(item, Lesson) for a in item.asked]
    assert len(rows) == len(set(rows))
    asked = set(rows)
    for pair in train:
        questions = objective.questions
        for case, states in (
            (pair.after, {pair.of.root.condition: pair.state_after}),
            (pair.before, {c: pair.of.labels.states[c] for c in named(pair.before)}),
        ):
            for condition in states:
                if condition in named(case):
                    assert questions.own_state("x", case, condition).tokens in asked
    weights = {a.weight for item in items if isinstance(item, Lesson) for a in item.asked}
    assert 0.5 in weights and 1.0 in weights


def test_direct_labels_are_those_that_pairs_and_mappings_give(corpus, objective):
    for item in objective.items([p for p in corpus.pairs if p.of.split is Split.TRAIN]):
        assert isinstance(item, Lesson)
        for asked in item.asked:
            if asked.labels is not objective.questions.verdicts:
                continue
            root = item.pair.record.root
            changed = any(p.changed for p in corpus.pairs if p.record.root == root)
            assert asked.right == (0 if changed else 1)
            assert changed or item.pair.of.constant  # an open root teaches nothing


def test_the_loss_is_the_weighted_mean_over_questions(corpus, objective):
    items = objective.items(corpus.pairs)[:5]
    torch.manual_seed(0)
    logits = [torch.randn(len(item.rows), len(tiny.tokenizer())) for item in items]
    found = objective.loss(items, logits)
    total = weights = 0.0
    for item, reads in zip(items, logits, strict=True):
        for asked, read in zip(item.asked, reads, strict=True):
            chances = read[list(asked.labels.tokens)].softmax(-1)
            total += asked.weight * -float(chances[asked.right].log())
            weights += asked.weight
    assert float(found["loss"]) == pytest.approx(total / weights, rel=1e-5)
    assert float(found["loss"]) == pytest.approx(float(found["state"] + found["direct"]))


def test_a_condition_that_no_unit_names_is_unknown(corpus, backbone):
    case = next(c for c in corpus.cases.values() if len(named(c)) < len(c.conditions))
    (found,) = own_states(backbone, [("x", case)], 1024)
    for condition in set(case.conditions) - set(named(case)):
        assert list(State)[int(found[condition].argmax())] is State.UNKNOWN
    assert list(found) == list(case.conditions)


def test_it_trains_also_on_other_corpora_and_predicts(corpus, tmp_path):
    folder = tiny.saved(tiny.llama(), tmp_path / "model")
    config = SystemConfig(
        system=Kind.OWN_EVIDENCE,
        backbone=str(folder),
        dtype="float32",
        lora=LoraSettings(rank=4, scale=8, embeddings=False),
        baseline=StageSettings(passes=0.2, learning_rate=1e-3, checkpoint_every=50),
        own_evidence=OwnEvidenceSettings(also=(SAMPLE,)),
    )
    told: list[str] = []
    train(Job(config, corpus, tmp_path / "run", say=told.append))
    assert any("further training pairs" in text for text in told)
    _, system = load(tmp_path / "run")
    pairs = [p for p in corpus.pairs if p.of.split is Split.TEST]
    found = system.pairs(pairs)
    assert found.log_q is not None and found.log_q.shape == (len(pairs), 3)
    torch.testing.assert_close(found.log_p.exp().sum(1), torch.ones(len(pairs)).double())
    assert len(system.roots([pairs[0].of.root])) == 1
