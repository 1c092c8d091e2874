"""The ContractNLI importer: what becomes of contracts, and that nothing goes uncounted."""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections import Counter
from contextlib import suppress
from math import comb
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interpact.case.files import write_cases
from interpact.corpus.sources.contractnli import import_contractnli
from interpact.corpus.sources.contractnli_policies import (
    QUERY,
    RULE,
    NamedPolicies,
    NamedPolicy,
    Policy,
    RandomSubsets,
)
from interpact.corpus.sources.ledger import Imported, Ledger
from interpact.corpus.store import Corpus, write_records
from interpact.errors import InterPactError

HYPOTHESES = {
    "nda-1": "The borrower may lend the key to a colleague.",
    "nda-2": "The key has to be handed back.",
    "nda-3": "The borrower must not copy the key.",
    "nda-11": "Losing the key costs a fee.",
}
PARTS = [
    "Key agreement.",
    "  Colleagues may use the key. ",
    "\n \t",
    "No copy is made, and it is returned.",
]


def contract(
    number: int | str, annotations: dict[str, tuple[str, list[int]]], parts: list[str] = PARTS
) -> dict[str, Any]:
    """A contract whose spans are its parts, laid end to end."""
    ends = [sum(map(len, parts[: i + 1])) for i in range(len(parts))]
    marked = {key: {"choice": choice, "spans": at} for key, (choice, at) in annotations.items()}
    return {
        "id": number,
        "file_name": "made-up.pdf",
        "text": "".join(parts),
        "spans": [[end - len(part), end] for part, end in zip(parts, ends, strict=True)],
        "annotation_sets": [{"annotations": marked}],
    }


def content(*contracts: dict[str, Any]) -> dict[str, Any]:
    labels = {k: {"short_description": k, "hypothesis": text} for k, text in HYPOTHESES.items()}
    return {"documents": list(contracts), "labels": labels}


def written(folder: Path, data: object, name: str = "dev.json") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def chosen(*keys: str, **texts: str) -> NamedPolicies:
    return NamedPolicies((NamedPolicy(name="mine", hypotheses=keys, **texts),))


def imported(path: Path, policy: Policy | None = None) -> Imported:
    return import_contractnli([path], policy or RandomSubsets(), Ledger())


def fates(done: Imported, noun: str) -> dict[tuple[str, str], int]:
    return {(fate, why): n for what, fate, why, n in done.ledger.rows() if what == noun}


PLAIN = contract(
    7,
    {
        "nda-1": ("Entailment", [1]),
        "nda-2": ("Entailment", [3]),
        "nda-3": ("Contradiction", [2, 3]),
        "nda-11": ("NotMentioned", []),
    },
)


# ---- what a case is --------------------------------------------------------------------------


def test_labels_become_states_and_spans_become_units_in_document_order(tmp_path: Path) -> None:
    done = imported(written(tmp_path, content(PLAIN)), chosen("nda-2", "nda-11", "nda-1"))
    (case,) = done.cases
    assert (case.id, case.document, case.source) == (
        "contractnli-dev-7-mine",
        "contractnli-dev-7",
        "contractnli",
    )
    assert (case.rule, case.query, case.aggregation) == (RULE, QUERY, "all")
    assert list(case.conditions.items()) == [
        ("c1", HYPOTHESES["nda-2"]),
        ("c2", HYPOTHESES["nda-11"]),
        ("c3", HYPOTHESES["nda-1"]),
    ]
    assert [(u.id, u.conditions, u.text) for u in case.evidence] == [
        ("e1", ("c3",), "Colleagues may use the key."),
        ("e2", ("c1",), "No copy is made, and it is returned."),
    ]
    assert case.labels.states == {"c1": "satisfied", "c2": "unknown", "c3": "satisfied"}
    assert case.labels.decision == "insufficient"
    assert [(r.id, r.case, r.evidence, r.condition, r.split) for r in done.roots] == [
        ("contractnli-dev-7-mine/e1", "contractnli-dev-7-mine", "e1", "c3", None),
        ("contractnli-dev-7-mine/e2", "contractnli-dev-7-mine", "e2", "c1", None),
    ]


