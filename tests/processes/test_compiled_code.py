"""What a child compiles: once in its process, and not at all where an equal one has compiled it before."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from opperf.catalog import operator
from opperf.domain.measurement import Measurement
from opperf.domain.plan import Settings, Side, Trial
from opperf.parent.workers.pool import Pool

QUICK = Settings(warmup=1, runs=2, trial_budget=1.0, memory=False, latency=False)
TRIAL = Trial(operator("softmax").case("small"), Side("torch", "torch", mode="compiled"), "forward")


def measure(settings: Settings, times: int = 1, trial: Trial = TRIAL) -> list[Measurement]:
    """Measure a trial several times in one child."""
    with Pool(settings, lambda _: None) as pool:
        outcomes = [pool.measure(trial, 0) for _ in range(times)]
    measurements = [one.measurement for one in outcomes if one.measurement is not None]
    assert len(measurements) == times, [one.reason for one in outcomes]
    return measurements


def compile_time(measurement: Measurement) -> float | None:
    """Return the seconds that compiling took, None where that is not known."""
    quantity = measurement.quantity("compile_time")
    return None if quantity is None else quantity.value


def libraries(cache: Path) -> set[Path]:
    """Return what a C++ compiler has written."""
    return {*(cache / "compiled").rglob("*.so")}


def test_the_second_process_loads_what_the_first_compiled_and_neither_compiles_twice(cache: Path) -> None:
    first, again = measure(QUICK, 2)
    assert compile_time(first) is not None
    assert compile_time(first) == compile_time(again)  # that of the one compilation
    assert "compiled" not in first.facts
    written = libraries(cache)
    assert written
    (second,) = measure(QUICK)
    assert compile_time(second) is None
    assert str(second.facts["compiled"]).startswith("loaded from the cache in ")
    assert libraries(cache) == written
    (third,) = measure(replace(QUICK, compile_cache="none"))
    assert compile_time(third) is not None
    assert libraries(cache) == written


def test_a_process_of_jax_compiles_a_call_once_and_another_call_anew() -> None:
    side = Side("jax", "jax", mode="compiled")
    first, other = (Trial(operator("sum").case(size), side, "forward") for size in ("small", "common"))
    with Pool(QUICK, lambda _: None) as pool:
        measurements = [pool.measure(trial, 0).measurement for trial in (first, first, other, first)]
    times = [compile_time(one) for one in measurements if one is not None]
    assert len(times) == 4
    assert times[0] == times[1]
    assert len({*times}) == 3
