"""Every column of the reports, declared once: stable name, heading, where its value comes from, how it is shown.

A column with a `name` is one of the machine-readable formats, at full precision, with the unit at the end of the name
(`time_median_s`, `memory_peak_B`): a name never changes its meaning. A column with a `title` is one of the formats for
people. A fact that a record lacks is None for machines and empty for people, never 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from opperf.domain import units
from opperf.domain.metric import METRICS
from opperf.domain.record import Statistics
from opperf.domain.registry import FRAMEWORKS
from opperf.parent.reports.text import case_text, first_line, own_function, subject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Literal

    from opperf.domain.plan import Side
    from opperf.domain.record import Record

Raw: TypeAlias = str | int | float | None

#: How units are spelt at the end of a name.
_SUFFIXES = {"s": "s", "B": "B", "FLOP": "FLOP", "FLOP/s": "FLOP_per_s", "B/s": "B_per_s"}
_FORMATS: dict[str, Callable[[float | None], str]] = {
    "s": units.format_seconds,
    "B": units.format_bytes,
    "FLOP": units.format_flops,
    "FLOP/s": units.format_flop_rate,
    "B/s": units.format_byte_rate,
}


def _plain(value: Raw) -> str:
    return "" if value is None else str(value)


@dataclass(frozen=True)
class Column:
    """One column: `read` takes its raw value from a record, `show` prints that for people.

    `wanted` is `always` (if any row has a value), `varied` (only if rows differ in it; else it is said of all of them),
    `apart` (only if rows differ in it) or `ambiguous` (only if rows of
    one framework and version differ in it). `rank` orders what a narrow terminal goes without, lowest first; None is
    never left out. `least` is the width to which the column may be folded, None if it must not be, and `lines` the most
    that a narrow terminal shows of a cell. A `common` one is said once there, where all rows have the same; those of
    one `group` may become one.
    """

    name: str | None
    title: str | None
    read: Callable[[Record], Raw]
    show: Callable[[Any], str] = _plain
    align: Literal["left", "right"] = "left"
    wanted: Literal["always", "varied", "apart", "ambiguous"] = "always"
    rank: int | None = None
    least: int | None = None
    lines: int | None = None
    common: bool = False
    group: str | None = None


def statistic(metric: str, part: str, title: str | None = None, *, rank: int | None = None) -> Column:
    """Declare one number of a metric that is sampled, in the unit of the metric."""

    def read(record: Record) -> Raw:
        found = record.metrics.get(metric)
        return getattr(found, part) if isinstance(found, Statistics) else None

    unit = METRICS[metric].unit
    return Column(f"{metric}_{part}_{_SUFFIXES[unit]}", title, read, _FORMATS[unit], "right", rank=rank)


def about(metric: str, part: str) -> Column:
    """Declare a part of a sampled metric that has no unit, for machines."""
    return Column(f"{metric}_{part}", None, lambda record: getattr(record.metrics.get(metric), part, None))


def quantity(metric: str, title: str | None = None, *, suffix: str = "", rank: int | None = None) -> Column:
    """Declare a metric by its one number: its value, or its median if it was sampled."""

    def read(record: Record) -> Raw:
        found = record.metrics.get(metric)
        if found is None:
            return None
        return found.median if isinstance(found, Statistics) else found.value

    unit = METRICS[metric].unit
    name = f"{metric}{suffix}_{_SUFFIXES[unit]}"
    return Column(name, title, read, _FORMATS[unit], "right", rank=rank)


def interval_end(metric: str, end: int) -> Column:
    """Declare the lower (0) or upper (1) end of a metric's interval over processes, for machines."""

    def read(record: Record) -> Raw:
        found = record.metrics.get(metric)
        return found.interval[end] if isinstance(found, Statistics) and found.interval is not None else None

    return Column(f"{metric}_interval_{('low', 'high')[end]}_{_SUFFIXES[METRICS[metric].unit]}", None, read)


