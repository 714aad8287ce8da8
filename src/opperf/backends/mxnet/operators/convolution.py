"""MXNet's convolutions. What they ask for beside the neutral settings, the shape of the weight tells."""

from __future__ import annotations

from typing import Any

from opperf.backends.call import Binding
from opperf.backends.mxnet.spelling import Settled, settled

SETTINGS = "stride=stride, pad=padding, dilate=dilation, num_group=groups"


def _spread(settings: dict[str, Any], count: int) -> dict[str, Any]:
    """Return the settings with a number for each space dimension; what is not given stays out."""
    return {
        name: (value,) * count if isinstance(value, int) and name != "num_group" else value
        for name, value in settings.items()
        if value is not None
    }


def _convolution(data: Any, weight: Any, **settings: Any) -> Settled:
    kernel = weight.shape[2:]
    known = {
        "kernel": kernel,
        "num_filter": weight.shape[0],
        "num_group": data.shape[1] // weight.shape[1],
        "no_bias": True,
    }
    return "nd.Convolution", (data, weight), known | _spread(settings, len(kernel))


def _deconvolution(data: Any, weight: Any, **settings: Any) -> Settled:
    kernel = weight.shape[2:]
    known = {"kernel": kernel, "num_filter": weight.shape[1] * (settings.get("num_group") or 1), "no_bias": True}
    return "nd.Deconvolution", (data, weight), known | _spread(settings, len(kernel))


BINDINGS: dict[str, Binding] = {
    **{
        name: settled("nd.Convolution", "data, weight", SETTINGS, settle=_convolution)
        for name in ("conv1d", "conv2d", "conv3d", "depthwise_conv2d")
    },
    "conv_transpose2d": settled(
        "nd.Deconvolution", "data, weight", f"{SETTINGS}, adj=output_padding", settle=_deconvolution
    ),
}
