"""The modules of a model as one of several devices has them, under tensor parallelism."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from opperf.domain.errors import InputError
from opperf.domain.tensor_parallel import Division

HINT = "`--split` a divisor of it"
#: The numbers of a layer that follow its outputs: of a convolution with a filter for each channel, all do.
OUTPUTS = {nn.Linear: ("out_features",), nn.Conv1d: ("out_channels", "in_channels", "groups")}


def divide(model: Any, divisions: Mapping[str, Division], split: int) -> None:
    """Leave a model the part of each module that one device has; raises `InputError` for sizes that it cannot share."""
    for module in model.modules():
        division = divisions.get(type(module).__name__)
        if division is not None:
            _divide(module, division, split)


def _divide(module: Any, division: Division, split: int) -> None:
    for name in division.columns:
        layer = getattr(module, name)
        for parameter in ("weight", "bias"):
            _cut(layer, parameter, 0, split, name)
        for number in OUTPUTS[type(layer)]:
            setattr(layer, number, getattr(layer, number) // split)
    for name in division.rows:
        layer = getattr(module, name)
        _cut(layer, "weight", 1, split, name)
        layer.in_features //= split
    for name in division.parameters:
        _cut(module, name, 0, split, name)
    for name in division.numbers:
        setattr(module, name, getattr(module, name) // split)


def _cut(module: nn.Module, name: str, axis: int, split: int, where: str) -> None:
    """Leave a parameter a part of an axis."""
    parameter = getattr(module, name)
    if parameter is None:
        return
    size = parameter.shape[axis]
    if size % split:
        raise InputError(f"`{where}` has a size of {size}, which {split} devices cannot share", hint=HINT)
    shape = list(parameter.shape)
    shape[axis] = size // split
    setattr(module, name, nn.Parameter(torch.empty(shape, dtype=parameter.dtype), parameter.requires_grad))
