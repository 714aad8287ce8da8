"""Keep results in a database, and query how operators changed from build to build."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta, timezone
from fnmatch import fnmatchcase
from pathlib import Path
from statistics import median
from typing import TypeAlias

from opperf.domain.case import Case
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, near
from opperf.domain.moment import FIRST, parse_moment, shown_moment
from opperf.domain.record import Run
from opperf.parent.analysis.change_points import Change, Point, changes, points, time_changes
from opperf.parent.analysis.triage import Triage, step_in
from opperf.parent.commands.load import read_document
from opperf.parent.documents.candidates import JudgedRun
from opperf.parent.documents.comparison import ComparisonRun
from opperf.parent.documents.floor import NoiseRun
from opperf.parent.documents.judgement import GateDocument
from opperf.parent.documents.tolerances import TOLERANCE
from opperf.parent.documents.trace import Replay
from opperf.parent.reports.history import NamedChange
from opperf.parent.sources.gate_file import find_database
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.builds import build_orders
from opperf.parent.store.database.connection import Address, choose
from opperf.parent.store.database.decisions import decisions
from opperf.parent.store.database.history import (
    Course,
    History,
    Ratios,
    courses,
    latest_difference,
    operator_names,
    with_cases,
)
from opperf.parent.store.database.listing import OperatorEntry, operators
from opperf.parent.store.database.operator_history import imported_times
from opperf.parent.store.database.pruning import Removal
from opperf.parent.store.database.pruning import prune as prune_archive
from opperf.parent.store.database.rows import Addition
from opperf.parent.store.database.series import EVERYTHING, Filters

#: What a database keeps.
Result: TypeAlias = Run | ComparisonRun | NoiseRun | JudgedRun
#: Names that a message shows, at most.
MOST_NAMES = 5


def archive(database: str | None = None, *, create: bool = False) -> Archive:
    """Return the database that is meant: by name, `OPPERF_DATABASE`, opperf.toml, or the user's own.

    Raises `InputError` for one that is not there and is not to be made, `HarnessError` if it cannot be reached.
    """
    return Archive(address(database), create=create)


def address(database: str | None = None) -> Address:
    """Return the address of the database that is meant; raises `InputError`."""
    return choose(database, file=None if database else find_database(Path()))


def results(path: Path) -> Result:
    """Read a file whose content a database keeps; raises `InputError` for anything else."""
    document = read_document(path)
    if isinstance(document, (GateDocument, Replay)):
        return document.run
    if isinstance(document, (Run, ComparisonRun, NoiseRun, JudgedRun)):
        return document
    hint = "`opperf run`, `compare`, `gate`, `judge`, `noise` and `replay` write them"
    raise InputError(f"{path}: neither results nor comparisons", hint=hint, slug="input")


def run_of(result: Result) -> Run:
    """Return the run that a result stands under."""
    return result if isinstance(result, Run) else result.run


def add(files: Sequence[Path], database: str | None = None, *, samples: bool = False) -> tuple[str, list[Addition]]:
    """Add files of results and comparisons to a database, which is made where it is missing; return its address.

    Where one of the files cannot be read, nothing is added.
    """
    documents = [results(path) for path in files]
    with archive(database, create=True) as store:
        return str(store.address), [store.add(document, samples=samples) for document in documents]


@dataclass(frozen=True)
class Search:
    """The changes of several series, confirmed ones first, and of those the largest.

    `whole` is False where the search ended before the last series. `open` are the series without a change whose last
    comparison says slower or faster, the largest first. `with_cases` says what they are of.
    """

    changes: Sequence[NamedChange]
    series: int
    whole: bool = True
    open: Sequence[Course] = ()


@dataclass(frozen=True)
class Scope:
    """Which changes are searched for: those of at least a `tolerance`, to builds that were first measured `since`.

    All comparisons count for where a series stands. A search for changes in ratios ends with the series in which it has
    read as many of them as `most`.
    """

    filters: Filters = EVERYTHING
    since: datetime | None = None
    tolerance: float = TOLERANCE
    most: int | None = None


def read_triage(archive: Archive) -> Triage:
    """Read what was decided of changes, and the builds of each framework in their order."""
    return Triage(decisions(archive), build_orders(archive))


ALL_CHANGES = Scope()


def searches(archive: Archive, scope: Scope = ALL_CHANGES, triage: Triage | None = None) -> tuple[Search, Search]:
    """Return the changes in ratios, and in the times of other tools; `triage` is the database's, where it was read."""
    triage = triage or read_triage(archive)
    return named_changes(archive, scope, triage), imported_changes(archive, scope, triage)


@dataclass(frozen=True)
class _Finding:
    """A series of ratios with its builds and the changes between them."""

    course: Course
    anchor: str
    builds: Sequence[Point]
    changes: Sequence[Change]


def named_changes(archive: Archive, scope: Scope = ALL_CHANGES, triage: Triage | None = None) -> Search:
    """Return the changes between builds in series of ratios; `triage` is as that of `searches`."""
    triage = triage or read_triage(archive)
    findings: list[_Finding] = []
    open_courses: list[Course] = []
    count = ratio_count = 0
    complete = True
    for course in courses(archive, scope.filters):
        complete = scope.most is None or ratio_count < scope.most
        if not complete:
            break
        count, ratio_count = count + 1, ratio_count + len(course.ratios)
        anchor, builds = points(course.ratios, triage.orders.get(course.framework, ()))
        steps = changes(builds, tolerance=scope.tolerance)
        if steps:
            findings.append(_Finding(course, anchor, builds, steps))
        elif latest_difference(course.ratios) is not None:
            open_courses.append(course)
    every_series = with_cases(archive, [finding.course for finding in findings])
    result = [
        change
        for finding, series in zip(findings, every_series, strict=True)
        for change in _name_changes(finding, series, triage, scope.since)
    ]
    open_courses.sort(key=lambda course: -abs(course.ratios[-1].estimate.log_ratio))
    return Search(sorted(result, key=_rank), count, complete, open_courses)


