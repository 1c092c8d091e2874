"""What a training will need, from the shapes alone: no weight is read or made."""

from __future__ import annotations

from typing import Any

import torch

from interpact.errors import InterPactError
from interpact.verifier.backbone import can_pack, with_new_adapter
from interpact.verifier.config import TrainConfig
from interpact.verifier.fetch import SMOLLM2, fetched

QWEN = "Qwen/Qwen3.5-4B"
# The published shape, for machines that reach no hub.
QWEN_SHAPE: dict[str, Any] = {
    "vocab_size": 248320,
    "hidden_size": 2560,
    "intermediate_size": 9216,
    "num_hidden_layers": 32,
    "num_attention_heads": 16,
    "num_key_value_heads": 4,
    "head_dim": 256,
    "linear_num_key_heads": 16,
    "linear_num_value_heads": 32,
    "linear_key_head_dim": 128,
    "linear_value_head_dim": 128,
    "max_position_embeddings": 262144,
    "tie_word_embeddings": True,
}
GIB = 1 << 30


def shape_of(backbone: str) -> Any:
    """The configuration of a backbone."""
    from transformers import AutoConfig, Qwen3_5TextConfig

    if backbone == QWEN:
        return Qwen3_5TextConfig(**QWEN_SHAPE)
    try:
        return AutoConfig.from_pretrained(fetched() if backbone == SMOLLM2 else backbone)
    except (OSError, ValueError) as error:
        told = str(error).strip().partition("\n")[0]
        raise InterPactError(f"{backbone}: its shape cannot be read ({told})") from None


def plan(config: TrainConfig) -> str:
    """Trainable parameters and memory of a training, as text."""
    from transformers import AutoModelForCausalLM

    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(shape_of(config.backbone), dtype=torch.bfloat16)
        total = sum(p.numel() for p in model.parameters())
        packs = can_pack(model)
        linear = _linear(model)
        model = with_new_adapter(model, config.lora)
    adapters = sum(p.numel() for n, p in model.named_parameters() if "lora_" in n)
    trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
    copied = trained - adapters
    tokens = config.pack_tokens
    weights = 2 * total + 4 * trained
    gradients, moments = 4 * trained, 8 * trained
    kept = 2 * sum(i + o for i, o in linear) * tokens
    kinds = _kinds(model)
    lines = [
        f"backbone             {config.backbone} ({type(model.get_base_model()).__name__})",
        f"layers               {kinds}",
        f"rows                 {'packed along the tree of a root' if packs else 'one for each pair: a mask cannot keep rows apart here'}",
        f"parameters           {total:,}",
        f"trainable            {trained:,} ({trained / (total + adapters):.1%}): "
        f"{adapters:,} in adapters of rank {config.lora.rank}, {copied:,} in embeddings and output layer",
        f"adapted layers       {len(linear):,} linear",
        "memory, float32 for what is trained and bf16 for the rest:",
        f"  weights            {weights / GIB:.1f} GiB",
        f"  gradients          {gradients / GIB:.1f} GiB",
        f"  Adam's moments     {moments / GIB:.1f} GiB",
        f"  kept for backward  about {kept / GIB:.1f} GiB for {tokens:,} tokens at a time",
        f"  together           about {(weights + gradients + moments + kept) / GIB:.1f} GiB",
    ]
    return "\n".join(lines)


def _linear(model: Any) -> list[tuple[int, int]]:
    """In and out of every linear layer that gets an adapter."""
    head = model.get_output_embeddings()
    return [
        (module.in_features, module.out_features)
        for module in model.modules()
        if isinstance(module, torch.nn.Linear) and module is not head
    ]


def _kinds(model: Any) -> str:
    text = model.get_base_model().config.get_text_config()
    kinds = getattr(text, "layer_types", None) or ["full_attention"] * text.num_hidden_layers
    return ", ".join(
        f"{kinds.count(kind)} with {kind.replace('_', ' ')}" for kind in sorted(set(kinds))
    )
