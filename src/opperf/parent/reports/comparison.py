"""A comparison: one row for each case and direction, a summary, and what ran on both sides."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from opperf.domain.metric import METRICS
from opperf.domain.plan import INSTRUCTIONS, Side
from opperf.domain.units import format_percent, format_ratio, format_ratios, format_seconds, plural
from opperf.parent.documents.comparison import VERDICTS, Comparison, ComparisonRun, Explanations
from opperf.parent.documents.load import load_of
from opperf.parent.documents.machines import Across, across
from opperf.parent.documents.wholes import Part, is_suite, moved_costs, parts, totals, wholes
from opperf.parent.reports.comparison_rows import columns, end_of, pairs_of, reasons, side_text, sides_of
from opperf.parent.reports.document import (
    Annotation,
    Block,
    Check,
    Column,
    Document,
    Legend,
    Level,
    Note,
    Outcome,
    Section,
    Table,
    table,
)
from opperf.parent.reports.machine import crowds, own_load
from opperf.parent.reports.text import case_text, common_attributes, common_subject

#: No more differences of a comparison are shown; the JSON document has all.
MOST_DIFFERENCES = 12
RAN = "what ran: self times per call, profiled in a separate process; they show where time goes, not how much"
LEGEND = Legend(
    {
        "ratio": "ratio: new / base, from the undisturbed minima of rounds",
        "base time": "times: from the same pairs",
        "interval": "interval: 95 %, over pairs of processes (99.9 % where the first were enough, 99 % where 3 were)",
        "bound": "bound: the largest change that is still possible without a verdict of slower or faster",
        "total": "total: all calls of the suite on the new side",
        "part": "part: of the difference of all calls, as a share of what they take on base",
        "memory": "memory: the peak of a call, on both sides where it moved by 1 % and 4 kB",
    }
)
COUNTS = Legend(
    {
        "base value": "values: instructions that a call executes under Valgrind",
        "ratio": "ratio: of the counts, new / base",
        "interval": "interval: the range over layouts of memory",
        "time ratio": "times and their ratio: without Valgrind, with the same vectors",
        "bound": "bound: the largest change that is still possible without a verdict of more or less work",
    }
)
_OUTCOMES: dict[str, Outcome] = {"failed": "error", "skipped": "skipped", "inconclusive": "skipped"}
_ANNOTATIONS: dict[str, Annotation] = {"failed": "warning", "slower": "notice", "faster": "notice"}
_LEVELS: dict[str, Level] = {"failed": "failed", "skipped": "skipped"}


def document(run: ComparisonRun) -> Document:
    """Return the report."""
    return Document(
        "opperf compare",
        blocks(run),
        run.to_json,
        [_check(comparison) for comparison in run.comparisons],
        tally(run.comparisons),
        started=run.run.started,
    )


def blocks(run: ComparisonRun) -> list[Block]:
    """Return the table, its summary, and what ran."""
    comparisons = run.comparisons
    notes = map(Note, [tally(comparisons), *crowds_of(run), *costs_that_moved(comparisons)])
    sections = [*machines(comparisons), *explanations(comparisons)]
    last = [Note(line) for line in suites(comparisons)]
    return [table_of(run), *notes, legend(comparisons), *([*sections, Section("", last)] if sections else last)]


def legend(comparisons: Sequence[Comparison]) -> Legend:
    """Explain the columns: of another metric than the time, where one comparison is by it."""
    metric = next((METRICS[one.metric] for one in comparisons if one.metric != "time"), METRICS["time"])
    if metric.name in ("time", INSTRUCTIONS):
        return LEGEND if metric.name == "time" else COUNTS
    interval = "the range over pairs of processes" if metric.compared == "exact" else LEGEND.lines["interval"][10:]
    return Legend(
        {
            "base value": f"values: {metric.meaning}",
            "ratio": f"ratio: of the {metric.words}, new / base",
            "interval": f"interval: {interval}",
            "bound": "bound: the largest change that is still possible without a verdict",
        }
    )


def crowds_of(run: ComparisonRun) -> list[str]:
    """Say where other programs took much of a machine."""
    return crowds(run.run, _sides(run))


def _sides(run: ComparisonRun) -> list[Side]:
    return [side for one in run.comparisons for side in (one.base, one.new)]


def table_of(run: ComparisonRun) -> Table:
    """Return the table of comparisons; those of a suite by their part of the difference, the largest first."""
    shares = parts(run.comparisons)
    of_place = {id(one): shares.get(place) for place, one in enumerate(run.comparisons)}
    comparisons = sorted(run.comparisons, key=lambda one: -abs(of_place[id(one)] or 0.0))
    suite_columns = _of_suite(of_place) if is_suite(run.comparisons) else ()
    load = load_of(run.run.machine, own_load(run.run, _sides(run)))
    last: Column[Comparison] = Column("load", None, lambda _: load and load.average)
    every = dict.fromkeys(_sides(run))

    def sides(comparison: Comparison) -> tuple[str, str]:
        return sides_of(comparison, *every)

    every_column = (*columns(sides, suite_columns, common_attributes(one.case for one in comparisons)), last)
    return table(every_column, comparisons, lambda one: _LEVELS.get(one.status, ""), behind=pairs_of)


def by_operator(comparisons: Iterable[Comparison]) -> list[Comparison]:
    """Return comparisons with those of an operator and a case beside each other, in the order of the first of each."""
    places: dict[object, int] = {}
    every = list(comparisons)
    for key in (*(one.case.operator for one in every), *(one.case.id for one in every)):
        places.setdefault(key, len(places))
    return sorted(every, key=lambda one: (places[one.case.operator], places[one.case.id], one.direction))


def _of_suite(shares: Mapping[int, float | None]) -> tuple[Column[Comparison], ...]:
    """Return the columns that only a suite has."""

    def total(place: int) -> Callable[[Comparison], float | None]:
        return lambda comparison: None if (both := totals(comparison)) is None else both[place]

    return (
        Column("calls", "calls", lambda comparison: comparison.count, align="right"),
        Column("base_total_s", None, total(0)),
        Column("new_total_s", "total", total(1), format_seconds),
        Column("part", "part", lambda comparison: shares[id(comparison)], _signed, "right", place=-1),
    )


def _signed(part: float | None) -> str:
    percent = 0 if part is None else round(100 * part, 2)
    return "" if part is None else f"{percent:+.2f} %" if percent else "0.00 %"


def tally(comparisons: Sequence[Comparison]) -> str:
    """Count the verdicts, as `5 comparisons: 4 same, 1 inconclusive`."""
    counts = {word: sum(one.verdict.verdict == word for one in comparisons) for word in VERDICTS}
    text = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    return f"{plural(len(comparisons), 'comparison')}: {text or 'none'}"


def suites(comparisons: Sequence[Comparison]) -> list[str]:
    """Say what all calls of a suite take on both sides, one line for each pair of sides."""
    lines, by_sides = [], wholes(comparisons)
    every = [side for whole in by_sides for side in (whole.base, whole.new)]
    for suite in by_sides:
        times = f"{format_seconds(suite.base_time)} on {side_text(suite.base, *every)}"
        times += f", {format_seconds(suite.new_time)} on {side_text(suite.new, *every)}"
        ratio = f"{suite.ratio:.3f} {format_ratios(suite.interval)}".rstrip()
        decisive = ", ".join(_decisive(comparisons, one) for one in suite.decisive)
        low, high = suite.interval or (0.0, math.inf)
        is_open = low <= 1 <= high
        by = "" if is_open else f", {'slower' if low > 1 else 'faster'}: decided by {decisive}"
        lines.append(f"{suite.calls} of {suite.of} calls: {times}, ratio {ratio}{by}")
    return lines


def _decisive(comparisons: Sequence[Comparison], part: Part) -> str:
    one = comparisons[part.place]
    return f"{common_subject(one)} {one.direction} ({_signed(part.part)})"


def costs_that_moved(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Say where one operator got slower, and others faster by as much of the total."""
    for slower, others in moved_costs(comparisons):
        more, less = (sum(abs(new - base) for base, new in map(_both, several)) for several in ([slower], others))
        names = " and ".join(f"{common_subject(one)} {one.direction}" for one in others)
        yield (
            f"cost moved: {common_subject(slower)} {slower.direction} takes {format_seconds(more)} more, {names} "
            f"{format_seconds(less)} less"
        )


