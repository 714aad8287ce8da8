"""The measurement of a trial in one process: metrics, raw samples in columns, notes and warnings.

Nothing is averaged: the child writes these values, journals hold them, and the parent makes records from them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from itertools import repeat
from types import GenericAlias
from typing import Optional, Union, get_type_hints

from opperf.domain.codec import Fields, decode, read_as
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.files.json_text import JsonObject
from opperf.domain.node import Node
from opperf.domain.plan import Side, Trial
from opperf.domain.reason import Reason, Status, Warning
from opperf.domain.stats.order import median
from opperf.domain.type_hint import Count, Natural, Unread, wrong


@dataclass(frozen=True)
class Sample:
    """One timed block, with the disturbance seen around it.

    Times are nanoseconds, as the clocks give them. `waiting_ns` is the time that the process's threads stood in the run
    queue, None where the kernel does not say. `device_ns` is the device's own clock, where there is one. `clean` is
    the judgement of the rule in force. `switches` took the CPU away; at a `voluntary` one a thread gave it up, to wait.
    """

    calls: Count
    wall_ns: int
    cpu_ns: int
    switches: int = 0
    faults: int = 0
    waiting_ns: int | None = None
    device_ns: int | None = None
    clean: bool = True
    voluntary: int = 0


#: This many clean samples are always enough; with fewer, half of all samples must be clean.
ENOUGH_CLEAN = 10
#: A call longer than this can hardly escape a busy neighbour; its CPU time says more than its wall time then.
LONG_CALL = 2e-3
#: CPU time is no call's time where a thread gave up the CPU in more than this share of the samples: such calls wait.
#: In calls that compute it happens in hardly any sample, in calls that wait in almost every one.
MOST_WAITS = 0.1
#: But where CPU time and the time of all threads in the run queue explain all but this share of the typical sample, a
#: thread only waits for another one of the process that computes for it, as XLA's do.
MOST_UNSEEN = 0.02
#: Nor where even the quickest sample took this many times what its CPU time and its time in the run queue explain.
MOST_UNEXPLAINED = 2.0
#: Nor where the quickest sample has this many times more CPU time than wall time: the call has threads of its own.
SEVERAL_THREADS = 1.1
COLUMNS = tuple(Sample.__dataclass_fields__)
_DEFAULTS = {name: field.default for name, field in Sample.__dataclass_fields__.items()}
_LISTS = {name: GenericAlias(tuple, (hint, ...)) for name, hint in get_type_hints(Sample, include_extras=True).items()}


@dataclass(frozen=True)
class Samples(Fields):
    """The samples of one metric, and the harness cost to subtract from each call."""

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

    @property
    def has_threads(self) -> bool:
        """Whether the calls compute in threads of their own: even the quickest has more CPU time than wall time."""
        return self._quickest.cpu_ns > SEVERAL_THREADS * self._quickest.wall_ns

    @property
    def _quickest(self) -> Sample:
        return min(self.samples, key=lambda sample: sample.wall_ns / sample.calls)

    @property
    def only_compute(self) -> bool:
        """Whether the calls do nothing but compute in one thread, so that CPU time is the time that they need.

        A call that waits for a timer, a lock, another thread or another process takes that time on any machine.
        """
        waited = sum(sample.voluntary > 0 for sample in self.samples)
        if waited > MOST_WAITS * len(self.samples) and not self._explained:
            return False
        quickest = self._quickest
        explained = quickest.cpu_ns + (quickest.waiting_ns or 0)
        return not self.has_threads and quickest.wall_ns <= MOST_UNEXPLAINED * explained

    @property
    def _explained(self) -> bool:
        """Whether some thread of the process computed, or was ready to, nearly all the time."""
        unseen = [
            1.0 if sample.waiting_ns is None else (sample.wall_ns - sample.cpu_ns - sample.waiting_ns) / sample.wall_ns
            for sample in self.samples
        ]
        return median(unseen) <= MOST_UNSEEN

    def by_the_host(self) -> Samples:
        """Return these samples with the host's time alone: a program that waits does not see when a device was done."""
        if self.samples[0].device_ns is None:
            return self
        return replace(self, samples=tuple(replace(sample, device_ns=None) for sample in self.samples))

    def _nanoseconds(self, sample: Sample) -> float:
        """Return the time of one call; a device's clock does not see what the harness costs."""
        if sample.device_ns is not None:
            return sample.device_ns / sample.calls
        return sample.wall_ns / sample.calls - self.overhead_ns

    def to_json(self) -> dict[str, object]:
        """Return the columns."""
        columns = {name: [getattr(sample, name) for sample in self.samples] for name in COLUMNS}
        for name in ("waiting_ns", "device_ns"):
            if all(value is None for value in columns[name]):
                del columns[name]
        if not any(columns["voluntary"]):
            del columns["voluntary"]
        return {"overhead_ns": self.overhead_ns, **columns}

    @classmethod
    def from_json(cls, data: object, where: str = "samples") -> Samples:
        """Read the columns; raises `InputError` that names the place."""
        columns = sample_columns(data, where)
        count = len(columns["calls"])
        rows = zip(*(columns.get(name) or repeat(default, count) for name, default in _DEFAULTS.items()))
        return cls(tuple(Sample(*row) for row in rows), _overhead(read_as(Mapping[str, Unread], data, where), where))


