"""The values of inputs: the same bits for the same seed, in the range that was asked for."""

from __future__ import annotations

import hashlib
import random
import struct
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.each import check_each

from opperf.child.worker import inputs
from opperf.child.worker.inputs import raw_units, tensor
from opperf.child.worker.values import BitCache
from opperf.domain.backend import Unsupported
from opperf.domain.plan import Side
from opperf.domain.tensor import ITEM_SIZES, TensorSpec

if TYPE_CHECKING:
    from tests.unit.child.worker.conftest import Arrays

FORMATS = {4: "<f4", 8: "<f8"}
REAL = sorted(name for name in ITEM_SIZES if not name.startswith("complex"))


@given(st.integers(), st.integers(0, 300), st.sampled_from([4, 8]))
def test_units_lie_in_one_to_two(seed: int, count: int, size: int) -> None:
    values = np.frombuffer(raw_units(random.Random(seed), count, size), FORMATS[size])
    assert len(values) == count
    assert ((values >= 1) & (values < 2)).all()


@pytest.mark.parametrize("size", [4, 8])
def test_every_bit_of_the_fraction_is_drawn(size: int) -> None:
    values = np.frombuffer(raw_units(random.Random(0), 1000, size), f"<u{size}")
    drawn = (1 << (23 if size == 4 else 52)) - 1
    assert np.bitwise_or.reduce(values) & drawn == drawn
    assert np.bitwise_and.reduce(values) & drawn == 0


def test_pieces_hold_the_bits_of_one_draw(monkeypatch: pytest.MonkeyPatch, backend: Arrays) -> None:
    specs = [TensorSpec((1000,), dtype) for dtype in ("float32", "float64", "int64", "bool")]
    monkeypatch.setattr(inputs, "_cache", BitCache(0))
    whole = [tensor(backend, spec, "s").tobytes() for spec in specs]
    monkeypatch.setattr(
        "opperf.child.worker.values.PIECE", 104
    )  # no divisor of the whole, a multiple of both element sizes
    assert [tensor(backend, spec, "s").tobytes() for spec in specs] == whole


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64", "int8", "bool", "complex64"])
def test_values_are_the_same_where_the_allocator_is_left_alone(
    dtype: str, backend: Arrays, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "PIECE_NUMBERS", 16)
    monkeypatch.setattr(inputs, "PIECE_ELEMENTS", 64)
    monkeypatch.setattr(inputs, "_cache", BitCache(0))
    spec = TensorSpec((5, 10, 3), dtype)
    fixed = tensor(backend, spec, "s")
    backend.side = replace(backend.side, allocator="default")
    assert (tensor(backend, spec, "s") == fixed).all()
    assert tensor(backend, TensorSpec((0, 3), dtype), "s").shape == (0, 3)


def test_no_large_block_is_freed_where_the_allocator_is_left_alone(
    backend: Arrays, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = 128 * 1024
    drawn: list[int] = []
    plain = inputs.raw_units

    def watched(generator: random.Random, count: int, size: int) -> bytearray:
        drawn.append(count * size)
        return plain(generator, count, size)

    monkeypatch.setattr(inputs, "raw_units", watched)
    backend.side = replace(backend.side, allocator="default")
    tensor(backend, TensorSpec((100_000,), "float64"), "s")
    assert sum(drawn) == 800_000
    assert max(drawn) < most


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "complex64"])
def test_a_shorter_tensor_has_the_first_elements_of_a_longer_one(
    dtype: str, backend: Arrays, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "_cache", BitCache(0))
    short, long = (tensor(backend, TensorSpec((count,), dtype), "s") for count in (101, 1000))
    assert (long[:101] == short).all()
    monkeypatch.setattr(inputs, "_cache", BitCache(1 << 20))
    for expected in (short, long, short):
        assert (tensor(backend, TensorSpec(expected.shape, dtype), "s") == expected).all()


def test_bits_are_drawn_again_when_they_were_too_few_or_are_not_kept() -> None:
    kept = BitCache(100)
    drawn: list[str] = []

    def first(size: int, key: str) -> int:
        def draw() -> bytearray:
            drawn.append(key)
            return bytearray(size)

        return len(kept.first(size, key, draw))

    asked = [(40, "a"), (40, "b"), (30, "a"), (40, "c"), (40, "a"), (40, "b"), (60, "a"), (200, "d"), (60, "a")]
    assert [first(*one) for one in asked] == [size for size, _ in asked]
    # `b` gave way to `c`, being older than `a`; then `c` to `b`, and all to `d`, which is too long to be kept.
    assert drawn == ["a", "b", "c", "b", "a", "d", "a"]


