"""Workloads of FlashInfer-Bench: shapes are those of their definitions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from opperf.domain.case import Case
from opperf.domain.errors import InputError
from opperf.domain.suite import Suite, SuiteCase
from opperf.domain.tensor import TensorSpec
from opperf.parent.sources.suite_file import read_suite

AXES: dict[str, Any] = {"M": {"type": "var"}, "K": {"type": "const", "value": 8}, "N": {"type": "const", "value": 16}}
GEMM: dict[str, Any] = {
    "name": "gemm",
    "op_type": "gemm",
    "axes": AXES,
    "inputs": {"A": {"shape": ["M", "K"], "dtype": "float16"}, "B": {"shape": ["N", "K"], "dtype": "float16"}},
    "outputs": {},
    "reference": "raise SystemExit('this is never run')",
}
NORM: dict[str, Any] = {
    "op_type": "rmsnorm",
    "axes": AXES,
    "inputs": {
        "input": {"shape": ["M", "K"], "dtype": "bfloat16"},
        "weight": {"shape": ["K"], "dtype": "bfloat16"},
        "eps": {"shape": None, "dtype": "float32"},
    },
}


def line(rows: object = 3, name: str = "gemm", **inputs: object) -> str:
    """Return a workload."""
    return json.dumps({"definition": name, "workload": {"uuid": "1", "axes": {"M": rows}, "inputs": inputs}})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a definition, as the data set has it."""
    (tmp_path / "definitions" / "kind").mkdir(parents=True)
    (tmp_path / "workloads" / "kind").mkdir(parents=True)
    return tmp_path


def read(text: str, definition: dict[str, Any], folder: Path) -> Suite:
    """Return the suite of workloads of one definition."""
    (folder / "definitions" / "kind" / "gemm.json").write_text(json.dumps(definition))
    path = folder / "workloads" / "kind" / "gemm.jsonl"
    path.write_text(text)
    return read_suite(path)


def test_workloads_are_cases_of_the_operator_of_their_definition(folder: Path) -> None:
    suite = read(f"{line(3)}\n{line(5)}\n\n{line(3)}\n", GEMM, folder)
    weight = TensorSpec((16, 8), "float16")
    assert suite.cases == tuple(
        SuiteCase(
            Case("matmul_transposed", {"lhs": TensorSpec((rows, 8), "float16"), "rhs": weight}),
            count,
            "gemm",
            ("forward",),
        )
        for rows, count in ((3, 2), (5, 1))
    )


def test_a_scalar_is_an_attribute(folder: Path) -> None:
    (entry,) = read(line(3, eps={"type": "scalar", "value": 1e-6}), NORM, folder).cases
    assert entry.case.operator == "rms_norm"
    assert entry.case.attributes == {"epsilon": 1e-6}
    assert entry.case.inputs["data"] == TensorSpec((3, 8), "bfloat16")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"op_type": "gqa_paged"}, "no operator of opperf is known to be `gqa_paged` of A, B"),
        (
            {"inputs": {**GEMM["inputs"], "A": {"shape": ["M", "K"], "dtype": "float4_e2m1"}}},
            "tensors of `float4_e2m1`",
        ),
    ],
)
def test_workloads_that_no_case_holds_are_counted(change: dict[str, Any], reason: str, folder: Path) -> None:
    suite = read(f"{line(3)}\n{line(5)}", {**GEMM, **change}, folder)
    assert suite.cases == ()
    assert [(one.count, one.reason) for one in suite.left_out] == [(2, reason)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{line()}\nnonsense", r"gemm\.jsonl:2: not JSON"),
        (f"{line()}\n{{}}", r"gemm\.jsonl:2: found \{\}, expected a workload"),
        (line(name="../../etc/passwd"), r"gemm\.jsonl:1: found .*, expected a workload"),
        (line(name="other"), r"gemm\.jsonl:1: no definition `other`"),
        (line("3"), r"gemm\.jsonl:1: the axis \"M\" is \"3\", expected a whole number"),
        (line(-3), r"gemm\.jsonl:1: shape \[-3, 8\]"),
    ],
)
def test_a_mistake_in_a_workload_is_told_with_its_line(text: str, message: str, folder: Path) -> None:
    with pytest.raises(InputError, match=message):
        read(text, GEMM, folder)
