"""The synthetic source: labels that follow from facts, text that does not give them away."""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import islice, pairwise
from pathlib import Path
from string import Formatter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interpact.case.case import LabelledCase
from interpact.case.states import Decision, State
from interpact.corpus.leaks import leaks
from interpact.corpus.pairs import Basis, Operation, Pair, Regime, Split, Tier
from interpact.corpus.sources import synthetic_domains as words
from interpact.corpus.sources.synthetic import Counts, synthesize, write_synthetic
from interpact.corpus.sources.synthetic_cases import CONFLICT, SyntheticCase
from interpact.corpus.sources.synthetic_domains import (
    DOMAINS,
    Choice,
    Domain,
    Measure,
    Topic,
    YesNo,
)
from interpact.corpus.sources.synthetic_facts import Fact, Matter
from interpact.corpus.store import Corpus, corpus_problems
from interpact.errors import InterPactError

TOPICS = [(domain, topic) for domain in DOMAINS for topic in domain.topics]


@pytest.fixture(scope="module")
def made() -> list[SyntheticCase]:
    return list(synthesize(1500, 1))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Counts]:
    folder = tmp_path_factory.mktemp("synthetic")
    return folder, write_synthetic(folder, 400, 3)


# ---- What is written ---------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 40), st.integers(-5, 10**9))
def test_every_written_corpus_is_sound(
    tmp_path_factory: pytest.TempPathFactory, cases: int, seed: int
) -> None:
    folder = tmp_path_factory.mktemp("corpus")
    counts = write_synthetic(folder, cases, seed)
    corpus = Corpus()
    assert list(corpus_problems(folder, corpus)) == []
    assert (counts.cases, counts.roots, counts.pairs) == (
        cases,
        len(corpus.roots),
        len(corpus.pairs),
    )
    assert len(corpus.cases) == cases


def test_counts_are_those_of_the_corpus(written: tuple[Path, Counts]) -> None:
    folder, counts = written
    corpus = Corpus.read(folder)
    found = Counter(
        [("operation", pair.record.operation) for pair in corpus.pairs]
        + [("state after", pair.state_after) for pair in corpus.pairs]
        + [("regime", pair.regime) for pair in corpus.pairs if not pair.record.operation.control]
        + [("split", root.split) for root in corpus.roots.values()]
        + [("state of a root", root.state) for root in corpus.roots.values()]
        + [
            ("decision", case.labels.decision)
            for case in corpus.cases.values()
            if isinstance(case, LabelledCase)
        ]
    )
    assert found == Counter({key: n for key, n in counts.of.items() if key[0] != "rule shape"})
    assert f"| all | pairs | {counts.pairs:,} |" in (folder / "README.md").read_text()


def test_criticality_follows_from_pairs_and_mappings(written: tuple[Path, Counts]) -> None:
    corpus = Corpus.read(written[0])
    for name, pairs in corpus.pairs_of().items():
        root, label = corpus.roots[name], corpus.criticality.get(name)
        alone = sum(root.root.condition in unit.conditions for unit in root.root.case.evidence) == 1
        if root.constant:
            expected = (False, Basis.CONSTANT_MAPPING)
        elif any(pair.changed for pair in pairs if not pair.record.operation.control):
            expected = (True, Basis.CHANGED_PAIR)
        else:
            expected = (True, Basis.REVIEW) if alone else None
        assert (label and (label.critical, label.basis)) == expected, name


def test_same_arguments_write_the_same_bytes(written: tuple[Path, Counts], tmp_path: Path) -> None:
    write_synthetic(tmp_path, 400, 3)
    names = {path.name for path in tmp_path.iterdir()}
    expected = {"cases.jsonl", "roots.jsonl", "pairs.jsonl", "criticality.jsonl", "README.md"}
    assert names == expected
    for name in names:
        assert (tmp_path / name).read_bytes() == (written[0] / name).read_bytes()


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 25), st.integers(0, 10), st.integers(0, 1000))
def test_more_cases_begin_with_the_same_ones(cases: int, more: int, seed: int) -> None:
    assert list(synthesize(cases, seed)) == list(islice(synthesize(cases + more, seed), cases))


