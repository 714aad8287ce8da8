"""The decoder of `dense_70b.py` in a size that any machine holds: a training step, and a script that makes three.

opperf capture examples/workloads/dense_small.py:step --output small.json
opperf profile --by module --depth 3 examples/workloads/dense_small.py
"""

from __future__ import annotations

import torch
from dense import Decoder
from torch.nn import functional

WORDS, LENGTH = 1000, 64

torch.manual_seed(0)
model = Decoder(width=128, layers=4, heads=8, groups=2, inner=448, words=WORDS)
optimizer = torch.optim.AdamW(model.parameters(), foreach=True)
text = torch.randint(0, WORDS, (2, LENGTH + 1))


def step() -> None:
    """Train by one batch."""
    optimizer.zero_grad()
    scores = model(text[:, :-1])
    functional.cross_entropy(scores.flatten(0, 1).float(), text[:, 1:].flatten()).backward()
    optimizer.step()


if __name__ == "__main__":
    for _ in range(3):
        step()
