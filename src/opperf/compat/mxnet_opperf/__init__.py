"""The functions of MXNet's opperf, for use in a script that imports mxnet: change the import, keep the rest.

    import mxnet as mx
    from opperf.compat.mxnet_opperf import run_performance_test
    print(run_performance_test(mx.nd.add, inputs=[{"lhs": (1024, 1024), "rhs": (1024, 1024)}], warmup=10, runs=25))

Standard library and MXNet only. MXNet is imported when the first function is looked up, not before.
"""

from __future__ import annotations

from typing import Any

from opperf.compat.mxnet_opperf.categories import RUNNERS

#: Where each function is; the runners of categories are made by `runners.runner`.
_HOMES = {
    "run_performance_test": "performance",
    "run_benchmark_operator": "one_name",
    "run_op_benchmarks": "runners",
    "run_all_mxnet_operator_benchmarks": "runners",
}

__all__ = [*_HOMES, *RUNNERS]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in RUNNERS:
        return import_module(f"{__name__}.runners").runner(name)
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module '{__name__}' has no attribute {name!r}")
