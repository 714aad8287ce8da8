"""Functions of PyTorch whose operators are captured: a transformer, and tensors that lie in memory in every way."""

from __future__ import annotations

import torch
from torch import nn

torch.manual_seed(0)
layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
words = nn.Embedding(100, 32)
optimizer = torch.optim.Adam([*layer.parameters(), *words.parameters()])
text = torch.randint(0, 100, (2, 8))
normalized = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.AvgPool2d(2))


def transformer() -> None:
    """Train an encoder layer by one batch."""
    optimizer.zero_grad()
    loss = layer(words(text)).square().mean()
    loss.backward()
    optimizer.step()


def layouts() -> None:
    """Call operators on tensors with gaps, orders of dimensions and shared elements, and with whole numbers."""
    images = torch.rand(2, 1, 10, 10).to(memory_format=torch.channels_last)
    normalized(images).sum().backward()
    data = torch.rand(6, 8)
    every_other = data[:, ::2]
    every_other + data[0].expand(6, 8)[:, :4]
    every_other.clone(memory_format=torch.contiguous_format)
    data.t()[torch.tensor([7, 0]), torch.tensor([5, 5])] += 1.0
    data.masked_fill_(data > 0.5, 0.0)
    torch.add(data, 2, out=torch.empty(8, 6).t())
    torch.cat([data, data.flip(0)], dim=1).to(torch.float64).sort(dim=1)
    torch.arange(10, device="cpu").view(2, 5).bool().any(dim=1)
    torch.rand(4, 5).multinomial(2)
    torch._foreach_mul_([data, every_other], 0.5)


def generator() -> None:
    """Draw numbers from a generator, which no file can hold."""
    torch.rand(3, generator=torch.Generator()) * 2
