"""What stands around the table in every format for people: what all rows share, what marks mean, and every doubt.

Failures, skips and warnings are grouped, so that one cause is read once, however many trials it struck; each group
keeps its count, its remedy and the trials it is about.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from opperf.domain.metric import METRICS
from opperf.domain.plan import NATIVE
from opperf.parent.reports.columns import ABOUT_THE_UNSEEN
from opperf.parent.reports.escaping import one_line
from opperf.parent.reports.text import first_line, trial_text

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from opperf.domain.record import Record
    from opperf.parent.reports.table import Table

#: So many trials, and so many wordings of one warning, are named; the others are counted.
NAMED = 5
WORDINGS = 3
#: More records than this are summed up: of a cause one trial is named, of a warning one wording, and so many of both.
MANY = 20
CAUSES = 8


@dataclass(frozen=True)
class Remark:
    """One thing said of some trials: a short stable name, its wordings, its remedies."""

    slug: str
    messages: tuple[str, ...]
    hints: tuple[str, ...]
    trials: tuple[str, ...]
    most_named: int = NAMED
    most_wordings: int = WORDINGS

    @property
    def count(self) -> int:
        """How many trials it is about."""
        return len(self.trials)

    @property
    def wordings(self) -> tuple[str, ...]:
        """The first few messages, and how many others there are."""
        return _few(self.messages, self.most_wordings)

    @property
    def named(self) -> tuple[str, ...]:
        """The first few trials, and how many others there are."""
        return _few(self.trials, self.most_named) if self.most_named else ()

    @property
    def remedies(self) -> tuple[str, ...]:
        """The first few hints."""
        return self.hints[: self.most_wordings]


@dataclass(frozen=True)
class Section:
    """Remarks of one kind: `failed`, `skipped` or `warnings`."""

    title: str
    remarks: tuple[Remark, ...]
    more: str = ""


def caption(table: Table) -> str:
    """Say what all rows have in common; empty without rows.

    For example `device cpu, mode eager, threads 1`.
    """
    return ", ".join(f"{name} {text}" for name, text in table.shared().items())


def tally(records: Sequence[Record]) -> str:
    """Count the trials, and those without a measurement.

    For example `6 trials: 4 ok, 1 failed, 1 skipped`.
    """
    if not records:
        return "no trials"
    counts = {status: sum(record.status == status for record in records) for status in ("ok", "failed", "skipped")}
    noun = "trial" if len(records) == 1 else "trials"
    return f"{len(records)} {noun}: " + ", ".join(f"{count} {status}" for status, count in counts.items() if count)


def legend(table: Table) -> dict[str, str | None]:
    """Explain the marks that the rows and columns really use: lines, each with the column that it is about, if one."""
    titles = {column.title for column in table.columns}
    times = [row.record.time for row in table.rows if row.record.time is not None]
    lines: dict[str, str | None] = {}
    if any(time.interval is not None for time in times):
        lines["[low, high]: 95 % interval of the median over processes"] = "spread"
    within = [time for time in times if time.interval is None and time.precision is not None]
    if within:
        reasons = dict.fromkeys(first_line(time.interval_reason) for time in within if time.interval_reason)
        why = f" ({'; '.join(reasons)})" if reasons else ""
        lines[f"±: precision of the median within its process, no interval over processes{why}"] = "spread"
    if "samples" in titles and any(time.discarded for time in times):
        lines["samples: kept/taken; the machine disturbed the others"] = "samples"
    if "samples" in titles and any(time.disturbed for time in times):
        lines["disturbed: used all the same, since too few clean samples remained"] = "samples"
    if any(time.clock == "cpu" for time in times):
        lines["clock=cpu: CPU time stands in for wall time, too few undisturbed samples remained"] = None
    if any(time.clock == NATIVE for time in times):
        lines["clock=native: what the framework's own profiler says its operators took, without their calls"] = None
    return {**lines, **_sources([row.record for row in table.rows], titles)}


def sections(records: Sequence[Record]) -> list[Section]:
    """Return what went wrong, then what is to be doubted; a kind with nothing to say is left out."""
    found = {
        "failed": _unmeasured(records, "failed"),
        "skipped": _unmeasured(records, "skipped"),
        "warnings": _doubts(records),
    }
    whole = len(records) <= MANY
    return [Section(title, said) if whole else _summed_up(title, said) for title, said in found.items() if said]


def _summed_up(title: str, remarks: tuple[Remark, ...]) -> Section:
    """Return the section in a few lines, and where all of it is."""
    named = 0 if title == "warnings" else 1
    ranked = sorted(remarks, key=lambda remark: -remark.count)
    shown = tuple(replace(remark, most_named=named, most_wordings=1) for remark in ranked[:CAUSES])
    others = ranked[CAUSES:]
    counted = f"and {len(others)} more kinds, of {sum(remark.count for remark in others)} trials; " if others else ""
    return Section(title, shown, f"{counted}each stands at its row in `--format csv`, whole in `--format json`")


def more(records: Iterable[Record]) -> str:
    """Say where the rest is, if tracebacks or the stderr of a child were kept."""
    reasons = [record.reason for record in records if record.reason is not None]
    kept = any(reason.traceback or reason.stderr for reason in reasons)
    return "tracebacks and stderr are in the JSON document" if kept else ""


def _unmeasured(records: Iterable[Record], status: str) -> tuple[Remark, ...]:
    """Group the records of a status by reason: only what has the same message is one cause."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for record in records:
        if record.status != status:
            continue
        reason = record.reason
        key = ("unknown", "no reason was recorded", "")
        if reason is not None:
            message = first_line(reason.message)
            signal = f" ({reason.signal})" if reason.signal and reason.signal not in message else ""
            key = (one_line(reason.slug), f"{message}{signal}", first_line(reason.hint or ""))
        groups.setdefault(key, []).append(trial_text(record.trial))
    return tuple(
        Remark(slug, (message,), (hint,) if hint else (), tuple(trials))
        for (slug, message, hint), trials in groups.items()
    )


