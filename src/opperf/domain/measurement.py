"""What a child saw of one trial in one process: raw samples in columns, memory, notes and doubts. Nothing is averaged.

These values cross the wall: the child writes them, the parent summarises them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import GenericAlias
from typing import Any, get_type_hints

from opperf.domain.codec import Count, Fields, decode, read_as, wrong
from opperf.domain.errors import InputError
from opperf.domain.reason import Warning


@dataclass(frozen=True)
class Sample:
    """One timed block, with the disturbance seen around it.

    Times are nanoseconds, as the clocks give them. `waiting_ns` is the time that the process's threads stood in the run
    queue, None where the kernel does not say. `device_ns` is the device's own clock, where there is one. `clean` is
    the judgement of the rule in force.
    """

    calls: Count
    wall_ns: int
    cpu_ns: int
    switches: int = 0
    faults: int = 0
    waiting_ns: int | None = None
    device_ns: int | None = None
    clean: bool = True


#: A call longer than this can hardly escape a busy neighbour; its CPU time says more than its wall time then.
LONG_CALL = 2e-3
COLUMNS = tuple(Sample.__dataclass_fields__)
_LISTS = {name: GenericAlias(tuple, (hint, ...)) for name, hint in get_type_hints(Sample, include_extras=True).items()}


@dataclass(frozen=True)
class Samples(Fields):
    """The samples of one metric, and the harness cost of one call that is to be subtracted."""

    samples: tuple[Sample, ...]
    overhead_ns: float = 0.0

    def seconds(self, *, clean_only: bool = True) -> list[float]:
        """Return the time of one call in each sample, in seconds, harness cost subtracted, never below zero."""
        return [max(0.0, self._nanoseconds(sample)) / 1e9 for sample in self.samples if sample.clean or not clean_only]

    def cpu_seconds(self, *, clean_only: bool = True) -> list[float]:
        """Return the CPU time of one call in each sample, in seconds, harness cost subtracted."""
        return [
            max(0.0, sample.cpu_ns / sample.calls - self.overhead_ns) / 1e9
            for sample in self.samples
            if sample.clean or not clean_only
        ]

    def _nanoseconds(self, sample: Sample) -> float:
        """Return the time of one call; a device's clock does not see what the harness costs."""
        if sample.device_ns is not None:
            return sample.device_ns / sample.calls
        return sample.wall_ns / sample.calls - self.overhead_ns

    def to_json(self) -> dict[str, Any]:
        """Return the columns."""
        columns: dict[str, Any] = {name: [getattr(sample, name) for sample in self.samples] for name in COLUMNS}
        for name in ("waiting_ns", "device_ns"):
            if all(value is None for value in columns[name]):
                del columns[name]
        return {"overhead_ns": self.overhead_ns, **columns}

    @classmethod
    def from_json(cls, data: Any, where: str = "samples") -> Samples:
        """Read the columns; raises `InputError` that names the place."""
        columns = sample_columns(data, where)
        rows = zip(*columns.values())
        overhead = read_as(float, data.get("overhead_ns"), f"{where}.overhead_ns")
        return cls(tuple(Sample(**dict(zip(columns, row))) for row in rows), overhead)


def sample_columns(data: object, where: str) -> dict[str, tuple[Any, ...]]:
    """Return the columns of samples, all of one length; raises `InputError` that names the place."""
    if not isinstance(data, dict):
        raise wrong(data, where, "an object")
    columns = {}
    for name in COLUMNS:
        if name in data or name in ("calls", "wall_ns", "cpu_ns"):
            columns[name] = read_as(_LISTS[name], data.get(name), f"{where}.{name}")
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        raise InputError(f"{where}: columns of {sorted(lengths)} samples, expected the same number in each")
    return columns


@dataclass(frozen=True)
class Memory(Fields):
    """What one call took, in bytes; `source` says how that is known."""

    peak: int
    allocated: int | None
    source: str


@dataclass(frozen=True)
class Counts:
    """What one call computes and moves: floating-point operations and bytes; `source` says how that is known.

    None is not known. Bytes are those of the inputs and results, each moved once.
    """

    flops: int | None
    bytes: int | None
    source: str


@dataclass(frozen=True)
class Measurement(Fields):
    """One trial in one process.

    `facts` says how it was measured (implementation, backward method, synchronisation, cache state, block length).
    `spent` is where the trial's own wall time went, in seconds by stage.
    """

    time: Samples
    latency: Samples | None = None
    memory: Memory | None = None
    compile_seconds: float | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    warnings: Sequence[Warning] = ()
    spent: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def from_json(cls, data: object, where: str = "measurement") -> Measurement:
        """Read the JSON form; raises `InputError` that names the place."""
        measurement = decode(cls, data, where)
        for name, samples in (("time", measurement.time), ("latency", measurement.latency)):
            if samples is not None and not samples.samples:
                raise InputError(f"{where}.{name}: no samples, expected one at least", slug="bad_value")
        return measurement
