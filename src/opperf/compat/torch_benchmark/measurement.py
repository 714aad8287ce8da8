"""What a `Timer` has measured, and tables of it: PyTorch's classes, with what opperf knows beyond the times."""

from __future__ import annotations

import os
import platform
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from torch.utils import benchmark

from opperf.domain.reason import Warning
from opperf.domain.stats.order import median, relative_precision
from opperf.domain.stats.significance import log_interval
from opperf.domain.units import format_bound, format_interval, plural

_STARTED = time.time_ns()


def this_process() -> str:
    """Tell this process from all others, on other machines and at other times too."""
    return f"{platform.node()}/{os.getpid()}/{_STARTED}"


@dataclass(repr=False)
class Measurement(benchmark.Measurement):  # type: ignore[misc]  # `Compare` takes nothing else
    """The times of a statement, in seconds, as PyTorch's `Measurement` has them, without disturbed samples.

    `discarded` says how many samples were left out, `clock` whether CPU time stands in for `wall` time, `process` which
    process measured it; `parts` are the measurements that were merged into it.
    """

    discarded: int = 0
    clock: str = "wall"
    doubts: tuple[Warning, ...] = ()
    process: str = ""
    parts: tuple[benchmark.Measurement, ...] = ()

    @property
    def precision(self) -> float | None:
        """Half the width of the median's 95 % interval within the process, as a share of it; None under six times."""
        return relative_precision(self.times)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the time of one call, in seconds, over three processes or more; None over fewer."""
        return log_interval([median(times) for times in self._by_process.values()])

    @property
    def _by_process(self) -> dict[str, list[float]]:
        times: defaultdict[str, list[float]] = defaultdict(list)
        for part in self.parts or (self,):
            if process := getattr(part, "process", ""):
                times[process] += part.times
        return dict(times)

    @property
    def has_warnings(self) -> bool:
        """Whether the times are spread widely, as PyTorch has it, or opperf doubts them."""
        return bool(super().has_warnings or self.doubts)

    def __repr__(self) -> str:
        return "\n".join([super().__repr__(), *self._lines()])

    def _lines(self) -> Iterator[str]:
        """Yield what opperf adds to PyTorch's lines."""
        if self.interval is not None:
            yield f"  Interval: {format_interval(self.interval)} over {plural(len(self._by_process), 'process')}"
        elif self.precision is not None:
            yield f"  Median known to {format_bound(self.precision)} within this process"
        if self.discarded:
            yield f"  {plural(self.discarded, 'disturbed sample')} left out"
        for doubt in self.doubts:
            yield f"  WARNING: {doubt.message}"

    @staticmethod
    def merge(measurements: Iterable[benchmark.Measurement]) -> list[Measurement]:
        """Merge the measurements of each task, as PyTorch does; three processes of one make an interval."""
        groups: defaultdict[benchmark.TaskSpec, list[benchmark.Measurement]] = defaultdict(list)
        for measurement in measurements:
            groups[measurement.task_spec] += getattr(measurement, "parts", ()) or (measurement,)
        return [_merge(spec, parts) for spec, parts in groups.items()]


def _merge(spec: benchmark.TaskSpec, parts: Sequence[Any]) -> Measurement:
    return Measurement(
        number_per_run=1,
        raw_times=[seconds for part in parts for seconds in part.times],
        task_spec=spec,
        discarded=sum(getattr(part, "discarded", 0) for part in parts),
        clock="cpu" if any(getattr(part, "clock", "") == "cpu" for part in parts) else "wall",
        doubts=tuple({doubt.slug: doubt for part in parts for doubt in getattr(part, "doubts", ())}.values()),
        parts=tuple(parts),
    )


class Compare(benchmark.Compare):  # type: ignore[misc]  # the table is PyTorch's
    """PyTorch's table of measurements; `highlight_warnings` also says below it what opperf doubts, and why."""

    def __init__(self, results: Sequence[benchmark.Measurement]) -> None:
        self._measurements: list[benchmark.Measurement] = []
        self._names_doubts = False
        super().__init__(results)

    def extend_results(self, results: Iterable[benchmark.Measurement]) -> None:
        """Append measurements, opperf's or PyTorch's; raises `ValueError` for anything else."""
        results = [*results]
        super().extend_results(results)
        self._measurements += results

    def highlight_warnings(self) -> None:
        """Mark times that are spread widely, and list doubts below the table."""
        self._names_doubts = True
        super().highlight_warnings()

    def __str__(self) -> str:
        return "\n".join([super().__str__(), *(self._doubts() if self._names_doubts else ())])

    def _doubts(self) -> Iterator[str]:
        for measurement in Measurement.merge(self._measurements):
            for doubt in measurement.doubts:
                name = ", ".join(filter(None, (measurement.title, measurement.description, measurement.task_spec.env)))
                yield f"! {name}, {plural(measurement.num_threads, 'thread')}: {doubt.message}"
