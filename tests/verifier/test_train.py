"""Training: windows, both stages, resumption to the same numbers, two processes, bad input."""

from __future__ import annotations

import errno
import json
import math
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from interpact.case.states import Decision, State
from interpact.corpus.pairs import Split
from interpact.corpus.store import SAMPLE, Corpus
from interpact.errors import InterPactError
from interpact.verifier import run as runs
from interpact.verifier.backbone import load_backbone
from interpact.verifier.config import LoraSettings, Order, StageSettings, TrainConfig, Variant
from interpact.verifier.objectives import Item, PropagationObjective
from interpact.verifier.questions import Questions, estimate
from interpact.verifier.selection import checkpoint_steps
from interpact.verifier.train import StageTrainer, checkpoints, metrics, windows
from tests.verifier import tiny

STAGE = StageSettings(passes=0.75, learning_rate=2e-3, checkpoint_every=2)


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def backbone_folder(tmp_path_factory) -> Path:
    return tiny.saved(tiny.llama(), tmp_path_factory.mktemp("llama"))


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return small(Corpus.read(SAMPLE))


def small(corpus: Corpus, roots: int = 9) -> Corpus:
    """The pairs of a few roots of each split."""
    kept: set[str] = set()
    for split in Split:
        of_split = [r for r, root in corpus.roots.items() if root.split is split]
        kept |= set(of_split[:roots])
    return Corpus(
        corpus.cases, corpus.roots, [p for p in corpus.pairs if p.record.root in kept], {}
    )


@pytest.fixture(scope="module")
def config(backbone_folder) -> TrainConfig:
    return TrainConfig(
        backbone=str(backbone_folder),
        dtype="float32",
        lora=LoraSettings(rank=4, scale=8, dropout=0.1),
        after_state=STAGE,
        propagation=STAGE,
    )