def _name_changes(finding: _Finding, series: Ratios, triage: Triage, since: datetime | None) -> Iterator[NamedChange]:
    """Yield the changes of a series with their names and what was decided of them."""
    starts: dict[str, datetime] = {}
    for ratio in series.ratios:
        starts.setdefault(ratio.new, ratio.started)
    named_steps = [step_in(series, change.before, change.after, change.size) for change in finding.changes]
    standings = triage.standings(named_steps, starts.get(finding.builds[-1].build, FIRST))
    for change, standing in zip(finding.changes, standings, strict=True):
        first = starts.get(change.after)
        if since is None or first is None or first >= since:
            yield NamedChange(series, finding.anchor, change, standing, first)


def stored_operators(
    archive: Archive, patterns: Sequence[str] = (), framework: str | None = None
) -> list[OperatorEntry]:
    """Return the stored operators whose names match a pattern; raises `InputError` where none does."""
    every = operators(archive, Filters(framework=framework))
    rows = [one for one in every if not patterns or any(fnmatchcase(one.operator, pattern) for pattern in patterns)]
    if patterns and not rows:
        raise missing(archive, patterns[0])
    return rows


def check_name(archive: Archive, operator: str) -> None:
    """Raise `InputError` for an operator of which nothing is stored."""
    if operator not in operator_names(archive):
        raise missing(archive, operator)


def missing(archive: Archive, operator: str) -> InputError:
    """Return the error for an operator of which the database has nothing, with names like it.

    Other tools have long names, of which people remember a part.
    """
    names, word = operator_names(archive), operator.strip("*").casefold()
    parts = sorted((name for name in names if word and word in name.casefold()), key=len)
    close = list(dict.fromkeys([*near(operator, names), *parts]))[:MOST_NAMES]
    hint = "`opperf history operators` lists what it has"
    if close:
        hint = f"did you mean {', '.join(f'`{name}`' for name in close)}?"
    return InputError(f"the database has no measurement of `{operator}`", hint=hint)


def imported_changes(archive: Archive, scope: Scope = ALL_CHANGES, triage: Triage | None = None) -> Search:
    """Return the changes in the absolute times that other tools measured; `triage` is as that of `searches`."""
    result: list[NamedChange] = []
    triage, count = triage or read_triage(archive), 0
    for series, times in imported_times(archive, scope.filters):
        times_by_build: dict[str, list[float]] = {}
        starts: dict[str, int] = {}
        for entry in times:
            if entry.build is not None and entry.time:
                times_by_build.setdefault(entry.build, []).append(entry.time)
                starts.setdefault(entry.build, entry.started)
        if not times_by_build:  # all are zero, and no ratio leads from one to another
            continue
        count += 1
        where = (series.direction, series.framework, series.side, series.machine_name)
        history = History(Case.from_json(series.case, "case"), *where, ())
        order = triage.orders.get(series.framework, ())
        names = [*dict.fromkeys((*filter(times_by_build.__contains__, order), *times_by_build))]
        steps = time_changes(names, [median(times_by_build[name]) for name in names], tolerance=scope.tolerance)
        moments = {build: shown_moment(moment) for build, moment in starts.items()}
        named_steps = [step_in(history, change.before, change.after, change.size) for change in steps]
        standings = triage.standings(named_steps, moments[names[-1]])
        result += [
            NamedChange(history, None, change, standing, moments[change.after])
            for change, standing in zip(steps, standings, strict=True)
            if scope.since is None or moments[change.after] >= scope.since
        ]
    return Search(sorted(result, key=_rank), count)


def _rank(one: NamedChange) -> tuple[bool, float]:
    """Return the key to sort by: first confirmed changes beyond what their series moved by before, then by size."""
    change = one.change
    return change.usual or not change.confirmed, -abs(change.size.log_ratio)


def prune(archive: Archive, *, older: int | None, keep: int | None, samples: bool, dry: bool) -> list[Removal]:
    """Remove runs older than a number of days, or their samples; the latest `keep` stay.

    Raises `InputError` where nothing says which, since that would be all of them.
    """
    if older is None and keep is None and not samples:
        hint = "add `--older-than DAYS` or `--keep N`, or `--samples`"
        raise InputError("no rule says which runs to remove", hint=hint, slug="input")
    before = None if older is None else _days_ago(older)
    return prune_archive(archive, before=before, keep=keep or 0, samples=samples, dry=dry)


def _days_ago(days: int) -> datetime:
    """Return a moment that lies so many days back, or the first that a run may have."""
    now = datetime.now(timezone.utc)
    return FIRST if days > (now - FIRST).days else now - timedelta(days=days)


def day(text: str | None) -> datetime | None:
    """Read a day, or a moment, in UTC where it does not say; None stays None. Raises `InputError`.

    >>> str(day("2026-11-23"))
    '2026-11-23 00:00:00+00:00'
    """
    if text is None:
        return None
    try:
        return parse_moment(text)
    except (ValueError, OverflowError):
        hint = "write for example `2026-11-23`"
        raise InputError(f"`{text}` is not a date of the years 1900 to 2999", hint=hint, slug="input") from None
