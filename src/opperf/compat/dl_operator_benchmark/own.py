"""Parts of your own benchmark class: the base class, arrays, and functions that time a call.

    seconds, result = nd_forward_backward_and_time(F=nd.add, runs=50, lhs=lhs, rhs=rhs)

As in the original, `seconds` are those of all runs together; they come from opperf's engine.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean
from typing import Any

import mxnet as mx

from opperf.compat.dl_operator_benchmark.benchmark import MXNetOperatorBenchmarkBase
from opperf.compat.in_process import in_process
from opperf.domain.registry import parse_device

__all__ = [
    "MXNetOperatorBenchmarkBase",
    "block_forward_and_time",
    "block_forward_backward_and_time",
    "get_mx_ndarray",
    "nd_forward_and_time",
    "nd_forward_backward_and_time",
]


def get_mx_ndarray(ctx: Any, in_tensor: Any, dtype: str, initializer: Any, attach_grad: bool = True) -> Any:
    """Return an array: of a shape, filled by an initializer, or with the elements of a list; an array as it is."""
    if isinstance(in_tensor, tuple):
        array = initializer(ctx=ctx, shape=in_tensor, dtype=dtype)
    elif isinstance(in_tensor, list):
        array = mx.nd.array(in_tensor, ctx=ctx, dtype=dtype)
    else:
        array = in_tensor.as_in_context(ctx)
    if attach_grad:
        array.attach_grad()
    return array


def nd_forward_backward_and_time(F: Callable[..., Any], runs: int, *args: Any, **kwargs: Any) -> tuple[float, Any]:
    """Return the seconds that a number of forwards with their backwards take, and the result of one."""
    return _time(F, "forward_backward", runs, args, kwargs)


def nd_forward_and_time(F: Callable[..., Any], runs: int, *args: Any, **kwargs: Any) -> tuple[float, Any]:
    """Return the seconds that a number of forwards take, and the result of one."""
    return _time(F, "forward", runs, args, kwargs)


def block_forward_backward_and_time(*args: Any, block: Any, runs: int, **kwargs: Any) -> tuple[float, Any]:
    """Return the seconds of a number of forwards of a block with their backwards, and the result of one."""
    return _time(block, "forward_backward", runs, args, kwargs)


def block_forward_and_time(*args: Any, block: Any, runs: int, **kwargs: Any) -> tuple[float, Any]:
    """Return the seconds of a number of forwards of a block, and the result of one."""
    return _time(block, "forward", runs, args, kwargs)


def _time(
    function: Callable[..., Any], direction: str, runs: int, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[float, Any]:
    result = function(*args, **kwargs)
    arrays = (value for value in (*args, *kwargs.values()) if isinstance(value, mx.nd.NDArray))
    here = in_process(parse_device(str(next(arrays, result).context)))
    subject = here.of_function(function, args, kwargs)
    measurement = here.measure(subject, direction, warmup=0, runs=runs, memory=False)
    return fmean(here.seconds(measurement)) * runs, result
