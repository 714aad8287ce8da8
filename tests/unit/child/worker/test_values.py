"""Distributions of values: what each promises, for every element type that has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.each import each

from opperf.catalog import operator
from opperf.child.worker.inputs import tensor
from opperf.child.worker.values import literal_values
from opperf.domain.backend import Unsupported
from opperf.domain.case import Case
from opperf.domain.errors import InputError
from opperf.domain.tensor import INTEGER_DISTRIBUTIONS, TensorSpec, parse_distribution

if TYPE_CHECKING:
    from tests.unit.child.worker.conftest import Arrays

FLOATING = ["float16", "float32", "float64"]
ORDERED = ["bool", "int8", "uint8", "int32", "int64", *FLOATING]


@each("dtype", ORDERED)
@each(("values", "step"), [("sorted", 1), ("reversed", -1)])
def test_sorted_values_rise_along_every_dimension_and_reversed_ones_fall(
    values: str, step: int, dtype: str, backend: Arrays
) -> None:
    spec = TensorSpec((40, 25), dtype, values=values)
    made = tensor(backend, spec, "s").astype("float64")[:, ::step][::step]
    assert (np.diff(made, axis=0) >= 0).all()
    assert (np.diff(made, axis=1) >= 0).all()
    low, high = spec.default_range
    assert low <= made.min() <= made.max() <= high
    assert len(np.unique(made)) >= min(10, high - low)


def test_sorted_values_lie_in_the_range_that_was_asked_for(backend: Arrays) -> None:
    made = tensor(backend, TensorSpec((1000,), range=(2.0, 3.0), values="sorted"), "s")
    assert (made[0], round(float(made[-1]), 2)) == (2.0, 3.0)


def test_complex_numbers_have_no_order(backend: Arrays) -> None:
    with pytest.raises(Unsupported, match="cannot be sorted"):
        tensor(backend, TensorSpec((4,), "complex64", values="sorted"), "s")


@pytest.mark.parametrize("dtype", FLOATING)
def test_normal_values_have_mean_zero_and_deviation_one(dtype: str, backend: Arrays) -> None:
    made = tensor(backend, TensorSpec((40_000,), dtype, values="normal"), "s").astype("float64")
    assert abs(made.mean()) < 0.02  # four standard errors
    assert made.std() == pytest.approx(1, abs=0.02)
    assert np.abs(made).max() <= 3


def test_normal_values_in_a_range_are_centred_and_stay_inside(backend: Arrays) -> None:
    made = tensor(backend, TensorSpec((40_000,), range=(4.0, 10.0), values="normal"), "s")
    assert made.mean() == pytest.approx(7, abs=0.02)
    assert made.std() == pytest.approx(1, abs=0.02)
    assert 4 <= made.min() < made.max() <= 10


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_denormal_values_are_all_below_the_smallest_normal_number(dtype: str, backend: Arrays) -> None:
    made = tensor(backend, TensorSpec((1000,), dtype, values="denormal"), "s")
    assert made.max() < np.finfo(dtype).tiny
    assert made.min() >= 0
    assert np.count_nonzero(made) > 990


@pytest.mark.parametrize("dtype", ["float16", "int32", "complex64"])
def test_denormal_values_are_refused_where_they_cannot_be_made(dtype: str, backend: Arrays) -> None:
    with pytest.raises(Unsupported, match="denormal"):
        tensor(backend, TensorSpec((4,), dtype, values="denormal"), "s")


@each("dtype", [*FLOATING, "int64", "complex64"])
@each("share", [0.0, 0.5, 0.9, 1.0])
def test_sparse_values_have_their_share_of_zeros(share: float, dtype: str, backend: Arrays) -> None:
    spec = TensorSpec((20_000,), dtype, values=f"sparse:{share:g}", range=None if dtype != "int64" else (1, 100))
    made = tensor(backend, spec, "s")
    assert np.mean(made == 0) == pytest.approx(share, abs=0.02)


def test_what_is_not_zero_in_sparse_values_is_uniform(backend: Arrays) -> None:
    plain = tensor(backend, TensorSpec((1000,)), "s")
    sparse = tensor(backend, TensorSpec((1000,), values="sparse:0.5"), "s")
    assert (sparse[sparse != 0] == plain[sparse != 0]).all()


@pytest.mark.parametrize(("dtype", "expected"), [("float32", 0.0), ("float64", 0.0), ("int32", 5), ("bool", True)])
def test_constant_values_are_the_middle_of_the_range(dtype: str, expected: float, backend: Arrays) -> None:
    assert set(tensor(backend, TensorSpec((9,), dtype, values="constant"), "s").tolist()) == {expected}


@pytest.mark.parametrize("values", ["normal", "sparse:0.5"])
def test_drawn_values_are_those_of_the_seed(values: str, backend: Arrays) -> None:
    spec = TensorSpec((64,), values=values)
    one, again, other = (tensor(backend, spec, seed).tobytes() for seed in ("a", "a", "b"))
    assert one == again
    assert one != other


@each("values", ["normal", "constant", "sorted", "reversed", "denormal", "sparse:0.9"])
def test_an_empty_tensor_has_every_distribution(values: str, backend: Arrays) -> None:
    assert tensor(backend, TensorSpec((0, 3), values=values), "s").shape == (0, 3)


@each("text", ["gaussian", "sparse", "sparse:2", "sparse:x", "sparse:-0.1", ""])
def test_an_unknown_distribution_is_refused_with_what_is_known(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_distribution(text)
    assert "sparse:" in f"{caught.value.message} {caught.value.hint}"


def test_a_case_in_another_distribution_is_another_case() -> None:
    case = Case(
        "embedding",
        {"data": TensorSpec((9,), "int64"), "weight": TensorSpec((4, 2)), "one": TensorSpec((1,), values="ones")},
    )
    changed = case.with_values("normal")
    assert [tensor.values for tensor in changed.tensors()] == ["uniform", "normal", "ones"]
    assert changed.id != case.id
    assert case.with_values("uniform").id == case.id
    assert [tensor.values for tensor in case.with_values("sparse:0.9").tensors()] == [
        "sparse:0.9",
        "sparse:0.9",
        "ones",
    ]
    assert "sparse:SHARE" in INTEGER_DISTRIBUTIONS


@each("dtype", [*ORDERED, "complex64", "complex128"])
def test_given_values_are_the_tensors_elements_whatever_the_seed(dtype: str, backend: Arrays) -> None:
    literal = (1, 0, 0, 1, 1, 0)
    spec = TensorSpec((2, 3), dtype, literal=literal)
    for seed in ("s", "t"):
        assert (tensor(backend, spec, seed) == np.array(literal, dtype).reshape(2, 3)).all()


def test_given_strings_are_handed_over_as_they_are(backend: Arrays) -> None:
    assert literal_values(backend, TensorSpec((2,), "string", literal=("a", "inf"))) == ["a", "inf"]


def test_given_values_are_rounded_once_to_their_type(backend: Arrays) -> None:
    made = tensor(backend, TensorSpec((3,), literal=(0.1, float("inf"), 16777217.0)), "s")
    assert made.tolist() == [np.float32(0.1), np.inf, 16777216.0]


@pytest.mark.parametrize(("dtype", "largest"), [("int64", 2**63 - 1), ("uint64", 2**64 - 1)])
def test_the_largest_whole_number_is_kept_to_its_last_digit(dtype: str, largest: int, backend: Arrays) -> None:
    assert tensor(backend, TensorSpec((1,), dtype, literal=(largest,)), "s").tolist() == [largest]


def test_a_distribution_leaves_given_values_alone() -> None:
    case = Case("f", {"data": TensorSpec((2,), literal=(1, 2))})
    assert case.with_values("zeros") == case


def test_given_values_follow_a_type_that_holds_them_and_keep_theirs_otherwise() -> None:
    case = Case("f", {"whole": TensorSpec((1,), literal=(3,)), "broken": TensorSpec((1,), literal=(0.5,))})
    changed = case.with_dtype("int8")
    assert [tensor.dtype for tensor in changed.tensors()] == ["int8", "float32"]
    assert [tensor.literal for tensor in changed.tensors()] == [(3,), (0.5,)]


@each("dtype", [*FLOATING, "complex64", "complex128"])
@each("shape", [(1, 1), (8, 8), (3, 5, 5)])
def test_positive_definite_matrices_are_symmetric_and_have_positive_eigenvalues(
    shape: tuple[int, ...], dtype: str, backend: Arrays
) -> None:
    made = tensor(backend, TensorSpec(shape, dtype, values="spd"), "s").astype("complex128")
    assert made.shape == shape
    assert (made == made.swapaxes(-1, -2)).all()
    assert (np.linalg.eigvalsh(made) > 0).all()


def test_matrices_of_a_batch_differ(backend: Arrays) -> None:
    made = tensor(backend, TensorSpec((2, 5, 5), values="spd"), "s")
    assert (made[0] != made[1]).any()


@pytest.mark.parametrize(("shape", "dtype"), [((4,), "float32"), ((4, 5), "float32"), ((4, 4), "int32")])
def test_only_square_matrices_of_a_floating_type_are_positive_definite(shape: tuple[int, ...], dtype: str) -> None:
    with pytest.raises(InputError) as caught:
        TensorSpec(shape, dtype, values="spd")
    assert caught.value.slug == "bad_values"


def test_positive_definite_matrices_of_whole_numbers_are_uniform_ones() -> None:
    case = operator("cholesky").case("small")
    assert case.with_values("zeros") == case
    assert case.with_dtype("float64").tensor("data").values == "spd"
    assert case.with_dtype("int32").tensor("data").values == "uniform"


def test_no_command_line_asks_for_positive_definite_matrices() -> None:
    with pytest.raises(InputError):
        parse_distribution("spd")
