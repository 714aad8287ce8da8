"""Every operator of a category, printed one after the other; the dictionaries are returned too."""

from opperf.compat.dl_operator_benchmark.nd import run_all_arithmetic_operations_benchmarks

# Without arguments: 10 calls of warm-up and 50 samples for each operator.
run_all_arithmetic_operations_benchmarks(warmup=1, runs=3)
