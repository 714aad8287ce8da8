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


def measure(settings: Settings, times: int = 1) -> list[Measurement]:
    """Measure the trial several times in one child."""
    with Pool(settings, lambda _: None) as pool:
        outcomes = [pool.measure(TRIAL, 0) for _ in range(times)]
    measurements = [one.measurement for one in outcomes if one.measurement is not None]
    assert len(measurements) == times, [one.reason for one in outcomes]
    return measurements


def libraries(cache: Path) -> set[Path]:
    """Return what a C++ compiler has written."""
    return {*(cache / "compiled").rglob("*.so")}


def test_the_second_process_loads_what_the_first_compiled_and_neither_compiles_twice(cache: Path) -> None:
    first, again = measure(QUICK, 2)
    compiling, repeated = first.quantity("compile_time"), again.quantity("compile_time")
    assert compiling is not None
    assert repeated is not None
    assert compiling.value == repeated.value  # that of the one compilation
    assert "compiled" not in first.facts
    written = libraries(cache)
    assert written
    (second,) = measure(QUICK)
    assert second.quantity("compile_time") is None
    assert str(second.facts["compiled"]).startswith("loaded from the cache in ")
    assert libraries(cache) == written
    (third,) = measure(replace(QUICK, compile_cache="none"))
    assert third.quantity("compile_time") is not None
    assert libraries(cache) == written