def test_seeds_give_different_cases() -> None:
    one, other = (next(iter(synthesize(1, seed))).case for seed in (1, 2))
    assert one.evidence != other.evidence


def test_cases_are_made_one_at_a_time() -> None:
    assert next(iter(synthesize(10**12, 0))).case.id.startswith("synthetic-0-")


def test_an_interrupted_write_leaves_the_old_corpus(tmp_path: Path) -> None:
    write_synthetic(tmp_path, 3, 1)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    left = iter([None, None])

    def stop(_: int) -> None:
        next(left)

    with pytest.raises(StopIteration):
        write_synthetic(tmp_path, 100, 2, progress=stop)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_progress_adds_up(tmp_path: Path) -> None:
    told: list[int] = []
    write_synthetic(tmp_path, 37, 1, progress=told.append)
    assert sum(told) == 37


def test_no_cases_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(InterPactError, match="at least 1"):
        write_synthetic(tmp_path / "new", 0, 1)
    assert not (tmp_path / "new").exists()


# ---- States follow from facts ------------------------------------------------------------------


def true_of(topic: Topic, fact: Fact, value: int) -> bool:
    """Whether a fact is true if the topic's value is this one; written apart from the source."""
    if not fact.confirmed or fact.form == "open":
        return True
    named = fact.values
    if isinstance(topic, YesNo):
        said = topic.others[named[0]][1] if fact.form == "other" else not fact.denied
        return said == bool(value)
    said = {
        "exact": lambda: value == named[0],
        "either": lambda: value in named,
        "between": lambda: named[0] <= value <= named[1],
        "upper": lambda: value <= named[0],
        "lower": lambda: value >= named[0],
    }[fact.form]()
    return said != fact.denied


def accepts(topic: Topic, matter: Matter, hoped: bool, value: int) -> bool:
    if isinstance(topic, Measure):
        good = value <= matter.limit if topic.most else value >= matter.limit
    elif isinstance(topic, Choice):
        good = value in tuple(matter.hoped)
    else:
        good = value == 1
    return good == hoped


def worlds(topic: Topic, matter: Matter) -> range:
    if isinstance(topic, Measure):
        return range(matter.limit - 400, matter.limit + 400)
    return range(len(topic.values) + 1) if isinstance(topic, Choice) else range(2)


def pattern(topic: Topic, template: str) -> str:
    """A template as a regular expression; the values of a choice are spelled out."""
    value = f"({'|'.join(topic.values)})" if isinstance(topic, Choice) else ""
    parts = (
        re.escape(text)
        + ("" if slot is None else f"{value}( or {value})?" if slot == "these" else ".+")
        for text, slot, _, _ in Formatter().parse(template)
    )
    return "".join(parts)


def is_hoped(topic: Topic, text: str) -> bool:
    """Whether a condition asks for what one hopes, by its text."""
    good, bad = (
        any(re.fullmatch(pattern(topic, template), text) for template in templates)
        for templates in (topic.asks, topic.bars)
    )
    assert good != bad, text
    return good


def derived(matter: Matter, hoped: bool, facts: list[Fact]) -> State | None:
    """The state by trying every value the topic could have; nothing where none is left."""
    topic = matter.topic
    left = [v for v in worlds(topic, matter) if all(true_of(topic, fact, v) for fact in facts)]
    verdicts = {accepts(topic, matter, hoped, value) for value in left}
    if not verdicts:
        return None
    if len(verdicts) == 2:
        return State.UNKNOWN
    return State.SATISFIED if verdicts.pop() else State.NOT_SATISFIED


