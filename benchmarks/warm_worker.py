"""A torch worker for benchmarks, asked one trial at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from opperf.catalog import operator
from opperf.domain.measurement import Measurement
from opperf.domain.message.requests import Measure, Prepare, Release
from opperf.domain.plan import Settings, Side, Trial
from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.workers.interpreters import choose_environment, interpreter
from opperf.parent.workers.package import package_folder
from opperf.parent.workers.process import Worker


def torch_side(allocator: str = "fixed") -> Side:
    """Return torch where it imports, or in the environment that opperf builds."""
    return Side(
        "torch", environment=choose_environment(EnvironmentSpec.parse("current"), "torch").text, allocator=allocator
    )


@contextmanager
def start_worker(side: Side) -> Iterator[Worker]:
    """Return a worker that has said hello, and end it afterwards."""
    python = interpreter(EnvironmentSpec.parse(side.environment), framework=side.framework)
    worker = Worker(python, package_folder(), side)
    try:
        worker.greet()
        yield worker
    finally:
        worker.close()


def measure(worker: Worker, name: str, size: str, settings: Settings) -> Measurement:
    """Measure an operator of the catalog forward."""
    trial = Trial(operator(name).case(size), worker.side, "forward")
    prepared = worker.ask(Prepare(trial), 120)
    try:
        return worker.ask(Measure(prepared.handle, settings), 120)
    finally:
        worker.ask(Release(prepared.handle), 120)
