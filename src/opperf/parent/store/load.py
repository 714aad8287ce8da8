"""Load documents that opperf wrote."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Optional, TypeAlias

from opperf.domain.codec import Fields, check_version, read_as
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.files.json_text import JsonObject
from opperf.domain.files.text_file import read_json
from opperf.domain.judging import Judged, JudgedRun
from opperf.domain.measurement import Outcome
from opperf.domain.plan import Side, Trial
from opperf.domain.profile.event import Profile
from opperf.domain.record import SCHEMA_VERSION, Run
from opperf.domain.suite import LeftOut, Suite
from opperf.domain.type_hint import Count, Natural
from opperf.parent.analysis.summary import record
from opperf.parent.documents.bisection import Answer, Bisection
from opperf.parent.documents.bisection import LeftOut as BuildLeftOut
from opperf.parent.documents.comparison import Comparison, ComparisonRun
from opperf.parent.documents.exploration import Exploration, Territory
from opperf.parent.documents.floor import Floor, NoiseRun, Suites
from opperf.parent.documents.judgement import Finding, Judgement
from opperf.parent.documents.trace import Between, Device, Replay, Trace, TracedCase
from opperf.parent.sources.chrome_trace import profile_of
from opperf.parent.sources.execution_trace.reading import read_traces
from opperf.parent.sources.suite_file import is_mxnet_inputs, mxnet_suite
from opperf.parent.store.documents import read_run
from opperf.parent.store.journal import read_journal


def read_results(path: Path) -> Run:
    """Return what a result file holds, or what the journal of a run that ended early amounts to."""
    if path.suffix != ".journal":
        return read_run(path)
    run = read_journal(path)
    groups: dict[tuple[object, ...], list[Outcome]] = {}
    for outcome in run.outcomes:
        groups.setdefault(outcome.trial.key, []).append(outcome)
    records = tuple(record(several[0].trial, several, run.run.settings) for several in groups.values())
    return replace(run.run, records=(*run.records, *records))


@dataclass(frozen=True)
class GateDocument:
    """The document of a gate: comparisons and their judgement."""

    run: ComparisonRun
    judgement: Judgement


Document: TypeAlias = (
    Run | ComparisonRun | GateDocument | NoiseRun | JudgedRun | Replay | Suite | Profile | Exploration | Bisection
)


def read_document(path: Path) -> Document:
    """Read a document that opperf wrote, whichever it is; of a PyTorch execution trace, the suite that it amounts to.

    Raises `InputError` that says what is wrong and where.
    """
    if path.suffix == ".journal":
        return read_results(path)
    data = read_json(path)
    if isinstance(data, dict) and "nodes" in data and not set(READERS) & set(data):
        return read_traces([path]).suite()
    return read_value(data, str(path))


def read_value(data: object, where: str) -> Document:
    """Read the JSON value of a document; raises `InputError` that says what is wrong and where."""
    if isinstance(data, dict):
        for key, read in READERS.items():
            if key in data:
                return read(data, where)
    if is_mxnet_inputs(data):
        return mxnet_suite(data, where)
    raise InputError(
        f"{where}: not a document of opperf",
        hint="opperf reads results, comparisons, judgements, noise floors, replays, suites, profiles, explorations and "
        "bisections",
    )


def _comparisons(data: JsonObject, where: str) -> ComparisonRun:
    check_version(data.get("schema_version"), SCHEMA_VERSION, where)
    return ComparisonRun(
        Run.from_header(data.get("run"), f"{where}: run"),
        read_as(tuple[Comparison, ...], data.get("comparisons"), f"{where}: comparisons"),
    )


@dataclass(frozen=True)
class _Finding(Fields):
    """A finding as a document has it: of which of its comparisons."""

    comparison: Natural
    kind: str
    message: str


@dataclass(frozen=True)
class _Judgement(Fields):
    """What a document says of a gate."""

    findings: tuple[_Finding, ...]
    tolerance: float
    against: str
    inconclusive: str
    tolerances: Mapping[str, float] = field(default_factory=dict)


def _judge(data: JsonObject, where: str) -> GateDocument:
    run = _comparisons(data, where)
    fields = read_as(_Judgement, data.get("gate"), f"{where}: gate")
    for i, one in enumerate(fields.findings):
        if one.comparison >= len(run.comparisons):
            raise InputError(f"{where}: gate.findings[{i}].comparison: there are {len(run.comparisons)} comparisons")
    findings = (Finding(one.kind, run.comparisons[one.comparison], one.message) for one in fields.findings)
    rule = fields.tolerance, fields.against, fields.inconclusive, fields.tolerances
    return GateDocument(run, Judgement(tuple(findings), *rule))


@dataclass(frozen=True)
class _Unknown(Fields):
    """A trial without a floor."""

    trial: Trial
    reason: str | None


@dataclass(frozen=True)
class _Alarms(Fields):
    """What a document says about false alarms, besides their counts."""

    tolerance: float
    suites: Optional[Suites] = None


def _noise(data: JsonObject, where: str) -> NoiseRun:
    check_version(data.get("schema_version"), SCHEMA_VERSION, where)
    unknown = read_as(tuple[_Unknown, ...], data.get("unknown"), f"{where}: unknown")
    alarms = read_as(_Alarms, data.get("false_alarms"), f"{where}: false_alarms")
    return NoiseRun(
        Run.from_header(data.get("run"), f"{where}: run"),
        read_as(tuple[Floor, ...], data.get("floors"), f"{where}: floors"),
        tuple((one.trial, one.reason) for one in unknown),
        alarms.tolerance,
        alarms.suites,
    )


def _judgements(data: JsonObject, where: str) -> JudgedRun:
    check_version(data.get("schema_version"), SCHEMA_VERSION, where)
    return JudgedRun(
        Run.from_header(data.get("run"), f"{where}: run"),
        read_as(tuple[Judged, ...], data.get("judgements"), f"{where}: judgements"),
    )


@dataclass(frozen=True)
class _Call(Fields):
    """A row of a replay, by the id of its case."""

    case: str
    count: Count
    recorded: float | None = None


@dataclass(frozen=True)
class _Coverage(Fields):
    """What a document says of a trace."""

    clock: str | None = None
    between: float | None = None
    span: float | None = None
    device: float | None = None
    device_of_calls: float | None = None


def _replay(data: JsonObject, where: str) -> Replay:
    run = Run.from_json(data, where)
    cases = {record.trial.case.id: record.trial.case for record in run}
    calls = read_as(tuple[_Call, ...], data.get("calls"), f"{where}: calls")
    fields = read_as(_Coverage, data.get("coverage"), f"{where}: coverage")
    trace = Trace(
        read_as(str, data.get("source"), f"{where}: source"),
        tuple(TracedCase(cases[call.case], call.count, call.recorded) for call in calls if call.case in cases),
        read_as(tuple[LeftOut, ...], data.get("left_out"), f"{where}: left_out"),
        fields.clock or "host",
        None,
        None if fields.between is None or fields.span is None else Between(fields.between, fields.span),
        None if fields.device is None else Device(fields.device, fields.device_of_calls or 0.0),
    )
    return Replay(trace, run)


@dataclass(frozen=True)
class _Exploration(Fields):
    """What a document says of an exploration."""

    objective: str
    factor: float
    against: Side | None
    territories: tuple[Territory, ...]


def _read_exploration(data: JsonObject, where: str) -> Exploration:
    check_version(data.get("schema_version"), SCHEMA_VERSION, where)
    fields = read_as(_Exploration, data.get("exploration"), f"{where}: exploration")
    run = Run.from_header(data.get("run"), f"{where}: run")
    return Exploration(run, fields.objective, fields.factor, fields.against, fields.territories)


@dataclass(frozen=True)
class _Bisection(Fields):
    """What a document says of a bisection."""

    side: Side
    builds: tuple[str, ...]
    built: tuple[str, ...]
    left_out: tuple[BuildLeftOut, ...]
    answers: tuple[Answer, ...]


def _read_bisection(data: JsonObject, where: str) -> Bisection:
    check_version(data.get("schema_version"), SCHEMA_VERSION, where)
    fields = read_as(_Bisection, data.get("bisection"), f"{where}: bisection")
    run = Run.from_header(data.get("run"), f"{where}: run")
    return Bisection(run, fields.side, fields.builds, fields.built, fields.left_out, fields.answers)


#: What reads a document, by a key that no kind before it has.
READERS: Mapping[str, Callable[[JsonObject, str], Document]] = {
    "traceEvents": profile_of,
    "gate": _judge,
    "comparisons": _comparisons,
    "floors": _noise,
    "judgements": _judgements,
    "coverage": _replay,
    "exploration": _read_exploration,
    "bisection": _read_bisection,
    "records": Run.from_json,
    "cases": Suite.from_json,
}
