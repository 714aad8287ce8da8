"""Every metric, declared once: its unit, its better direction, its meaning and where reports show it.

The code that measures or computes a metric names it; records, files and reports look up the rest here.
"""

from __future__ import annotations

from typing import Literal

from opperf.domain.dataclass import dataclass
from opperf.domain.units import BYTE, BYTE_RATE, FLOP, FLOP_RATE, INSTRUCTION, SECOND, SHARE, Unit

#: The parts of a metric that is one number, and of one that is sampled, which machine-readable tables have columns of.
VALUE = ("value",)
STATISTICS = (
    *("median", "p90", "min", "mean", "p50", "p99", "max", "stdev"),
    *("interval_low", "interval_high", "interval_reason", "precision"),
    *("samples", "discarded", "disturbed", "calls_per_sample", "processes", "sync", "cache", "clock"),
)


@dataclass(frozen=True)
class Metric:
    """One thing that is measured. `better` is the direction in which a smaller or larger number is good news.

    `parts` have columns in machine-readable tables. Tables for people show the first of them under `title`; without one
    they do not, and `rank` orders what a narrow terminal goes without, lowest first. `sync` says when each sample waits
    where that is the same in every measurement. Of several processes a quantity is the `median` or the largest (`max`).
    """

    name: str
    unit: Unit
    better: Literal["lower", "higher", "neither"]
    meaning: str
    title: str | None = None
    rank: int | None = None
    parts: tuple[str, ...] = VALUE
    sync: Literal["call"] | None = None
    of_processes: Literal["median", "max"] = "median"


METRICS = {
    metric.name: metric
    for metric in (
        Metric(
            "time",
            SECOND,
            "lower",
            "time of one call in a pipelined block with one wait at its end",
            title="time",
            parts=STATISTICS,
        ),
        Metric(
            "time_native",
            SECOND,
            "lower",
            "time of one call without Python: the same block, called from C or C++ (`--loop native`)",
            title="native",
            rank=11,
            parts=STATISTICS,
        ),
        Metric(
            "python_share",
            SHARE,
            "neither",
            "share of the median time that Python takes: what is left of it in `time_native` is not Python's",
            title="python",
            rank=12,
        ),
        Metric(
            "instructions",
            INSTRUCTION,
            "lower",
            "instructions that one call executes in all threads, counted under Valgrind (`--clock instructions`)",
            title="instructions",
            rank=13,
        ),
        Metric(
            "latency",
            SECOND,
            "lower",
            "time of one call with a wait after it",
            title="latency",
            rank=8,
            parts=STATISTICS,
            sync="call",
        ),
        Metric(
            "device",
            SECOND,
            "lower",
            "time for which the device was busy with one call: its kernels, copies and fills, without their launch",
            title="kernels",
            rank=13,
            parts=STATISTICS,
            sync="call",
        ),
        Metric(
            "device_cold",
            SECOND,
            "lower",
            "the same with the device's second-level cache emptied before each call",
            title="kernels, cold",
            rank=3,
            parts=STATISTICS,
            sync="call",
        ),
        Metric(
            "launch_gap",
            SECOND,
            "lower",
            "median latency less the median time that the device was busy: launches, waits and gaps between kernels",
            title="launch gap",
            rank=2,
        ),
        Metric(
            "cpu_time",
            SECOND,
            "lower",
            "CPU time of one call, over all threads of the process",
            title="cpu time",
            rank=5,
            parts=("median",),
        ),
        Metric(
            "compile_time", SECOND, "lower", "time to trace and compile before the first call", title="compile", rank=6
        ),
        Metric(
            "memory_peak",
            BYTE,
            "lower",
            "most bytes live at once during one call, inputs left out",
            title="memory",
            rank=10,
            parts=("value", "source"),
            of_processes="max",
        ),
        Metric(
            "memory_allocated",
            BYTE,
            "lower",
            "bytes that one call asks the framework's allocator for",
            of_processes="max",
        ),
        Metric(
            "memory_kept",
            BYTE,
            "lower",
            "bytes that stay in memory after one call, where many calls leave a megabyte and go on leaving it",
            of_processes="max",
        ),
        Metric(
            "flops",
            FLOP,
            "neither",
            "floating-point operations of one call, by the operator's formula or the framework's count",
        ),
        Metric(
            "bytes",
            BYTE,
            "neither",
            "bytes that one call must move at least, by the operator's formula or the tensors it meets",
        ),
        Metric("flop_rate", FLOP_RATE, "higher", "flops over the median time", title="FLOP rate", rank=9),
        Metric("byte_rate", BYTE_RATE, "higher", "bytes over the median time", title="byte rate", rank=7),
    )
}