def test_units_fill_their_range_evenly() -> None:
    values = np.frombuffer(raw_units(random.Random(0), 100_000, 4), "<f4")
    counts, _ = np.histogram(values, bins=10, range=(1, 2))
    # 10 000 each; five standard deviations of a binomial are 474.
    assert abs(counts - 10_000).max() < 474


#: How the SHA-256 of 1000 elements begins for the seed "0/c1-x/data". Another one means: other inputs than ever before.
GOLDEN = {
    "bool": "47e762a93249b20a",
    "int64": "cd32a88e572aa3a7",
    "float16": "dc15400da67611a3",
    "float32": "bfd565af35e31dbc",
    "float64": "7b06ac83c7393d95",
    "complex64": "b81b8b7f8cef1675",
}


@pytest.mark.parametrize("dtype", GOLDEN)
def test_the_bits_for_a_seed_never_change(dtype: str, backend: Arrays) -> None:
    made = tensor(backend, TensorSpec((1000,), dtype), "0/c1-x/data")
    assert hashlib.sha256(made.tobytes()).hexdigest()[:16] == GOLDEN[dtype]


def test_values_are_those_of_the_seed_and_no_other(backend: Arrays) -> None:
    def check(dtype: str) -> None:
        spec = TensorSpec((64, 3), dtype)
        one, again, other = (tensor(backend, spec, seed).tobytes() for seed in ("a", "a", "b"))
        assert one == again
        assert one != other

    check_each(ITEM_SIZES, check)


