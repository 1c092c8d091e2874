"""A tiny verifier with random weights, calibrated on a made-up corpus."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from interpact.verifier.backbone import load_backbone, with_new_adapter
from interpact.verifier.config import LoraSettings
from tests.cli.test_cases import run
from tests.verifier import tiny


@pytest.fixture(scope="package", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def base(tmp_path_factory) -> Path:
    return tiny.saved(tiny.llama(), tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="session")
def adapter(base, tmp_path_factory) -> Path:
    """A random adapter, which moves the numbers."""
    backbone = load_backbone(str(base), dtype="float32")
    torch.manual_seed(7)
    model = with_new_adapter(backbone.model, LoraSettings(rank=4, scale=8, embeddings=False))
    for name, parameter in model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(parameter, std=0.2)
    folder = tmp_path_factory.mktemp("adapter")
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def corpus(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("corpus") / "made-up"
    run("synth", "--cases", 60, "--seed", 3, "--out", folder)
    run("split", folder, "--ratios", "40,50,10")
    run("label", folder)
    return folder


@pytest.fixture(scope="session")
def calibrated(adapter, corpus, tmp_path_factory) -> tuple[Path, str]:
    out = tmp_path_factory.mktemp("out") / "verifier"
    return out, run("calibrate", adapter, "--corpus", corpus, "--out", out)