@pytest.mark.parametrize(
    ("keys", "decision"),
    [
        (("nda-1", "nda-2"), "yes"),
        (("nda-1", "nda-3", "nda-11"), "no"),
        (("nda-1", "nda-11"), "insufficient"),
    ],
)
def test_the_decision_is_the_conjunction(
    tmp_path: Path, keys: tuple[str, ...], decision: str
) -> None:
    (case,) = imported(written(tmp_path, content(PLAIN)), chosen(*keys)).cases
    assert case.labels.decision == decision


def test_a_span_of_several_chosen_hypotheses_is_one_unit_and_never_a_target(tmp_path: Path) -> None:
    path = written(tmp_path, content(PLAIN))
    done = imported(path, chosen("nda-1", "nda-2", "nda-3"))
    (case,) = done.cases
    assert [(u.id, u.conditions) for u in case.evidence] == [("e1", ("c1",)), ("e2", ("c2", "c3"))]
    assert [r.id for r in done.roots] == ["contractnli-dev-7-mine/e1"]
    assert fates(done, "root") == {
        ("kept", ""): 1,
        ("dropped", "its span serves several conditions of the case"): 2,
    }
    # The same span is a target where only one of its hypotheses is chosen.
    assert [r.evidence for r in imported(path, chosen("nda-1", "nda-2")).roots] == ["e1", "e2"]


def test_units_follow_the_text_and_not_the_numbering_of_the_spans(tmp_path: Path) -> None:
    doc = contract(
        1, {"nda-1": ("Entailment", [0]), "nda-2": ("Entailment", [1])}, ["One. ", "Two."]
    )
    doc["spans"].reverse()
    (case,) = imported(written(tmp_path, content(doc)), chosen("nda-1", "nda-2")).cases
    assert [(u.text, u.conditions) for u in case.evidence] == [("One.", ("c2",)), ("Two.", ("c1",))]


def test_more_than_nine_conditions_keep_their_order_on_a_shared_unit(tmp_path: Path) -> None:
    keys = [f"k{i}" for i in range(11)]
    doc = contract(1, {key: ("Entailment", [0]) for key in keys}, ["All of it."])
    data = {"documents": [doc], "labels": {k: {"hypothesis": f"Claim {k}."} for k in keys}}
    (case,) = imported(written(tmp_path, data), chosen(*keys)).cases
    assert case.evidence[0].conditions == tuple(case.conditions)


# ---- what is left out ------------------------------------------------------------------------


def test_whitespace_spans_and_what_only_they_support_are_dropped_and_counted(
    tmp_path: Path,
) -> None:
    doc = contract(1, {"nda-1": ("Entailment", [2]), "nda-3": ("Contradiction", [2, 3])})
    done = imported(written(tmp_path, content(doc)), chosen("nda-3"))
    assert [u.text for u in done.cases[0].evidence] == ["No copy is made, and it is returned."]
    assert fates(done, "annotation") == {
        ("kept", ""): 1,
        ("dropped", "settled, but without usable evidence"): 1,
    }
    assert fates(done, "evidence link") == {("kept", ""): 1, ("dropped", "only whitespace"): 2}
    assert fates(done, "span") == {
        ("kept", ""): 1,
        ("dropped", "evidence of no hypothesis"): 2,
        ("dropped", "only whitespace"): 1,
    }
    assert not imported(written(tmp_path, content(doc)), chosen("nda-1", "nda-3")).cases


def test_a_contract_of_the_same_text_is_dropped_with_everything_in_it(tmp_path: Path) -> None:
    again = {**PLAIN, "id": 8, "text": PLAIN["text"] + "\n"}
    done = imported(written(tmp_path, content(PLAIN, again)))
    assert {case.document for case in done.cases} == {"contractnli-dev-7"}
    assert fates(done, "contract")["dropped", "same text as another contract"] == 1
    for noun, count in (("annotation", 4), ("evidence link", 4), ("span", 4)):
        assert fates(done, noun)["dropped", "its contract is dropped"] == count


