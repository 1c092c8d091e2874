"""Writing a verifier folder: adapters in 16 bits, settings, a model card; ready for a hub."""

from __future__ import annotations

import json
from pathlib import Path

from interpact.case.files import replacing
from interpact.errors import InterPactError
from interpact.judging.settings import JudgeSettings
from interpact.judging.verifier import ADAPTER

WEIGHTS = "adapter_model.safetensors"
PAIRED = "paired"


def write_adapters(source: Path, settings: JudgeSettings, out: Path) -> JudgeSettings:
    """Put the adapters that settings name into a new folder; the estimator's is the folder's own."""
    if out.exists() and any(out.iterdir()):
        raise InterPactError(f"{out}: this folder is not empty; give a new one")
    out.mkdir(parents=True, exist_ok=True)
    found = settings
    if settings.estimator is not None:
        _write_adapter(source / settings.estimator, out, settings.backbone)
        found = found.model_copy(update={"estimator": "."})
    if settings.paired == settings.estimator:
        return found.model_copy(update={"paired": found.estimator})
    if settings.paired is not None:
        _write_adapter(source / settings.paired, out / PAIRED, settings.backbone)
        found = found.model_copy(update={"paired": PAIRED})
    return found


def _write_adapter(source: Path, to: Path, backbone: str) -> None:
    """Copy an adapter with its weights in 16 bits, named after a base that anybody can load."""
    import torch
    from safetensors.torch import load_file, save_file

    from interpact.verifier.fetch import HUB_ID, SMOLLM2

    to.mkdir(parents=True, exist_ok=True)
    config = json.loads((source / ADAPTER).read_text(encoding="utf-8"))
    if backbone == SMOLLM2:
        config["base_model_name_or_path"] = HUB_ID
    weights = {
        name: tensor.to(torch.float16) if tensor.dtype == torch.float32 else tensor
        for name, tensor in load_file(source / WEIGHTS).items()
    }
    save_file(weights, to / WEIGHTS, metadata={"format": "pt"})
    (to / ADAPTER).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def write_card(out: Path, settings: JudgeSettings, notes: str = "") -> None:
    """The model card: what it is, how it was fitted, how it did, what it cannot do."""
    rows = [
        f"| {mode} | {_percent(m.dev, 'accuracy')} | {_percent(m.dev, 'balanced_accuracy')} "
        f"| {_percent(m.dev, 'macro_f1')} | {_percent(m.dev, 'invalid')} | {_percent(m.dev, 'ece')} |"
        for mode, m in settings.modes.items()
    ]
    counts = ", ".join(f"{n:,} {what.replace('_', ' ')}" for what, n in settings.corpus.items())
    least = settings.of(settings.mode).conformal.least_risk
    text = f"""---
library_name: peft
tags: [interpact, evidence, verification]
base_model: {_base(settings)}
---

# An InterPact verifier

Judges for each piece of evidence of a rule-governed case whether the decision hangs on it.

    interpact judge case.yaml --verifier THIS_FOLDER

```python
from interpact import Verifier

for judgment in Verifier.load("THIS_FOLDER").judge("case.yaml"):
    print(judgment.evidence, judgment.verdict, judgment.probability, judgment.witness)
```

The adapter is plain PEFT: `PeftModel.from_pretrained(base, "THIS_FOLDER")`. `judge.json` holds what was
fitted besides: corrected state probabilities, how likely an edit reaches a state, calibration, and the
scores that abstaining rests on. It is asked for states by the prompt `{settings.state_prompt}`.

## Fitted on

{counts}. Weights of reachability come from training pairs, everything else from development roots; the
test split was not read.

## On development roots, components left out in turn (%)

| mode | accuracy | balanced accuracy | macro F1 | invalid | ECE |
|---|---:|---:|---:|---:|---:|
{chr(10).join(rows)}

Mode `auto` uses `{settings.mode}`. The least risk that it can keep to is {least:.3f}.
{notes}
## Limits

States are taken to be independent of each other given the text. Where every development condition with
evidence was settled, the verifier holds `unknown` for unlikely as long as a unit names the condition.
Probabilities and risks hold for cases like those it was fitted on. A judgment tells what deserves a
look; it is not a decision.
"""
    with replacing(out / "README.md") as part:
        part.write_text(text, encoding="utf-8")


def _percent(dev: dict[str, float | None], name: str) -> str:
    value = dev.get(name)
    return "-" if value is None else f"{100 * value:.1f}"


def _base(settings: JudgeSettings) -> str:
    from interpact.verifier.fetch import HUB_ID, SMOLLM2

    return HUB_ID if settings.backbone == SMOLLM2 else settings.backbone
