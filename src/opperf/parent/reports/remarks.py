"""What stands around the table of a run: what marks mean, every doubt, and what the operators of a suite amount to.

Failures, skips and warnings are grouped, so that one cause is reported once for all its trials; each group
keeps its count, its remedy and the trials it is about. The program that a suite was captured from is more than what
was measured of it: calls that failed or were not chosen, calls that no suite can hold, and what lies between operators.
Each is named, so that no part of the program is taken for another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from opperf.domain.dataclass import dataclass
from opperf.domain.metric import METRICS
from opperf.domain.plan import PROFILER, PROFILER_CLOCKS
from opperf.domain.record import Record, Run
from opperf.domain.suite import UNFUSED, LeftOut, Suite
from opperf.domain.units import format_seconds, plural
from opperf.parent.reports.columns import ABOUT_THE_UNSEEN, framework
from opperf.parent.reports.document import Level, Note, Section
from opperf.parent.reports.text import first_line, trial_text

#: Maximum number of trials, and of wordings of one warning, to name; the others are counted.
MOST_NAMES = 5
WORDINGS = 3
#: More records than this are summed up: one trial of each cause, one wording of each warning, this many of both.
MANY = 20
CAUSES = 8
#: Within these shares of the program's own time its operators explain it.
EXPLAINED_SHARE = (0.7, 1.3)
#: Maximum number of reasons for left-out calls to list, by number of calls.
REASONS = 5


@dataclass(frozen=True)
class Remark:
    """One thing said of so many trials: a short stable name, each wording with its trials, its remedies."""

    slug: str
    count: int
    messages: Mapping[str, Sequence[str]]
    hints: Sequence[str]
    most_named: int = MOST_NAMES
    most_wordings: int = WORDINGS

    @property
    def note(self) -> Note:
        """The first few messages with their trials, the hints, and how many others there are."""
        (first, of_first), *others = self.messages.items()
        below = self._items(of_first)
        for message, trials in others[: self.most_wordings - 1]:
            below.append(Note(f"{message}: {', '.join(self._some(trials))}" if self.most_named else message))
        more = len(others) - (self.most_wordings - 1)
        below += [Note(f"and {more} more")] if more > 0 else []
        below += [Note(hint, kind="hint") for hint in self.hints[: self.most_wordings]]
        return Note(f"{self.slug} ({self.count}): {first}", below)

    def _items(self, trials: Sequence[str]) -> list[Note]:
        return [Note(trial, kind="item") for trial in self._some(trials)] if self.most_named else []

    def _some(self, trials: Sequence[str]) -> Sequence[str]:
        return _few(tuple(trials), self.most_named)


def tally(records: Sequence[Record]) -> str:
    """Count the trials, and those without a measurement.

    For example `6 trials: 4 ok, 1 failed, 1 skipped`.
    """
    if not records:
        return "no trials"
    counts = {status: sum(record.status == status for record in records) for status in ("ok", "failed", "skipped")}
    noun = "trial" if len(records) == 1 else "trials"
    return f"{len(records)} {noun}: " + ", ".join(f"{count} {status}" for status, count in counts.items() if count)


def legend(records: Sequence[Record]) -> list[Note]:
    """Explain the marks that rows really use, each about the column that it is in, if one."""
    times = [record.time for record in records if record.time is not None]
    notes = []
    if any(time.interval is not None for time in times):
        notes.append(Note("[low, high]: 95 % interval of the median over processes", about="spread"))
    within = [time for time in times if time.interval is None and time.precision is not None]
    if within:
        reasons = dict.fromkeys(first_line(time.interval_reason) for time in within if time.interval_reason)
        why = f" ({'; '.join(reasons)})" if reasons else ""
        text = f"±: precision of the median within its process, no interval over processes{why}"
        notes.append(Note(text, about="spread"))
    if any(record.details.noise_floor is not None for record in records):
        text = "floor: how far the slowest process of identical code lay above the fastest here, by `opperf noise`"
        notes.append(Note(text, about="floor"))
    if any(time.discarded for time in times):
        notes.append(Note("samples: used/taken; the machine disturbed the others", about="samples"))
    if any(time.disturbed for time in times):
        notes.append(Note("disturbed: used anyway, because too few clean samples remained", about="samples"))
    if any(time.clock == "cpu" for time in times):
        notes.append(Note("clock=cpu: CPU time instead of wall time, because too few undisturbed samples remained"))
    if any(time.clock == PROFILER for time in times):
        text = "clock=profiler: operator times from the framework's own profiler, without call overhead"
        notes.append(Note(text))
    if any("compiled" in record.facts for record in records):
        notes.append(
            Note("compiled code was loaded from the cache; `--compile-cache none` measures the time to compile")
        )
    return [*notes, *_limits(records), *_sources(records), *_orders(records)]


def sections(records: Sequence[Record]) -> list[Section]:
    """Return failures, then warnings; empty kinds are left out."""
    kinds: tuple[tuple[str, Level, tuple[Remark, ...]], ...] = (
        ("failed", "failed", _unmeasured(records, "failed")),
        ("skipped", "skipped", _unmeasured(records, "skipped")),
        ("warnings", "warning", _doubts(records)),
    )
    write = _whole if len(records) <= MANY else _sum_up
    return [Section(title, [*write(title, remarks)], level) for title, level, remarks in kinds if remarks]


def _whole(_: str, remarks: tuple[Remark, ...]) -> Iterator[Note]:
    yield from (remark.note for remark in remarks)


def _sum_up(title: str, remarks: tuple[Remark, ...]) -> Iterator[Note]:
    """Yield a few lines, and where all of it is."""
    least = 0 if title == "warnings" else 1
    order = sorted(remarks, key=lambda remark: -remark.count)
    for remark in order[:CAUSES]:
        yield replace(remark, most_named=least, most_wordings=1).note
    others = order[CAUSES:]
    trials = sum(remark.count for remark in others)
    rest = (
        f"and {len(others)} more {'kind' if len(others) == 1 else 'kinds'}, of {plural(trials, 'trial')}; "
        if others
        else ""
    )
    yield Note(f"{rest}`--format csv` has each in its row, `--format json` in full")


def more(records: Iterable[Record]) -> str:
    """Say where the rest is, if tracebacks or the stderr of a child were kept."""
    reasons = [record.reason for record in records if record.reason is not None]
    has_details = any(reason.traceback or reason.stderr for reason in reasons)
    return "tracebacks and stderr are in the JSON document" if has_details else ""


def _unmeasured(records: Iterable[Record], status: str) -> tuple[Remark, ...]:
    """Group the records of a status by reason; equal messages are one cause."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for record in records:
        if record.status != status:
            continue
        reason = record.reason
        key = ("unknown", "no reason was recorded", "")
        if reason is not None:
            message = first_line(reason.message)
            signal = f" ({reason.signal})" if reason.signal and reason.signal not in message else ""
            key = (reason.slug, f"{message}{signal}", first_line(reason.hint or ""))
        groups.setdefault(key, []).append(trial_text(record.trial))
    return tuple(
        Remark(slug, len(trials), {message: trials}, (hint,) if hint else ())
        for (slug, message, hint), trials in groups.items()
    )


