"""Moves between pixels and channels written once, for the frameworks whose arrays transpose as NumPy's do."""

from __future__ import annotations

from typing import Any


def depth_to_space(data: Any, factor: int) -> Any:
    """Take channels as (down, right, channel) and move the first two between the pixels."""
    batch, channels, height, width = data.shape
    parted = data.reshape(batch, factor, factor, channels // factor**2, height, width)
    moved = parted.transpose(0, 3, 4, 1, 5, 2)
    return moved.reshape(batch, channels // factor**2, height * factor, width * factor)


def space_to_depth(data: Any, factor: int) -> Any:
    """Part the pixels and move what is parted before the channels."""
    batch, channels, height, width = data.shape
    parted = data.reshape(batch, channels, height // factor, factor, width // factor, factor)
    moved = parted.transpose(0, 3, 5, 1, 2, 4)
    return moved.reshape(batch, channels * factor**2, height // factor, width // factor)