def test_faults_inside_a_contract_cost_no_more_than_what_they_touch(tmp_path: Path) -> None:
    doc = contract(
        1,
        {
            "nda-1": ("Perhaps", [0]),
            "nda-2": ("Entailment", [3, 3, 99, -1]),
            "nda-3": ("Entailment", [4, 5, 1]),
            "nda-99": ("Entailment", [0]),
        },
        [*PARTS, "\x00", "end"],
    )
    doc["spans"][5][1] += 1
    done = imported(written(tmp_path, content(doc)), chosen("nda-2", "nda-3"))
    assert [u.text for u in done.cases[0].evidence] == [PARTS[1].strip(), PARTS[3].strip()]
    assert fates(done, "annotation") == {
        ("kept", ""): 2,
        ("dropped", "not a hypothesis of its file"): 1,
        ("dropped", "the choice is none of Entailment, Contradiction, NotMentioned"): 1,
    }
    assert fates(done, "evidence link") == {
        ("kept", ""): 2,
        ("dropped", "holds a NUL character"): 1,
        ("dropped", "its annotation is dropped"): 2,
        ("dropped", "listed twice"): 1,
        ("dropped", "no such span"): 2,
        ("dropped", "offsets outside the text"): 1,
    }
    assert fates(done, "span") == {
        ("kept", ""): 2,
        ("dropped", "holds a NUL character"): 1,
        ("dropped", "its annotation is dropped"): 1,
        ("dropped", "offsets outside the text"): 1,
        ("dropped", "only whitespace"): 1,
    }


def test_only_the_first_annotation_set_is_read_and_a_contract_without_one_is_dropped(
    tmp_path: Path,
) -> None:
    other = contract(2, {"nda-1": ("Contradiction", [0])}, ["Two."])
    both = {**PLAIN, "annotation_sets": PLAIN["annotation_sets"] + other["annotation_sets"]}
    done = imported(written(tmp_path, content(both, {**other, "annotation_sets": []})))
    assert {case.document for case in done.cases} == {"contractnli-dev-7"}
    assert fates(done, "annotation")["dropped", "not in the first set"] == 1
    assert fates(done, "contract") == {("kept", ""): 1, ("dropped", "not annotated"): 1}


def test_evidence_of_an_unmentioned_hypothesis_is_a_unit_but_no_target(tmp_path: Path) -> None:
    doc = contract(1, {"nda-1": ("NotMentioned", [0]), "nda-2": ("Entailment", [1])})
    done = imported(written(tmp_path, content(doc)), chosen("nda-1", "nda-2"))
    assert [u.conditions for u in done.cases[0].evidence] == [("c1",), ("c2",)]
    assert [r.condition for r in done.roots] == ["c2"]
    assert ("dropped", "its condition is not mentioned, although it has evidence") in fates(
        done, "root"
    )


CHOICES = ("Entailment", "Contradiction", "NotMentioned", "Perhaps")


@st.composite
def sources(draw: st.DrawFn) -> dict[str, Any]:
    """Files in the published shape, with every kind of fault inside."""
    contracts: list[dict[str, Any]] = []
    for number in range(draw(st.integers(0, 4))):
        text = draw(st.text("ab \n\x00", max_size=12))
        edge = st.integers(-1, 14)
        spans = draw(st.lists(st.lists(edge, min_size=2, max_size=2), max_size=6))
        annotation = st.fixed_dictionaries(
            {
                "choice": st.sampled_from(CHOICES),
                "spans": st.lists(st.integers(-1, len(spans)), max_size=4),
            }
        )
        keys = st.sampled_from([*HYPOTHESES, "stray"])
        sets = st.lists(
            st.fixed_dictionaries({"annotations": st.dictionaries(keys, annotation)}), max_size=2
        )
        contracts.append(
            {"id": number, "text": text, "spans": spans, "annotation_sets": draw(sets)}
        )
    return content(*contracts)


