"""Small models of real classes with random weights, and a tokenizer trained on the spot."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import torch

TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@cache
def tokenizer():
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    from interpact.corpus.store import SAMPLE

    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    texts = (SAMPLE / "cases.jsonl").read_text().splitlines()
    texts += [
        " Satisfied Not satisfied Unknown Yes No Insufficient evidence\nDecision: State: If"
    ] * 50
    raw.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=800,
            special_tokens=special,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    found = PreTrainedTokenizerFast(
        tokenizer_object=raw, eos_token="<|im_end|>", pad_token="<|endoftext|>"
    )
    found.chat_template = TEMPLATE
    return found


def llama(seed: int = 0, context: int = 8192):
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(seed)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer()),
            hidden_size=48,
            intermediate_size=96,
            num_hidden_layers=2,
            num_attention_heads=6,
            num_key_value_heads=2,
            max_position_embeddings=context,
            tie_word_embeddings=True,
            initializer_range=0.2,
        )
    )


def hybrid(seed: int = 0):
    """The real class of Qwen3.5, three of four layers with linear attention."""
    from transformers import Qwen3_5ForCausalLM, Qwen3_5TextConfig

    torch.manual_seed(seed)
    return Qwen3_5ForCausalLM(
        Qwen3_5TextConfig(
            vocab_size=len(tokenizer()),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=4,
            num_attention_heads=2,
            num_key_value_heads=1,
            head_dim=16,
            linear_key_head_dim=8,
            linear_value_head_dim=8,
            linear_num_key_heads=2,
            linear_num_value_heads=4,
            max_position_embeddings=8192,
            tie_word_embeddings=True,
            initializer_range=0.2,
        )
    )


def saved(model, folder: Path) -> Path:
    model.save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder
