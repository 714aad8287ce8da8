"""`run_benchmark_operator`: one name in `mx.nd`, `mx.np` and `mx.npx`, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mxnet as mx

from opperf.compat.mxnet_opperf.inputs import argument_names, default_arrays
from opperf.compat.mxnet_opperf.performance import Row, run_performance_test
from opperf.domain.errors import InputError

MODULES = (mx.nd, mx.np, mx.npx)


def run_benchmark_operator(
    name: str,
    size: tuple[int, ...] = (128, 128),
    additional_inputs: Mapping[str, Any] | None = None,
    dtype: str = "float32",
    run_backward: bool = False,
    ctx: Any = None,
    warmup: int = 10,
    runs: int = 50,
    profiler: str = "native",
) -> list[dict[str, list[Row]]]:
    """Measure what is called `name` in each of MXNet's modules, print the rows, and return them.

    Every array of an operator has the shape `size`, unless `additional_inputs` says otherwise; what only some of the
    functions take goes to those. `batch_norm` and `BatchNorm` are one name. Raises `InputError` where no module has it.
    """
    functions = {module: function for module in MODULES if (function := _call(name, module)) is not None}
    if not functions:
        raise InputError(f"`{name}` is in none of mx.nd, mx.np and mx.npx", slug="unknown_operator")
    additional = additional_inputs or {}
    names = frozenset[str]().union(*map(argument_names, functions.values()))
    results: list[dict[str, list[Row]]] = []
    for module, function in functions.items():
        own = {one: value for one, value in additional.items() if one in argument_names(function) or one not in names}
        inputs = {**default_arrays(function, size), **own}
        print(module)
        rows = run_performance_test(function, [inputs], run_backward, dtype, ctx, profiler, warmup, runs)
        print(rows)
        results += rows
    return results


def _call(name: str, module: Any) -> Any:
    """Return the function with a name in a module, or None."""
    return next((getattr(module, one) for one in spellings(name) if hasattr(module, one)), None)


def spellings(name: str) -> list[str]:
    """Return a name, and the same words as the older and the newer modules write them.

    >>> spellings("batch_norm")
    ['batch_norm', 'BatchNorm']
    >>> spellings("FullyConnected")
    ['FullyConnected', 'fully_connected']
    """
    class_name = "".join(word.capitalize() for word in name.split("_")) if "_" in name else name
    apart = "".join(f"_{one.lower()}" if one.isupper() else one for one in name).lstrip("_")
    return list(dict.fromkeys([name, class_name if name.islower() else apart]))
