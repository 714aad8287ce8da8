"""The runners of MXNet's opperf: every operator of a category, with default inputs.

An operator that fails costs its row alone, and none is measured twice under one name.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, Protocol

import mxnet as mx

from opperf.child.backends.mxnet import discovery, registry
from opperf.compat.mxnet_opperf.categories import RUNNERS, members
from opperf.compat.mxnet_opperf.default_inputs import Inputs, default_inputs, is_large
from opperf.compat.mxnet_opperf.performance import Bench, Row
from opperf.domain.case import Argument, DType, ListOf
from opperf.domain.tensor import TensorSpec


class Runner(Protocol):
    """What every runner takes.

    `int64_tensor` asks for matrices with more elements than 32 bits can count, `original_values` for normal values in
    all arrays, as the original has them: indices and labels, too, which are valid otherwise.
    """

    def __call__(
        self,
        ctx: Any = None,
        dtype: str = "float32",
        profiler: str = "native",
        warmup: int = 25,
        runs: int = 100,
        int64_tensor: str = "off",
        *,
        original_values: bool = False,
    ) -> dict[str, list[Row]]:
        """Return the rows of every operator by its name."""


def run_op_benchmarks(
    ops: Iterable[str],
    dtype: str = "float32",
    ctx: Any = None,
    profiler: str = "native",
    warmup: int = 25,
    runs: int = 100,
    int64_tensor: str = "off",
    *,
    original_values: bool = False,
) -> dict[str, list[Row]]:
    """Measure operators of `mx.nd` by name (one, several, or the keys of a dictionary) with their default inputs."""
    bench = Bench(ctx, dtype, profiler, warmup, runs)
    large = is_large(int64_tensor)
    more = {"initializer": mx.nd.normal} if original_values else {}
    names = dict.fromkeys([ops] if isinstance(ops, str) else ops)
    return {name: _rows(bench, name, dtype, large, more) for name in names}


def _rows(bench: Bench, name: str, dtype: str, large: bool, more: Inputs) -> list[Row]:
    function = getattr(mx.nd, name, None)
    if function is None:
        return [{"inputs": {}, "error": f"MXNet {mx.__version__} has no operator {name}"}]
    inputs = default_inputs(name, dtype=dtype, large=large) or _examples(name)
    if not inputs:
        return [{"inputs": {}, "error": f"there are no inputs for {name}: give your own to run_performance_test"}]
    return bench.rows(function, [{**row, **more} for row in inputs], run_backward=True)


def _examples(name: str) -> list[Inputs]:
    """Return the inputs that the rules of opperf's own commands make; any number of arrays go by position."""
    examples = []
    for case in discovery.examples(f"nd.{name}", "common"):
        arrays = {own: _plain(value) for own, value in case.inputs.items()}
        attributes = {own: _plain(value) for own, value in case.attributes.items() if own != "num_args"}
        if registry.signature(name).many:
            arrays = {"args": list(arrays.values())}
        examples.append({**arrays, **attributes})
    return examples


def _plain(value: Argument) -> Any:
    """Return an argument as the dictionaries have it."""
    if isinstance(value, TensorSpec):
        return value.shape
    if isinstance(value, ListOf):
        return [_plain(item) for item in value.items]
    return value.name if isinstance(value, DType) else value


@cache
def runner(name: str) -> Runner:
    """Return the function of a name in `RUNNERS`."""
    run: Any = _measuring(RUNNERS[name])
    run.__name__ = run.__qualname__ = name
    result: Runner = run
    return result


def _measuring(*categories: str) -> Runner:
    def run(
        ctx: Any = None,
        dtype: str = "float32",
        profiler: str = "native",
        warmup: int = 25,
        runs: int = 100,
        int64_tensor: str = "off",
        *,
        original_values: bool = False,
    ) -> dict[str, list[Row]]:
        names = [name for category in categories for name in members(category)]
        return run_op_benchmarks(
            names, dtype, ctx, profiler, warmup, runs, int64_tensor, original_values=original_values
        )

    run.__doc__ = f"Measure the operators of {', '.join(categories)} with their default inputs."
    return run


run_all_mxnet_operator_benchmarks: Runner = _measuring(*RUNNERS.values())
