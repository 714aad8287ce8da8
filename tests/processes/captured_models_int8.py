# mypy: disable-error-code="misc,untyped-decorator"
"""Networks of whole numbers: one whose weights alone are, and one that computes with them throughout."""

from __future__ import annotations

import warnings

import torch
from torch import nn
from torch.ao import quantization as q

warnings.simplefilter("ignore")  # that all of it is to move to another package
text = torch.randn(8, 16)
by_weights = q.quantize_dynamic(
    nn.Sequential(nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 4)).eval(), {nn.Linear}, dtype=torch.qint8
)
images = torch.randn(2, 3, 8, 8).to(memory_format=torch.channels_last)
network = nn.Sequential(
    q.QuantStub(), nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(128, 4),
    q.DeQuantStub(),
).eval()  # fmt: skip
q.fuse_modules(network, [["1", "2"]], inplace=True)
network.qconfig = q.get_default_qconfig("x86")
throughout = q.prepare(network)
throughout(images)
throughout = q.convert(throughout)


@torch.no_grad()
def step() -> tuple[torch.Tensor, torch.Tensor]:
    """Run both."""
    return by_weights(text), throughout(images)
