"""Recurrent networks: outputs of cells and layers, and operations counted by hand."""

from __future__ import annotations

import pytest
from tests.each import each

from opperf.catalog import operator
from opperf.domain.case import Argument
from opperf.domain.errors import InputError
from opperf.domain.tensor import TensorSpec

#: Small cells have 2 samples, 16 features and 16 hidden elements; small layers 4 steps of them.
PRODUCTS = 2 * 16 * 2 * (16 + 16)


def shapes(name: str) -> list[tuple[int, ...]]:
    return [tensor.shape for tensor in operator(name).outputs(operator(name).case("small"))]


@each(
    ("name", "expected"),
    [
        ("rnn_tanh_cell", [(2, 16)]),
        ("rnn_relu_cell", [(2, 16)]),
        ("lstm_cell", [(2, 16), (2, 16)]),
        ("gru_cell", [(2, 16)]),
        ("rnn", [(4, 2, 16), (1, 2, 16)]),
        ("lstm", [(4, 2, 16), (1, 2, 16), (1, 2, 16)]),
        ("gru", [(4, 2, 16), (1, 2, 16)]),
        ("bidirectional_lstm", [(4, 2, 32), (2, 2, 16), (2, 2, 16)]),
    ],
)
def test_a_step_gives_the_states_and_a_sequence_every_step_before_them(
    name: str, expected: list[tuple[int, ...]]
) -> None:
    assert shapes(name) == expected


@each(
    ("name", "operations"),
    [
        ("rnn_tanh_cell", PRODUCTS + 32),
        ("lstm_cell", 4 * PRODUCTS + 9 * 32),
        ("gru_cell", 3 * PRODUCTS + 8 * 32),
        ("rnn", 4 * (PRODUCTS + 32)),
        ("lstm", 4 * (4 * PRODUCTS + 9 * 32)),
        ("bidirectional_lstm", 8 * (4 * PRODUCTS + 9 * 32)),
    ],
)
def test_operations_are_two_products_for_each_gate_and_the_arithmetic_of_states(name: str, operations: int) -> None:
    assert operator(name).flops(operator(name).case("small")) == operations


def test_a_gradient_flows_to_data_states_and_every_weight() -> None:
    lstm = operator("bidirectional_lstm")
    assert lstm.differentiable == lstm.inputs
    assert len(lstm.inputs) == 11


def test_features_that_do_not_meet_the_weight_are_an_input_error() -> None:
    arguments: dict[str, Argument] = {**operator("gru_cell").sizes["small"], "data": TensorSpec((2, 5))}
    with pytest.raises(InputError, match="the data has 5 features, and the weight takes 16"):
        operator("gru_cell").outputs(operator("gru_cell").case_of(arguments))
