"""A profile as one table: calls, times and memory of each operator.

Times are seconds and memory bytes. Unknown values are None, not zero.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import accumulate, islice, pairwise
from statistics import median
from typing import TypeAlias

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import check_known
from opperf.domain.operator_group import group_of
from opperf.domain.profile.event import Event, Profile, Slice, own_times, parents


class Processor:
    """Says of spans of time which part a process ran.

    >>> processor = Processor([Slice(0, 100, 1, ran=100, waited=0), Slice(100, 200, 1, ran=20, waited=80)])
    >>> [processor.share(Event("sqrt", "operator", begin, 50, 1, "main")) for begin in (0, 75, 150)]
    [1.0, 0.6, 0.2]
    """

    def __init__(self, slices: Iterable[Slice]) -> None:
        by_process: dict[int, list[Slice]] = defaultdict(list)
        for piece in slices:
            by_process[piece.process].append(piece)
        self._ran = {
            process: _Sum([(one.begin, one.end, one.ran) for one in own]) for process, own in by_process.items()
        }
        self._waited = {
            process: _Sum([(one.begin, one.end, one.waited) for one in own]) for process, own in by_process.items()
        }

    def share(self, event: Event) -> float:
        """Return the part of the time that threads could have run in which they ran.

        It is 1 where nothing is known, and on a device, which does not share its time with the processors.
        """
        if event.process not in self._ran or event.device is not None:
            return 1.0
        ran, wait = (sums[event.process].between(event.begin, event.end) for sums in (self._ran, self._waited))
        return ran / (ran + wait) if ran + wait > 0 else 1.0


class _Sum:
    """Amounts that were spread evenly over stretches of time, summed up."""

    def __init__(self, stretches: Iterable[tuple[int, int, int]]) -> None:
        changes: dict[int, float] = defaultdict(float)
        for begin, end, amount in stretches:
            if end > begin:
                changes[begin] += amount / (end - begin)
                changes[end] -= amount / (end - begin)
        self._times = sorted(changes)
        self._rates = list(accumulate(changes[time] for time in self._times))
        lengths = [after - before for before, after in pairwise(self._times)]
        self._sums = [0.0, *accumulate(length * rate for length, rate in zip(lengths, self._rates))]

    def between(self, begin: int, end: int) -> float:
        """Return the sum within a stretch of time; for a moment, the rate."""
        if begin == end:
            return self._rate(begin)
        return max(0.0, self._until(end) - self._until(begin))

    def _until(self, time: int) -> float:
        place = bisect_right(self._times, time) - 1
        if place < 0:
            return 0.0
        return self._sums[place] + (time - self._times[place]) * self._rates[place]

    def _rate(self, time: int) -> float:
        place = bisect_right(self._times, time) - 1
        return max(0.0, self._rates[place]) if place >= 0 else 0.0


#: The groupings of rows, and the kind of span that each is made of.
GROUPINGS = {**dict.fromkeys(("name", "group", "shape", "module", "stack"), "operator"), "kernel": "kernel"}
#: What rows are grouped by where nothing is said.
BY_NAME = "name"
#: Groupings of which calls of one row lie within each other.
NESTED = ("group", "module", "stack")
#: Lines of Python that tell a stack from another, the innermost ones; but those that only hand a call on.
LINES = 5
HANDING_ON = re.compile(r"torch/nn/modules/module\.py\(\d+\): (?:inner|_call_impl|_wrapped_call_impl)$")
#: What the facts of a process call the most operations a second that the machine is able to do with its threads.
PEAK = "peak_flop_rate"
#: A row is marked if its process waited for a CPU for at least this share of its time.
WAITING = 0.2


@dataclass(frozen=True)
class Row:
    """Calls that belong together: all of one name, of one name and shapes, of one group, module, stack or kernel.

    `total` is the time between their beginnings and ends, `own` the part that no call within them took, `share` the
    part of `own` in that of all rows. What was `allocated` or ran on a `device` within calls is counted once, also
    where calls of a row lie within each other. `flop_rate` is that of the calls whose `flops` are known, in their
    time on the device where there is one. Where few calls make up the row, `long_calls` says how many, and
    `long_share` their part of `own`. `waited` is the part of `own` in which the process could have run and did not;
    `cpu_share` is the row's part in what is left of all rows without it. Both are None where nothing was counted.
    `typical` is what `own` would be without waiting, if each call took the median of those like it.
    `peak_share` is the part of the machine's peak that `flop_rate` is, where that was measured.
    """

    name: str
    calls: int
    total: float
    own: float
    mean: float
    p50: float
    min: float
    max: float
    share: float | None
    shapes: tuple[tuple[int, ...], ...] = ()
    module: str = ""
    backward: bool = False
    recomputed: bool = False
    fused: bool = False
    allocated: int | None = None
    peak: int | None = None
    device: float | None = None
    flops: int | None = None
    flop_rate: float | None = None
    long_calls: int | None = None
    long_share: float | None = None
    waited: float | None = None
    cpu_share: float | None = None
    peak_share: float | None = None
    typical: float = 0.0

    @property
    def disturbed(self) -> bool:
        """Whether much of the row's time is that of other programs."""
        return self.waited is not None and self.waited > WAITING * self.own


