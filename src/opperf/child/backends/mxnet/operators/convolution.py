"""MXNet's convolutions. What they ask for beside the neutral settings, the shape of the weight tells."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from opperf.child.backends.call import Binding, Call, call

SETTINGS = (
    "kernel=kernel, num_filter=filters, stride=stride, pad=padding, dilate=dilation, num_group=groups, no_bias=True"
)


def _kernel(case: Mapping[str, Any]) -> tuple[int, ...]:
    return tuple(case["weight"].shape[2:])


def _each(name: str, default: int) -> Callable[[Mapping[str, Any]], tuple[int, ...]]:
    """Return a number for each space dimension."""

    def spread(case: Mapping[str, Any]) -> tuple[int, ...]:
        value = case.get(name)
        value = default if value is None else value
        return (value,) * len(_kernel(case)) if isinstance(value, int) else tuple(value)

    return spread


def _groups(case: Mapping[str, Any]) -> int:
    """Return the groups: data has that many times the channels that a filter takes."""
    return int(case.get("groups") or case["data"].shape[1] // case["weight"].shape[1])


def _filters(case: Mapping[str, Any]) -> int:
    return int(case["weight"].shape[0])


def _filters_of_transposed(case: Mapping[str, Any]) -> int:
    return int(case["weight"].shape[1] * (case.get("groups") or 1))


WINDOW = {"stride": _each("stride", 1), "padding": _each("padding", 0), "dilation": _each("dilation", 1)}


def _convolution() -> Call:
    derive = {**WINDOW, "kernel": _kernel, "filters": _filters, "groups": _groups}
    return call("nd.Convolution", "data, weight", SETTINGS, derive=derive)


def _transposed(*also: str) -> Call:
    derive = {
        **WINDOW,
        "kernel": _kernel,
        "filters": _filters_of_transposed,
        "extra": _each("output_padding", 0),
        "groups": lambda case: case.get("groups") or 1,
    }
    return call("nd.Deconvolution", "data, weight", f"{SETTINGS}, adj=extra", derive=derive, also=also)


BINDINGS: dict[str, Binding] = {
    "conv2d": _convolution(),  # the first: what `nd.Convolution` is taken for when it is named
    "conv1d": _convolution(),
    "conv3d": _convolution(),
    "depthwise_conv2d": _convolution(),
    "grouped_conv2d": _convolution(),
    "dilated_conv2d": _convolution(),
    "conv_transpose2d": _transposed("nd.Deconvolution"),  # what it is taken for when it is named
    "conv_transpose1d": _transposed(),
    "conv_transpose3d": _transposed(),
}
