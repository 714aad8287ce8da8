"""The pieces that PARAM's users make configs of, and the options of a run."""

from __future__ import annotations

import copy
import enum
from collections.abc import Sequence
from typing import Any

from opperf.param.grammar import ARGUMENTS, DEFAULT_GENERATOR


@enum.unique
class ExecutionPass(enum.Enum):
    """What is measured: forward alone, or backward too."""

    FORWARD = "forward"
    BACKWARD = "backward"


@enum.unique
class OpExecutionMode(enum.Enum):
    """Whether each call is waited for, or a block of them."""

    DISCRETE = "discrete"
    CONTINUOUS = "continuous"
    CONTINUOUS_EVENTS = "continuous_events"


def get_benchmark_options() -> dict[str, Any]:
    """Return the options of a run, with PARAM's defaults."""
    return {
        "device": "cpu",
        "pass_type": ExecutionPass.FORWARD,
        "warmup": 1,
        "iteration": 1,
        "op_exec_mode": OpExecutionMode.DISCRETE,
        "time_unit": "millisecond",
    }


def create_bench_config(name: str) -> dict[str, Any]:
    """Return an empty config of one operator."""
    return {name: create_op_info()}


def create_op_info() -> dict[str, Any]:
    """Return the entry of an operator."""
    return {
        "build_iterator": None,
        "input_iterator": None,
        "build_data_generator": None,
        "input_data_generator": DEFAULT_GENERATOR,
        "config": [{"build": [], "input": []}],
    }


def create_op_args(args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return one entry of `build` or `input`.

    >>> create_op_args([], {})
    {'args': [], 'kwargs': {}}
    """
    return {"args": list(args), "kwargs": kwargs}


def create_type(name: str) -> dict[str, Any]:
    """Return an argument of a type, its value still to be filled in; `int_range` and the like take a range.

    >>> create_type("tensor")
    {'type': 'tensor', 'dtype': 'float', 'shape': None}
    """
    kind = name.removesuffix("_range")
    if kind not in ARGUMENTS:
        raise KeyError(name)
    if kind == "tensor":
        return {"type": "tensor", "dtype": "float", "shape": None}
    return copy.deepcopy({"type": kind, "value_range" if name != kind else "value": None})
