"""Case files: the same content in and out in every format, and every problem told with its place."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interpact import Case, InterPactError, LabelledCase, Root, case_from
from interpact.case.files import case_data, entries, read_case, read_cases, replacing, write_cases
from interpact.case.rules import Rule
from tests.strategies import rules, states_of

GOOD = {
    "id": "pass-1",
    "rule": "Residents with a job get a pass.",
    "query": "Is a pass due?",
    "aggregation": "all",
    "conditions": {"residency": "Is a resident.", "employment": "Has a job."},
    "evidence": [
        {"id": "e1", "conditions": ["residency"], "text": "Lives in Mill Lane."},
        {"id": "e2", "conditions": ["employment"], "text": "Works at the mill."},
    ],
    "labels": {
        "states": {"residency": "satisfied", "employment": "satisfied"},
        "decision": "yes",
    },
}


def problems(tmp_path: Path, name: str, content: str | bytes) -> list[str]:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    found = [str(problem) for entry in entries(path) for problem in entry.problems]
    return [problem.replace(str(path), name) for problem in found]


def with_changes(**changes: object) -> str:
    return json.dumps({**GOOD, **changes})


texts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1
).filter(str.strip)
names = (
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20)
    .map(str.strip)
    .filter(bool)
)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Any sound case, with odd texts and ids."""
    expression, plain = draw(rules())
    states = draw(states_of(plain))
    named = draw(st.lists(names, min_size=len(plain), max_size=len(plain), unique=True))
    ids = dict(zip(plain, named, strict=True))
    from interpact.case.expressions import Condition

    def renamed(part):
        if isinstance(part, Condition):
            return Condition(ids[part.id])
        if hasattr(part, "item"):
            return type(part)(renamed(part.item))
        items = tuple(renamed(item) for item in part.items)
        return type(part)(part.count, items) if hasattr(part, "count") else type(part)(items)

    rule = str(renamed(expression))
    labels = {ids[name]: state for name, state in states.items()}
    units = [
        {"id": f"e{i}", "conditions": [ids[name]], "text": draw(texts)}
        for i, name in enumerate(plain)
    ]
    data = {
        "id": draw(names),
        "rule": draw(texts),
        "query": draw(texts),
        "aggregation": rule,
        "conditions": {ids[name]: draw(texts) for name in plain},
        "evidence": units,
        **({"document": draw(texts)} if draw(st.booleans()) else {}),
    }
    if draw(st.booleans()):
        data["labels"] = {"states": labels, "decision": Rule.parse(rule).decide(labels)}
    return case_from(data)


@given(st.lists(cases(), min_size=1, max_size=3))
@pytest.mark.parametrize("ending", [".json", ".jsonl", ".parquet", ".yaml"])
def test_same_content_in_and_out(tmp_path_factory, ending, drawn):
    path = tmp_path_factory.mktemp("cases") / f"cases{ending}"
    write_cases(path, drawn)
    again = list(read_cases(path))
    assert again == drawn
    assert [list(case.conditions) for case in again] == [list(case.conditions) for case in drawn]


def test_examples_are_sound_and_survive_every_format(examples, tmp_path):
    paths = sorted(examples.glob("*.yaml"))
    assert len(paths) >= 6
    cases = [read_case(path) for path in paths]
    assert all(isinstance(case, LabelledCase) for case in cases)
    write_cases(tmp_path / "a.parquet", cases)
    write_cases(tmp_path / "b.jsonl", read_cases(tmp_path / "a.parquet"))
    write_cases(tmp_path / "c.yaml", read_cases(tmp_path / "b.jsonl"))
    assert list(read_cases(tmp_path / "c.yaml")) == cases


def test_a_loaded_case_never_lends_its_labels_to_a_root():
    case = case_from(GOOD)
    root = Root(case, "e1", "residency")
    assert type(root.case) is Case
    assert not hasattr(root.case, "labels")
    assert "labels" not in case_data(root.case)
    with pytest.raises(InterPactError, match='bears on residency, not on "employment"'):
        Root(case, "e1", "employment")


