"""Answers that a model is trained to give: their rows, and the loss of each."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from interpact.verifier.encode import Encoder
from interpact.verifier.questions import Answered


def spoken(encoder: Encoder, name: str, asked: Sequence[int], words: Sequence[int]) -> Answered:
    """A prompt, the words that are to follow it, and the end of the turn."""
    said = (*words, *(() if encoder.end is None else (encoder.end,)))
    tokens = (*asked, *said[:-1])
    return Answered(encoder.row(name, tokens, range(len(asked) - 1, len(tokens))), said)


def answer_loss(logits: Tensor, answers: Sequence[Answered]) -> Tensor:
    """The cross-entropy of each answer, averaged over its tokens. logits: all reads x vocabulary."""
    parts = logits.split([len(answer.targets) for answer in answers])
    return torch.stack(
        [
            torch.nn.functional.cross_entropy(
                part.float(), torch.tensor(answer.targets, device=part.device)
            )
            for part, answer in zip(parts, answers, strict=True)
        ]
    )
