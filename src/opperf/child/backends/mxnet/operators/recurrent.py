"""MXNet's recurrent networks.

A cell is composed as Gluon's are; a layer is `nd.RNN`, which takes all weights as one vector, so that they are joined
at every call, as Gluon joins them.
"""

from __future__ import annotations

from typing import Any

from opperf.child.backends.call import Binding
from opperf.child.backends.mxnet.spelling import composed


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
    kept = F.sigmoid(update + update_hidden)
    found = F.tanh(candidate + F.sigmoid(reset + reset_hidden) * candidate_hidden)
    return (1.0 - kept) * found + kept * hidden


def layer(F: Any, data: Any, hidden: Any, *tensors: Any, mode: str, width: int, both_ways: bool = False) -> Any:
    """Join the weights and then the biases, as MXNet wants them, and run over the sequence."""
    states, weights = ((hidden, tensors[0]), tensors[1:]) if mode == "lstm" else ((hidden,), tensors)
    parts = [*weights[0:2], *weights[4:6], *weights[2:4], *weights[6:8]]
    joined = F.concat(*(F.reshape(part, shape=(-1,)) for part in parts), dim=0)
    return F.RNN(
        data, joined, *states, mode=mode, state_size=width, num_layers=1, bidirectional=both_ways, state_outputs=True
    )


def _products(F: Any, data: Any, hidden: Any, weights: tuple[Any, ...], rows: int) -> tuple[Any, Any]:
    of_input, of_hidden, bias_input, bias_hidden = weights
    return (
        F.FullyConnected(data, of_input, bias_input, num_hidden=rows),
        F.FullyConnected(hidden, of_hidden, bias_hidden, num_hidden=rows),
    )


WEIGHTS = "weight_input, weight_hidden, bias_input, bias_hidden"
WAY_BACK = "reverse_weight_input, reverse_weight_hidden, reverse_bias_input, reverse_bias_hidden"
WIDTH = {"width": lambda made: int(made["hidden"].shape[-1])}
PRODUCTS = "two nd.FullyConnected"

BINDINGS: dict[str, Binding] = {
    **{
        function.__name__: composed(
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
        name: composed(
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