def _doubts(records: Iterable[Record]) -> tuple[Remark, ...]:
    """Group warnings by slug: their messages hold numbers, so the wordings differ."""
    messages: dict[str, dict[str, dict[str, None]]] = {}
    hints: dict[str, dict[str, None]] = {}
    counts: Counter[str] = Counter()
    for record in records:
        doubts = [one for one in record.warnings if one.slug not in ABOUT_THE_UNSEEN]
        counts.update({warning.slug for warning in doubts})
        for warning in doubts:
            wordings = messages.setdefault(warning.slug, {})
            wordings.setdefault(first_line(warning.message), {})[trial_text(record.trial)] = None
            if warning.hint:
                hints.setdefault(warning.slug, {})[first_line(warning.hint)] = None
    return tuple(
        Remark(slug, counts[slug], {message: [*trials] for message, trials in wordings.items()}, [*hints.get(slug, ())])
        for slug, wordings in messages.items()
    )


def _limits(records: Iterable[Record]) -> Iterator[Note]:
    """Say where the machine was busy when its limits were measured."""
    limits = [record.details.roofline for record in records]
    for doubt in dict.fromkeys(limit.doubt for limit in limits if limit is not None and limit.doubt is not None):
        yield Note(f"roofline: its limits may be too low: measured on a busy machine ({doubt})", about="roofline")


def _sources(records: Sequence[Record]) -> Iterator[Note]:
    """Say where the figures of some columns come from: frameworks count differently."""
    for metric in (metric for metric in METRICS.values() if "source" in metric.parts):
        sources: dict[str, dict[str, None]] = {}
        for record in records:
            source = getattr(record.metrics.get(metric.name), "source", None)
            if source:
                sources.setdefault(first_line(source), {})[record.trial.side.framework] = None
        if sources:
            text = "; ".join(f"{source} ({', '.join(names)})" for source, names in sources.items())
            yield Note(f"{metric.title}: {text}", about=metric.title)


def _orders(records: Sequence[Record]) -> Iterator[Note]:
    """Say which frameworks keep equal elements in their order, where others sort the same and need not."""
    sorts: dict[str, dict[str, dict[str, None]]] = {}
    for record in records:
        if record.status == "ok" and (order := record.facts.get("order_of_equals")):
            sorts.setdefault(record.trial.case.id, {}).setdefault(str(order), {})[framework(record)] = None
    differ = {tuple(orders["kept"]): tuple(orders["any"]) for orders in sorts.values() if len(orders) > 1}
    for stable, others in differ.items():
        text = f"sorts: equal elements keep their order in {', '.join(stable)}, and need not in {', '.join(others)}"
        yield Note(f"{text}: part of the difference may be the algorithm")


