"""One name in mx.nd, mx.np and mx.npx; where an operator needs arrays of other shapes, they are given beside it."""

from opperf.compat.mxnet_opperf import run_benchmark_operator

run_benchmark_operator(name="add", run_backward=True)
run_benchmark_operator(name="pick", size=(128, 128), additional_inputs={"index": (128, 1)})
