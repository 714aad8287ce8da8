"""A UNet and a detector with transformers, at sizes of practice: their steps are suites of few and of many cases."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import torch
from torch import nn

#: Channels of the UNet by level, and its images.
CHANNELS, IMAGES = (16, 32, 64, 128, 256), (2, 3, 128, 128)
#: The detector: its width, heads, layers, objects that it looks for, and images.
WIDTH, HEADS, LAYERS, OBJECTS, PICTURES = 128, 8, 3, 100, (2, 3, 256, 256)


class Block(nn.Sequential):  # type: ignore[misc]
    """Two convolutions, each normalized."""

    def __init__(self, before: int, after: int) -> None:
        layers: list[nn.Module] = []
        for channels in (before, after):
            layers += [nn.Conv2d(channels, after, 3, padding=1, bias=False), nn.BatchNorm2d(after), nn.ReLU()]
        super().__init__(*layers)


class UNet(nn.Module):  # type: ignore[misc]
    """Down, up, and across."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.ModuleList(Block(*pair) for pair in zip((3, *CHANNELS), CHANNELS))
        pairs = list(zip(CHANNELS[:0:-1], CHANNELS[-2::-1]))
        self.wide = nn.ModuleList(nn.ConvTranspose2d(*pair, 2, stride=2) for pair in pairs)
        self.up = nn.ModuleList(Block(2 * after, after) for _, after in pairs)
        self.last = nn.Conv2d(CHANNELS[0], 2, 1)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Return two scores of each pixel."""
        across: list[torch.Tensor] = []
        for place, block in enumerate(self.down):
            images = block(nn.functional.max_pool2d(images, 2) if place else images)
            across.append(images)
        across.pop()
        for wide, block in zip(self.wide, self.up):
            images = block(torch.cat([wide(images), across.pop()], 1))
        return self.last(images)


class Detector(nn.Module):  # type: ignore[misc]
    """Convolutions, then transformers that look for objects, by their classes and boxes."""

    def __init__(self) -> None:
        super().__init__()
        channels = (3, 32, 64, 128, 256)
        self.eyes = nn.ModuleList(nn.Conv2d(*pair, 3, stride=2, padding=1) for pair in pairwise(channels))
        self.norms = nn.ModuleList(map(nn.BatchNorm2d, channels[1:]))
        self.narrow = nn.Conv2d(channels[-1], WIDTH, 1)
        self.places = nn.Parameter(torch.rand(256, WIDTH))
        self.objects = nn.Parameter(torch.rand(OBJECTS, WIDTH))
        self.transformer = nn.Transformer(WIDTH, HEADS, LAYERS, LAYERS, 4 * WIDTH, batch_first=True)
        self.kind, self.box = (
            nn.Linear(WIDTH, 92),
            nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 4)),
        )

    def forward(self, images: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the scores and the boxes of the objects."""
        for eye, norm in zip(self.eyes, self.norms):
            images = torch.relu(norm(eye(images)))
        images = self.narrow(images)
        objects = self.objects.expand(len(images), -1, -1)
        seen = self.transformer(images.flatten(2).transpose(1, 2) + self.places, objects)
        return self.kind(seen), self.box(seen).sigmoid()


@cache
def _model(make: type[nn.Module]) -> nn.Module:
    torch.manual_seed(0)
    return make()


def unet() -> None:
    """Infer with the UNet."""
    with torch.no_grad():
        _model(UNet).eval()(torch.rand(IMAGES)).argmax(1)


def detector() -> torch.Tensor:
    """Return the loss of the detector, each object matched with its neighbour."""
    kinds, boxes = _model(Detector)(torch.rand(PICTURES))
    kind = nn.functional.cross_entropy(kinds.transpose(1, 2), torch.zeros(kinds.shape[:2], dtype=torch.int64))
    return kind + nn.functional.l1_loss(boxes, boxes.roll(1, 1).detach())
