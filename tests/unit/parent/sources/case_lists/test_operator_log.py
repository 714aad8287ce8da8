"""Logs of a model's operators: counts, strides and types are kept, and mistakes are told with their place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from opperf.domain.case import Case, Device, DType, ListOf
from opperf.domain.errors import InputError
from opperf.domain.suite import LeftOut, Suite, SuiteCase
from opperf.domain.tensor import TensorSpec
from opperf.parent.sources import suite_file
from opperf.parent.sources.suite_file import read_suite

LOG = """Operator: aten.add.Tensor
cnt: 3, ((T([4, 8], f16), T([4, 8], f16, stride=(1, 4))), {'alpha': 2})
cnt: 2, ((T([4, 8], f16), T([4, 8], f16, stride=(1, 4))), {'alpha': 2})
Operator: aten.sum.SymInt
cnt: 1, ((T([4, 8], f32), [0], True), {})
Operator: aten._to_copy.default
cnt: 1, ((T([4], i64),), {'dtype': f32, 'layout': torch.strided, 'device': 'cuda'})
cnt: 7, ((T([4], i64),), {'layout': torch.sparse_coo})
Operator: torchvision.nms
cnt: 0, ((T([4, 4], f32), T([4], f32), 0.5), {})
"""


def read(content: str | bytes, folder: Path, name: str = "net.txt") -> Suite:
    """Return the suite that a file with this content is read as."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_suite(path)


def test_a_log_is_a_suite_of_pytorchs_own_operators(tmp_path: Path) -> None:
    suite = read(LOG, tmp_path)
    right = TensorSpec((4, 8), "float16", (1, 4))
    assert suite.name == "net"
    assert suite.cases == (
        SuiteCase(
            Case("torch:aten::add.Tensor", {"0": TensorSpec((4, 8), "float16"), "1": right}, {"alpha": 2}),
            5,
            "net",
            ("forward",),
        ),
        SuiteCase(
            Case("torch:aten::sum.dim_IntList", {"0": TensorSpec((4, 8)), "1": ListOf((0,)), "2": True}),
            1,
            "net",
            ("forward",),
        ),
        SuiteCase(
            Case(
                "torch:aten::_to_copy.default",
                {"0": TensorSpec((4,), "int64", range=(-(2.0**31), 2.0**31))},
                {"dtype": DType("float32"), "device": Device("default")},
            ),
            1,
            "net",
            ("forward",),
        ),
        SuiteCase(
            Case("torch:torchvision::nms.default", {"0": TensorSpec((4, 4)), "1": TensorSpec((4,)), "2": 0.5}),
            1,
            "net, synthetic",
            ("forward",),
        ),
    )
    assert suite.left_out == (LeftOut("aten::_to_copy.default", 7, "sparse tensors"),)


@pytest.mark.parametrize(
    ("operator", "call", "place", "most"),
    [
        ("embedding_dense_backward.default", "(T([8, 4], f16), T([8], i64), 30, -1, False)", "1", 30),
        (
            "max_pool2d_with_indices_backward.default",
            "(T([3, 4, 4], f32), T([3, 8, 8], f32), [2, 2], [2, 2], [0, 0], [1, 1], False, T([3, 4, 4], i64))",
            "7",
            64,
        ),
        ("index_select.default", "(T([9, 5], f32), 0, T([3], i64))", "2", 9),
        ("index_select_backward.default", "(T([3, 5], f32), [9, 5], 0, T([3], i64))", "3", 9),
        ("cummaxmin_backward.default", "(T([9, 5], f32), T([9, 5], f32), T([9, 5], i64), 1)", "2", 5),
        (
            "adaptive_max_pool3d_backward.default",
            "(T([2, 1, 1, 1], f32), T([2, 2, 2, 2], f32), T([2, 1, 1, 1], i64))",
            "2",
            8,
        ),
    ],
)
def test_indices_of_a_log_are_below_what_they_index(
    operator: str, call: str, place: str, most: int, tmp_path: Path
) -> None:
    (entry,) = read(f"Operator: aten.{operator}\ncnt: 1, ({call}, {{}})", tmp_path).cases
    assert entry.case.tensor(place).range == (0, most)


