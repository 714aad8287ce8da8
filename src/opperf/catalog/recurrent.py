"""Recurrent layers, sequences of unequal length, and segments."""

from __future__ import annotations

from collections.abc import Mapping

from opperf.catalog.definition import Arguments, Formula, Operator, Outputs, elements
from opperf.catalog.formulas import ELEMENTWISE, counted_rows, each, indices, like, none, row, same, whole
from opperf.domain.case import Argument, Case
from opperf.domain.errors import InputError
from opperf.domain.tensor import TensorSpec

# Recurrent networks: a cell is one step of a batch, a layer all steps of a sequence (time, batch, features).
#
# Weights are (gates x hidden, features), gates one below the other: input, forget, candidate, output of an LSTM; reset,
# update, candidate of a GRU, which resets the product of hidden state and weight. An LSTM's cell state becomes forget
# times cell plus input times candidate, the hidden state output times its tanh. A GRU's hidden state becomes (1 -
# update) candidate + update hidden.
#
# Operations: two products of multiply-adds at each step, where biases are what the sums start from; one for each gate's
# function; and the arithmetic of the states (5 for an LSTM, 5 for a GRU).

#: Gates of each kind, and operations of one hidden element at one step beside the products.
KINDS = {"rnn": (1, 1), "lstm": (4, 9), "gru": (3, 8)}
#: (batch, features, hidden); skewed is a single sample, for which weights are all that is read.
CELLS = {"small": (2, 16, 16), "common": (32, 256, 256), "large": (256, 1024, 1024), "skewed": (1, 64, 2048)}
#: (time, batch, features, hidden); skewed is a long sequence through a small network.
LAYERS = {
    "small": (4, 2, 16, 16),
    "common": (32, 16, 128, 128),
    "large": (64, 32, 512, 512),
    "skewed": (1000, 1, 32, 32),
}
#: Small enough that gates do not saturate.
WEIGHTS = (-0.2, 0.2)


def _weights(kind: str, features: int, hidden: int, prefix: str = "") -> dict[str, TensorSpec]:
    rows = KINDS[kind][0] * hidden
    return {
        f"{prefix}weight_input": TensorSpec((rows, features), range=WEIGHTS),
        f"{prefix}weight_hidden": TensorSpec((rows, hidden), range=WEIGHTS),
        f"{prefix}bias_input": TensorSpec((rows,), range=WEIGHTS),
        f"{prefix}bias_hidden": TensorSpec((rows,), range=WEIGHTS),
    }


def _meet(case: Case) -> None:
    data, weight = case.tensor("data"), case.tensor("weight_input")
    if data.shape[-1] != weight.shape[-1]:
        raise InputError(
            f"`{case.operator}`: the data has {data.shape[-1]} features, and the weight takes {weight.shape[-1]}"
        )


def _states(kind: str) -> tuple[str, ...]:
    return ("hidden", "cell") if kind == "lstm" else ("hidden",)


def _step(kind: str) -> Outputs:
    def outputs(case: Case) -> tuple[TensorSpec, ...]:
        _meet(case)
        return tuple(like(case.tensor(state)) for state in _states(kind))

    return outputs


def _unroll(kind: str) -> Outputs:
    def outputs(case: Case) -> tuple[TensorSpec, ...]:
        _meet(case)
        data, hidden = case.tensor("data"), case.tensor("hidden")
        both_ways = like(data, (*data.shape[:2], hidden.shape[0] * hidden.shape[2]))
        return (both_ways, *(like(case.tensor(state)) for state in _states(kind)))

    return outputs


def _work(kind: str) -> Formula:
    """Return the operations of every step: all of the data but its features is steps and samples."""
    gates, rest = KINDS[kind]

    def flops(case: Case) -> int:
        data, hidden = case.tensor("data"), case.tensor("hidden")
        directions = hidden.shape[0] if len(hidden.shape) == 3 else 1
        features, width = data.shape[-1], hidden.shape[-1]
        steps = data.elements // features
        return directions * steps * width * (2 * gates * (features + width) + rest)

    return flops


