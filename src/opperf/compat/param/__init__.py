"""PARAM's library, for use in a script that imports torch: change the import, keep the rest. Measured by opperf.

    from opperf.compat.param import OpExecutor, create_bench_config, create_op_args, create_type, make_op_config

Its names are looked up when they are first used. The command line (`__main__.py`, `command/`) is the parent's.
"""

from __future__ import annotations

from typing import Any

_HOMES = {
    "BenchmarkConfig": "opperf.compat.param.configs",
    "OperatorConfig": "opperf.compat.param.configs",
    "make_op_config": "opperf.compat.param.configs",
    "ConfigIterator": "opperf.domain.workload",
    "DefaultConfigIterator": "opperf.compat.param.configs",
    "RangeConfigIterator": "opperf.compat.param.configs",
    "register_config_iterator": "opperf.domain.workload",
    "DataGenerator": "opperf.domain.workload",
    "DefaultDataGenerator": "opperf.compat.param.configs",
    "register_data_generator": "opperf.domain.workload",
    "OperatorInterface": "opperf.compat.param.operators",
    "register_operator": "opperf.compat.param.operators",
    "register_operators": "opperf.compat.param.operators",
    "OpExecutor": "opperf.compat.param.executor",
    "ExecutionPass": "opperf.compat.param.options",
    "OpExecutionMode": "opperf.compat.param.options",
    "create_bench_config": "opperf.compat.param.options",
    "create_op_args": "opperf.compat.param.options",
    "create_op_info": "opperf.compat.param.options",
    "create_type": "opperf.compat.param.options",
    "get_benchmark_options": "opperf.compat.param.options",
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'opperf.compat.param' has no attribute {name!r}")
