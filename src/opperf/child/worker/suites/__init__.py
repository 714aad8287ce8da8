"""Benchmark files of other tools: sources of cases whose call is the files' own code, named on the command line.

A reader for each tool finds the benchmarks as the tool itself does, and binds each as the tool calls it. How often and
when they are called is opperf's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from opperf.child.backends.binding import Call
from opperf.domain.case import Case
from opperf.domain.code import SuiteCode
from opperf.domain.files.json_text import JsonObject
from opperf.domain.message.replies import Example
from opperf.domain.plan import Side


class Suite(Protocol):
    """Benchmark files that are loaded."""

    def cases(self, limit: float | None = None) -> Sequence[Case | Example]:
        """Return a case for each benchmark and combination of its parameters, in the tool's order.

        An example says more of one: its direction, and what the tool says of it. A file whose import takes more than
        `limit` seconds ends the process.
        """

    def call(self, case: Case) -> Call:
        """Return how a case is called; raises `Unsupported` for one that is not here, or is not measured."""


@runtime_checkable
class Index(Protocol):
    """Benchmark files whose tool has a list of its own."""

    def listing(self) -> list[JsonObject]:
        """List the benchmarks as the tool itself does."""


@runtime_checkable
class Stage(Protocol):
    """Benchmark files whose calls can be made only where the files make them."""

    def enter(self, case: Case, play: Callable[[], Any]) -> None:
        """Run the code of a case: its call is made by `play`, or whoever that waits for.

        Raises `Unsupported` where the code leaves itself out, and what else ends it.
        """


def load(code: SuiteCode, folder: Path, side: Side) -> Suite:
    """Return the files that the user named, which are looked for in `folder`; raises `CodeError`.

    Messages name the environment of the `side`: two of them may have unlike benchmarks.
    """
    return READERS[code.kind](code, folder, side)


def _asv(code: SuiteCode, folder: Path, side: Side) -> Suite:
    from opperf.child.worker.suites.asv import AsvSuite  # no other child waits for it

    return AsvSuite(code, folder, side)


def _op_bench(code: SuiteCode, folder: Path, side: Side) -> Suite:
    from opperf.child.worker.suites.op_bench import OperatorBenchmarks

    return OperatorBenchmarks(code, folder, side)


def _pytest(code: SuiteCode, folder: Path, side: Side) -> Suite:
    from opperf.child.worker.suites.pytest_tests import PytestSuite

    return PytestSuite(code, folder, side)


#: The reader of each tool's files.
READERS: Mapping[str, Callable[[SuiteCode, Path, Side], Suite]] = {
    "asv": _asv,
    "op_bench": _op_bench,
    "pytest": _pytest,
}
