"""A gate's report as Markdown for a pull request: the verdict first, then what is wrong, the rest folded away.

Names come from other people's files, and a pull request renders HTML, mentions and tables: all of it is escaped.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from itertools import accumulate

from opperf.domain.comparison import ComparisonRun
from opperf.domain.judgement import Finding, Judgement
from opperf.domain.units import format_bound, format_percent, format_ratios, format_seconds
from opperf.parent.reports import explanations
from opperf.parent.reports.comparisons import LEGEND, reasons
from opperf.parent.reports.escaping import for_markdown, for_markdown_line, one_line
from opperf.parent.reports.findings import TITLES, headline, sides
from opperf.parent.reports.rerun import compare_command, run_command
from opperf.parent.reports.text import case_text, common_subject

#: What every report begins with, by which a former one is known.
MARK = "### opperf gate"
COLUMNS = ("operator", "direction", "inputs", "sides", "before", "now", "ratio", "bound", "finding", "why")
#: So many commands to repeat a regression are written at most; the largest regressions come first.
MOST_COMMANDS = 20
#: Characters of one table: a comment takes 65536 in all, and there are three tables.
MOST_OF_TABLE = 18_000


def render(run: ComparisonRun, judgement: Judgement) -> str:
    """Return the Markdown."""
    parts = [f"{MARK}: {for_markdown(headline(judgement))}"]
    wrong = judgement.of_kind("slower", "memory", "failed")
    if wrong:
        parts.append(_table(wrong, judgement))
    open_ones = judgement.of_kind("inconclusive", "skipped")
    parts += _folded(f"{len(open_ones)} without a verdict", _table(open_ones, judgement)) if open_ones else []
    rest = judgement.of_kind("faster", "same")
    parts += _folded(f"{len(rest)} without a regression", _table(rest, judgement)) if rest else []
    ran = explanations.markdown([finding.comparison for finding in judgement.regressions[:MOST_COMMANDS]])
    parts += _folded("What ran", "\n".join(ran).strip()) if ran else []
    parts += _folded("How this was measured", _measured(run, judgement))
    parts += _folded("How to repeat it", _repeated(run, judgement))
    return "\n\n".join(parts) + "\n"


def _table(findings: Sequence[Finding], judgement: Judgement) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cells) + " |"

    rows = [line([for_markdown(cell) for cell in _cells(finding, judgement)]) for finding in findings]
    ends = list(accumulate(len(row) + 1 for row in rows))
    shown = sum(end <= MOST_OF_TABLE for end in ends)
    more = [] if shown == len(rows) else ["", f"{len(rows) - shown} more are in the report of `--output`."]
    return "\n".join([line(COLUMNS), line(["---"] * len(COLUMNS)), *rows[:shown], *more])


def _cells(finding: Finding, judgement: Judgement) -> tuple[str, ...]:
    comparison, verdict = finding.comparison, finding.comparison.verdict
    return (
        common_subject(comparison),
        comparison.direction,
        case_text(comparison.case),
        sides(finding, judgement),
        format_seconds(comparison.base_time),
        format_seconds(comparison.new_time),
        "" if verdict.ratio is None else f"{verdict.ratio:.3f} {format_ratios(verdict.interval)}".rstrip(),
        format_bound(verdict.bound),
        TITLES[finding.kind],
        "; ".join(reasons(comparison)),
    )


def _folded(title: str, text: str) -> list[str]:
    return [f"<details><summary>{title}</summary>", text, "</details>"]


def _measured(run: ComparisonRun, judgement: Judgement) -> str:
    """Say on what, with which versions and by which rule."""
    settings, machine = run.run.settings, run.run.machine
    lines = [f"{machine.get('cores_usable')} cores of {machine.get('cpu')}, kernel {machine.get('kernel')}"]
    known = (*run.run.sides.items(), *((None, facts) for facts in run.run.frameworks))
    for name, facts in known:
        told = [f"{fact} {facts[fact]}" for fact in ("version", "commit", "blas") if facts.get(fact)]
        lines.append(f"{name or facts.get('framework')}: {', '.join(told)}")
    share = format_percent(judgement.tolerance)
    if judgement.against == "expected":
        lines.append(f"against recorded expectations, threshold {share}, {settings.processes} processes of each trial")
    else:
        lines.append(f"interleaved pairs of fresh processes on the same CPUs, tolerance {share}")
        lines.append(LEGEND)
    lines.append(f"begun {run.run.started}, seed {settings.seed}, run {run.run.id}")
    return "\n".join(f"* {for_markdown_line(line)}" for line in lines)


def _repeated(run: ComparisonRun, judgement: Judgement) -> str:
    """Return the gate's own command, and one for each regression that a command line can write."""
    commands = [shlex.join(run.run.command)]
    for finding in judgement.regressions[:MOST_COMMANDS]:
        if judgement.against == "expected":
            again = run_command(finding.comparison, run.run.settings.processes)
        else:
            again = compare_command(finding.comparison, judgement.tolerance)
        commands += [] if again is None else [again]
    text = "\n".join(one_line(command) for command in dict.fromkeys(commands))
    longest = max((len(found) for found in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}sh\n{text}\n{fence}"
