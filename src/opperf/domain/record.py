"""The stored result of a trial, and its run. Times are in seconds and memory in bytes, in every field.

A record is `ok` with metrics, or `failed` or `skipped` with a reason. Its JSON form is the format of result files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Annotated, Optional, TypeAlias, Union

from opperf.domain.codec import Fields, check_version, decode, encode, read_as
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.files.json_text import JsonObject
from opperf.domain.measurement import Quantity, sample_columns
from opperf.domain.metric import METRICS
from opperf.domain.moment import Moment
from opperf.domain.node import Node
from opperf.domain.peaks import Limit
from opperf.domain.plan import Settings, Trial
from opperf.domain.reason import Reason, Status, Warning
from opperf.domain.suite import Suite
from opperf.domain.type_hint import Amount, Form, LogSpread, Natural, Unread, inside

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Statistics(Fields):
    """The summary of a metric that was sampled.

    `interval` is the 95 % interval of the median over processes; with fewer than three it is None and
    `interval_reason` says so. `precision` is the relative half-width within one process. `samples` counts those that
    are summarised, `disturbed` those of them that the machine disturbed, which count where too few clean ones remained,
    and `discarded` those left out because it did. `clock` is `wall`, or `cpu` where
    too few undisturbed samples remained.

    Another tool may state fewer of them; what it does not state is None, and one of mean and median it must.
    """

    mean: Amount | None
    median: Amount | None
    p90: Amount | None
    p99: Amount | None
    min: Amount | None
    max: Amount | None
    stdev: Amount | None
    interval: tuple[float, float] | None
    interval_reason: str | None
    precision: float | None
    samples: Natural | None
    calls_per_sample: Natural | None
    discarded: Natural | None
    processes: Natural | None
    sync: str | None = None
    cache: str | None = None
    clock: str = "wall"
    disturbed: Natural = 0

    beside = ("p50",)

    def __post_init__(self) -> None:
        if self.median is None and self.mean is None:
            raise InputError("median and mean are null, expected one of them at least", slug="bad_value")

    @property
    def value(self) -> float:
        """The number that represents the samples: the median, or the mean where it alone is known."""
        value = self.mean if self.median is None else self.median
        assert value is not None
        return value

    @property
    def p50(self) -> float | None:
        """The median, by its name among percentiles; files have it under both."""
        return self.median


Value: TypeAlias = Union[Statistics, Quantity]


def _metrics_to_json(metrics: Mapping[str, Value]) -> dict[str, object]:
    return {name: {"unit": METRICS[name].unit.symbol, **value.to_json()} for name, value in metrics.items()}


def _metrics_from_json(data: object, where: str) -> dict[str, Value]:
    """Return the values of the metrics that this opperf knows."""
    metrics = read_as(Mapping[str, Unread], data, where)
    return {
        name: read_as(Value, _without_usual_unit(value, METRICS[name].unit.symbol), inside(where, name))
        for name, value in metrics.items()
        if name in METRICS
    }


def _without_usual_unit(value: object, usual: str) -> object:
    if isinstance(value, dict) and value.get("unit") == usual:
        return {name: part for name, part in value.items() if name != "unit"}
    return value


def _samples_from_json(data: object, where: str) -> dict[str, list[object]]:
    """Return the samples of metrics as they are written: they are many, and few ask for them."""
    samples = read_as(Mapping[str, tuple[Unread, ...]], data, where)
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
    facts: JsonObject = field(default_factory=dict)
    samples: Annotated[Mapping[str, Sequence[object]], Form("samples by metric", dict, _samples_from_json)] = field(
        default_factory=dict
    )

    flat = ("trial",)

    @cached_property
    def details(self) -> Facts:
        """The facts that have a meaning here."""
        return decode(Facts, self.facts, "facts")

    @property
    def key(self) -> tuple[object, ...]:
        """What makes two records the same: the trial, and the node of a fleet that measured it."""
        node = self.details.node
        return self.trial.key if node is None else (*self.trial.key, node.name)

    @property
    def time(self) -> Statistics | None:
        """The summary of the time of one call, None without a measurement."""
        metric = self.metrics.get("time")
        return metric if isinstance(metric, Statistics) else None

    @property
    def total(self) -> float | None:
        """Standalone time of all calls of the case: the median of one, times their number."""
        return None if self.time is None else self.time.value * self.trial.count

    @classmethod
    def from_json(cls, data: object, where: str = "record") -> Record:
        """Read the JSON form; raises `InputError` that names the place."""
        record = decode(cls, data, where)
        if record.status != "ok" and record.reason is None:
            raise InputError(f"{where}.reason: found null, expected why it is {record.status}", slug="bad_value")
        decode(Facts, record.facts, f"{where}.facts")
        return record


@dataclass(frozen=True)
class Facts:
    """The facts of a record that opperf reads; there may be others. `seconds` is what measuring it took."""

    implementation: str | None = None
    version: str | None = None
    noise_floor: LogSpread | None = None
    run: Origin | None = None
    suite: Share | None = None
    roofline: Limit | None = None
    node: Node | None = None
    seconds: Amount | None = None


@dataclass(frozen=True)
class Origin(Fields):
    """The run that a record belongs to, where several runs are merged; `load` is that of its machine."""

    id: str | None = None
    started: str | None = None
    machine: str | None = None
    load: float | None = None
    label: str | None = None


@dataclass(frozen=True)
class Share(Fields):
    """The record's share of its suite."""

    total: Amount
    share: Amount
    cumulative: Amount


