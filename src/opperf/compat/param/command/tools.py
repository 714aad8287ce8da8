"""NVIDIA's tools that look at kernels: where they are, how they are started, and what their reports are.

Nsight Compute (`ncu`) reads counters of the kernels that its filter lets through; Nsight Systems (`nsys`) records when
every kernel ran. Both write what a program can read: a CSV page, an SQLite export.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from opperf.compat.param.command.kernels import FILTER, Launches, from_ncu, from_nsys
from opperf.domain.errors import InputError
from opperf.parent.workers.vendor_tools import TOOLS, located

#: The tools that PARAM starts.
NAMES = ("ncu", "nsys")
#: PyTorch's own observer is no program: the batch records itself.
OBSERVER = "et"


@dataclass(frozen=True)
class Tool:
    """A tool as a command line asks for it: its program, what it is given besides, and how many calls it sees."""

    name: str
    program: str
    arguments: tuple[str, ...]
    warmup: int
    iterations: int

    def report(self, stem: Path) -> Path:
        """Return the file that is read, for a report whose name begins so."""
        return stem.with_name(stem.name + {"ncu": ".csv", "nsys": ".sqlite", OBSERVER: ".json"}[self.name])

    def command(self, stem: Path, behind: Sequence[str]) -> list[str]:
        """Return the words that start the tool on another command."""
        if self.name == OBSERVER:
            return list(behind)
        if self.name == "ncu":
            own = [
                *("--csv", "--page", "raw", "--print-units", "base", "--log-file", str(self.report(stem))),
                *("--nvtx", "--nvtx-include", FILTER, "--target-processes", "all"),
            ]
        else:
            own = ["profile", "--trace=cuda,nvtx", "--export=sqlite", "--force-overwrite=true", f"--output={stem}"]
        return [self.program, *own, *self.arguments, *behind]

    def complaints(self, stem: Path) -> list[str]:
        """Return the errors in the tool's own log, which ncu's report is as well."""
        report = self.report(stem)
        if self.name != "ncu" or not report.is_file():
            return []
        lines = report.read_text(encoding="utf-8", errors="replace").splitlines()
        return [line.removeprefix("==ERROR==").strip() for line in lines if line.startswith("==ERROR==")]

    @property
    def read(self) -> Callable[[Path], Launches]:
        """What reads a report."""
        if self.name == OBSERVER:
            return lambda report: {}
        return from_ncu if self.name == "ncu" else from_nsys


def asked(given: argparse.Namespace) -> list[Tool]:
    """Return the tools that flags ask for; raises `InputError` for one that is not there."""
    observer = [Tool(OBSERVER, "", (), given.warmup, 1)] if given.et else []
    return [*(_tool(name, given) for name in NAMES if getattr(given, name)), *observer]


def _tool(name: str, given: argparse.Namespace) -> Tool:
    program = located(
        getattr(given, f"{name}_bin") or name,
        option=f"--{name}",
        package=TOOLS[name].package,
        hint=f"it comes with NVIDIA's CUDA toolkit, and alone; say where it is with `--{name}-bin PATH`",
    )
    file = getattr(given, f"{name}_args_file")
    arguments = () if file is None else _words(Path(file), f"--{name}-args-file")
    iterations, warmup = getattr(given, f"{name}_iteration"), getattr(given, f"{name}_warmup")
    return Tool(name, program, arguments, warmup, iterations)


def _words(file: Path, flag: str) -> tuple[str, ...]:
    """Return the words of a file as a shell would split them."""
    try:
        return tuple(shlex.split(file.read_text(encoding="utf-8"), comments=True))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read `{file}` of `{flag}`: {error}", slug="input") from error
