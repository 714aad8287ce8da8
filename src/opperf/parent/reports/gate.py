"""A gate: the table of a comparison with the findings below it, and a page for a pull request.

The page says the verdict first, then what is wrong, and folds the rest away.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from functools import partial

from opperf.domain.plan import ReadSide
from opperf.domain.units import format_percent, format_ratios, format_seconds, plural
from opperf.parent.documents.comparison import ComparisonRun
from opperf.parent.documents.judgement import FAILURE, INCONCLUSIVE, KINDS, REGRESSION, Finding, Judgement
from opperf.parent.reports import comparison
from opperf.parent.reports.comparison import legend
from opperf.parent.reports.comparison_rows import bound_text, pairs_of, reasons, sides_of
from opperf.parent.reports.document import (
    Annotation,
    Block,
    Check,
    Code,
    Column,
    Document,
    Note,
    Outcome,
    Section,
    Table,
    table,
)
from opperf.parent.reports.rerun import compare_command, run_command
from opperf.parent.reports.text import case_text, common_subject

#: What reports are called, by which a former one is known: a test suite, and the heading of a page.
TITLE = "opperf gate"
MARK = "### opperf"
#: The heading of each kind; the kinds themselves are words of documents.
TITLES = {
    "slower": "slower",
    "memory": "more memory",
    "failed": "not measured",
    "inconclusive": "inconclusive",
    "skipped": "not compared",
    "expected": "as expected",
    "faster": "faster",
    "same": "same",
}
#: The findings that are listed below the table.
FINDINGS = ("slower", "memory", "failed", "inconclusive", "skipped", "expected")
#: A regression is a failed test, a failed measurement an error, an inconclusive verdict skipped.
OUTCOMES: dict[str, Outcome] = {
    "slower": "failure",
    "memory": "failure",
    "failed": "error",
    "inconclusive": "skipped",
    "skipped": "skipped",
}
#: The annotation of each kind; others get none.
ANNOTATIONS: dict[str, Annotation] = {
    "slower": "error",
    "memory": "error",
    "failed": "warning",
    "inconclusive": "warning",
    "expected": "notice",
    "faster": "notice",
}
#: Maximum number of commands to repeat a regression, largest regressions first.
MOST_COMMANDS = 20
#: Characters of one table: a comment takes 65536 in all, and there are three tables.
MOST_OF_TABLE = 18_000


def document(run: ComparisonRun, judgement: Judgement) -> Document:
    """Return the report."""
    notes = [
        Note(f"{comparison.name(finding.comparison)} ({_sides(finding, judgement)}): {_sentence(finding)}", kind="item")
        for finding in judgement.of_kind(*FINDINGS)
    ]
    return Document(
        TITLE,
        [
            *comparison.blocks(run),
            *([Section("", notes)] if notes else []),
            Section("", [Note(f"gate: {headline(judgement)}")]),
        ],
        lambda: {**run.to_json(), "gate": judgement.to_json()},
        _checks(judgement),
        headline(judgement),
        failed=judgement.exit_code != 0,
        started=run.run.started,
        page=partial(page, run, judgement),
    )


def headline(judgement: Judgement) -> str:
    """Return the line that a reader needs first, as `1 regression in 3 comparisons: 1 slower, 2 same`."""
    of_all, code = plural(len(judgement.findings), "comparison"), judgement.exit_code
    if code == REGRESSION:
        text = f"{plural(len(judgement.regressions), 'regression')} in {of_all}"
    elif code == FAILURE:
        failures = len(judgement.of_kind("failed"))
        text = f"{failures} of {of_all} could not be measured" if failures else "nothing was compared"
    elif code == INCONCLUSIVE:
        text = f"no certain regression in {of_all}, but some are inconclusive"
    else:
        text = f"no regression in {of_all}"
    counts = {kind: len(judgement.of_kind(kind)) for kind in KINDS}
    tally = ", ".join(f"{count} {TITLES[kind]}" for kind, count in counts.items() if count)
    return f"{text}: {tally}" if tally else text


def _checks(judgement: Judgement) -> list[Check]:
    """Return a check of a CI system for each finding; annotations come as a reader needs them, the largest first."""
    places = {id(finding): place for place, finding in enumerate(judgement.of_kind(*KINDS))}
    base = "expected" if judgement.against == "expected" else ""
    return [
        comparison.check(
            finding.comparison,
            finding.kind,
            _sentence(finding),
            OUTCOMES.get(finding.kind, "passed"),
            ANNOTATIONS.get(finding.kind, ""),
            base,
            (places[id(finding)],),
        )
        for finding in judgement.findings
    ]


def _sides(finding: Finding, judgement: Judgement) -> str:
    """Return the sides that were compared, as `torch==2.12.0 -> torch==2.13.0`."""
    base, new = sides_of(finding.comparison)
    return f"{'expected' if judgement.against == 'expected' else base} -> {new}"


def _sentence(finding: Finding) -> str:
    title = f"{TITLES[finding.kind]}: "
    name = f" (change `{finding.change}`)" if finding.kind == "slower" and finding.change else ""
    message = finding.message.removeprefix(f"{TITLES['failed']}: ")  # so a comparison begins that has no verdict
    return title + message + name


def page(
    run: ComparisonRun,
    judgement: Judgement,
    title: str = TITLE,
    order: Callable[[Sequence[Finding]], Sequence[Finding]] = tuple,
) -> Document:
    """Return the report for a pull request; `order` is that of the rows of each table."""
    blocks: list[Block] = [*map(Note, comparison.crowds_of(run))]
    wrong = order(judgement.of_kind("slower", "memory", "failed"))
    blocks += [_table(wrong, judgement)] if wrong else []
    open_ones = order(judgement.of_kind("inconclusive", "skipped"))
    blocks += _fold(f"{len(open_ones)} without a verdict", _table(open_ones, judgement)) if open_ones else []
    rest = order(judgement.of_kind("expected", "faster", "same"))
    blocks += _fold(f"{len(rest)} without a regression", _table(rest, judgement)) if rest else []
    ran = comparison.explanations([finding.comparison for finding in judgement.regressions[:MOST_COMMANDS]])
    blocks += _fold("What ran", *ran) if ran else []
    blocks += _fold("How this was measured", *_conditions(run, judgement))
    commands = _commands(run, judgement)
    if commands:
        blocks += _fold("How to repeat it", Code(commands))
    return Document(title, blocks, heading=f"{title}: {headline(judgement)}")


def _fold(title: str, *blocks: Block) -> list[Block]:
    return [Section(title, blocks, folded=True)]


def _table(findings: Sequence[Finding], judgement: Judgement) -> Table:
    def ratio(finding: Finding) -> str:
        verdict = finding.comparison.verdict
        return "" if verdict.ratio is None else f"{verdict.ratio:.3f} {format_ratios(verdict.interval)}".rstrip()

    columns: tuple[Column[Finding], ...] = (
        Column("operator", "operator", lambda finding: common_subject(finding.comparison)),
        Column("direction", "direction", lambda finding: finding.comparison.direction, presence="varied"),
        Column("inputs", "inputs", lambda finding: case_text(finding.comparison.case), place=1),
        Column("sides", "sides", lambda finding: _sides(finding, judgement), presence="varied"),
        Column("base_time_s", "before", lambda finding: finding.comparison.base_time, format_seconds),
        Column("new_time_s", "now", lambda finding: finding.comparison.new_time, format_seconds),
        Column("ratio", "ratio", ratio, place=-1),
        Column("bound", "bound", lambda finding: bound_text(finding.comparison)),
        Column("finding", "finding", lambda finding: finding.kind, TITLES.__getitem__, place=-2),
        Column("why", "why", lambda finding: reasons(finding.comparison), "; ".join, place=1, below=True),
    )
    return table(
        columns,
        findings,
        behind=lambda finding: pairs_of(finding.comparison),
        complete="the report of `--output` has them",
        characters=MOST_OF_TABLE,
    )


def _conditions(run: ComparisonRun, judgement: Judgement) -> list[Block]:
    """Say on what, with which versions and by which rule."""
    settings, machine = run.run.settings, run.run.machine
    lines = [f"{machine.get('cores_usable')} cores of {machine.get('cpu')}, kernel {machine.get('kernel')}"]
    sides = (*run.run.sides.items(), *((None, facts) for facts in run.run.frameworks))
    for name, facts in sides:
        facts_told = [f"{fact} {facts[fact]}" for fact in ("version", "commit", "blas") if facts.get(fact)]
        lines.append(f"{name or facts.get('framework')}: {', '.join(facts_told)}")
    own = (f"{name} {format_percent(share)}" for name, share in judgement.own.items())
    share = ", ".join([format_percent(judgement.tolerance), *own])
    if judgement.against == "expected":
        lines.append(f"against recorded expectations, threshold {share}, {settings.processes} processes of each trial")
    else:
        lines.append(f"interleaved pairs of fresh processes on the same CPUs, tolerance {share}")
        words = legend(run.comparisons)
        lines.append(words.text(words.lines))
    lines.append(f"started {run.run.started}, seed {settings.seed}, run {run.run.id}")
    return [*map(Note, lines)]


def _commands(run: ComparisonRun, judgement: Judgement) -> list[str]:
    """Return the gate's own command, and one for each regression that a command line can write.

    What a file says its command was may be any program, so it is not among those to repeat.
    """
    is_read = any(isinstance(one.new, ReadSide) for one in run.comparisons)
    commands = [] if is_read else [shlex.join(run.run.command)]
    for finding in judgement.regressions[:MOST_COMMANDS]:
        if judgement.against == "expected":
            again = run_command(finding.comparison, run.run.settings.processes)
        else:
            again = compare_command(finding.comparison, judgement.tolerances.of(finding.comparison.case.operator))
        commands += [] if again is None else [again]
    return list(dict.fromkeys(commands))
