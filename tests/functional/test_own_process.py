"""`opperf.time`: a call measured in the process that makes it."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import opperf


def add_into(data: np.ndarray, out: np.ndarray) -> None:
    """Change an argument."""
    np.add(data, 1, out=out)


def test_a_call_becomes_one_record_with_its_arguments() -> None:
    (record,) = opperf.time(np.sort, np.arange(8.0), axis=-1, settings=opperf.Settings(runs=3))
    assert (record.trial.side.framework, record.trial.case.operator, record.trial.direction) == (
        "numpy",
        "numpy.sort",
        "forward",
    )
    assert record.trial.case.inputs == {"a": opperf.TensorSpec((8,), "float64")}
    assert record.trial.case.attributes == {"axis": -1}
    assert record.time is not None
    assert record.time.samples is not None
    assert record.time.discarded is not None
    assert record.time.samples + record.time.discarded == 3
    assert "one_process" in [warning.slug for warning in record.warnings]


def test_the_call_runs_in_this_process_and_thread() -> None:
    seen = set()
    opperf.time(lambda: seen.add(threading.get_ident()), settings=opperf.Settings(runs=1))
    assert seen == {threading.get_ident()}


def test_arguments_that_a_call_changes_are_as_they_were() -> None:
    out = np.zeros(4)
    (record,) = opperf.time(add_into, np.ones(4), out, settings=opperf.Settings(runs=3))
    assert record.facts["sync"] == "call"  # put back before each
    assert out.tolist() == [0.0, 0.0, 0.0, 0.0]


def test_the_object_of_a_method_is_an_argument_too() -> None:
    data = np.array([3.0, 1.0, 2.0])
    (record,) = opperf.time(data.sort, settings=opperf.Settings(runs=3))
    assert data.tolist() == [3.0, 1.0, 2.0]
    assert "self" in record.trial.case.inputs


def test_what_the_call_raises_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        opperf.time(lambda: 1 / 0)


def test_what_cannot_be_called_is_refused() -> None:
    with pytest.raises(opperf.InputError, match="`3` cannot be called"):
        opperf.time(3)  # type: ignore[arg-type]


def test_its_result_is_kept_like_any_other(tmp_path: object) -> None:
    path = f"{tmp_path}/timed.json"
    opperf.time(np.add, np.ones(4), 1.0, settings=opperf.Settings(runs=2)).save(path)
    again = opperf.load(path)
    assert isinstance(again, opperf.Results)
    assert again[0].trial.case.operator == "numpy.add"