def rows(profile: Profile, by: str = BY_NAME) -> tuple[Row, ...]:
    """Return the rows by self time, largest first; raises `InputError` for an unknown grouping."""
    check_known("grouping", by, GROUPINGS)
    events = profile.of_kind(GROUPINGS[by])
    keys = [_key(event, by) for event in events]
    above = parents(events)
    groups: dict[tuple[object, ...], list[tuple[Event, int, bool]]] = defaultdict(list)
    for place, own in enumerate(own_times(events, profile.recomputations() if GROUPINGS[by] == "operator" else ())):
        groups[keys[place]].append((events[place], own, _is_outermost(place, above, keys)))
    whole = sum(own for calls in groups.values() for _, own, _ in calls)
    result = [_row(calls, by, whole) for calls in groups.values()]
    if (peak := _peak(profile)) is not None:
        result = [replace(row, peak_share=row.flop_rate / peak) if row.flop_rate else row for row in result]
    ran = _running_times(profile.slices, list(groups.values()))
    result = [replace(row, typical=_typical(calls, own)) for row, calls, own in zip(result, groups.values(), ran)]
    if profile.slices:
        result = _with_waiting(result, ran)
    return tuple(sorted(result, key=lambda row: (-row.own, row.name)))


def _peak(profile: Profile) -> float | None:
    """Return the peak that all processes have in common, in operations a second."""
    peaks = {facts.get(PEAK) for facts in profile.processes.values()}
    peak = peaks.pop() if len(peaks) == 1 else None
    return peak if isinstance(peak, (int, float)) and peak > 0 else None


#: The calls of a row: each with its own nanoseconds, and whether it lies in no other call of the row.
Calls: TypeAlias = Sequence[tuple[Event, int, bool]]


def _running_times(slices: Sequence[Slice], groups: Sequence[Calls]) -> list[list[float]]:
    """Return the nanoseconds of each call without those that the process waited for a processor."""
    processor = Processor(slices)
    return [[own * processor.share(event) for event, own, _ in calls] for calls in groups]


def _typical(calls: Calls, ran: Sequence[float]) -> float:
    """Return the seconds of as many calls, each the median of those that are alike.

    Where shapes are not recorded, calls of one module are the likeliest to have the same.
    """
    return sum(_medians([event for event, _, _ in calls], ran)) / 1e9


def typical_times(profile: Profile) -> list[float]:
    """Return the seconds of each operator if it took the median of those like it, without waiting for a processor.

    What others within it took is theirs. The sum over a row by name is the row's `typical`.
    """
    events = profile.of_kind("operator")
    processor = Processor(profile.slices)
    ran = [own * processor.share(event) for event, own in zip(events, own_times(events, profile.recomputations()))]
    return [time / 1e9 for time in _medians(events, ran)]


