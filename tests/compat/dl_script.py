"""A script of a user of dl-operator-benchmark, run by MXNet's own Python; writes what it report, as JSON.

Standard library, MXNet and opperf only. Inputs are small: what the tests ask of the results does not depend on time.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import mxnet as mx
from mxnet import nd as array

from opperf.compat.dl_operator_benchmark import benchmark_driver, benchmark_executor, gluon, nd, own
from opperf.compat.dl_operator_benchmark.runners import GLUON, ND
from opperf.compat.in_process import in_process

FEW: dict[str, Any] = {"warmup": 1, "runs": 3}
#: Shapes of layers' data, by the number of their dimensions.
SMALL = {3: (4, 3, 16), 4: (2, 3, 16, 16), 5: (1, 3, 4, 4, 4)}
report: dict[str, Any] = {}


def plain(inputs: dict[str, Any]) -> dict[str, Any]:
    """Return parameters as JSON has them."""
    return {name: getattr(value, "__name__", value) for name, value in inputs.items()}


def measured(made: Any) -> Any:
    """Run a benchmark and return its results."""
    made.run_benchmark()
    return made.get_benchmark_results()


# Classes --------------------------------------------------------------------------------------------------------------
add = nd.Add(**FEW)
before = io.StringIO()
with contextlib.redirect_stdout(before):
    add.print_benchmark_results()
report["before"] = before.getvalue()
report["add"] = measured(add)
report["samples"] = [len(seconds) for seconds in add.samples.values()]
report["inputs"] = {
    name: plain(one().inputs)
    for name, one in {
        "Add": nd.Add,
        "Power": nd.Power,
        "TopK": nd.TopK,
        "Arange": nd.Arange,
        "Dense": gluon.Dense,
        "Conv2D": gluon.Conv2D,
        "RNN": gluon.RNN,
        "Softmax": gluon.Softmax,
    }.items()
}
report["double"] = measured(nd.Add(inputs={"dtype": "float64"}, **FEW))
report["whole"] = measured(nd.Add(inputs={"dtype": "int32"}, **FEW))
try:
    nd.Add(inputs={"dtyp": "float64"})
except ValueError as error:
    report["unknown"] = str(error)
small = {"lhs": (8, 8), "rhs": (8, 8)}
report["keys"] = [
    *measured(nd.Lesser(inputs=small, **FEW)),
    *measured(nd.TopK(inputs={"data": (8, 16)}, **FEW)),
    *measured(nd.Zeros(inputs={"shape": (4, 4)}, **FEW)),
    *measured(nd.CustomOpElementwiseAdd(inputs={"data": (10, 1)}, **FEW)),
    *measured(nd.Concatenate(inputs={"data": [(4, 4), (4, 4)]}, **FEW)),
]
ones = nd.Multiply(inputs={**small, "initializer": array.ones})
subject = ones.declared.subject(in_process("cpu"), ones.inputs, mx.cpu())
report["filled"] = [float(one.asnumpy().sum()) for one in subject.bound.arguments]
fives, twos = array.full((2,), 5.0), array.full((2,), 2.0)
products = nd.Multiply(inputs={"lhs": fives, "rhs": twos, "initializer": array.ones}, **FEW)
whole = products.declared.subject(in_process("cpu"), products.inputs, mx.cpu())
joined = nd.Concatenate(inputs={"data": [array.ones((2, 2)), array.zeros((2, 2))], "axis": 0}, **FEW)
rows = joined.declared.subject(in_process("cpu"), joined.inputs, mx.cpu())
report["arrays"] = [
    *whole.bound.function(*whole.bound.arguments, **whole.bound.keywords).asnumpy().tolist(),
    twos.asnumpy().tolist(),
    rows.bound.function(*rows.bound.arguments, **rows.bound.keywords).asnumpy().ravel().tolist()[:4],
]
flat = gluon.Flatten(inputs={"data": array.ones((2, 3, 4))}, **FEW)
report["array_results"] = [key for one in (products, joined, flat) for key in measured(one)]
try:
    nd.Add(ctx="cpu")
except ValueError as error:
    report["ctx"] = str(error)
report["varying"] = {size: one.inputs["lhs"] for size, one in nd.Add.varying().items()}
product = nd.IMul(inputs={"this": (8, 8), "other": (8, 8)}, warmup=200, runs=200)
report["restored"] = measured(product)
whole = product.declared.subject(in_process("cpu"), product.inputs, mx.cpu())
this, other = (one.asnumpy().copy() for one in whole.bound.arguments)
in_process("cpu").measure(whole, "forward", warmup=20, runs=5)
report["once"] = float(abs(whole.bound.arguments[0].asnumpy() - this * other).max())
try:
    _ = nd.Addd
except AttributeError as error:
    report["no_class"] = str(error)
try:
    nd.run_all_powers_operations_benchmarks(inputs={"dat": (2, 2)})
except ValueError as error:
    report["unknown_to_all"] = str(error)

# What the original left empty, and every layer ------------------------------------------------------------------------
empty = ("conversion", "indexing", "join_split", "miscellaneous", "random_sampling", "reduction", "shape_change")
report["empty"] = {
    group: [len(measured(nd.CLASSES[name].varying(**FEW)["small"])) for name in ND[group].split() if name in nd.CLASSES]
    for group in empty
}
report["classes"] = {"nd": len(nd.CLASSES), "gluon": len(gluon.CLASSES)}
layers = {}
for name, one in gluon.CLASSES.items():
    layer = one(warmup=0, runs=1)
    layer.inputs |= {
        own: SMALL[len(shape)] for own, shape in layer.inputs.items() if own == "data" and len(shape) in SMALL
    }
    layers[name] = list(measured(layer))
report["layers"] = layers
report["in_groups"] = sorted(name for members in GLUON.values() for name in members.split())
report["hybrid"] = [*measured(gluon.Conv2DBatchNorm(inputs={"data": SMALL[4], "hybridize": True}, **FEW))]

# Runners and the driver -----------------------------------------------------------------------------------------------
told, failed = io.StringIO(), io.StringIO()
names = {"lhs": (8, 8), "rhs": (8, 8), "data": (8, 8), "base": (8, 8), "exp": (8, 8), "this": (8, 8), "other": (8, 8)}
with contextlib.redirect_stdout(told), contextlib.redirect_stderr(failed):
    report["arithmetic"] = nd.run_all_arithmetic_operations_benchmarks(inputs=names, **FEW)
    report["wrong"] = nd.run_all_gemm_operations_benchmarks(inputs={"lhs": (2, 3), "rhs": (4, 5)}, **FEW)
    for name in ("json", "md", "csv"):
        words = ["--category", "powers", "--output-format", name, "--warmup", "1", "--runs", "2"]
        report[f"{name}_code"] = benchmark_driver.main([*words, "--output-file", f"driven.{name}"])
        report[name] = Path(f"driven.{name}").read_text()
    report["refused"] = [
        benchmark_driver.main(["--category", *words])
        for words in (
            ["power"],
            ["powers", "--runs", "0"],
            ["powers", "--ctx", "gpu(9)"],
            ["powers", "--output-file", "no/such/folder.json"],
        )
    ]
    report["whole_layers"] = gluon.run_all_gluon_nn_basic_operations_benchmarks(
        inputs={"data": (8, 8), "dtype": "int32", "data_initializer": array.normal}, **FEW
    )
    with mock.patch.object(benchmark_executor, "choose", return_value=[nd.Square, gluon.Flatten]):
        report["every"] = benchmark_executor.run_all_mxnet_operator_benchmarks(mx.cpu(), {"data": (8, 8)}, **FEW)
report["told"], report["failed"] = told.getvalue(), failed.getvalue()

# A class of one's own -------------------------------------------------------------------------------------------------
lhs = own.get_mx_ndarray(mx.cpu(), (4, 4), "float32", array.ones)
rhs = own.get_mx_ndarray(mx.cpu(), [[2.0] * 4] * 4, "float32", None, attach_grad=False)
seconds, result = own.nd_forward_backward_and_time(F=array.add, runs=3, lhs=lhs, rhs=rhs)
report["own"] = [seconds > 0, float(result.asnumpy().sum()), lhs.grad is not None]

Path(sys.argv[1]).write_text(json.dumps(report))
