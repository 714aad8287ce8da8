"""Functions of PyTorch whose operators are captured: training steps, and tensors that lie in memory in every way."""

from __future__ import annotations

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
layer = nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), 2, enable_nested_tensor=False)
words = nn.Embedding(100, 32)
optimizer = torch.optim.Adam([*layer.parameters(), *words.parameters()])
text = torch.randint(0, 100, (2, 8))
normalized = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.AvgPool2d(2))


class Residual(nn.Module):  # type: ignore[misc]
    """Two convolutions with normalization, and what goes past them."""

    def __init__(self, channels: int, out: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, out, 3, stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(out)
        self.conv2 = nn.Conv2d(out, out, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(out)
        self.past = nn.Conv2d(channels, out, 1, stride, bias=False) if stride > 1 else nn.Identity()

    def forward(self, data: torch.Tensor) -> torch.Tensor:
        """Return images, smaller ones where the stride is 2."""
        inner = torch.relu(self.norm1(self.conv1(data)))
        return torch.relu(self.norm2(self.conv2(inner)) + self.past(data))


images, kinds = torch.rand(2, 3, 32, 32), torch.randint(0, 10, (2,))
residual = nn.Sequential(
    nn.Conv2d(3, 8, 7, 2, padding=3, bias=False), nn.BatchNorm2d(8), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1),
    Residual(8, 8, 1), Residual(8, 16, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10),
)  # fmt: skip
descent = torch.optim.SGD(residual.parameters(), lr=0.1, momentum=0.9)


def residual_network() -> None:
    """Train a network of residual blocks by one batch."""
    descent.zero_grad()
    nn.functional.cross_entropy(residual(images), kinds).backward()
    descent.step()


def transformer() -> None:
    """Train two encoder layers by one batch."""
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
    torch._foreach_mul_([data, torch.rand(6, 8)[:, ::2]], 0.5)


def numbers_that_matter() -> None:
    """Call operators that take no other whole numbers of the same bounds, and masks that decide how much there is."""
    scores, labels = torch.rand(8, 5, requires_grad=True), torch.tensor([0, 4, -100, 2, -100, 1, 3, -100])
    nn.functional.cross_entropy(scores, labels).backward()
    data = torch.rand(8, 32, requires_grad=True)
    data[data.detach() > 0.9].sum().backward()
    nn.utils.rnn.pack_padded_sequence(torch.rand(4, 9, 3), torch.tensor([9, 7, 2, 1]), batch_first=True)
    torch._nested_tensor_from_mask(torch.rand(3, 9, 4), torch.arange(9) < torch.tensor([[9], [6], [1]]), False)


def generator() -> None:
    """Draw numbers from a generator, which no file can hold."""
    torch.rand(3, generator=torch.Generator()) * 2


def nested_tensors() -> None:
    """Compute with rows of different lengths, which no case holds, and with others."""
    rows = [torch.randn(2, 4), torch.randn(3, 4)]
    doubled = torch.nested.nested_tensor(rows) * 2
    torch.relu(doubled.unbind()[0])


class Checkpointed(nn.Module):  # type: ignore[misc]
    """Frees what its activation returns, and computes it again in the backward."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.act, self.down = nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 8)

    def body(self, data: torch.Tensor) -> torch.Tensor:
        """Return what is computed twice."""
        return self.down(self.act(self.up(data)))

    def forward(self, data: torch.Tensor, reentrant: bool) -> torch.Tensor:
        """Compute it twice, in either of the ways that PyTorch has."""
        return checkpoint(self.body, data, use_reentrant=reentrant)


checkpointed = Checkpointed()


def recomputing() -> None:
    """Train by one batch in both ways, of different sizes."""
    for reentrant, size in ((False, 2), (True, 3)):
        checkpointed(torch.rand(size, 8, requires_grad=True), reentrant).sum().backward()
    checkpoint(torch.exp, torch.rand(2, 3, requires_grad=True), use_reentrant=False).sum().backward()
