"""From prompts to tokens: text stays text, labels are told apart at one token, nothing is cut off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from interpact.errors import CaseProblem, InterPactError
from interpact.verifier.pack import Row

_CONTENT = "\x02content\x02"
_PLACEHOLDER = " _"


@dataclass(frozen=True, slots=True)
class Labels:
    """Words that differ in their first token after a common beginning, in tensor order."""

    words: tuple[str, ...]
    start: tuple[int, ...]
    tokens: tuple[int, ...]


class Encoder:
    """Tokens of prompts and answers for one tokenizer."""

    def __init__(self, tokenizer: Any, context: int) -> None:
        self.tokenizer, self.context = tokenizer, context
        self._before, self._after = self._turn()
        self.placeholder = self.text(_PLACEHOLDER)[:1]
        self.end: int | None = tokenizer.eos_token_id

    def text(self, text: str) -> tuple[int, ...]:
        """The tokens of a text; what looks like a special token in it is text."""
        encoded = self.tokenizer(text, add_special_tokens=False, split_special_tokens=True)
        return tuple(encoded["input_ids"])

    def prompt(self, text: str) -> tuple[int, ...]:
        """The tokens of a user's turn up to where the answer begins."""
        return (*self._before, *self.text(text), *self._after)

    def labels(self, words: Sequence[str]) -> Labels:
        """The labels as tokens; an error where their first differing tokens do not tell them apart."""
        encoded = [self.text(word) for word in words]
        shared = 0
        while all(len(tokens) > shared for tokens in encoded) and (
            len({tokens[shared] for tokens in encoded}) == 1
        ):
            shared += 1
        if any(len(tokens) <= shared for tokens in encoded) or (
            len({tokens[shared] for tokens in encoded}) < len(words)
        ):
            raise InterPactError(
                f"this tokenizer does not tell {', '.join(map(repr, words))} apart at their first "
                "differing token; use other label words or another backbone"
            )
        return Labels(
            tuple(words), encoded[0][:shared], tuple(tokens[shared] for tokens in encoded)
        )

    def row(self, name: str, tokens: Sequence[int], reads: Sequence[int]) -> Row:
        """A row, if it fits the context of the model."""
        if len(tokens) > self.context:
            raise CaseProblem(
                f"{name}: its prompt has {len(tokens):,} tokens, but the model reads "
                f"{self.context:,}; nothing is cut off: shorten the case, drop it, or use a "
                "backbone with a longer context"
            )
        return Row(tuple(tokens), tuple(reads))

    def _turn(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """What stands before and after the user's text."""
        if not getattr(self.tokenizer, "chat_template", None):
            start = self.tokenizer.bos_token_id
            return (() if start is None else (start,)), self.text("\n")
        rendered = self.tokenizer.apply_chat_template(
            [{"role": "user", "content": _CONTENT}],
            tokenize=False,
            add_generation_prompt=True,
            enable_thinking=False,
        )
        before, _, after = rendered.partition(_CONTENT)
        return self._template(before), self._template(after)

    def _template(self, text: str) -> tuple[int, ...]:
        return tuple(self.tokenizer(text, add_special_tokens=False)["input_ids"])