def _medians(events: Sequence[Event], times: Sequence[float]) -> list[float]:
    """Return for each event the median of the times of those that are alike."""
    keys = [(event.name, event.shapes, event.module, event.phase) for event in events]
    alike: dict[object, list[float]] = defaultdict(list)
    for key, time in zip(keys, times):
        alike[key].append(time)
    medians = {key: median(group) for key, group in alike.items()}
    return [medians[key] for key in keys]


def _with_waiting(rows: Sequence[Row], ran: Sequence[Sequence[float]]) -> list[Row]:
    """Return the rows with what of their time the process ran."""
    sums = [sum(own) / 1e9 for own in ran]
    whole = sum(sums)
    return [
        replace(row, waited=max(0.0, row.own - one), cpu_share=one / whole if whole else None)
        for row, one in zip(rows, sums, strict=True)
    ]


def _key(event: Event, by: str) -> tuple[object, ...]:
    if by == "group":
        return (group_of(event.name),)
    if by in NESTED:
        return event.module if by == "module" else _lines(event), event.backward, event.recomputed
    return (event.name, event.shapes) if by == "shape" else (event.name,)


def _is_outermost(place: int, above: Sequence[int | None], keys: Sequence[tuple[object, ...]]) -> bool:
    """Whether a call is not nested in another call of its row."""
    outer = above[place]
    while outer is not None and keys[outer] != keys[place]:
        outer = above[outer]
    return outer is None


def _row(calls: Calls, by: str, total: int) -> Row:
    events = [event for event, _, _ in calls]
    outermost = [event for event, _, is_outermost in calls if is_outermost]
    first = events[0]
    # The total of nested calls is the sum of their self times.
    owns = [own for _, own, _ in calls]
    durations = owns if by in NESTED else [event.duration for event in events]
    few, few_share = long_calls(events, owns) or (None, None)
    return Row(
        name=_name(first, by),
        calls=len(calls),
        total=sum(durations) / 1e9,
        own=sum(owns) / 1e9,
        mean=sum(durations) / len(calls) / 1e9,
        p50=median(durations) / 1e9,
        min=min(durations) / 1e9,
        max=max(durations) / 1e9,
        share=sum(owns) / total if total else None,
        shapes=first.shapes if by == "shape" else (),
        module=_common_value(event.module for event in events),
        backward=all(event.backward for event in events),
        recomputed=all(event.recomputed for event in events),
        fused=any(event.fused for event in events),
        allocated=_join(sum, (event.allocated for event in outermost)),
        peak=_join(max, (event.peak for event in events)),
        device=_seconds(_join(sum, (event.device for event in outermost))),
        flops=_join(sum, (event.flops for event in events)),
        flop_rate=_flop_rate([event for event in events if event.flops]),
        long_calls=few,
        long_share=few_share,
    )


def _lines(event: Event) -> tuple[str, ...]:
    """Return the lines of a row by stack."""
    return tuple(islice((line for line in event.stack if not HANDING_ON.search(line)), LINES))


def _name(event: Event, by: str) -> str:
    """Return the key of a call's row; a stack starts at the innermost line."""
    if by == "stack":
        return " < ".join(_lines(event)) or "(no stack)"
    if by == "group":
        return group_of(event.name)
    return event.module or "(no module)" if by == "module" else event.name


def _flop_rate(events: Sequence[Event]) -> float | None:
    nanoseconds = sum(event.duration if event.device is None else event.device for event in events)
    return sum(event.flops or 0 for event in events) / (nanoseconds / 1e9) if nanoseconds else None


def _common_value(values: Iterable[str]) -> str:
    """Return the value that all have in common; empty where they differ."""
    distinct = set(values)
    return distinct.pop() if len(distinct) == 1 else ""


