"""The engine in a program's own process: directions, sources of work, and what counts."""

from __future__ import annotations

import pytest

from opperf.catalog import operator
from opperf.child.backends.null.runtime import NullBackend
from opperf.child.measure.disturbance import NoCounters
from opperf.child.worker.directions import ready
from opperf.compat.in_process import InProcess
from opperf.domain.backend import Unsupported
from opperf.domain.errors import InputError
from opperf.domain.plan import Side
from opperf.domain.tensor import TensorSpec


@pytest.fixture
def here() -> InProcess:
    """The null framework in this process."""
    return InProcess(NullBackend(Side("null")), NoCounters())


def test_a_function_is_measured_by_the_engine(here: InProcess) -> None:
    result = here.measure(here.of_function(here.backend.resolve("steady")), "forward", warmup=2, runs=7)
    assert here.seconds(result) == [1e-4] * 7
    assert result.facts["warmup_calls"] == 2


def test_a_path_stands_for_its_function(here: InProcess) -> None:
    assert here.seconds(here.measure(here.of_function("steady"), "forward", runs=3)) == [1e-4] * 3


def test_every_floating_array_that_is_given_is_differentiable(here: InProcess) -> None:
    whole, real = here.tensor(TensorSpec((2,), "int32"), "a"), here.tensor(TensorSpec((2,)), "b")
    assert here.of_function("steady", (whole, real)).bound.differentiable == (real,)


def test_forward_and_backward_take_what_both_take(here: InProcess) -> None:
    subject = here.of_function("steady", (here.tensor(TensorSpec((2,)), "a"),))
    assert here.seconds(here.measure(subject, "forward_backward", runs=3)) == pytest.approx([3e-4] * 3)


def test_a_function_without_floating_arrays_has_no_backward(here: InProcess) -> None:
    with pytest.raises(Unsupported, match="no input of this case has a gradient"):
        here.measure(here.of_function("steady"), "backward", runs=3)


def test_a_case_of_the_catalog_brings_its_definition(here: InProcess) -> None:
    subject = here.of_case(operator("add").case("small"))
    assert subject.operator is operator("add")
    assert not subject.random
    memory = here.measure(subject, "forward", runs=2).quantity("memory_peak")
    assert memory is not None
    assert memory.value == subject.bound.arguments[0].spec.nbytes


def test_an_unknown_profiler_is_named_with_the_known_ones(here: InProcess) -> None:
    with pytest.raises(InputError, match="no profiler `cpp`") as caught:
        here.measure(here.of_function("steady"), "forward", profiler="cpp")
    assert caught.value.hint == "known: native, python"


def test_what_is_not_in_the_catalog_may_differ_from_call_to_call() -> None:
    class Random(NullBackend):
        def same(self, left: object, right: object) -> bool:
            return False

    backend = Random(Side("null"))
    here = InProcess(backend, NoCounters())
    subject = here.of_function("steady", (here.tensor(TensorSpec((2,)), "a"),))
    assert here.ready(subject, "backward").output_bytes == 8
    with pytest.raises(Unsupported, match="gradients of the first calls differ"):
        ready(backend, lambda: subject.bound, "backward", None, "0")
