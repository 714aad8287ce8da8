"""A script of a user of MXNet's opperf, run by MXNet's own Python; prints what the functions return, as JSON.

Standard library, MXNet and opperf only. Shapes are small: what the tests ask of the rows does not depend on time.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

import mxnet as mx
from mxnet import gluon, nd

from opperf import profiler
from opperf.compat import mxnet_opperf as face
from opperf.domain.errors import InputError

SIDE = {"lhs": (128, 128), "rhs": (128, 128)}
FEW = {"warmup": 1, "runs": 3}
result: dict[str, Any] = {}


def refused(call: Any) -> str:
    """Return what a call is refused with."""
    try:
        call()
    except InputError as error:
        return str(error)
    return ""


class Sleepy(mx.operator.CustomOp):  # type: ignore[misc]
    """An operator whose Python part takes 5 ms at least."""

    def forward(self, is_train: bool, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
        time.sleep(0.005)
        self.assign(out_data[0], req[0], in_data[0] + 1)

    def backward(self, req: Any, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any) -> None:
        self.assign(in_grad[0], req[0], out_grad[0])


@mx.operator.register("Sleepy")
class SleepyProp(mx.operator.CustomOpProp):  # type: ignore[misc]
    """What MXNet asks of it."""

    def create_operator(self, ctx: Any, shapes: Any, dtypes: Any) -> Sleepy:
        return Sleepy()


calls: dict[tuple[int, ...], int] = {}


def counted(data: Any) -> Any:
    """Count the calls for each shape."""
    calls[data.shape] = calls.get(data.shape, 0) + 1
    return nd.relu(data)


result["nothing_yet"] = [json.loads(profiler.get_summary()), json.loads(profiler.get_summary(reset=True))]
profiler.reset()

# Forms ----------------------------------------------------------------------------------------------------------------
result["native"] = face.run_performance_test(nd.add, inputs=[SIDE, {"lhs": (1000, 1), "rhs": (1000, 1)}], **FEW)
result["python"] = face.run_performance_test([nd.add, nd.subtract], inputs=[SIDE], profiler="python", **FEW)
result["forward"] = face.run_performance_test(nd.add, inputs=[SIDE], run_backward=False, **FEW)
result["proposal"] = face.run_performance_test(
    F=mx.nd.add, inputs=[{**SIDE, "initializer": nd.normal, "run_backward": False, "dtype": "float64"}], **FEW
)
two, out = nd.array([1, 2]), nd.empty((2,))
result["internal"] = face.run_performance_test(mx.nd._internal._copyto, inputs=[{"data": two, "out": out}], **FEW)
result["copied"] = out.asnumpy().tolist()
face.run_performance_test(nd.relu, inputs=[{"data": two}], **FEW)
result["untouched"] = two.grad is None
convolution = {"data": (2, 3, 16, 16), "data_initializer": nd.normal, "channels": 4, "kernel_size": (3, 3)}
result["block"] = face.run_performance_test(gluon.nn.Conv2D, inputs=[{**convolution, "activation": None}], **FEW)
made = gluon.nn.Dense(4)
made.initialize()
result["made"] = face.run_performance_test(made, inputs=[{"data": (5, 3)}], **FEW)
result["table"] = face.run_performance_test(
    gluon.nn.Embedding, inputs=[{"data": (5,), "input_dim": 10, "output_dim": 4}], **FEW
)
result["cell"] = face.run_performance_test(gluon.rnn.LSTMCell, inputs=[{"data": (5, 3), "hidden_size": 4}], **FEW)
sparse = nd.sparse.csr_matrix((4, 4))
result["modules"] = [
    face.run_performance_test(function, inputs=[inputs], **FEW)
    for function, inputs in (
        (mx.np.add, {"x1": (8, 8), "x2": (8, 8)}),
        (mx.npx.pick, {"data": (8, 8), "index": (8,)}),
        (nd.contrib.quadratic, {"data": (8, 8), "a": 1.0}),
        (nd.sparse.relu, {"data": sparse}),
        (nd.linalg.gemm2, {"A": (8, 8), "B": (8, 8)}),
        (nd.random_normal, {"shape": (8, 8), "dtype": "float16"}),
        (nd.concat, {"data": [(8, 8), (8, 8)], "dim": 0}),
        (nd.Embedding, {"data": (4,), "weight": (8, 4), "input_dim": 8, "output_dim": 4}),
    )
]
result["one_name"] = face.run_benchmark_operator("add", size=(8, 8), run_backward=True, **FEW)
result["one_name"] += face.run_benchmark_operator("batch_norm", size=(8,), additional_inputs={"data": (2, 8)}, **FEW)
result["unknown"] = refused(lambda: face.run_benchmark_operator("no_such_name"))
shapes = {"shape": (4, 16), "newshape": (4, 16)}
result["every_array"] = [
    face.run_benchmark_operator(name, size=(8, 8), additional_inputs=more, **FEW)
    for name, more in (("where", {}), ("softmax", {}), ("matmul", {}), ("concat", {}), ("reshape", shapes))
]

# What was broken ------------------------------------------------------------------------------------------------------
result["isolated"] = face.run_performance_test(
    [nd.add, nd.relu], inputs=[{"lhs": (3, 3), "rhs": (4, 4)}, {"lhs": (3, 3), "rhs": (3, 3)}, {"data": (3, 3)}], **FEW
)
result["whole"] = face.run_op_benchmarks(["squeeze", "BlockGrad"], "int32", mx.cpu(), "native", 0, 1)
result["named"] = [
    face.run_performance_test(function, inputs=[inputs], **FEW)
    for function, inputs in (
        (nd.cast, {"data": (8, 8), "dtype": "float16"}),
        (nd.ctc_loss, {"data": (10, 2, 4), "label": (2, 3)}),
        (nd.pad, {"data": (1, 1, 4, 4), "mode": "constant", "pad_width": (0, 0, 0, 0, 1, 1, 1, 1)}),
        (nd.concat, {"args": [(8, 8), (8, 8)]}),
        (nd.batch_dot, {"lhs": (2, 8, 8), "rhs": (2, 8, 8)}),
    )
]
result["custom"] = face.run_performance_test(nd.Custom, inputs=[{"args": (4, 4), "op_type": "Sleepy"}], **FEW)
face.run_performance_test(counted, inputs=[{"data": (2, 3)}, {"data": (3, 2)}], run_backward=False, warmup=40, runs=1)
result["calls"] = [calls[2, 3], calls[3, 2]]
result["updates"] = face.run_op_benchmarks(
    ["multi_mp_sgd_mom_update", "preloaded_multi_sgd_update", "reset_arrays"], warmup=1, runs=2
)
result["shapes"] = refused(lambda: face.run_performance_test(nd.add, inputs=[{"lhs": [(2, 2), (3, 3)], "rhs": (2, 2)}]))
result["no_list"] = refused(lambda: face.run_performance_test(nd.add, inputs="lhs"))
result["clock"] = refused(lambda: face.run_performance_test(nd.add, inputs=[SIDE], profiler="cpp"))
result["ctx"] = refused(lambda: face.run_performance_test(nd.add, inputs=[SIDE], ctx="cpu"))
result["dtype"] = refused(lambda: face.run_performance_test(nd.add, inputs=[SIDE], dtype="flot32"))
result["int64"] = refused(lambda: face.run_op_benchmarks("squeeze", int64_tensor="yes"))
result["one"] = list(face.run_op_benchmarks("shape_array", warmup=0, runs=1))
result["original"] = face.run_op_benchmarks("take", warmup=0, runs=1, original_values=True)
result["files"] = os.listdir()

# The profiler ---------------------------------------------------------------------------------------------------------
one = nd.ones((100, 100))
nd.waitall()
mx.profiler.set_config(aggregate_stats=True, filename="own.json")
result["unconfigured"] = json.loads(profiler.get_summary())
profiler.set_config(profile_all=True)
summaries = []
for _ in range(2):
    profiler.set_state("run")
    sums = [one + one, one + one]
    nd.waitall()
    profiler.set_state("stop")
    summaries.append(json.loads(profiler.get_summary()))
profiler.reset()
summaries.append(json.loads(profiler.get_summary()))
result["summaries"] = summaries
profiler.set_state("run")
more = one + one
nd.waitall()
profiler.set_state("stop")  # its events are still to be written
result["after"] = face.run_performance_test(nd.add, inputs=[SIDE], **FEW)
profiler.reset()
profiler.set_state("run")
more = one + one
nd.waitall()
profiler.set_state("stop")
result["configured_again"] = json.loads(profiler.get_summary())
result["imported"] = sorted({name.partition(".")[0] for name in sys.modules})
result["parents"] = [
    name
    for name in sys.modules
    if name.startswith(("opperf.parent.cli", "opperf.parent.workers", "opperf.parent.measuring.session"))
]

with open(sys.argv[1], "w", encoding="utf-8") as answer:
    json.dump(result, answer)
