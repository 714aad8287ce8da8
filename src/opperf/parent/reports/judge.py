"""Judged candidates: the verdict on each, how fast it is, and the evidence with the smallest failing case."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from opperf.domain.case import Case
from opperf.domain.explanation import Event, Explanation
from opperf.domain.units import format_factor, format_seconds
from opperf.parent.documents.candidates import RIGHT, STAGES, VERDICTS, Evidence, Judged, JudgedRun, Speed, in_order
from opperf.parent.reports.comparison import RAN
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
    table,
)
from opperf.parent.reports.machine import crowds
from opperf.parent.reports.text import case_text

#: Candidates of which people are shown the evidence, at most.
MOST_DETAILS = 100
LEGEND = Legend(
    {
        "speedup": "speedup: the reference's time over the candidate's, from pairs of fresh processes",
        "interval": "interval: of the speedup, 95 % or more (the more candidates, the more)",
        "time": "times: each call on values of its own",
        "hot speedup": "hot speedup: again and again on the same values",
    }
)
_LEVELS: dict[str, Level] = {"wrong": "failed", "cheats": "failed", "impossible": "failed", "void": "skipped"}
_OUTCOMES: dict[str, Outcome] = {
    **dict.fromkeys(("wrong", "cheats", "impossible"), "failure"),
    "void": "error",
    "inconclusive": "skipped",
}
_ANNOTATIONS: dict[str, Annotation] = {
    **dict.fromkeys(("wrong", "cheats", "impossible", "void"), "error"),
    **dict.fromkeys(("slower", "inconclusive"), "warning"),
    "faster": "notice",
}


def document(run: JudgedRun) -> Document:
    """Return the report."""
    judgements = in_order(run.judgements)
    blocks: list[Block] = [table(COLUMNS, judgements, lambda one: _LEVELS.get(one.verdict, ""))] if judgements else []
    notes = [*problems(judgements), *constants(judgements), *rooms(judgements), *crowds(run.run)]
    notes = [tally(judgements), *notes]
    return Document(
        "opperf judge",
        [*blocks, *map(Note, notes), LEGEND, *_evidence(judgements), *reference_events(judgements)],
        run.to_json,
        [_check(one, i) for i, one in enumerate(judgements)],
        tally(judgements),
        failed=any(one.verdict in ("wrong", "cheats", "impossible", "void") for one in judgements),
        started=run.run.started,
    )


def _speed(part: str, of: str = "speed") -> Callable[[Judged], float | None]:
    """Return a reader of a part of the times that decided, or of those of a kind."""

    def read(judged: Judged) -> float | None:
        speed: Speed | None = getattr(judged, of)
        return None if speed is None else getattr(speed, part)

    return read


def _end(place: int) -> Callable[[Judged], float | None]:
    return lambda judged: None if judged.speed is None else judged.speed.interval[place]


def interval_text(judged: Judged) -> str:
    """Write the interval of the speedup."""
    return "" if judged.speed is None else "[{}, {}]".format(*map(format_factor, judged.speed.interval))


def _case(judged: Judged) -> str:
    return " ".join(filter(None, (judged.case.operator, case_text(judged.case))))


def failing_text(judged: Judged) -> str:
    """Write the smallest case that shows what is wrong, and nothing where none does."""
    return "" if judged.failing is None else case_text(judged.failing)


COLUMNS: tuple[Column[Judged], ...] = (
    Column("candidate", "candidate", lambda one: one.candidate, least=16, names=True),
    Column("against", "against", lambda one: one.against, least=10, presence="varied", place=1),
    Column("case_id", None, lambda one: one.case.id),
    Column("inputs", "case", _case, least=14, lines=6, presence="varied", names=True, place=1),
    Column("node", "node", lambda one: one.node and one.node.name, presence="varied", usual=None, place=1),
    Column("machine", None, lambda one: one.node and one.node.kind),
    Column("verdict", "verdict", lambda one: one.verdict, place=-4),
    Column("cause", "cause", lambda one: one.cause, rank=3, place=-3),
    Column("speedup", "speedup", _speed("speedup"), format_factor, "right", place=-2),
    Column("low", None, _end(0)),
    Column("high", None, _end(1)),
    Column(None, "interval", interval_text, rank=4, place=-1),
    Column("time_s", "time", _speed("candidate"), format_seconds, "right", rank=2),
    Column("reference_time_s", "reference", _speed("reference"), format_seconds, "right", rank=2),
    Column("hot_speedup", "hot speedup", _speed("speedup", "hot"), format_factor, "right", rank=1),
    Column("hot_time_s", None, _speed("candidate", "hot")),
    Column("hot_reference_time_s", None, _speed("reference", "hot")),
    Column("judged_by", None, lambda one: one.judged_by),
    Column("pairs", "pairs", lambda one: one.pairs or None, align="right", rank=0),
    Column("failing_inputs", None, failing_text),
    Column("stage", None, lambda one: one.evidence[0].stage if one.cause else None),
    Column("constant", None, lambda one: ", ".join(one.constant)),
    Column("room", None, lambda one: ", ".join(one.room)),
    Column("seconds", None, lambda one: one.seconds),
    Column("score", None, lambda one: one.score),
    Column("status", None, lambda one: one.status),
    Column("reason", None, lambda one: one.reason),
    # What is wrong with a candidate stands below, with the case that shows it.
    Column(None, "why", lambda one: "" if one.cause else one.reason, least=30, below=True),
)


def tally(judgements: Sequence[Judged]) -> str:
    """Count the verdicts, as `3 candidates: 1 faster, 2 wrong`; of several cases, as judgements."""
    counts = {word: sum(one.verdict == word for one in judgements) for word in VERDICTS}
    text = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    candidates, cases = len({one.candidate for one in judgements}), len({one.case for one in judgements})
    noun = f"candidate{'' if candidates == 1 else 's'}"
    more = f" on {cases} cases" if cases > 1 else ""
    return f"{candidates} {noun}{more}: {text or 'none'}"


def rooms(judgements: Sequence[Judged]) -> list[str]:
    """Say what confined the candidates, those apart that were refused before they ran."""
    rooms = dict.fromkeys(one.room for one in judgements if one.room)
    if not rooms and judgements:
        return ["room: none confined a candidate"]
    return [f"room: {'; '.join(', '.join(room) for room in rooms)}"] if rooms else []


def constants(judgements: Sequence[Judged]) -> list[str]:
    """Say which inputs were the same in all calls of a process."""
    names = dict.fromkeys(name for one in judgements for name in one.constant)
    return [f"constant between calls: {', '.join(names)}"] if names else []


def problems(judgements: Sequence[Judged]) -> list[str]:
    """Say what is other than the files of problems have it."""
    return [f"problem: {text}" for text in dict.fromkeys(text for one in judgements for text in one.problem)]


def details(judged: Judged) -> Iterator[Note]:
    """Yield what was seen of a candidate, each with its case and figures."""
    for i, one in enumerate(judged.evidence):
        yield Note(f"{one.slug}: {one.message}", [*map(Note, _circumstances(judged, one, first=i == 0))])
    if judged.ran is not None:
        yield Note("what ran, as its own process reports", [*_events(judged.ran)])


def _events(ran: Explanation) -> Iterator[Note]:
    yield from map(Note, map(event_text, ran.events))
    yield from map(Note, ran.notes)


def reference_events(judgements: Sequence[Judged]) -> list[Section]:
    """Return the calls of the reference of each case, once, and a sentence on such times."""
    every = {_case(one): one.reference_ran for one in judgements if one.reference_ran is not None}
    sections = [Section(f"what the reference ran: {case}", [*_events(ran)]) for case, ran in every.items()]
    return [*sections, *([Section("", [Note(RAN)])] if sections else [])]


def event_text(event: Event) -> str:
    """Write an event as `softmax: once, 1.20 ms`, with the implementation where that is known."""
    times = "once" if event.calls == 1 else f"{event.calls:.3g} times"
    by = f" by {event.by}" if event.by else ""
    return f"{event.name}{by}: {times}{'' if event.seconds is None else f', {format_seconds(event.seconds)}'}"


def _circumstances(judged: Judged, evidence: Evidence, *, first: bool) -> Iterator[str]:
    if evidence.case is not None and evidence.stage != "load":
        smallest = "smallest failing case" if first and judged.verdict not in (*RIGHT, "void") else "case"
        yield f"{smallest}: {_subject(evidence.case)}, {STAGES.get(evidence.stage, evidence.stage)}"
    elif evidence.stage:
        yield STAGES.get(evidence.stage, evidence.stage)
    if text := str(evidence.details.get("stderr") or "").strip():
        yield f"it wrote: {text.splitlines()[-1]}"


def _subject(case: Case) -> str:
    return " ".join(filter(None, (case.operator, case_text(case))))


def _evidence(judgements: Sequence[Judged]) -> list[Section]:
    with_details = [(one, notes) for one in judgements if (notes := [*details(one)])]
    sections = [
        Section(f"{one.candidate}: {one.verdict}", notes, _LEVELS.get(one.verdict, "warning"))
        for one, notes in with_details[:MOST_DETAILS]
    ]
    more = len(with_details) - MOST_DETAILS
    return [*sections, *([Section("", [Note(f"{more} more have evidence: JSON has all")])] if more > 0 else [])]


def _check(judged: Judged, rank: int) -> Check:
    """Return the check of a CI system for a judgement: one that is not right fails."""
    speed = judged.speed
    text = f"{judged.verdict}: {judged.reason}"
    if speed is not None:
        text = (
            f"{judged.verdict}, {format_factor(speed.speedup)} times as fast {interval_text(judged)}: {judged.reason}"
        )
    if failing := failing_text(judged):
        text += f"; smallest failing case {failing}"
    return Check(
        f"{judged.candidate} {case_text(judged.case)}".rstrip(),
        f"{judged.against} -> {judged.candidate}",
        judged.candidate,
        judged.cause or judged.verdict,
        text,
        _OUTCOMES.get(judged.verdict, "passed"),
        _ANNOTATIONS.get(judged.verdict, ""),
        judged.seconds,
        {
            "time": None if speed is None else speed.candidate,
            "speedup": None if speed is None else speed.speedup,
            "low": _end(0)(judged),
            "high": _end(1)(judged),
            "reference_time": None if speed is None else speed.reference,
        },
        (-rank,),
    )
