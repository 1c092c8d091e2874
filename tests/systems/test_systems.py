"""All eleven systems: trained a few steps on tiny models, evaluated, resumed, reproduced."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import torch
import yaml
from typer.testing import CliRunner

from interpact.cli import app
from interpact.corpus.pairs import Operation, Split
from interpact.corpus.store import SAMPLE, Corpus
from interpact.errors import InterPactError
from interpact.evaluate.measured import write_metrics
from interpact.evaluate.reproduce import PAPER, ReproduceConfig, runs_of
from interpact.systems import learn
from interpact.systems.config import SystemConfig
from interpact.systems.learn import chosen
from interpact.systems.predict import predict, predict_by_rule
from interpact.systems.predictions import System, folder_of, read_predictions
from interpact.systems.system import Job, load, train
from interpact.verifier import curves
from interpact.verifier.config import LoraSettings, StageSettings
from interpact.verifier.objectives import scores
from interpact.verifier.run import train_and_dev
from interpact.verifier.train import checkpoints, metrics
from tests.verifier import tiny

CONFIGS = Path(__file__).parents[2] / "configs"
KEPT = (Operation.REMOVAL, Operation.POLARITY_REVERSAL, Operation.PARAPHRASE)
STAGE = StageSettings(passes=1, learning_rate=2e-3, batch=6, checkpoint_every=1)


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:  # drawing takes longer than these trainings
        for module in (curves, learn):
            patch.setattr(module, "draw_curves", lambda stages, to: None)
        yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    """Three pairs of each of four roots of each split."""
    whole = Corpus.read(SAMPLE)
    roots = {}
    for split in Split:
        roots |= dict([(n, r) for n, r in whole.roots.items() if r.split is split][:4])
    pairs = [p for p in whole.pairs if p.record.root in roots and p.record.operation in KEPT]
    labels = {name: c for name, c in whole.criticality.items() if name in roots}
    return Corpus(whole.cases, roots, pairs, labels)


@pytest.fixture(scope="module")
def config(tmp_path_factory) -> SystemConfig:
    folder = tiny.saved(tiny.llama(), tmp_path_factory.mktemp("llama"))
    return SystemConfig(
        backbone=str(folder),
        dtype="float32",
        lora=LoraSettings(rank=4, scale=8, dropout=0.1),
        after_state=STAGE,
        propagation=STAGE,
        baseline=STAGE,
    )


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("runs")


SHARING = [s for s in PAPER if s in ("after_state", "r2guard") or s.startswith("without_")]


@pytest.fixture(scope="module")
def interpact(config, corpus, home) -> Path:
    run = home / "interpact"
    train(Job(config, corpus, run))
    return run


@pytest.mark.parametrize("key", PAPER)
def test_every_system_learns_and_predicts_all_there_is(key, config, corpus, home, interpact):
    run = home / key
    if key is not System.INTERPACT:
        shared = interpact if key in SHARING else None
        train(Job(config.of(key), corpus, run, shared=shared))
    folder = predict(run, corpus, Split.TEST)
    found = read_predictions(folder)
    assert (found.meta.system, found.meta.run) == (key, run.name)
    assert found.meta.threshold is not None
    pairs = [p for p in corpus.pairs if p.of.split is Split.TEST]
    assert found.pairs is not None and found.roots is not None
    assert sorted(found.pairs.ids.to_pylist()) == sorted(p.id for p in pairs)
    test_roots = {n for n, r in corpus.roots.items() if r.split is Split.TEST}
    assert set(found.roots.roots) == test_roots and found.roots.p_yes is not None
    assert found.pairs.p is not None and found.pairs.s is not None
    has_states = key not in (System.PAIRCFR, System.GENRM)
    assert (found.pairs.q is not None) is has_states
    has_branches = key is System.INTERPACT or key.startswith("without_")
    assert (found.pairs.branches is not None) is has_branches
    for p, s, before in zip(found.pairs.p, found.pairs.s, found.pairs.decision_before, strict=True):
        assert s == pytest.approx(1 - p[before], abs=1e-5)
    metrics_found = write_metrics(folder)
    assert metrics_found["paired/change_ba"] is not None
    stamp = (folder / "pairs.jsonl").stat().st_mtime_ns
    predict(run, corpus, Split.TEST)
    assert (folder / "pairs.jsonl").stat().st_mtime_ns == stamp


@pytest.mark.parametrize("key", [System.EXECUTION, System.PAIRCFR, System.GENRM])
def test_the_checkpoint_of_the_lowest_decision_nll_is_chosen(key, home):
    run = home / key
    (stage,) = [path for path in run.iterdir() if list(path.glob("checkpoint-*"))]
    dev = metrics(stage)[1]
    assert list(dev) == list(checkpoints(stage)) and len(dev) == 2
    best = min(dev, key=lambda step: (dev[step]["nll"], step))
    found = chosen(run)
    assert found.checkpoint == f"{stage.name}/checkpoint-{best}"
    assert found.threshold == dev[best]["threshold"]


def test_a_loaded_system_is_the_one_that_was_measured(home, corpus):
    # The head of PairCFR and the weights of R2-Guard are kept too.
    _, dev_pairs = train_and_dev(corpus)
    for key in (System.PAIRCFR, System.R2GUARD, System.GENRM, System.AFTER_STATE):
        _, system = load(home / key)
        found = scores(system.pairs(dev_pairs))
        assert found["nll"] == pytest.approx(chosen(home / key).dev["nll"], rel=1e-3), key


def test_ablations_predict_the_same_states(home):
    states = [
        read_predictions(folder_of(home / s, Split.TEST)).pairs.q.tolist()
        for s in PAPER
        if s is System.INTERPACT or s.startswith("without_")
    ]
    assert len(states) == 5 and all(one == states[0] for one in states)


def test_the_shared_first_stage_is_not_trained_again(home):
    for key in SHARING:
        assert not (home / key / "after_state").exists(), key


@pytest.mark.parametrize("key", [System.PAIRCFR, System.GENRM])
def test_an_interrupted_training_goes_on_to_the_same_numbers(key, config, corpus, home, tmp_path):
    class Stop(Exception):
        pass

    def watch(progress):
        if progress.step == 2:
            raise Stop

    run = tmp_path / key
    with pytest.raises(Stop):
        train(Job(config.of(key), corpus, run, watch=watch))
    with pytest.raises(InterPactError, match="--resume"):
        train(Job(config.of(key), corpus, run))
    train(Job(config.of(key), corpus, run, resume=True))
    whole = home / key
    (stage,) = [path.name for path in whole.iterdir() if list(path.glob("checkpoint-*"))]
    updates, dev = metrics(run / stage)
    expected, expected_dev = metrics(whole / stage)
    assert dev == expected_dev
    for one, other in zip(updates, expected, strict=True):
        assert one | {"seconds": 0} == other | {"seconds": 0}
    assert chosen(run) == chosen(whole)


def test_the_predicted_rule_uses_predicted_states_alone(home, corpus, tmp_path):
    folder = predict_by_rule(home / "execution", tmp_path / "rule", corpus)
    found = read_predictions(folder)
    assert found.meta.system is System.PREDICTED_RULE and found.pairs is None
    assert found.roots is not None and len(found.roots) == 4
    with pytest.raises(InterPactError, match="needs an execution run"):
        predict_by_rule(home / "genrm", tmp_path / "other", corpus)


def test_reasoning_is_cut_off_at_its_budget_and_stays_in(config, corpus, tmp_path):
    prompted = config.prompted.model_copy(update={"reasoning_tokens": 5})
    changed = config.of(System.PROMPTED).model_copy(update={"prompted": prompted})
    few = Corpus(corpus.cases, corpus.roots, corpus.pairs, {})
    train(Job(changed, few, tmp_path / "run"))
    found = read_predictions(predict(tmp_path / "run", few, Split.TEST)).pairs
    assert found is not None and found.p is not None
    assert len(found) == len(found.p) == 12 and not any(map(math.isnan, found.p.flatten()))


def test_settings_that_ship_are_sound():
    for path in CONFIGS.glob("*.yaml"):
        if path.name.startswith("construct"):
            continue
        if path.name in ("cpu-smoke.yaml", "cpu-reproduce.yaml", "paper-reproduce.yaml"):
            settings = ReproduceConfig.read(path)
            planned = runs_of(settings, Path("out"))
            assert {run.config.key for run in planned} == set(PAPER)
            assert len(planned) == 11 * len(settings.seeds)
            passes = {
                stage.passes
                for run in planned
                for stage in (run.config.after_state, run.config.propagation, run.config.baseline)
            }
            assert len(passes) == 1, "every stage makes the same passes"
        else:
            SystemConfig.read(path)


def run_cli(*words: object):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_the_line_is_reproduced_resumed_and_skipped(config, tmp_path):
    stage = {"passes": 0.5, "batch": 8, "checkpoint_every": 50}
    settings = {
        "corpus": "sample",
        "roots": 3,
        "seeds": [1, 2],
        "systems": ["interpact", "execution", "after_state"],
        "resamples": 100,
        "train": {
            "backbone": config.backbone,
            "dtype": "float32",
            "lora": {"rank": 2},
            "after_state": stage,
            "propagation": stage,
            "baseline": stage,
        },
    }
    path, out = tmp_path / "line.yaml", tmp_path / "out"
    path.write_text(yaml.safe_dump(settings))
    planned = run_cli("reproduce", path, "--out", out, "--dry-run")
    assert planned.exit_code == 0, planned.output
    assert "execution-seed2" in planned.output and "together about" in planned.output
    first = run_cli("reproduce", path, "--out", out, "--seeds", "1")
    assert first.exit_code == 0, (first.output, first.exception)
    page = (out / "report" / "index.html").read_text()
    assert "Predicted State Execution" in page and "Predicted rule" in page
    kept = {p: p.stat().st_mtime_ns for p in out.rglob("*.json*")}
    again = run_cli("reproduce", path, "--out", out, "--seeds", "1")
    assert again.exit_code == 0 and "reported before" in again.output
    metric_files = {p for p in kept if p.name == "metrics.json" and "predictions" in p.parts}
    assert all(p.stat().st_mtime_ns == t for p, t in kept.items() if p not in metric_files)
    both = run_cli("reproduce", path, "--out", out, "--only", "after_state")
    assert both.exit_code == 0, (both.output, both.exception)
    assert (out / "interpact-seed2" / "verifier.json").exists()  # what it shares
    assert "out/interpact-seed1: trained before" in both.output
    settings["train"]["lora"] = {"rank": 3}
    path.write_text(yaml.safe_dump(settings))
    other = run_cli("reproduce", path, "--out", out)
    assert isinstance(other.exception, InterPactError)
    assert "begun from something else (settings)" in str(other.exception)
    done = json.loads((out / "interpact-seed1" / "made-from.json").read_text())
    assert set(done) == {"train", "dev", "settings", "shared"}
