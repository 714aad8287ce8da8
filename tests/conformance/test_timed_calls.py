"""Every backend gives new values to the inputs of timed calls, and agrees with itself on copies of them."""

from __future__ import annotations

import pytest
from tests.conformance.conftest import Bench

from opperf.catalog import catalog
from opperf.domain.errors import OperatorFailure
from opperf.domain.message.requests import Measure, Prepare, Release, Turn
from opperf.domain.plan import Settings

OPERATORS = ("add", "softmax", "sum", "matmul", "concatenate", "conv2d", "embedding")


def prepare(backend: Bench, request: Prepare) -> int:
    """Return the handle of a trial; skips the test for an operator that the backend has not."""
    try:
        return backend.ask(request).handle
    except OperatorFailure as failure:
        if failure.reason.slug != "no_such_operator":
            raise
        pytest.skip(failure.reason.message)


@pytest.mark.parametrize("name", OPERATORS)
def test_timed_calls_of_an_operator_agree_with_calls_on_copies(any_backend: Bench, name: str) -> None:
    trial = any_backend.trial(catalog()[name].case("small"), "forward")
    for _ in range(2):
        handle = prepare(any_backend, Prepare(trial, check="timed", offset=64))
        assert any_backend.ask(Turn(handle, 2)).samples.samples
        any_backend.ask(Release(handle))
    handle = any_backend.ask(Prepare(trial, check="timed")).handle
    facts = any_backend.ask(Measure(handle, Settings(runs=3, warmup=1, memory=False))).facts
    any_backend.ask(Release(handle))
    expected = "no: its tensors have no elements" if trial.side.framework == "null" else "timed calls against a call on"
    assert str(facts["checked"]).startswith(expected)
