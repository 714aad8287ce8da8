"""Recurrent layers, sequences of unequal length, and segments in MXNet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mxnet as mx

from opperf.child.backends.binding import Binding, Missing, call
from opperf.child.backends.mxnet.spelling import CallSpec, Composition, composition

# MXNet's recurrent networks.
#
# A cell is composed as Gluon's are; a layer is `nd.RNN`, which takes all weights as one vector, so that they are joined
# at every call, as Gluon joins them.


def rnn_tanh_cell(F: Any, data: Any, hidden: Any, *weights: Any, width: int) -> Any:
    """Add both products, and take the hyperbolic tangent."""
    return F.tanh(F.elemwise_add(*_products(F, data, hidden, weights, width)))


def rnn_relu_cell(F: Any, data: Any, hidden: Any, *weights: Any, width: int) -> Any:
    """Add both products, and cut off at zero."""
    return F.relu(F.elemwise_add(*_products(F, data, hidden, weights, width)))


def lstm_cell(F: Any, data: Any, hidden: Any, cell: Any, *weights: Any, width: int) -> Any:
    """Add both products, and part them into gates."""
    gates = F.elemwise_add(*_products(F, data, hidden, weights, 4 * width))
    take, keep, candidate, give = F.SliceChannel(gates, num_outputs=4)
    cell = F.sigmoid(keep) * cell + F.sigmoid(take) * F.tanh(candidate)
    return [F.sigmoid(give) * F.tanh(cell), cell]


def gru_cell(F: Any, data: Any, hidden: Any, *weights: Any, width: int) -> Any:
    """Part both products into gates."""
    of_data, of_hidden = _products(F, data, hidden, weights, 3 * width)
    reset, update, candidate = F.SliceChannel(of_data, num_outputs=3)
    reset_hidden, update_hidden, candidate_hidden = F.SliceChannel(of_hidden, num_outputs=3)
    share = F.sigmoid(update + update_hidden)
    candidate_state = F.tanh(candidate + F.sigmoid(reset + reset_hidden) * candidate_hidden)
    return (1.0 - share) * candidate_state + share * hidden


def layer(F: Any, data: Any, hidden: Any, *tensors: Any, mode: str, width: int, both_ways: bool = False) -> Any:
    """Join the weights and then the biases, as MXNet wants them, and run over the sequence."""
    states, weights = ((hidden, tensors[0]), tensors[1:]) if mode == "lstm" else ((hidden,), tensors)
    parts = [*weights[0:2], *weights[4:6], *weights[2:4], *weights[6:8]]
    vector = F.concat(*(F.reshape(part, shape=(-1,)) for part in parts), dim=0)
    return F.RNN(
        data, vector, *states, mode=mode, state_size=width, num_layers=1, bidirectional=both_ways, state_outputs=True
    )


def _products(F: Any, data: Any, hidden: Any, weights: tuple[Any, ...], rows: int) -> tuple[Any, Any]:
    of_input, of_hidden, bias_input, bias_hidden = weights
    return (
        F.FullyConnected(data, of_input, bias_input, num_hidden=rows),
        F.FullyConnected(hidden, of_hidden, bias_hidden, num_hidden=rows),
    )


WEIGHTS = "weight_input, weight_hidden, bias_input, bias_hidden"
WAY_BACK = "reverse_weight_input, reverse_weight_hidden, reverse_bias_input, reverse_bias_hidden"
WIDTH = {"width": lambda arguments: int(arguments["hidden"].shape[-1])}
PRODUCTS = "two nd.FullyConnected"

_RECURRENT: dict[str, Binding] = {
    **{
        function.__name__: composition(
            function, f"data, {states}, {WEIGHTS}", "width=width", derive=WIDTH, note=f"{PRODUCTS}, {of}, composed"
        )
        for function, states, of in (
            (rnn_tanh_cell, "hidden", "a sum and nd.tanh"),
            (rnn_relu_cell, "hidden", "a sum and nd.relu"),
            (lstm_cell, "hidden, cell", "nd.SliceChannel and the functions of the gates"),
            (gru_cell, "hidden", "two nd.SliceChannel and the functions of the gates"),
        )
    },
    **{
        name: composition(
            layer,
            f"data, {tensors}",
            f"width=width, {settings}",
            derive=WIDTH,
            note="nd.RNN, the weights joined by nd.concat at each call",
        )
        for name, tensors, settings in (
            ("rnn", f"hidden, {WEIGHTS}", "mode='rnn_tanh'"),
            ("lstm", f"hidden, cell, {WEIGHTS}", "mode='lstm'"),
            ("gru", f"hidden, {WEIGHTS}", "mode='gru'"),
            ("bidirectional_lstm", f"hidden, cell, {WEIGHTS}, {WAY_BACK}", "mode='lstm', both_ways=True"),
        )
    },
}


# MXNet's operators for sequences of unequal length.

WITH_LENGTHS = "use_sequence_length=True"

_SEQUENCE: dict[str, Binding] = {
    "sequence_mask": call("nd.SequenceMask", "data, lengths", f"{WITH_LENGTHS}, value=value"),
    "sequence_reverse": call("nd.SequenceReverse", "data, lengths", WITH_LENGTHS),
    "sequence_last": call("nd.SequenceLast", "data, lengths", WITH_LENGTHS),
}


# MXNet's sums and counts by index.

GREATEST = Missing("MXNet sums at indices, but cannot take the maximum there")


def segment_sum(F: Any, data: Any, points: Any, *, shape: tuple[int, ...]) -> Any:
    """Sum the rows at their points, as the gradient of a gather does."""
    return F._internal._backward_gather_nd(data, points, shape=shape)


def segment_mean(F: Any, data: Any, points: Any, ones: Any, *, shape: tuple[int, ...]) -> Any:
    """Sum the rows at their points, and divide by how many there are."""
    counts = F._internal._backward_gather_nd(ones, points, shape=(shape[0], 1))
    return F.broadcast_div(segment_sum(F, data, points, shape=shape), F.clip(counts, a_min=1, a_max=float("inf")))


def index_add(F: Any, data: Any, points: Any, updates: Any, *, shape: tuple[int, ...]) -> Any:
    """Sum the updates at their points, and add that to the data."""
    return data + F._internal._backward_gather_nd(updates, points, shape=shape)


def _sum(data: Any, segments: Any, count: int) -> CallSpec:
    return Composition(segment_sum), (data, _points(segments)), {"shape": (count, data.shape[1])}


def _mean(data: Any, segments: Any, count: int) -> CallSpec:
    ones = mx.nd.ones((data.shape[0], 1), ctx=data.context, dtype=data.dtype)
    return Composition(segment_mean), (data, _points(segments), ones), {"shape": (count, data.shape[1])}


def _add(data: Any, indices: Any, updates: Any) -> CallSpec:
    return Composition(index_add), (data, _points(indices), updates), {"shape": data.shape}


def _points(indices: Any) -> Any:
    return indices.reshape((1, -1))


def _range(case: Mapping[str, Any]) -> tuple[float, float]:
    return float(case["low"]), float(case["high"])


SEGMENTS = "data, segments, count"

_SEGMENT: dict[str, Binding] = {
    "segment_sum": composition(
        segment_sum, SEGMENTS, note="nd._internal._backward_gather_nd, which sums rows at points", settle=_sum
    ),
    "segment_mean": composition(
        segment_mean,
        SEGMENTS,
        note="nd._internal._backward_gather_nd sums rows and ones at points; nd.clip and nd.broadcast_div",
        settle=_mean,
    ),
    "segment_max": GREATEST,
    "index_add": composition(
        index_add,
        "data, indices, updates",
        note="nd._internal._backward_gather_nd sums the updates at points, and a sum adds the data",
        settle=_add,
    ),
    "scatter_reduce_amax": GREATEST,
    "bincount": call("np.bincount", "x=data", "minlength=count"),
    "histogram": call("nd.histogram", "data", "bins=bins, range=range", derive={"range": _range}),
    "searchsorted": Missing("MXNet's own operators do not search; `np.searchsorted` is NumPy's, on a copy of the data"),
}


BINDINGS: dict[str, Binding] = {**_RECURRENT, **_SEQUENCE, **_SEGMENT}
