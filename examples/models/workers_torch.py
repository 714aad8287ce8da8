"""Training in one process, data made by two others, and a program that is started at the end: one timeline of all.

opperf profile --output prof examples/models/workers_torch.py
"""

from __future__ import annotations

import subprocess
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

PROGRAM = "import torch; torch.rand(256, 64).softmax(1)"


class Noise(Dataset):
    """Rows of random numbers, made by the worker that is asked for one."""

    def __len__(self) -> int:
        return 256

    def __getitem__(self, place: int) -> torch.Tensor:
        return torch.rand(64).cos()


def train() -> None:
    """Train on each batch once."""
    model = nn.Linear(64, 10)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in DataLoader(Noise(), batch_size=64, num_workers=2):
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()


if __name__ == "__main__":
    torch.set_num_threads(1)
    train()
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)
