"""The two models that PARAM's configs name, written after their papers; as one call each, not as operators.

AlexNet is that of "One weird trick for parallelizing convolutional neural networks" (https://arxiv.org/abs/1404.5997),
ResNet that of "Deep residual learning for image recognition" (https://arxiv.org/abs/1512.03385), with 50 layers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

#: Output channels, kernel, stride and padding of each convolution, and whether it is pooled after.
ALEX_NET = (
    (64, 11, 4, 2, True),
    (192, 5, 1, 2, True),
    (384, 3, 1, 1, False),
    (256, 3, 1, 1, False),
    (256, 3, 1, 1, True),
)
#: By how much a block's output is wider than its middle.
EXPANSION = 4


def alex_net(num_classes: int = 1000, dropout: float = 0.5) -> Any:
    """Return AlexNet for images of three channels."""
    features: list[nn.Module] = []
    channels = 3
    for width, kernel, stride, padding, pooled in ALEX_NET:
        features += [nn.Conv2d(channels, width, kernel, stride, padding), nn.ReLU(inplace=True)]
        features += [nn.MaxPool2d(3, 2)] if pooled else []
        channels = width
    hidden = 4096
    classifier = [
        nn.Dropout(dropout), nn.Linear(channels * 36, hidden), nn.ReLU(inplace=True),
        nn.Dropout(dropout), nn.Linear(hidden, hidden), nn.ReLU(inplace=True),
        nn.Linear(hidden, num_classes),
    ]  # fmt: skip
    return nn.Sequential(*features, nn.AdaptiveAvgPool2d(6), nn.Flatten(), *classifier)


def resnet(layers: Sequence[int] = (3, 4, 6, 3), num_classes: int = 1000) -> Any:
    """Return a ResNet of bottleneck blocks, so many in each of its four stages."""
    width, channels = 64, 64
    modules: list[nn.Module] = [*_convolution(3, channels, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    for stage, blocks in enumerate(layers):
        for block in range(blocks):
            modules.append(_Bottleneck(channels, width, 2 if stage and not block else 1))
            channels = EXPANSION * width
        width *= 2
    return nn.Sequential(*modules, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, num_classes))


def _convolution(channels: int, width: int, kernel: int, stride: int = 1) -> list[nn.Module]:
    return [nn.Conv2d(channels, width, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(width)]


class _Bottleneck(nn.Module):  # type: ignore[misc]  # without PyTorch's types its base is Any
    """Three convolutions around which the input goes unchanged, or through one of its own where the size changes."""

    def __init__(self, channels: int, width: int, stride: int) -> None:
        super().__init__()
        wide = EXPANSION * width
        self.body = nn.Sequential(
            *_convolution(channels, width, 1), nn.ReLU(inplace=True),
            *_convolution(width, width, 3, stride), nn.ReLU(inplace=True),
            *_convolution(width, wide, 1),
        )  # fmt: skip
        plain = stride == 1 and channels == wide
        self.around = nn.Identity() if plain else nn.Sequential(*_convolution(channels, wide, 1, stride))

    def forward(self, data: Any) -> Any:
        """Return the sum of both ways."""
        return torch.relu_(self.body(data) + self.around(data))