def _recurrent(
    name: str, summary: str, kind: str, sizes: Mapping[str, Arguments], outputs: Outputs, aliases: tuple[str, ...] = ()
) -> Operator:
    roles = tuple(sizes["common"])
    return Operator(name, "recurrent", summary, sizes, outputs, _work(kind), differentiable=roles, aliases=aliases)


def _cell(name: str, summary: str, kind: str) -> Operator:
    sizes = {
        size: {
            "data": TensorSpec((batch, features)),
            **{state: TensorSpec((batch, hidden)) for state in _states(kind)},
            **_weights(kind, features, hidden),
        }
        for size, (batch, features, hidden) in CELLS.items()
    }
    return _recurrent(name, summary, kind, sizes, _step(kind))


def _layer(name: str, summary: str, kind: str, *, both_ways: bool = False, aliases: tuple[str, ...] = ()) -> Operator:
    sizes = {
        size: {
            "data": TensorSpec((time, batch, features)),
            **{state: TensorSpec((1 + both_ways, batch, hidden)) for state in _states(kind)},
            **_weights(kind, features, hidden),
            **(_weights(kind, features, hidden, "reverse_") if both_ways else {}),
        }
        for size, (time, batch, features, hidden) in LAYERS.items()
    }
    return _recurrent(name, summary, kind, sizes, _unroll(kind), aliases)


_RECURRENT = (
    _cell("rnn_tanh_cell", "one step of a plain recurrent network with tanh", "rnn"),
    _cell("rnn_relu_cell", "one step of a plain recurrent network with relu", "rnn"),
    _cell("lstm_cell", "one step of a long short-term memory: hidden and cell state", "lstm"),
    _cell("gru_cell", "one step of a gated recurrent unit", "gru"),
    _layer("rnn", "a sequence through a plain recurrent network with tanh: every step, and the last state", "rnn"),
    _layer("lstm", "a sequence through a long short-term memory: every step, and the last states", "lstm"),
    _layer("gru", "a sequence through a gated recurrent unit: every step, and the last state", "gru"),
    _layer(
        "bidirectional_lstm",
        "a sequence through two long short-term memories, one forwards and one backwards",
        "lstm",
        both_ways=True,
        aliases=("bilstm",),
    ),
)


# Batches of sequences of unequal length: data is (length, batch, width), and each sequence has its own length.
#
# Moving data is no arithmetic: zero operations.

_Shape = tuple[int, int, int]

#: (length, batch, width): skewed are few long sequences of short rows.
SHAPES: dict[str, _Shape] = {
    "small": (8, 4, 16),
    "common": (128, 32, 256),
    "large": (512, 64, 512),
    "skewed": (10_000, 4, 10),
}


def _sequence(
    name: str, summary: str, outputs: Outputs, reads: tuple[str, ...] | None = None, **attributes: Argument
) -> Operator:
    def arguments(shape: _Shape) -> Arguments:
        length, batch, _ = shape
        lengths = TensorSpec((batch,), "int64", range=(1, length + 1))
        return {"data": TensorSpec(shape), "lengths": lengths, **attributes}

    sizes = {size: arguments(shape) for size, shape in SHAPES.items()}
    return Operator(name, "sequence", summary, sizes, outputs, none, differentiable=("data",), reads=reads)


_SEQUENCE = (
    _sequence(
        "sequence_mask", "each sequence with everything beyond its length replaced by `value`", same(), value=0.0
    ),
    _sequence("sequence_reverse", "each sequence in reverse order; what lies beyond its length stays in place", same()),
    _sequence("sequence_last", "the last row of each sequence", row, reads=("lengths",)),
)


# Elements brought together by an index that says where each belongs: sums, means, greatest, counts.
#
# One operation for each element that is placed; a mean has one more for each element of the result, a histogram two for
# the place of each. A search takes a comparison for each halving of the sequence. Counting is one operation each.

_segment_Shape = tuple[int, ...]

