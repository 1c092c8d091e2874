"""The ShARC importer on made-up rule trees."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interpact.case.case import Root
from interpact.case.states import Decision, State
from interpact.corpus.sources.ledger import Imported, Ledger
from interpact.corpus.sources.sharc import import_sharc
from interpact.corpus.sources.sharc_utterances import merge_questions
from interpact.errors import InterPactError

MEMBER = "Are you a member of the workshop?"
FINE = "Do you owe a fine?"
INDUCTION = "Have you done the induction?"
LATHE = "Members may book the lathe unless they owe a fine."
QUERY = "Can I book the lathe?"
IDS = count()

Turns = Sequence[tuple[str, str]]


def turns(some: Turns) -> list[dict[str, str]]:
    return [{"follow_up_question": q, "follow_up_answer": a} for q, a in some]


def row(
    answer: str,
    history: Turns = (),
    scenario: str = "",
    evidence: Turns = (),
    tree: str = "lathe",
    **fields: Any,
) -> dict[str, Any]:
    """An utterance as published."""
    return {
        "utterance_id": f"u{next(IDS)}",
        "tree_id": tree,
        "source_url": "https://workshop.example/rules",
        "snippet": LATHE,
        "question": QUERY,
        "scenario": scenario,
        "answer": answer,
        "history": turns(history),
        "evidence": turns(evidence),
    } | fields


def lathe() -> list[dict[str, Any]]:
    """The dialogues of a tree that asks two questions in order."""
    return [
        row(MEMBER),
        row("No", [(MEMBER, "No")]),
        row(FINE, [(MEMBER, "Yes")]),
        row("No", [(MEMBER, "Yes"), (FINE, "Yes")]),
        row("Yes", [(MEMBER, "Yes"), (FINE, "No")]),
    ]


@pytest.fixture
def load(tmp_path: Path) -> Any:
    def run(rows: object, **options: Any) -> Imported:
        file = tmp_path / f"{next(IDS)}.json"
        file.write_text(json.dumps(rows), encoding="utf-8")
        return import_sharc([file], Ledger(), **options)

    return run


def counted(imported: Imported, noun: str, fate: str) -> dict[str, int]:
    return {why: n for what, how, why, n in imported.ledger.rows() if (what, how) == (noun, fate)}


def dropped(imported: Imported) -> dict[str, int]:
    return counted(imported, "utterance", "dropped")


def noted(imported: Imported) -> dict[str, int]:
    return counted(imported, "utterance", "noted")


# ---- cases -----------------------------------------------------------------------------------


def test_a_dialogue_state_is_a_case(load: Any) -> None:
    story = "I joined the workshop in spring."
    rows = [*lathe(), row("Yes", [(FINE, "No")], story, [(MEMBER, "Yes")], utterance_id="a1")]
    imported = load(rows)
    case = imported.cases[-1]
    assert case.model_dump(mode="json") == {
        "id": "sharc-a1",
        "source": "sharc",
        "document": "https://workshop.example/rules",
        "rule_family": "lathe",
        "rule": LATHE,
        "query": QUERY,
        "aggregation": "c1 and not c2",
        "conditions": {"c1": MEMBER, "c2": FINE},
        "evidence": [
            {"id": "e1", "conditions": ["c1"], "text": story},
            {"id": "e2", "conditions": ["c2"], "text": "Do you owe a fine? No."},
        ],
        "labels": {
            "states": {"c1": "satisfied", "c2": "not_satisfied"},
            "decision": "yes",
        },
    }
    assert [r.model_dump(exclude_none=True) for r in imported.roots[-2:]] == [
        {"id": "sharc-a1/e1", "case": "sharc-a1", "evidence": "e1", "condition": "c1"},
        {"id": "sharc-a1/e2", "case": "sharc-a1", "evidence": "e2", "condition": "c2"},
    ]
    assert counted(imported, "tree", "kept") == {"rule: all or any, with negation": 1}


def test_an_unanswered_question_is_unknown_and_a_further_question_insufficient(load: Any) -> None:
    cases = load(lathe()).cases
    assert [tuple(c.labels.states.values()) for c in cases[:3]] == [
        (State.UNKNOWN, State.UNKNOWN),
        (State.NOT_SATISFIED, State.UNKNOWN),
        (State.SATISFIED, State.UNKNOWN),
    ]
    assert [c.labels.decision for c in cases[:3]] == [
        Decision.INSUFFICIENT,
        Decision.NO,
        Decision.INSUFFICIENT,
    ]


def test_a_nested_rule_is_found_beyond_all_and_any(load: Any) -> None:
    staff = "Do you work here?"
    rows = [
        row(staff),
        row("Yes", [(staff, "Yes")]),
        row(MEMBER, [(staff, "No")]),
        row("No", [(staff, "No"), (MEMBER, "No")]),
        row(INDUCTION, [(staff, "No"), (MEMBER, "Yes")]),
        row("No", [(staff, "No"), (MEMBER, "Yes"), (INDUCTION, "No")]),
        row("Yes", [(staff, "No"), (MEMBER, "Yes"), (INDUCTION, "Yes")]),
    ]
    imported = load(rows)
    assert {case.aggregation for case in imported.cases} == {"c1 or c2 and c3"}
    assert counted(imported, "tree", "kept") == {"rule: nested": 1}


def test_trees_without_exactly_one_rule_are_left_out_with_their_utterances(load: Any) -> None:
    none = [row(MEMBER), row("Yes", [(MEMBER, "Yes")]), row("Yes", [(MEMBER, "No")])]
    several = [row(MEMBER, tree="b"), row(FINE, [(MEMBER, "Yes")], tree="b")]
    imported = load(none + several)
    assert not imported.cases
    assert dropped(imported) == {
        "its tree has no rule: no rule fits": 3,
        "its tree has no rule: several rules fit": 2,
    }
    assert counted(imported, "tree", "dropped") == {
        "one question: no rule fits": 1,
        "several questions: several rules fit": 1,
    }


# ---- what a scenario says --------------------------------------------------------------------

STORY = "I come to the workshop every week."


def test_a_scenario_fact_repeated_in_the_history_is_two_units_of_one_condition(load: Any) -> None:
    history = [(MEMBER, "Yes"), (FINE, "No")]
    listed = load([*lathe(), row("Yes", history, STORY, [(MEMBER, "Yes")])])
    inferred = load(
        [
            *lathe(),
            row(FINE, [], STORY, [(MEMBER, "Yes")]),
            row("Yes", history, STORY.upper().replace(" ", "  ")),
        ]
    )
    for imported in (listed, inferred):
        case = imported.cases[-1]
        assert [unit.conditions for unit in case.evidence] == [("c1",), ("c1",), ("c2",)]
        assert noted(imported)["its history repeats a fact of its scenario: several units"] == 1
        assert len([r for r in imported.roots if r.case == case.id]) == 3


def test_a_scenario_that_bears_on_several_conditions_is_no_target(load: Any) -> None:
    story = "I am in the workshop a lot and have paid for everything."
    imported = load([*lathe(), row("Yes", [], story, [(MEMBER, "Yes"), (FINE, "No")])])
    assert imported.cases[-1].evidence[0].conditions == ("c1", "c2")
    assert not [r for r in imported.roots if r.case == imported.cases[-1].id]
    assert counted(imported, "evidence unit", "dropped") == {
        "no root: bears on several conditions": 1
    }


def test_a_fact_that_only_another_utterance_lists_counts_where_it_fits_the_answer(
    load: Any,
) -> None:
    debtor = "My last bill is still open."
    imported = load(
        [
            *lathe(),
            row("No", [(MEMBER, "Yes")], debtor, [(FINE, "Yes")]),
            row("No", [(MEMBER, "No")], debtor),
            row(FINE, [(MEMBER, "Yes")], debtor),
            row(MEMBER, [], debtor),
        ]
    )
    assert imported.cases[-1].labels.states == {
        "c1": State.NOT_SATISFIED,
        "c2": State.SATISFIED,
    }
    assert noted(imported)["facts of its scenario taken from other utterances"] == 1
    assert dropped(imported) == {
        "asks what its history or scenario answers": 1,
        "its answer overlooks what its scenario says": 1,
    }


def test_contradictions_within_and_between_utterances_are_dropped(load: Any) -> None:
    other = "A friend of mine uses the place."
    imported = load(
        [
            *lathe(),
            row("No", [(MEMBER, "No")], STORY, [(MEMBER, "Yes")]),
            row("Yes", [(MEMBER, "Yes"), (FINE, "No"), (MEMBER, "No")]),
            row("Yes", [(FINE, "No")], other, [(MEMBER, "Yes")]),
            row("No", [], other, [(MEMBER, "No")]),
            row("No", [], "", [(MEMBER, "No")]),
        ]
    )
    assert len(imported.cases) == 5
    assert dropped(imported) == {
        "its history contradicts its scenario": 1,
        "answers one question both ways": 1,
        "its scenario is read in two ways": 2,
        "lists evidence without a scenario": 1,
    }


def test_a_turn_that_an_unlisted_scenario_may_repeat_is_no_target(load: Any) -> None:
    history = [(MEMBER, "Yes"), (FINE, "No")]
    imported = load([*lathe(), row("Yes", history, "My membership is quite new.")])
    case = imported.cases[-1]
    assert case.evidence[0].conditions == ()
    assert [r.evidence for r in imported.roots if r.case == case.id] == ["e3"]
    assert noted(imported)["no utterance lists a fact of its scenario"] == 1


# ---- quirks ----------------------------------------------------------------------------------


def test_drifting_keys_and_malformed_answers_are_read_and_counted(load: Any) -> None:
    rows = lathe()
    rows[1]["history"] = [{"followup_question": MEMBER, "followup_answer": "Noe"}]
    rows[3]["history"][0]["follow_up_answer"] = "yes"
    rows[4]["answer"] = "Yes?"
    imported = load(rows)
    assert [c.labels for c in imported.cases] == [c.labels for c in load(lathe()).cases]
    assert imported.cases[1].evidence[0].text == f"{MEMBER} No."
    assert counted(imported, "turn", "noted") == {
        "keys not spelled follow_up_*, read as such": 1,
        "answer not spelled Yes or No, read as such": 2,
    }
    assert noted(imported)["answer not spelled Yes or No, read as such"] == 1


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"history": turns([(MEMBER, "I do not know")])}, "malformed: history"),
        ({"history": turns([(MEMBER, "Yes/No")])}, "malformed: history"),
        ({"history": turns([("?", "Yes")])}, "malformed: history"),
        ({"history": [{"follow_up_question": MEMBER}]}, "malformed: history"),
        ({"history": None}, "malformed: history"),
        ({"evidence": "Yes"}, "malformed: evidence"),
        ({"answer": True}, "malformed: answer"),
        ({"answer": " ? "}, "malformed: answer"),
        ({"scenario": None}, "malformed: scenario"),
        ({"snippet": " "}, "malformed: snippet"),
        ({"question": "half \ud800"}, "malformed: question"),
        ({"scenario": "nul \x00"}, "malformed: scenario"),
        ({"utterance_id": "two\nlines"}, "malformed: utterance_id"),
        ({"tree_id": 7}, "malformed: tree_id"),
    ],
)
def test_a_malformed_utterance_is_dropped_for_its_field(
    load: Any, change: Mapping[str, Any], why: str
) -> None:
    imported = load([*lathe(), row("Yes", [(MEMBER, "Yes")]) | change])
    assert dropped(imported) == {why: 1}
    assert len(imported.cases) == 5


def test_negative_questions_are_dropped_by_the_list_and_by_their_answer(
    load: Any, tmp_path: Path
) -> None:
    rows = lathe()
    borrowed = row("Irrelevant", question="Is it raining?")
    ids = tmp_path / "ids.txt"
    ids.write_text(f"{rows[0]['utterance_id']}\nsomething-else\n")
    assert dropped(load([*rows, borrowed], negative_questions=ids)) == {
        "negative question, by the list": 1,
        "negative question, answered Irrelevant": 1,
    }
    assert dropped(load([*rows, borrowed])) == {"negative question, answered Irrelevant": 1}


def test_contradictory_states_are_left_out_of_the_search_and_counted(load: Any) -> None:
    yes = [(MEMBER, "Yes"), (FINE, "No")]
    rows = [*lathe(), row("No", yes), row("Yes", [(FINE, "No")], STORY, [(MEMBER, "Yes")])]
    imported = load(rows)
    assert counted(imported, "state", "kept") == {"": 4}
    assert counted(imported, "state", "dropped") == {"contradictory: answered by Yes and No": 1}
    assert dropped(imported) == {"its answer is not what the rule of its tree gives": 1}
    assert noted(imported)["in a contradictory state, with the answer that the rule gives"] == 2
    outvoted = load([*rows, row("No", yes), row("No", yes)])
    assert not outvoted.cases
    assert counted(outvoted, "tree", "dropped") == {
        "several questions: the rule that fits is outvoted in a contradictory state": 1
    }


def test_repeated_ids_and_repeated_dialogues_are_dropped(load: Any) -> None:
    rows = lathe()
    imported = load([*rows, rows[0], row("No", [(MEMBER, "No")])])
    assert dropped(imported) == {
        "its id is taken by an earlier utterance": 1,
        "repeats an earlier utterance word for word": 1,
    }


@pytest.mark.parametrize(
    ("a", "b", "merged"),
    [
        ("Do you owe afine", FINE, True),
        ("do you owe a FINE??", FINE, True),
        ("Do you owe you owe a fine?", FINE, True),
        ("Have you booked the lahte before?", "Have you booked the lathe before?", True),
        ("Are you a woman born before 1953?", "Are you a man born before 1951?", False),
        ("Are you under 16?", "Are you under 18?", False),
        ("Is it 1.5 m long?", "Is it 15 m long?", False),
        ("Is it > 2 m long?", "Is it < 2 m long?", False),
        ("Does your employer pay?", "Does your employee pay?", False),
        ("Are you not a member?", "Are you a member?", False),
        ("Did Ann pay Bob?", "Did Bob pay Ann?", False),
    ],
)
def test_only_wordings_of_the_same_question_are_merged(a: str, b: str, merged: bool) -> None:
    rule_text = f"{LATHE} Ask your employer or employee."
    questions = merge_questions([[a], [b], [b]], rule_text)
    assert (questions.of(a) == questions.of(b)) is merged
    assert questions.texts[questions.of(b)] == b
    assert sum(questions.merged.values()) == int(merged)


def test_what_one_dialogue_asks_twice_in_other_letters_is_two_questions() -> None:
    twice = ["Have you booked the lathe before?", "Have you booked the lahte before?"]
    assert len(merge_questions([twice], LATHE).texts) == 2


def test_conditions_come_in_the_order_of_the_dialogues(load: Any) -> None:
    debts = [row("No", [], f"Bill {n} is open.", [(FINE, "Yes")]) for n in range(3)]
    for rows in (lathe(), lathe()[::-1], debts + lathe()):
        assert list(load(rows).cases[0].conditions.values()) == [MEMBER, FINE]


# ---- everything is accounted for -------------------------------------------------------------

QUESTIONS = [MEMBER, MEMBER.lower().rstrip("?"), FINE, INDUCTION, "Do you owe afine?", "?"]
ANSWERS = ["Yes", "No", "yes", "Noe", "maybe", ""]
SCENARIOS = ["", " ", STORY, "I owe nothing.", "My membership is new.", "half \ud800", "\x1c"]
some_turn = st.tuples(st.sampled_from(QUESTIONS), st.sampled_from(ANSWERS[:3] * 4 + ANSWERS))
some_turns = st.lists(some_turn, max_size=3).map(turns)
plain_rows = st.builds(
    lambda **fields: fields,
    utterance_id=st.integers(0, 60).map("u{}".format),
    tree_id=st.sampled_from(["a", "b", " "]),
    source_url=st.sampled_from(["", "https://workshop.example"]),
    snippet=st.sampled_from([LATHE, "Another rule.", "\x1c"]),
    question=st.just(QUERY),
    scenario=st.sampled_from(SCENARIOS),
    answer=st.sampled_from(["Yes", "No", "Irrelevant", *QUESTIONS, *ANSWERS]),
    history=some_turns,
    evidence=some_turns,
)
junk = st.one_of(st.none(), st.booleans(), st.integers(), st.text(), st.lists(st.text()))
spoiled_rows = st.builds(
    lambda fields, key, value: fields | {key: value},
    plain_rows,
    st.sampled_from(["utterance_id", "tree_id", "snippet", "answer", "history", "evidence"]),
    junk,
)
entries = st.lists(
    st.one_of(plain_rows, plain_rows, plain_rows, st.sampled_from(lathe()), spoiled_rows, junk),
    max_size=40,
)


@given(entries)
def test_every_utterance_and_tree_of_the_source_is_kept_or_dropped(
    tmp_path_factory: pytest.TempPathFactory, some: list[Any]
) -> None:
    file = tmp_path_factory.mktemp("sharc") / "rows.json"
    rows = [*lathe(), *some]
    file.write_text(json.dumps(rows))
    imported = import_sharc([file], Ledger())
    ledger = imported.ledger
    trees = {
        tree
        for entry in rows
        if isinstance(entry, dict)
        and isinstance(tree := entry.get("tree_id"), str)
        and tree.strip()
    }
    assert ledger.total("utterance", "kept") == len(imported.cases)
    assert ledger.total("utterance", "kept") + ledger.total("utterance", "dropped") == len(rows)
    assert ledger.total("tree", "kept") == len({case.rule_family for case in imported.cases})
    assert ledger.total("tree", "kept") + ledger.total("tree", "dropped") == len(trees)
    assert ledger.total("evidence unit", "kept") == len(imported.roots)
    units = sum(len(case.evidence) for case in imported.cases)
    assert len(imported.roots) + ledger.total("evidence unit", "dropped") == units
    cases = {case.id: case for case in imported.cases}
    assert len(cases) == len(imported.cases)
    for root in imported.roots:
        assert Root(cases[root.case], root.evidence, root.condition).id == root.id
        assert cases[root.case].labels.states[root.condition] is not State.UNKNOWN


# ---- files -----------------------------------------------------------------------------------


def test_files_folders_and_the_archive_give_the_same(tmp_path: Path) -> None:
    rows = lathe()
    folder = tmp_path / "official" / "json"
    folder.mkdir(parents=True)
    (folder / "dev.json").write_text(json.dumps(rows[:2]))
    (folder / "train.json").write_text("\ufeff" + json.dumps(rows[2:]), encoding="utf-8")
    archive = tmp_path / "official.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for name in ("dev.json", "train.json"):
            packed.write(folder / name, f"official/json/{name}")
            packed.writestr(f"__MACOSX/official/json/._{name}", b"\x00\x05")
    by_file = import_sharc([folder / "dev.json", folder / "train.json"], Ledger())
    assert len(by_file.cases) == 5
    for source in (folder.parent, archive):
        imported = import_sharc([source], Ledger())
        assert (imported.cases, imported.roots) == (by_file.cases, by_file.roots)


def test_a_missing_path_tells_where_the_data_is_published_and_its_licence(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for missing in (tmp_path / "nowhere.json", tmp_path / "nowhere.zip", tmp_path / "empty"):
        with pytest.raises(InterPactError) as error:
            import_sharc([missing], Ledger())
        assert str(missing) in str(error.value)
        assert "https://sharc-data.github.io" in str(error.value)
        assert "CC BY-SA 3.0" in str(error.value)
    with pytest.raises(InterPactError, match=r"no file to import.*sharc-data"):
        import_sharc([], Ledger())
    with pytest.raises(InterPactError, match=r"list of negative questions.*in the archive"):
        import_sharc([tmp_path], Ledger(), negative_questions=tmp_path / "ids.txt")


def test_unreadable_files_are_told_all_at_once(tmp_path: Path) -> None:
    contents = {
        "cut.json": b"[\n{",
        "latin.json": '["é"]'.encode("latin-1"),
        "object.json": b"{}",
        "other.json": b'[{"label": 1}]',
        "deep.json": b"[" * 100_000,
        "broken.zip": b"PK\x03\x04 and no more",
    }
    files: list[Path] = []
    for name, content in contents.items():
        files.append(tmp_path / name)
        files[-1].write_bytes(content)
    with pytest.raises(InterPactError) as error:
        import_sharc(files, Ledger())
    lines = str(error.value).splitlines()
    assert [Path(line.split(": ")[0].split(".")[0]).name for line in lines] == [
        name.split(".")[0] for name in contents
    ]
    assert lines[0].startswith(f"{files[0]}:2: not JSON")
    assert "not a list of utterances" in lines[2]
    assert "not a list of utterances" in lines[3]
    assert "download it again" in lines[5]


def test_an_empty_list_gives_nothing(load: Any) -> None:
    imported = load([])
    assert (imported.cases, imported.roots, imported.ledger.rows()) == ([], [], [])
