"""Torch operators with real extra work: 1 to 10 % more calls in a block, or more rows in an input.

More calls where a call is short: the new side makes 101 to 110 of them where the base makes 100, and both count
as 100, so the truth is exact. More rows where a call is long: inputs of so many hundred rows; what the extra rows
really cost is read from all pairs together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from opperf.catalog import operator
from opperf.domain.case import Case
from opperf.domain.tensor import TensorSpec

#: Calls of a block of the base where work is added by calls.
BLOCK_CALLS = 100


@dataclass(frozen=True)
class Workload:
    """A case, and which inputs grow by rows; none when work is added by calls."""

    name: str
    case: Case
    rows: tuple[str, ...] = ()

    def grown(self, factor: float) -> Case:
        """Return the case with more rows."""
        inputs = dict(self.case.inputs)
        for name in self.rows:
            first, *rest = self.case.tensor(name).shape
            inputs[name] = replace(self.case.tensor(name), shape=(round(first * factor), *rest))
        return replace(self.case, inputs=inputs)

    @property
    def by_calls(self) -> bool:
        """Whether work is added by calls."""
        return not self.rows


def _case(name: str, **shapes: tuple[int, ...]) -> Case:
    """Return the common case of an operator with some shapes of its own."""
    case = operator(name).case("common")
    inputs = {**case.inputs, **{key: TensorSpec(shape) for key, shape in shapes.items()}}
    return replace(case, inputs=inputs)


def _small(name: str) -> Workload:
    return Workload(f"{name} small", operator(name).case("small"))


#: From 3 us to 20 ms a call: short and cache-sized ones, where pairs spread most, and long ones.
WORKLOADS = (
    Workload("add 256x256", _case("add", lhs=(256, 256), rhs=(256, 256))),
    Workload("tanh 32x256", _case("tanh", data=(32, 256))),
    Workload("sigmoid 128x192", _case("sigmoid", data=(128, 192))),
    Workload("gelu 64x128", _case("gelu", data=(64, 128))),
    Workload("softmax 64x128", _case("softmax", data=(64, 128))),
    Workload("layer_norm 64x1024", _case("layer_norm", data=(64, 1024))),
    Workload("sum 160x1024", _case("sum", data=(160, 1024))),
    Workload("argmax 24x256", _case("argmax", data=(24, 256))),
    Workload("matmul 64x64x64", _case("matmul", lhs=(64, 64), rhs=(64, 64))),
    Workload("abs 256x256", _case("abs", data=(256, 256))),
    _small("conv2d"),
    Workload("add 1000x1024", _case("add", lhs=(1000, 1024), rhs=(1000, 1024)), ("lhs", "rhs")),
    Workload("gelu 500x1024", _case("gelu", data=(500, 1024)), ("data",)),
    Workload("exp 1000x1024", _case("exp", data=(1000, 1024)), ("data",)),
    Workload("softmax 1000x1024", _case("softmax", data=(1000, 1024)), ("data",)),
    Workload("layer_norm 1000x1024", _case("layer_norm", data=(1000, 1024)), ("data",)),
    Workload("matmul 400x512x512", _case("matmul", lhs=(400, 512), rhs=(512, 512)), ("lhs",)),
    Workload("conv2d 100x16x14x14", _case("conv2d", data=(100, 16, 14, 14), weight=(32, 16, 3, 3)), ("data",)),
    Workload("max_pool2d 100x16x28x28", _case("max_pool2d", data=(100, 16, 28, 28)), ("data",)),
    Workload("sort 400x1024", _case("sort", data=(400, 1024)), ("data",)),
)
