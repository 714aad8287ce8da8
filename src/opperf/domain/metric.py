"""Every metric, declared once: unit, better direction, meaning, how sides are compared by it, where reports show it.

The code that measures or computes a metric names it. Records, comparisons, gates, searches, the database, files and
reports look up the rest here.
"""

from __future__ import annotations

from typing import Literal

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.units import BYTE, BYTE_RATE, FLOP, FLOP_RATE, INSTRUCTION, JOULE, NUMBER, SECOND, SHARE, Unit

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
    Two sides are compared by an interval over pairs of processes where it is `sampled`, by the range of a few pairs
    where it is `exact`, and not at all where it is computed from others, or its own direction is no better. What is
    given by benchmarks of another tool, in place of a time, has one value in each process: it is read `once`.
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
    compared: Literal["sampled", "exact"] | None = None
    once: bool = False

    @property
    def words(self) -> str:
        """How a sentence names it."""
        return self.name.replace("_", " ")


#: What is measured only where it is asked for: reading it takes longer than all the rest.
ENERGY = "energy"
#: The slug of the reason that a machine has nothing to measure a metric by.
NO_METER = "no_meter"
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
            compared="sampled",
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
            compared="exact",
        ),
        Metric(
            ENERGY,
            JOULE,
            "lower",
            "energy of one call by the counters of the processor's packages (RAPL) or of the GPU (NVML), "
            "with all that runs there meanwhile (`--metric energy`)",
            title="energy",
            rank=13,
            parts=("value", "source"),
            compared="sampled",
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
            compared="sampled",
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
            compared="sampled",
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
            compared="sampled",
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
            "compile_time",
            SECOND,
            "lower",
            "time to trace and compile before the first call",
            title="compile",
            rank=6,
            compared="sampled",
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
            compared="exact",
        ),
        Metric(
            "memory_allocated",
            BYTE,
            "lower",
            "bytes that one call asks the framework's allocator for",
            of_processes="max",
            compared="exact",
        ),
        Metric(
            "memory_kept",
            BYTE,
            "lower",
            "bytes that stay in memory after one call, where many calls leave a megabyte and go on leaving it",
            of_processes="max",
            compared="sampled",
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
        Metric(
            "tracked",
            NUMBER,
            "lower",
            "what a `track_` benchmark of asv returns, in its own unit",
            title="tracked",
            rank=10,
            parts=("value", "unit"),
            compared="sampled",
            once=True,
        ),
        Metric(
            "process_peak",
            BYTE,
            "lower",
            "most memory that a process held which ran a `peakmem_` benchmark of asv, with all that it imported",
            title="process peak",
            rank=10,
            compared="sampled",
            once=True,
        ),
        Metric(
            "object_size",
            BYTE,
            "lower",
            "size of the object that a `mem_` benchmark of asv returns",
            title="object size",
            rank=10,
            compared="sampled",
            once=True,
        ),
        Metric(
            "time_raw",
            SECOND,
            "lower",
            "time of what a `timeraw_` benchmark of asv has a new Python execute, the median of a few",
            title="raw time",
            rank=10,
            compared="sampled",
            once=True,
        ),
        Metric("flop_rate", FLOP_RATE, "higher", "flops over the median time", title="FLOP rate", rank=9),
        Metric("byte_rate", BYTE_RATE, "higher", "bytes over the median time", title="byte rate", rank=7),
    )
}
#: What users call a metric for short.
SHORT = {"memory": "memory_peak"}


def compared_metric(name: str) -> Metric:
    """Return the metric by which two sides are to be compared; raises `InputError` for a name that is none.

    >>> compared_metric("memory").name, compared_metric("energy").unit.symbol
    ('memory_peak', 'J')
    """
    metric = METRICS.get(SHORT.get(name, name))
    if metric is not None and metric.compared is not None:
        return metric
    problem = f"`--metric` is `{name}`" + ("" if metric is None else ", which sides are not compared by")
    raise InputError(f"{problem}, expected {', '.join(compared_names())}")


def compared_names() -> list[str]:
    """Name the metrics by which two sides can be compared, as users do."""
    return [*(name for name, metric in METRICS.items() if metric.compared is not None), *SHORT]
