"""MXNet's own profiler, open around chosen calls only.

The process has only one, so each user configures it again. What it writes to disk goes to a folder that is
removed.
"""

from __future__ import annotations

import atexit
import re
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mxnet as mx

from opperf.child.backends.mxnet.operator_times import operators
from opperf.domain.explanation import Event
from opperf.domain.files.destination import ScratchFolder

#: The profiler's own functions: while a script is watched, others stand in for them (`handover.py`).
original = SimpleNamespace(**vars(mx.profiler))
#: Waits for outstanding work: the profiler drops what is unfinished when it stops.
wait = mx.nd.waitall
#: What the profiler can watch, each switched on where it is needed.
SWITCHES = dict.fromkeys(("profile_imperative", "profile_symbolic", "profile_memory", "profile_api"), False)


def scratch_file() -> Path:
    """Return where the profiler can write its events: in a folder that is removed with the process, or after it."""
    folder = ScratchFolder("mxnet")
    atexit.register(folder.close)
    return folder.path / "profile.json"


def mend(file: Path) -> None:
    """Make a file of the profiler's what its format says.

    From the profiler's second start on, a comma stands before the first event. Numbers of threads, domains and tasks
    are hashes that no double holds, so that viewers would take several for one: 31 bits of them are left.
    """
    if file.exists():
        text = file.read_text(errors="replace")
        document = re.sub(r'("traceEvents": \[)\s*,', r"\1", text, count=1)
        document = re.sub(r'("[pt]?id": )(\d+)', lambda match: f"{match[1]}{int(match[2]) % 2**31}", document)
        if document != text:
            file.write_text(document)


class Window:
    """The profiler, which sees what runs while it is open and nothing else."""

    @contextmanager
    def open(self) -> Iterator[None]:
        """Have the profiler watch until the end of the block."""
        original.set_state("run")
        try:
            yield
        finally:
            original.set_state("stop")

    def read(self) -> list[Event]:
        """Return the operators seen since the last reading."""
        return operators(original.dumps(reset=True, format="json"))


def configure(settings: Mapping[str, Any]) -> None:
    """Configure the one profiler that the process has; `holds` tells whether this is still how it is configured.

    By default, its events are summed up, and written on request.
    """
    global _settings
    original.set_config(**{"aggregate_stats": True, "continuous_dump": False, **settings})
    _settings = settings


def holds(settings: Mapping[str, Any]) -> bool:
    """Whether these settings are those that were configured last."""
    return _settings is settings


_settings: Mapping[str, Any] | None = None


@contextmanager
def window() -> Iterator[Window]:
    """Configure the profiler to record operators only."""
    with closing(ScratchFolder("mxnet")) as folder:
        file = str(folder.path / "profile.json")
        configure({"filename": file, **SWITCHES, "profile_imperative": True, "profile_symbolic": True})
        yield Window()
