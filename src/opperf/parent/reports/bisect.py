"""Which build changed an operator, and what was measured to say so."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TypeAlias

from opperf.domain.units import format_percent, format_ratio, format_ratios
from opperf.parent.documents.bisection import Answer, Bisection, Commit, Step
from opperf.parent.reports.comparison import differences
from opperf.parent.reports.document import Block, Check, Column, Document, Legend, Note, Section, table
from opperf.parent.reports.machine import crowds
from opperf.parent.reports.text import case_text, place, short_text, subject

#: What is said of each kind of answer.
WORDS = {"steps": "found", "slope": "gradual", "same": "no change", "inconclusive": "inconclusive", "failed": "failed"}

#: What programs read of the commit that a step is.
COMMIT = ("hash", "subject", "author", "date", "tag")
#: A row: an answer, and one of its steps where it has any.
Line: TypeAlias = tuple[Answer, Step | None]

LEGEND = Legend(
    {
        "bad / good": "bad / good: time with the bad build over that with the good one",
        "step": "step: time with the build after the step over that with the build before it",
        "step's interval": "step's interval: of that ratio",
        "probability": "probability: of the steps that are named, all of them together",
    }
)


def document(bisection: Bisection) -> Document:
    """Return the report."""
    columns, rows = _columns(bisection), lines(bisection)
    blocks: list[Block] = [LEGEND]
    blocks += [
        Section(_name(bisection, answer), [*_changes(bisection, answer), _probes(answer), *_explanations(answer)])
        for answer in bisection.answers
        if answer.probes
    ]
    blocks += [Note(f"left out {build.build}: {build.reason}") for build in bisection.left_out]
    blocks += map(Note, [_builds(bisection), *crowds(bisection.run, [bisection.side])])
    why = [Note(f"{_name(bisection, answer)}: {answer.reason}") for answer in bisection.answers]
    return Document(
        "opperf bisect",
        [table(columns, rows), *blocks],
        bisection.to_json,
        [*_checks(bisection)],
        " ".join(f"{answer.case.operator} {answer.direction}: {answer.reason}." for answer in bisection.answers),
        started=bisection.run.started,
        # On a page a sentence does not fit beside numbers.
        page=lambda: Document("", [table(columns[:-1], rows), *why, *blocks]),
    )


def _name(bisection: Bisection, answer: Answer) -> str:
    return f"{subject(answer.case, bisection.side)} {answer.direction}"


def lines(bisection: Bisection) -> list[Line]:
    """Return a row for each step, and one for each answer that names none."""
    return [(answer, step) for answer in bisection.answers for step in (answer.steps or (None,))]


def commit_text(commit: Commit) -> str:
    """Say which commit a build is: its subject, author, date and first tag, and its hash where that is not its name."""
    name = "" if commit.hash.startswith(commit.build) else f"{commit.hash[:10]} "
    tag = f"in {commit.tag} and later" if commit.tag else "in no tag"
    return f'{commit.build}: {name}"{commit.subject}" by {commit.author}, {commit.date[:10]}, {tag}'


def _changes(bisection: Bisection, answer: Answer) -> Iterator[Note]:
    """Say of each step which commit it is, where builds are commits."""
    for step in answer.steps:
        if commit := bisection.commit(step.after):
            yield Note(commit_text(commit), kind="item")


def _builds(bisection: Bisection) -> str:
    side = place(bisection.side).replace(f"({bisection.side.environment}, ", "(")
    ends = f"{bisection.builds[0]} to {bisection.builds[-1]}"
    return f"{side}, {ends}: {len(bisection.built)} of {len(bisection.builds)} builds were needed."


def _columns(bisection: Bisection) -> tuple[Column[Line], ...]:
    return (
        Column("case_id", None, lambda line: line[0].case.id),
        Column("operator", "operator", lambda line: subject(line[0].case, bisection.side), least=10, names=True),
        Column("direction", "direction", lambda line: line[0].direction, presence="varied", names=True),
        Column("inputs", None, lambda line: case_text(line[0].case)),
        Column(
            None,
            "inputs",
            lambda line: short_text(line[0].case),
            least=14,
            lines=6,
            presence="varied",
            place=1,
            names=True,
        ),
        Column("ratio", "bad / good", lambda line: line[0].ratio, format_ratio, align="right"),
        Column(None, "95 % interval", lambda line: line[0].interval, format_ratios, rank=1),
        Column("answer", "answer", lambda line: WORDS[line[0].kind]),
        Column("before", "before", _of_step(lambda step: step.before), least=12),
        Column("after", "after", _of_step(lambda step: step.after), least=12),
        Column("step", "step", _of_step(lambda step: step.ratio), format_ratio, align="right"),
        Column(None, "step's interval", _of_step(lambda step: step.interval), format_ratios, rank=2),
        Column("step_interval", None, _of_step(lambda step: format_ratios(step.interval))),
        *(Column(f"after_{name}", None, _of_commit(bisection, name)) for name in COMMIT),
        Column(None, "commit", _of_commit(bisection, "subject"), least=16),
        Column("probability", "probability", lambda line: line[0].probability, _share, rank=3),
        Column("reason", None, lambda line: line[0].reason),
        Column(None, "why", _reason, least=30, below=True, place=1),
    )


def _of_step(read: Callable[[Step], object]) -> Callable[[Line], object]:
    return lambda line: None if line[1] is None else read(line[1])


def _of_commit(bisection: Bisection, name: str) -> Callable[[Line], object]:
    """Return the function that reads of the commit that a step is."""
    return _of_step(lambda step: getattr(bisection.commit(step.after), name, None))


def _reason(line: Line) -> str:
    """Return the reason of an answer, once for all of its steps."""
    answer, step = line
    return "" if answer.steps and step is not answer.steps[0] else answer.reason


def _share(probability: float | None) -> str:
    return "" if probability is None else format_percent(min(probability, 0.999))


def _probes(answer: Answer) -> Block:
    return table(
        [
            Column("base", "base", lambda probe: probe.base),
            Column("new", "new", lambda probe: probe.new),
            Column("ratio", "new / base", lambda probe: math.exp(probe.log_ratio), format_ratio, align="right"),
            Column("error", "standard error", lambda probe: probe.error, format_percent, align="right"),
            Column("pairs", "pairs", lambda probe: probe.pairs, align="right"),
        ],
        answer.probes,
    )


def _explanations(answer: Answer) -> Iterator[Note]:
    for step in answer.steps:
        if step.explanation:
            notes = differences(step.explanation)
            yield from (Note(f"{step.before} to {step.after}: {note.text}") for note in notes)


def _checks(bisection: Bisection) -> Iterator[Check]:
    for answer in bisection.answers:
        short = f"{answer.case.operator} {answer.direction}"
        bad = answer.kind in ("steps", "slope") and (answer.ratio or 1) > 1
        yield Check(
            f"{short} {case_text(answer.case)}".rstrip(),
            place(bisection.side),
            short,
            answer.kind,
            answer.reason,
            "failure" if bad else "error" if answer.kind == "failed" else "passed",
            "warning" if bad else "",
        )
