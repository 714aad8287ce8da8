"""Benchmark files of other tools: sources of cases whose call is the files' own code, named on the command line.

A reader for each tool finds the benchmarks as the tool itself does, and binds each as the tool calls it. How often and
when they are called is opperf's.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from opperf.child.backends.binding import Call
from opperf.domain.case import Case
from opperf.domain.code import SuiteCode
from opperf.domain.files.json_text import JsonObject


class Suite(Protocol):
    """Benchmark files that are loaded."""

    def cases(self) -> list[Case]:
        """Return a case for each benchmark and combination of its parameters, in the tool's order."""

    def listing(self) -> list[JsonObject]:
        """List the benchmarks as the tool itself does; nothing where it has no such list."""

    def call(self, case: Case) -> Call:
        """Return how a case is called; raises `Unsupported` for one that is not here, or is not measured."""


def load(code: SuiteCode, folder: Path, environment: str) -> Suite:
    """Return the files that the user named, which are looked for in `folder`; raises `CodeError`.

    Messages name the `environment`: two of them may have unlike benchmarks.
    """
    from opperf.child.worker.suites.asv import AsvSuite  # no other child waits for it

    return AsvSuite(code, folder, environment)
