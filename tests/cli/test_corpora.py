"""The commands that make corpora, as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from interpact.corpus.store import Corpus
from interpact.errors import InterPactError
from tests.cli.test_cases import interpact, run
from tests.corpus.test_store import ROOTS, folder

EXAMPLES = Path(__file__).parents[2] / "examples"
CONTRACT = {
    "documents": [
        {
            "id": 7,
            "text": "All copies are returned. Clause 3 survives.",
            "spans": [[0, 24], [25, 43]],
            "annotation_sets": [
                {
                    "annotations": {
                        "nda-1": {"choice": "Entailment", "spans": [0]},
                        "nda-2": {"choice": "Contradiction", "spans": [1]},
                        "nda-3": {"choice": "NotMentioned", "spans": []},
                    }
                }
            ],
        }
    ],
    "labels": {
        "nda-1": {"hypothesis": "Copies are returned."},
        "nda-2": {"hypothesis": "Nothing survives."},
        "nda-3": {"hypothesis": "Staff may see it."},
    },
}


def test_importing_contracts_writes_a_sound_corpus_and_accounts_for_it(tmp_path: Path) -> None:
    (tmp_path / "dev.json").write_text(json.dumps(CONTRACT))
    out = tmp_path / "corpus"
    done = interpact("import", "contractnli", tmp_path / "dev.json", "--out", out, "--subsets", 9)
    assert done.returncode == 0, done.stderr
    assert "subset" in done.stdout and "kept" in done.stdout
    corpus = Corpus.read(out)
    assert len(corpus.cases) == 4  # the subsets of two or three out of three
    readme = (out / "README.md").read_text()
    assert "| annotation | kept | - | 3 |" in readme and "CC BY 4.0" in readme
    assert run("check", out) == ""


def test_policies_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "dev.json").write_text(json.dumps(CONTRACT))
    (tmp_path / "mine.yaml").write_text("- {name: both, hypotheses: [nda-1, Nothing survives.]}\n")
    arguments = (
        tmp_path / "dev.json",
        "--out",
        tmp_path / "out",
        "--policies",
        tmp_path / "mine.yaml",
    )
    run("import", "contractnli", *arguments)
    (case,) = Corpus.read(tmp_path / "out").cases.values()
    assert list(case.conditions.values()) == ["Copies are returned.", "Nothing survives."]


@pytest.mark.parametrize(
    ("source", "licence"), [("contractnli", "CC BY 4.0"), ("sharc", "CC BY-SA")]
)
def test_a_missing_data_set_says_where_it_is_published(tmp_path, source, licence):
    done = interpact("import", source, tmp_path / "absent", "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "there is no such file or folder" in done.stderr
    assert licence in done.stderr and "https://" in done.stderr


def test_a_wrong_policy_is_all_that_is_told_of_it(tmp_path: Path) -> None:
    (tmp_path / "dev.json").write_text(json.dumps(CONTRACT))
    (tmp_path / "mine.yaml").write_text("- {name: both, hypotheses: [nda-1], rulee: r}\n")
    done = interpact(
        "import", "contractnli", tmp_path / "dev.json", "--out", tmp_path / "out",
        "--policies", tmp_path / "mine.yaml",
    )  # fmt: skip
    (line,) = done.stderr.splitlines()
    assert 'rulee: unknown field (did you mean "rule"?)' in line


def test_where_no_case_comes_of_an_import_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "dev.json").write_text(json.dumps({"documents": [], "labels": {}}))
    with pytest.raises(InterPactError, match="no case came of these files"):
        run("import", "contractnli", tmp_path / "dev.json", "--out", tmp_path / "out")
    bare = "id: a\nrule: r\nquery: q\naggregation: all\nconditions: {c1: It holds.}\nevidence: []\n"
    (tmp_path / "a.yaml").write_text(bare)
    with pytest.raises(InterPactError, match=r"\| case \| dropped \| without labels"):
        run("import", "cases", tmp_path / "a.yaml", "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_import_does_not_overwrite_pairs(tmp_path: Path) -> None:
    (tmp_path / "dev.json").write_text(json.dumps(CONTRACT))
    out = tmp_path / "corpus"
    out.mkdir()
    folder(out)
    with pytest.raises(InterPactError, match="import into a new folder"):
        run("import", "contractnli", tmp_path / "dev.json", "--out", out)
    assert len(Corpus.read(out).pairs) == 5


def test_an_import_does_not_overwrite_cases_of_another_origin(tmp_path: Path) -> None:
    (tmp_path / "dev.json").write_text(json.dumps(CONTRACT))
    out = tmp_path / "corpus"
    contracts = ("import", "contractnli", tmp_path / "dev.json", "--out", out)
    run(*contracts, "--subsets", 2)
    run(*contracts)  # the same import may be repeated
    mine = (out / "cases.jsonl").read_text()
    (out / "README.md").write_text("# My cases\n")
    with pytest.raises(InterPactError, match="other cases already; import into a new folder"):
        run(*contracts)
    with pytest.raises(InterPactError, match="is not empty"):
        run("synth", "--out", out, "--cases", 3)
    assert (out / "cases.jsonl").read_text() == mine


def test_own_case_files_become_a_corpus(tmp_path: Path) -> None:
    (tmp_path / "open.yaml").write_text(
        "id: open\nrule: r\nquery: q\naggregation: all\nconditions: {c1: It holds.}\n"
        "evidence: [{id: e1, conditions: [c1], text: It does.}]\n"
    )
    examples = sorted(EXAMPLES.glob("*.yaml"))
    out = tmp_path / "corpus"
    done = interpact("import", "cases", *examples, tmp_path / "open.yaml", "--out", out)
    assert done.returncode == 0, done.stderr
    corpus = Corpus.read(out)
    units = [unit for case in corpus.cases.values() for unit in case.evidence]
    assert len(corpus.cases) == len(examples)
    assert len(corpus.roots) == sum(len(unit.conditions) == 1 for unit in units)
    readme = (out / "README.md").read_text()
    assert "| case | dropped | without labels" in readme
    assert f"| evidence unit | kept | root | {len(corpus.roots)} |" in readme
    assert run("check", out) == ""
    run("split", out)
    offline = EXAMPLES.parent / "configs" / "construct-offline.yaml"
    assert "| removal | 0 | 0 | 0 |" in run("construct", out, "--config", offline)


def test_own_cases_with_one_id_are_told_with_both_places(tmp_path: Path) -> None:
    nda = EXAMPLES / "nda.yaml"
    with pytest.raises(InterPactError, match=r"is taken by .*nda\.yaml.*give each case its own"):
        run("import", "cases", nda, nda, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", [("label",), ("export", "--out", "x"), ("construct",)])
def test_a_folder_without_roots_says_what_to_do(tmp_path: Path, command: tuple[str, ...]) -> None:
    run("convert", EXAMPLES / "nda.yaml", tmp_path / "cases.jsonl")
    with pytest.raises(InterPactError, match="no roots; make the corpus with `interpact import`"):
        run(command[0], tmp_path, *command[1:])
    assert [path.name for path in tmp_path.iterdir()] == ["cases.jsonl"]


def test_export(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    run("export", folder(tmp_path / "in"), "--out", tmp_path / "out")
    assert (tmp_path / "out" / "pairs" / "train.parquet").exists()


def test_from_the_sample_to_labels_and_coverage(tmp_path: Path) -> None:
    out = tmp_path / "sample"
    run("sample", "--out", out)
    with pytest.raises(InterPactError, match="is not empty"):
        run("sample", "--out", out)
    before = (out / "criticality.jsonl").read_text()
    assert "| changed_pair | yes | 24 |" in run("label", out)
    assert (out / "criticality.jsonl").read_text() == before
    assert "| train | all | 238 |" in run("split", out, "--ratios", "60,20,20")
    run("split", out, "--check")
    assert "| all | 31 |" in run("coverage", out, "--figure", tmp_path / "coverage.png")
    assert (tmp_path / "coverage.png").stat().st_size > 5_000
    with pytest.raises(InterPactError, match="write three numbers"):
        run("split", out, "--ratios", "a,b")


def test_a_leak_is_told_and_fails(tmp_path: Path) -> None:
    roots = [dict(root) for root in ROOTS]
    roots[1]["split"] = "test"
    done = interpact("split", folder(tmp_path, roots=roots), "--check")
    assert done.returncode == 2
    assert "lease-1" in done.stderr and "1 leak" in done.stderr


def test_synthetic_corpora_are_sound(tmp_path: Path) -> None:
    assert "| all | cases | 40 |" in run("synth", "--out", tmp_path / "syn", "--cases", 40)
    run("check", tmp_path / "syn")
