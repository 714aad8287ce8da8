"""Compare two runs that were recorded at different times: cautiously, since nothing was interleaved.

What changed between the runs (temperature, neighbours, the host's load) is in the difference and cannot be told from
the code. Hence a change is called only when it is clear of a floor that identical code has been seen to move by
between runs; everything smaller is inconclusive, and a live comparison would decide it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import fmean, variance

from opperf.domain.dataclass import dataclass
from opperf.domain.measurement import Samples
from opperf.domain.plan import Side
from opperf.domain.reason import Warning
from opperf.domain.record import Record, Run
from opperf.domain.stats.order import CONFIDENCE
from opperf.domain.stats.significance import t_quantile
from opperf.domain.units import format_seconds, plural
from opperf.parent.analysis.modes import Doubt, groups, hold
from opperf.parent.analysis.summary import PROCESSES
from opperf.parent.analysis.verdict import Rule
from opperf.parent.documents.comparison import Comparison, Verdict
from opperf.parent.documents.floor import Floor, floor_key

#: How far identical code may move between two runs on a shared host, where `opperf noise` has not measured it.
#: Cache-sized operators keep 11-14 % however the machine is fixed.
FLOOR = 0.15
#: The facts that two machines must share.
MACHINE = ("cpu", "cores_usable", "kernel", "governor", "memory_total")


@dataclass(frozen=True)
class Welch:
    """The difference of two means of logs, and its interval, with the variances of both sides as they are."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, old: Sequence[float], new: Sequence[float]) -> Welch:
        """Return new less old (Welch, Biometrika 34 (1947), 28-35); each needs two values.

        >>> test = Welch.of([0.0, 0.1], [1.0, 1.1])
        >>> round(test.mean, 2), round(test.low, 2), round(test.high, 2)
        (1.0, 0.7, 1.3)
        """
        parts = [max(variance(values), 1e-24) / len(values) for values in (old, new)]
        error = math.sqrt(sum(parts))
        freedom = sum(parts) ** 2 / sum(
            part**2 / (len(values) - 1) for part, values in zip(parts, (old, new), strict=True)
        )
        half = t_quantile((1 + CONFIDENCE) / 2, freedom) * error
        mean = fmean(new) - fmean(old)
        return cls(mean, mean - half, mean + half)


def compare_runs(
    old: Run, new: Run, rule: Rule, floors: Mapping[tuple[object, ...], Floor] | None = None
) -> list[Comparison]:
    """Return a comparison for each trial of either run; one that only one of them has is listed too.

    Trials match by case, direction, framework, implementation, device, mode and kind of machine: versions, environments
    and threads are what recorded runs are compared for, and are named where they differ. `floors` are those of this
    machine.
    """
    olds, news = _by_key(old.records), _by_key(new.records)
    doubts = _machines(old, new)
    return [_compare(olds.get(key), news.get(key), rule, floors or {}, doubts) for key in dict.fromkeys([*olds, *news])]


def _by_key(records: Sequence[Record]) -> dict[tuple[object, ...], Record]:
    """Return records by their matching key; equal machines are matched in order."""
    numbers: Counter[tuple[object, ...]] = Counter()
    by_key = {}
    for record in records:
        key = _key(record)
        place = (*key, numbers[key])
        by_key[place] = record
        numbers[key] += 1 if record.details.node else 0  # without a fleet, the last of equal records counts
    return by_key


def _key(record: Record) -> tuple[object, ...]:
    side, node = record.trial.side, record.details.node
    kind = None if node is None else node.kind
    return (record.trial.case.id, record.trial.direction, side.framework, side.spelling, side.device, side.mode, kind)


def _compare(
    old: Record | None,
    new: Record | None,
    rule: Rule,
    floors: Mapping[tuple[object, ...], Floor],
    doubts: tuple[Warning, ...],
) -> Comparison:
    either = old or new
    if either is None:
        raise ValueError("neither run has the trial")
    base, new_side = (old or either).trial.side, (new or either).trial.side
    logs = [[] if record is None else process_logs(record) for record in (old, new)]
    verdict = hold(_verdict(old, new, logs, rule, floors), _modes(logs, rule) if old and new else None)
    old_time, new_time = (math.exp(fmean(side)) if side else None for side in logs)
    return Comparison(
        case=either.trial.case,
        direction=either.trial.direction,
        base=base,
        new=new_side,
        verdict=verdict,
        base_time=old_time,
        new_time=new_time,
        warnings=(*doubts, *_sides(base, new_side), *_versions(old, new), *_groups_of_times(old, new)),
        status=_status(old, new),
        count=either.trial.count,
        node=either.details.node,
        facts={} if new is None or new.details.seconds is None else {"seconds": new.details.seconds},
    )


def _status(old: Record | None, new: Record | None) -> str:
    """Return `failed` where a record is, `skipped` where there is nothing to compare, else `ok`."""
    statuses = {"skipped" if record is None else record.status for record in (old, new)}
    return next((status for status in ("failed", "skipped") if status in statuses), "ok")


