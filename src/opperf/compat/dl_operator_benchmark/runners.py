"""`run_all_..._operations_benchmarks`: the original's groups, those that it left empty, and the fused ones.

A runner prints each result and returns all of them. A failing operator is reported on stderr, and the rest goes on.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from opperf.catalog import catalog
from opperf.child.worker.failures import failure
from opperf.compat.dl_operator_benchmark.benchmark import RUNS, WARMUP, OperatorBenchmark
from opperf.compat.dl_operator_benchmark.operators import class_name
from opperf.domain.errors import check_known, unknown
from opperf.domain.plan import Settings


def _category(*names: str, without: str = "") -> str:
    """Return the classes of whole categories of the catalog."""
    left_out = without.split()
    return " ".join(
        class_name(name) for name, operator in catalog().items() if operator.category in names and name not in left_out
    )


#: The original's groups on arrays; the last seven it named and left empty.
ND = {
    "tensor_creation": "Zeros Ones ZerosLike OnesLike Full Arange",
    "arithmetic": "Add Subtract Multiply Divide Modulo Power Negative IAdd ISub IMul IDiv IMod",
    "comparison": "Lesser LesserEqual Greater GreaterEqual Equal NotEqual",
    "exponential_and_log": "Log Exp",
    "powers": "Sqrt Square",
    "logical_comparison": "LogicalAnd LogicalOr LogicalXor LogicalNot",
    "sort_and_search": "Sort ArgSort TopK ArgMax ArgMin",
    "gemm": "Dot BatchDot",
    "conversion": _category("conversion") + " Cast Copy",
    "indexing": _category("indexing", without="where") + " OneHot",
    "join_split": _category("join_split"),
    "miscellaneous": "Clip Where Abs",
    "random_sampling": _category("random"),
    "reduction": _category("reduction", without="argmax argmin"),
    "shape_change": _category("shape", without="cast copy"),
}
GLUON = {
    "gluon_nn_basic": "Dense Flatten Lambda Embedding",
    "gluon_nn_activation": "LeakyRelu PRelu Sigmoid Softmax LogSoftmax Tanh Elu Selu Swish",
    "gluon_nn_convolution": "Conv2D Conv2DTranspose Conv1D Conv1DTranspose Conv3D Conv3DTranspose",
    "gluon_nn_pooling": """
        MaxPool1D MaxPool2D MaxPool3D AvgPool1D AvgPool2D AvgPool3D GlobalMaxPool1D GlobalMaxPool2D GlobalMaxPool3D
        GlobalAvgPool1D GlobalAvgPool2D GlobalAvgPool3D
    """,
    "gluon_normalization": "Dropout BatchNorm InstanceNorm LayerNorm GroupNorm",
    "gluon_recurrent": """
        RNN LSTM GRU RNNCell LSTMCell GRUCell SequentialRNNCell BidirectionalCell DropoutCell ZoneoutCell ResidualCell
    """,
    "gluon_nn_loss": """
        L1Loss L2Loss SigmoidBinaryCrossEntropyLoss SoftmaxCrossEntropyLoss KLDivLoss HuberLoss HingeLoss
        SquaredHingeLoss LogisticLoss TripletLoss CTCLoss CosineEmbeddingLoss PoissonNLLLoss
    """,
    "gluon_fused": "Conv2DRelu Conv2DBatchNorm Conv2DBatchNormRelu",
}
CUSTOM = {"customop": "CustomOpElementwiseAdd"}


def choose(
    groups: Sequence[str] | None, arrays: Mapping[str, type[OperatorBenchmark]], layers: Mapping[str, Any]
) -> list[type[OperatorBenchmark]]:
    """Return the classes of some groups, of all where none is named; raises `InputError` for one that is not there."""
    categories = {**ND, **CUSTOM, **GLUON}
    for group in groups or ():
        check_known("category", group, categories)
    classes_in_order: dict[type[OperatorBenchmark], None] = {}
    for group in groups or categories:
        place = layers if group in GLUON else arrays
        classes_in_order |= dict.fromkeys(place[name] for name in categories[group].split() if name in place)
    return list(classes_in_order)


def runners(groups: Mapping[str, str], classes: Mapping[str, type[OperatorBenchmark]]) -> dict[str, Callable[..., Any]]:
    """Return a function for each group; members that this MXNet lacks are left out."""
    result = {}
    for group, members in groups.items():
        available = [classes[name] for name in members.split() if name in classes]
        name = f"run_{'' if group in CUSTOM else 'all_'}{group}_operations_benchmarks"
        result[name] = _runner(name, available)
    return result


def _runner(name: str, classes: Sequence[type[OperatorBenchmark]]) -> Callable[..., Any]:
    def run(
        ctx: Any = None, inputs: Mapping[str, Any] | None = None, warmup: int = WARMUP, runs: int = RUNS
    ) -> list[dict[str, float]]:
        return list(measure_classes(classes, ctx, inputs or {}, warmup=warmup, runs=runs))

    run.__name__ = name
    run.__doc__ = f"Run {', '.join(one.__name__ for one in classes)}; `inputs` go to those that have such a parameter."
    return run


def attributes(members: Mapping[str, Any]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a module with these members; it tells the names near one that is not there."""

    def member(name: str) -> Any:
        if name not in members:
            raise AttributeError(str(unknown("operator", name, members)))
        return members[name]

    return member


def measure_classes(
    classes: Sequence[type[OperatorBenchmark]], ctx: Any, inputs: Mapping[str, Any], *, warmup: int, runs: int
) -> Iterator[dict[str, float]]:
    """Print and yield the results of each class; failures are reported on stderr.

    Raises `ValueError` for inputs that none of them has, `InputError` for numbers that cannot be.
    """
    Settings(warmup=warmup, runs=runs)  # raises
    parameters = {name: None for one in classes for name in one.declared.parameters()}
    for name in inputs:
        if name not in parameters:
            raise ValueError(str(unknown("input", name, parameters)))
    for operator_class in classes:
        try:
            benchmark = operator_class(ctx=ctx, warmup=warmup, runs=runs)
            benchmark.inputs |= {name: value for name, value in inputs.items() if name in benchmark.inputs}
            benchmark.run_benchmark()
        except Exception as error:  # whatever MXNet and its Python raise: the operator's own, and it ends nothing else
            print(f"{operator_class.__name__} failed: {failure(error).reason.message}", file=sys.stderr)
            continue
        benchmark.print_benchmark_results()
        yield benchmark.get_benchmark_results()
