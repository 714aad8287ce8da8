"""Every metric, declared once: its unit, which direction is better, and what it says. Printers ask this table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Metric:
    """One thing that is measured. `better` is the direction in which a smaller or larger number is good news."""

    name: str
    unit: Literal["s", "B", "FLOP", "FLOP/s", "B/s"]
    better: Literal["lower", "higher", "neither"]
    meaning: str


METRICS = {
    metric.name: metric
    for metric in (
        Metric("time", "s", "lower", "time of one call in a pipelined block with one wait at its end"),
        Metric("latency", "s", "lower", "time of one call with a wait after it"),
        Metric("cpu_time", "s", "lower", "CPU time of one call, over all threads of the process"),
        Metric("memory_peak", "B", "lower", "most bytes live at once during one call, inputs left out"),
        Metric("memory_allocated", "B", "lower", "bytes that one call asks the framework's allocator for"),
        Metric("compile_time", "s", "lower", "time to trace and compile before the first call"),
        Metric(
            "flops",
            "FLOP",
            "neither",
            "floating-point operations of one call, by the operator's formula or the framework's count",
        ),
        Metric(
            "bytes",
            "B",
            "neither",
            "bytes that one call must move at least, by the operator's formula or the tensors it meets",
        ),
        Metric("flop_rate", "FLOP/s", "higher", "flops over the median time"),
        Metric("byte_rate", "B/s", "higher", "bytes over the median time"),
    )
}
