"""What the process of a candidate is told is data, and problems are code that only a user names."""

from __future__ import annotations

import json

import pytest
from tests.each import each

from opperf.domain.arithmetic import NoNumber, compute
from opperf.domain.case import DType, ListOf
from opperf.domain.code import Code, ProblemCode, read_problem
from opperf.domain.codec import read_as
from opperf.domain.errors import InputError
from opperf.domain.problem import Branch, Constant, OwnProblem, Slot, Standing
from opperf.domain.tensor import TensorSpec

STANDING = Standing(
    "kernelbench",
    (Slot(0), Branch("dict", (Slot(1), Constant((3, 3))), ("w", "size")), Constant(float("inf"))),
    {"dtype": Constant(DType("float16")), "rows": Branch("list", (Slot(2), Constant(ListOf((1, 2)))))},
    build=(Constant(None), Branch("tuple", (Constant(1), Branch("list", ())))),
    results=(TensorSpec((2,), "bfloat16"),),
    seed=7,
    sizes={"batch": (4096, 8)},
    weights={"norm.weight": TensorSpec((3,))},
    mutates=("x",),
)


def test_a_standing_goes_through_json_and_back() -> None:
    assert Standing.from_json(json.loads(json.dumps(STANDING.to_json()))) == STANDING


@each(
    "tree",
    [
        {"slot": -1},
        {"slot": True},
        {"slot": 0, "value": 1},
        {"list": {}},
        {"dict": [["a"], []]},
        {"dict": [[1], [{"slot": 0}]]},
        {"code": "a:b"},
        3,
    ],
)
def test_what_is_no_tree_is_refused_with_its_place(tree: object) -> None:
    with pytest.raises(InputError, match=r"standing\.arguments\[0\].*expected a tree"):
        Standing.from_json({"kind": "gpumode", "arguments": [tree]})


def test_a_tree_that_is_too_deep_is_refused() -> None:
    tree: object = {"slot": 0}
    for _ in range(100):
        tree = {"list": [tree]}
    with pytest.raises(InputError, match="expected a tree"):
        Standing.from_json({"kind": "gpumode", "arguments": [tree]})


@each("kind", ["kernelbench", "gpumode", "flashinfer", "backendbench"])
def test_a_problem_is_named_by_its_format_and_path(kind: str) -> None:
    assert read_problem(f"{kind}:a:b/c.py") == ProblemCode(kind, "a:b/c.py")
    with pytest.raises(InputError) as caught:
        read_problem(f"{kind}:")
    assert f"{kind}:" in (caught.value.hint or "")


def test_other_names_stay_what_they_are() -> None:
    assert read_problem("torch:aten::add") == "torch:aten::add"
    assert read_problem("mine.py:f") == Code("mine.py:f")
    assert isinstance(read_problem("plain:x"), Code)  # a module of the user's with that name


def test_only_a_field_for_problems_makes_one_of_json() -> None:
    written = {"problem": ["flashinfer", "d.json"]}
    assert read_as(OwnProblem, written, "request") == ProblemCode("flashinfer", "d.json")
    for value in ("flashinfer:d.json", {"problem": ["mine", "x"]}, {"problem": "flashinfer:d.json"}, {"code": "a:b"}):
        with pytest.raises(InputError, match="expected a problem"):
            read_as(OwnProblem, value, "request")


@each("text", ["__import__('os')", "a.b", "f(2)", "[1]", "x", "2 ** 99999", "1 / 0", "(1).real", "lambda: 1", ""])
def test_an_expression_that_is_more_than_arithmetic_has_no_number(text: str) -> None:
    with pytest.raises(NoNumber):
        compute(text, {"n": 4})


@each("text,value", [("-n + 2 * 3", 2), ("n // 3 % 2", 1), ("n ** 2 / 2", 8.0), ("n == 4 and n < 2 or n != 5", True)])
def test_an_expression_is_computed(text: str, value: float) -> None:
    assert compute(text, {"n": 4}) == value
