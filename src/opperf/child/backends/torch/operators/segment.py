"""PyTorch's sums, means, greatest and counts by index."""

from __future__ import annotations

from typing import Any

import torch

from opperf.child.backends.call import Binding, call, composed
from opperf.child.backends.torch.functions import elsewhere


def segment_sum(data: Any, segments: Any, count: int) -> Any:
    """Return the sums, on zeros; `torch.segment_reduce` wants rows that are sorted."""
    return data.new_zeros(count, data.shape[1]).index_add(0, segments, data)


def segment_mean(data: Any, segments: Any, count: int) -> Any:
    """Return the sums over the counts."""
    counts = torch.bincount(segments, minlength=count).clamp(min=1)
    return segment_sum(data, segments, count) / counts[:, None]


def segment_max(data: Any, segments: Any, count: int) -> Any:
    """Return the greatest, on minus infinity."""
    places = segments[:, None].expand_as(data)
    lowest = data.new_full((count, data.shape[1]), float("-inf"))
    return lowest.scatter_reduce(0, places, data, reduce="amax")


SEGMENTED = "data, segments, count"

BINDINGS: dict[str, Binding] = {
    "segment_sum": composed(segment_sum, SEGMENTED, note="zeros and torch.Tensor.index_add"),
    "segment_mean": composed(
        segment_mean, SEGMENTED, note="zeros, torch.Tensor.index_add, torch.bincount, a clamp and a division"
    ),
    "segment_max": composed(segment_max, SEGMENTED, note="minus infinity everywhere, and torch.Tensor.scatter_reduce"),
    "index_add": call("torch.index_add", "input=data, dim=0, index=indices, source=updates"),
    "scatter_reduce_amax": call(
        "torch.scatter_reduce", "input=data, dim=axis, index=indices, src=updates", "reduce='amax'"
    ),
    "bincount": call("torch.bincount", "input=data", "minlength=count", also=elsewhere("bincount")),
    "histogram": call("torch.histc", "input=data", "bins=bins, min=low, max=high", note="the counts are floats"),
    "searchsorted": call(
        "torch.searchsorted", "sorted_sequence=data, input=values", adapt={"data": lambda data: data.sort().values}
    ),
}
