"""Which samples of a trial count: disturbed ones are left out while enough clean ones remain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from opperf.domain.measurement import LONG_CALL, Samples
from opperf.domain.stats.order import median

#: Clean samples that are enough, whatever their share; below that, half of all samples must be clean.
ENOUGH_CLEAN = 10


@dataclass(frozen=True)
class Kept:
    """The times that count, by process, in seconds; how many were left out; how many count although disturbed."""

    processes: Sequence[Sequence[float]]
    discarded: int
    calls: int
    clock: str = "wall"
    disturbed: int = 0

    @property
    def pooled(self) -> list[float]:
        """The times of all processes."""
        return [time for process in self.processes for time in process]

    @classmethod
    def of(cls, measured: Sequence[Samples], threads: int) -> Kept:
        """Choose among the samples of each process; disturbed ones are left out while enough clean ones remain."""
        clean = [samples.seconds() for samples in measured]
        every = [samples.seconds(clean_only=False) for samples in measured]
        calls = measured[0].samples[0].calls
        kept, taken = sum(map(len, clean)), sum(map(len, every))
        # Each process must keep one at least, or it would have no value of its own.
        if all(clean) and (kept >= ENOUGH_CLEAN * len(clean) or 2 * kept >= taken):
            return cls(clean, taken - kept, calls)
        if threads == 1 and median([time for times in every for time in times]) > LONG_CALL:
            return cls([samples.cpu_seconds(clean_only=False) for samples in measured], 0, calls, "cpu", taken - kept)
        return cls(every, 0, calls, "wall", taken - kept)

    @classmethod
    def of_cpu(cls, measured: Sequence[Samples]) -> Kept:
        """Choose CPU times: the clean ones, or all where none is."""
        times = [samples.cpu_seconds() or samples.cpu_seconds(clean_only=False) for samples in measured]
        taken = sum(len(samples.samples) for samples in measured)
        return cls(times, taken - sum(map(len, times)), measured[0].samples[0].calls, "cpu")
