"""PARAM's library, for use in a script that imports torch: change the import, keep the rest. Measured by opperf.

    from opperf.compat.param import OpExecutor, create_bench_config, create_op_args, create_type, make_op_config

Its names are looked up when they are first used. The command line (`__main__.py`, `command/`) is the parent's.
"""

from __future__ import annotations

from typing import Any

_HOMES = {
    "BenchmarkConfig": "configs",
    "OperatorConfig": "configs",
    "make_op_config": "configs",
    "ConfigIterator": "iterators",
    "DefaultConfigIterator": "iterators",
    "RangeConfigIterator": "iterators",
    "register_config_iterator": "iterators",
    "DataGenerator": "generators",
    "DefaultDataGenerator": "generators",
    "register_data_generator": "generators",
    "OperatorInterface": "operators",
    "register_operator": "operators",
    "register_operators": "operators",
    "OpExecutor": "executor",
    "ExecutionPass": "options",
    "OpExecutionMode": "options",
    "create_bench_config": "options",
    "create_op_args": "options",
    "create_op_info": "options",
    "create_type": "options",
    "get_benchmark_options": "options",
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f"opperf.compat.param.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'opperf.compat.param' has no attribute {name!r}")
