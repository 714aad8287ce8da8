"""Where one side loses: the largest gaps, each with the command that measures it again, and what each category lost."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from opperf import __version__
from opperf.catalog import catalog
from opperf.domain.dataclass import dataclass
from opperf.domain.stats.order import median
from opperf.domain.units import format_ratios, format_seconds, plural
from opperf.parent.documents.comparison import Comparison, ComparisonRun
from opperf.parent.documents.tolerances import TOLERANCE
from opperf.parent.reports.comparison_groups import LEGEND, groups_json, groups_table
from opperf.parent.reports.comparison_rows import named_sides
from opperf.parent.reports.document import Block, Code, Column, Document, Note, Section, table
from opperf.parent.reports.machine import crowds, machine_lines
from opperf.parent.reports.rerun import compare_command
from opperf.parent.reports.text import case_text, common_subject, short_text

#: The category of an operator that the catalog does not have.
OTHER = "other"
#: Maximum number of operators that failed to name.
MOST_FAILURES = 10
#: No core stores as many bytes in a second: 64 in a cycle at 5 GHz are 320 GB. What is there sooner was not written.
MOST_STORED = 400e9


@dataclass(frozen=True)
class Gap:
    """A confirmed gap: the new side of a comparison takes longer."""

    rank: int
    comparison: Comparison

    @property
    def operator(self) -> str:
        """The name of the operator."""
        return common_subject(self.comparison)

    @property
    def category(self) -> str:
        """The category that the catalog has it in."""
        return category(self.comparison)

    @property
    def ratio(self) -> float | None:
        """New over base, of the pairs that confirmed it."""
        return self.comparison.ratio

    @property
    def command(self) -> str | None:
        """The command that measures it alone, None where a command line cannot write it."""
        return compare_command(self.comparison, TOLERANCE)


@dataclass(frozen=True)
class Share:
    """A category on one new side: the ratios of its cases at a look, or confirmed, and how many exceed the factor."""

    category: str
    side: str
    ratios: Sequence[float]
    beyond: int


def document(run: ComparisonRun, factor: float, top: int | None = None, by: str = "operator") -> Document:
    """Return the report: gaps, categories by a `factor`, and the command of each gap; or a row for each group."""
    blocks: list[Block] = [groups_table(run, top), LEGEND] if by == "group" else [*_gap_blocks(run, factor, top)]
    views = [*_views(run, factor)]
    blocks += [Section("views", views)] if views else []
    failures = [*_failures(run)]
    blocks += [Section("failed", failures)] if failures else []
    summary = [*_summary(run, factor)]
    blocks += map(Note, summary)
    crowd = [*map(Note, crowds(run.run))]
    return Document(
        *("opperf contrast", [*blocks, *crowd], partial(groups_json, run) if by == "group" else run.to_json),
        summary=" ".join(summary),
        started=run.run.started,
        page=lambda: Document("", [*_made_by(run), *crowd, *blocks], heading=f"opperf contrast: {_sides(run)}"),
    )


def _gap_blocks(run: ComparisonRun, factor: float, top: int | None) -> Iterator[Block]:
    confirmed = gaps(run)
    if confirmed:
        yield table(_columns(), confirmed, top=top)
    shares = categories(run, factor)
    if shares:
        yield Section("by category", [table(_CATEGORIES, shares)])
    commands = [gap.command for gap in confirmed[:top] if gap.command is not None]
    if commands:
        yield Section("commands", [Code(commands)])


def gaps_document(run: ComparisonRun) -> Document:
    """Return the report of the gaps alone."""
    return Document("opperf contrast", [table(_columns(), gaps(run))], run.to_json)


def look_ratio(comparison: Comparison) -> float | None:
    """Return the ratio of new to base at the first look; None where there was none."""
    looks = comparison.log_ratios[0] if comparison.log_ratios else ()
    return math.exp(median(looks)) if looks else None


def is_view(comparison: Comparison) -> bool:
    """Whether the base returns a view of its input, and the new side took long enough to write a result: other work.

    A result is a view where it would have been written faster than any core can.
    """
    definition, times = catalog().get(comparison.case.operator), (comparison.base_time, comparison.new_time)
    if definition is None or comparison.direction != "forward" or None in times:
        return False
    size = sum(tensor.nbytes for tensor in definition.outputs(comparison.case))
    sides = (comparison.base, comparison.new)
    views = [
        side.device == "cpu" and size > MOST_STORED * max(1, side.threads) * (time or 0.0)
        for side, time in zip(sides, times)
    ]
    return views == [True, False]


def _views(run: ComparisonRun, factor: float) -> Iterator[Note]:
    """Yield which operators are a view on the base alone, for each pair of sides."""
    names: dict[tuple[str, str], list[str]] = {}
    for one in run.comparisons:
        if is_view(one) and (look_ratio(one) or 0.0) >= factor:
            names.setdefault(named_sides(one), []).append(common_subject(one))
    for (base, new), operators in names.items():
        yield Note(f"{base} returns a view, which {new} may not: {', '.join(dict.fromkeys(operators))}")


def _sides(run: ComparisonRun) -> str:
    """Name the base and the new sides."""
    pairs = [named_sides(one) for one in run.comparisons]
    new = ", ".join(dict.fromkeys(pair[1] for pair in pairs))
    return f"{new} against {', '.join(dict.fromkeys(pair[0] for pair in pairs))}" if pairs else "nothing was compared"


def _made_by(run: ComparisonRun) -> Iterator[Block]:
    """Yield what made a page: the command, the day, the machine, and the versions of the frameworks."""
    versions = dict.fromkeys(
        f"{side.framework} {version}"
        for one in run.comparisons
        for side, version in ((one.base, one.base_version), (one.new, one.new_version))
        if version
    )
    yield Code([shlex.join(run.run.command)])
    yield Note(f"opperf {__version__}, {run.run.started}: {', '.join(versions)}")
    yield from map(Note, machine_lines(run.run.machine))


def gaps(run: ComparisonRun) -> list[Gap]:
    """Return the confirmed gaps, the largest first."""
    measured = (one for one in run.comparisons if one.verdict.verdict == "slower" and one.ratio is not None)
    slower = [one for one in measured if not is_view(one)]
    ranked = sorted(slower, key=lambda one: -(one.ratio or 0.0))
    return [Gap(rank, one) for rank, one in enumerate(ranked, 1)]


def categories(run: ComparisonRun, factor: float) -> list[Share]:
    """Return the ratios of each category on each new side, the worst typical one first."""
    groups: dict[tuple[str, str], list[float]] = {}
    for comparison in run.comparisons:
        ratio = look_ratio(comparison)
        if ratio is not None and not is_view(comparison):
            groups.setdefault((category(comparison), named_sides(comparison)[1]), []).append(ratio)
    shares = [
        Share(name, side, ratios, sum(ratio >= factor for ratio in ratios)) for (name, side), ratios in groups.items()
    ]
    return sorted(shares, key=lambda share: -median(share.ratios))


def category(comparison: Comparison) -> str:
    """Return the category of a comparison's operator."""
    definition = catalog().get(comparison.case.operator)
    return OTHER if definition is None else definition.category


