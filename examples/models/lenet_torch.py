"""A training step of a small convolutional network on images of the shape of MNIST's, in PyTorch.

opperf capture examples/models/lenet_torch.py:training_step --output lenet.json
opperf run --suite lenet.json --framework torch --direction forward
"""

from __future__ import annotations

import torch
from torch import nn

BATCH = 64


class LeNet(nn.Module):
    """Two convolutions with pooling, and two dense layers."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 20, 5)
        self.conv2 = nn.Conv2d(20, 50, 5)
        self.dense1 = nn.Linear(50 * 4 * 4, 512)
        self.dense2 = nn.Linear(512, 10)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Return a score for each digit."""
        data = nn.functional.max_pool2d(torch.relu(self.conv1(images)), 2)
        data = nn.functional.max_pool2d(torch.relu(self.conv2(data)), 2)
        return self.dense2(torch.relu(self.dense1(data.flatten(1))))


torch.manual_seed(0)
model = LeNet()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
images, labels = torch.rand(BATCH, 1, 28, 28), torch.randint(0, 10, (BATCH,))


def training_step() -> None:
    """Train on one batch."""
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()


if __name__ == "__main__":
    for _ in range(10):
        training_step()
