"""Recurrent layers, sequences of unequal length, and segments in MXNet."""

from __future__ import annotations

from typing import Any

import mxnet as mx

from opperf.child.backends.arrays.compositions import histogram_range
from opperf.child.backends.arrays.recurrent import CELLS, LAYERS, gru_step, lstm_step
from opperf.child.backends.binding import Binding, Missing, call
from opperf.child.backends.mxnet.spelling import CallSpec, Composition, composition, extent

# MXNet's recurrent networks.
#
# A cell is composed as Gluon's are; a layer is `nd.RNN`, which takes all weights as one vector, so that they are joined
# at every call, as Gluon joins them.


def rnn_tanh_cell(F: Any, data: Any, hidden: Any, *weights: Any, width: int) -> Any:
    return F.tanh(F.elemwise_add(*_products(F, data, hidden, weights, width)))


def rnn_relu_cell(F: Any, data: Any, hidden: Any, *weights: Any, width: int) -> Any:
    return F.relu(F.elemwise_add(*_products(F, data, hidden, weights, width)))


def lstm_cell(F: Any, data: Any, hidden: Any, cell: Any, *weights: Any, width: int) -> Any:
    gates = F.elemwise_add(*_products(F, data, hidden, weights, 4 * width))
    return list(lstm_step(F.SliceChannel(gates, num_outputs=4), cell, F.sigmoid, F.tanh))


def gru_cell(F: Any, data: Any, hidden: Any, *weights: Any, width: int) -> Any:
    of_data, of_hidden = (
        F.SliceChannel(rows, num_outputs=3) for rows in _products(F, data, hidden, weights, 3 * width)
    )
    return gru_step(of_data, of_hidden, hidden, F.sigmoid, F.tanh)


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


WIDTH = {"width": extent("hidden", -1)}
PRODUCTS = "two nd.FullyConnected"
MODES = {
    "rnn": "mode='rnn_tanh'",
    "lstm": "mode='lstm'",
    "gru": "mode='gru'",
    "bidirectional_lstm": "mode='lstm', both_ways=True",
}


# MXNet's operators for sequences of unequal length.

WITH_LENGTHS = "use_sequence_length=True"


# MXNet's sums and counts by index.

GREATEST = Missing("MXNet sums at indices, but cannot take the maximum there")


def segment_sum(F: Any, data: Any, points: Any, *, shape: tuple[int, ...]) -> Any:
    """Sum the rows at their points, as the gradient of a gather does."""
    return F._internal._backward_gather_nd(data, points, shape=shape)


def segment_mean(F: Any, data: Any, points: Any, ones: Any, *, shape: tuple[int, ...]) -> Any:
    counts = F._internal._backward_gather_nd(ones, points, shape=(shape[0], 1))
    return F.broadcast_div(segment_sum(F, data, points, shape=shape), F.clip(counts, a_min=1, a_max=float("inf")))


def index_add(F: Any, data: Any, points: Any, updates: Any, *, shape: tuple[int, ...]) -> Any:
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


SEGMENTS = "data, segments, count"


BINDINGS: dict[str, Binding] = {
    **{
        function.__name__: composition(
            function,
            f"data, {CELLS[function.__name__]}",
            "width=width",
            derive=WIDTH,
            note=f"{PRODUCTS}, {of}, composed",
        )
        for function, of in (
            (rnn_tanh_cell, "a sum and nd.tanh"),
            (rnn_relu_cell, "a sum and nd.relu"),
            (lstm_cell, "nd.SliceChannel and the functions of the gates"),
            (gru_cell, "two nd.SliceChannel and the functions of the gates"),
        )
    },
    **{
        name: composition(
            layer,
            f"data, {tensors}",
            f"width=width, {MODES[name]}",
            derive=WIDTH,
            note="nd.RNN, the weights joined by nd.concat at each call",
        )
        for name, tensors in LAYERS.items()
    },
    "sequence_mask": call("nd.SequenceMask", "data, lengths", f"{WITH_LENGTHS}, value=value"),
    "sequence_reverse": call("nd.SequenceReverse", "data, lengths", WITH_LENGTHS),
    "sequence_last": call("nd.SequenceLast", "data, lengths", WITH_LENGTHS),
    "segment_sum": composition(
        segment_sum, note="nd._internal._backward_gather_nd, which sums rows at points", settle=_sum
    ),
    "segment_mean": composition(
        segment_mean,
        note="nd._internal._backward_gather_nd sums rows and ones at points; nd.clip and nd.broadcast_div",
        settle=_mean,
    ),
    "segment_max": GREATEST,
    "index_add": composition(
        index_add,
        note="nd._internal._backward_gather_nd sums the updates at points, and a sum adds the data",
        settle=_add,
    ),
    "scatter_reduce_amax": GREATEST,
    "bincount": call("np.bincount", "x=data", "minlength=count"),
    "histogram": call("nd.histogram", "data", "bins=bins, range=range", derive={"range": histogram_range}),
    "searchsorted": Missing("MXNet's own operators do not search; `np.searchsorted` is NumPy's, on a copy of the data"),
}