@pytest.fixture(scope="module")
def trained(config, corpus, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "whole"
    runs.train(config, corpus, folder)
    return folder


def recorded(run: Path, stage: str) -> list[tuple]:
    """What a stage recorded, without its clock."""
    updates, dev = metrics(run / stage)
    return [
        [{k: v for k, v in u.items() if k != "seconds"} for u in updates],
        dev,
    ]


def test_the_papers_updates_and_checkpoints(corpus):
    pair = corpus.pairs[0]
    items = [
        Item(
            replace(
                pair, record=pair.record.model_copy(update={"root": f"r{i // 7}", "id": str(i)})
            ),
            (),
        )
        for i in range(4168)
    ]
    for order in Order:
        batches = windows(items, StageSettings(order=order), seed=1)
        assert len(batches) == 521
        assert len(checkpoint_steps(len(batches), 50)) == 11
        assert {len(micro) for window in batches for micro in window} == {2}
        seen = Counter(item.pair.id for w in batches for micro in w for item in micro)
        assert set(seen.values()) == {2} and len(seen) == 4168
    again = windows(items, StageSettings(order=order), seed=1)
    assert [i.pair.id for w in batches for m in w for i in m] == [
        i.pair.id for w in again for m in w for i in m
    ]


def test_a_run_is_a_folder(trained, config):
    found = runs.selected(trained)
    assert (trained / "curves.png").stat().st_size > 10_000
    assert runs.read_settings(trained / "config.yaml", TrainConfig) == config
    assert "torch" in json.loads((trained / "versions.json").read_text())
    for stage in ("after_state", "propagation"):
        updates, dev = metrics(trained / stage)
        assert [u["step"] for u in updates] == list(range(1, len(updates) + 1))
        assert list(dev) == list(checkpoints(trained / stage)) == checkpoint_steps(len(updates), 2)
    dev = metrics(trained / "after_state")[1]
    best = max(dev, key=lambda s: (dev[s]["change_ap"], -s))
    assert found.estimator == f"after_state/checkpoint-{best}"
    dev = metrics(trained / "propagation")[1]
    best = min(dev, key=lambda s: (dev[s]["nll"], s))
    assert found.verifier == f"propagation/checkpoint-{best}"
    assert found.threshold == dev[best]["threshold"]
    updates, _ = metrics(trained / "propagation")
    assert all({"loss", "branch", "decision", "change"} <= set(u) for u in updates)
    for u in updates:
        assert u["loss"] == pytest.approx(u["decision"] + 0.5 * u["branch"] + 0.5 * u["change"])


def test_plain_peft_loads_the_adapters_and_tied_embeddings_stay_tied(trained, config):
    from peft import PeftModel
    from transformers import AutoModelForCausalLM

    folder = trained / runs.selected(trained).verifier
    ours = load_backbone(config.backbone, adapter=folder, dtype="float32")
    theirs = PeftModel.from_pretrained(
        AutoModelForCausalLM.from_pretrained(config.backbone, dtype=torch.float32), folder
    ).eval()
    row = ours.encoder.row("row", range(5, 60), (3, 54))
    (found,) = ours.logits([[row]])
    expected = theirs(torch.tensor([row.tokens])).logits[0, list(row.reads)]
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
    base = AutoModelForCausalLM.from_pretrained(config.backbone, dtype=torch.float32)
    moved = base(torch.tensor([row.tokens])).logits[0, list(row.reads)]
    assert (found - moved).abs().max() > 1e-3  # the adapter does something
    merged = theirs.merge_and_unload()
    inner, outer = merged.get_input_embeddings().weight, merged.get_output_embeddings().weight
    assert torch.equal(inner, outer)
    assert not torch.equal(inner, base.get_input_embeddings().weight)


def test_the_estimator_is_read_once_and_is_the_selected_checkpoint(trained, config, corpus):
    found = runs.selected(trained)
    backbone = load_backbone(config.backbone, adapter=trained / found.estimator, dtype="float32")
    pairs = [p for p in corpus.pairs if p.of.split is not Split.TEST]
    log_q = estimate(backbone, [(p.id, p.after, p.of.root.condition) for p in pairs]).log_q
    lines = (trained / "estimates.jsonl").read_text().splitlines()[1:]
    kept = {r["pair"]: r["log_q"] for r in map(json.loads, lines)}
    assert set(kept) == {p.id for p in pairs}  # nothing of the test split
    for pair, row in zip(pairs, log_q, strict=True):
        assert kept[pair.id] == pytest.approx(row.tolist(), abs=1e-4)


class Stop(Exception):
    pass


KILLED = """
import os, signal, sys
import torch
torch.set_num_threads(1)
from pathlib import Path
from interpact.corpus.store import Corpus, SAMPLE
from interpact.settings import read_settings
from interpact.verifier import run as runs
from interpact.verifier.config import TrainConfig
from tests.verifier.test_train import small

def watch(progress):
    if (progress.stage, progress.step) == (sys.argv[3], int(sys.argv[4])):
        os.kill(os.getpid(), signal.SIGKILL)

config = read_settings(Path(sys.argv[1]), TrainConfig)
runs.train(config, small(Corpus.read(SAMPLE)), Path(sys.argv[2]), watch=watch)
"""


def test_killed_and_resumed_is_uninterrupted(trained, config, corpus, tmp_path):
    run = tmp_path / "killed"
    command = [sys.executable, "-W", "ignore", "-c", KILLED, str(trained / "config.yaml"), str(run)]
    done = subprocess.run(
        [*command, "propagation", "3"], capture_output=True, cwd=ROOT, check=False
    )
    assert done.returncode == -9, done.stderr.decode()
    with pytest.raises(InterPactError, match="--resume"):
        runs.train(config, corpus, run)
    with pytest.raises(InterPactError, match=r"other settings \(seed\)"):
        runs.train(config.model_copy(update={"seed": 9}), corpus, run, resume=True)
    assert runs.train(config, corpus, run, resume=True) == runs.selected(trained)
    for stage in ("after_state", "propagation"):
        assert recorded(run, stage) == recorded(trained, stage)


def test_killed_while_a_checkpoint_was_measured(trained, config, corpus, tmp_path, monkeypatch):
    run = tmp_path / "run"
    measured = []

    def stop(*args):
        measured.append(1)
        if len(measured) == 2:
            raise Stop
        return real(*args)

    real = runs.train_stage.__globals__["_measure"]
    monkeypatch.setitem(runs.train_stage.__globals__, "_measure", stop)
    with pytest.raises(Stop):
        runs.train(config, corpus, run)
    monkeypatch.undo()
    (run / "after_state" / "checkpoint-6").mkdir()  # half written
    runs.train(config, corpus, run, resume=True)
    assert recorded(run, "after_state") == recorded(trained, "after_state")


ROOT = Path(__file__).parents[2]


def test_a_replay_and_two_processes_give_the_same_losses(config, corpus, tmp_path):
    # Dropout draws differ between processes, so there is none here.
    still = config.model_copy(update={"lora": LoraSettings(rank=4, scale=8, dropout=0.0)})
    runs.train(still, corpus, tmp_path / "one")
    saved = tmp_path / "one" / "config.yaml"
    again = runs.read_settings(saved, TrainConfig)
    runs.train(again, corpus, tmp_path / "again")
    for stage in ("after_state", "propagation"):
        assert recorded(tmp_path / "again", stage) == recorded(tmp_path / "one", stage)
    script = tmp_path / "two.py"
    script.write_text(KILLED)
    launch = [sys.executable, "-m", "accelerate.commands.launch", "--cpu", "--num_processes", "2"]
    launch += ["--num_machines", "1", "--mixed_precision", "no", "--dynamo_backend", "no"]
    launch += ["--main_process_port", "0", "--num_cpu_threads_per_process", "1"]
    done = subprocess.run(
        [*launch, str(script), str(saved), str(tmp_path / "two"), "never", "0"],
        capture_output=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore", "USE_LIBUV": "0"},
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    for stage in ("after_state", "propagation"):
        one, two = metrics(tmp_path / "one" / stage), metrics(tmp_path / "two" / stage)
        assert len(one[0]) == len(two[0])
        for a, b in zip(one[0], two[0], strict=True):
            assert b["loss"] == pytest.approx(a["loss"], rel=1e-5)
        assert one[1].keys() == two[1].keys()
        for step in one[1]:
            assert two[1][step] == pytest.approx(one[1][step], rel=1e-4)


def test_ablations_share_the_estimator_and_differ_in_their_losses(config, corpus, tmp_path):
    # The outright question makes longer rows, for which dropout would draw other masks.
    config = config.model_copy(update={"lora": LoraSettings(rank=4, scale=8, dropout=0.0)})
    trained = tmp_path / "whole"
    runs.train(config, corpus, trained)
    losses = {}
    for variant in Variant:
        if variant is Variant.INTERPACT:
            losses[variant] = metrics(trained / "propagation")[0]
            continue
        run = tmp_path / variant
        short = config.propagation.model_copy(update={"passes": 0.3})
        changed = config.model_copy(update={"variant": variant, "propagation": short})
        found = runs.train(changed, corpus, run, shared=trained)
        assert (run / found.estimator).resolve() == (
            trained / runs.selected(trained).estimator
        ).resolve()
        assert (run / "estimates.jsonl").read_text() == (trained / "estimates.jsonl").read_text()
        assert not (run / "after_state").exists()
        losses[variant] = metrics(run / "propagation")[0]
    first = {variant: found[0] for variant, found in losses.items()}
    full = first[Variant.INTERPACT]
    # The same first pairs and weights: the branches are the same, what is minimised is not.
    for variant, one in first.items():
        assert one["branch"] == pytest.approx(full["branch"], rel=1e-5), variant
    branch, change = first[Variant.WITHOUT_BRANCH_LOSS], first[Variant.WITHOUT_CHANGE_LOSS]
    assert branch["loss"] == pytest.approx(full["decision"] + 0.5 * full["change"], rel=1e-5)
    assert change["loss"] == pytest.approx(full["decision"] + 0.5 * full["branch"], rel=1e-5)
    for variant in (Variant.WITHOUT_COMPOSITION, Variant.WITHOUT_HARD_WARRANT):
        assert first[variant]["decision"] != pytest.approx(full["decision"], rel=1e-3)


@pytest.mark.parametrize("variant", list(Variant))
def test_what_each_variant_composes(corpus, variant):
    pair = next(p for p in corpus.pairs if p.of.split is Split.TRAIN)
    questions = Questions(load_encoder())
    objective = PropagationObjective(questions, {}, variant, TrainConfig().losses)
    torch.manual_seed(0)
    q = torch.rand(3).softmax(0)
    reads = 4 if variant is Variant.WITHOUT_COMPOSITION else 3
    logits = torch.randn(1, reads, len(tiny.tokenizer()))
    log_R, log_p = objective.composed([pair], q.log()[None], logits)
    R = logits[0][:, list(questions.decisions.tokens)].softmax(-1)
    torch.testing.assert_close(log_R[0].exp(), R[:3])
    state, decision = list(State).index(pair.of.state), list(Decision).index(pair.of.decision)
    certain = torch.eye(3)[decision]
    if variant is Variant.WITHOUT_COMPOSITION:
        expected = q[state] * certain + (1 - q[state]) * R[3]
    elif variant is Variant.WITHOUT_HARD_WARRANT:
        expected = q @ R
    else:
        expected = q @ torch.stack([certain if c == state else R[c] for c in range(3)])
    torch.testing.assert_close(log_p[0].exp(), expected)


def load_encoder():
    from interpact.verifier.encode import Encoder

    return Encoder(tiny.tokenizer(), 8192)


def test_bad_corpora_are_refused_before_anything_is_trained(config, corpus, tmp_path):
    def without(keep) -> Corpus:
        return Corpus(corpus.cases, corpus.roots, [p for p in corpus.pairs if keep(p)], {})

    for bad, told in (
        (without(lambda p: p.of.split is not Split.DEV), "no dev pairs"),
        (without(lambda p: p.of.split is not Split.TRAIN), "no train pairs"),
        (without(lambda p: p.of.split is not Split.DEV or not p.changed), "changes its decision"),
        (
            without(lambda p: p.of.split is Split.DEV or p.decision_after is not Decision.YES),
            "no training pair ends in the decision yes",
        ),
    ):
        with pytest.raises(InterPactError, match=told):
            runs.train(config, bad, tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("context", [1, 200])
def test_a_prompt_that_does_not_fit_names_its_pair(config, corpus, tmp_path, context):
    folder = tiny.saved(tiny.llama(context=context), tmp_path / "model")
    with pytest.raises(
        InterPactError, match=rf"/\w+: its prompt has \d+ tokens, .* {context}; nothing"
    ):
        runs.train(config.model_copy(update={"backbone": str(folder)}), corpus, tmp_path / "run")


def test_a_loss_that_is_no_number_stops_and_keeps_the_checkpoint(
    config, corpus, tmp_path, monkeypatch
):
    real = StageTrainer.training_step

    def poisoned(self, model, inputs, num_items_in_batch=None):
        if self.state.global_step == 2:
            with torch.no_grad():
                next(p for p in model.parameters() if p.requires_grad).fill_(math.nan)
        return real(self, model, inputs, num_items_in_batch)

    monkeypatch.setattr(StageTrainer, "training_step", poisoned)
    with pytest.raises(InterPactError, match=r"not a finite number at update 3 \(pairs .+\)"):
        runs.train(config, corpus, tmp_path / "run")
    assert list(checkpoints(tmp_path / "run" / "after_state")) == [2]


def test_a_full_disk_is_told_and_nothing_whole_is_lost(config, corpus, tmp_path, monkeypatch):
    real = StageTrainer._save

    def full(self, output_dir=None, state_dict=None):
        if output_dir.endswith("-4"):
            raise OSError(errno.ENOSPC, "No space left on device")
        real(self, output_dir, state_dict)

    monkeypatch.setattr(StageTrainer, "_save", full)
    with pytest.raises(InterPactError, match=r"No space left on device.*--resume"):
        runs.train(config, corpus, tmp_path / "run")
    assert list(checkpoints(tmp_path / "run" / "after_state")) == [2]


def test_a_hybrid_trains_in_rows_of_its_own(corpus, tmp_path):
    folder = tiny.saved(tiny.hybrid(), tmp_path / "model")
    stage = StageSettings(passes=0.3, learning_rate=1e-3, checkpoint_every=50)
    config = TrainConfig(
        backbone=str(folder),
        dtype="float32",
        lora=LoraSettings(rank=4, scale=8),
        after_state=stage,
        propagation=stage,
    )
    told: list[str] = []
    few = small(corpus, 4)
    found = runs.train(config, few, tmp_path / "run", say=told.append)
    assert any("a row of its own" in text for text in told)
    from safetensors import safe_open

    weights = tmp_path / "run" / found.verifier / "adapter_model.safetensors"
    with safe_open(weights, "pt") as file:
        names = list(file.keys())
    for part in ("linear_attn.in_proj_qkv.lora_A", "self_attn.q_proj.lora_A", "embed_tokens"):
        assert any(part in name for name in names), part