def test_states_follow_from_the_facts(made: list[SyntheticCase]) -> None:
    contradictions = 0
    for one in made[:500]:
        case = one.case
        facts: dict[str, dict[str, Fact]] = defaultdict(dict)
        for unit in case.evidence:
            for condition in unit.conditions:
                facts[condition][unit.id] = some(one.facts[unit.id])
        hoped = {c: is_hoped(one.matters[c].topic, text) for c, text in case.conditions.items()}
        for condition, state in case.labels.states.items():
            matter = one.matters[condition]
            assert derived(matter, hoped[condition], [*facts[condition].values()]) is state
        roots = {root.id: root for root in one.roots}
        for pair in one.pairs:
            root = roots[pair.root]
            matter, want = one.matters[root.condition], hoped[root.condition]
            others = [f for unit, f in facts[root.condition].items() if unit != root.evidence]
            now = one.facts[pair.id]
            after = [*others] if now is None else [now, *others]
            if pair.operation is Operation.DISTRACTOR_INSERTION:
                after = [*facts[root.condition].values()]
            state = derived(matter, want, after)
            if state is None:
                contradictions += 1
                sides = {derived(matter, want, [fact]) for fact in after}
                state = sides.pop() if len(sides) == 1 else State.UNKNOWN
                assert (pair.flags, pair.tier) == ((CONFLICT,), Tier.EXTENDED)
                assert pair.text and re.search("which of the two", pair.text)
            else:
                assert (pair.flags, pair.tier) == ((), Tier.STANDARD)
            assert pair.state_after is state, (pair.id, after)
    assert contradictions > 10


def some(fact: Fact | None) -> Fact:
    assert fact is not None
    return fact


def test_evidence_is_true_where_it_is_confirmed(made: list[SyntheticCase]) -> None:
    for one in made:
        for unit in one.case.evidence:
            for condition in unit.conditions:
                matter = one.matters[condition]
                assert true_of(matter.topic, some(one.facts[unit.id]), matter.truth)


def test_text_gives_the_values_of_the_fact_and_the_condition(made: list[SyntheticCase]) -> None:
    checked = 0
    for one in made[:500]:
        bearing = {unit.id: unit for unit in one.case.evidence if unit.conditions}
        for name, unit in bearing.items():
            matter, fact = one.matters[unit.conditions[0]], some(one.facts[name])
            topic = matter.topic
            if isinstance(topic, Choice):
                asked = one.case.conditions[unit.conditions[0]]
                named = {i for i, value in enumerate(topic.values) if value in asked}
                assert named == set(matter.hoped)
            if isinstance(topic, Choice) and fact.form != "open":
                assert all(topic.values[value] in unit.text for value in fact.values)
                checked += 1
            if isinstance(topic, Measure) and topic.show != "date":
                shown = [topic.show.format(v * topic.grid).split()[0] for v in fact.values]
                assert fact.form == "open" or all(value in unit.text for value in shown)
                limit = topic.show.format(matter.limit * topic.grid)
                assert limit in one.case.conditions[unit.conditions[0]]
                checked += 1
    assert checked > 500


def pairs_of(made: list[SyntheticCase], operation: Operation) -> Iterator[tuple[Fact, Fact, bool]]:
    """The fact before and after, and whether the operation has other units to reckon with."""
    for one in made:
        units = {f"{root.id}/{operation}": root for root in one.roots}
        for pair in one.pairs:
            root = units.get(pair.id)
            if root is not None:
                bearing = [u for u in one.case.evidence if root.condition in u.conditions]
                yield (
                    some(one.facts[root.evidence]),
                    some(one.facts[pair.id]),
                    len(bearing) > 1,
                )


def test_a_paraphrase_says_the_same_fact(made: list[SyntheticCase]) -> None:
    assert all(before == after for before, after, _ in pairs_of(made, Operation.PARAPHRASE))


def test_a_reversal_denies_the_same_fact(made: list[SyntheticCase]) -> None:
    for before, after, _ in pairs_of(made, Operation.POLARITY_REVERSAL):
        assert after == before._replace(denied=not before.denied)


