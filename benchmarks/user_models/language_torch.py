"""Models of transformers, from their configurations alone: each function trains one step on random words."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
import torchvision_names  # noqa: F401 - before what imports torchvision
from sizes import size

import transformers  # isort: skip

WORDS, LENGTH, BATCH = size(500, 8000), size(32, 128), size(2, 8)
WIDTH, HEADS = size(64, 384), 2
#: What losses do not count.
IGNORED = -100


@cache
def _trained(name: str) -> tuple[Any, Any]:
    torch.manual_seed(0)
    made = {
        "gpt2": lambda: transformers.GPT2LMHeadModel(
            transformers.GPT2Config(vocab_size=WORDS, n_positions=LENGTH, n_embd=WIDTH, n_layer=2, n_head=HEADS)
        ),
        "bert": lambda: transformers.BertForMaskedLM(
            transformers.BertConfig(
                vocab_size=WORDS,
                hidden_size=WIDTH,
                num_hidden_layers=2,
                num_attention_heads=HEADS,
                intermediate_size=2 * WIDTH,
            )
        ),
        "t5": lambda: transformers.T5ForConditionalGeneration(
            transformers.T5Config(
                vocab_size=WORDS,
                d_model=WIDTH,
                d_kv=WIDTH // HEADS,
                d_ff=2 * WIDTH,
                num_layers=2,
                num_heads=HEADS,
                decoder_start_token_id=0,
            )
        ),
    }[name]()
    return made, torch.optim.AdamW(made.parameters(), 1e-3)


def _step(name: str, **given: torch.Tensor) -> None:
    model, optimizer = _trained(name)
    optimizer.zero_grad()
    model(**given).loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


def _words() -> torch.Tensor:
    return torch.randint(0, WORDS, (BATCH, LENGTH), generator=torch.Generator().manual_seed(0))


def gpt2() -> None:
    """Train GPT-2 to tell the next word."""
    _step("gpt2", input_ids=_words(), labels=_words())


def bert() -> None:
    """Train BERT to tell hidden words, with a mask; all other words are ignored."""
    words = _words()
    labels = torch.where(words % 5 == 0, words, IGNORED)
    mask = torch.ones_like(words)
    mask[:, LENGTH // 2 :] = 0
    _step("bert", input_ids=words, attention_mask=mask, labels=labels)


def t5() -> None:
    """Train T5."""
    _step("t5", input_ids=_words(), labels=_words())
