"""The forms of the operator-benchmark proposal: `F=`, and what holds for one dictionary inside of it."""

import mxnet as mx
from mxnet import gluon, nd

from opperf.compat.mxnet_opperf import run_performance_test

results = run_performance_test(
    F=mx.nd.add,
    ctx=mx.cpu(),
    warmup=10,
    runs=50,
    inputs=[
        {"lhs": (256, 256), "rhs": (256, 256), "initializer": nd.normal, "run_backward": True, "dtype": "float64"},
    ],
)
results += run_performance_test(
    F=gluon.nn.Conv2D,
    ctx=mx.cpu(),
    warmup=1,
    runs=5,
    inputs=[
        {
            "data": (8, 3, 64, 64),
            "data_initializer": nd.normal,
            "channels": 64,
            "kernel_size": (3, 3),
            "strides": (1, 1),
            "padding": (0, 0),
            "dilation": (1, 1),
            "layout": "NCHW",
            "activation": None,
            "run_backward": True,
            "dtype": "float32",
        }
    ],
)
print(results)