@settings(deadline=None, max_examples=200)
@given(
    sources(),
    st.one_of(
        st.builds(RandomSubsets, per_contract=st.integers(1, 15), seed=st.integers()),
        st.sampled_from([chosen("nda-1"), chosen("nda-3", "nda-1", "nda-2")]),
    ),
)
def test_everything_is_kept_or_dropped_and_the_corpus_is_sound(
    data: dict[str, Any], policy: Policy
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        done = imported(written(Path(folder), data), policy)
        write_cases(Path(folder) / "cases.jsonl", done.cases)
        write_records(Path(folder) / "roots.jsonl", done.roots)
        corpus = Corpus.read(folder)
    assert list(corpus.roots) == [root.id for root in done.roots]
    documents = data["documents"]
    annotations = [
        a for d in documents for s in d["annotation_sets"] for a in s["annotations"].values()
    ]
    read = len(documents) - sum(
        n
        for (_, why), n in fates(done, "contract").items()
        if why in ("same text as another contract", "not annotated")
    )
    asked = policy.per_contract if isinstance(policy, RandomSubsets) else 1
    held = {
        "contract": len(documents),
        "annotation": len(annotations),
        "evidence link": sum(len(a["spans"]) for a in annotations),
        "span": sum(len(d["spans"]) for d in documents),
        "subset": asked * read,
        "root": sum(len(unit.conditions) for case in done.cases for unit in case.evidence),
    }
    ledger = done.ledger
    assert {n: ledger.total(n, "kept") + ledger.total(n, "dropped") for n in held} == held
    assert ledger.total("contract", "kept") == len({case.document for case in done.cases})
    assert ledger.total("subset", "kept") == len(done.cases)
    assert ledger.total("root", "kept") == len(done.roots)
    assert all(count > 0 for *_, count in ledger.rows())


# ---- random subsets --------------------------------------------------------------------------

KEYS = st.lists(st.sampled_from([f"nda-{i}" for i in range(1, 18)]), unique=True)


@given(KEYS, st.integers(1, 40), st.integers())
def test_random_subsets_are_different_and_as_many_as_there_can_be(
    keys: list[str], per_contract: int, seed: int
) -> None:
    subsets = RandomSubsets(per_contract, seed).draw("some-contract", keys)
    possible = sum(comb(len(keys), size) for size in (2, 3, 4))
    assert len({frozenset(s.keys) for s in subsets}) == len(subsets) == min(per_contract, possible)
    assert all(2 <= len(set(s.keys)) == len(s.keys) <= 4 for s in subsets)
    assert {key for s in subsets for key in s.keys} <= set(keys)
    assert len({s.name for s in subsets}) == len(subsets)


@given(KEYS, st.randoms(use_true_random=False), st.integers(1, 9), st.integers())
def test_random_subsets_hang_on_the_contract_and_the_seed_alone(
    keys: list[str], random: Any, per_contract: int, seed: int
) -> None:
    subsets = RandomSubsets(per_contract, seed).draw("some-contract", keys)
    random.shuffle(keys)
    assert RandomSubsets(per_contract, seed).draw("some-contract", keys) == subsets
    # Asking for more adds subsets and leaves those there were.
    assert (
        RandomSubsets(per_contract + 3, seed).draw("some-contract", keys)[:per_contract] == subsets
    )


def test_the_draw_is_the_same_on_every_machine_and_differs_by_seed_and_contract() -> None:
    def drawn(seed: int, document: str) -> list[tuple[str, ...]]:
        return [s.keys for s in RandomSubsets(3, seed).draw(document, list("abcdef"))]

    assert drawn(0, "one") == [("f", "d", "e"), ("e", "c", "b", "d"), ("e", "f")]
    assert drawn(1, "one") != drawn(0, "one") != drawn(0, "two")


def test_all_sizes_are_drawn_about_equally_often() -> None:
    keys = [f"nda-{i}" for i in range(17)]
    sizes = Counter(len(s.keys) for i in range(500) for s in RandomSubsets().draw(str(i), keys))
    assert set(sizes) == {2, 3, 4}
    assert max(sizes.values()) < 1.25 * min(sizes.values())


def test_the_order_of_files_and_contracts_changes_no_case(tmp_path: Path) -> None:
    docs = [
        contract(i, {k: ("Entailment", [i]) for k in HYPOTHESES}, list("abcd")) for i in range(4)
    ]
    for i, doc in enumerate(docs):
        doc["text"] += f" {i}"
    first = [
        written(tmp_path / "a", content(*docs[:2]), "train.json"),
        written(tmp_path / "a", content(*docs[2:]), "dev.json"),
    ]
    second = [
        written(tmp_path / "b", content(*docs[3:1:-1]), "dev.json"),
        written(tmp_path / "b", content(*docs[1::-1]), "train.json"),
    ]
    one, two = (import_contractnli(files, RandomSubsets(), Ledger()) for files in (first, second))
    assert len(one.cases) == 16
    assert {c.id: c for c in one.cases} == {c.id: c for c in two.cases}
    assert import_contractnli(first[::-1], RandomSubsets(), Ledger()) == one


def test_no_subset_can_be_empty_handed() -> None:
    with pytest.raises(InterPactError, match="ask for at least 1"):
        RandomSubsets(per_contract=0)


# ---- a user's policies -----------------------------------------------------------------------

POLICIES = """
- name: lending
  hypotheses: [nda-1, "losing the key  costs a fee."]
- name: return
  hypotheses: [NDA-2]
  rule: The loan is sound if the key comes back.
  query: Is the loan sound?
"""


def test_policies_name_hypotheses_by_key_or_text_with_their_own_rule(tmp_path: Path) -> None:
    file = tmp_path / "policies.yaml"
    file.write_text(POLICIES)
    done = imported(written(tmp_path, content(PLAIN)), NamedPolicies.read(file))
    lending, back = done.cases
    assert (lending.id, lending.rule) == ("contractnli-dev-7-lending", RULE)
    assert list(lending.conditions.values()) == [HYPOTHESES["nda-1"], HYPOTHESES["nda-11"]]
    assert (back.rule, back.query) == (
        "The loan is sound if the key comes back.",
        "Is the loan sound?",
    )
    assert list(back.conditions.values()) == [HYPOTHESES["nda-2"]]


def test_policies_can_be_json(tmp_path: Path) -> None:
    file = written(tmp_path, [{"name": "x", "hypotheses": ["nda-1"]}], "policies.json")
    (policy,) = NamedPolicies.read(file).policies
    assert policy == NamedPolicy(name="x", hypotheses=("nda-1",))


def test_a_policy_is_dropped_where_the_contract_cannot_serve_it(tmp_path: Path) -> None:
    doc = contract(2, {"nda-1": ("Entailment", [0])}, ["Another agreement."])
    done = imported(written(tmp_path, content(PLAIN, doc)), chosen("nda-1", "nda-2"))
    assert [case.document for case in done.cases] == ["contractnli-dev-7"]
    why = "names a hypothesis that is not usable in the contract"
    assert fates(done, "subset") == {("kept", "decision yes"): 1, ("dropped", why): 1}
    assert fates(done, "contract")["dropped", "none of its subsets is a case"] == 1


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("p.toml", "", "p.toml: the format is told by the ending; use .yaml, .yml or .json"),
        ("p.yaml", "", "p.yaml: must hold one list of policies"),
        ("p.yaml", "- {name: a, hypotheses: [b]}\n---\n- {}", "p.yaml: must hold one list"),
        ("p.yaml", "a: [\n", "p.yaml:2: not YAML"),
        ("p.json", '[{"name": "a", }]', "p.json:1: not JSON"),
        ("p.yaml", "name: a", "p.yaml:1: must be a list, not a group of fields"),
        ("p.yaml", "[]", "p.yaml:1: is empty; give at least one"),
        ("p.yaml", "- name: a\n  hypotheses: nda-1", "p.yaml:2: [0].hypotheses: must be a list"),
        ("p.yaml", "- name: a", "p.yaml:1: [0].hypotheses: is missing; add it"),
        ("p.yaml", "- {name: a, hypotheses: []}", "[0].hypotheses: is empty; give at least one"),
        (
            "p.yaml",
            "- name: a\n  hypothesis: [nda-1]",
            'p.yaml:2: [0].hypothesis: unknown field (did you mean "hypotheses"?)',
        ),
        (
            "p.yaml",
            "- {name: a, hypotheses: [nda-1]}\n- {name: a, hypotheses: [nda-2]}",
            "p.yaml:2: [1].name: another policy has this name; give each its own",
        ),
        ("p.json", '[{"name": 7, "hypotheses": ["x"]}]', "p.json:1: [0].name: must be text"),
        (
            "p.yaml",
            "- name: a\n  hypotheses:\n  - nda-1\n  - nda-111",
            'p.yaml:4: [0].hypotheses[1]: dev.json has no hypothesis "nda-111" (did you mean "nda-11"?)',
        ),
        (
            "p.yaml",
            f"- name: a\n  hypotheses: [nda-1, {HYPOTHESES['nda-1']}]",
            "p.yaml:2: [0].hypotheses[1]: nda-1 is listed twice; name each hypothesis once",
        ),
    ],
)
def test_a_policy_file_in_error_is_told_with_place_and_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, content(PLAIN))
    Path(name).write_text(text)
    with pytest.raises(InterPactError) as caught:
        imported(Path("dev.json"), NamedPolicies.read(name))
    assert message in str(caught.value)