def test_yes_in_yaml_is_text_and_true_in_json_is_yes(tmp_path):
    (tmp_path / "case.json").write_text(with_changes(labels={**GOOD["labels"], "decision": True}))
    assert read_case(tmp_path / "case.json").labels.decision == "yes"
    write_cases(tmp_path / "case.yaml", [case_from(GOOD)])
    text = (tmp_path / "case.yaml").read_text().replace("'yes'", "yes")
    (tmp_path / "plain.yaml").write_text(text)
    assert read_case(tmp_path / "plain.yaml") == case_from(GOOD)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"condtions": {}}, 'condtions: unknown field (did you mean "conditions"?)'),
        ({"rule": ""}, "rule: is empty"),
        ({"rule": " \n"}, "rule: is empty"),
        ({"rule": 7}, "rule: must be text, not a number; put it in quotes"),
        ({"rule": None}, "rule: is empty"),
        ({"rule": "a\x00b"}, "rule: holds a NUL character; remove it"),
        ({"rule": "\ud800"}, "rule: holds half a character"),
        ({"id": "two\nlines"}, "id: is no usable id"),
        ({"evidence": {}}, "evidence: must be a list, not a group of fields"),
        ({"evidence": [7]}, "evidence[0]: must be a group of named fields, not a number"),
        ({"conditions": {}}, "conditions: is empty; give at least one"),
        ({"conditions": ["c1"]}, "conditions: must be a group of named fields, not a list"),
        (
            {
                "evidence": [
                    {**GOOD["evidence"][0], "conditions": ["residancy"]},
                    GOOD["evidence"][1],
                ]
            },
            'evidence[0] ("e1").conditions[0]: there is no condition "residancy" '
            '(did you mean "residency"?)',
        ),
        (
            {"evidence": [{**GOOD["evidence"][0], "txt": "x"}, GOOD["evidence"][1]]},
            'evidence[0] ("e1").txt: unknown field (did you mean "text"?); correct or drop it, known are id, conditions, text',
        ),
        (
            {"evidence": [GOOD["evidence"][0], {**GOOD["evidence"][1], "id": "e1"}]},
            'evidence[1] ("e1").id: "e1" is the id of evidence[0] too',
        ),
        (
            {
                "evidence": [
                    {**GOOD["evidence"][0], "conditions": ["residency"] * 2},
                    GOOD["evidence"][1],
                ]
            },
            'names "residency" twice',
        ),
        (
            {"evidence": GOOD["evidence"][:1]},
            "labels.states.employment: is satisfied, but no evidence unit names the condition",
        ),
        (
            {"labels": {**GOOD["labels"], "decision": "no"}},
            "labels.decision: is no, but the states give yes under `all`",
        ),
        (
            {"labels": {**GOOD["labels"], "decision": "perhaps"}},
            "labels.decision: 'perhaps' is not one of yes, no, insufficient",
        ),
        (
            {"labels": {"states": {"residency": "true"}, "decision": "yes"}},
            "labels.states.residency: 'true' is not one of satisfied, not_satisfied or unknown",
        ),
        (
            {"labels": {"states": {"residency": "satisfied"}, "decision": "yes"}},
            'labels.states: condition "employment" has no state',
        ),
        (
            {
                "labels": {
                    "states": {**GOOD["labels"]["states"], "age": "unknown"},
                    "decision": "yes",
                }
            },
            "labels.states.age: there is no such condition",
        ),
        (
            {"aggregation": "residency and"},
            "aggregation: rule, character 14: expected a condition id",
        ),
        (
            {"aggregation": "residency and emplyment"},
            'names "emplyment", which the case does not have (did you mean "employment"?)',
        ),
    ],
)
def test_problems_say_where_what_and_what_to_do(tmp_path, changes, message):
    found = problems(tmp_path, "cases.jsonl", "\n" + with_changes(**changes) + "\n")
    assert any(message in problem for problem in found), found
    assert all(problem.startswith("cases.jsonl:2: ") for problem in found)


def test_all_problems_of_a_file_at_once(tmp_path):
    lines = [
        with_changes(condtions={}, rule=""),
        json.dumps(GOOD),
        "{",
        with_changes(
            query=None,
            evidence=[{**GOOD["evidence"][0], "conditions": ["x"]}, GOOD["evidence"][1]],
        ),
    ]
    found = problems(tmp_path, "cases.jsonl", "\n".join(lines))
    assert [problem.split(":")[1] for problem in found] == ["1", "1", "3", "4", "4", "4"]
    # A malformed field does not hide what is wrong between the sound ones.
    assert any('there is no condition "x"' in problem for problem in found)


YAML = """\
id: pass-1
rule: Residents with a job get a pass.
query: Is a pass due?
aggregation: all
conditions:
  residency: Is a resident.
  employment: Has a job.
evidence:
  - {id: e1, conditions: [residency], text: Lives in Mill Lane.}
  - id: e2
    conditions: [employmint]
    text: Works at the mill.
"""


def test_yaml_problems_tell_the_line(tmp_path):
    assert problems(tmp_path, "case.yaml", YAML) == [
        'case.yaml:11: evidence[1] ("e2").conditions[0]: there is no condition "employmint" '
        '(did you mean "employment"?); add it under conditions or correct the name'
    ]