def _failures(run: ComparisonRun) -> Iterator[Note]:
    """Yield why operators were not compared, those that only the base lacks left out."""
    failed = [one for one in run.comparisons if one.status == "failed"]
    yield from (Note(f"{one.case.operator} on {named_sides(one)[1]}: {one.reason}") for one in failed[:MOST_FAILURES])
    if len(failed) > MOST_FAILURES:
        yield Note(f"{len(failed) - MOST_FAILURES} more (`--format json` has all)")


def _ratio(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.3g}"


def _read(read: Callable[[Comparison], object]) -> Callable[[Gap], object]:
    return lambda gap: read(gap.comparison)


def _columns() -> tuple[Column[Gap], ...]:
    return (
        Column("rank", "#", lambda gap: gap.rank, align="right"),
        Column("case_id", None, _read(lambda one: one.case.id)),
        Column("operator", "operator", lambda gap: gap.operator, least=10, names=True),
        Column("category", "category", lambda gap: gap.category, rank=3),
        Column("direction", "direction", _read(lambda one: one.direction), least=8, presence="varied", names=True),
        Column("inputs", None, _read(lambda one: case_text(one.case))),
        Column(None, "inputs", _read(lambda one: short_text(one.case)), least=14, lines=6),
        Column("base", "base", _read(lambda one: named_sides(one)[0]), presence="varied"),
        Column("new", "new", _read(lambda one: named_sides(one)[1]), presence="varied", names=True),
        Column("base_version", "base version", _read(lambda one: one.base_version), presence="varied", rank=0),
        Column("new_version", "new version", _read(lambda one: one.new_version), presence="varied", rank=0),
        Column("base_time_s", "base time", _read(lambda one: one.base_time), format_seconds, align="right"),
        Column("new_time_s", "new time", _read(lambda one: one.new_time), format_seconds, align="right"),
        Column("ratio", "ratio", lambda gap: gap.ratio, _ratio, align="right"),
        Column("ratio_low", None, _read(lambda one: one.interval and one.interval[0])),
        Column("ratio_high", None, _read(lambda one: one.interval and one.interval[1])),
        Column(None, "interval", _read(lambda one: one.interval), format_ratios, rank=2),
        Column("pairs", "pairs", _read(lambda one: one.verdict.pairs), rank=1),
        Column("command", None, lambda gap: gap.command),
    )


