"""Comparisons in every format: one table of cells behind the console, Markdown and CSV; JSON is the document itself."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from opperf.domain.comparison import VERDICTS, Comparison, ComparisonRun, wholes
from opperf.domain.errors import unknown
from opperf.domain.plan import HOW
from opperf.domain.units import format_bound, format_ratios, format_seconds
from opperf.parent.reports import FORMATS, explanations, layout
from opperf.parent.reports.cells import comma_separated, markdown
from opperf.parent.reports.escaping import for_markdown
from opperf.parent.reports.layout import Grid, Heading, Note
from opperf.parent.reports.text import case_text, common_subject, own_function

if TYPE_CHECKING:
    from opperf.domain.plan import Side
    from opperf.parent.reports.layout import Block

HEADINGS = (
    Heading("operator", least=10),
    Heading("direction", least=8, common=True),
    Heading("inputs", least=14, lines=6),
    Heading("base", least=10, common=True),
    Heading("new", least=10, common=True),
    Heading("base time", rank=1),
    Heading("new time", rank=2),
    Heading("ratio"),
    Heading("interval", rank=4),
    Heading("bound", rank=3),
    Heading("pairs", rank=0),
    Heading("verdict"),
    Heading("why", least=30, below=True),
)
TITLES = tuple(heading.title for heading in HEADINGS)
#: A median or a 90th percentile has moved when it did by this much more than the minimum.
TAIL_MOVED = 0.10


def render(run: ComparisonRun, format: str, width: int | None = None) -> str:
    """Return comparisons in one of the formats, with a line break at the end; raises `InputError` for another.

    `width` is the terminal's, None for a pipe or a file.
    """
    if format == "json":
        return json.dumps(run.to_json(), indent=1, allow_nan=False) + "\n"
    if format == "csv":
        return _csv(run.comparisons)
    if format == "md":
        return _markdown(run.comparisons)
    if format == "console":
        return layout.text(blocks(run.comparisons), width=width)
    raise unknown("format", format, FORMATS, hint=f"known: {', '.join(FORMATS)}")


def side_text(side: Side, other: Side) -> str:
    """Write a side: its environment or framework, and what it does not share with the other side.

    A function of the user's own that is on both sides is what is compared, and is named as that.
    """
    words = [side.framework if side.environment in ("current", side.framework) else side.environment]
    own = own_function(side)
    if own is not None and own != own_function(other):
        words = [own, *(words if words != [side.framework] or side.framework != other.framework else ())]
    elif own is None and side.implementation is not None:
        words[0] = f"{side.framework}:{side.implementation}"
    words += [f"{name}={getattr(side, name)}" for name in HOW if getattr(side, name) != getattr(other, name)]
    words += [f"{key}={value}" for key, value in sorted(side.settings.items())]
    return ";".join(words)


def _cells(comparison: Comparison) -> tuple[str, ...]:
    verdict = comparison.verdict
    return (
        common_subject(comparison),
        comparison.direction,
        case_text(comparison.case),
        side_text(comparison.base, comparison.new),
        side_text(comparison.new, comparison.base),
        format_seconds(comparison.base_time),
        format_seconds(comparison.new_time),
        "" if verdict.ratio is None else f"{verdict.ratio:.3f}",
        format_ratios(verdict.interval),
        format_bound(verdict.bound),
        str(verdict.pairs),
        verdict.verdict,
        "; ".join(reasons(comparison)),
    )


def reasons(comparison: Comparison) -> list[str]:
    """Say why the verdict is what it is, what would settle it, and what else was seen."""
    verdict = comparison.verdict
    found = [verdict.reason, *([verdict.settle] if verdict.settle else [])]
    if comparison.clock == "cpu":
        found.append("by CPU time: too few samples were undisturbed")
    for name, ratio in comparison.tails.items():
        if verdict.ratio is not None and abs(ratio / verdict.ratio - 1) > TAIL_MOVED:
            found.append(f"the {name} moved otherwise: ratio {ratio:.2f}")
    found += [warning.message for warning in comparison.warnings]
    if comparison.memory and not comparison.memory["same"]:
        base, new = comparison.memory["peak"]
        found.append(f"peak memory {base} B before, {new} B now")
    return found


def blocks(comparisons: Sequence[Comparison]) -> list[Block]:
    """Return the table for people, what it amounts to, and what ran."""
    told = [tally(comparisons), *suites(comparisons), LEGEND]
    grid = Grid(HEADINGS, [*map(_cells, comparisons)])
    return [grid, *map(Note, told), *explanations.blocks(comparisons)]


LEGEND = (
    "ratio: new over base, by the clean minima of rounds; times: of the pairs that it is of; "
    "interval: 95 %, over pairs of processes (99.9 % where one stage was enough); "
    "bound: what a change does not exceed where none was called"
)


def tally(comparisons: Sequence[Comparison]) -> str:
    """Count the verdicts, as `5 comparisons: 4 same, 1 inconclusive`."""
    counts = {word: sum(one.verdict.verdict == word for one in comparisons) for word in VERDICTS}
    told = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    return f"{len(comparisons)} comparison{'s' if len(comparisons) != 1 else ''}: {told or 'none'}"


def suites(comparisons: Sequence[Comparison]) -> list[str]:
    """Say what all calls of a suite take on both sides, one line for each pair of sides."""
    told = []
    for whole in wholes(comparisons):
        times = f"{format_seconds(whole.base_time)} on {side_text(whole.base, whole.new)}"
        times += f", {format_seconds(whole.new_time)} on {side_text(whole.new, whole.base)}"
        ratio = f"{whole.ratio:.3f} {format_ratios(whole.interval)}".rstrip()
        told.append(f"{whole.calls} of {whole.of} calls: {times}, ratio {ratio}")
    return told


def _markdown(comparisons: Sequence[Comparison]) -> str:
    table = markdown(TITLES, [*map(_cells, comparisons)])
    told = for_markdown(". ".join([tally(comparisons), *suites(comparisons), LEGEND]))
    return "\n".join([table, "", f"{told}.", *explanations.markdown(comparisons)]) + "\n"


def _csv(comparisons: Sequence[Comparison]) -> str:
    measured = (
        "base_time_s",
        "new_time_s",
        "ratio",
        "low",
        "high",
        "confidence",
        "bound",
        "pairs",
        "verdict",
        "reason",
    )
    return comma_separated(("case_id", *TITLES[:5], *measured), map(_fields, comparisons))


def _fields(comparison: Comparison) -> tuple[object, ...]:
    verdict = comparison.verdict
    bounds = verdict.interval or (None, None)
    said = (verdict.ratio, *bounds, verdict.confidence, verdict.bound, verdict.pairs, verdict.verdict, verdict.reason)
    return (comparison.case.id, *_cells(comparison)[:5], comparison.base_time, comparison.new_time, *said)
