"""Backbones: any causal language model by hub id or folder, read only where labels are asked for."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from interpact.errors import InterPactError
from interpact.verifier.config import LoraSettings
from interpact.verifier.encode import Encoder
from interpact.verifier.fast import chunks, quicken_adapters, use_tree_attention
from interpact.verifier.fetch import SMOLLM2, fetched
from interpact.verifier.pack import Batch, Row, dense_mask, packed, plain

HEAD = "head.safetensors"


class Reader(nn.Module):
    """A language model that gives next-token logits at read positions, and nowhere else.

    With a head of its own it gives there the head's logits, followed by the hidden state.
    """

    def __init__(self, model: Any, head: nn.Linear | None = None) -> None:
        super().__init__()
        self.model, self.head = model, head
        plain = causal(model)
        self.packs = can_pack(plain)
        # On a CPU, attention along the tree skips what a mask would only hide.
        self.along_tree = self.packs and plain.device.type == "cpu" and use_tree_attention(plain)
        self.masks = quicken_adapters(model)

    def forward(self, batch: Batch) -> Tensor:
        """read x vocabulary; with a head, read x (class and width)."""
        for masks in self.masks:
            masks.redraw()
        model = causal(self.model)
        embedded = model.get_input_embeddings()(batch.tokens).to(model.dtype)
        extra: dict[str, Any] = {}
        mask = batch.mask
        if batch.stretches and self.along_tree:
            extra["stretches"] = chunks(batch.stretches)
        elif batch.stretches:  # as a bias, which every other attention adds
            seen = dense_mask(batch.stretches, batch.tokens.shape[1]).to(embedded.device)
            bias = torch.zeros(seen.shape, dtype=embedded.dtype, device=embedded.device)
            mask = bias.masked_fill(~seen, torch.finfo(bias.dtype).min)[None, None]
        hidden = model.get_decoder()(
            inputs_embeds=embedded,
            position_ids=batch.positions,
            attention_mask=mask,
            use_cache=False,
            **extra,
        ).last_hidden_state
        read = hidden[batch.reads[:, 0], batch.reads[:, 1]]
        if self.head is not None:
            read = read.to(self.head.weight.dtype)
            return torch.cat([self.head(read), read], -1)
        head = model.get_output_embeddings()
        return head(read.to(head.weight.dtype))


def causal(model: Any) -> Any:
    """The transformers model inside of its adapters."""
    return model.get_base_model() if hasattr(model, "peft_config") else model


@dataclass(frozen=True)
class Backbone:
    """A model, its tokens, and how its rows are computed together."""

    name: str
    reader: Reader
    encoder: Encoder
    device: torch.device

    @property
    def model(self) -> Any:
        """The transformers (or PEFT) model."""
        return self.reader.model

    @property
    def packs(self) -> bool:
        """Whether rows that begin alike share one sequence."""
        return self.reader.packs

    def save(self, folder: str | Path) -> None:
        """Write the adapter, and the head where there is one."""
        self.model.save_pretrained(folder)
        if self.reader.head is not None:
            save_file(self.reader.head.state_dict(), Path(folder) / HEAD)

    def load_head(self, folder: str | Path) -> None:
        """Read the weights of the head, where there is one."""
        if self.reader.head is not None:
            self.reader.head.load_state_dict(load_file(Path(folder) / HEAD))

    def without_head(self) -> Backbone:
        """The same model as a language model."""
        return replace(self, reader=Reader(self.model))

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
    def logits(
        self,
        groups: Sequence[Sequence[Row]],
        limit: int = 1536,
        watch: Callable[[int], None] | None = None,
    ) -> Iterator[Tensor]:
        """For each group of rows, the next-token logits (float32) at all its read positions."""
        self.reader.eval()
        for span, batch in self.batches(groups, limit):
            logits = self.reader(batch.to(self.device)).float()
            reads = [sum(len(row.reads) for row in groups[i]) for i in span]
            yield from logits.split(reads)
            if watch:
                watch(len(span))


def _plain(groups: Sequence[Sequence[Row]]) -> Batch:
    return plain([row for group in groups for row in group])


def load_backbone(
    name: str,
    *,
    adapter: str | Path | None = None,
    new_adapter: LoraSettings | None = None,
    trainable: bool = False,
    dtype: str = "auto",
    device: str = "auto",
    classes: int = 0,
) -> Backbone:
    """A backbone by hub id, local folder or `smollm2`, with the adapter of a run if one is given.

    With `classes`, it has a linear head of so many, of the adapter's folder or a fresh one.
    """
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
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
    elif new_adapter is not None:
        model = with_new_adapter(model, new_adapter)
    head = None
    if classes:
        head = nn.Linear(causal(model).config.get_text_config().hidden_size, classes)
    found = backbone_of(name, model, tokenizer, on, head)
    if adapter is not None:
        found.load_head(adapter)
    return found


def backbone_of(
    name: str, model: Any, tokenizer: Any, device: torch.device, head: nn.Linear | None = None
) -> Backbone:
    """A backbone around a model that is loaded already."""
    text = causal(model).config.get_text_config()
    context = getattr(text, "max_position_embeddings", None) or 1 << 30
    reader = Reader(model, head).to(device)
    return Backbone(name, reader, Encoder(tokenizer, context), device)


def can_pack(model: Any) -> bool:
    """Whether every layer attends in full, so that a mask can keep rows of one sequence apart."""
    kinds = getattr(model.config.get_text_config(), "layer_types", None)
    return kinds is None or set(kinds) <= {"full_attention"}


def with_new_adapter(model: Any, settings: LoraSettings) -> Any:
    """The model with fresh adapters on all linear layers, the linear-attention ones included."""
    from peft import LoraConfig, get_peft_model

    tied = bool(getattr(model.config.get_text_config(), "tie_word_embeddings", False))
    config = LoraConfig(
        task_type="CAUSAL_LM",
        r=settings.rank,
        lora_alpha=settings.scale,
        lora_dropout=settings.dropout,
        target_modules="all-linear",
        modules_to_save=_outer_layers(model) if settings.embeddings else None,
        ensure_weight_tying=settings.embeddings and tied,
    )
    with warnings.catch_warnings():  # peft asks transformers by an old name
        warnings.simplefilter("ignore", FutureWarning)
        return _in_float32(get_peft_model(model, config))


def _in_float32(model: Any) -> Any:
    """The model with what is trained in float32: steps are too small for bf16."""
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.data = parameter.data.float()
    return model


def with_adapter(model: Any, folder: str | Path, trainable: bool = False) -> Any:
    """The model with the adapter of a folder."""
    from peft import PeftModel

    if not (Path(folder) / "adapter_config.json").exists() and Path(folder).exists():
        raise InterPactError(f"{folder}: holds no adapter (adapter_config.json); name a run's one")
    with warnings.catch_warnings():  # peft asks transformers by an old name
        warnings.simplefilter("ignore", FutureWarning)
        found = PeftModel.from_pretrained(model, str(folder), is_trainable=trainable)
    return _in_float32(found) if trainable else found


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


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:200]
