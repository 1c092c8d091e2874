"""The audit: a fair sample, the paper's table, and corrections that reach the corpus."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from interpact.case.problems import InputProblems
from interpact.case.states import State
from interpact.corpus.pairs import Operation
from interpact.corpus.store import Corpus, corpus_problems, write_records
from interpact.errors import InterPactError
from interpact.review.audit import LOG, apply, sample
from interpact.review.people import Person
from interpact.review.report import report
from interpact.review.settled import settled
from interpact.review.store import Store
from interpact.review.versions import Queue
from tests.review.conftest import GOOD, read


def keys(store: Store, queue: str) -> list[str]:
    rows = store.database.all("SELECT key FROM items WHERE queue = ? ORDER BY position", queue)
    return [row[0] for row in rows]


def test_a_sample_is_drawn_without_replacement_and_again_the_same(store: Store, corpus: Corpus):
    for name in ("one", "two"):
        sample(store, corpus, 50, seed=7, name=name)
    sample(store, corpus, 50, seed=8, name="other")
    assert keys(store, "one") == keys(store, "two") != keys(store, "other")
    assert len(set(keys(store, "one"))) == 50 and set(keys(store, "one")) <= {
        p.id for p in corpus.pairs
    }
    everything = sample(store, corpus, len(corpus.pairs), seed=1, name="all")
    assert set(keys(store, "all")) == {p.id for p in corpus.pairs}
    assert everything.facts["of"] == len(corpus.pairs)
    for n in (0, len(corpus.pairs) + 1):
        with pytest.raises(InterPactError, match="--n"):
            sample(store, corpus, n, 0, name="more")


def test_a_sample_is_uniform(store: Store, corpus: Corpus):
    drawn: Counter[str] = Counter()
    for seed in range(60):
        sample(store, corpus, 98, seed, name=f"s{seed}")
        drawn.update(keys(store, f"s{seed}"))
    # Each of 392 pairs is drawn 15 times on average (binomial, deviation 3.35).
    assert len(drawn) == 392
    assert min(drawn.values()) >= 3 and max(drawn.values()) <= 29
    spread = sum((n - 15) ** 2 for n in drawn.values()) / 392
    assert 8.5 < spread < 14.5  # 60 * 1/4 * 3/4 = 11.25


def labelled(store: Store, corpus: Corpus) -> list[dict[str, str]]:
    """The answers that agree with the labels, item by item."""
    states = {pair.id: pair.state_after.value for pair in corpus.pairs}
    return [GOOD | {"state": states[key]} for key in keys(store, "audit")]


def other_state(state: str) -> str:
    return {"satisfied": "unknown", "unknown": "satisfied", "not_satisfied": "unknown"}[state]


@pytest.fixture
def judged(
    store: Store, corpus: Corpus, audit: Queue, team: dict[str, Person]
) -> list[dict[str, str]]:
    """Six items: two as labelled, a wrong state, an unfaithful edit, a dispute, an ambiguity."""
    answers = labelled(store, corpus)
    answers[2]["state"] = other_state(answers[2]["state"])
    answers[3]["fidelity"] = "no"
    for name in ("ben", "cid", "dora"):
        own = [dict(answer) for answer in answers]
        if name == "dora":
            own[4]["state"] = other_state(own[4]["state"])
        own[5]["state"] = "ambiguous"
        read(store, "audit", team[name], own)
    return answers


def test_the_report_counts_as_the_paper_does(
    store: Store, audit: Queue, team: dict[str, Person], judged: list[dict[str, str]]
):
    found = report(store, audit)
    assert (found.settled, found.consensus, found.ruled, found.disputed) == (4, 4, 0, 2)
    ada = team["ada"].id
    store.rule("audit", 5, ada, 0, judged[4], "Two of three, and the text says so.")
    store.rule(
        "audit", 6, ada, 0, judged[5] | {"state": "ambiguous"}, "The text bears both readings."
    )
    found = report(store, audit)
    rates = {rate.aspect: (rate.n, rate.of) for rate in found.rates}
    assert rates == {
        "Case structure and evidence association": (6, 6),
        "Intervention fidelity": (5, 6),
        "Target condition state": (4, 6),  # one wrong, one ambiguous
        "Decision after intervention": (rates["Decision after intervention"][0], 6),
        "Non-target states preserved": (6, 6),
    }
    corpus_says = {s.key: s for s in settled(store, audit)}
    same = sum(
        s.answer["state"] != "ambiguous"
        and s.reference["decisions"][s.answer["state"]]
        == s.reference["decisions"][s.reference["state_after"]]
        for s in corpus_says.values()
    )
    assert rates["Decision after intervention"][0] == same >= 4
    assert (found.unresolved, found.unblinded) == (1, 0)
    agreement = {a.aspect: a for a in found.agreements}
    assert agreement["Intervention fidelity"].raw == 1
    assert agreement["Target condition state"].raw == pytest.approx(16 / 18)
    text = found.markdown()
    assert "| Intervention fidelity | 5/6 | 83.33 | [43.65, 96.99] |" in text
    assert "1 items stay ambiguous" in text
    assert {c["aspect"] for c in found.corrections} == {"state", "fidelity"}
    assert json.loads(json.dumps(found.data()))["rates"][0]["n"] == 6


def test_corrections_reach_the_corpus_and_the_log(
    store: Store, folder: Path, team: dict[str, Person], judged: list[dict[str, str]]
):
    before = {pair.id: pair.record for pair in Corpus.read(folder).pairs}
    wrong, unfaithful = keys(store, "audit")[2:4]
    changes, kept = apply(store, "audit", folder)
    states = [c for c in changes if c.file == "pairs.jsonl"]
    assert [(c.id, c.before, c.after) for c in states] == [
        (wrong, before[wrong].state_after, judged[2]["state"])
    ]
    assert kept == [unfaithful]
    after = {pair.id: pair.record for pair in Corpus.read(folder).pairs}
    assert after.pop(wrong).state_after is State(judged[2]["state"])
    before.pop(wrong)
    assert after == before
    logged = [json.loads(line) for line in (folder / LOG).read_text().splitlines()]
    assert [(line["id"], line["queue"]) for line in logged] == [(c.id, "audit") for c in changes]
    assert "consensus" in logged[0]["reason"]
    assert [p for p in corpus_problems(folder) if not p.note] == []
    assert apply(store, "audit", folder) == ([], [unfaithful])
    changes, kept = apply(store, "audit", folder, drop_failed=True)
    assert [c.after for c in changes if c.id == unfaithful] == [None] and kept == []
    assert unfaithful not in {pair.id for pair in Corpus.read(folder).pairs}
    assert apply(store, "audit", folder, drop_failed=True) == ([], [])


def test_answers_about_a_text_that_has_changed_are_not_applied(
    store: Store, folder: Path, judged: list[dict[str, str]]
):
    wrong = keys(store, "audit")[2]
    pairs = [pair.record for pair in Corpus.read(folder).pairs]
    other = [
        r.model_copy(update={"text": "Something else."}) if r.id == wrong and r.text else r
        for r in pairs
    ]
    assert other != pairs
    write_records(folder / "pairs.jsonl", other)
    before = (folder / "pairs.jsonl").read_bytes()
    with pytest.raises(InputProblems, match="have changed since it was judged"):
        apply(store, "audit", folder)
    assert (folder / "pairs.jsonl").read_bytes() == before
    assert not (folder / LOG).exists()


def test_criticality_follows_the_corrected_pairs(
    store: Store, folder: Path, corpus: Corpus, team: dict[str, Person]
):
    """A root that was critical by one changed pair is so no more when that pair was mislabelled."""
    changed = Counter(
        p.record.root for p in corpus.pairs if p.changed and not p.record.operation.control
    )
    pair = next(p for p in corpus.pairs if p.changed and changed[p.record.root] == 1)
    from interpact.review.audit import item
    from interpact.review.questions import Kind

    store.add_queue("audit", Kind.AUDIT, [item(pair)], {})
    for name in ("ben", "cid", "dora"):
        read(store, "audit", team[name], [GOOD | {"state": pair.of.state.value}])
    changes, _ = apply(store, "audit", folder)
    root = pair.record.root
    assert [(c.file, c.id) for c in changes] == [
        ("pairs.jsonl", pair.id),
        ("criticality.jsonl", root),
    ]
    assert changes[1].before["critical"] is True and changes[1].after is None
    assert root not in Corpus.read(folder).criticality
    assert root in (folder / "review_criticality.jsonl").read_text()


def test_every_operation_can_be_shown(store: Store, corpus: Corpus):
    """What a reader sees of a pair is the case before, the case after, and nothing computed."""
    from interpact.review.audit import item
    from interpact.review.web.reading import Shown

    seen: set[tuple[Operation, str]] = set()
    for pair in corpus.pairs:
        made = item(pair)
        shown = Shown(made.shown)
        changed = [unit for unit in shown.units if unit.change != "same"]
        assert len(changed) == 1
        seen.add((pair.record.operation, changed[0].change))
        assert "".join(p.text for u in shown.units if u.after for p in u.after) == "".join(
            u.text for u in pair.after.evidence
        )
        assert [u.id for u in shown.units if u.before] == [u.id for u in pair.before.evidence]
    assert {change for operation, change in seen if operation is Operation.REMOVAL} == {"gone"}
    assert {c for o, c in seen if o is Operation.DISTRACTOR_INSERTION} == {"added"}
