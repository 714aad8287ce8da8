"""Arrays that a program hands over: their description, and where their elements lie."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from opperf.domain.errors import InputError
from opperf.domain.tensor import TensorSpec
from opperf.parent.sources.live_array import array_spec, given_inputs, has_arrays


def test_few_elements_stand_in_the_description(tmp_path: Path) -> None:
    spec = array_spec(np.array([[1, 2], [3, 4]], "int8"), "x", tmp_path)
    assert spec == TensorSpec((2, 2), "int8", literal=(1, 2, 3, 4))
    assert not list(tmp_path.iterdir())


def test_many_elements_lie_under_their_digest(tmp_path: Path) -> None:
    array = np.arange(100.0)
    spec = array_spec(array, "x", tmp_path)
    digest = hashlib.sha256(array.tobytes()).hexdigest()[:16]
    assert spec == TensorSpec((100,), "float64", values=f"data={digest}")
    assert (tmp_path / digest).read_bytes() == array.tobytes()


def test_a_view_has_its_strides_and_its_elements_in_row_major_order(tmp_path: Path) -> None:
    array = np.arange(200, dtype="float32").reshape(10, 20).T
    spec = array_spec(array, "x", tmp_path)
    assert (spec.shape, spec.strides) == ((20, 10), (1, 20))
    assert next(tmp_path.iterdir()).read_bytes() == array.copy(order="C").tobytes()


def test_the_same_elements_are_kept_once(tmp_path: Path) -> None:
    specs = [array_spec(np.ones(100), name, tmp_path) for name in "xy"]
    assert specs[0] == specs[1]
    assert len(list(tmp_path.iterdir())) == 1


def test_elements_of_long_ago_are_removed(tmp_path: Path) -> None:
    array_spec(np.ones(100), "x", tmp_path)
    (old,) = tmp_path.iterdir()
    os.utime(old, (0, 0))
    array_spec(np.zeros(100), "x", tmp_path)
    assert old not in list(tmp_path.iterdir())
    assert len(list(tmp_path.iterdir())) == 1


def test_arrays_in_lists_are_described_and_other_values_stay(tmp_path: Path) -> None:
    given = given_inputs({"tensors": [np.ones(2), np.ones(2)], "shape": (3, 4), "axis": 1}, tmp_path)
    assert given == {"tensors": [TensorSpec((2,), "float64", literal=(1.0, 1.0))] * 2, "shape": (3, 4), "axis": 1}


@pytest.mark.parametrize(
    ("value", "is_array"),
    [(np.ones(2), True), ([np.ones(2)], True), ((2, 3), False), (TensorSpec((2,)), False), ("2x3", False), (1, False)],
)
def test_an_array_is_told_from_what_describes_one(value: object, is_array: bool) -> None:
    assert has_arrays({"x": value}) is is_array


def test_an_array_of_another_library_is_read_by_its_own_method(tmp_path: Path) -> None:
    array: Any = SimpleNamespace(shape=(2,), dtype=np.dtype("float32"), asnumpy=lambda: np.ones(2, "float32"))
    assert array_spec(array, "x", tmp_path) == TensorSpec((2,), literal=(1.0, 1.0))


def test_an_array_of_an_unknown_type_is_refused_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="input `x`: no dtype `object`"):
        array_spec(np.array([object()]), "x", tmp_path)
