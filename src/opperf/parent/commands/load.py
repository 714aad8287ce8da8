"""Load documents that opperf wrote."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from opperf.domain.errors import InputError
from opperf.domain.files.json_text import JsonObject
from opperf.domain.files.text_file import read_json
from opperf.domain.measurement import Outcome
from opperf.domain.profile.event import Profile
from opperf.domain.record import Run
from opperf.domain.suite import Suite
from opperf.parent.analysis.summary import record
from opperf.parent.documents.bisection import Bisection
from opperf.parent.documents.candidates import JudgedRun
from opperf.parent.documents.comparison import ComparisonRun
from opperf.parent.documents.exploration import Exploration
from opperf.parent.documents.floor import NoiseRun
from opperf.parent.documents.judgement import GateDocument
from opperf.parent.documents.suite_change import SuiteChange
from opperf.parent.documents.trace import Replay
from opperf.parent.documents.what_if import WhatIfRun
from opperf.parent.sources.chrome_trace import profile_of
from opperf.parent.sources.execution_trace.reading import read_traces
from opperf.parent.sources.suite_file import is_mxnet_inputs, mxnet_suite
from opperf.parent.store.documents import read_run
from opperf.parent.store.journal import read_journal


def read_results(path: Path) -> Run:
    """Read a result file, or the journal of a run that ended early."""
    if path.suffix != ".journal":
        return read_run(path)
    run = read_journal(path)
    groups: dict[tuple[object, ...], list[Outcome]] = {}
    for outcome in run.outcomes:
        groups.setdefault(outcome.trial.key, []).append(outcome)
    records = tuple(record(several[0].trial, several, run.run.settings) for several in groups.values())
    return replace(run.run, records=(*run.records, *records))


Document: TypeAlias = (
    Run
    | ComparisonRun
    | SuiteChange
    | WhatIfRun
    | GateDocument
    | NoiseRun
    | JudgedRun
    | Replay
    | Suite
    | Profile
    | Exploration
    | Bisection
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


#: What reads a document, by a key that no kind before it has.
READERS: Mapping[str, Callable[[JsonObject, str], Document]] = {
    "traceEvents": profile_of,
    "gate": GateDocument.from_json,
    "comparisons": ComparisonRun.from_json,
    "suite_change": SuiteChange.from_json,
    "what_if": WhatIfRun.from_json,
    "floors": NoiseRun.from_json,
    "judgements": JudgedRun.from_json,
    "coverage": Replay.from_json,
    "exploration": Exploration.from_json,
    "bisection": Bisection.from_json,
    "records": Run.from_json,
    "cases": Suite.from_json,
}