def _verdict(
    old: Record | None,
    new: Record | None,
    values: Sequence[Sequence[float]],
    rule: Rule,
    floors: Mapping[tuple[object, ...], Floor],
) -> Verdict:
    """Return the verdict on two records, of which `values` are the logs of the times of their processes."""
    if old is None or new is None:
        return Verdict("skipped", None, None, f"only the {'new' if old is None else 'old'} run has it", 0)
    pairs = min(map(len, values))
    if pairs == 0:
        status = _status(old, new)
        reason = f"{old.status} in the old run, {new.status} in the new one"
        return Verdict("inconclusive" if status == "ok" else status, None, None, reason, 0)
    settle = f"measure both live: `opperf compare {old.trial.case.operator} --base ... --new ...`"
    ratio = math.exp(fmean(values[1]) - fmean(values[0]))
    if pairs < PROCESSES:
        reason = f"{plural(pairs, 'process')} per side; recorded runs need `--processes {PROCESSES}` at least"
        return Verdict("inconclusive", ratio, None, reason, pairs, settle)
    test = Welch.of(*values)
    interval = (math.exp(test.low), math.exp(test.high))
    if -rule.band < test.low and test.high < rule.band:
        return Verdict("same", ratio, interval, f"the interval lies within ±{rule.tolerance:.0%}", pairs)
    noise = _floor(old, new, floors)
    floor = math.log1p(FLOOR) if noise is None else noise
    moves = f"the {math.expm1(floor):.1%} by which identical code {'may vary' if noise is None else 'varied'}"
    if test.low > max(floor, rule.band) or test.high < -max(floor, rule.band):
        word = "slower" if test.mean > 0 else "faster"
        return Verdict(word, ratio, interval, f"beyond {moves} between runs", pairs)
    reason = f"the runs were not interleaved, and the change is not clear of {moves}"
    return Verdict("inconclusive", ratio, interval, reason, pairs, settle)


def _modes(logs: Sequence[Sequence[float]], rule: Rule) -> Doubt | None:
    """Return the doubt that remains where the processes of a side fall into groups: the other run may have met one."""
    texts, apart = [], 0.0
    for name, values in zip(("old", "new"), logs, strict=True):
        parts = groups(values)
        if len(parts) > 1:
            modes = " and ".join(f"{format_seconds(math.exp(fmean(part)))} in {len(part)}" for part in parts)
            texts.append(f"the processes of the {name} run fall into groups: {modes}")
            apart = max(apart, *(fmean(above) - fmean(below) for below, above in pairwise(parts)))
    if not texts or abs(fmean(logs[1]) - fmean(logs[0])) - apart > rule.band:
        return None  # the change is larger than what the modes differ by
    return Doubt("; ".join(texts), apart)


def _groups_of_times(old: Record | None, new: Record | None) -> Iterator[Warning]:
    """Yield what either record says of two modes within its processes."""
    for name, record in (("old", old), ("new", new)):
        for one in () if record is None else record.warnings:
            if one.slug == "two_modes":
                yield replace(one, message=f"{name} run: {one.message}")


def _floor(old: Record, new: Record, floors: Mapping[tuple[object, ...], Floor]) -> float | None:
    """Return the log-ratio that processes of identical code lay apart by, of the noisier side."""
    distances = [floors[key].between for key in (floor_key(old.trial), floor_key(new.trial)) if key in floors]
    return max(distances, default=None)


def process_logs(record: Record) -> list[float]:
    """Return the log of the clean minimum of each process; without samples, of the summary's."""
    if record.time is None:
        return []
    series = record.samples.get("time")
    if not series:
        shortest = record.time.value if record.time.min is None else record.time.min  # another tool may state none
        return [math.log(shortest)] if shortest > 0 else []
    runs = [Samples.from_json(columns) for columns in series]
    least = [min(samples.seconds() or samples.seconds(clean_only=False)) for samples in runs]
    return [math.log(value) for value in least if value > 0]


def _machines(old: Run, new: Run) -> tuple[Warning, ...]:
    """Name what differs of the machines."""
    unlike = machine_differences(old.machine, new.machine)
    if not unlike:
        return ()
    return (Warning("other_machine", f"the runs come from different machines ({'; '.join(unlike)})", "compare live"),)


def machine_differences(old: Mapping[str, object], new: Mapping[str, object]) -> list[str]:
    """Return the differences of two machines, by the facts that decide how fast code runs."""
    return [f"{name}: {old.get(name)} and {new.get(name)}" for name in MACHINE if old.get(name) != new.get(name)]


def _sides(base: Side, new: Side) -> tuple[Warning, ...]:
    unlike = [
        f"{name}: {getattr(base, name)} and {getattr(new, name)}"
        for name in ("environment", "threads", "engine", "allocator", "settings")
        if getattr(base, name) != getattr(new, name)
    ]
    return (Warning("other_side", "; ".join(unlike)),) if unlike else ()


def _versions(old: Record | None, new: Record | None) -> tuple[Warning, ...]:
    versions = [None if record is None else record.facts.get("version") for record in (old, new)]
    if None in versions or versions[0] == versions[1]:
        return ()
    return (Warning("other_version", f"version: {versions[0]} and {versions[1]}"),)
