"""Models of torchvision and timm, from their configurations alone: each function is one step on a small batch."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import torch
import torchvision_names  # noqa: F401 - before what imports torchvision
from sizes import size

import timm  # isort: skip
from torchvision import models  # isort: skip

BATCH, SIDE = size(2, 16), size(64, 224)


@cache
def trained(make: Any, classes: int) -> tuple[Any, Any, Any, Any]:
    """Return a model, what trains it, images, and their classes."""
    torch.manual_seed(0)
    model = make()
    return (
        model,
        torch.optim.SGD(model.parameters(), 0.01, momentum=0.9),
        torch.randn(BATCH, 3, SIDE, SIDE),
        torch.randint(0, classes, (BATCH,)),
    )


def _step(make: Any, classes: int = 10, autocast: bool = False) -> None:
    model, optimizer, images, labels = trained(make, classes)
    optimizer.zero_grad()
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        loss = torch.nn.functional.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()


_resnet = partial(models.resnet18, num_classes=10)
_mobilenet = partial(models.mobilenet_v3_small, num_classes=10)
_lraspp = partial(models.segmentation.lraspp_mobilenet_v3_large, weights=None, weights_backbone=None, num_classes=3)
_vit = partial(timm.create_model, "vit_tiny_patch16_224", img_size=SIDE, num_classes=10)


def resnet18() -> None:
    """Train torchvision's residual network."""
    _step(_resnet)


def mobilenet() -> None:
    """Train torchvision's MobileNet."""
    _step(_mobilenet)


def segmentation() -> None:
    """Infer with torchvision's segmentation, which resizes."""
    model, _, images, _ = trained(_lraspp, 3)
    with torch.no_grad():
        model.eval()(images)["out"].log_softmax(1)


def vit_autocast() -> None:
    """Train timm's vision transformer under autocast."""
    _step(_vit, autocast=True)