_CATEGORIES: tuple[Column[Share], ...] = (
    Column("category", "category", lambda share: share.category),
    Column("new", "new", lambda share: share.side, presence="varied"),
    Column("cases", "cases", lambda share: len(share.ratios), align="right"),
    Column("median_ratio", "median ratio", lambda share: median(share.ratios), _ratio, align="right"),
    Column("largest_ratio", "largest", lambda share: max(share.ratios), _ratio, align="right"),
    Column("beyond", "beyond the factor", lambda share: share.beyond, align="right"),
)


def _summary(run: ComparisonRun, factor: float) -> Iterator[str]:
    """Say of each new side how many cases there were, and what came of them."""
    groups: dict[tuple[str, str], list[Comparison]] = {}
    for one in run.comparisons:
        groups.setdefault(named_sides(one), []).append(one)
    for (base, new), several in groups.items():
        yield _sentence(new, base, several, factor)


def _sentence(new: str, base: str, comparisons: Sequence[Comparison], factor: float) -> str:
    ratios: Mapping[int, float] = {i: ratio for i, one in enumerate(comparisons) if (ratio := look_ratio(one))}
    views = {i for i, ratio in ratios.items() if ratio >= factor and is_view(comparisons[i])}
    beyond = [i for i, ratio in ratios.items() if ratio >= factor and i not in views]
    confirmed = sum(one.verdict.verdict == "slower" and not is_view(one) for one in comparisons)
    open_looks = sum(comparisons[i].status == "ok" and comparisons[i].verdict.pairs <= 1 for i in beyond)
    statuses = {word: sum(one.status == word for one in comparisons) for word in ("failed", "skipped")}
    statuses["without an undisturbed look"] = len(comparisons) - len(ratios) - sum(statuses.values())
    rest = [f"{count} {word}" for word, count in statuses.items() if count > 0]
    words = [
        f"{new} against {base}: {plural(len(ratios), 'case')} compared",
        f"{len(beyond)} beyond a factor of {factor:g}",
        f"{confirmed} confirmed as slower",
        *([f"{len(views)} left out where only {base} returns a view"] if views else []),
        *([f"{open_looks} open: raise `--confirm` or `--budget`"] if open_looks else []),
        *rest,
    ]
    return ", ".join(words)