def test_a_missing_policy_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(
        InterPactError, match=r"none\.yaml: the policy file cannot be read: No such"
    ):
        NamedPolicies.read(tmp_path / "none.yaml")


# ---- files, folders and archives -------------------------------------------------------------


def test_the_archive_its_folder_and_its_files_give_the_same(tmp_path: Path) -> None:
    other = contract(3, {"nda-1": ("Entailment", [0]), "nda-2": ("Entailment", [1])}, ["A. ", "B."])
    folder = tmp_path / "contract-nli"
    files = [
        written(folder, content(PLAIN), "train.json"),
        written(folder, content(other), "test.json"),
    ]
    written(folder, {"no": "contracts"}, "notes.json")
    archive = tmp_path / "contract-nli.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in folder.iterdir():
            packed.write(file, f"contract-nli/{file.name}")
        packed.writestr("__MACOSX/contract-nli/train.json", b"\x00\x05\x16\x07")
    expected = import_contractnli(files, RandomSubsets(), Ledger())
    assert {c.document for c in expected.cases} == {"contractnli-train-7", "contractnli-test-3"}
    assert imported(folder) == imported(archive) == expected


def test_a_file_of_any_name_gives_its_stem_to_the_ids(tmp_path: Path) -> None:
    path = written(tmp_path, content({**PLAIN, "id": "k-7"}), "our own\nleases.json")
    assert imported(path).cases[0].id == "contractnli-our-own-leases-k-7-1"


