"""Every column of a run, declared once: stable name, title, source and format of its value.

A name has its unit at its end (`time_median_s`, `memory_peak_B`), and never changes its meaning. A fact that a record
lacks is None for machines and empty for people, never 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias, TypeVar

from opperf.domain import units
from opperf.domain.code import is_suite
from opperf.domain.metric import METRICS, Metric
from opperf.domain.plan import Side
from opperf.domain.record import Record
from opperf.domain.registry import split_implementation
from opperf.parent.reports import document
from opperf.parent.reports.document import Raw
from opperf.parent.reports.text import case_text, first_line, own_function, short_text, subject

Column: TypeAlias = document.Column[Record]
Item = TypeVar("Item")

#: The place of what people read first: whose row it is, and its time.
FIRST = -1
#: Those of a sampled metric that are in its unit.
_AMOUNTS = ("mean", "median", "p50", "p90", "p99", "min", "max", "stdev")
_ENDS = ("interval_low", "interval_high")


def of_part(metric: Metric, part: str, title: str | None = None, *, rank: int | None = None) -> Column:
    """Declare a part of a metric for programs: a number in its unit, or a text."""

    def read(record: Record) -> Raw:
        value = record.metrics.get(metric.name)
        if part in _ENDS:
            interval = getattr(value, "interval", None)
            return None if interval is None else float(interval[_ENDS.index(part)])
        raw: Raw = getattr(value, part, None)
        return raw

    if part == "value":
        return Column(
            f"{metric.name}_{metric.unit.suffix}".rstrip("_"), title, read, metric.unit.show, "right", rank=rank
        )
    if part in (*_AMOUNTS, *_ENDS):
        name = f"{metric.name}_{part}_{metric.unit.suffix}"
        return Column(name, title, read, metric.unit.show, "right", rank=rank)
    return Column(f"{metric.name}_{part}", title, read)


def of_metric(metric: Metric) -> tuple[Column, ...]:
    """Declare the columns of a metric as its declaration has them, the first for people too."""
    first, *others = metric.parts
    titles = {"unit": "unit"}  # a number says nothing to people without it
    return (
        of_part(metric, first, metric.title, rank=metric.rank),
        *(of_part(metric, part, titles.get(part), rank=metric.rank) for part in others),
    )


def of_side(
    name: str, read: Callable[[Side], Raw], *, usual: Raw = "", within: Callable[[Record], str] | None = None
) -> Column:
    """Declare a fact of the side, which people see when sides differ in it."""

    def of_record(record: Record) -> Raw:
        return read(record.trial.side)

    return Column(
        *(name, name, of_record),
        presence="varied",
        least=6,
        group="side",
        usual=usual,
        within=within,
        names=True,
        place=FIRST,
    )


def of_jobs(facts: Callable[[Item], Mapping[str, object]]) -> tuple[document.Column[Item], ...]:
    """Declare what is known of the job that measured something, with `--jobs`: its CPUs, its class, what ran beside."""

    def words(item: Item, part: str) -> list[str]:
        jobs = facts(item).get("jobs")
        values = jobs.get(part) if isinstance(jobs, Mapping) else None
        return (
            [str(value) for value in values] if isinstance(values, (list, tuple)) else [str(values)] if values else []
        )

    def text(item: Item) -> str | None:
        cpus = words(item, "cpus")
        if not cpus:
            return None
        where = f"CPU{'s' if len(cpus) > 1 else ''} {', '.join(cpus)}"
        beside = words(item, "beside")
        if not beside:
            return f"{where}; alone"
        # CSV and JSON name them; for people the first stands for all.
        more = len(beside) - 1
        return f"{where}; beside {beside[0]}" + (f" and {more} more" if more else "")

    def read(part: str) -> Callable[[Item], str | None]:
        return lambda item: (", " if part == "beside" else " ").join(words(item, part)) or None

    return (
        document.Column(None, "job", text, least=14, lines=4),
        *(document.Column(f"job_{part}", None, read(part)) for part in ("cpus", "class", "beside")),
    )


def of_reason(part: str) -> Column:
    """Declare a part of the reason of a record without measurement, for machines."""
    return Column(f"reason_{part}", None, lambda record: getattr(record.reason, part, None))


def implementation(record: Record) -> str | None:
    """Return how the framework spells the operator: what the child found, or else what the user asked for."""
    spelling = record.details.implementation or record.trial.side.implementation
    return None if spelling is None else str(spelling)


def other_name(record: Record) -> str | None:
    """Return the implementation where the row is not called by that very name, as a benchmark is by its own."""
    text = implementation(record)
    if own_function(record.trial.side) is not None or is_suite(record.trial.side.implementation):
        return None
    return None if spelling(text) == spelling(record.trial.case.operator) else text


def spelling(name: str | None) -> str:
    """Write an implementation without its framework, which has its own column.

    >>> spelling("torch:aten::add.Tensor"), spelling("aten::add")
    ('aten::add.Tensor', 'aten::add')
    """
    return "" if not name or name.endswith(":") else split_implementation(name)[1]


def version(record: Record) -> str | None:
    """Return the framework's version, if the child said it."""
    return record.details.version


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


def time_text(record: Record) -> str:
    """Write the time of a call, or why there is none in a word."""
    if record.time is None:
        return "" if record.status == "ok" else record.status
    return _TIME.unit.show(record.time.value)


def floor(record: Record) -> float | None:
    """Return how far the slowest process of identical code lay above the fastest here, as a share."""
    return None if record.details.noise_floor is None else math.expm1(record.details.noise_floor)


def of_run(name: str, part: str, *, rank: int | None = None) -> Column:
    """Declare the columns that distinguish records of several runs."""
    return Column(
        name, name, lambda record: getattr(record.details.run, part, None), presence="apart", rank=rank, least=8
    )


