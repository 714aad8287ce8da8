"""Recurrent layers, sequences of unequal length, and segments in PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from opperf.child.backends.binding import Binding, Call, call, compositions
from opperf.child.backends.torch.functions import other_paths

NAMES = ("weight_input", "weight_hidden", "bias_input", "bias_hidden")
WEIGHTS = "w_ih=weight_input, w_hh=weight_hidden, b_ih=bias_input, b_hh=bias_hidden"


def _weights(arguments: Mapping[str, Any]) -> list[Any]:
    """Return the weights, those of the way back after the others."""
    return [arguments[f"{way}{name}"] for way in ("", "reverse_") for name in NAMES if f"{way}{name}" in arguments]


def _states(arguments: Mapping[str, Any]) -> tuple[Any, ...]:
    return arguments["hidden"], arguments["cell"]


def _layer(path: str, state: str, *, both_ways: bool = False) -> Call:
    """Write down a layer: with biases, one deep, no dropout, time first.

    It trains, as PyTorch's modules do unless they are told otherwise: cuDNN computes gradients of such a call only.
    """
    derive: dict[str, Callable[[Mapping[str, Any]], Any]] = {"weights": _weights, "states": _states}
    if state == "hidden":
        del derive["states"]
    settings = f"True, 1, 0.0, True, {both_ways}, False"
    return call(path, f"data, {state}, weights, {settings}", derive=derive)


def sequence_mask(data: Any, lengths: Any, value: float) -> Any:
    beyond = torch.arange(data.shape[0], device=data.device)[:, None] >= lengths
    return data.masked_fill(beyond[..., None], value)


def sequence_reverse(data: Any, lengths: Any) -> Any:
    places = torch.arange(data.shape[0], device=data.device)[:, None]
    places = torch.where(places < lengths, lengths - 1 - places, places)
    return data[places, torch.arange(data.shape[1], device=data.device)]


def segment_sum(data: Any, segments: Any, count: int) -> Any:
    """Return the sums, on zeros; `torch.segment_reduce` wants rows that are sorted."""
    return data.new_zeros(count, data.shape[1]).index_add(0, segments, data)


def segment_mean(data: Any, segments: Any, count: int) -> Any:
    counts = torch.bincount(segments, minlength=count).clamp(min=1)
    return segment_sum(data, segments, count) / counts[:, None]


def segment_max(data: Any, segments: Any, count: int) -> Any:
    places = segments[:, None].expand_as(data)
    lowest = data.new_full((count, data.shape[1]), float("-inf"))
    return lowest.scatter_reduce(0, places, data, reduce="amax")


BINDINGS: dict[str, Binding] = {
    # PyTorch's recurrent networks: the functions that its modules call, with their weights in a list.
    **{
        name: call(f"torch.{name}", f"input=data, hx=hidden, {WEIGHTS}")
        for name in ("rnn_tanh_cell", "rnn_relu_cell", "gru_cell")
    },
    "lstm_cell": call("torch.lstm_cell", f"input=data, hx=states, {WEIGHTS}", derive={"states": _states}),
    "rnn": _layer("torch.rnn_tanh", "hidden"),
    "lstm": _layer("torch.lstm", "states"),
    "gru": _layer("torch.gru", "hidden"),
    "bidirectional_lstm": _layer("torch.lstm", "states", both_ways=True),
    # Sequences of unequal length in PyTorch: places made of the lengths, then one function.
    **compositions(
        sequence_mask=(sequence_mask, "torch.arange, a comparison and torch.masked_fill"),
        sequence_reverse=(sequence_reverse, "torch.arange, torch.where, and indexing with two tensors"),
        sequence_last=(
            lambda data, lengths: data[lengths - 1, torch.arange(data.shape[1], device=data.device)],
            "torch.arange, and indexing with two tensors",
        ),
    ),
    # PyTorch's sums, means, greatest and counts by index.
    "index_add": call("torch.index_add", "input=data, dim=0, index=indices, source=updates"),
    "scatter_reduce_amax": call(
        "torch.scatter_reduce", "input=data, dim=axis, index=indices, src=updates", "reduce='amax'"
    ),
    "bincount": call("torch.bincount", "input=data", "minlength=count", also=other_paths("bincount")),
    "histogram": call("torch.histc", "input=data", "bins=bins, min=low, max=high", note="the counts are floats"),
    "searchsorted": call(
        "torch.searchsorted", "sorted_sequence=data, input=values", adapt={"data": lambda data: data.sort().values}
    ),
    **compositions(
        segment_sum=(segment_sum, "zeros and torch.Tensor.index_add"),
        segment_mean=(segment_mean, "zeros, torch.Tensor.index_add, torch.bincount, a clamp and a division"),
        segment_max=(segment_max, "minus infinity everywhere, and torch.Tensor.scatter_reduce"),
    ),
}