def _overhead(fields: Mapping[str, object], where: str) -> float:
    overhead: float = read_as(float, fields.get("overhead_ns"), f"{where}.overhead_ns")
    return overhead


def sample_columns(data: object, where: str) -> dict[str, tuple[int, ...]]:
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
    _overhead(data, where)
    return columns


@dataclass(frozen=True)
class CountedTimes:
    """The times that count, by process, in seconds; how many were left out; how many count although disturbed.

    `waits`: CPU time would have stood in for them if their calls did nothing but compute.
    """

    processes: Sequence[Sequence[float]]
    discarded: int
    calls: int
    clock: str = "wall"
    disturbed: int = 0
    waits: bool = False

    @property
    def pooled(self) -> list[float]:
        """The times of all processes."""
        return [time for process in self.processes for time in process]

    @classmethod
    def of(cls, samples_of_processes: Sequence[Samples], side: Side) -> CountedTimes:
        """Choose among the samples of each process; disturbed ones are left out while enough clean ones remain.

        Without them CPU time stands in for long calls, where these only compute, in one thread of the CPU.
        """
        clean = [samples.seconds() for samples in samples_of_processes]
        every = [samples.seconds(clean_only=False) for samples in samples_of_processes]
        calls = samples_of_processes[0].samples[0].calls
        count, of_all = sum(map(len, clean)), sum(map(len, every))
        # Each process must keep at least one, or it would have no value.
        if all(clean) and (count >= ENOUGH_CLEAN * len(clean) or 2 * count >= of_all):
            return cls(clean, of_all - count, calls)
        long = side.is_one_cpu and median([time for times in every for time in times]) > LONG_CALL
        if long and all(samples.only_compute for samples in samples_of_processes):
            return cls(
                [samples.cpu_seconds(clean_only=False) for samples in samples_of_processes],
                0,
                calls,
                "cpu",
                of_all - count,
            )
        return cls(every, 0, calls, "wall", of_all - count, waits=long)

    def disturbance(self, *, threads: bool) -> Warning:
        """The warning for too few clean samples; `threads`: what interrupts the calls is their own threads."""
        share = f"{self.disturbed} of the {len(self.pooled)} samples"
        if threads:
            return Warning(
                "own_threads",
                f"the calls compute in threads of their own, which interrupted {share}; all are used, by wall time",
                "give each a CPU with `--threads`, as in `--threads 2`",
            )
        stand_in = "CPU time replaces wall time" if self.clock == "cpu" else "all samples are used"
        if self.waits:
            stand_in += ", by wall time: the calls wait for something"
        return Warning(
            "few_clean_samples",
            f"the machine disturbed {share}; {stand_in}",
            "run on an idle machine, or give more `--runs` or `--trial-budget`",
        )

    @classmethod
    def of_cpu(cls, samples_of_processes: Sequence[Samples]) -> CountedTimes:
        """Choose CPU times: the clean ones, or all where none is."""
        times = [samples.cpu_seconds() or samples.cpu_seconds(clean_only=False) for samples in samples_of_processes]
        of_all = sum(len(samples.samples) for samples in samples_of_processes)
        return cls(times, of_all - sum(map(len, times)), samples_of_processes[0].samples[0].calls, "cpu")


