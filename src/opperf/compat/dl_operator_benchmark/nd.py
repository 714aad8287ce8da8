"""Benchmarks of MXNet's operators on arrays: one class for each, and a runner for each group.

    add = Add(inputs={"dtype": "float64"})
    add.run_benchmark()
    add.print_benchmark_results()
    run_all_arithmetic_operations_benchmarks()

The names are made from declarations, on demand.
"""

from __future__ import annotations

from opperf.compat.dl_operator_benchmark.benchmark import benchmark_class
from opperf.compat.dl_operator_benchmark.operators import operator_classes
from opperf.compat.dl_operator_benchmark.runners import CUSTOM, ND, attributes, runners

CLASSES = {name: benchmark_class(name, spec, __name__) for name, spec in operator_classes().items()}
RUNNERS = runners({**ND, **CUSTOM}, CLASSES)
__all__ = sorted([*CLASSES, *RUNNERS])
__getattr__ = attributes({**CLASSES, **RUNNERS})