@pytest.mark.parametrize("name", ["none.json", "none.zip", "empty", "empty.zip"])
def test_what_is_not_there_is_told_with_where_to_get_it(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    zipfile.ZipFile(tmp_path / "empty.zip", "w").close()
    with pytest.raises(InterPactError) as caught:
        imported(tmp_path / name)
    for part in (name, "Stanford NLP", "https://stanfordnlp.github.io/contract-nli/", "CC BY 4.0"):
        assert part in str(caught.value)


def test_nothing_to_import_is_an_error() -> None:
    with pytest.raises(InterPactError, match="no file to import; ContractNLI is published by"):
        import_contractnli([], RandomSubsets(), Ledger())


def without(field: str) -> dict[str, Any]:
    return {key: value for key, value in PLAIN.items() if key != field}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "dev.json:1: must be a group of named fields, not a list"),
        ({"documents": []}, "dev.json:1: labels: is missing; add it"),
        (content(without("text")), "dev.json:1: documents[0].text: is missing; add it"),
        (content(without("spans")), "documents[0].spans: is missing"),
        (content(without("annotation_sets")), "documents[0].annotation_sets: is missing"),
        (content({**PLAIN, "id": None}), "documents[0].id: is empty"),
        (content({**PLAIN, "id": True}), "documents[0].id: must be text"),
        (content({**PLAIN, "id": "x" * 101}), ".id: is longer than 100 characters"),
        (
            content({**PLAIN, "spans": [[0, "1"]]}),
            "documents[0].spans[0][1]: Input should be a valid",
        ),
        (content({**PLAIN, "spans": [[0]]}), "documents[0].spans[0][1]: is missing"),
        (
            content({**PLAIN, "annotation_sets": [{"annotations": {"nda-1": {"spans": []}}}]}),
            "documents[0].annotation_sets[0].annotations.nda-1.choice: is missing; add it",
        ),
        ({"documents": [], "labels": {"nda-1": {}}}, "labels.nda-1.hypothesis: is missing"),
    ],
)
def test_a_file_of_another_shape_is_told_with_the_place(
    tmp_path: Path, data: object, message: str
) -> None:
    with pytest.raises(InterPactError) as caught:
        imported(written(tmp_path, data))
    assert message in str(caught.value)
    assert "this is not the file as published" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("dev.json", b"{", "dev.json:1: not JSON"),
        ("dev.json", b'{\n"documents": \xff', "dev.json:2: byte 14 of the line is not UTF-8"),
        ("dev.json", b'{"labels": 1, "labels": 2}', 'the field "labels" occurs twice'),
        ("dev.zip", b"PK\x03\x04", "dev.zip: not a ZIP archive that can be read"),
    ],
)
def test_unreadable_bytes_are_told(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InterPactError) as caught:
        imported(tmp_path / name)
    assert message in str(caught.value)


