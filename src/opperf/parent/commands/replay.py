"""Replay a recorded program operator by operator: read its traces, and plan the measurement."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

from opperf.domain.errors import InputError
from opperf.domain.plan import Plan, Settings
from opperf.domain.profile.event import Profile
from opperf.parent.analysis.trace_change import TraceChange, compare_traces
from opperf.parent.documents.trace import Replay, Trace
from opperf.parent.measuring.progress import Progress, Silent
from opperf.parent.measuring.session import Options, Session
from opperf.parent.planning import request as requests
from opperf.parent.planning.request import Request
from opperf.parent.planning.selection import Selection
from opperf.parent.sources.chrome_trace import read_profile
from opperf.parent.sources.execution_trace.kineto import read_kineto
from opperf.parent.sources.execution_trace.kineto_nodes import Schemas
from opperf.parent.sources.execution_trace.reading import read_traces

#: A case of a trace may need this fraction (one over) of the machine's memory, and this many bytes in any case.
MEMORY_SHARE, LEAST_LIMIT = 12, 1 << 30


def read_trace(
    traces: Sequence[Path],
    kineto: Path | None = None,
    subgraph: str | None = None,
    iterations: str | int | None = None,
    schemas: Schemas | None = None,
    *,
    with_ways: bool = False,
) -> Trace:
    """Read the traces of a program; raises `InputError`. `schemas` are asked for where a Kineto trace is alone.

    With `with_ways`, the trace also says where each operator ran.
    """
    if kineto is not None and len(traces) > 1:
        raise InputError("`--kineto` works with a single trace only", hint="replay one trace at a time")
    return read_traces(
        traces,
        subgraph=subgraph,
        steps=None if iterations is None else _steps(str(iterations)),
        kineto=None if kineto is None else read_kineto(kineto),
        schemas=schemas,
        with_ways=with_ways,
    )


def read_both(
    traces: Sequence[Path],
    kineto: Sequence[Path],
    subgraph: str | None,
    iterations: str | int | None,
    request: Request,
) -> TraceChange:
    """Read the same part of two traces, with a Kineto trace of each, or of none; raises `InputError`."""
    if len(traces) != 2:
        raise InputError(
            f"`--diff` takes two traces, got {len(traces)}", hint="write `opperf replay --diff A.json B.json`"
        )
    if len(kineto) not in (0, 2):
        raise InputError(f"`--kineto` is there {len(kineto)} times, expected none or one for each trace")
    schemas = schemas_of(request, settings(request), Silent())
    before, after = (
        read_trace([trace], times, subgraph, iterations, schemas, with_ways=True)
        for trace, times in zip_longest(traces, kineto)
    )
    return compare_traces(before, after)


def timelines_of(change: TraceChange, traces: Sequence[Path], kineto: Sequence[Path]) -> tuple[Profile, Profile] | None:
    """Read both traces as they went over time, whole; None unless both have times. Raises `InputError`."""
    if not (change.before.has_recorded and change.after.has_recorded):
        return None
    before, after = map(read_profile, kineto or traces)
    return before, after


def schemas_of(request: Request, settings: Settings, progress: Progress) -> Schemas:
    """Return the function that asks the PyTorch of a request for the schemas of its operators."""

    def ask(names: Collection[str]) -> Mapping[str, Sequence[str] | str]:
        with Session(workload(None, request), settings, progress) as session:
            side = session.sides()[0]
            meanings = {name: session.answers.describe(side, name) for name in names}
        none = "the PyTorch that runs it again has no such operator"
        return {name: meaning.schemas or meaning.reason or none for name, meaning in meanings.items()}

    return ask


def settings(request: Request) -> Settings:
    """Return how a trace is measured; raises `InputError`."""
    limit = request.memory_limit or default_limit()
    return requests.settings(request, memory_limit=limit, latency=False, by_share=True)


def workload(trace: Trace | None, request: Request) -> Selection:
    """Return the cases of a trace, those that probably take most first; without a trace, where they are measured."""
    suite = None if trace is None else trace.suite(costly_first=True)
    what = replace(request.what, suite=suite, direction=("forward",))
    return requests.selection((), replace(request, what=what, where=replace(request.where, framework=("torch",))))


def unmeasured(trace: Trace, request: Request, settings: Settings, options: Options, progress: Progress) -> Replay:
    """Return the replay of a trace that has no case, whose report gives the reasons."""
    with Session(workload(trace, request), settings, progress) as session:
        return Replay(trace, session.run(Plan((), settings), options))


def default_limit() -> int:
    """Return the bytes that a case may need: a share of the machine's memory, so that the machine stays usable."""
    import psutil

    return max(LEAST_LIMIT, psutil.virtual_memory().total // MEMORY_SHARE)


def _steps(text: str) -> tuple[int, int]:
    """Read `--iterations`: the first step, and the first that is left out."""
    match = re.fullmatch(r"(\d+)(?:-(\d+))?", text.strip())
    first = int(match[1]) if match else 0
    last = int(match[2] or match[1]) if match else -1
    if last < first:
        raise InputError(f"`--iterations` is `{text}`, expected one step or a range", hint="write, for example, `1-3`")
    return first, last + 1