def test_json_problems_tell_the_line(tmp_path):
    data = {**GOOD, "evidence": [GOOD["evidence"][0], {**GOOD["evidence"][1], "text": ""}]}
    text = json.dumps(data, indent=1)
    line = 1 + text[: text.index('"text": ""')].count("\n")
    assert problems(tmp_path, "case.json", text) == [
        f'case.json:{line}: evidence[1] ("e2").text: is empty; write the text or drop the field'
    ]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.yaml", YAML.replace("query", "rule"), "a.yaml:3: rule: this field occurs twice"),
        (
            "a.yaml",
            YAML.replace("all\n", "&x all\n").replace("Has a job.", "*x"),
            "a.yaml:7: conditions.employment: alias *x",
        ),
        ("a.yaml", "id: !!python/object:os.system x\n", "a.yaml:1: id: the tag"),
        ("a.yaml", "id: !set {a, b}\n", "a.yaml:1: id: the tag !set"),
        ("a.yaml", "a: [" * 60, "nested deeper than 50 levels"),
        ("a.yaml", "a: {b: c\nd", "not YAML"),
        ("a.yaml", "a: \x00", "a.yaml:1: byte 4 of the line is NUL"),
        ("a.yaml", "a: \x07", "not YAML: the character U+0007"),
        ("a.json", "{}".encode("utf-16-le"), "it is UTF-16: save it as UTF-8"),
        ("a.yaml", "? [a, b]\n: c\n", "a field name must be plain text"),
        ("a.yaml", "- just text\n", "this is no case"),
        ("a.json", '{"id": "a", "id": "b"}', "a.json:1: id: this field occurs twice"),
        (
            "a.json",
            '{"a": {"x": 1},\n "b": {"x": 1,\n "x": 2}}',
            "a.json:3: b.x: this field occurs twice",
        ),
        ("a.json", '{"a":\n NaN}', "a.json:2: not JSON: NaN is not a JSON value"),
        ("a.json", "[" * 100_000, "nested too deeply"),
        ("a.json", '{"a": ' + "1" * 5000 + "}", "not JSON"),
        ("a.json", "[]", "the list of cases is empty"),
        ("a.json", b'{"a": "\xff"}', "a.json:1: byte 8 of the line is not UTF-8"),
        ("a.jsonl", b'{}\n{"a": "\xc3"}\n', "a.jsonl:2: byte 8 of the line is not UTF-8"),
        ("a.jsonl", "{}".encode("utf-16"), "UTF-16"),
        ("a.parquet", b"PAR1 is not enough", "not a Parquet file"),
        ("a.txt", "", "the format is told by the ending"),
    ],
)
def test_unreadable_files_are_told_not_raised(tmp_path, name, content, message):
    found = problems(tmp_path, name, content)
    assert any(message in problem for problem in found), found


def test_billion_laughs_stay_small(tmp_path):
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    for this, last in zip("bcdefghi", "abcdefgh", strict=True):
        lines.append(f"{this}: &{this} [" + ", ".join([f"*{last}"] * 9) + "]")
    found = problems(tmp_path, "a.yaml", "\n".join(lines))
    assert "a.yaml:2: b[0]: alias *a: write the value out, aliases are not read" in found
    assert sum("alias" in problem for problem in found) == 72
    lines += [f"j{i}: [*a, *b, *c]" for i in range(100_000)]
    found = problems(tmp_path, "a.yaml", "\n".join(lines))
    assert len(found) == 1_001
    assert "more than 1,000 problems; mend these first" in found[-1]


def test_a_field_given_twice_hides_nothing_else(tmp_path):
    text = YAML.replace("query:", "query: a\nquery:").replace("rule:", "rule: a\nrule:")
    found = problems(tmp_path, "a.yaml", text)
    assert [problem.split(";")[0] for problem in found] == [
        "a.yaml:3: rule: this field occurs twice",
        "a.yaml:5: query: this field occurs twice",
        'a.yaml:13: evidence[1] ("e2").conditions[0]: there is no condition "employmint" '
        '(did you mean "employment"?)',
    ]
    cut = problems(tmp_path, "a.yaml", text + "  - {")
    assert [problem.split(":")[1] for problem in cut] == ["3", "5", "16"]
    good = json.dumps(GOOD)
    lines = [good, good.replace('"id"', '"query": "a", "id"', 1).replace("Has a job.", ""), good]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    assert [entry.case is None for entry in entries(tmp_path / "a.jsonl")] == [False, True, False]
    assert [p.split(";")[0] for p in problems(tmp_path, "a.jsonl", "\n".join(lines))] == [
        "a.jsonl:2: conditions.employment: is empty",
        "a.jsonl:2: query: this field occurs twice",
    ]
    found = problems(tmp_path, "a.json", f"[{good},\n{lines[1]}]")
    assert [problem[:12] for problem in found] == ["a.json:2: [1"] * 2


