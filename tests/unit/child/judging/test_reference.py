"""Results of frameworks are held against operators of the catalog in float64, element by element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

from opperf.catalog import operator
from opperf.child.judging import reference
from opperf.child.judging.elements import encode, rounded, roundoff
from opperf.child.judging.reference import Comparison, problem, working_roundoff
from opperf.child.worker.correctness import WrongResult
from opperf.domain.case import Case
from opperf.domain.message.replies import Output
from opperf.domain.message.requests import Compare
from opperf.domain.plan import REFERENCE, Side, Trial
from opperf.domain.tensor import TensorSpec

SIDE = Side("numpy", settings=REFERENCE)
SEED = 3
Request: TypeAlias = Callable[..., Compare]


def small(name: str, dtype: str = "float32") -> Case:
    """Return the small case of an operator."""
    return operator(name).case("small").with_dtype(dtype)


def truth(case: Case) -> list[Any]:
    """Return what a case computes."""
    one = problem(case, SEED, SIDE)
    return one.exact(one.inputs)


@pytest.fixture
def request_of(tmp_path: Path) -> Request:
    """Make a request to compare tensors, which it writes."""

    def write(name: str, tensors: Sequence[Any], dtype: str) -> tuple[Output, ...]:
        files = []
        for place, one in enumerate(tensors):
            file = tmp_path / f"{name}{place}"
            file.write_bytes(encode(np.asarray(one), dtype))
            files.append(Output(str(file), np.shape(one), dtype))
        return tuple(files)

    def make(case: Case, results: Sequence[Any], dtype: str = "float32", device: str = "cpu", other: Any = None) -> Any:
        expected = write("expected", truth(case) if other is None else other, "float64" if other is None else dtype)
        trial = Trial(case, Side("torch", device=device), "forward")
        return Compare(trial, SEED, write("result", results, dtype), expected, "NumPy 2")

    return make


@pytest.mark.parametrize("name", ["add", "softmax", "matmul", "batch_norm", "cumsum", "argmax", "conv2d", "isnan"])
def test_a_rounded_result_is_right(name: str, request_of: Request) -> None:
    case = small(name)
    dtype = operator(name).outputs(case)[0].dtype
    Comparison(SIDE)(request_of(case, truth(case), dtype))


def test_a_wrong_element_is_told_with_what_it_may_be_off_by(request_of: Request) -> None:
    case = small("softmax")
    (result,) = truth(case)
    flat = result.reshape(-1)
    place = int(flat.argmin())
    flat[place] *= 1.001  # a millionth of the largest one
    with pytest.raises(WrongResult) as wrong:
        Comparison(SIDE)(request_of(case, [result]))
    assert str(wrong.value).startswith(f"element {place} of tensor 0 is {flat[place]:.6g}, expected ")
    assert " by NumPy 2 (within " in str(wrong.value)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "float8_e5m2"])
def test_each_type_has_its_own_roundoff(dtype: str, request_of: Request) -> None:
    case, times = small("multiply", dtype), roundoff(dtype) if dtype != "float64" else 2.0**-24
    (result,) = truth(case)
    Comparison(SIDE)(request_of(case, [result], dtype))
    wrong = rounded(np.where(np.abs(result) == np.abs(result).max(), result * (1 + 400 * times), result), dtype)
    with pytest.raises(WrongResult):
        Comparison(SIDE)(request_of(case, [wrong], dtype))


def test_other_shapes_and_numbers_of_tensors_are_wrong(request_of: Request) -> None:
    case = small("add")
    with pytest.raises(WrongResult, match="has the shape"):
        Comparison(SIDE)(request_of(case, [np.zeros((2, 2))]))
    with pytest.raises(WrongResult, match="it returns 2 tensors"):
        Comparison(SIDE)(request_of(case, truth(case) * 2))


def test_an_operator_in_which_rounding_piles_up_is_allowed_more(
    request_of: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = small("prod")
    (result,) = truth(case)
    near = [result * (1 + 3 * 16 * 2.0**-24)]
    Comparison(SIDE)(request_of(case, near))
    monkeypatch.setattr(reference, "ROUGH", 0.1)
    with pytest.raises(WrongResult):
        Comparison(SIDE)(request_of(case, near))


def test_devices_may_multiply_with_fewer_bits() -> None:
    assert working_roundoff("float32", rounds=True) == roundoff("float16")
    assert working_roundoff("float32") == working_roundoff("float64", rounds=True) == roundoff("float32")
    assert working_roundoff("bfloat16", rounds=True) == roundoff("bfloat16")
    assert working_roundoff("int64") == 0


def test_what_is_known_of_a_case_serves_the_next_side(request_of: Request, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []

    def count(case: Case, seed: int, side: Side) -> Any:
        made.append((case.operator, seed))
        return problem(case, seed, side)

    monkeypatch.setattr(reference, "problem", count)
    comparison, case = Comparison(SIDE), small("matmul")
    for device in ("cpu", "cpu", "cuda:0"):
        comparison(request_of(case, truth(case), device=device))
    comparison(request_of(small("sin"), truth(small("sin"))))
    assert made == [("matmul", SEED)] * 2 + [("sin", SEED)]


def test_layers_are_compared_with_each_other(request_of: Request) -> None:
    case = Case("keras:Dense", {"x": TensorSpec((2, 2))})
    one = np.ones((2, 2))
    Comparison(SIDE)(request_of(case, [one], other=[one * (1 + 1e-4)]))
    with pytest.raises(WrongResult, match="by NumPy 2"):
        Comparison(SIDE)(request_of(case, [one], other=[one * 1.01]))


def test_a_problem_has_its_inputs_and_evaluates_others() -> None:
    one = problem(small("add"), SEED, SIDE)
    assert one.dtypes == ("float32", "float32")
    zeros = [np.zeros_like(array) for array in one.inputs]
    assert not one.exact(zeros)[0].any()
    assert (one.exact(one.inputs)[0] == one.inputs[0] + one.inputs[1]).all()
    with pytest.raises(LookupError):
        problem(operator("to_device").case("small"), SEED, SIDE)