@dataclass(frozen=True)
class _Machine:
    """The facts of a machine that something is derived from, by which machines are told apart, for one."""

    cpu: Optional[str] = None
    architecture: Optional[str] = None
    cores_logical: Optional[Natural] = None
    cores_physical: Optional[Natural] = None
    cores_usable: Optional[Natural] = None
    memory_total: Optional[Natural] = None
    caches: Optional[tuple[Mapping[str, object], ...]] = None
    gpus: Optional[tuple[Union[str, Mapping[str, object]], ...]] = None


@dataclass(frozen=True)
class _Build:
    """The facts of a framework that something is derived from."""

    framework: str
    environment: Optional[str] = None
    version: Optional[str] = None


def _facts(cls: type, expected: str) -> Form:
    """Return how facts are read whose known ones are those of a class; the others may be anything."""

    def read(data: object, where: str) -> object:
        decode(cls, data, where)
        return data

    return Form(expected, lambda facts: facts, read)


_MachineFacts: TypeAlias = Annotated[Mapping[str, object], _facts(_Machine, "an object")]
_BuildFacts: TypeAlias = Annotated[Mapping[str, object], _facts(_Build, "an object")]


@dataclass(frozen=True)
class _Node:
    """What a node of a fleet says of its machine."""

    machine: Optional[_MachineFacts] = None


@dataclass(frozen=True)
class _Environment:
    """What is read of where a run was; there may be anything else."""

    machine: Optional[_MachineFacts] = None
    nodes: Optional[Mapping[str, Annotated[Mapping[str, object], _facts(_Node, "an object")]]] = None
    sides: Optional[Mapping[str, Mapping[str, object]]] = None
    frameworks: Optional[tuple[_BuildFacts, ...]] = None


def _suite(environment: Mapping[str, object], where: str) -> Suite | None:
    if "suite" not in environment:
        return None
    header = read_as(Mapping[str, object], environment["suite"], where)
    return Suite.from_json({"schema_version": 1, **header, "cases": []}, where)


@dataclass(frozen=True)
class Run(Fields):
    """The records of one command. `environment` holds the facts of the machine and of every framework."""

    id: str
    started: Moment
    command: tuple[str, ...]
    settings: Settings
    labels: Mapping[str, str] = field(default_factory=dict)
    environment: JsonObject = field(default_factory=dict)
    records: tuple[Record, ...] = ()

    def header(self) -> dict[str, object]:
        """Return everything but the records, in JSON form."""
        header = Fields.to_json(replace(self, records=()))
        del header["records"]
        return header

    def to_json(self) -> dict[str, object]:
        """Return the document that result files hold."""
        return self.document(records=self.records)

    def document(self, **parts: object) -> dict[str, object]:
        """Return a document that begins with the header of this run, as `above` reads it."""
        return {
            "schema_version": SCHEMA_VERSION,
            "run": self.header(),
            **{name: encode(part) for name, part in parts.items()},
        }

    @classmethod
    def from_json(cls, data: object, where: str = "file") -> Run:
        """Read a document; raises `InputError` for anything but a document of opperf."""
        if not isinstance(data, dict) or not {"schema_version", "run", "records"} <= set(data):
            hint = "it has `schema_version`, `run` and `records`"
            raise InputError(f"{where}: not a result file of opperf", hint=hint)
        check_version(data["schema_version"], SCHEMA_VERSION, where)
        records = read_as(tuple[Record, ...], data["records"], f"{where}: records")
        return cls.from_header(data["run"], f"{where}: run", records)

    @classmethod
    def above(cls, data: JsonObject, where: str) -> Run:
        """Read the run whose header a document begins with; raises `InputError`, for another version as well."""
        check_version(data.get("schema_version"), SCHEMA_VERSION, where)
        return cls.from_header(data.get("run"), f"{where}: run")

    @classmethod
    def from_header(cls, header: object, where: str, records: tuple[Record, ...] = ()) -> Run:
        """Read what `header` wrote; raises `InputError` that names the place."""
        run = replace(decode(cls, header, where), records=records)
        decode(_Environment, run.environment, f"{where}.environment")
        _suite(run.environment, f"{where}.environment.suite")
        return run

    @cached_property
    def _environment(self) -> _Environment:
        return decode(_Environment, self.environment, "environment")

    @property
    def machine(self) -> Mapping[str, object]:
        """What is known of the machine."""
        return self._environment.machine or {}

    @property
    def sides(self) -> Mapping[str, Mapping[str, object]]:
        """What the children of each side of a comparison said of themselves."""
        return self._environment.sides or {}

    @property
    def frameworks(self) -> Sequence[Mapping[str, object]]:
        """What each framework that was measured said of itself."""
        return self._environment.frameworks or ()

    @property
    def suite(self) -> Suite | None:
        """The suite that was measured, without its cases."""
        return _suite(self.environment, "environment.suite")

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)
