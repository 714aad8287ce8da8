"""What is built before it is called: modules of `torch.nn`, PARAM's two models, and embedding bags of FBGEMM.

A path may come from a file, so the modules are those that `torch.nn` itself defines. They compute on tensors, and open
no file.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from opperf.child.backends.torch import embeddings, models
from opperf.domain.backend import Layer

HOME, PREFIX = "torch.nn.modules.", "torch.nn."
#: What is called by PARAM's names.
NAMED: Mapping[str, Callable[..., Any]] = {
    "pytorch.model.alex_net": models.alex_net,
    "pytorch.model.resnet": models.resnet,
}


def names() -> list[str]:
    """Return the paths of all that can be built."""
    own = [f"{PREFIX}{name}" for name in dir(torch.nn) if _module(name) is not None]
    return [*own, *NAMED, embeddings.NAME]


def maker(path: str) -> Callable[..., Any] | None:
    """Return what builds the layer at a path, None for another path."""
    if path in NAMED:
        return NAMED[path]
    if path == embeddings.NAME:
        return embeddings.build
    return _module(path.removeprefix(PREFIX)) if path.startswith(PREFIX) else None


def layer(path: str, arguments: Sequence[Any], keywords: Mapping[str, Any], device: torch.device) -> Layer | None:
    """Return the layer at a path, on a device, with weights that are the same every time; None for another path."""
    make = maker(path)
    if make is None:
        return None
    torch.manual_seed(0)
    if make is embeddings.build:
        return embeddings.build(arguments, keywords, device)
    module = make(*arguments, **keywords).to(device)
    return Layer(module, tuple(module.parameters()))


def _module(name: str) -> type | None:
    """Return the class of that name that `torch.nn` defines."""
    layer = getattr(torch.nn, name, None) if name.isidentifier() else None
    if not inspect.isclass(layer) or not issubclass(layer, torch.nn.Module) or layer is torch.nn.Module:
        return None
    return layer if layer.__module__.startswith(HOME) else None
