"""Selective state spaces in PyTorch, as models write them where no fused kernel is."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional as F

from opperf.child.backends.binding import Binding, compositions


def selective_scan(data: Any, step: Any, decay: Any, input_weight: Any, output_weight: Any, skip: Any) -> Any:
    """Return the sequence, one step after the other."""
    decays = torch.exp(step[..., None] * decay)
    inputs = (step * data)[..., None] * input_weight[:, :, None]
    state, results = torch.zeros_like(inputs[:, 0]), []
    for decayed, comes_in, goes_out in zip(decays.unbind(1), inputs.unbind(1), output_weight.unbind(1)):
        state = decayed * state + comes_in
        results.append(torch.bmm(state, goes_out[..., None])[..., 0])
    return torch.stack(results, 1) + skip * data


def selective_state_update(
    state: Any, data: Any, step: Any, decay: Any, input_weight: Any, output_weight: Any, skip: Any
) -> Any:
    """Change the state in place, and return what it gives."""
    state.mul_(torch.exp(step[..., None] * decay)).add_((step * data)[..., None] * input_weight[:, None])
    return torch.bmm(state, output_weight[..., None])[..., 0] + skip * data


def causal_conv1d(data: Any, weight: Any, bias: Any) -> Any:
    """Return the convolution padded on both ends, without what sees the future."""
    channels, width = weight.shape
    return F.conv1d(data, weight[:, None], bias, padding=width - 1, groups=channels)[..., : data.shape[-1]]


BINDINGS: dict[str, Binding] = compositions(
    selective_scan=(selective_scan, "torch.exp and products; for each step a product, a sum and torch.bmm"),
    selective_state_update=(selective_state_update, "torch.exp, products and sums in place, and torch.bmm"),
    causal_conv1d=(causal_conv1d, "torch.nn.functional.conv1d with as many groups as channels, and a view"),
)
