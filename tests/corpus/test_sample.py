"""The sample corpus: sound, varied, and as its README says."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from interpact.case.states import Decision, State
from interpact.corpus.labels import label
from interpact.corpus.leaks import leaks
from interpact.corpus.pairs import Basis, Operation, Regime, Split
from interpact.corpus.store import SAMPLE, Corpus, corpus_problems


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus.read(SAMPLE)


def test_it_is_sound_and_leaks_nothing():
    assert list(corpus_problems(SAMPLE)) == []
    assert leaks(SAMPLE) == []


def test_its_size_and_variety(corpus):
    assert len(corpus.cases) >= 36 and len(corpus.pairs) >= 260
    assert len({case.rule_family for case in corpus.cases.values()}) >= 20
    rules = Counter(
        case.aggregation if case.aggregation in ("all", "any") else "other"
        for case in corpus.cases.values()
    )
    assert min(rules["all"], rules["any"], rules["other"]) >= 10
    operations = Counter(pair.record.operation for pair in corpus.pairs)
    assert min(operations[operation] for operation in Operation) >= 30
    regimes = Counter(p.regime for p in corpus.pairs if not p.record.operation.control)
    assert min(regimes[regime] for regime in Regime) >= 50
    assert {root.state for root in corpus.roots.values()} == set(State)
    assert {root.decision for root in corpus.roots.values()} == set(Decision)
    assert {root.split for root in corpus.roots.values()} == set(Split)


def test_controls_leave_the_state_and_shared_units_are_no_targets(corpus):
    for pair in corpus.pairs:
        if pair.record.operation.control:
            assert pair.state_after is pair.of.state
    for root in corpus.roots.values():
        assert root.root.case.unit(root.root.evidence).conditions == (root.root.condition,)


def test_criticality_follows_from_the_pairs_and_the_rule(corpus):
    found = {r.root: r for r in label(corpus).records}
    assert found == corpus.criticality
    assert len(corpus.roots) - len(corpus.criticality) == 1


def test_the_readme_counts_what_is_there(corpus):
    readme = (SAMPLE / "README.md").read_text()
    labels = Counter((r.critical, r.basis) for r in corpus.criticality.values())
    for count, what in (
        (len(corpus.cases), "cases"),
        (len(corpus.roots), "roots"),
        (len(corpus.pairs), "pairs"),
        (len(corpus.criticality), "labelled roots"),
        (labels[True, Basis.CHANGED_PAIR], "critical"),
        (sum(len(case.evidence) for case in corpus.cases.values()), "evidence units"),
    ):
        assert re.search(rf"\b{count:,} {what}\b", readme), (count, what)