def test_an_alternative_is_another_fact(made: list[SyntheticCase]) -> None:
    for before, after, _ in pairs_of(made, Operation.ALTERNATIVE_REPLACEMENT):
        assert (before.form, before.values) != (after.form, after.values)


def test_weakening_never_settles_and_strengthening_never_unsettles(
    made: list[SyntheticCase],
) -> None:
    for one in made:
        for pair in one.pairs:
            before = one.case.labels.states[
                next(root.condition for root in one.roots if root.id == pair.root)
            ]
            if pair.operation is Operation.WEAKENING:
                assert pair.state_after in (before, State.UNKNOWN)
            if pair.operation is Operation.STRENGTHENING and before is not State.UNKNOWN:
                assert pair.state_after is before


# ---- Variety -----------------------------------------------------------------------------------


def shares(values: Iterator[str] | list[str]) -> dict[str, float]:
    counts = Counter(values)
    return {value: n / counts.total() for value, n in counts.items()}


def test_everything_occurs_in_reasonable_shares(made: list[SyntheticCase]) -> None:
    pairs = [pair for one in made for pair in one.pairs]
    operations = shares([pair.operation for pair in pairs])
    assert set(operations) == set(Operation) and min(operations.values()) > 0.06
    states = shares([pair.state_after for pair in pairs])
    assert set(states) == set(State) and min(states.values()) > 0.2
    before = shares([one.case.labels.states[root.condition] for one in made for root in one.roots])
    assert set(before) == set(State) and min(before.values()) > 0.15
    decisions = shares([one.case.labels.decision for one in made])
    assert set(decisions) == set(Decision) and min(decisions.values()) > 0.2
    shapes = shares([one.shape.kind for one in made])
    assert set(shapes) == {"all", "any", "nested", "at least"} and min(shapes.values()) > 0.15
    counts = shares([str(len(one.case.conditions)) for one in made])
    assert set(counts) == set("23456") and min(counts.values()) > 0.05
    assert 6.5 < len(pairs) / len(made) < 7.5
    splits = shares([root.split or "" for one in made for root in one.roots])
    assert splits[Split.TRAIN] == pytest.approx(0.6, abs=0.06)
    assert splits[Split.DEV] == pytest.approx(0.2, abs=0.06)


def test_all_regimes_occur(written: tuple[Path, Counts]) -> None:
    corpus = Corpus.read(written[0])
    targets = [pair for pair in corpus.pairs if not pair.record.operation.control]
    regimes = shares([pair.regime for pair in targets])
    assert set(regimes) == set(Regime) and min(regimes.values()) > 0.12
    by_operation: dict[Operation, set[bool]] = defaultdict(set)
    for pair in targets:
        by_operation[pair.record.operation].add(pair.changed)
    assert all(changes == {True, False} for changes in by_operation.values())


def test_unknown_conditions_have_evidence_or_none(made: list[SyntheticCase]) -> None:
    bare = told = 0
    for one in made:
        supported = {c for unit in one.case.evidence for c in unit.conditions}
        unknown = {c for c, state in one.case.labels.states.items() if state is State.UNKNOWN}
        bare, told = bare + len(unknown - supported), told + len(unknown & supported)
    assert bare > 100 and told > 100


def test_removing_one_of_two_units_often_changes_nothing(made: list[SyntheticCase]) -> None:
    kept = lost = 0
    for one in made:
        for root in one.roots:
            bearing = [u for u in one.case.evidence if root.condition in u.conditions]
            for pair in one.pairs:
                if (pair.root, pair.operation) == (root.id, Operation.REMOVAL) and len(bearing) > 1:
                    same = pair.state_after is one.case.labels.states[root.condition]
                    kept, lost = kept + same, lost + (not same)
    assert kept > 100 and lost > 20


