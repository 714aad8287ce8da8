"""Every operator of a category with inputs of its own, as a script of MXNet's opperf does it.

python examples/mxnet_opperf/a_category.py, in an environment with MXNet and opperf on PYTHONPATH
"""

from opperf.compat.mxnet_opperf import run_mx_binary_broadcast_operators_benchmarks

# Without arguments: 25 calls of warm-up and 100 samples for each row.
print(run_mx_binary_broadcast_operators_benchmarks(warmup=1, runs=3))
