"""Sequences of unequal length in PyTorch: places made of the lengths, then one function."""

from __future__ import annotations

from typing import Any

import torch

from opperf.child.backends.call import Binding, composed


def sequence_mask(data: Any, lengths: Any, value: float) -> Any:
    """Return the data with what lies beyond the lengths filled."""
    beyond = torch.arange(data.shape[0], device=data.device)[:, None] >= lengths
    return data.masked_fill(beyond[..., None], value)


def sequence_reverse(data: Any, lengths: Any) -> Any:
    """Return each sequence in reverse order."""
    places = torch.arange(data.shape[0], device=data.device)[:, None]
    places = torch.where(places < lengths, lengths - 1 - places, places)
    return data[places, torch.arange(data.shape[1], device=data.device)]


def sequence_last(data: Any, lengths: Any) -> Any:
    """Return the last row of each sequence."""
    return data[lengths - 1, torch.arange(data.shape[1], device=data.device)]


BINDINGS: dict[str, Binding] = {
    "sequence_mask": composed(
        sequence_mask, "data, lengths, value", note="torch.arange, a comparison and torch.masked_fill"
    ),
    "sequence_reverse": composed(
        sequence_reverse, "data, lengths", note="torch.arange, torch.where, and indexing with two tensors"
    ),
    "sequence_last": composed(sequence_last, "data, lengths", note="torch.arange, and indexing with two tensors"),
}