def _join(join: Callable[[list[int]], int], values: Iterable[int | None]) -> int | None:
    numbers = [value for value in values if value is not None]
    return join(numbers) if numbers else None


def _seconds(nanoseconds: int | None) -> float | None:
    return None if nanoseconds is None else nanoseconds / 1e9


#: A call is long from this multiple of the median of similar calls: caches and neighbours rarely slow one threefold,
#: while a first call, a lost processor or a page from the disk make it a hundred times so.
FAR = 10
#: Up to this share of calls counts as few. A tenth of the calls, ten times as long, just makes up half of a row.
FEW = 0.1
#: Few calls make up a row from this share of its time: without them it would be less than half as long.
MOST = 0.5


def long_calls(events: Sequence[Event], durations: Sequence[int]) -> tuple[int, float] | None:
    """Return the number of a row's long calls and their share of its time, if these few make it up; else None.

    A call is long where it takes more than `FAR` times the median of the calls of its name and shapes. They make up the
    row where they are at most `FEW` of its calls and take more than `MOST` of its time.

    >>> def calls(*durations):
    ...     return [Event("sqrt", "operator", 0, one, 1, "main") for one in durations], durations
    >>> long_calls(*calls(*[1] * 99, 901))
    (1, 0.901)
    >>> long_calls(*calls(*[1] * 8, 100, 100)), long_calls(*calls(*[1] * 99, 10))
    (None, None)
    """
    alike: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for event, duration in zip(events, durations):
        alike[event.name, event.shapes].append(duration)
    # Where most calls are too short for the clock, there is no typical length to compare with.
    middles = [(group, median(group)) for group in alike.values()]
    outliers = [one for group, middle in middles if middle for one in group if one > FAR * middle]
    if not outliers or len(outliers) > FEW * len(durations) or sum(outliers) <= MOST * sum(durations):
        return None
    return len(outliers), sum(outliers) / sum(durations)


@dataclass(frozen=True)
class Change:
    """One row in both profiles, None where one of them lacks it. Times are in seconds."""

    name: str
    shapes: tuple[tuple[int, ...], ...]
    before: Row | None
    after: Row | None

    @property
    def difference(self) -> float:
        """The difference of the self times."""
        return self.of("own")

    @property
    def typical(self) -> float:
        """The difference of the times of as many median calls, in which other programs and a few calls have no part."""
        return self.of("typical")

    def of(self, field: str) -> float:
        """Return the difference of a number of the rows; a row that is missing has none of it."""
        earlier, later = (0.0 if row is None else getattr(row, field) for row in (self.before, self.after))
        return float(later - earlier)

    @property
    def ratio(self) -> float | None:
        """The later self time / the earlier; None where one is missing."""
        if self.before is None or self.after is None or not self.before.own:
            return None
        return self.after.own / self.before.own

    @property
    def ratio_of_call(self) -> float | None:
        """The ratio of the medians of one call, which a few disturbed calls do not change."""
        if self.before is None or self.after is None or not self.before.p50:
            return None
        return self.after.p50 / self.before.p50


def changes(before: Profile, after: Profile, by: str = BY_NAME, field: str = "typical") -> tuple[Change, ...]:
    """Return a change for each row of either, those that differ most in a field first.

    Raises `InputError` for an unknown grouping.
    """
    earlier, later = ({_change_key(row, by): row for row in rows(one, by)} for one in (before, after))
    result = [Change(key[0], key[1], earlier.get(key), later.get(key)) for key in {**earlier, **later}]
    return tuple(sorted(result, key=lambda change: (-abs(change.of(field)), change.name)))


def _change_key(row: Row, by: str) -> tuple[str, tuple[tuple[int, ...], ...], bool, bool]:
    # Modules have a row for the forward, one for what is recomputed, and one for the backward.
    return row.name, row.shapes, by == "module" and row.backward, by == "module" and row.recomputed