def test_documents_hold_one_to_three_cases_with_the_same_evidence(
    made: list[SyntheticCase],
) -> None:
    cases: dict[str, list[LabelledCase]] = defaultdict(list)
    for one in made:
        assert one.case.document == one.case.rule_family
        cases[one.case.document or ""].append(one.case)
    assert {len(group) for group in cases.values()} == {1, 2, 3}
    shared = [
        {u.text for u in a.evidence if u.conditions} & {u.text for u in b.evidence if u.conditions}
        for a, b in (group[:2] for group in cases.values() if len(group) > 1)
    ]
    assert sum(map(bool, shared)) > len(shared) / 2


def test_every_edit_changes_the_text(made: list[SyntheticCase]) -> None:
    for one in made:
        for root in one.roots:
            texts = [p.text for p in one.pairs if p.root == root.id and p.text is not None]
            assert one.case.unit(root.evidence).text not in texts
            assert len(set(texts)) == len(texts)


def test_related_roots_share_a_split(tmp_path: Path) -> None:
    write_synthetic(tmp_path, 800, 1)
    assert leaks(tmp_path) == []


# ---- The text does not give the state away -----------------------------------------------------


def features(text: str) -> set[str]:
    found = re.findall(r"[a-z']+", text.lower())
    return set(found) | {f"{a} {b}" for a, b in pairwise(found)}


def naive_bayes(rows: list[tuple[str, State]]) -> float:
    """The accuracy of a bag of words and word pairs, learned on one half, on the other half."""
    half = len(rows) // 2
    seen: dict[State, Counter[str]] = defaultdict(Counter)
    prior = Counter(state for _, state in rows[:half])
    for text, state in rows[:half]:
        seen[state].update(features(text))

    def score(text: str, state: State) -> float:
        weights = (math.log((seen[state][f] + 0.5) / (prior[state] + 1)) for f in features(text))
        return math.log(prior[state]) + sum(weights)

    right = sum(max(prior, key=lambda s: score(text, s)) is state for text, state in rows[half:])
    return right / (len(rows) - half)


def test_words_alone_do_not_tell_satisfied_from_not_satisfied(made: list[SyntheticCase]) -> None:
    alone: list[tuple[str, State]] = []
    together: list[tuple[str, State]] = []
    for one in made:
        for unit in one.case.evidence:
            for condition in unit.conditions:
                state = one.case.labels.states[condition]
                if state is not State.UNKNOWN:
                    alone.append((unit.text, state))
                    together.append((f"{one.case.conditions[condition]} {unit.text}", state))
    assert 0.42 < naive_bayes(alone) < 0.58
    assert 0.42 < naive_bayes(together) < 0.6


def test_denials_are_no_sign_of_a_state(made: list[SyntheticCase]) -> None:
    denies: dict[State, list[bool]] = defaultdict(list)
    for one in made:
        for unit in one.case.evidence:
            for condition in unit.conditions:
                word = re.search(r"\b(not|no|none|never|nor|nothing|nobody|without)\b", unit.text)
                denies[one.case.labels.states[condition]].append(word is not None)
    rates = {state: sum(found) / len(found) for state, found in denies.items()}
    assert rates[State.SATISFIED] == pytest.approx(rates[State.NOT_SATISFIED], abs=0.05)
    assert min(rates.values()) > 0.15 and max(rates.values()) < 0.75


def test_words_of_doubt_also_come_with_known_states(made: list[SyntheticCase]) -> None:
    for word in ("rumour", "stranger", "unsigned note", "question mark", "guesses"):
        states = {
            one.case.labels.states[condition]
            for one in made
            for unit in one.case.evidence
            for condition in unit.conditions
            if word in unit.text
        }
        assert states == set(State), word


# ---- Wording -----------------------------------------------------------------------------------


