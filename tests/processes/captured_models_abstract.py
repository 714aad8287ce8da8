"""Functions of PyTorch whose operators shapes alone tell too: cells, routed experts, images that grow."""

from __future__ import annotations

import torch
from torch import nn

torch.manual_seed(0)
cells = nn.GRU(8, 16, num_layers=2, batch_first=True)
head = nn.Linear(16, 5)
rows = torch.rand(3, 7, 8)


def recurrent() -> None:
    """Read rows by a network with a state."""
    outputs, hidden = cells(rows)
    nn.functional.log_softmax(head(outputs[:, -1] + hidden[-1]), dim=-1).sum().backward()


class Experts(nn.Module):  # type: ignore[misc]
    """Sends each row to the two of its experts that score most."""

    def __init__(self, width: int, count: int) -> None:
        super().__init__()
        self.router = nn.Linear(width, count, bias=False)
        self.weights = nn.Parameter(torch.rand(count, width, width))

    def forward(self, data: torch.Tensor) -> torch.Tensor:
        """Return the weighted sum of what the experts of each row return."""
        shares, places = self.router(data).softmax(dim=-1).topk(2, dim=-1)
        out = torch.einsum("rw,rkwo->rko", data, self.weights[places])
        return (out * shares.unsqueeze(-1)).sum(dim=1)


routed = Experts(8, 4)
words = nn.Embedding(50, 8, padding_idx=0)
text = torch.randint(0, 50, (6,))


def experts() -> None:
    """Train experts by a batch of words."""
    scores = routed(words(text)) @ words.weight.T
    nn.functional.cross_entropy(scores, text).backward()


growing = nn.Sequential(
    nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.GroupNorm(2, 8), nn.SiLU(), nn.Upsample(scale_factor=2),
    nn.ConvTranspose2d(8, 4, 2, stride=2), nn.BatchNorm2d(4), nn.GELU(),
)  # fmt: skip
images = torch.rand(2, 3, 8, 8)


def upsampling() -> None:
    """Make images smaller, and larger again."""
    nn.functional.interpolate(growing(images), scale_factor=0.5, mode="bilinear").square().mean().backward()
