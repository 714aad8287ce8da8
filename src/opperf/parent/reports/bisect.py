"""Which build changed an operator, and what was measured to say so."""

from __future__ import annotations

import math
from collections.abc import Iterator

from opperf.domain.units import format_percent, format_ratios
from opperf.parent.documents.bisection import Answer, Bisection, Step
from opperf.parent.reports.comparison import differences
from opperf.parent.reports.document import Block, Check, Column, Document, Legend, Note, Section, table
from opperf.parent.reports.machine import crowds
from opperf.parent.reports.text import case_text, place, short_text, subject

#: What is said of each kind of answer.
WORDS = {"steps": "found", "slope": "gradual", "same": "no change", "inconclusive": "inconclusive", "failed": "failed"}

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
    blocks: list[Block] = [table(_columns(bisection), bisection.answers), LEGEND]
    blocks += [
        Section(f"{subject(answer.case, bisection.side)} {answer.direction}", [_probes(answer), *_explanations(answer)])
        for answer in bisection.answers
        if answer.probes
    ]
    blocks += [Note(f"left out {one.build}: {one.reason}") for one in bisection.left_out]
    blocks += map(Note, [_builds(bisection), *crowds(bisection.run, [bisection.side])])
    text = " ".join(f"{answer.case.operator} {answer.direction}: {answer.reason}." for answer in bisection.answers)
    checks = [*_checks(bisection)]
    return Document("opperf bisect", blocks, bisection.to_json, checks, text, started=bisection.run.started)


def _builds(bisection: Bisection) -> str:
    side = place(bisection.side).replace(f"({bisection.side.environment}, ", "(")
    ends = f"{bisection.builds[0]} to {bisection.builds[-1]}"
    return f"{side}, {ends}: {len(bisection.built)} of {len(bisection.builds)} builds were needed."


def _columns(bisection: Bisection) -> tuple[Column[Answer], ...]:
    return (
        Column("case_id", None, lambda answer: answer.case.id),
        Column("operator", "operator", lambda answer: subject(answer.case, bisection.side), least=10, names=True),
        Column("direction", "direction", lambda answer: answer.direction, presence="varied", names=True),
        Column("inputs", None, lambda answer: case_text(answer.case)),
        Column(
            None,
            "inputs",
            lambda answer: short_text(answer.case),
            least=14,
            lines=6,
            presence="varied",
            place=1,
            names=True,
        ),
        Column("ratio", "bad / good", lambda answer: answer.ratio, _ratio, align="right"),
        Column(None, "95 % interval", lambda answer: answer.interval, format_ratios, rank=1),
        Column("answer", "answer", lambda answer: WORDS[answer.kind]),
        Column("before", "before", lambda answer: ", ".join(step.before for step in answer.steps), least=12),
        Column("after", "after", lambda answer: ", ".join(step.after for step in answer.steps), least=12),
        Column("step", "step", lambda answer: ", ".join(_ratio(step.ratio) for step in answer.steps)),
        Column("step_interval", "step's interval", lambda answer: ", ".join(map(_interval, answer.steps)), rank=2),
        Column("probability", "probability", lambda answer: answer.probability, _share, rank=3),
        Column("reason", "why", lambda answer: answer.reason, least=30, below=True, place=1),
    )


def _ratio(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.3f}"


def _share(probability: float | None) -> str:
    return "" if probability is None else format_percent(min(probability, 0.999))


def _interval(step: Step) -> str:
    return format_ratios(step.interval)


def _probes(answer: Answer) -> Block:
    return table(
        [
            Column("base", "base", lambda probe: probe.base),
            Column("new", "new", lambda probe: probe.new),
            Column("ratio", "new / base", lambda probe: math.exp(probe.log_ratio), _ratio, align="right"),
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
