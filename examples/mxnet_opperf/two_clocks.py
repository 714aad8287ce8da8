"""One operator by both clocks and by a clock that never waits: what each of the three is a time of."""

import time

import mxnet as mx

from opperf.compat.mxnet_opperf import run_performance_test

inputs = {"lhs": (512, 512), "rhs": (512, 512)}
native = run_performance_test(mx.nd.dot, inputs=[inputs], run_backward=False, runs=20)[0]["dot"][0]
python = run_performance_test(mx.nd.dot, inputs=[inputs], run_backward=False, runs=20, profiler="python")[0]["dot"][0]

lhs, rhs = mx.nd.ones((512, 512)), mx.nd.ones((512, 512))
mx.nd.waitall()
start = time.perf_counter()
product = mx.nd.dot(lhs, rhs)  # hands the work to MXNet's engine and returns
handed_over = 1e3 * (time.perf_counter() - start)
product.wait_to_read()

print(f"the operator itself, by MXNet's profiler   {native['p50_time_forward_dot']:.3f} ms")
print(f"a call until its result is there, opperf    {python['p50_time_dot']:.3f} ms")
print(f"a call without waiting: no time of `dot`    {handed_over:.3f} ms")
