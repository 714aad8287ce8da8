"""What results are checked against: the inputs of others in float64, and plain ways of what NumPy lacks."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from opperf.catalog import catalog
from opperf.child.backends.binding import Call
from opperf.domain.backend import Unsupported
from opperf.domain.plan import REFERENCE, Side

np = pytest.importorskip("numpy")
pytest.importorskip("scipy")
runtime = pytest.importorskip("opperf.child.backends.numpy.reference.runtime")
functions = pytest.importorskip("opperf.child.backends.numpy.reference.functions")
windows = pytest.importorskip("opperf.child.backends.numpy.reference.windows")


@pytest.fixture(scope="module")
def backend() -> Any:
    return runtime.start(Side("numpy", settings=REFERENCE))


def test_nearly_every_operator_has_a_reference(backend: Any) -> None:
    lacking = [name for name in catalog() if not isinstance(backend.bindings()[name], Call)]
    assert len(lacking) <= 0.05 * len(catalog()), lacking


@pytest.mark.parametrize(("dtype", "wide"), [("float16", "float64"), ("float32", "float64"), ("int8", "int8")])
def test_inputs_are_rounded_to_their_element_type_and_widened(dtype: str, wide: str, backend: Any) -> None:
    result = backend.tensor(np.array([0.1, 100.7]), (2,), dtype, None)
    assert result.dtype == wide
    assert result.tolist() == np.array([0.1, 100.7]).astype(dtype).tolist()


@pytest.mark.parametrize(
    ("bits", "rounded"),
    [(0x3F800000, 0x3F80), (0x3F808000, 0x3F80), (0x3F808001, 0x3F81), (0x3F818000, 0x3F82), (0xBF80C000, 0xBF81)],
)
def test_bfloat16_is_rounded_to_the_nearest_and_to_the_even_one(bits: int, rounded: int, backend: Any) -> None:
    (value,) = struct.unpack("<f", struct.pack("<I", bits))
    result = backend.tensor(np.array([value], np.float32), (1,), "bfloat16", None)
    assert result.dtype == "float64"
    assert struct.pack("<f", result[0]) == struct.pack("<I", rounded << 16)


@pytest.mark.parametrize(
    ("dtype", "given", "rounded"),
    [
        # From 1 to 2 there are steps of 1/8 and of 1/4; of two equally near ones the even one is taken.
        ("float8_e4m3fn", [1.0625, 1.07, -1.1875, 0.1], [1.0, 1.125, -1.25, 0.1015625]),
        ("float8_e5m2", [1.125, 1.13, -1.375, 0.1], [1.0, 1.25, -1.5, 0.09375]),
        # Below the smallest normal number the steps stay those above it: 2^-9, 2^-10, 2^-16, 2^-17.
        ("float8_e4m3fn", [2**-9, 0.6 * 2**-9, 0.4 * 2**-9, 0.0], [2**-9, 2**-9, 0.0, 0.0]),
        ("float8_e4m3fnuz", [2**-10, 0.6 * 2**-10, 0.4 * 2**-10, 0.0], [2**-10, 2**-10, 0.0, 0.0]),
        ("float8_e5m2", [2**-16, 0.6 * 2**-16, 0.4 * 2**-16, 0.0], [2**-16, 2**-16, 0.0, 0.0]),
        ("float8_e5m2fnuz", [2**-17, 0.6 * 2**-17, 0.4 * 2**-17, 0.0], [2**-17, 2**-17, 0.0, 0.0]),
    ],
)
def test_eight_bits_are_rounded_to_the_nearest_and_to_the_even_one(
    dtype: str, given: list[float], rounded: list[float], backend: Any
) -> None:
    result = backend.tensor(np.array(given, np.float32), (4,), dtype, None)
    assert result.dtype == "float64"
    assert result.tolist() == rounded


def test_complex_numbers_of_two_halves_are_rounded_to_them(backend: Any) -> None:
    result = backend.tensor(np.array([0.1, -0.7], np.float32), (1,), "complex32", None)
    assert result.dtype == "complex128"
    assert result.tolist() == [complex(np.float16(0.1), np.float16(-0.7))]


def test_places_are_not_named_where_elements_are_equal() -> None:
    assert functions.distinct(np.array([[1.0, 2.0], [2.0, 1.0]])).shape == (2, 2)
    with pytest.raises(Unsupported, match="equal elements"):
        functions.distinct(np.array([[1.0, 2.0], [2.0, 2.0]]))


def test_a_convolution_multiplies_windows_that_are_apart_by_stride_and_dilation() -> None:
    data = np.arange(7.0).reshape(1, 1, 7)
    weight = np.array([[[1.0, 10.0]]])
    result = windows.convolution(data, weight, stride=(2,), padding=(1,), dilation=(3,))
    # The windows of 0 0 1 2 3 4 5 6 0 begin at places 0, 2 and 4; their second element is three places on.
    assert result.tolist() == [[[20.0, 41.0, 63.0]]]


def test_groups_of_channels_do_not_meet() -> None:
    data = np.array([1.0, 2.0, 3.0, 4.0]).reshape(1, 4, 1)
    weight = np.array([[1.0, 10.0], [1.0, 10.0]]).reshape(2, 2, 1)
    assert windows.convolution(data, weight, (1,), (0,), (1,), groups=2).ravel().tolist() == [21.0, 43.0]


def test_a_transposed_convolution_adds_where_products_overlap() -> None:
    data, weight = np.array([[[1.0, 2.0]]]), np.array([[[1.0, 10.0, 100.0]]])
    result = windows.transposed_convolution(data, weight, (2,), (0,), (1,), groups=1, output_padding=(0,))
    assert result.tolist() == [[[1.0, 10.0, 102.0, 20.0, 200.0]]]


def test_a_maximum_never_is_the_padding_and_a_mean_counts_it() -> None:
    data = np.array([[[-4.0, -2.0]]])
    assert windows.max_pool(data, (2,), (2,), (1,)).tolist() == [[[-4.0, -2.0]]]
    assert windows.avg_pool(data, (2,), (2,), (1,)).tolist() == [[[-2.0, -1.0]]]


def test_the_loss_of_one_label_in_two_steps_is_that_of_its_three_alignments() -> None:
    logits = np.log(np.array([[[0.5, 0.5]], [[0.25, 0.75]]]))
    likelihood = 0.5 * 0.75 + 0.5 * 0.25 + 0.5 * 0.75  # label label, label blank, blank label
    assert functions.ctc_loss(logits, np.array([[1]])) == pytest.approx([-np.log(likelihood)])


def test_pixels_between_others_are_mixed_of_them() -> None:
    data = np.array([0.0, 4.0]).reshape(1, 1, 1, 2)
    assert functions.bilinear(data, (1, 4)).ravel().tolist() == [0.0, 1.0, 3.0, 4.0]
    beyond = np.array([[0.0, 0.0], [0.5, 0.0], [3.0, 0.0]]).reshape(1, 1, 3, 2)
    assert functions.grid_sample(data, beyond).ravel().tolist() == [2.0, 3.0, 0.0]


@pytest.mark.parametrize(
    ("layer", "cell", "gates"), [("rnn", "rnn_tanh_cell", 1), ("gru", "gru_cell", 3), ("lstm", "lstm_cell", 4)]
)
def test_a_layer_is_its_cell_step_after_step(layer: str, cell: str, gates: int, backend: Any) -> None:
    draw = np.random.default_rng(1).standard_normal
    data, states = draw((3, 2, 4)), [draw((1, 2, 5)) for _ in range(2 if layer == "lstm" else 1)]
    weights = draw((gates * 5, 4)), draw((gates * 5, 5)), draw(gates * 5), draw(gates * 5)
    steps, *last = backend.bindings()[layer].function(data, *states, *weights)
    after = [state[0] for state in states]
    for row, step in zip(data, steps, strict=True):
        result = backend.bindings()[cell].function(row, *after, *weights)
        after = list(result) if layer == "lstm" else [result]
        np.testing.assert_allclose(step, after[0])
    np.testing.assert_allclose(last, [state[None] for state in after])


def test_the_way_back_of_a_layer_is_that_of_the_sequence_turned_over(backend: Any) -> None:
    draw = np.random.default_rng(1).standard_normal
    data, states = draw((3, 2, 4)), [draw((2, 2, 5)) for _ in range(2)]
    weights = [draw(shape) for shape in ((20, 4), (20, 5), (20,), (20,)) * 2]
    steps, *last = backend.bindings()["bidirectional_lstm"].function(data, *states, *weights)
    lstm = backend.bindings()["lstm"].function
    back, *last_of_back = lstm(data[::-1], *(state[1:] for state in states), *weights[4:])
    np.testing.assert_allclose(steps[..., 5:], back[::-1])
    np.testing.assert_allclose([state[1:] for state in last], last_of_back)
