"""The way into a batch: `python -m opperf.child.worker.batch FILE`, which a tool starts that watches the device.

No parent talks to it, and a tool may run it several times over: the file says what to call, and what
became of each trial goes into the file named there. Each call lies within two ranges: one named `opperf`, by
which a tool's filter knows what to watch, and the trial's own label, by which a kernel is known to be the trial's.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from opperf.child import backends
from opperf.child.measure.disturbance import NoCounters
from opperf.child.measure.host import fix_allocator
from opperf.child.worker.directions import call_once
from opperf.child.worker.failures import failure
from opperf.child.worker.handler import Handler
from opperf.domain.backend import Backend
from opperf.domain.call import Work
from opperf.domain.message.batch import Batch


class Ranges(Protocol):
    """The module of a backend that marks ranges."""

    def start(self, name: str, /) -> object:
        """Begin a range, and return what ends it."""

    def end(self, mark: object, /) -> None:
        """End a range."""


def main(path: Path) -> int:
    """Run a batch; errors of a trial become its outcome."""
    batch = Batch.from_json(json.loads(path.read_text(encoding="utf-8")))
    Path(batch.outcomes).write_text(json.dumps(_outcomes(batch)), encoding="utf-8")
    return 0


def _outcomes(batch: Batch) -> dict[str, object]:
    """Return the failure of each trial under its label, None for those that ran.

    Where an execution trace is asked for, the framework's own observer writes it, and needs no ranges.
    """
    side = batch.side
    if side.allocator == "fixed":
        fix_allocator()
    try:
        backend = backends.start(side)
        marks = backends.ranges(side.framework)
    except Exception as error:  # a broken installation may raise anything, which is the answer
        return dict.fromkeys((one.label for one in batch.trials), failure(error).reason.to_json())
    handler = Handler(backend, NoCounters(), Path(batch.folder))
    observer = None if batch.execution_trace is None else marks.Observer(batch.execution_trace)
    outcomes: dict[str, object] = {}
    for entry in batch.trials:
        try:
            work = handler.work(entry.trial, batch.seed)
            if observer is not None:
                with observer.observe(entry.label):
                    call_once(backend, work)
            else:
                _call(backend, work, marks, entry.label, batch)
            outcomes[entry.label] = None
        except Exception as error:  # the next trial may run all the same
            outcomes[entry.label] = failure(error).reason.to_json()
    if observer is not None:
        observer.close()
    return outcomes


def _call(backend: Backend, work: Work, marks: Ranges, label: str, batch: Batch) -> None:
    """Make the calls of a trial, those after the warm-up within its ranges, each waited for before they end."""
    with work.scope():
        for call in range(batch.warmup + batch.iterations):
            arguments = work.make_arguments()
            backend.wait([])  # what comes before a call is not to run within its ranges
            if call < batch.warmup:
                backend.wait([work.function(*arguments, **work.keywords)])
                continue
            with _range(marks, batch.filter), _range(marks, label):
                backend.wait([work.function(*arguments, **work.keywords)])


@contextmanager
def _range(marks: Ranges, name: str) -> Iterator[None]:
    mark = marks.start(name)
    try:
        yield
    finally:
        marks.end(mark)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