def test_all_problems_come_at_once_but_no_flood_of_them(tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text("?")
    many = written(tmp_path, content(*[without("text")] * 500))
    with pytest.raises(InterPactError) as caught:
        import_contractnli([tmp_path / "none.json", broken, many], RandomSubsets(), Ledger())
    message = str(caught.value)
    assert "none.json: there is no" in message and "broken.json:1: not JSON" in message
    assert "480 more problems; this is not the file as published" in message
    assert len(message.splitlines()) == 23


def test_two_contracts_of_one_id_are_told(tmp_path: Path) -> None:
    files = [
        written(tmp_path / name, content({**PLAIN, "text": PLAIN["text"] + name}))
        for name in ("old", "new")
    ]
    with pytest.raises(InterPactError) as caught:
        import_contractnli(files, RandomSubsets(), Ledger())
    assert f'{files[0]}: documents[0] ("7"): its case id "contractnli-dev-7-1" is taken by' in str(
        caught.value
    )
    assert "each file its own name" in str(caught.value)


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_no_damage_to_a_file_or_archive_ends_in_a_traceback(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / data.draw(st.sampled_from(["dev.json", "dev.zip"]))
        source = json.dumps(content(PLAIN)).encode()
        if path.suffix == ".zip":
            method = data.draw(st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_LZMA]))
            with zipfile.ZipFile(path, "w", method) as archive:
                archive.writestr("dev.json", source)
        else:
            path.write_bytes(source)
        damaged = bytearray(path.read_bytes())
        for _ in range(data.draw(st.integers(1, 3))):
            at = data.draw(st.integers(0, len(damaged) - 1))
            damaged[at] = data.draw(st.integers(0, 255))
        path.write_bytes(damaged)
        with suppress(InterPactError):
            imported(path)