def test_half_characters_in_field_names_are_told(tmp_path):
    found = problems(tmp_path, "a.json", with_changes(**{"\ud800": 1}))
    assert found == [
        'a.json:1: the field name "\ufffd" holds half a character (a lone surrogate); '
        "save the text as UTF-8 again"
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"evidence": [7] * 50_000},
        {"evidence": [{}] * 50_000},
        {"evidence": [{"id": "e", "conditions": [7] * 50_000, "text": "x"}]},
        {"evidence": [{"id": "e", "conditions": ["x"] * 50_000, "text": "x"}]},
        {"conditions": {f"c{i}": 7 for i in range(50_000)}},
        {f"x{i}": 7 for i in range(50_000)},
        {"labels": {"states": {f"c{i}": 7 for i in range(50_000)}, "decision": "yes"}},
        {"labels": {"states": {f"c{i}": "unknown" for i in range(50_000)}, "decision": "yes"}},
    ],
)
def test_of_many_problems_the_first_are_told(tmp_path, changes):
    import tracemalloc

    path = tmp_path / "a.json"
    path.write_text(with_changes(**changes))
    tracemalloc.start()
    found = [problem for entry in entries(path) for problem in entry.problems]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 500 < len(found) <= 1_001
    assert any("mend these first" in problem.what for problem in found)
    assert peak


@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("name", ["a.yaml", "a.json", "a.jsonl"])
def test_byte_order_marks_and_line_ends_are_fine(tmp_path, start, end, name):
    text = YAML.replace("employmint", "employment") if name == "a.yaml" else json.dumps(GOOD) + "\n"
    (tmp_path / name).write_bytes(start + text.replace("\n", end).encode())
    assert read_case(tmp_path / name).id == "pass-1"


def test_ten_thousand_conditions(tmp_path):
    conditions = {f"c{i}": f"Holds no. {i}." for i in range(10_000)}
    units = [{"id": f"e{c}", "conditions": [c], "text": "Shown."} for c in conditions]
    states = dict.fromkeys(conditions, "satisfied")
    big = {**GOOD, "conditions": conditions, "evidence": units}
    big["labels"] = {"states": states, "decision": "yes"}
    write_cases(tmp_path / "big.json", [case_from(big)])
    from interpact import judge

    assert all(judgment.critical for judgment in judge(tmp_path / "big.json"))


@pytest.mark.parametrize("ending", [".json", ".jsonl", ".yaml"])
def test_fifty_megabytes(tmp_path, ending):
    units = [
        {**GOOD["evidence"][0], "text": "Lives in Mill Lane. " * 2_600_000},
        GOOD["evidence"][1],
    ]
    path = tmp_path / f"big{ending}"
    path.write_text(with_changes(evidence=units))  # JSON is YAML too
    assert path.stat().st_size > 50_000_000
    assert len(read_case(path).evidence[0].text) == 52_000_000


def test_standard_input_is_sniffed(monkeypatch):
    for text in (
        json.dumps(GOOD),
        json.dumps(GOOD, indent=2),
        json.dumps([GOOD, GOOD]),
        json.dumps(GOOD) + "\n" + json.dumps(GOOD) + "\n",
        YAML.replace("employmint", "employment"),
    ):
        stdin = io.TextIOWrapper(io.BytesIO(text.encode()))
        monkeypatch.setattr(sys, "stdin", stdin)
        assert {case.id for case in read_cases("-")} == {"pass-1"}


def test_one_case_is_asked_for(tmp_path):
    write_cases(tmp_path / "two.jsonl", [case_from(GOOD), case_from(GOOD)])
    with pytest.raises(InterPactError, match="more than one case in this file"):
        Case.load(tmp_path / "two.jsonl")
    (tmp_path / "none.jsonl").write_text("\n")
    with pytest.raises(InterPactError, match="no case in this file"):
        Case.load(tmp_path / "none.jsonl")
    with pytest.raises(InterPactError, match="there is no such file"):
        Case.load(tmp_path / "absent.yaml")


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "cases.jsonl"
    path.write_text("before")

    def failing():
        yield case_from(GOOD)
        raise RuntimeError("disk full")

    with pytest.raises(RuntimeError):
        write_cases(path, failing())
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
    with replacing(path) as temporary:
        temporary.write_text("after")
    assert path.read_text() == "after"