def _doubts(records: Iterable[Record]) -> tuple[Remark, ...]:
    """Group warnings by slug: their messages hold numbers, so the wordings differ."""
    messages: dict[str, dict[str, None]] = {}
    hints: dict[str, dict[str, None]] = {}
    trials: dict[str, list[str]] = {}
    for record in records:
        shown = [warning for warning in record.warnings if warning.slug not in ABOUT_THE_UNSEEN]
        for slug in dict.fromkeys(warning.slug for warning in shown):
            trials.setdefault(slug, []).append(trial_text(record.trial))
        for warning in shown:
            messages.setdefault(warning.slug, {})[first_line(warning.message)] = None
            if warning.hint:
                hints.setdefault(warning.slug, {})[first_line(warning.hint)] = None
    return tuple(
        Remark(one_line(slug), tuple(messages[slug]), tuple(hints.get(slug, ())), tuple(trials[slug]))
        for slug in trials
    )


def _sources(records: Sequence[Record], titles: Container[str | None]) -> dict[str, str | None]:
    """Say where the figures of some columns come from, each with its column: frameworks count differently."""
    lines: dict[str, str | None] = {}
    for metric in (metric for metric in METRICS.values() if metric.title in titles and "source" in metric.parts):
        sources: dict[str, dict[str, None]] = {}
        for record in records:
            source = getattr(record.metrics.get(metric.name), "source", None)
            if source:
                sources.setdefault(first_line(source), {})[one_line(record.trial.side.framework)] = None
        if sources:
            told = "; ".join(f"{source} ({', '.join(names)})" for source, names in sources.items())
            lines[f"{metric.title}: {told}"] = metric.title
    return lines


def _few(items: tuple[str, ...], most: int) -> tuple[str, ...]:
    others = len(items) - most
    return (*items[:most], f"and {others} more") if others > 0 else items
