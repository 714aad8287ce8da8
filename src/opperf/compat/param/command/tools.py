"""NVIDIA's tools that look at kernels: where they are, how they are started, and what their reports are.

Nsight Compute (`ncu`) reads counters of the kernels that its filter lets through; Nsight Systems (`nsys`) records when
every kernel ran. Both write what a program can read: a CSV page, an SQLite export.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from opperf.compat.param.command.flags import reads_counters
from opperf.compat.param.command.kernels import FILTER, Launches, from_ncu, from_nsys
from opperf.domain.errors import InputError
from opperf.parent.workers.vendor_tools import TOOLS, located

#: The tools that PARAM starts.
NAMES = ("ncu", "nsys")
#: PyTorch's own observer is no program: the batch records itself.
OBSERVER = "et"
#: What `--cupti-profiler-metrics` may name in place of counters: Kineto's names for several
#: (https://github.com/pytorch/kineto/blob/662eb21b46c78626bfb80f0bbdbcab495a03b3a1/libkineto/src/CuptiRangeProfiler.cpp).
COUNTERS = {
    "kineto__cuda_core_flops": tuple(
        f"smsp__sass_thread_inst_executed_op_{kind}{operation}_pred_on.sum"
        for kind in "dhf"
        for operation in ("add", "fma", "mul")
    ),
    "kineto__tensor_core_insts": ("sm__inst_executed_pipe_tensor.sum",),
}


@dataclass(frozen=True)
class Tool:
    """A tool of a command line: its program, its further options, and how many calls it measures."""

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


def choose_tools(options: argparse.Namespace) -> list[Tool]:
    """Return the tools that flags ask for; raises `InputError` for one that is not there.

    PARAM has PyTorch's profiler read counters, which it does on no CUDA above 12.6
    (https://github.com/pytorch/kineto/pull/1437): ncu reads the same ones, by the same names.
    """
    tools = [_tool(name, options, f"--{name}") for name in NAMES if getattr(options, name)]
    if reads_counters(options):
        counters = ("--metrics", ",".join(_counters(options.cupti_profiler_metrics)))
        tool = _tool("ncu", options, "--cupti-profiler")
        tools.append(replace(tool, arguments=(*counters, *tool.arguments)))
    return [*tools, *([Tool(OBSERVER, "", (), options.warmup, 1)] if options.et else [])]


def _counters(names: str) -> Iterator[str]:
    """Yield the counters of a list, separated by commas, of names of counters or of several.

    >>> list(_counters("kineto__tensor_core_insts,dram__bytes.sum"))
    ['sm__inst_executed_pipe_tensor.sum', 'dram__bytes.sum']
    """
    for name in filter(None, map(str.strip, names.split(","))):
        yield from COUNTERS.get(name, (name,))


def _tool(name: str, options: argparse.Namespace, option: str) -> Tool:
    program = located(
        getattr(options, f"{name}_bin") or name,
        option=option,
        package=TOOLS[name].package,
        hint=f"it comes with NVIDIA's CUDA toolkit, and alone; say where it is with `--{name}-bin PATH`",
    )
    file = getattr(options, f"{name}_args_file")
    arguments = () if file is None else _words(Path(file), f"--{name}-args-file")
    iterations, warmup = getattr(options, f"{name}_iteration"), getattr(options, f"{name}_warmup")
    return Tool(name, program, arguments, warmup, iterations)


def _words(file: Path, flag: str) -> tuple[str, ...]:
    """Return the words of a file as a shell would split them."""
    try:
        return tuple(shlex.split(file.read_text(encoding="utf-8"), comments=True))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read `{file}` of `{flag}`: {error}", slug="input") from error
