"""Convolutions, pooling and Fourier transforms in MXNet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from opperf.child.backends.arrays.windows import spread, spread_argument
from opperf.child.backends.binding import Binding, Call, call, functions, gaps
from opperf.child.backends.mxnet.spelling import CallSpec, adjust

# MXNet's convolutions. Further settings that they need follow from the shape of the weight.

SETTINGS = (
    "kernel=kernel, num_filter=filters, stride=stride, pad=padding, dilate=dilation, num_group=groups, no_bias=True"
)


def _kernel(case: Mapping[str, Any]) -> tuple[int, ...]:
    return tuple(case["weight"].shape[2:])


def _groups(case: Mapping[str, Any]) -> int:
    """Return the groups: data has that many times the channels that a filter takes."""
    return int(case.get("groups") or case["data"].shape[1] // case["weight"].shape[1])


def _filters(case: Mapping[str, Any]) -> int:
    return int(case["weight"].shape[0])


def _filters_of_transposed(case: Mapping[str, Any]) -> int:
    return int(case["weight"].shape[1] * (case.get("groups") or 1))


WINDOW = {
    "stride": spread_argument("stride", 1),
    "padding": spread_argument("padding", 0),
    "dilation": spread_argument("dilation", 1),
}


def _convolution() -> Call:
    derive = {**WINDOW, "kernel": _kernel, "filters": _filters, "groups": _groups}
    return call("nd.Convolution", "data, weight", SETTINGS, derive=derive)


def _transpose(*also: str) -> Call:
    derive = {
        **WINDOW,
        "kernel": _kernel,
        "filters": _filters_of_transposed,
        "extra": spread_argument("output_padding", 0),
        "groups": lambda case: case.get("groups") or 1,
    }
    return call("nd.Deconvolution", "data, weight", f"{SETTINGS}, adj=extra", derive=derive, also=also)


# MXNet's pooling: one operator for all of it.


def _windows(kind: str) -> Callable[..., CallSpec]:
    def settle(data: Any, kernel: Any, stride: Any = None, pad: Any = 0, **more: Any) -> CallSpec:
        size = spread(kernel, data.ndim - 2, 1)
        stride, pad = size if stride is None else spread(stride, data.ndim - 2, 1), spread(pad, data.ndim - 2, 0)
        return "nd.Pooling", (data,), {"kernel": size, "stride": stride, "pad": pad, "pool_type": kind, **more}

    return settle


def _pool(kind: str, *also: str) -> Call:
    return adjust("nd.Pooling", "data, kernel", "stride=stride, pad=padding", settle=_windows(kind), also=also)


BINDINGS: dict[str, Binding] = {
    "conv2d": _convolution(),  # the first: what `nd.Convolution` is taken for when it is named
    "conv1d": _convolution(),
    "conv3d": _convolution(),
    "depthwise_conv2d": _convolution(),
    "grouped_conv2d": _convolution(),
    "dilated_conv2d": _convolution(),
    "conv_transpose2d": _transpose("nd.Deconvolution"),  # what it is taken for when it is named
    "conv_transpose1d": _transpose(),
    "conv_transpose3d": _transpose(),
    "max_pool1d": _pool("max"),
    "avg_pool1d": _pool("avg"),
    "max_pool2d": _pool("max", "nd.Pooling"),  # what it does unless told otherwise
    "avg_pool2d": _pool("avg"),
    **functions(
        "nd",
        {
            ("data", "global_pool=True, pool_type='avg'"): (
                "global_avg_pool1d=Pooling global_avg_pool2d=Pooling global_avg_pool3d=Pooling"
            ),
            ("data", "global_pool=True, pool_type='max'"): (
                "global_max_pool1d=Pooling global_max_pool2d=Pooling global_max_pool3d=Pooling"
            ),
        },
    ),
    "max_pool3d": _pool("max"),
    "avg_pool3d": _pool("avg"),
    "adaptive_avg_pool2d": call("nd.contrib.AdaptiveAvgPooling2D", "data", "output_size=output_size"),
    "lp_pool2d": adjust("nd.Pooling", "data, kernel", "stride=stride, p_value=power", settle=_windows("lp")),
    **gaps(
        "MXNet has no complex numbers; `nd.contrib.fft` takes real ones, on CUDA devices only",
        "fft ifft rfft irfft fft2 rfft2",
    ),
}