def _both(comparison: Comparison) -> tuple[float, float]:
    return totals(comparison) or (0.0, 0.0)


ACROSS: tuple[Column[Across], ...] = (
    Column("operator", "operator", lambda one: one.case.operator, least=10),
    Column("direction", "direction", lambda one: one.direction, least=8, presence="varied"),
    Column("inputs", "inputs", lambda one: case_text(one.case), least=14, lines=6),
    Column("base", "base", lambda one: side_text(one.base, one.new), least=10, presence="varied"),
    Column("new", "new", lambda one: side_text(one.new, one.base), least=10, presence="varied"),
    Column("machines", "machines", lambda one: one.machines),
    Column("ratio", "ratio", lambda one: one.ratio, format_ratio),
    Column(None, "interval", lambda one: one.interval, format_ratios),
    Column("heterogeneity", "heterogeneity", lambda one: one.heterogeneity, format_percent),
    Column("finding", "finding", lambda one: one.finding, least=30),
)
#: Said below the table of machines.
ACROSS_MACHINES = (
    "merged by random effects (Paule-Mandel, Hartung-Knapp), never as times; heterogeneity: the share of what machines"
    " differ by that their own errors do not explain"
)


def machines(comparisons: Sequence[Comparison]) -> list[Section]:
    """Return the joint verdicts of several machines on each comparison; none where none was made on several."""
    mergers = across(comparisons)
    return [Section("across machines", [table(ACROSS, mergers), Note(ACROSS_MACHINES)])] if mergers else []


