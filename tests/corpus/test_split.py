"""Related roots share one split: what relates them, that no similar pair is missed, the balance."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interpact.case.case import Case
from interpact.case.files import case_from
from interpact.corpus import leaks as leaks_module
from interpact.corpus.components import components, identifying_texts
from interpact.corpus.leaks import leaks, similar_by_rarest, similar_literally
from interpact.corpus.near import MISSED, PERMUTATIONS, Sets, Texts, bands, link, near_duplicates
from interpact.corpus.pairs import Split
from interpact.corpus.split import split
from interpact.errors import InterPactError

SENTENCES = [
    "The roof of the northern barn was repaired in spring by two carpenters from the next village.",
    "Every ferry ticket bought before noon remains valid until the last crossing of the same evening.",
    "Our accountant keeps the receipts of the last seven years in a locked cabinet behind her desk.",
    "The swimming pool closes for cleaning on the first Monday of each month except in July.",
]


def case(name: str, *evidence: str, **fields: object) -> dict:
    return {
        "id": name,
        "rule": "A claim is paid if it was announced in time and the receipt is at hand.",
        "query": "Is the claim paid?",
        "aggregation": "all",
        "conditions": {"c1": "It was announced in time.", "c2": "The receipt is at hand."},
        "evidence": [
            {"id": f"e{i}", "conditions": ["c1"], "text": text} for i, text in enumerate(evidence)
        ],
        "labels": {"states": {"c1": "satisfied", "c2": "unknown"}, "decision": "insufficient"},
    } | fields


def corpus(folder: Path, cases: list[dict], splits: dict[str, str] | None = None) -> Path:
    """A corpus with a root for each evidence unit, and as many pairs as the unit has words."""
    roots, pairs = [], []
    for some in cases:
        for unit in some["evidence"]:
            root = {"id": f"{some['id']}/{unit['id']}", "case": some["id"]}
            root |= {"evidence": unit["id"], "condition": unit["conditions"][0]}
            roots.append(root | ({"split": splits[some["id"]]} if splits else {}))
            pairs.append({
                "id": f"{root['id']}/removal", "root": root["id"], "operation": "removal",
                "text": None, "state_after": "unknown",
            })  # fmt: skip
            pairs.append({
                "id": f"{root['id']}/paraphrase", "root": root["id"], "operation": "paraphrase",
                "text": "In other words.", "state_after": "satisfied",
            })  # fmt: skip
    for name, rows in [("cases", cases), ("roots", roots), ("pairs", pairs)]:
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def splits_of(folder: Path) -> dict[str, str]:
    rows = map(json.loads, (folder / "roots.jsonl").read_text().splitlines())
    return {row["id"]: row["split"] for row in rows}


def groups(*cases: dict, threshold: float = 0.8) -> list[tuple[str, ...]]:
    return [some.cases for some in components(map(case_from, cases), threshold)]


# ---- What relates cases ------------------------------------------------------------------------


def test_cases_of_a_document_or_a_rule_family_are_related_through_others():
    assert groups(
        case("a", "One.", document="d1"),
        case("b", "Two.", document="d1", rule_family="f"),
        case("c", "Three.", rule_family="f"),
        case("d", "Four.", document="f"),  # a document is no rule family, whatever its name
        case("e", "Five.", document="d2"),
    ) == [("a", "b", "c"), ("d",), ("e",)]


def test_rule_query_and_conditions_relate_no_cases():
    first, second, third, fourth = SENTENCES
    assert groups(case("a", first), case("b", second), case("c", third), case("d", fourth)) == [
        ("a",), ("b",), ("c",), ("d",),
    ]  # fmt: skip


def test_one_near_duplicate_unit_relates_cases_whatever_else_they_hold():
    first, second, third, fourth = SENTENCES
    copied = first.upper().replace(" IN SPRING", " -- IN  SPRING,") + " Truly."
    assert groups(case("a", second, first), case("b", third, copied), case("c", fourth)) == [
        ("a", "b"),
        ("c",),
    ]


def test_short_evidence_relates_cases_only_as_a_whole():
    shared = "The Receiving Party agrees:"
    eleven = "Notice was sent by letter on the third day of May."
    nine = "The clerk at the counter stamped the yellow receipt."
    assert groups(case("a", shared, SENTENCES[0]), case("b", shared, SENTENCES[1])) == [
        ("a",),
        ("b",),
    ]
    assert groups(
        case("a", shared, eleven, nine), case("b", shared, eleven, nine, query="So?")
    ) == [("a", "b")]
    assert groups(case("a", "Yes."), case("b", "Yes.")) == [("a", "b")]
    assert groups(case("a", "Yes."), case("b", "Yes.", rule="Another.")) == [("a",), ("b",)]


def test_similarity_has_to_reach_the_threshold():
    words = [f"word{i}" for i in range(29)]
    changed = [*words[:10], "other", *words[11:]]  # 3 of 27 shingles differ: 24 / 30
    texts = [case("a", " ".join(words)), case("b", " ".join(changed))]
    assert groups(*texts, threshold=0.8) == [("a", "b")]
    assert groups(*texts, threshold=0.81) == [("a",), ("b",)]


# ---- No similar pair is missed -----------------------------------------------------------------

shingle_sets = similar_literally
everywhere = frozenset(Split)


def closure(texts: list[str], threshold: float) -> set[frozenset[int]]:
    """The components of the texts by comparing each with each."""
    group = {i: {i} for i in range(len(texts))}
    for i, j, _ in shingle_sets(texts, [everywhere] * len(texts), threshold):
        if group[i] is not group[j]:
            group[i] |= group[j]
            for k in group[j]:
                group[k] = group[i]
    return {frozenset(some) for some in group.values()}


def found_by_hashing(texts: list[str], threshold: float) -> set[frozenset[int]]:
    numbered = Texts()
    assert [numbered.add(text) for text in texts] == list(range(len(texts)))
    sets = near_duplicates(numbered, threshold)
    found: dict[int, set[int]] = {}
    for i in range(len(texts)):
        found.setdefault(sets.find(i), set()).add(i)
    return {frozenset(some) for some in found.values()}


def related_texts(seed: int, count: int, boilerplate: float, words: int = 30) -> list[str]:
    """Texts that begin with the same words; every third is a copy of one before, a little changed."""
    some = random.Random(seed)
    shared = [f"b{i}" for i in range(words)][: round(words * boilerplate)]
    texts: list[list[str]] = []
    for i in range(count):
        if i % 3 == 2:
            text = list(some.choice(texts))
            for _ in range(some.choice([1, 1, 1, 2, 3])):
                text[some.randrange(words)] = f"x{some.randrange(10**9)}"
        else:
            text = shared + [f"w{some.randrange(5000)}" for _ in range(words - len(shared))]
        texts.append(text)
    return list(dict.fromkeys(" ".join(text) for text in texts))


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.floats(0, 1), st.sampled_from([0.3, 0.5, 0.7, 0.8, 0.9, 1.0]))
def test_hashing_finds_what_comparing_each_with_each_finds(seed, boilerplate, threshold):
    texts = related_texts(seed, 90, boilerplate)
    assert found_by_hashing(texts, threshold) == closure(texts, threshold)


@pytest.fixture
def compared(monkeypatch) -> list[int]:
    """How many texts each call of `similarities` compares."""
    counts: list[int] = []
    similarities = Texts.similarities

    def counting(self: Texts, one: int, others: np.ndarray) -> np.ndarray:
        counts.append(len(others))
        return similarities(self, one, others)

    monkeypatch.setattr(Texts, "similarities", counting)
    return counts


@pytest.mark.parametrize("boilerplate", [0.3, 0.6, 0.85])
def test_crowded_buckets_miss_nothing_and_stay_cheap(boilerplate, compared):
    texts = related_texts(1, 1000, boilerplate)
    assert found_by_hashing(texts, 0.8) == closure(texts, 0.8)
    assert sum(compared) < 20 * len(texts)  # each with each would be 500 times


def test_one_large_cluster_is_found_whole_and_stays_cheap(compared):
    words = [f"w{i}" for i in range(60)]
    texts = [" ".join([*words[: i % 60], f"x{i}", *words[i % 60 + 1 :]]) for i in range(2000)]
    assert found_by_hashing(texts, 0.8) == {frozenset(range(2000))}
    assert sum(compared) < 20 * len(texts)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.lists(st.sampled_from("abcdef"), min_size=3, max_size=12), min_size=1, max_size=40),
    st.floats(0.1, 1.0),
    st.randoms(use_true_random=False),
)
def test_the_two_comparisons_behind_the_check_agree(words, threshold, some):
    texts = list(dict.fromkeys(" ".join(text) for text in words))
    parts = [frozenset(some.sample(list(Split), some.randint(1, 2))) for _ in texts]
    literal = {(i, j): s for i, j, s in similar_literally(texts, parts, threshold)}
    joined = {(min(i, j), max(i, j)): s for i, j, s in similar_by_rarest(texts, parts, threshold)}
    assert joined == literal


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.sampled_from([0.4, 0.6, 0.8]))
def test_they_agree_on_texts_of_all_lengths(seed, threshold):
    some = random.Random(seed)
    vocabulary = [f"w{i}" for i in range(60)]
    texts: list[list[str]] = []
    for _ in range(60):
        text = some.choices(vocabulary, k=some.randint(3, 40))
        if texts and some.random() < 0.6:  # a part of an earlier text, or more than it
            text = some.choice(texts)
            cut = some.randint(0, len(text) // 3)
            text = text[cut:] + some.choices(vocabulary, k=some.randint(0, 3))
        texts.append((text * 3)[: max(3, len(text))])
    distinct = list(dict.fromkeys(" ".join(text) for text in texts))
    parts = [frozenset(some.sample(list(Split), 1)) for _ in distinct]
    literal = {(i, j) for i, j, _ in similar_literally(distinct, parts, threshold)}
    joined = {(min(i, j), max(i, j)) for i, j, _ in similar_by_rarest(distinct, parts, threshold)}
    assert joined == literal
    assert found_by_hashing(distinct, threshold) == closure(distinct, threshold)


def test_every_pair_of_a_bucket_with_a_head_in_it_is_linked():
    words = [f"w{i}" for i in range(40)]
    first = " ".join([*words, "x1 x2 x3"])
    middle = " ".join(words)  # resembles the first and the last, which do not resemble each other
    last = " ".join(["y1 y2 y3", *words])
    other, like_other = "a b c d e f g h i j k l", "a b c d e f g h i j k l m"
    texts = Texts()
    numbers = [texts.add(text) for text in (first, middle, other, last, like_other)]
    texts.finish()
    sets = Sets(5)
    link(texts, np.array(numbers), 3, sets, 0.9)
    assert sets.find(0) == sets.find(1) == sets.find(3) != sets.find(2)
    assert sets.find(2) == sets.find(4)


def test_batches_do_not_change_the_shingles(monkeypatch):
    texts = related_texts(3, 50, 0.3)

    def shingles() -> list[list[int]]:
        numbered = Texts()
        for text in [*texts, *texts]:
            numbered.add(text)
        numbered.finish()
        bounds = zip(numbered.starts[:-1], numbered.starts[1:], strict=True)
        return [sorted(numbered.hashes[a:b].tolist()) for a, b in bounds]

    whole = shingles()
    monkeypatch.setattr(Texts, "BATCH", 7)
    assert shingles() == whole
    assert found_by_hashing(texts, 0.8) == closure(texts, 0.8)
    assert [len(some) for some in whole] == [28] * len(texts)


@given(st.floats(0.12, 1.0))
def test_the_bands_miss_next_to_nothing_at_the_threshold(threshold):
    count, rows = bands(threshold)
    assert count * rows <= PERMUTATIONS
    assert (1 - threshold**rows) ** count <= MISSED


# ---- Splitting ---------------------------------------------------------------------------------


def varied(count: int, seed: int = 0) -> list[dict]:
    """Cases of two sources, of which one has a fifth of the documents, with one to six cases each."""
    some = random.Random(seed)
    cases: list[dict] = []
    for i in range(count):
        source = "letters" if i % 5 else "forms"
        for k in range(some.choice([1, 1, 2, 3, 6])):
            units = [f"Unit {j} of {i} {k}." for j in range(some.randint(1, 3))]
            cases.append(case(f"d{i}-{k}", *units, document=f"d{i}", source=source))
    return cases


def test_components_stay_whole_and_sources_are_balanced(tmp_path):
    folder = corpus(tmp_path, varied(150))
    report = split(folder, (60, 20, 20))
    where = splits_of(folder)
    for document in range(150):
        assert len({part for root, part in where.items() if root.startswith(f"d{document}-")}) == 1
    sums = {(row.split, row.source): row for row in report.rows}
    for source in (None, "letters", "forms"):
        rows = [sums[part, source] for part in Split]
        assert (
            sum(row.components for row in rows) == {None: 150, "letters": 120, "forms": 30}[source]
        )
        for what in ("roots", "pairs"):
            counts = [getattr(row, what) for row in rows]
            shares = [n / sum(counts) for n in counts]
            assert shares == pytest.approx([0.6, 0.2, 0.2], abs=0.02)
    roots = Counter(where.values())
    assert {part: sums[part, None].roots for part in Split} == roots
    assert {part: sums[part, None].pairs for part in Split} == {p: 2 * n for p, n in roots.items()}
    assert {part: sums[part, None].controls for part in Split} == roots
    assert f"| train | all | {2 * roots['train']:,} | {roots['train']} |" in report.markdown()
    assert leaks(folder) == []


@pytest.mark.parametrize("seed", range(5))
def test_a_large_component_does_not_upset_the_balance(tmp_path, seed):
    large = [case(f"big{i}", f"Unit {i}.", document="big") for i in range(60)]
    small = [case(f"small{i}", f"Note {i}.") for i in range(40)]
    report = split(corpus(tmp_path, large + small), seed=seed)
    assert [row.roots for row in report.rows] == [60, 20, 20]
    assert report.largest is not None and report.largest.id == "big0"
    assert report.largest_roots == 60


def test_the_order_of_lines_does_not_matter_and_the_seed_does(tmp_path):
    cases = varied(60)
    cases += [case(f"copy{i}", SENTENCES[i % 4] + f" {i}") for i in range(12)]
    folder = corpus(tmp_path, cases)
    before = [json.loads(line) for line in (folder / "roots.jsonl").read_text().splitlines()]
    split(folder, seed=3)
    after = [json.loads(line) for line in (folder / "roots.jsonl").read_text().splitlines()]
    assert [{k: v for k, v in row.items() if k != "split"} for row in after] == before
    expected = splits_of(folder)
    for name in ("cases", "roots", "pairs"):
        lines = (folder / f"{name}.jsonl").read_text().splitlines(keepends=True)
        random.Random(name).shuffle(lines)
        (folder / f"{name}.jsonl").write_text("".join(lines))
    split(folder, seed=3)
    assert splits_of(folder) == expected
    split(folder, seed=4)
    assert splits_of(folder) != expected


def test_a_split_without_a_share_stays_empty(tmp_path):
    report = split(corpus(tmp_path, varied(20)), (80, 0, 20))
    assert {row.split for row in report.rows if row.roots} == {Split.TRAIN, Split.TEST}


def test_cases_without_roots_relate_nothing(tmp_path):
    bridge = case("bridge", document="d1", rule_family="f")
    bridge["evidence"], bridge["labels"]["states"]["c1"] = [], "unknown"
    ends = [case("a", "One.", document="d1"), case("b", "Two.", rule_family="f")]
    assert split(corpus(tmp_path, [*ends, bridge]), (50, 0, 50)).components == 2


@pytest.mark.parametrize("ratios", [(60, 40), (60, -20, 60), (0, 0, 0), (1, float("nan"), 1)])
def test_unusable_ratios_are_refused(tmp_path, ratios):
    with pytest.raises(InterPactError, match="give three shares of train, dev, test"):
        split(corpus(tmp_path, varied(3)), ratios)


def test_records_that_do_not_fit_leave_the_roots_as_they_were(tmp_path):
    folder = corpus(tmp_path, varied(3))
    before = (folder / "roots.jsonl").read_bytes()
    with (folder / "pairs.jsonl").open("a") as file:
        file.write(
            '{"id": "z/e0/removal", "root": "z/e0", "operation": "removal", "text": null, '
            '"state_after": "unknown"}\n'
        )
    with pytest.raises(InterPactError, match=r'"z/e0/removal": there is no root "z/e0"'):
        split(folder)
    assert (folder / "roots.jsonl").read_bytes() == before
    with (folder / "roots.jsonl").open("a") as file:
        file.write('{"id": "z/e0", "case": "z", "evidence": "e0", "condition": "c1"}\n')
    with pytest.raises(InterPactError, match='there is no case "z"'):
        split(folder)
    with pytest.raises(InterPactError, match="has no split; run interpact split first"):
        leaks(folder)
    with pytest.raises(InterPactError, match="threshold 8"):
        leaks(folder, 8)


# ---- Checking ----------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [0, leaks_module.LITERAL])
def test_every_kind_of_leak_is_told(tmp_path, monkeypatch, limit):
    monkeypatch.setattr(leaks_module, "LITERAL", limit)
    first, second, third, fourth = SENTENCES
    cases = [
        case("a", "One.", document="d"),
        case("b", "Two.", document="d"),
        case("c", "Three.", rule_family="f"),
        case("d", "Four.", rule_family="f"),
        case("e", "Five."),
        case("f", "Five."),
        case("g", first + " Indeed.", second),
        case("h", third, first),
        case("i", fourth, "No."),
        case("j", fourth),
        case("k", second + " More."),
    ]
    splits = dict(zip("abcdefghijk", ["train", "dev", "train", "test", "dev", "test"] + 2 * ["train", "test"] + ["train"], strict=True))  # fmt: skip
    found = [str(leak) for leak in leaks(corpus(tmp_path, cases, splits))]
    assert found == [
        "a (train) and b (dev): same document",
        "c (train) and d (test): same rule family",
        "e (dev) and f (test): same whole text",
        "i (train) and j (test): evidence 1.00 alike",
        "g (train) and h (test): evidence 0.94 alike",
    ]


def test_a_case_in_two_splits_is_a_leak(tmp_path):
    folder = corpus(tmp_path, [case("a", "One.", "Two.")], {"a": "train"})
    lines = (folder / "roots.jsonl").read_text().splitlines()
    (folder / "roots.jsonl").write_text(lines[0] + "\n" + lines[1].replace("train", "dev") + "\n")
    assert [str(leak) for leak in leaks(folder)] == ["a (dev) and a (train): same case"]


@settings(deadline=None, max_examples=10)
@given(st.integers(0, 10**6))
def test_a_split_never_leaks(tmp_path_factory, seed):
    texts = related_texts(seed, 60, 0.4)
    some = random.Random(seed)
    cases = [
        case(f"c{i}", *some.sample(texts, 2), document=f"d{some.randrange(80)}") for i in range(40)
    ]
    folder = corpus(tmp_path_factory.mktemp("corpus"), cases)
    split(folder, seed=seed)
    assert leaks(folder) == []


def test_importing_loads_nothing_heavy():
    code = (
        "import sys, interpact.corpus.split, interpact.corpus.labels, interpact.corpus.coverage; "
        "sys.exit(bool({'numpy', 'scipy', 'matplotlib', 'pyarrow'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_identifying_texts_ignore_form():
    one = Case.model_validate({k: v for k, v in case("a", SENTENCES[0]).items() if k != "labels"})
    other = one.evidence[0].text.replace("the", "ｔｈｅ").replace(" ", "\u00a0")
    assert identifying_texts(case_from(case("b", other))) == identifying_texts(one)
