"""The short convolution of state spaces, in MXNet."""

from __future__ import annotations

from typing import Any

from opperf.child.backends.binding import Binding, gaps
from opperf.child.backends.mxnet.spelling import CallSpec, Composition, composition


def causal_conv1d(F: Any, data: Any, weight: Any, bias: Any, *, channels: int, width: int, length: int) -> Any:
    """Convolve with padding on both ends, and leave out what sees the future."""
    kernels = F.expand_dims(weight, axis=1)
    result = F.Convolution(
        data, kernels, bias, kernel=(width,), pad=(width - 1,), num_filter=channels, num_group=channels
    )
    return F.slice_axis(result, axis=2, begin=0, end=length)


def _convolve(data: Any, weight: Any, bias: Any) -> CallSpec:
    keywords = {"channels": weight.shape[0], "width": weight.shape[1], "length": data.shape[2]}
    return Composition(causal_conv1d), (data, weight, bias), keywords


BINDINGS: dict[str, Binding] = {
    "causal_conv1d": composition(
        causal_conv1d,
        "data, weight, bias",
        note="nd.Convolution with as many groups as channels, and nd.slice_axis",
        settle=_convolve,
    ),
    **gaps(
        "MXNet was retired before there were selective state spaces: nobody writes them there",
        "selective_scan selective_state_update",
    ),
}
