"""Inputs of MXNet's own benchmark: what each kind of value in a row becomes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from opperf.domain.case import Argument
from opperf.domain.errors import InputError
from opperf.domain.tensor import TensorSpec
from opperf.parent.sources.suite_file import read_suite


def read(data: Any, folder: Path) -> Any:
    """Return the suite that a file with this content is read as."""
    path = folder / "inputs.json"
    path.write_text(json.dumps(data))
    return read_suite(path)


@pytest.mark.parametrize(
    ("row", "inputs", "attributes"),
    [
        ({"data": [3, 4], "axis": 0}, {"data": TensorSpec((3, 4))}, {"axis": 0}),
        ({"data": [3], "kernel": [2], "no_bias": True}, {"data": TensorSpec((3,))}, {"kernel": (2,), "no_bias": True}),
        ({"shape": [3, 4], "dtype": "float16"}, {}, {"shape": (3, 4), "dtype": "float16"}),
        ({"lam": [1.0, 8.5]}, {"lam": TensorSpec((2,), literal=(1.0, 8.5))}, {}),
        ({"A": [[1, 0], [0, 1]]}, {"A": TensorSpec((2, 2), literal=(1, 0, 0, 1))}, {}),
        (
            {"k": [20, 49], "p": [0.4, 0.7], "sample": [2]},
            {
                "k": TensorSpec((2,), literal=(20, 49)),
                "p": TensorSpec((2,), literal=(0.4, 0.7)),
                "sample": TensorSpec((2,)),
            },
            {},
        ),
        ({"args": [[3, 4], [5]]}, {"args0": TensorSpec((3, 4)), "args1": TensorSpec((5,))}, {}),
        ({"args": [3, 4]}, {"args0": TensorSpec((3, 4))}, {}),
        ({"args0": "<NDArray 5x5 @cpu(0)>", "out": "<NDArray 5x5 @cpu(0)>"}, {"args0": TensorSpec((5, 5))}, {}),
    ],
)
def test_a_row_is_a_case_of_mxnets_operator(
    row: dict[str, Any], inputs: dict[str, Argument], attributes: dict[str, Argument], tmp_path: Path
) -> None:
    (entry,) = read({"f": [row]}, tmp_path).cases
    assert entry.case.operator == "mxnet:nd.f"
    assert entry.case.inputs == inputs
    assert entry.case.attributes == attributes


def test_indices_have_no_gradient_where_mxnet_refuses_one(tmp_path: Path) -> None:
    (entry,) = read({"Embedding": [{"data": [3], "weight": [4, 5]}]}, tmp_path).cases
    assert entry.case.inputs == {"data": TensorSpec((3,), requires_grad=False), "weight": TensorSpec((4, 5))}


def test_rows_that_are_alike_are_one_case_that_occurs_twice(tmp_path: Path) -> None:
    result = read({"f": [{"data": [1]}, {"data": [2]}, {"data": [1]}], "g": [{"data": [1]}]}, tmp_path).cases
    counted = [(entry.case.operator, entry.case.tensor("data").shape, entry.count) for entry in result]
    assert counted == [("mxnet:nd.f", (1,), 2), ("mxnet:nd.f", (2,), 1), ("mxnet:nd.g", (1,), 1)]


@pytest.mark.parametrize(
    ("row", "place"),
    [
        ({"data": [[1], [1, 2]]}, "f[1].data"),
        ({"data": [-1]}, "f[1].data"),
        ({"data": {"shape": [1]}}, "f[1].data"),
        ({"args": [1, [2]]}, "f[1].args"),
        ({"kernel": [0.5]}, "f[1].kernel"),
        ({"data": [None]}, "f[1].data"),
    ],
)
def test_a_bad_row_is_refused_with_its_place(row: dict[str, Any], place: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read({"f": [{"data": [1]}, row]}, tmp_path)
    assert f"inputs.json: {place}: " in caught.value.message


@pytest.mark.parametrize("data", [{}, {"f": [1]}, {"f": {"data": [1]}}, [{"data": [1]}], {"schema_version": 1}])
def test_another_document_is_read_as_a_suite(data: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"not a suite|`cases` is"):
        read(data, tmp_path)