def of_side(name: str, read: Callable[[Side], Raw], *, wanted: Literal["varied", "ambiguous"] = "varied") -> Column:
    """Declare a fact of the side, which people see when sides differ in it."""
    return Column(name, name, lambda record: read(record.trial.side), wanted=wanted, least=6, group="side")


def of_reason(part: str) -> Column:
    """Declare a part of the reason of a record without measurement, for machines."""
    return Column(f"reason_{part}", None, lambda record: getattr(record.reason, part, None))


def implementation(record: Record) -> str | None:
    """Return how the framework spells the operator: what the child found, or else what the user asked for."""
    found = record.facts.get("implementation") or record.trial.side.implementation
    return None if found is None else str(found)


def other_name(record: Record) -> str | None:
    """Return the implementation where the row is not called by that very name."""
    found = implementation(record)
    if own_function(record.trial.side) is not None:
        return None
    return None if spelling(found) == spelling(record.trial.case.operator) else found


def spelling(name: str | None) -> str:
    """Write an implementation without the framework in front, which has a column of its own.

    >>> spelling("torch:aten::add.Tensor"), spelling("aten::add")
    ('aten::add.Tensor', 'aten::add')
    """
    framework, _, rest = (name or "").partition(":")
    return rest if framework in FRAMEWORKS and rest and not rest.startswith(":") else name or ""


def version(record: Record) -> str | None:
    """Return the framework's version, if the child said it."""
    found = record.facts.get("version")
    return None if found is None else str(found)


def framework(record: Record) -> str:
    """Write the framework, with its version if the child said it."""
    return " ".join(filter(None, (record.trial.side.framework, version(record))))


def settings(side: Side) -> str | None:
    """Write the backend's own settings of a side."""
    return " ".join(f"{name}={value}" for name, value in sorted(side.settings.items())) or None


def spread(record: Record) -> str:
    """Write how far the median can be trusted: its interval over processes, or its precision within one."""
    time = record.time
    if time is None:
        return ""
    if time.interval is not None:
        return units.format_interval(time.interval)
    return "" if time.precision is None else f"±{units.format_percent(time.precision, digits=2)}"


def floor(record: Record) -> float | None:
    """Return how far the slowest process of identical code lay above the fastest here, as a share."""
    found = record.facts.get("noise_floor")
    return None if found is None else math.expm1(float(found))


def of_run(name: str, part: str, *, rank: int | None = None) -> Column:
    """Declare what tells records of several runs apart."""

    def read(record: Record) -> Raw:
        found = (record.facts.get("run") or {}).get(part)
        return None if found is None else str(found)

    return Column(name, name, read, wanted="apart", rank=rank, least=8)


def of_suite(part: str) -> Callable[[Record], float | None]:
    """Return what reads a number that a record has as a part of a suite."""

    def read(record: Record) -> float | None:
        found = record.facts.get("suite")
        return None if found is None else float(found[part])

    return read


def roofline(record: Record) -> float | None:
    """Return the least time that the machine's limits allow over the median time, as a share."""
    found = record.facts.get("roofline")
    if found is None or record.time is None or not record.time.median:
        return None
    return float(found["seconds"]) / record.time.median


def kept(record: Record) -> str:
    """Write how many samples the summary is made of, of how many taken, and how many count although disturbed."""
    time = record.time
    if time is None:
        return ""
    told = f"{time.samples}/{time.samples + time.discarded}"
    return f"{told}, {time.disturbed} disturbed" if time.disturbed else told


def notes(record: Record) -> str:
    """Write what a reader must know of the row: that and why it is empty, or how its numbers are not the usual ones."""
    if record.status != "ok":
        message = "" if record.reason is None else first_line(record.reason.message)
        return f"{record.status}: {message}" if message else record.status
    time = record.time
    unusual = []
    if time is not None:
        usual = {"clock": ("wall",), "sync": ("block", None), "cache": ("hot", None)}
        unusual = [f"{name}={getattr(time, name)}" for name, known in usual.items() if getattr(time, name) not in known]
    return " ".join([*unusual, *(slug for slug in _slugs(record) if slug not in ABOUT_THE_UNSEEN)])


