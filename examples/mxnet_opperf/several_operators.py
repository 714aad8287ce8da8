"""Several operators with the same inputs, by MXNet's profiler and then by opperf's own engine."""

import mxnet as mx
from mxnet import nd

from opperf.compat.mxnet_opperf import run_performance_test

for profiler in ("native", "python"):
    print(
        run_performance_test(
            [nd.add, nd.subtract],
            run_backward=True,
            dtype="float32",
            ctx=mx.cpu(),
            inputs=[{"lhs": (1024, 1024), "rhs": (1024, 1024)}],
            warmup=10,
            runs=25,
            profiler=profiler,
        )
    )
