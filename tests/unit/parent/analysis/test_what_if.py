"""What a step would take with one operator replaced, by sums that are known."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.parent.documents.test_comparison import compared

from opperf.domain.case import Case
from opperf.domain.suite import Program, Suite, SuiteCase
from opperf.domain.tensor import TensorSpec
from opperf.parent.analysis.what_if import core, gradients, predict, select, with_backward
from opperf.parent.documents.what_if import WhatIf
from opperf.parent.reports.what_if import blind_spots, prediction


def suite(*operators: str, step: float | None = None) -> Suite:
    """Return a suite in which every operator occurs ten times; `step` is what one call of the whole took."""
    program = None if step is None else Program(step, 5, "torch", "2.13.0", 1)
    cases = tuple(SuiteCase(Case(operator), 10) for operator in operators)
    return Suite("step", "test", cases, program)


#: Ten calls of 1 s each, which a replacement does in half the time.
HALVED = [compared("norm", 10, 1.0, 0.5)]


def half(step: float | None, operators: float) -> WhatIf:
    """Return what a step would take if its operators took so long, of which 10 s were halved."""
    result = predict(suite("norm", "mm", step=step), "norm", "mine.py:f", operators, HALVED)
    assert result is not None
    return result


def test_a_step_that_was_not_timed_is_the_sum_of_its_operators() -> None:
    one = half(None, 40.0)
    assert (one.source, one.step, one.predicted, one.saved, one.share, one.bound) == ("sum", 40, 35, 5, 0.25, 30)
    assert (one.calls, one.of, one.before, one.after, one.ratio) == (10, 20, 10, 5, 0.5)


def test_a_step_that_was_timed_keeps_what_lies_between_its_operators() -> None:
    one = half(50.0, 40.0)
    assert (one.source, one.step, one.predicted, one.share, one.bound, one.outside) == ("captured", 50, 45, 0.2, 40, 10)


def test_operators_that_overlap_in_the_step_save_no_more_than_their_share_of_it() -> None:
    one = half(20.0, 40.0)
    assert (one.share, one.predicted, one.bound) == (0.25, 17.5, 15)
    assert any(line.startswith("overlap: operators take 20.0 s more") for line in blind_spots(one))


def test_the_interval_of_the_step_follows_from_that_of_the_ratio() -> None:
    one = half(50.0, 40.0)
    assert one.interval is not None
    low, high = one.interval
    assert low < one.predicted < high
    assert (low, high) == pytest.approx((40 + 5 * 0.9048, 40 + 5 * 1.1052), rel=1e-3)


def test_without_a_ratio_there_is_no_prediction() -> None:
    assert predict(suite("norm"), "norm", "mine.py:f", 10.0, [compared("norm", 10, 1.0, None)]) is None


def test_an_operator_that_occurs_once_has_a_prediction_too() -> None:
    one = predict(suite("norm"), "norm", "mine.py:f", 10.0, [compared("norm", 1, 1.0, 0.5)])
    assert one is not None
    assert one.predicted == 9.5


@pytest.mark.parametrize(
    ("name", "operators"),
    [
        ("layer_norm", ["torch:aten::native_layer_norm"]),
        ("aten::native_layer_norm", ["torch:aten::native_layer_norm"]),
        ("add", ["torch:aten::add.Tensor", "torch:aten::add_.Tensor"]),
        ("torch:aten::add_.Tensor", ["torch:aten::add_.Tensor"]),
        ("rms_norm", ["torch:aten::_fused_rms_norm"]),
        ("mul", []),
    ],
)
def test_an_operator_is_named_as_the_suite_or_as_the_catalog_spells_it(name: str, operators: list[str]) -> None:
    whole = suite(
        *("torch:aten::native_layer_norm", "torch:aten::add.Tensor", "torch:aten::add_.Tensor"),
        *("torch:aten::_fused_rms_norm", "torch:aten::native_layer_norm_backward"),
    )
    assert [entry.case.operator for entry in select(whole, name).cases] == operators


def test_gradients_of_the_operator_are_told_that_stay_as_they_are() -> None:
    whole = suite("torch:aten::native_layer_norm", "torch:aten::native_layer_norm_backward", step=50.0)
    assert gradients(whole, "layer_norm") == whole.cases[1:]
    one = predict(whole, "layer_norm", "mine.py:f", 40.0, HALVED)
    assert one is not None
    assert [*blind_spots(one)][-1].startswith("backward: `torch:aten::native_layer_norm_backward`")


def test_the_prediction_is_told_with_its_bound() -> None:
    step, operator, bound = prediction(half(50.0, 40.0))
    assert step.startswith("step: 50.0 s before (as it was captured), 45.0 s [44.5 s, 45.5 s] with `mine.py:f`: 5.00 s")
    assert operator == "`norm`: 10 of 20 calls, 20.0 % of the step; 10.0 s by itself, 5.00 s replaced"
    assert bound == "bound (Amdahl): 40.0 s if it took no time, 1.25 times as fast"


def test_a_slower_replacement_makes_the_step_longer() -> None:
    one = predict(suite("norm"), "norm", "mine.py:f", 40.0, [compared("norm", 10, 1.0, 2.0)])
    assert one is not None
    assert "10.0 s longer" in next(iter(prediction(one)))


def test_spellings_of_one_computation_are_one() -> None:
    assert {core(name) for name in ("mxnet:nd.softmax", "torch:aten::_softmax", "softmax")} == {"softmax"}


def test_a_forward_with_a_gradient_is_one_call_with_its_backward() -> None:
    def entry(operator: str, size: int, count: int) -> SuiteCase:
        return SuiteCase(Case(operator, {"self": TensorSpec((size,), "float32")}), count, directions=("forward",))

    part = Suite("step", "test", (entry("torch:aten::gelu", 8, 3), entry("torch:aten::gelu", 4, 2)))
    backward = [entry("torch:aten::gelu_backward", size, count) for size, count in ((4, 1), (8, 2), (4, 2), (9, 5))]
    both, matched = with_backward(part, backward)
    large, small = part.cases
    assert [(one.case, one.directions, one.count) for one in both.cases] == [
        (large.case, ("forward_backward",), 2),
        (large.case, ("forward",), 1),
        (small.case, ("forward_backward",), 2),
        (small.case, ("backward",), 1),
    ]
    assert matched == tuple(backward[:3])


def test_what_autograd_takes_for_itself_is_none_of_the_step() -> None:
    whole = suite("torch:aten::norm", "torch:aten::norm_backward", step=100.0)
    pairs = [replace(compared("norm", 10, 5.0, 0.7), direction="forward_backward")]
    one = predict(whole, "norm", "mine.py:f", 60.0, pairs, ["torch:aten::norm_backward"], 40.0)
    assert one is not None
    assert (one.before, one.after, one.saved, one.bound) == pytest.approx((40.0, 25.0, 15.0, 60.0))
    assert (one.calls, one.of, one.backward, one.gradients) == (20, 20, ("torch:aten::norm_backward",), ())
