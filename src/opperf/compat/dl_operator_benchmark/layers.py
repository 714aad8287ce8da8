"""Layers and losses of Gluon as benchmarks: a block is built, given its data once, and measured as it is called."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import mxnet as mx

from opperf.compat.cell_states import states_of
from opperf.compat.in_process import InProcess, Subject
from opperf.domain.dataclass import dataclass
from opperf.domain.tensor import TensorSpec, parse_dtype


@dataclass(frozen=True)
class Layer:
    """A block: `build` takes the attributes in `attributes`, and the block the arrays in `data`.

    `title` follows `Gluon_Imperative_`, or `Gluon_Hybrid_` for a hybridized block, in the result's key.
    `fill` are the initializers of the arrays where they are not normal; no gradient flows to those in `fixed`.
    """

    title: str
    build: Callable[..., Any]
    data: Mapping[str, tuple[int, ...]]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    fill: Mapping[str, Any] = field(default_factory=dict)
    fixed: tuple[str, ...] = ("label",)
    backward: bool = True
    hybrid: bool = True

    @property
    def summary(self) -> str:
        """What is computed."""
        return f"Gluon's {self.title}"

    def key(self, parameters: Mapping[str, Any], direction: str) -> str:
        """Return the key of a result."""
        mode = "Hybrid" if parameters.get("hybridize") else "Imperative"
        return f"MX_Gluon_{mode}_{self.title}_{direction.title()}_Time"

    def parameters(self) -> dict[str, Any]:
        """Return shapes of data, how they are filled, and what the block is built with."""
        result: dict[str, Any] = {}
        for name, shape in self.data.items():
            result |= {name: shape, f"{name}_initializer": self.fill.get(name, mx.nd.normal)}
        hybrid = {"hybridize": False} if self.hybrid else {}
        return {**result, **self.attributes, **hybrid, "run_backward": self.backward, "dtype": "float32"}

    def subject(self, here: InProcess, parameters: Mapping[str, Any], context: Any) -> Subject:
        """Return the subject: a call of the block; gradients flow to its data and to its weights."""
        block = self.build(**{name: parameters[name] for name in self.attributes})
        block.initialize(ctx=context)
        block.cast(parse_dtype(str(parameters["dtype"])))
        if parameters.get("hybridize"):
            block.hybridize(static_alloc=True, static_shape=True)
        arrays = {name: fill_parameter(here, name, parameters, context) for name in self.data}
        arguments: list[Any] = list(arrays.values())
        arguments += states_of(block, arguments[0], context)
        block(*arguments)  # the shapes of weights are known after this
        weights = [
            parameter.data(context) for parameter in block.collect_params().values() if parameter.grad_req != "null"
        ]
        data = [array for name, array in arrays.items() if name not in self.fixed]
        return here.of_function(
            block, arguments, differentiable=[*data, *weights], training=bool(parameters["run_backward"])
        )


def fill_parameter(here: InProcess, name: str, parameters: Mapping[str, Any], context: Any) -> Any:
    """Return the array that a parameter gives the shape of, and `NAME_initializer` the values; a copy of an array."""
    value, initializer = parameters[name], parameters[f"{name}_initializer"]
    dtype = parse_dtype(str(parameters["dtype"]))
    if isinstance(value, mx.nd.NDArray):
        return value.astype(dtype).as_in_context(context)
    if initializer is not mx.nd.normal:
        return initializer(shape=tuple(value), ctx=context, dtype=dtype)
    spec = TensorSpec(tuple(value), dtype)  # no whole number is normal
    return here.tensor(replace(spec, values="normal") if spec.is_float else spec, name)


def indices(shape: tuple[int, ...], ctx: Any, dtype: str) -> Any:
    """Return row numbers below 1000, far apart from each other."""
    count = math.prod(shape)
    return (mx.nd.arange(count, ctx=ctx) * 389 % 1000).reshape(shape).astype(dtype)


def activation(kind: str) -> Callable[..., Any]:
    """Return a builder of the block of an activation without attributes."""
    return lambda: mx.gluon.nn.Activation(kind)


def batchify() -> Any:
    """Return a block that makes a batch of one of its data."""
    return mx.gluon.nn.Lambda(lambda data: mx.nd.expand_dims(data, axis=0))


def convolution_batch_norm(**settings: Any) -> Any:
    """Return a convolution followed by a batch norm."""
    return _sequence([mx.gluon.nn.Conv2D(**settings), mx.gluon.nn.BatchNorm()])


def convolution_batch_norm_relu(**settings: Any) -> Any:
    """Return a convolution followed by a batch norm and a relu."""
    return _sequence([mx.gluon.nn.Conv2D(**settings), mx.gluon.nn.BatchNorm(), mx.gluon.nn.Activation("relu")])


def sequential_cells(hidden_size: int) -> Any:
    """Return two LSTM cells in sequence."""
    cells = mx.gluon.rnn.HybridSequentialRNNCell()
    for _ in range(2):
        cells.add(mx.gluon.rnn.LSTMCell(hidden_size))
    return cells


def zoneout_cell(hidden_size: int, zoneout_states: float) -> Any:
    """Return an LSTM cell that keeps a share of its states.

    Outputs are not kept: a cell remembers those of its last call, and the gradients of all calls would hang together.
    """
    return mx.gluon.rnn.ZoneoutCell(mx.gluon.rnn.LSTMCell(hidden_size), zoneout_states=zoneout_states)


def residual_cell(hidden_size: int) -> Any:
    """Return an LSTM cell that adds its data to its output, so that both have the same width."""
    return mx.gluon.rnn.ResidualCell(mx.gluon.rnn.LSTMCell(hidden_size))


def bidirectional_cell(hidden_size: int) -> Any:
    """Return a cell of LSTM for each direction; a sequence is what they can be called with."""
    cell = mx.gluon.rnn.LSTMCell
    return UnrolledCell(mx.gluon.rnn.BidirectionalCell(cell(hidden_size), cell(hidden_size)))


class UnrolledCell(mx.gluon.Block):  # type: ignore[misc]
    """A cell that is called for each step of a sequence, which is the first dimension of the data."""

    def __init__(self, cell: Any) -> None:
        super().__init__()
        self.cell = cell

    def forward(self, data: Any) -> Any:
        """Return the output of every step."""
        outputs, _ = self.cell.unroll(data.shape[0], data, layout="TNC", merge_outputs=True)
        return outputs


def _sequence(blocks: Sequence[Any]) -> Any:
    whole = mx.gluon.nn.HybridSequential()
    whole.add(*blocks)
    return whole
