"""The same numbers, sooner: attention along a tree of rows, and adapters without detours.

Both are switched on where a model supports them; property tests hold them against the plain ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from interpact.verifier.pack import Stretch

ATTENTION = "interpact_tree"
CHUNK = 256  # queries that are computed together


def chunks(stretches: Sequence[Stretch]) -> tuple[Stretch, ...]:
    """Long stretches in parts; each part has those before it above it."""
    return tuple(
        Stretch(at, min(at + CHUNK, part.stop), part.up_to(at) if at > part.start else part.above)
        for part in stretches
        for at in range(part.start, part.stop, CHUNK)
    )


class TreeAttention(torch.autograd.Function):
    """Softmax attention in which every token sees its own row only, stretch by stretch."""

    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any, q: Tensor, k: Tensor, v: Tensor, scale: float, parts: tuple[Stretch, ...]
    ) -> Tensor:
        """q: head x token x width; k, v: group x token x width; result: token x head x width."""
        heads, length, width = q.shape
        groups = k.shape[0]
        out = q.new_empty(length, heads, v.shape[-1])
        weights: list[Tensor] = []
        for part in parts:
            n = part.stop - part.start
            keys, values = _gather(k, part), _gather(v, part)
            asked = q[:, part.start : part.stop].reshape(groups, -1, width)
            scores = torch.baddbmm(
                asked.new_empty(()), asked, keys.transpose(1, 2), beta=0, alpha=scale
            )
            own = scores.view(groups, -1, n, keys.shape[1])[..., -n:]
            own.masked_fill_(_later(n, q.device), -torch.inf)
            shares = torch.softmax(scores, -1)
            found = torch.bmm(shares, values).view(heads, n, -1)
            out[part.start : part.stop] = found.transpose(0, 1)
            weights.append(shares)
        ctx.save_for_backward(q, k, v, *weights)
        ctx.scale, ctx.parts = scale, parts
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        (grad,) = grads
        q, k, v, *weights = ctx.saved_tensors
        heads, _, width = q.shape
        groups = k.shape[0]
        dq = torch.empty_like(q)
        # Many rows add to the keys that they share: summed in float32.
        dk = torch.zeros(k.shape, dtype=torch.float32, device=k.device)
        dv = torch.zeros(v.shape, dtype=torch.float32, device=v.device)
        for part, shares in zip(ctx.parts, weights, strict=True):
            n = part.stop - part.start
            keys, values = _gather(k, part), _gather(v, part)
            asked = q[:, part.start : part.stop].reshape(groups, -1, width)
            g = grad[part.start : part.stop].transpose(0, 1).reshape(groups, -1, v.shape[-1])
            _scatter(dv, torch.bmm(shares.transpose(1, 2), g), part)
            upstream = torch.bmm(g, values.transpose(1, 2))
            scores = torch._softmax_backward_data(upstream, shares, -1, shares.dtype)  # type: ignore[attr-defined]
            dq[:, part.start : part.stop] = (torch.bmm(scores, keys) * ctx.scale).view(
                heads, n, width
            )
            _scatter(dk, torch.bmm(scores.transpose(1, 2), asked) * ctx.scale, part)
        return dq, dk.to(k.dtype), dv.to(v.dtype), None, None


def _gather(x: Tensor, part: Stretch) -> Tensor:
    ranges = (*part.above, (part.start, part.stop))
    if all(a[1] == b[0] for a, b in pairwise(ranges)):
        return x[:, ranges[0][0] : ranges[-1][1]]
    return torch.cat([x[:, start:stop] for start, stop in ranges], 1)


def _scatter(into: Tensor, found: Tensor, part: Stretch) -> None:
    at = 0
    for start, stop in (*part.above, (part.start, part.stop)):
        into[:, start:stop] += found[:, at : at + stop - start]
        at += stop - start


_MASKS: dict[tuple[int, torch.device], Tensor] = {}


def _later(n: int, device: torch.device) -> Tensor:
    """Which keys come after which query, for n tokens in a row."""
    if (n, device) not in _MASKS:
        _MASKS[n, device] = torch.ones(n, n, dtype=torch.bool, device=device).triu(1)
    return _MASKS[n, device]


def _attend(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float,
    stretches: tuple[Stretch, ...] = (),
    **rest: Any,
) -> tuple[Tensor, Tensor | None]:
    """Attention as transformers calls it: batch (of one) x head x token x width."""
    if not stretches:  # rows apart, padded at their end at most: causal attention is all they need
        from transformers.integrations.sdpa_attention import sdpa_attention_forward

        return sdpa_attention_forward(
            module, query, key, value, attention_mask, scaling=scaling, **rest
        )
    out = TreeAttention.apply(query[0], key[0], value[0], scaling, stretches)
    return out[None], None  # type: ignore[index]


def use_tree_attention(model: Any) -> bool:
    """Switch a model's attention to trees, if transformers lets it be switched."""
    from transformers import AttentionInterface

    if not getattr(model, "_supports_attention_backend", False):
        return False
    AttentionInterface.register(ATTENTION, _attend)
    model.set_attn_implementation(ATTENTION)
    return True


