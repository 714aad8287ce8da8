"""Benchmarks of Gluon's layers and losses: one class for each, and a runner for each group.

    layer = Conv2D(inputs={"data": (8, 3, 64, 64), "hybridize": True})
    layer.run_benchmark()
    layer.get_benchmark_results()    # {"MX_Gluon_Hybrid_Conv2D_Forward_Backward_Time": seconds}

The names are made from declarations, on demand.
"""

from __future__ import annotations

from opperf.compat.dl_operator_benchmark.benchmark import benchmark_class
from opperf.compat.dl_operator_benchmark.gluon_layers import layer_classes
from opperf.compat.dl_operator_benchmark.runners import GLUON, attributes, runners

CLASSES = {name: benchmark_class(name, spec, __name__) for name, spec in layer_classes().items()}
RUNNERS = runners(GLUON, CLASSES)
__all__ = sorted([*CLASSES, *RUNNERS])
__getattr__ = attributes({**CLASSES, **RUNNERS})