@pytest.mark.parametrize("before", [b"", b"\xef\xbb\xbf", b"\n\n"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_log_is_told_by_its_content_whatever_its_name(before: bytes, end: str, tmp_path: Path) -> None:
    content = before + LOG.replace("\n", end).encode()
    assert read(content, tmp_path, "net.json").cases == read(LOG, tmp_path).cases


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Operator: aten.add.Tensor\ncnt: 1, ((eval('1'),), {})", r"net\.txt:2: column 11: found `eval`"),
        ("Operator: os.system('x')\n", r"net\.txt:1: found \"Operator: os\.system"),
        ("Operator: aten.add.Tensor\ncnt: -1, ((), {})", r"net\.txt:2: found"),
        ("Operator: aten.add.Tensor\nimport os\n", r"net\.txt:2: found \"import os\", expected an operator or a call"),
        ("cnt: 1, ((), {})", r"net\.txt:1: a call before the first operator"),
        ("Operator: aten.add.Tensor\n", r"net\.txt: no calls of operators"),
        (
            "Operator: aten.add.Tensor\ncnt: 1, ((T([10000000, 1000000], f16),), {})",
            r"net\.txt:2: column 11: a tensor of",
        ),
        (b"Operator: aten.add.Tensor\n\xff", r"cannot read .*net\.txt"),
    ],
)
def test_a_mistake_in_a_log_is_told_with_its_place(text: str | bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read(text, tmp_path)


def test_a_log_that_is_too_long_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite_file, "LONGEST", 100)
    with pytest.raises(InputError, match=r"a list of cases of [\d,]+ bytes, expected at most 100"):
        read(LOG, tmp_path)


def shapes(rows: Any, name: str = "addmm") -> str:
    """Return a document of TritonBench's."""
    return json.dumps({"metadata": {"tritonbench_ops": [name]}, name: rows})


def test_sizes_of_matrices_are_their_products(tmp_path: Path) -> None:
    row = {
        "count": 4,
        "inputs": "((), {'dtype': 'bf16', 'strides': '[[0, 1], [8, 1], [1, 8]]', 'M': '2', 'N': '3', 'K': '8'})",
    }
    (entry,) = read(shapes([row]), tmp_path).cases
    bias, left, right = ((2, 3), (0, 1)), ((2, 8), None), ((8, 3), (1, 8))
    assert entry.count == 4
    assert entry.case.operator == "torch:aten::addmm.default"
    assert entry.case.inputs["0"] == TensorSpec(bias[0], "bfloat16", bias[1])
    assert entry.case.inputs["1"] == TensorSpec(left[0], "bfloat16")
    assert entry.case.inputs["2"] == TensorSpec(right[0], "bfloat16", right[1])


def test_texts_in_a_document_are_calls(tmp_path: Path) -> None:
    (entry,) = read(shapes([{"count": 2, "inputs": "((T([2, 8], f16),), {})"}], "aten.relu.default"), tmp_path).cases
    assert entry == SuiteCase(
        Case("torch:aten::relu.default", {"0": TensorSpec((2, 8), "float16")}), 2, "net", ("forward",)
    )


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"inputs": "((), {'M': '2', 'N': '3', 'K': 'x'})"}, r"addmm\[0\]\.inputs: `K` is \"x\", expected a size"),
        ({"inputs": "((), {'M': '2', 'N': '3', 'K': '1', 'strides': '[[1]]'})"}, r"expected those of 3 matrices"),
        ({"inputs": "((), {'M': '2', 'N': '3', 'K': '1', 'dtype': 'f3'})"}, r"no dtype `f3`"),
        ({"inputs": "((), {", "count": 1}, r"addmm\[0\]\.inputs: column 7"),
        ({"inputs": "((), {})", "count": -1}, r"`count` is -1, expected a whole number"),
    ],
)
def test_a_mistake_in_a_document_is_told_with_its_row(row: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read(shapes([row]), tmp_path)
