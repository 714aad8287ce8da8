"""A benchmark class of one's own, in the form that the operator-benchmark proposal gave such classes."""

import mxnet as mx
from mxnet import nd

from opperf.compat.dl_operator_benchmark.own import (
    MXNetOperatorBenchmarkBase,
    get_mx_ndarray,
    nd_forward_backward_and_time,
)


class ScaledAdd(MXNetOperatorBenchmarkBase):
    def __init__(self, ctx=mx.cpu(), warmup=10, runs=50, inputs=None):  # noqa: B008 - as the proposal writes it
        default_parameters = {
            "lhs": (256, 256),
            "rhs": (256, 256),
            "initializer": nd.normal,
            "run_backward": True,
            "dtype": "float32",
        }
        super().__init__(
            ctx=ctx, warmup=warmup, runs=runs, default_parameters=default_parameters, custom_parameters=inputs
        )
        self.lhs, self.rhs = (
            get_mx_ndarray(
                ctx=self.ctx,
                in_tensor=self.inputs[name],
                dtype=self.inputs["dtype"],
                initializer=self.inputs["initializer"],
                attach_grad=self.inputs["run_backward"],
            )
            for name in ("lhs", "rhs")
        )

    def run_benchmark(self):
        def scaled_add(lhs, rhs):
            return nd.add(lhs, 2 * rhs)

        # Warm up; what it took is of no use.
        _, _ = nd_forward_backward_and_time(F=scaled_add, runs=self.warmup, lhs=self.lhs, rhs=self.rhs)
        exe_time, _ = nd_forward_backward_and_time(F=scaled_add, runs=self.runs, lhs=self.lhs, rhs=self.rhs)
        self.results["MX_Scaled_Add_Forward_Backward_Time"] = exe_time / self.runs


benchmark = ScaledAdd(inputs={"dtype": "float64"})
benchmark.run_benchmark()
benchmark.print_benchmark_results()