#: Warnings about numbers that the tables for people do not show; CSV and JSON have both.
ABOUT_THE_UNSEEN = ("p99_of_few",)


def _slugs(record: Record) -> Iterable[str]:
    return dict.fromkeys(warning.slug for warning in record.warnings)


def _sampled(metric: str) -> tuple[Column, ...]:
    """Declare what people do not see of a sampled metric."""
    return (
        *(statistic(metric, part) for part in ("mean", "p50", "p99", "max", "stdev")),
        interval_end(metric, 0),
        interval_end(metric, 1),
        *(
            about(metric, part)
            for part in (
                "interval_reason",
                "precision",
                "samples",
                "discarded",
                "disturbed",
                "calls_per_sample",
                "processes",
                "sync",
                "cache",
                "clock",
            )
        ),
    )


COLUMNS: tuple[Column, ...] = (
    Column("case_id", None, lambda record: record.trial.case.id),
    Column("operator", None, lambda record: record.trial.case.operator),
    Column(None, "operator", lambda record: subject(record.trial.case, record.trial.side), least=10),
    Column("implementation", None, implementation),
    Column(None, "implementation", other_name, spelling, rank=4, least=14),
    Column(None, "framework", framework, least=12, common=True),
    Column("framework", None, lambda record: record.trial.side.framework),
    Column("framework_version", None, version),
    of_side("environment", lambda side: side.environment, wanted="ambiguous"),
    of_side("device", lambda side: side.device),
    of_side("mode", lambda side: side.mode),
    of_side("threads", lambda side: side.threads),
    of_side("engine", lambda side: side.engine),
    of_side("allocator", lambda side: side.allocator),
    of_side("settings", settings),
    of_run("run", "id", rank=-1),
    of_run("date", "started"),
    of_run("machine", "machine"),
    of_run("label", "label"),
    Column("direction", "direction", lambda record: record.trial.direction, least=8, common=True),
    Column("inputs", "inputs", lambda record: case_text(record.trial.case), least=14, lines=6),
    Column("origin", None, lambda record: record.trial.origin),
    Column("status", None, lambda record: record.status),
    statistic("time", "median", "time"),
    Column(None, "spread", spread, align="right", rank=13),
    Column("noise_floor", "floor", floor, units.format_percent, "right", rank=0),
    statistic("time", "p90", "p90", rank=2),
    statistic("time", "min", "min", rank=1),
    Column(None, "samples", kept, align="right", rank=3),
    Column("count", "calls", lambda record: record.trial.count, align="right", wanted="varied", rank=14),
    Column("total_s", "total", of_suite("total"), units.format_seconds, "right", wanted="varied"),
    Column("share", "share", of_suite("share"), units.format_percent, "right", wanted="varied"),
    Column(
        "cumulative_share",
        "cumulative",
        of_suite("cumulative"),
        units.format_percent,
        "right",
        wanted="varied",
        rank=11,
    ),
    *_sampled("time"),
    statistic("latency", "median", "latency", rank=8),
    statistic("latency", "p90"),
    statistic("latency", "min"),
    *_sampled("latency"),
    quantity("cpu_time", "cpu time", suffix="_median", rank=5),
    quantity("compile_time", "compile", rank=6),
    quantity("memory_peak", "memory", rank=10),
    Column("memory_peak_source", None, lambda record: getattr(record.metrics.get("memory_peak"), "source", None)),
    quantity("memory_allocated"),
    quantity("flops"),
    quantity("bytes"),
    quantity("flop_rate", "FLOP rate", rank=9),
    quantity("byte_rate", "byte rate", rank=7),
    Column("roofline_share", "roofline", roofline, units.format_percent, "right", rank=6),
    Column("roofline_bound", None, lambda record: (record.facts.get("roofline") or {}).get("bound")),
    Column(None, "notes", notes, rank=12, least=14),
    *(of_reason(part) for part in ("slug", "message", "hint", "signal", "exception")),
    Column("warnings", None, lambda record: " ".join(_slugs(record)) or None),
)
