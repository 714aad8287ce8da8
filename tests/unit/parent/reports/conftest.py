"""One small run, made by hand, with every kind of record a report has to show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from opperf.domain.case import Case, ListOf
from opperf.domain.measurement import Quantity
from opperf.domain.metric import METRICS
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.reason import Reason, Warning
from opperf.domain.record import Record, Run, Statistics
from opperf.domain.tensor import TensorSpec

TORCH = Side("torch", environment="torch")
NUMPY = Side("numpy", environment="numpy==1.26.4")
BIG = TensorSpec((1024, 1024))
ADD = Case("add", {"lhs": BIG, "rhs": BIG})
TAKE = Case("take", {"data": TensorSpec((5000, 64)), "indices": TensorSpec((32,), "int64")}, {"axis": 0})
CONCAT = Case("concat", {"data": ListOf((TensorSpec((8, 8)),) * 6)}, {"axis": 1})


def statistics(median: float, **changes: Any) -> Statistics:
    """Return a plausible summary around a median."""
    given: dict[str, Any] = {
        "mean": median * 1.01,
        "median": median,
        "p90": median * 1.1,
        "p99": median * 1.4,
        "min": median * 0.95,
        "max": median * 2,
        "stdev": median * 0.03,
        "interval": None,
        "interval_reason": "1 process, an interval needs 3",
        "precision": 0.0123,
        "samples": 90,
        "calls_per_sample": 32,
        "discarded": 10,
        "processes": 1,
        "sync": "block",
        "cache": "hot",
    }
    return Statistics(**given | changes)


def run_of(*records: Record) -> Run:
    """Return a run that holds these records."""
    return Run("r1", "2026-11-21T08:00:00+00:00", ("run", "add"), Settings(), {}, {}, records)


def records() -> tuple[Record, ...]:
    """Return the records, not in reading order."""
    busy = Warning("busy_machine", "10 of 100 samples were disturbed", "stop other programs, or pin with `--cpus`")
    return (
        Record(
            Trial(ADD, TORCH, "forward", "catalog:common"),
            "ok",
            metrics={
                "time": statistics(0.0003127, discarded=0, samples=100),
                "latency": statistics(0.0003301),
                "cpu_time": statistics(0.0003125),
                "memory_peak": Quantity(4194304, "torch profiler"),
                "memory_allocated": Quantity(4194304, "torch profiler"),
                "flops": Quantity(1048576.0, "formula"),
                "bytes": Quantity(12582912.0, "formula"),
                "flop_rate": Quantity(3.353e9),
                "byte_rate": Quantity(40.24e9),
            },
            facts={"implementation": "torch:torch.add", "version": "2.13.0"},
            samples={
                "time": [
                    {
                        "overhead_ns": 0.0,
                        "calls": [1, 1],
                        "wall_ns": [10006400, 10016400],
                        "cpu_ns": [10006000, 10016000],
                    }
                ]
            },
        ),
        Record(
            Trial(TAKE, TORCH, "forward"),
            "ok",
            metrics={
                "time": statistics(
                    4.2e-6, interval=(4.05e-6, 4.41e-6), interval_reason=None, processes=3, samples=300, discarded=0
                )
            },
            facts={"implementation": "torch:torch.index_select", "version": "2.13.0"},
        ),
        Record(
            Trial(ADD, NUMPY, "forward", "catalog:common"),
            "ok",
            metrics={
                "time": statistics(0.000512, clock="cpu"),
                "memory_peak": Quantity(4194416, "tracemalloc"),
                "byte_rate": Quantity(24.6e9),
            },
            warnings=(busy, Warning("drift", "times rise by 4 % | from start to end", None)),
            facts={"implementation": "numpy:numpy.add", "version": "1.26.4"},
        ),
        Record(
            Trial(ADD, NUMPY, "backward", "catalog:common"),
            "skipped",
            Reason("no_gradient", "NumPy has no gradients", "measure `--direction forward`"),
            facts={"version": "1.26.4"},
        ),
        Record(
            Trial(ADD, TORCH, "backward", "catalog:common"),
            "ok",
            metrics={"time": statistics(0.0000415, precision=None)},
            warnings=(Warning("busy_machine", "31 of 100 samples were disturbed", busy.hint),),
            facts={"implementation": "torch:torch.add", "version": "2.13.0"},
        ),
        Record(
            Trial(CONCAT, TORCH, "forward"),
            "failed",
            Reason("crash", "the child died\nat block 3", "run it alone", "SIGSEGV", stderr="Fatal Python error\n"),
        ),
        Record(
            Trial(TAKE, NUMPY, "forward"),
            "failed",
            Reason("raised", "IndexError: index 5000 is out of bounds", None, None, "IndexError", "Traceback ..."),
            facts={"implementation": "numpy:numpy.take", "version": "1.26.4"},
        ),
    )


@pytest.fixture
def run() -> Run:
    """A run with ok, failed and skipped records, warnings, an interval, and records without latency."""
    return run_of(*records())


@pytest.fixture
def empty_run() -> Run:
    """A run without records."""
    return run_of()


@pytest.fixture
def run_named() -> Callable[[str, str], Run]:
    """A function that makes a run of one failed and one measured record from an operator's name and a message."""

    def make(operator: str, message: str) -> Run:
        warned = (Warning("odd", message, message),)
        case = Case(operator, {"data": BIG})
        return run_of(
            Record(Trial(case, TORCH, "forward"), "ok", metrics={"time": statistics(1e-3)}, warnings=warned),
            Record(Trial(case, TORCH, "backward"), "failed", Reason("raised", message, message)),
        )

    return make


@pytest.fixture
def run_with_metrics() -> Callable[..., Run]:
    """A function that makes a run of one measured record from its metrics."""

    def make(**metrics: Any) -> Run:
        assert set(metrics) <= set(METRICS)
        return run_of(Record(Trial(ADD, TORCH, "forward"), "ok", metrics=metrics))

    return make
