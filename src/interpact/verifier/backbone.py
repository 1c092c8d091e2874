"""Backbones: any causal language model by hub id or folder, read only where labels are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from interpact.errors import InterPactError
from interpact.verifier.encode import Encoder
from interpact.verifier.fetch import SMOLLM2, fetched
from interpact.verifier.pack import Batch, Row, packed, plain


@dataclass(frozen=True, slots=True)
class LoraSettings:
    """Adapters on all linear layers; the paper's 32 / 64 / 0.05."""

    rank: int = 32
    scale: int = 64  # lora_alpha
    dropout: float = 0.05
    embeddings: bool = True  # embeddings and output layer are trained too


class Reader(nn.Module):
    """A language model that gives next-token logits at read positions, and nowhere else."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, tokens: Tensor, positions: Tensor, mask: Tensor, reads: Tensor) -> Tensor:
        causal = self.model.get_base_model() if hasattr(self.model, "peft_config") else self.model
        if mask.dim() == 4:  # as a bias, which every attention implementation adds
            bias = torch.zeros(mask.shape, dtype=_compute_dtype(causal), device=mask.device)
            mask = bias.masked_fill(~mask, torch.finfo(bias.dtype).min)
        hidden = causal.get_decoder()(
            input_ids=tokens, position_ids=positions, attention_mask=mask, use_cache=False
        ).last_hidden_state
        return causal.get_output_embeddings()(hidden[reads[:, 0], reads[:, 1]])


@dataclass(frozen=True)
class Backbone:
    """A model, its tokens, and how its rows are computed together."""

    name: str
    reader: Reader
    encoder: Encoder
    packs: bool  # full attention: rows that begin alike can share one sequence
    device: torch.device

    @property
    def model(self) -> Any:
        """The transformers (or PEFT) model."""
        return self.reader.model

    def batches(self, groups: Sequence[Sequence[Row]], limit: int) -> list[tuple[range, Batch]]:
        """Consecutive groups of rows as batches of about `limit` tokens."""
        if self.packs:
            return [(span, tree.batch()) for span, tree in packed(groups, limit)]
        found: list[tuple[range, Batch]] = []
        start, tokens = 0, 0
        for i, group in enumerate(groups):
            size = sum(len(row.tokens) for row in group)
            if i > start and tokens + size > limit:
                found.append((range(start, i), _plain(groups[start:i])))
                start, tokens = i, 0
            tokens += size
        if start < len(groups):
            found.append((range(start, len(groups)), _plain(groups[start:])))
        return found

    @torch.no_grad()
    def logits(self, rows: Sequence[Row], limit: int = 2048) -> Tensor:
        """The next-token logits at every read position of the rows, in float32."""
        self.reader.eval()
        found: list[Tensor] = []
        for _, batch in self.batches([[row] for row in rows], limit):
            batch = batch.to(self.device)
            found.append(
                self.reader(batch.tokens, batch.positions, batch.mask, batch.reads).float()
            )
        return torch.cat(found) if found else torch.empty(0)


def _plain(groups: Sequence[Sequence[Row]]) -> Batch:
    return plain([row for group in groups for row in group])


def load_backbone(
    name: str,
    *,
    adapter: str | Path | None = None,
    trainable: bool = False,
    dtype: str = "auto",
    device: str = "auto",
) -> Backbone:
    """A backbone by hub id, local folder or `smollm2`, with the adapter of a run if one is given."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    where = fetched() if name == SMOLLM2 else name
    on = torch.device(_device() if device == "auto" else device)
    kind = _dtype(on) if dtype == "auto" else getattr(torch, dtype)
    try:
        tokenizer = AutoTokenizer.from_pretrained(where)
        model = AutoModelForCausalLM.from_pretrained(where, dtype=kind)
    except (OSError, ValueError) as error:
        raise InterPactError(
            f"{name}: this backbone cannot be loaded ({_first_line(error)}); give a hub id that can "
            f"be reached, a folder with a causal language model, or {SMOLLM2}"
        ) from None
    if adapter is not None:
        model = with_adapter(model, adapter, trainable)
    return backbone_of(name, model, tokenizer, on)


def backbone_of(name: str, model: Any, tokenizer: Any, device: torch.device) -> Backbone:
    """A backbone around a model that is loaded already."""
    model.to(device)
    text = model.config.get_text_config()
    context = getattr(text, "max_position_embeddings", None) or 1 << 30
    return Backbone(name, Reader(model), Encoder(tokenizer, context), can_pack(model), device)


def can_pack(model: Any) -> bool:
    """Whether every layer attends in full, so that a mask can keep rows of one sequence apart."""
    kinds = getattr(model.config.get_text_config(), "layer_types", None)
    return kinds is None or set(kinds) <= {"full_attention"}


def with_new_adapter(model: Any, settings: LoraSettings) -> Any:
    """The model with fresh adapters on all linear layers, the linear-attention ones included."""
    from peft import LoraConfig, get_peft_model

    tied = bool(getattr(model.config.get_text_config(), "tie_word_embeddings", False))
    return get_peft_model(
        model,
        LoraConfig(
            task_type="CAUSAL_LM",
            r=settings.rank,
            lora_alpha=settings.scale,
            lora_dropout=settings.dropout,
            target_modules="all-linear",
            modules_to_save=_outer_layers(model) if settings.embeddings else None,
            ensure_weight_tying=settings.embeddings and tied,
        ),
    )


def with_adapter(model: Any, folder: str | Path, trainable: bool = False) -> Any:
    """The model with the adapter of a folder."""
    from peft import PeftModel

    if not (Path(folder) / "adapter_config.json").exists() and Path(folder).exists():
        raise InterPactError(f"{folder}: holds no adapter (adapter_config.json); name a run's one")
    return PeftModel.from_pretrained(model, str(folder), is_trainable=trainable)


def _outer_layers(model: Any) -> list[str]:
    """The names of the embeddings and of the output layer."""
    outer = (model.get_input_embeddings(), model.get_output_embeddings())
    return [name.rpartition(".")[2] for name, module in model.named_modules() if module in outer]


def _device() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"


def _dtype(device: torch.device) -> torch.dtype:
    fast = torch.cuda.is_bf16_supported() if device.type == "cuda" else _cpu_has_bf16()
    return torch.bfloat16 if fast else torch.float32


def _cpu_has_bf16() -> bool:
    # Without these instructions bf16 on a CPU is slower than float32.
    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())  # type: ignore[reportPrivateUsage]


def _compute_dtype(model: Any) -> torch.dtype:
    if torch.is_autocast_enabled("cpu"):
        return torch.get_autocast_dtype("cpu")
    if torch.is_autocast_enabled("cuda"):
        return torch.get_autocast_dtype("cuda")
    return model.dtype


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:200]