def explanations(comparisons: Sequence[Comparison]) -> list[Section]:
    """Return the kernels and calls of both sides of each comparison that was explained; none where none was."""
    with_explanation = [one for one in comparisons if one.explanation]
    sections = [
        Section(f"what ran: {name(one)}, {one.verdict.verdict}", [*differences(one.explanation)])
        for one in with_explanation
    ]
    return [*sections, *([Section("", [Note(RAN)])] if sections else [])]


def name(comparison: Comparison) -> str:
    """Return the name of a comparison: operator, direction and inputs."""
    words = (common_subject(comparison), comparison.direction, case_text(comparison.case))
    return " ".join(word for word in words if word)


def differences(explanation: Explanations) -> Iterator[Note]:
    """Yield what differs in what ran on two sides, or why that is not known."""
    if explanation["failures"]:
        yield from (Note(f"{side} could not be explained: {why}") for side, why in explanation["failures"].items())
        return
    yield from map(Note, explanation["difference"][:MOST_DIFFERENCES])
    more = len(explanation["difference"]) - MOST_DIFFERENCES
    if more > 0:
        yield Note(f"{more} more differences are in the JSON document")
    if not explanation["difference"]:
        yield Note("no differences found")
    if explanation["alike"]:
        yield Note(f"{explanation['alike']} more ran the same on both sides")


def _check(comparison: Comparison) -> Check:
    """Return the check of a CI system for a comparison, which informs and fails nothing: a gate does."""
    verdict = comparison.verdict
    return check(
        comparison,
        verdict.verdict,
        f"{verdict.verdict}: {'; '.join(reasons(comparison))}",
        _OUTCOMES.get(verdict.verdict, "passed"),
        _ANNOTATIONS.get(verdict.verdict, ""),
    )


def check(
    comparison: Comparison,
    kind: str,
    message: str,
    outcome: Outcome,
    annotation: Annotation,
    base: str = "",
    rank: tuple[int, ...] = (),
) -> Check:
    """Return a comparison as a check for CI systems, with its numbers; `base` is the other side."""
    verdict, seconds = comparison.verdict, comparison.facts.get("seconds")
    first, second = sides_of(comparison)
    return Check(
        name(comparison),
        f"{base or first} -> {second}",
        f"{common_subject(comparison)} {comparison.direction}",
        kind,
        message,
        outcome,
        annotation,
        seconds if isinstance(seconds, (int, float)) else None,
        {
            "ratio": verdict.ratio,
            "low": end_of(0)(comparison),
            "high": end_of(1)(comparison),
            "base_time": comparison.base_time,
            "new_time": comparison.new_time,
        },
        rank,
    )
