"""The rows of a comparison: its sides by what tells them apart, what explains the verdict, and every column.

What varies stands first for people: verdict, ratio and interval. What all rows have in common is said above the table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from opperf.domain.code import is_suite
from opperf.domain.dataclass import dataclass
from opperf.domain.kernels import KERNELS
from opperf.domain.metric import METRICS
from opperf.domain.plan import HOW, INSTRUCTIONS, Side
from opperf.domain.stats.order import median
from opperf.domain.units import SECOND, format_bound, format_bytes, format_ratio, format_ratios, format_seconds
from opperf.parent.documents.comparison import Comparison, moved
from opperf.parent.reports.columns import of_jobs
from opperf.parent.reports.document import Column, Table, plain, table
from opperf.parent.reports.rerun import side_word
from opperf.parent.reports.text import attributes_text, case_text, common_subject, own_function, short_text

#: A median or a 90th percentile has moved when it did by this much more than the minimum.
TAIL_MOVED = 0.10
#: Page faults of a call that are worth a word, where the sides differ by more.
FEW_FAULTS = 10


def side_text(side: Side, *others: Side, dtype: str | None = None, subject: str = "") -> str:
    """Write a side: its environment or framework, and its differences from the other sides, an element type among them.

    A function that is on all sides is the `subject` of the comparison, and named there; so are files of benchmarks.
    """
    words = [side.framework if side.environment in ("current", side.framework) else side.environment]
    function = own_function(side)
    if function is not None and any(function != own_function(other) for other in others):
        is_needed = words != [side.framework] or any(side.framework != other.framework for other in others)
        words = [function, *(words if is_needed else ())]
    elif function is None and side.implementation is not None and not _is_shared_suite(side, others):
        spelling = f"{side.framework}:{side.implementation}"
        is_elsewhere = any(side.environment != other.environment for other in others)
        words = words if spelling == subject else [spelling, *(words if is_elsewhere else ())]
    for name in HOW:
        value = getattr(side, name)
        words += [f"{name}={value}"] if any(value != getattr(other, name) for other in others) else []
    words += [f"{key}={value}" for key, value in sorted(side.settings.items())]
    return ";".join([*words, *([f"dtype={dtype}"] if dtype else [])])


def _is_shared_suite(side: Side, others: Iterable[Side]) -> bool:
    """Whether an implementation is files of benchmarks, which all sides have."""
    return is_suite(side.implementation) and all(other.spelling == side.spelling for other in others)


def sides_of(comparison: Comparison, *others: Side) -> tuple[str, str]:
    """Write the base and the new side of a comparison by what tells them from each other, and from `others`."""
    base, new = comparison.base, comparison.new
    dtypes = comparison.facts.get("dtypes")
    types = dtypes if isinstance(dtypes, Mapping) else {}
    return (
        side_text(base, new, *others, dtype=plain(types.get("base")), subject=comparison.case.operator),
        side_text(new, base, *others, dtype=plain(types.get("new")), subject=comparison.case.operator),
    )


def named_sides(comparison: Comparison) -> tuple[str, str]:
    """Write both sides as `--base` and `--new` read them; where they cannot, or are alike then, as `sides_of` does."""
    sides = comparison.base, comparison.new
    base, new = map(side_word, sides)
    is_own = any(side.implementation is not None for side in sides)  # of which the operator tells, or a file
    if base is None or new is None or base == new or is_own or "dtypes" in comparison.facts:
        return sides_of(comparison)
    return base, new


def reasons(comparison: Comparison) -> list[str]:
    """Explain the verdict, what would decide it, and other observations."""
    verdict = comparison.verdict
    texts = [verdict.reason, *([verdict.settle] if verdict.settle else [])]
    if comparison.clock == "cpu":
        texts.append("CPU time instead of wall time: too few samples were undisturbed")
    if comparison.clock == KERNELS:
        texts.append("the device's busy time decides, without launches")
    for name, ratio in comparison.tails.items():
        overall = (comparison.time or verdict).ratio
        if overall is not None and abs(ratio / overall - 1) > TAIL_MOVED:
            texts.append(f"the {name} moved differently: ratio {ratio:.2f}")
    texts += [warning.message for warning in comparison.warnings]
    faults = [median(values) for values in (comparison.base_faults, comparison.new_faults) if values]
    if len(faults) == 2 and abs(faults[0] - faults[1]) > FEW_FAULTS and "page faults" not in " ".join(texts):
        texts.append(f"page faults of a call: {faults[0]:.0f} before, {faults[1]:.0f} now")
    if moved(comparison.memory):
        texts.append("peak memory {} before, {} now".format(*map(format_bytes, comparison.memory["peak"])))
    return texts


def verdict_text(comparison: Comparison) -> str:
    """Return the verdict for people: less of the metric that decides, or what counts and clock say together."""
    verdict, metric = comparison.verdict, METRICS[comparison.metric]
    if metric.compared == "exact" and comparison.status == "ok" and verdict.verdict != "inconclusive":
        return verdict.reason.partition(";")[0]
    if metric.unit is SECOND:
        return verdict.verdict
    return {"slower": f"more {metric.words}", "faster": f"less {metric.words}"}.get(verdict.verdict, verdict.verdict)


def _value_text(place: int) -> Callable[[Comparison], str]:
    """Return the function that formats values of another metric than the time."""

    def text(comparison: Comparison) -> str:
        if comparison.metric == "time":
            return ""
        value = METRICS[comparison.metric].unit.show(comparison.levels[place])
        return f"{value} {comparison.facts.get('unit', '')}".strip()

    return text


def memory_text(comparison: Comparison) -> str:
    """Return the peak of a call: one for both sides unless it moved by as much as is worth a word."""
    if not comparison.memory:
        return ""
    base, new = map(format_bytes, comparison.memory["peak"])
    return f"{base}, now {new}" if moved(comparison.memory) else new


def bound_text(comparison: Comparison) -> str:
    """Return the largest change that is still possible; live pairs that say nothing of it are too few."""
    is_live = any(comparison.log_ratios) and METRICS[comparison.metric].compared == "sampled"
    return "not enough pairs" if is_live and comparison.verdict.lacks_pairs else format_bound(comparison.verdict.bound)


@dataclass(frozen=True)
class Pair:
    """A pair of processes: its number and stage, what base and new took by the metric that decided, and the ratio."""

    number: int
    stage: int
    levels: tuple[float | None, float | None]
    ratio: float


def pairs_of(comparison: Comparison) -> list[Table]:
    """Return the table of the pairs behind a ratio; none where there is no ratio, or no pair was kept."""
    if comparison.verdict.ratio is None:
        return []
    unit = METRICS[comparison.metric].unit if comparison.metric != INSTRUCTIONS else SECOND
    pairs: list[Pair] = []
    for stage, ratios in enumerate(comparison.log_ratios):
        both_sides = comparison.pair_levels[stage] if stage < len(comparison.pair_levels) else ()
        levels = both_sides if len(both_sides) == len(ratios) else [(None, None) for _ in ratios]
        pairs += [
            Pair(len(pairs) + number, stage + 1, both, math.exp(ratio))
            for number, (ratio, both) in enumerate(zip(ratios, levels, strict=True), 1)
        ]
    columns: tuple[Column[Pair], ...] = (
        Column(None, "pair", lambda one: one.number, align="right"),
        Column(None, "stage", lambda one: one.stage, align="right", presence="apart"),
        Column(None, "base", lambda one: one.levels[0], unit.show, "right"),
        Column(None, "new", lambda one: one.levels[1], unit.show, "right"),
        Column(None, "ratio", lambda one: one.ratio, format_ratio, "right"),
    )
    return [table(columns, pairs)] if pairs else []


def _peak(place: int) -> Callable[[Comparison], float | None]:
    return lambda comparison: comparison.memory["peak"][place] if comparison.memory else None


def _of_verdict(part: str) -> Callable[[Comparison], object]:
    return lambda comparison: getattr(comparison.verdict, part)


def end_of(place: int) -> Callable[[Comparison], float | None]:
    """Return the reader of an end of the interval of the ratio."""
    return lambda comparison: None if comparison.verdict.interval is None else comparison.verdict.interval[place]


def columns(
    sides: Callable[[Comparison], tuple[str, str]],
    suite_columns: Sequence[Column[Comparison]] = (),
    common: Sequence[tuple[str, str]] = (),
) -> tuple[Column[Comparison], ...]:
    """Return the columns; a suite has some of its own, and `common` are the attributes that all rows have alike."""
    return (
        Column("case_id", None, lambda one: one.case.id),
        Column("operator", "operator", common_subject, least=10, names=True),
        Column("direction", "direction", lambda one: one.direction, least=8, presence="varied", names=True),
        Column("inputs", None, lambda one: case_text(one.case)),
        Column("node", "node", lambda one: one.node and one.node.name, presence="varied", usual=None, names=True),
        Column("machine", None, lambda one: one.node and one.node.kind),
        Column("base", "base", lambda one: sides(one)[0], least=10, presence="varied", names=True),
        Column("new", "new", lambda one: sides(one)[1], least=10, presence="varied", names=True),
        Column("base_time_s", "base time", lambda one: one.base_time, format_seconds, rank=1),
        Column("new_time_s", "new time", lambda one: one.new_time, format_seconds, rank=2),
        Column("metric", None, lambda one: one.metric),
        Column("base_value", None, lambda one: one.levels[0]),
        Column("new_value", None, lambda one: one.levels[1]),
        Column(None, "base value", _value_text(0), rank=5, align="right"),
        Column(None, "new value", _value_text(1), rank=6, align="right"),
        Column("time_ratio", "time ratio", lambda one: one.time and one.time.ratio, format_ratio),
        Column("ratio", "ratio", _of_verdict("ratio"), format_ratio, place=-2),
        Column("low", None, end_of(0)),
        Column("high", None, end_of(1)),
        Column("confidence", None, _of_verdict("confidence")),
        Column(None, "interval", _of_verdict("interval"), format_ratios, rank=4, place=-1),
        Column("bound", None, _of_verdict("bound")),
        Column(
            *(None, "inputs", lambda one: short_text(one.case, common)),
            least=14,
            lines=6,
            presence="varied",
            names=True,
        ),
        Column(None, "attributes", lambda _: attributes_text(common), presence="varied"),
        Column(None, "bound", bound_text, rank=3),
        Column("base_memory_peak_B", None, _peak(0)),
        Column("new_memory_peak_B", None, _peak(1)),
        Column(None, "memory", memory_text, rank=-1),
        Column("pairs", "pairs", _of_verdict("pairs"), rank=0),
        Column("verdict", None, _of_verdict("verdict")),
        Column(None, "verdict", verdict_text, place=-3),
        Column("reason", None, _of_verdict("reason")),
        *of_jobs(lambda one: one.facts),
        *suite_columns,
        Column(None, "why", lambda one: "; ".join(reasons(one)), least=30, below=True),
    )