def of_suite(part: str) -> Callable[[Record], float | None]:
    """Return the reader of a number that a record has as a part of a suite."""
    return lambda record: getattr(record.details.suite, part, None)


def roofline(record: Record) -> float | None:
    """Return the least time that the machine's limits allow over the median time, as a share."""
    limit = record.details.roofline
    if limit is None or record.time is None or not record.time.value:
        return None
    return limit.seconds / record.time.value


def sample_counts(record: Record) -> str:
    """Write how many samples the summary is made of, of how many taken, and how many count although disturbed."""
    time = record.time
    if time is None or time.samples is None:
        return ""
    text = str(time.samples) if time.discarded is None else f"{time.samples}/{time.samples + time.discarded}"
    return f"{text}, {time.disturbed} disturbed" if time.disturbed else text


def notes(record: Record) -> str:
    """Write what a reader must know of the row: why it has no time, or how its numbers are not the usual ones."""
    if record.status != "ok":
        return "" if record.reason is None else first_line(record.reason.message)
    time = record.time
    unusual = []
    if time is not None:
        usual = {"clock": ("wall",), "sync": ("block", None), "cache": ("hot", None)}
        unusual = [
            f"{name}={getattr(time, name)}"
            for name, usual_values in usual.items()
            if getattr(time, name) not in usual_values
        ]
    return " ".join([*unusual, *(slug for slug in _slugs(record) if slug not in ABOUT_THE_UNSEEN)])


#: Warnings about numbers that the tables for people do not show; CSV and JSON have both.
ABOUT_THE_UNSEEN = ("p99_of_few",)


def _slugs(record: Record) -> Iterable[str]:
    return dict.fromkeys(warning.slug for warning in record.warnings)


_TIME = METRICS["time"]
_BEFORE: tuple[Column, ...] = (
    Column("case_id", None, lambda record: record.trial.case.id),
    Column("operator", None, lambda record: record.trial.case.operator),
    Column(
        *(None, "operator", lambda record: subject(record.trial.case, record.trial.side)),
        least=10,
        names=True,
        place=FIRST,
    ),
    Column("implementation", None, implementation),
    Column(None, "implementation", other_name, spelling, rank=4, least=14),
    Column(None, "framework", framework, least=12, presence="varied", names=True, place=FIRST),
    Column("framework", None, lambda record: record.trial.side.framework),
    Column("framework_version", None, version),
    of_side("environment", lambda side: side.environment, usual="current", within=framework),
    of_side("device", lambda side: side.device),
    of_side("mode", lambda side: side.mode),
    of_side("threads", lambda side: side.threads),
    of_side("engine", lambda side: side.engine, usual="naive"),
    of_side("allocator", lambda side: side.allocator, usual="fixed"),
    of_side("settings", settings, usual=None),
    of_run("run", "id", rank=-1),
    of_run("date", "started"),
    of_run("machine", "machine"),
    Column("load", None, lambda record: getattr(record.details.run, "load", None)),
    of_run("label", "label"),
    Column(
        "node", "node", lambda record: record.details.node and record.details.node.name, presence="varied", usual=None
    ),
    Column("node_machine", None, lambda record: record.details.node and record.details.node.kind),
    Column(
        *("direction", "direction", lambda record: record.trial.direction),
        least=8,
        presence="varied",
        names=True,
        place=FIRST,
    ),
    Column("inputs", None, lambda record: case_text(record.trial.case)),
    Column(
        *(None, "inputs", lambda record: short_text(record.trial.case)),
        least=14,
        lines=6,
        presence="varied",
        names=True,
    ),
    Column("origin", None, lambda record: record.trial.origin),
    Column("status", None, lambda record: record.status),
    Column(None, "time", time_text, align="right", place=FIRST),
    of_part(_TIME, "median"),
    Column(None, "spread", spread, align="right", rank=13, place=FIRST),
    Column("noise_floor", "floor", floor, units.format_percent, "right", rank=0),
    of_part(_TIME, "p90", "p90", rank=2),
    of_part(_TIME, "min", "min", rank=1),
    Column(None, "samples", sample_counts, align="right", rank=3),
    Column(
        "count",
        "calls",
        lambda record: record.trial.count,
        align="right",
        presence="varied",
        usual=1,
        rank=14,
        place=FIRST,
    ),
    Column(
        *("total_s", "total", of_suite("total"), units.format_seconds, "right"),
        presence="varied",
        usual=None,
        place=FIRST,
    ),
    Column(
        *("share", "share", of_suite("share"), units.format_percent, "right"),
        presence="varied",
        usual=None,
        place=FIRST,
    ),
    Column(
        "cumulative_share",
        "cumulative",
        of_suite("cumulative"),
        units.format_percent,
        "right",
        presence="varied",
        usual=None,
        rank=11,
    ),
)
_AFTER: tuple[Column, ...] = (
    Column("roofline_share", "roofline", roofline, units.format_percent, "right", rank=11, place=FIRST),
    Column("roofline_bound", None, lambda record: getattr(record.details.roofline, "bound", None)),
    Column(None, "notes", notes, rank=9, least=14, below=True),
    *(of_reason(part) for part in ("slug", "message", "hint", "signal", "exception")),
    Column("warnings", None, lambda record: " ".join(_slugs(record)) or None),
    *of_jobs(lambda record: record.facts),
)


def columns() -> tuple[Column, ...]:
    """Return every column. Those of metrics stand in the order of their table; some of the time stand before."""
    before = {column.name for column in _BEFORE}
    metrics = (column for metric in METRICS.values() for column in of_metric(metric) if column.name not in before)
    return *_BEFORE, *metrics, *_AFTER