def clauses(topic: Topic) -> Iterator[tuple[str, set[str]]]:
    """Every clause of a topic, with the slots it has to fill."""
    match topic:
        case Measure():
            yield from ((text, {"v"}) for text in topic.exact)
            yield from ((t, {"v"}) for pair in (*topic.upper, *topic.lower) for t in pair)
            yield from ((text, {"a", "b"}) for text in topic.between)
        case Choice():
            yield from ((text, {"v"}) for pair in topic.exact for text in pair)
            yield from ((text, {"a", "b"}) for pair in topic.either for text in pair)
        case YesNo():
            yield from ((t, set()) for pair in (*topic.says, *topic.reworded) for t in pair)
            yield from ((text, set()) for text, _ in topic.others)
    yield from ((text, set()) for text in topic.open)


def slots(text: str) -> set[str]:
    return {slot for _, slot, _, _ in Formatter().parse(text) if slot}


def test_there_are_enough_domains_and_topics() -> None:
    assert len(DOMAINS) >= 6 and all(len(domain.topics) >= 8 for domain in DOMAINS)


@pytest.mark.parametrize(
    ("domain", "topic"), TOPICS, ids=[f"{d.name}-{t.label}" for d, t in TOPICS]
)
def test_clauses_fit_where_they_are_put(domain: Domain, topic: Topic) -> None:
    names = {"who", "expert", "org", "place", "ref"}
    for text, values in clauses(topic):
        assert slots(text) - names == values, text
        assert not text[0].isupper() or text.startswith("Professor"), text
        assert not text.endswith("."), text
    asked = {Measure: {"limit"}, Choice: {"these"}, YesNo: set[str]()}[type(topic)]
    for text in (*topic.asks, *topic.bars):
        assert slots(text) - names == asked and text.endswith("."), text
    every = [text for text, _ in clauses(topic)]
    assert len(set(every)) == len(every)
    assert not set(topic.asks) & set(topic.bars)


def test_asides_fit_and_share_little_with_any_topic() -> None:
    for domain in DOMAINS:
        assert len(set(domain.background)) == len(domain.background) >= 8
        for text in domain.background:
            assert slots(text) <= {"who", "org", "place", "ref", "helper", "date", "n"}


def test_yes_no_topics_can_be_settled_both_ways() -> None:
    for _, topic in TOPICS:
        if isinstance(topic, YesNo):
            assert {settled for _, settled in topic.others} == {True, False}
            assert len(topic.says) >= 3 and len(topic.open) >= 2


@pytest.mark.parametrize(
    "patterns", [words.LEADS, words.ASSURANCES, words.HEDGES], ids=["leads", "sure", "hedged"]
)
def test_what_introduces_a_clause_ends_with_it(patterns: tuple[str, ...]) -> None:
    assert all(text.endswith("{clause}") for text in patterns)


def test_sentences_are_whole(made: list[SyntheticCase]) -> None:
    for one in made:
        texts = [unit.text for unit in one.case.evidence] + [p.text for p in one.pairs if p.text]
        texts += [one.case.rule, *one.case.conditions.values()]
        for text in texts:
            assert text.endswith(".") and text[0] == text[0].upper(), text
            assert not re.search(r"[{}]|  |\.\.| ,|(?<![\d.,-])1 [a-z]+s\b", text), text


def test_the_rule_names_every_condition(made: list[SyntheticCase]) -> None:
    for one in made:
        if one.shape.kind in ("nested", "at least"):
            for condition, matter in one.matters.items():
                assert f"{matter.topic.label} statement ({condition})" in one.case.rule


def test_lines_are_plain_json(written: tuple[Path, Counts]) -> None:
    for name in ("cases", "roots", "pairs", "criticality"):
        for line in (written[0] / f"{name}.jsonl").read_text().splitlines():
            assert isinstance(json.loads(line), dict)


def test_pairs_read_back_as_pairs(written: tuple[Path, Counts]) -> None:
    pair = Corpus.read(written[0]).pairs[0]
    assert isinstance(pair, Pair) and pair.before.id == pair.after.id
