"""Samples: what a call took by each clock, and columns that say the same."""

from __future__ import annotations

import json
import re

import pytest
from tests.each import each

from opperf.domain.case import Case
from opperf.domain.errors import InputError
from opperf.domain.measurement import COLUMNS, Measurement, Memory, Outcome, Quantity, Sample, Samples, compile_time
from opperf.domain.plan import Side, Trial
from opperf.domain.reason import Reason, Warning

QUIET = Sample(calls=10, wall_ns=1_000_000, cpu_ns=900_000)
BUSY = Sample(calls=10, wall_ns=5_000_000, cpu_ns=950_000, switches=3, clean=False)


def test_the_time_of_a_call_is_the_block_over_its_calls_less_the_harness() -> None:
    assert Samples((QUIET,), overhead_ns=50.0).seconds() == [(1_000_000 / 10 - 50) / 1e9]


def test_the_cpu_time_of_a_call_has_the_harness_taken_off_too() -> None:
    assert Samples((QUIET,), overhead_ns=50.0).cpu_seconds() == [(900_000 / 10 - 50) / 1e9]


def test_no_time_is_below_zero() -> None:
    samples = Samples((Sample(calls=10, wall_ns=100, cpu_ns=100),), overhead_ns=50.0)
    assert (samples.seconds(), samples.cpu_seconds()) == ([0.0], [0.0])


def test_a_device_clock_does_not_see_the_harness() -> None:
    sample = Sample(calls=10, wall_ns=1_000_000, cpu_ns=900_000, device_ns=400_000)
    assert Samples((sample,), overhead_ns=50.0).seconds() == [400_000 / 10 / 1e9]


def test_disturbed_samples_are_left_out_unless_asked_for() -> None:
    samples = Samples((QUIET, BUSY))
    assert samples.seconds() == [1e-4]
    assert samples.seconds(clean_only=False) == [1e-4, 5e-4]
    assert samples.cpu_seconds(clean_only=False) == [0.9e-4, 0.95e-4]


def test_samples_travel_in_columns() -> None:
    written = Samples((QUIET, BUSY), 12.5).to_json()
    assert written == {
        "overhead_ns": 12.5,
        "calls": [10, 10],
        "wall_ns": [1_000_000, 5_000_000],
        "cpu_ns": [900_000, 950_000],
        "switches": [0, 3],
        "faults": [0, 0],
        "clean": [True, False],
    }


def test_columns_that_a_machine_does_not_have_are_left_out_and_others_are_kept() -> None:
    waited = Samples((Sample(1, 2, 3, waiting_ns=0, device_ns=7, voluntary=1),))
    assert set(waited.to_json()) == {"overhead_ns", *COLUMNS}
    assert Samples.from_json(waited.to_json()) == waited


def test_no_samples_are_read_back() -> None:
    assert Samples.from_json(Samples(()).to_json()) == Samples(())


def test_a_measurement_is_read_back() -> None:
    measurement = Measurement(
        {
            "time": Samples((QUIET, BUSY), 12.5),
            "latency": Samples((QUIET,)),
            **Memory(10, None, "guessed").metrics(),
            **compile_time(0.25),
        },
        facts={"sync": "block"},
        warnings=(Warning("odd", "it is odd", "look away"),),
        spent={"warmup": 0.5},
    )
    assert Measurement.from_json(json.loads(json.dumps(measurement.to_json()))) == measurement


def test_a_measurement_of_time_alone_is_read_back() -> None:
    measurement = Measurement({"time": Samples((QUIET,))})
    read = Measurement.from_json(json.loads(json.dumps(measurement.to_json())))
    assert read.metrics == {"time": measurement.time}
    assert (read.samples("latency"), read.quantity("memory_peak")) == (None, None)


def test_a_measurement_of_the_first_journals_is_read() -> None:
    old = {
        "time": Samples((QUIET,)).to_json(),
        "latency": None,
        "memory": {"peak": 10, "allocated": 20, "source": "guessed"},
        "compile_seconds": 0.25,
    }
    assert Measurement.from_json(old).metrics == {
        "time": Samples((QUIET,)),
        "memory_peak": Quantity(10, "guessed"),
        "memory_allocated": Quantity(20, "guessed"),
        "compile_time": Quantity(0.25, "first call"),
    }


@each(
    ("metrics", "message"),
    [
        ({}, "m: no `time` among the metrics, expected its samples"),
        ({"time": {"value": 1.0}}, "m: no `time` among the metrics, expected its samples"),
        ({"time": Samples(()).to_json()}, "m: no samples of `time`, expected one at least"),
        ({"time": 5}, "m.metrics.time: found 5, expected an object"),
        ({"time": {"overhead_ns": 0.0}}, "m.metrics.time.calls: found null, expected a list"),
        ({"energy": {"value": "much"}}, 'm.metrics.energy.value: found "much", expected a number'),
    ],
)
def test_metrics_that_are_none_are_refused_with_their_place(metrics: object, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        Measurement.from_json({"metrics": metrics}, "m")


TRIAL = Trial(Case("abs"), Side("null"), "forward")


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome(TRIAL, 2, "ok", Measurement({"time": Samples((Sample(1, 2, 3),))}, warnings=()), version="2.1"),
        Outcome(TRIAL, 0, "failed", reason=Reason("crash", "it died", signal="SIGSEGV")),
    ],
)
def test_an_outcome_is_read_back(outcome: Outcome) -> None:
    assert Outcome.from_json(json.loads(json.dumps(outcome.to_json()))) == outcome


def test_an_outcome_that_lacks_a_key_is_refused() -> None:
    written = Outcome(TRIAL, 0, "failed", reason=Reason("crash", "it died")).to_json()
    del written["process"]
    with pytest.raises(InputError, match="outcome: no `process`, expected a whole number >= 0"):
        Outcome.from_json(written)