@dataclass(frozen=True)
class Quantity(Fields):
    """A metric that is one number. `source` says where it comes from, `resolution` which share of it is not told.

    `unit` is that of a number which has another than its metric.
    """

    value: float
    source: Optional[str] = None
    resolution: float = 0.0
    unit: Optional[str] = None

    sparse = ("resolution", "unit")


@dataclass(frozen=True)
class Memory(Fields):
    """What one call took, in bytes; `source` says how that is known."""

    peak: int
    allocated: Optional[int]
    source: str

    def metrics(self) -> dict[str, Quantity]:
        """Return the metrics that these are."""
        allocated = {} if self.allocated is None else {"memory_allocated": Quantity(self.allocated, self.source)}
        return {"memory_peak": Quantity(self.peak, self.source), **allocated}


def compile_time(seconds: float) -> dict[str, Quantity]:
    """Return the metric that tracing and compiling before the first call is."""
    return {"compile_time": Quantity(seconds, "first call")}


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

    `metrics` are named as in the table of `metric.py`; `time` is always one of them. `facts` says how it was measured
    (implementation, backward method, synchronisation, cache state, block length). `spent` is where the trial's own wall
    time went, in seconds by stage.
    """

    metrics: Mapping[str, Union[Samples, Quantity]]
    facts: JsonObject = field(default_factory=dict)
    warnings: Sequence[Warning] = ()
    spent: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.samples("time") is None:
            raise InputError("no `time` among the metrics, expected its samples", slug="bad_value")
        for name, metric in self.metrics.items():
            if isinstance(metric, Samples) and not metric.samples:
                raise InputError(f"no samples of `{name}`, expected one at least", slug="bad_value")

    @property
    def time(self) -> Samples:
        """The samples of the time of one call."""
        time = self.metrics["time"]
        assert isinstance(time, Samples)
        return time

    def samples(self, name: str) -> Samples | None:
        """Return a metric that was sampled, None where it was not measured."""
        metric = self.metrics.get(name)
        return metric if isinstance(metric, Samples) else None

    def quantity(self, name: str) -> Quantity | None:
        """Return a metric that is one number, None where it was not measured."""
        metric = self.metrics.get(name)
        return metric if isinstance(metric, Quantity) else None

    def level(self, name: str) -> Quantity | None:
        """Return a metric as one number, of samples their median; None where it was not measured."""
        samples = self.samples(name)
        if samples is None:
            return self.quantity(name)
        return Quantity(median(samples.seconds() or samples.seconds(clean_only=False)))

    @classmethod
    def from_json(cls, data: object, where: str = "measurement") -> Measurement:
        """Read the JSON form; raises `InputError` that names the place."""
        if isinstance(data, dict) and "metrics" not in data:
            return decode(cls, data, where, metrics=_metrics_of_fields(data, where))
        return decode(cls, data, where)


def _metrics_of_fields(data: Mapping[str, object], where: str) -> dict[str, Samples | Quantity]:
    """Read the metrics of the first journals, which had a field for each."""
    hints = {
        "time": Samples,
        "latency": Optional[Samples],
        "memory": Optional[Memory],
        "compile_seconds": Optional[float],
    }
    old = {name: read_as(hint, data.get(name), f"{where}.{name}") for name, hint in hints.items()}
    memory, seconds = old.pop("memory"), old.pop("compile_seconds")
    samples_by_name = {name: samples for name, samples in old.items() if samples is not None}
    more = {**({} if memory is None else memory.metrics()), **({} if seconds is None else compile_time(seconds))}
    return {**samples_by_name, **more}


@dataclass(frozen=True)
class Outcome(Fields):
    """A measurement, or the reason for none. `version` is that of the framework that was measured.

    `node` is the machine that measured it, where that was one of a fleet.
    """

    trial: Trial
    process: Natural
    status: Status
    measurement: Measurement | None = None
    reason: Reason | None = None
    version: str | None = None
    node: Node | None = None

    sparse = ("node",)

    @property
    def key(self) -> tuple[object, ...]:
        """What outcomes of one record share: the trial, and the node where there are several."""
        return self.trial.key if self.node is None else (*self.trial.key, self.node.name)

    def __post_init__(self) -> None:
        if self.measurement is None and self.reason is None:
            raise InputError("neither `measurement` nor `reason`, expected one", slug="bad_value")
