"""The commands on case files, as a user runs them."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from interpact.cli import app
from interpact.errors import InterPactError

NDA = """\
id: nda-1
rule: Every statement must hold.
query: May we sign?
aggregation: all
conditions: {c1: No copies are kept., c2: Confidence ends.}
evidence:
  - {id: e1, conditions: [c1], text: "All copies [bold]are[/bold] destroyed. <script>alert(1)</script>"}
  - {id: e2, conditions: [c2], text: "For ever."}
labels: {states: {c1: satisfied, c2: not_satisfied}, decision: no}
"""


@pytest.fixture
def nda(tmp_path: Path) -> Path:
    path = tmp_path / "nda.yaml"
    path.write_text(NDA)
    return path


def run(*arguments: object, code: int = 0, stdin: str | None = None) -> str:
    result = CliRunner().invoke(app, [str(a) for a in arguments], input=stdin)
    if code == 0 and result.exception:
        raise result.exception
    assert result.exit_code == code, result.output
    return result.stdout


def interpact(*arguments: object, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "interpact", *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)


def test_the_table_says_what_the_decision_hangs_on(nda):
    out = run("judge", nda)
    assert "nda-1  May we sign?  no" in out
    lines = {line.split()[0]: line for line in out.splitlines() if line.startswith(("e1", "e2"))}
    assert "not critical" in lines["e1"]
    assert "c2 is not satisfied, so the decision is no whatever c1 is" in lines["e1"]
    assert "critical" in lines["e2"]
    assert "if c2 were satisfied, the decision would turn from no to yes" in lines["e2"]


def test_rows_are_the_same_in_every_format(nda):
    rows = json.loads(run("judge", nda, "--format", "json"))
    assert [(row["evidence"], row["condition"], row["critical"]) for row in rows] == [
        ("e1", "c1", False),
        ("e2", "c2", True),
    ]
    assert set(rows[0]) >= {
        "case", "evidence", "condition", "critical", "probability", "mode", "pivotal", "witness", "also",
    }  # fmt: skip
    lines = run("judge", nda, "--format", "jsonl").splitlines()
    assert [json.loads(line) for line in lines] == rows
    table = list(csv.DictReader(io.StringIO(run("judge", nda, "--format", "csv"))))
    assert [row["witness"] for row in table] == [row["witness"] for row in rows]


def test_what_if(nda):
    rows = json.loads(run("judge", nda, "--set", "c2=Satisfied", "--format", "json"))
    assert [row["critical"] for row in rows] == [True, True]
    with pytest.raises(InterPactError, match='case "nda-1" has no condition "c3"'):
        run("judge", nda, "--set", "c3=satisfied")
    with pytest.raises(InterPactError, match="--set c1: write CONDITION=STATE"):
        run("judge", nda, "--set", "c1")


def test_sets(nda):
    assert "yes, if c2 were satisfied" in run("judge", nda, "--sets")
    rows = json.loads(run("judge", nda, "--sets", "--format", "json"))
    assert rows == [
        {
            "case": "nda-1",
            "kind": "flips",
            "from": "no",
            "to": "yes",
            "conditions": ["c2"],
            "states": ["satisfied"],
        }
    ]


def test_the_page_is_one_file_without_requests_or_scripts(nda, tmp_path):
    out = tmp_path / "page.html"
    run("judge", nda, "--format", "html", "-o", out)
    page = out.read_text()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script" not in page
    assert "http://" not in page and "https://" not in page and "src=" not in page
    assert 'class="unit critical"' in page
    assert "C2 is not satisfied" not in page  # ids keep their spelling


def test_standard_input(nda):
    done = interpact("judge", "-", "--format", "jsonl", stdin=NDA)
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 2


def test_check_lists_every_problem_and_exits_with_2(tmp_path, nda):
    bad = tmp_path / "bad.yaml"
    bad.write_text(NDA.replace("query", "qery").replace("decision: no", "decision: yes"))
    done = interpact("check", nda, bad, tmp_path / "absent.yaml")
    assert done.returncode == 2
    errors = done.stderr.replace(str(tmp_path) + "/", "").splitlines()
    assert errors[0].startswith("bad.yaml:1: query: is missing")
    assert errors[1].startswith('bad.yaml:3: qery: unknown field (did you mean "query"?)')
    assert errors[2].startswith("bad.yaml:9: labels.decision: is yes, but the states give no")
    assert errors[3] == "absent.yaml: there is no such file"
    assert errors[4] == "1 sound case, 4 problems, 0 notes"
    assert interpact("check", nda).returncode == 0


def test_a_bad_case_stops_or_is_left_out(tmp_path, nda):
    lines = tmp_path / "cases.jsonl"
    run("convert", nda, lines)
    good = lines.read_text()
    lines.write_text(good + "{}\n" + good)
    stopped = interpact("judge", lines)
    assert stopped.returncode == 2
    assert "Traceback" not in stopped.stderr
    assert "cases.jsonl:2: id: is missing; add it" in stopped.stderr
    kept = interpact("judge", lines, "--format", "jsonl", "--keep-going")
    assert kept.returncode == 2
    assert len(kept.stdout.splitlines()) == 4
    assert "1 bad case was left out" in kept.stderr


def test_a_case_without_labels_says_what_to_do(tmp_path):
    path = tmp_path / "case.yaml"
    path.write_text(NDA[: NDA.index("labels")])
    done = interpact("judge", path, "--mode", "exact")
    assert done.returncode == 2
    assert "mode exact needs the state of every condition" in done.stderr
    assert "--set c1=satisfied" in done.stderr
    assert interpact("judge", path, "--set", "c1=satisfied", "--set", "c2=unknown").returncode == 0


def test_evidence_cannot_steer_the_terminal_or_a_spreadsheet(tmp_path):
    path = tmp_path / "case.json"
    path.write_text(
        json.dumps(
            {
                "id": "=cmd()",
                "rule": "\x1b[31mRed.",
                "query": "\x1b]0;title\x07Ok? [bold]really[/bold]",
                "aggregation": "any",
                "conditions": {"c1": "Holds."},
                "evidence": [{"id": "+e1", "conditions": ["c1"], "text": "\x1b[2J"}],
                "labels": {"states": {"c1": "satisfied"}, "decision": "yes"},
            }
        )
    )
    out = run("judge", path)
    assert "\x1b" not in out and "\x07" not in out
    assert "[bold]really[/bold]" in out
    row = next(csv.DictReader(io.StringIO(run("judge", path, "--format", "csv"))))
    assert (row["case"], row["evidence"]) == ("'=cmd()", "'+e1")


def test_convert_and_back(nda, tmp_path):
    for name in ("a.json", "b.parquet", "c.jsonl", "d.yaml", "e.json"):
        run("convert", nda, tmp_path / name)
        nda = tmp_path / name
    assert (tmp_path / "a.json").read_text() == (tmp_path / "e.json").read_text()


def test_output_appears_whole_or_not_at_all(tmp_path, nda):
    out = tmp_path / "out.jsonl"
    out.write_text("before")
    lines = tmp_path / "cases.jsonl"
    run("convert", nda, lines)
    lines.write_text(lines.read_text() + "{}\n")
    assert interpact("judge", lines, "--format", "jsonl", "-o", out).returncode == 2
    assert out.read_text() == "before"


@pytest.mark.parametrize("ending", ["json", "jsonl", "csv", "html"])
def test_the_ending_of_the_output_names_the_format(tmp_path, nda, ending):
    run("judge", nda, "-o", tmp_path / f"by.{ending}")
    run("judge", nda, "--format", ending, "-o", tmp_path / "asked")
    assert (tmp_path / f"by.{ending}").read_text() == (tmp_path / "asked").read_text()
    run("judge", nda, "-o", tmp_path / "any.txt")
    assert (tmp_path / "any.txt").read_text() == run("judge", nda)


def test_a_repeated_id_is_worth_a_note(tmp_path, nda):
    lines = tmp_path / "cases.jsonl"
    run("convert", nda, lines)
    assert interpact("check", lines, nda).stderr == "2 sound cases, 0 problems, 0 notes\n"
    lines.write_text(lines.read_text() * 3)
    done = interpact("check", lines)
    assert done.returncode == 0
    assert f"{lines}:2: note: nda-1: is the id of an earlier case too (2 cases" in done.stderr


def test_a_reader_that_leaves_early_is_no_error(nda, tmp_path):
    lines = tmp_path / "cases.jsonl"
    run("convert", nda, lines)
    lines.write_text(lines.read_text() * 5_000)
    command = f"{sys.executable} -m interpact judge {lines} --format jsonl | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""


@pytest.mark.parametrize("kind", ["case", "judgment", "root", "pair", "criticality"])
def test_schemas_are_json_schema(kind):
    schema = json.loads(run("schema", kind))
    assert schema["type"] == "object"
    assert schema["$schema"].endswith("2020-12/schema")
    if kind == "case":
        assert "labels" in schema["properties"] and "labels" not in schema["required"]


@pytest.mark.parametrize("target", ["absent/x", "folder", "file/x", "a" * 5000, "/dev/full"])
def test_output_that_cannot_be_written_is_told(tmp_path, nda, target):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "absent").symlink_to("/proc/absent")
    done = interpact("judge", nda, "--format", "csv", "-o", tmp_path / target)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "cannot be read or written" in done.stderr


def test_names_that_no_file_can_have_are_told(nda):
    for command in ("check", "judge"):
        done = interpact(command, "a" * 5000)
        assert done.returncode == 2 and "Traceback" not in done.stderr
        assert "name too long" in done.stderr


def test_a_full_disk_is_told(nda):
    command = f"{sys.executable} -m interpact judge {nda} > /dev/full"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "cannot be read or written: No space left on device\n"


def test_keep_going_passes_over_an_empty_file(tmp_path, nda):
    (tmp_path / "empty.jsonl").touch()
    done = interpact("judge", tmp_path / "empty.jsonl", nda, "--format", "jsonl", "--keep-going")
    assert done.returncode == 2 and len(done.stdout.splitlines()) == 2
    assert "no case in this file" in done.stderr


def test_columns_of_csv_are_those_of_the_rows(nda, tmp_path):
    from interpact import Case, judge
    from interpact.judging.output import COLUMNS, judgment_rows, set_rows
    from interpact.judging.view import View

    case = Case.load(nda)
    view = View(case, dict(case.labels.states), judge(case))
    for rows in (judgment_rows, set_rows):
        assert [tuple(row) for row in rows(view)][:1] == [COLUMNS[rows]]
    nda.write_text(NDA.replace("aggregation: all", "aggregation: c1 and not c1"))
    bare = run("judge", nda, "--set", "c1=satisfied", "--sets", "--format", "csv")
    assert bare.splitlines()[0] == "case,kind,from,to,conditions,states"


def test_check_does_not_list_problems_without_end(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("{}\n" * 5_000)
    done = interpact("check", path)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) < 10_020
    assert "has more than 10,000 problems; mend these first" in done.stderr
