"""The direct question, put to a language model in the same words whatever system it belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from interpact.case.case import Root
from interpact.systems.answer import WORDS, Answer
from interpact.verifier.backbone import Backbone, causal
from interpact.verifier.pack import Row
from interpact.verifier.prompts import direct
from interpact.verifier.questions import Questions, label_logs

TOKENS = 8  # of an answer that is neither; enough to see what it is


def answers(backbone: Backbone, roots: Sequence[Root], limit: int) -> list[Answer]:
    """Greedily generated answers, and P(Yes) from the two labels.

    Yes and No are tried at once, as two branches of one sequence. Where either is what greedy
    generation says, up to the end of the turn, nothing needs to be generated.
    """
    questions = Questions(backbone.encoder)
    words = [(*backbone.encoder.text(word), *_end(backbone)) for word in WORDS]
    start = len(questions.verdicts.start)
    prompts = [backbone.encoder.prompt(direct(root)) for root in roots]
    groups = [
        [_followed(backbone, root.id, prompt, word) for word in words]
        for root, prompt in zip(roots, prompts, strict=True)
    ]
    found: list[Answer] = []
    for prompt, logits in zip(prompts, backbone.logits(groups, limit), strict=True):
        p_yes = float(label_logs(logits[start : start + 1], questions.verdicts)[0, 0].exp())
        parts = logits.split([len(word) for word in words])
        text = next(
            (
                said
                for said, word, part in zip(WORDS, words, parts, strict=True)
                if _end(backbone) and part.argmax(-1).tolist() == list(word)
            ),
            None,
        )
        if text is None:
            text = _text(backbone, generated(backbone, prompt, TOKENS))
        found.append(Answer(text, p_yes))
    return found


def generated(
    backbone: Backbone, prompt: Sequence[int], tokens: int, temperature: float = 0.0
) -> tuple[int, ...]:
    """What the model writes after a prompt, without the end of its turn."""
    from transformers import GenerationConfig

    model: Any = causal(backbone.model)
    backbone.reader.eval()
    end = backbone.encoder.end
    settings = GenerationConfig(
        max_new_tokens=tokens,
        do_sample=temperature > 0,
        temperature=temperature if temperature > 0 else None,
        eos_token_id=end,
        pad_token_id=end,
    )
    given = torch.tensor([list(prompt)], device=backbone.device)
    with torch.no_grad():
        found: Tensor = model.generate(
            given, attention_mask=torch.ones_like(given), generation_config=settings
        )
    return tuple(t for t in found[0, len(prompt) :].tolist() if t != end)


def _followed(backbone: Backbone, name: str, prompt: Sequence[int], word: Sequence[int]) -> Row:
    """A prompt and the beginning of an answer, read before each of the answer's tokens."""
    tokens = (*prompt, *word[:-1])
    return backbone.encoder.row(name, tokens, range(len(prompt) - 1, len(tokens)))


def _end(backbone: Backbone) -> tuple[int, ...]:
    return () if backbone.encoder.end is None else (backbone.encoder.end,)


def _text(backbone: Backbone, tokens: Sequence[int]) -> str:
    return backbone.encoder.tokenizer.decode(list(tokens), skip_special_tokens=True)