POOL = 1 << 23


class Masks:
    """Dropout masks as windows at random places of one pool of random numbers, redrawn every pass.

    PyTorch draws each number serially on a CPU, which took a quarter of the time of training.
    """

    def __init__(self, p: float) -> None:
        self.p = p
        self.limit = round(p * 65536)
        self.pools: dict[torch.dtype, Tensor] = {}

    def redraw(self) -> None:
        """Forget the pool; the next mask draws a new one."""
        self.pools.clear()

    def like(self, x: Tensor) -> Tensor:
        """A mask: a share p of zeros, the rest scaled up."""
        if x.dtype not in self.pools or len(self.pools[x.dtype]) < x.numel():
            size = max(POOL, 2 * x.numel())
            random = np.random.Generator(np.random.SFC64(int(torch.randint(1 << 62, ()))))
            kept = np.frombuffer(random.bytes(2 * size), np.uint16) >= self.limit
            scaled = torch.from_numpy(kept).to(x.dtype).mul_(65536 / (65536 - self.limit))
            self.pools[x.dtype] = scaled
        pool = self.pools[x.dtype]
        start = int(torch.randint(len(pool) - x.numel() + 1, ()))
        return pool[start : start + x.numel()].view(x.shape)


class QuickDropout(nn.Module):
    """Dropout with masks from a pool."""

    def __init__(self, masks: Masks) -> None:
        super().__init__()
        self.masks = masks

    def forward(self, x: Tensor) -> Tensor:
        """x with a share p of it zeroed and the rest scaled up."""
        if not self.training or not self.masks.limit:
            return x
        if x.device.type != "cpu":
            return nn.functional.dropout(x, self.masks.p)
        return x * self.masks.like(x)


def quicken_adapters(model: Any) -> list[Masks]:
    """Let plain LoRA layers add their part in one step, in the dtype of the layer."""
    from peft.tuners.lora import Linear

    masks: dict[float, Masks] = {}
    for module in model.modules():
        if isinstance(module, Linear) and not module.lora_variant and not module.fan_in_fan_out:
            for name, dropout in module.lora_dropout.items():
                if isinstance(dropout, nn.Dropout):
                    shared = masks.setdefault(dropout.p, Masks(dropout.p))
                    module.lora_dropout[name] = QuickDropout(shared)
            module.forward = _forward_of(module)
    return list(masks.values())


def _forward_of(layer: Any) -> Any:
    plain = layer.forward

    def forward(x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if args or kwargs or layer.disable_adapters or layer.merged:
            return plain(x, *args, **kwargs)
        result = layer.base_layer(x)
        flat = result.view(-1, result.shape[-1])
        for name in layer.active_adapters:
            if name not in layer.lora_A:
                continue
            down = layer.lora_A[name].weight.to(x.dtype)
            up = layer.lora_B[name].weight.to(x.dtype)
            inner = nn.functional.linear(layer.lora_dropout[name](x), down)
            flat = torch.addmm(
                flat, inner.view(-1, inner.shape[-1]), up.t(), alpha=layer.scaling[name]
            )
        return flat.view(result.shape)

    return forward
