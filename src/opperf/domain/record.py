"""What is stored of a trial, and the run that it belongs to. Times are seconds and memory bytes, in every field.

A record is `ok` with metrics, or `failed` or `skipped` with a reason. Its JSON form is the format of result files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, TypeAlias, Union

from opperf.domain.codec import Amount, Fields, Form, Natural, decode, encode, inside, read_as
from opperf.domain.errors import InputError
from opperf.domain.files.json_text import shown
from opperf.domain.measurement import Quantity, sample_columns
from opperf.domain.metric import METRICS
from opperf.domain.plan import Settings, Trial
from opperf.domain.reason import Reason, Status, Warning
from opperf.domain.suite import Suite

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Statistics(Fields):
    """The summary of a metric that was sampled.

    `interval` is the 95 % interval of the median over processes; with fewer than three it is None and
    `interval_reason` says so. `precision` is the relative half-width within one process. `samples` counts those that
    are summarised, `disturbed` those of them that the machine disturbed, which count where too few clean ones remained,
    and `discarded` those left out because it did. `clock` is `wall`, or `cpu` where
    too few undisturbed samples remained.
    """

    mean: Amount
    median: Amount
    p90: Amount
    p99: Amount
    min: Amount
    max: Amount
    stdev: Amount
    interval: tuple[float, float] | None
    interval_reason: str | None
    precision: float | None
    samples: Natural
    calls_per_sample: Natural
    discarded: Natural
    processes: Natural
    sync: str | None = None
    cache: str | None = None
    clock: str = "wall"
    disturbed: Natural = 0

    beside = ("p50",)

    @property
    def value(self) -> float:
        """The one number that stands for all: the median."""
        return self.median

    @property
    def p50(self) -> float:
        """The median, by its name among percentiles; files have it under both."""
        return self.median


Value: TypeAlias = Union[Statistics, Quantity]


def _metrics_to_json(metrics: Mapping[str, Value]) -> dict[str, object]:
    return {name: {"unit": METRICS[name].unit.symbol, **value.to_json()} for name, value in metrics.items()}


def _metrics_from_json(data: object, where: str) -> dict[str, Value]:
    """Return the values of the metrics that this opperf knows."""
    metrics = read_as(Mapping[str, object], data, where)
    return {name: read_as(Value, value, inside(where, name)) for name, value in metrics.items() if name in METRICS}


def _samples_from_json(data: object, where: str) -> dict[str, list[object]]:
    """Return the samples of metrics as they are written: they are many, and few ask for them."""
    samples = read_as(Mapping[str, tuple[object, ...]], data, where)
    for name, processes in samples.items():
        for i, columns in enumerate(processes):
            place = f"{inside(where, name)}[{i}]"
            if not sample_columns(columns, place)["calls"]:
                raise InputError(f"{place}: no samples, expected one at least", slug="bad_value")
    return {name: list(processes) for name, processes in samples.items()}


@dataclass(frozen=True)
class Record(Fields):
    """A trial and what became of it."""

    trial: Trial
    status: Status
    reason: Reason | None = None
    metrics: Annotated[Mapping[str, Value], Form("metrics by name", _metrics_to_json, _metrics_from_json)] = field(
        default_factory=dict
    )
    warnings: tuple[Warning, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    samples: Annotated[Mapping[str, Sequence[object]], Form("samples by metric", dict, _samples_from_json)] = field(
        default_factory=dict
    )

    flat = ("trial",)

    @property
    def time(self) -> Statistics | None:
        """The summary of the time of one call, None without a measurement."""
        found = self.metrics.get("time")
        return found if isinstance(found, Statistics) else None

    @property
    def total(self) -> float | None:
        """What all calls of the case take by themselves: the median of one, times their number."""
        return None if self.time is None else self.time.median * self.trial.count

    @classmethod
    def from_json(cls, data: object, where: str = "record") -> Record:
        """Read the JSON form; raises `InputError` that names the place."""
        record = decode(cls, data, where)
        if record.status != "ok" and record.reason is None:
            raise InputError(f"{where}.reason: found null, expected why it is {record.status}", slug="bad_value")
        decode(_Facts, record.facts, f"{where}.facts")
        return record


@dataclass(frozen=True)
class _Facts:
    """The facts of a record that a report reads; there may be any others."""

    implementation: str | None = None
    version: str | None = None
    noise_floor: float | None = None
    run: Mapping[str, Any] | None = None
    suite: _Share | None = None
    roofline: _Bound | None = None


@dataclass(frozen=True)
class _Share(Fields):
    """What a record is of its suite."""

    total: Amount
    share: Amount
    cumulative: Amount


@dataclass(frozen=True)
class _Bound(Fields):
    """The least time that the machine's limits allow."""

    seconds: Amount
    bound: str


@dataclass(frozen=True)
class _Environment:
    """What a report reads of where a run was; there may be anything else."""

    machine: Mapping[str, Any] | None = None
    sides: Mapping[str, Mapping[str, Any]] | None = None
    frameworks: tuple[Mapping[str, Any], ...] | None = None


@dataclass(frozen=True)
class Run(Fields):
    """The records of one command. `environment` holds the facts of the machine and of every framework."""

    id: str
    started: str
    command: tuple[str, ...]
    settings: Settings
    labels: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)
    records: tuple[Record, ...] = ()

    def header(self) -> dict[str, Any]:
        """Return everything but the records, in JSON form."""
        return {
            name: value for name, value in super(Run, replace(self, records=())).to_json().items() if name != "records"
        }

    def to_json(self) -> dict[str, Any]:
        """Return the document that result files hold."""
        return {
            "schema_version": SCHEMA_VERSION,
            "run": self.header(),
            "records": encode(self.records),
        }

    @classmethod
    def from_json(cls, data: object, where: str = "file") -> Run:
        """Read a document; raises `InputError` for what opperf did not write or cannot read."""
        if not isinstance(data, dict) or not {"schema_version", "run", "records"} <= set(data):
            hint = "it has `schema_version`, `run` and `records`"
            raise InputError(f"{where}: not a result file of opperf", hint=hint)
        if data["schema_version"] != SCHEMA_VERSION:
            raise InputError(
                f"{where}: schema_version is {shown(data['schema_version'])}, this opperf reads {SCHEMA_VERSION}",
                hint="read it with the opperf that wrote it, or a newer one",
                slug="schema_version",
            )
        if not isinstance(data["records"], list):
            raise InputError(f"{where}: `records` is {type(data['records']).__name__}, expected a list")
        records = tuple(Record.from_json(record, f"{where}: records[{i}]") for i, record in enumerate(data["records"]))
        return cls.from_header(data["run"], f"{where}: run", records)

    @classmethod
    def from_header(cls, header: Any, where: str, records: tuple[Record, ...] = ()) -> Run:
        """Read what `header` wrote; raises `InputError` that names the place."""
        run = replace(decode(cls, header, where), records=records)
        decode(_Environment, run.environment, f"{where}.environment")
        if "suite" in run.environment:
            suite = read_as(Mapping[str, Any], run.environment["suite"], f"{where}.environment.suite")
            Suite.from_json({"schema_version": 1, **suite, "cases": []}, f"{where}.environment.suite")
        return run

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)
