"""What runs in a call in MXNet: operators as its profiler sums them up, and what oneDNN prints.

oneDNN decides by a variable whether it prints, when it first runs; the parent sets that for a child that is asked to
explain. Of the profiler's summary only counts and totals of operators are used. Its first call is not counted: it holds
what is set up once.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import mxnet as mx

from opperf.backend import Work
from opperf.backends import verbose
from opperf.backends.printed import Printed
from opperf.backends.repeated import repeated
from opperf.explanation import Event, Explanation

#: What the engine does for itself when an array is let go.
NO_OPERATORS = frozenset({"DeleteVariable"})
UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
#: oneDNN's switch, by the name of each generation.
SWITCHES = ("DNNL_VERBOSE", "MKLDNN_VERBOSE")


def of_calls(work: Work, calls: int, wait: Callable[[Any], None]) -> list[Explanation]:
    """Return what ran in each of `calls` calls."""
    printed = Printed()
    repeated(work, calls, wait, printed.catch)
    notes = () if any(name in os.environ for name in SWITCHES) else ("oneDNN was not asked to print what it runs",)
    found = zip(_profiled(work, calls, wait), map(verbose.read, printed.texts), strict=True)
    return [Explanation((*operators, *primitives), notes) for operators, primitives in found]


def _profiled(work: Work, calls: int, wait: Callable[[Any], None]) -> list[list[Event]]:
    with tempfile.TemporaryDirectory(prefix="opperf-mxnet-") as folder:
        mx.profiler.set_config(
            filename=str(Path(folder) / "profile.json"),
            profile_imperative=True,
            profile_symbolic=True,
            profile_memory=False,
            profile_api=False,
            aggregate_stats=True,
            continuous_dump=False,
        )
        summaries: list[str] = []

        @contextmanager
        def running() -> Iterator[None]:
            mx.profiler.set_state("run")
            try:
                yield
            finally:
                mx.profiler.set_state("stop")
                summaries.append(mx.profiler.dumps(reset=True, format="json"))

        repeated(work, calls + 1, wait, running)
    return [summary(text) for text in summaries[1:]]


def summary(text: str) -> list[Event]:
    """Return the operators of the profiler's own summary in JSON."""
    told = json.loads(text)
    unit = UNITS[told["Unit"]["Time"]]
    operators = told["Time"].get("operator", {})
    return [
        Event(name, "operator", one["Count"], one["Total"] * unit)
        for name, one in operators.items()
        if name not in NO_OPERATORS
    ]
