"""Benchmark files of other tools: sources of cases whose call is the files' own code, named on the command line.

A reader for each tool finds the benchmarks as the tool itself does, and binds each as the tool calls it. How often and
when they are called is opperf's.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from opperf.child.backends.binding import Call
from opperf.domain.case import Case
from opperf.domain.code import SuiteCode
from opperf.domain.files.json_text import JsonObject

#: The module and class that reads the files of each tool.
READERS = {"asv": ("asv", "AsvSuite"), "pytest": ("pytest_tests", "PytestSuite")}


class Suite(Protocol):
    """Benchmark files that are loaded."""

    def cases(self) -> list[Case]:
        """Return a case for each benchmark and combination of its parameters, in the tool's order."""

    def listing(self) -> list[JsonObject]:
        """List the benchmarks as the tool itself does; nothing where it has no such list."""

    def call(self, case: Case) -> Call:
        """Return how a case is called; raises `Unsupported` for one that is not here, or is not measured."""


@runtime_checkable
class Stage(Protocol):
    """Benchmark files whose calls can be made only where the files make them."""

    def enter(self, case: Case, play: Callable[[], Any]) -> None:
        """Run the code of a case: its call is made by `play`, or whoever that waits for.

        Raises `Unsupported` where the code leaves itself out, and what else ends it.
        """


def load(code: SuiteCode, folder: Path, environment: str) -> Suite:
    """Return the files that the user named, which are looked for in `folder`; raises `CodeError`.

    Messages name the `environment`: two of them may have unlike benchmarks.
    """
    module, name = READERS[code.kind]
    reader = getattr(import_module(f"opperf.child.worker.suites.{module}"), name)  # no other child waits for it
    suite: Suite = reader(code, folder, environment)
    return suite