#: (rows, width, segments): a graph's messages to its nodes; skewed has short rows in many segments.
SEGMENTS = {
    "small": (64, 16, 8),
    "common": (8192, 64, 1024),
    "large": (65_536, 128, 16_384),
    "skewed": (100_000, 10, 50_000),
}
#: (elements, places)
COUNTS = {"small": (1024, 16), "common": (100_000, 256), "large": (4_000_000, 1024), "skewed": (100_000, 65_536)}
#: (sorted elements, values to find)
SEARCHES = {"small": (64, 64), "common": (65_536, 65_536), "large": (1_000_000, 4_000_000), "skewed": (4_000_000, 1000)}
#: Every update has an index of its own of 8 bytes, and random access is slow: smaller than elsewhere.
POINTWISE = {**ELEMENTWISE, "large": (2048, 2048)}


def _mean_flops(case: Case) -> int:
    return case.tensor("data").elements + elements(counted_rows(case))


def _segment(name: str, summary: str, flops: Formula) -> Operator:
    def arguments(rows: int, width: int, count: int) -> Arguments:
        return {"data": TensorSpec((rows, width)), "segments": indices((rows,), count), "count": count}

    sizes = {size: arguments(*numbers) for size, numbers in SEGMENTS.items()}
    return Operator(name, "segment", summary, sizes, counted_rows, flops, differentiable=("data",))


def _place(name: str, summary: str, sizes: Mapping[str, Arguments]) -> Operator:
    return Operator(name, "segment", summary, sizes, same(), each(1, "updates"), differentiable=("data", "updates"))


def _pointwise(shape: _segment_Shape) -> Arguments:
    tensors = {"data": TensorSpec(shape), "indices": indices(shape, shape[0]), "updates": TensorSpec(shape)}
    return {**tensors, "axis": 0}


def _rows(rows: int, width: int, count: int) -> Arguments:
    return {
        "data": TensorSpec((count, width)),
        "indices": indices((rows,), count),
        "updates": TensorSpec((rows, width)),
    }


def _histogram(count: int, bins: int) -> dict[str, Argument]:
    return {"data": TensorSpec((count,)), "bins": bins, "low": -1.0, "high": 1.0}


def _find(case: Case) -> tuple[TensorSpec, ...]:
    return (TensorSpec(case.tensor("values").shape, "int64"),)


def _search_flops(case: Case) -> int:
    return case.tensor("values").elements * case.tensor("data").elements.bit_length()


_SEGMENT = (
    _segment("segment_sum", "the sum of the rows of each of `count` segments; zero for empty ones", each(1)),
    _segment("segment_mean", "the mean of the rows of each of `count` segments; zero for empty ones", _mean_flops),
    _segment("segment_max", "the maximum of the rows of each of `count` segments; -infinity for empty ones", each(1)),
    _place(
        "index_add",
        "a copy of the data with each row of the updates added at its index",
        {size: _rows(*numbers) for size, numbers in SEGMENTS.items()},
    ),
    _place(
        "scatter_reduce_amax",
        "the maximum of the data and the updates at their indices along `axis`",
        {size: _pointwise(shape) for size, shape in POINTWISE.items()},
    ),
    Operator(
        "bincount",
        "segment",
        "how often each integer below `count` occurs",
        sizes={
            size: {"data": indices((number,), places), "count": places} for size, (number, places) in COUNTS.items()
        },
        outputs=lambda case: (TensorSpec((whole(case, "count"),), "int64"),),
        flops=each(1),
    ),
    Operator(
        "histogram",
        "segment",
        "how many elements lie in each of `bins` equal bins from `low` to `high`",
        sizes={size: _histogram(*numbers) for size, numbers in COUNTS.items()},
        outputs=lambda case: (TensorSpec((whole(case, "bins"),), "int64"),),
        flops=each(3),
        rough=True,
    ),
    Operator(
        "searchsorted",
        "segment",
        "the index at which each value would be inserted into sorted data",
        sizes={
            size: {"data": TensorSpec((count,)), "values": TensorSpec((values,))}
            for size, (count, values) in SEARCHES.items()
        },
        outputs=_find,
        flops=_search_flops,
    ),
)


OPERATORS = (*_RECURRENT, *_SEQUENCE, *_SEGMENT)