@pytest.mark.parametrize("dtype", REAL)
def test_values_lie_in_the_default_range_and_fill_it(dtype: str, backend: Arrays) -> None:
    spec = TensorSpec((4000,), dtype)
    low, high = spec.default_range
    made = tensor(backend, spec, "s").astype("float64")
    assert made.min() >= low
    if spec.is_float:
        assert made.max() <= high
        assert made.min() < low + 0.01
        assert made.max() > high - 0.01
    else:
        assert set(made) == set(range(int(low), int(high)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("bounds", [(0.5, 2.0), (-3.0, -1.0), (0.0, 1e-3), (1.0, 1.0)])
def test_values_lie_in_the_range_that_was_asked_for(dtype: str, bounds: tuple[float, float], backend: Arrays) -> None:
    made = tensor(backend, TensorSpec((4000,), dtype, range=bounds), "s")
    assert made.min() >= np.array(bounds[0], dtype)
    assert made.max() <= np.array(bounds[1], dtype)


def test_whole_numbers_leave_the_upper_bound_out(backend: Arrays) -> None:
    made = tensor(backend, TensorSpec((4000,), "int32", range=(3, 7)), "s")
    assert set(made.tolist()) == {3, 4, 5, 6}


@pytest.mark.parametrize("bounds", [(-(2**63), 2**63), (-(2**63), 2**63 - 1), (0, 2**63), (-(2**62), 2**62)])
def test_whole_numbers_fill_the_range_of_their_type(bounds: tuple[int, int], backend: Arrays) -> None:
    made = tensor(backend, TensorSpec((4000,), "int64", range=bounds), "s")
    drawn = [int(value) for value in made]
    low, high = bounds
    assert low <= min(drawn) < low + (high - low) / 50
    assert high - (high - low) / 50 < max(drawn) < high
    assert len(set(drawn)) == 4000


def test_an_empty_range_of_whole_numbers_is_its_lower_bound(backend: Arrays) -> None:
    assert set(tensor(backend, TensorSpec((50,), "int32", range=(3, 3)), "s").tolist()) == {3}


def test_whole_numbers_without_a_sign_are_given_whole(backend: Arrays) -> None:
    given = (2**64 - 1, 2**63, 3)
    assert tuple(tensor(backend, TensorSpec((3,), "uint64", literal=given), "s").tolist()) == given


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_both_parts_of_complex_numbers_are_drawn(dtype: str, backend: Arrays) -> None:
    made = tensor(backend, TensorSpec((1000,), dtype), "s")
    for part in (made.real, made.imag):
        assert part.min() < -0.9
        assert part.max() > 0.9
    assert not np.array_equal(made.real, made.imag)


def test_zeros_and_ones_are_just_that(backend: Arrays) -> None:
    def check(dtype: str) -> None:
        for values, expected in (("zeros", 0), ("ones", 1)):
            made = tensor(backend, TensorSpec((5, 2), dtype, values=values), "s")
            assert (made == np.full((5, 2), expected)).all()

    check_each(ITEM_SIZES, check)


def test_every_shape_can_be_made(backend: Arrays) -> None:
    def check(dtype: str) -> None:
        shapes = [(), (0,), (3, 0, 2), (2, 3)]
        assert [tensor(backend, TensorSpec(shape, dtype), "s").shape for shape in shapes] == shapes

    check_each(ITEM_SIZES, check)


def rounded(value: float) -> float:
    """Return the nearest float of 32 bits."""
    result: float = struct.unpack("<f", struct.pack("<f", value))[0]
    return result


@given(st.integers(0, 10**6), st.sampled_from([(-1.0, 1.0), (0.5, 2.0), (-3.0, 7.0), (0.25, 0.75), (0.0, 1000.0)]))
def test_a_range_is_reached_by_steps_that_are_each_rounded_once(seed: int, bounds: tuple[float, float]) -> None:
    # What every framework that rounds correctly must give: worked out here in the standard library alone.
    low, high = bounds
    unit = struct.unpack("<8f", raw_units(random.Random(str(seed)), 8, 4))
    expected = [rounded(rounded(rounded(u - 1.0) * (high - low)) + low) for u in unit]
    made = tensor(_arrays(), TensorSpec((8,), range=bounds), str(seed))
    assert made.tolist() == expected


def _arrays() -> Any:
    """Return a backend that makes arrays and nothing else; fixtures are not made anew for each random case."""

    class Hosts:
        blank = False
        side = Side("null")

        def dtype(self, name: str) -> Any:
            return np.dtype(name)

        def host(self, raw: bytearray, dtype: str) -> Any:
            return np.frombuffer(raw, dtype)

        def tensor(self, host: Any, shape: Any, dtype: str, strides: Any) -> Any:
            return host.astype(dtype).reshape(shape)

    return Hosts()


def test_an_element_type_that_is_lacking_is_refused_before_values_are_drawn(backend: Arrays) -> None:
    backend.lacking = "float64"
    with pytest.raises(Unsupported):
        tensor(backend, TensorSpec((10**6,), "float64"), "s")
    assert backend.events == []


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("values", ["uniform", "constant", "sparse:0.5"])
def test_tensors_of_too_many_elements_repeat_the_values_of_a_piece(
    dtype: str, values: str, backend: Arrays, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "MOST_DRAWN", 40)
    monkeypatch.setattr(inputs, "PIECE_ELEMENTS", 16)
    made = tensor(backend, TensorSpec((5, 10), dtype, values=values), "s").ravel()
    piece = tensor(backend, TensorSpec((16,), dtype, values=values), "s")
    assert made.dtype == np.dtype(dtype)
    assert (made == np.resize(piece, 50)).all()


@pytest.mark.parametrize("dtype", ["int32", "float16", "float64", "complex64"])
def test_large_tensors_repeat_the_random_bits_of_their_first_elements(
    dtype: str, backend: Arrays, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = tensor(backend, TensorSpec((16,), dtype), "s")
    monkeypatch.setattr(inputs, "PIECE_ELEMENTS", 32 if dtype.startswith("complex") else 16)
    assert (tensor(backend, TensorSpec((3, 13), dtype), "s").ravel() == np.resize(short, 39)).all()
    assert (tensor(backend, TensorSpec((16,), dtype), "s") == short).all()


def test_making_values_leaves_the_bits_that_are_kept_alone(backend: Arrays) -> None:
    one, again = (tensor(backend, TensorSpec((100,)), "s") for _ in range(2))
    assert (one == again).all()


def test_an_order_over_a_whole_tensor_and_strings_are_not_repeated(
    backend: Arrays, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "MOST_DRAWN", 40)
    with pytest.raises(Unsupported, match="sorted values are limited to 40 elements"):
        tensor(backend, TensorSpec((50,), values="sorted"), "s")
    with pytest.raises(Unsupported, match="strings are limited to 40 elements"):
        tensor(backend, TensorSpec((50,), "string"), "s")
