"""What is stored of a trial, and the run that it belongs to. Times are seconds and memory bytes, in every field.

A record is `ok` with metrics, or `failed` or `skipped` with a reason. Its JSON form is the format of result files.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from opperf.errors import InputError
from opperf.metric import METRICS
from opperf.plan import Settings, Trial
from opperf.reason import Reason, Warning

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SCHEMA_VERSION = 1
STATUSES = ("ok", "failed", "skipped")


@dataclass(frozen=True)
class Statistics:
    """The summary of a metric that was sampled.

    `interval` is the 95 % interval of the median over processes; with fewer than three it is None and
    `interval_reason` says so. `precision` is the relative half-width within one process. `samples` counts those that
    are summarised, `discarded` those left out because the machine disturbed them. `clock` is `wall`, or `cpu` where
    too few undisturbed samples remained.
    """

    mean: float
    median: float
    p50: float
    p90: float
    p99: float
    min: float
    max: float
    stdev: float
    interval: tuple[float, float] | None
    interval_reason: str | None
    precision: float | None
    samples: int
    calls_per_sample: int
    discarded: int
    processes: int
    sync: str | None = None
    cache: str | None = None
    clock: str = "wall"

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return asdict(self) | {"interval": None if self.interval is None else list(self.interval)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Statistics:
        """Read the JSON form; keys of later versions are passed over."""
        known = {name: data[name] for name in cls.__dataclass_fields__ if name in data}
        interval = known.get("interval")
        return cls(**known | {"interval": None if interval is None else tuple(interval)})


@dataclass(frozen=True)
class Quantity:
    """A metric that is one number. `source` says where it comes from."""

    value: float
    source: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Quantity:
        """Read the JSON form."""
        return cls(data["value"], data.get("source"))


Value: TypeAlias = Union[Statistics, Quantity]


@dataclass(frozen=True)
class Record:
    """A trial and what became of it."""

    trial: Trial
    status: str
    reason: Reason | None = None
    metrics: Mapping[str, Value] = field(default_factory=dict)
    warnings: tuple[Warning, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    samples: Mapping[str, Any] = field(default_factory=dict)

    @property
    def time(self) -> Statistics | None:
        """The summary of the time of one call, None without a measurement."""
        found = self.metrics.get("time")
        return found if isinstance(found, Statistics) else None

    @property
    def total(self) -> float | None:
        """What all calls of the case take by themselves: the median of one, times their number."""
        return None if self.time is None else self.time.median * self.trial.count

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            **self.trial.to_json(),
            "status": self.status,
            "reason": None if self.reason is None else self.reason.to_json(),
            "metrics": {name: {"unit": METRICS[name].unit, **value.to_json()} for name, value in self.metrics.items()},
            "warnings": [warning.to_json() for warning in self.warnings],
            "facts": dict(self.facts),
            "samples": dict(self.samples),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], where: str = "record") -> Record:
        """Read the JSON form; raises `InputError` that names the place."""
        try:
            metrics: dict[str, Value] = {
                name: Statistics.from_json(value) if "median" in value else Quantity.from_json(value)
                for name, value in data["metrics"].items()
                if name in METRICS
            }
            if data["status"] not in STATUSES:
                raise InputError(f"status is `{data['status']}`, expected one of {', '.join(STATUSES)}")
            return cls(
                trial=Trial.from_json(data),
                status=data["status"],
                reason=None if data["reason"] is None else Reason.from_json(data["reason"]),
                metrics=metrics,
                warnings=tuple(Warning.from_json(warning) for warning in data["warnings"]),
                facts=data.get("facts", {}),
                samples=data.get("samples", {}),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"{where}: not a record that opperf wrote ({type(error).__name__}: {error})", slug="bad_record"
            ) from error
        except InputError as error:
            raise InputError(f"{where}: {error.message}", hint=error.hint, slug=error.slug) from error


@dataclass(frozen=True)
class Run:
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
            "id": self.id,
            "started": self.started,
            "command": list(self.command),
            "labels": dict(self.labels),
            "settings": self.settings.to_json(),
            "environment": dict(self.environment),
        }

    def to_json(self) -> dict[str, Any]:
        """Return the document that result files hold."""
        return {
            "schema_version": SCHEMA_VERSION,
            "run": self.header(),
            "records": [record.to_json() for record in self.records],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], where: str = "file") -> Run:
        """Read a document; raises `InputError` for what opperf did not write or cannot read."""
        if not isinstance(data, dict) or not {"schema_version", "run", "records"} <= set(data):
            hint = "it has `schema_version`, `run` and `records`"
            raise InputError(f"{where}: not a result file of opperf", hint=hint)
        if data["schema_version"] != SCHEMA_VERSION:
            raise InputError(
                f"{where}: schema_version is {data['schema_version']!r}, this opperf reads {SCHEMA_VERSION}",
                hint="read it with the opperf that wrote it, or a newer one",
                slug="schema_version",
            )
        if not isinstance(data["records"], list):
            raise InputError(f"{where}: `records` is {type(data['records']).__name__}, expected a list")
        records = tuple(Record.from_json(record, f"{where}: records[{i}]") for i, record in enumerate(data["records"]))
        return cls.from_header(data["run"], where, records)

    @classmethod
    def from_header(cls, header: Mapping[str, Any], where: str, records: tuple[Record, ...] = ()) -> Run:
        """Read what `header` wrote."""
        try:
            return cls(
                id=header["id"],
                started=header["started"],
                command=tuple(header["command"]),
                settings=Settings.from_json(header["settings"]),
                labels=header["labels"],
                environment=header["environment"],
                records=records,
            )
        except (KeyError, TypeError) as error:
            raise InputError(
                f"{where}: not a run that opperf wrote ({type(error).__name__}: {error})", slug="bad_record"
            ) from error
        except InputError as error:
            raise InputError(f"{where}: {error.message}", hint=error.hint, slug=error.slug) from error

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)
