"""A decoder of 70 billion parameters, with the published sizes of Llama 3 70B: a training step that few machines hold.

opperf follows its shapes alone, and allocates nothing:

    opperf capture examples/workloads/dense_70b.py:step --abstract --output 70b.json
"""

from __future__ import annotations

import torch
from dense import Decoder
from torch.nn import functional

WORDS, LENGTH = 128256, 4096

torch.set_default_dtype(torch.bfloat16)
model = Decoder(width=8192, layers=80, heads=64, groups=8, inner=28672, words=WORDS)
optimizer = torch.optim.AdamW(model.parameters(), foreach=True)
text = torch.randint(0, WORDS, (1, LENGTH + 1))


def step() -> None:
    """Train by one batch."""
    optimizer.zero_grad()
    scores = model(text[:, :-1])
    functional.cross_entropy(scores.flatten(0, 1).float(), text[:, 1:].flatten()).backward()
    optimizer.step()
