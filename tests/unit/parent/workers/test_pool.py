"""Why no child of a side can be had, and what may help."""

from __future__ import annotations

import pytest

from opperf.domain.errors import OperatorFailure
from opperf.domain.plan import Side
from opperf.domain.reason import Reason
from opperf.parent.workers.pool import _start_failure


@pytest.mark.parametrize("environment", ["current", "torch", "torch==2.6.0"])
def test_a_framework_that_does_not_start_is_never_sent_to_the_environment_that_it_is_in(environment: str) -> None:
    said = _start_failure(Side("torch", environment), OperatorFailure(Reason("operator_error", "no libtorch")))
    assert (said.slug, "no libtorch" in said.message) == ("import_failed", True)
    assert said.hint is not None
    assert ("try `--environment torch`" in said.hint) == (environment != "torch")


def test_a_framework_of_a_plugin_that_does_not_start_sends_to_the_plugin() -> None:
    said = _start_failure(Side("of_a_plugin", "of_a_plugin"), OperatorFailure(Reason("operator_error", "no `start`")))
    assert said.hint == "fix `start` in the plugin for `of_a_plugin`; the traceback is in the JSON document"


def test_a_device_that_is_not_there_is_the_reason_and_no_environment_is_blamed() -> None:
    failed = OperatorFailure(Reason("no_such_device", "NumPy computes on the CPU only"))
    said = _start_failure(Side("numpy", "numpy", "cuda:0"), failed)
    assert said.slug == "no_device"
    assert said.hint == (
        "measure on `--device cpu`, or give an environment whose numpy has `cuda:0`, as `--environment python=PATH`"
    )