def _few(items: tuple[str, ...], most: int) -> tuple[str, ...]:
    others = len(items) - most
    return (*items[:most], f"and {others} more") if others > 0 else items


def shares(run: Run) -> list[str]:
    """Return a line for each side of a run of a suite, and what the suite left out; none for another run."""
    suite = run.suite
    if suite is None:
        return []
    sides: dict[str, list[Record]] = {}
    for record in run.records:
        side = record.trial.side
        words: tuple[str, ...] = (framework(record), side.device, side.mode, f"threads {side.threads}")
        if "merged" in run.environment:
            words += (f"run of {getattr(record.details.run, 'started', None)}",)
        sides.setdefault(", ".join(words), []).append(record)
    totals = [_sum(name, records, suite) for name, records in sides.items() if any(r.total for r in records)]
    return [*totals, *_leave_out(suite)] if totals else []


def _sum(name: str, records: Sequence[Record], suite: Suite) -> str:
    """Say what the calls of one side take together, and how that compares with the program."""
    timed_records = [record for record in records if record.total is not None]
    calls = sum(record.trial.count for record in timed_records)
    total = sum(record.total or 0.0 for record in timed_records)
    left_out = sum(one.count for one in suite.left_out)
    everything = sum(record.trial.count for record in records) + left_out
    how = f"{UNFUSED}," if suite.source.endswith(UNFUSED) else ""
    text = f"{name}: {calls} of {everything} calls{how} take {format_seconds(total)} standalone, with warm caches"
    if left_out:
        text += f"; {left_out} {'is' if left_out == 1 else 'are'} left out of the suite, {_took(suite.left_out)}"
    program = suite.program
    if program is None or not program.time:
        return text
    captured = program.time
    text += (
        f"; `{suite.name}` took {format_seconds(captured)} when it was captured ({program.framework} "
        f"{program.version}, threads {program.threads}{_each(suite)}): {total / captured:.2f} of it"
    )
    if total / captured > EXPLAINED_SHARE[1]:
        text += ". In the program they overlap, are fused, or are called without Python"
        return text + _suggest_clock(timed_records)
    if total / captured >= EXPLAINED_SHARE[0]:
        return text
    return f"{text}. {_rest(captured - total, calls, everything - calls - left_out, left_out)}"


def _suggest_clock(records: Sequence[Record]) -> str:
    """Say how to time eager calls without the Python around them, where they were timed with it and it can be done."""
    side = records[0].trial.side
    by_profiler = any(getattr(record.metrics["time"], "clock", "") == PROFILER for record in records)
    if by_profiler or side.mode != "eager" or side.framework not in PROFILER_CLOCKS:
        return ""
    return "; `--clock profiler` measures without it"


def _each(suite: Suite) -> str:
    """Say what each of several functions took."""
    return "".join(f"; {part.name} {format_seconds(part.time)}" for part in suite.parts)


def _took(left_out: Sequence[LeftOut]) -> str:
    """Describe the recorded time of calls that were left out."""
    times = [one.recorded for one in left_out if one.recorded is not None]
    if not times:
        return "whose time is unknown"
    some = "" if len(times) == len(left_out) else "those of known time "
    return f"{some}{format_seconds(sum(times))} when they were recorded"


def _rest(seconds: float, calls: int, unmeasured: int, left_out: int) -> str:
    """Describe the rest of a program's time: calls that were not measured, and time between operators."""
    between = "between operators: Python, dispatch, gradient bookkeeping, cold caches"
    if not unmeasured and not left_out:
        gap = format_seconds(seconds / max(1, calls))
        return f"The rest is time {between.replace(':', f', {gap} a call:')}"
    parts = [f"the {left_out} calls left out"] * bool(left_out)
    parts += [f"{unmeasured} calls that were not measured"] * bool(unmeasured)
    return f"The rest, {format_seconds(seconds)}, is {', '.join(parts)}, and the time {between}"


def _leave_out(suite: Suite) -> list[str]:
    """Say what was left out of a suite and why, with its time in the program where that is known."""
    reasons = sorted(suite.left_out, key=lambda one: -one.count)
    texts = []
    for one in reasons[:REASONS]:
        took = "" if one.recorded is None else f", {format_seconds(one.recorded)} when it was recorded"
        texts.append(f"left out: {one.count} x {one.name}{took}: {one.reason}")
    rest = sum(one.count for one in reasons[REASONS:])
    return [*texts, *([f"left out: {rest} more calls, listed in the suite"] if rest else [])]
