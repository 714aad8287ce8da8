"""TensorFlow's own functions and operators: by name, and with inputs by rule."""

from __future__ import annotations

import pytest
from tests.conformance.conftest import TIMEOUT, Bench

from opperf.domain.case import Case
from opperf.domain.errors import OperatorFailure
from opperf.domain.message.requests import Describe, Discover
from opperf.domain.plan import Settings
from opperf.domain.tensor import TensorSpec


def test_an_operator_is_measured_by_its_own_names(benches: dict[str, Bench]) -> None:
    case = Case("tensorflow:tf.raw_ops.TopKV2", {"input": TensorSpec((4, 50))}, {"k": 3})
    values, places = benches["tensorflow"].evaluate(case, implementation="tf.raw_ops.TopKV2")
    assert (values.shape, places.shape) == ((4, 3), (4, 3))
    assert values.values[:3] == sorted(values.values[:3], reverse=True)


@pytest.mark.parametrize(
    "name", ["Relu", "MatMul", "Sum", "Conv2D", "ConcatV2", "OneHot", "SegmentMax", "Where", "SparseReorder"]
)
def test_a_case_by_rule_runs(name: str, benches: dict[str, Bench]) -> None:
    path = f"tf.raw_ops.{name}"
    cases = benches["tensorflow"].ask(Discover(path, "small")).examples
    assert len(cases) == 1
    assert benches["tensorflow"].evaluate(cases[0].case, implementation=path)


@pytest.mark.parametrize("name", ["Abort", "BatchMatrixInverse", "ImmutableConst", "QueueEnqueue", "AssignVariableOp"])
def test_what_computes_nothing_is_not_there(name: str, benches: dict[str, Bench]) -> None:
    assert benches["tensorflow"].worker.ask(Describe(f"tf.raw_ops.{name}"), TIMEOUT).path is None


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("tf.raw_ops.AssignVariableOp", "it keeps a state, or reads or writes more than its inputs and outputs"),
        ("tf.raw_ops.WriteFile", "it keeps a state, or reads or writes more than its inputs and outputs"),
        ("tf.io.write_file", "opperf calls functions of tf.math"),
        ("tf.saved_model.load", "opperf calls functions of tf.math"),
        ("tf.py_function", "it is not among TensorFlow's functions that only compute with numbers"),
        ("keras.layers.Lambda", "it takes a function or text, is made of other layers, or reads files"),
    ],
)
def test_what_does_more_than_compute_says_why_it_is_not_called(path: str, why: str, benches: dict[str, Bench]) -> None:
    meaning = benches["tensorflow"].worker.ask(Describe(path), TIMEOUT)
    assert meaning.path is None
    assert (meaning.reason or "").startswith(f"it is not called: {why}")


def test_a_function_that_is_left_out_says_why(benches: dict[str, Bench]) -> None:
    discovery = benches["tensorflow"].ask(Discover("tf.map_fn", "small"))
    assert discovery.reason == "it calls a Python function passed to it, and only that function would be timed"


def test_a_failure_is_told_by_its_message_alone(benches: dict[str, Bench]) -> None:
    case = Case("tensorflow:tf.raw_ops.Unique", {"x": TensorSpec((4, 4))})
    for bench in (benches["tensorflow"], benches["tensorflow compiled"]):
        with pytest.raises(OperatorFailure) as caught:
            bench.evaluate(case, implementation="tf.raw_ops.Unique")
        assert caught.value.reason.message.startswith(("unique expects a 1D vector.", "Shape must be rank 1"))


def test_the_memory_of_small_results_is_not_told_as_none(benches: dict[str, Bench]) -> None:
    settings = Settings(warmup=1, runs=2, latency=False)

    def is_told(size: int) -> bool:
        case = Case("negative", {"data": TensorSpec((size, size))})
        return benches["tensorflow"].measure(case, settings=settings).quantity("memory_peak") is not None

    assert not is_told(200)
    if not is_told(512):
        pytest.skip("TensorFlow's profiler sees no allocation on a CPU without AVX-512")
