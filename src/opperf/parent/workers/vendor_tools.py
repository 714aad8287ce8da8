"""Vendors' profilers: how each is started on a command, what names operators to it, and what it leaves.

Nsight Systems (`nsys`) records when kernels ran, Nsight Compute (`ncu`) reads counters of single kernels, VTune
(`vtune`) and Linux's `perf` sample where CPUs spend their time. None of them knows an operator: ranges of NVTX or ITT
name operators to the first three, and `perf` sees the functions that compute them.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, check_known
from opperf.parent.workers.installer import listen

#: Kernels that Nsight Compute looks at. It runs each several times over; all of a program's would take hours.
MOST_KERNELS = 200
#: How often `perf` looks, in hertz. Each look at an older Python keeps 8 KiB of its stack; a prime, so that no timer of
#: the program ticks along.
FREQUENCY = 499
#: Who may look. At 2 and below everybody may look at programs of their own; Debian and Ubuntu begin higher.
PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
MOST_PARANOID = 2
#: How long an interpreter may take to say its version, in seconds.
ANSWER_WITHIN = 60.0


@dataclass(frozen=True)
class Vendor:
    """A command under a tool: the kind of `ranges` that names operators to it, the `report` that it leaves, and a note.

    `ranges` is `nvtx`, `itt` or None; `note` tells people how to read the report.
    """

    command: tuple[str, ...]
    ranges: str | None
    report: Path
    note: str


@dataclass(frozen=True)
class Tool:
    """A tool: the package that it comes with and how to get that, its ranges, its report, and how that is read.

    `words` stand between its program and the command. `{stem}` is the report without the suffix, which some tools add.
    """

    package: str
    hint: str
    ranges: str | None
    report: str
    read: str
    words: tuple[str, ...]


TOOLS = {
    "nsys": Tool(
        "Nsight Systems",
        "install NVIDIA's CUDA toolkit or Nsight Systems, and put the folder of `nsys` on PATH",
        "nvtx",
        "opperf.nsys-rep",
        "`nsys stats {report}` prints tables, `nsys-ui {report}` shows it",
        ("profile", "--trace=cuda,nvtx,osrt", "--force-overwrite=true", "--output={stem}"),
    ),
    "ncu": Tool(
        "Nsight Compute",
        "install NVIDIA's CUDA toolkit or Nsight Compute, and put the folder of `ncu` on PATH",
        "nvtx",
        "opperf.ncu-rep",
        f"the first {MOST_KERNELS} kernels; `ncu --import {{report}}` prints them, `ncu-ui {{report}}` shows them",
        # Its own lines go to stderr, as stdout is the program's.
        (
            *("--nvtx", "--target-processes", "all", "--launch-count", str(MOST_KERNELS), "--log-file", "stderr"),
            *("--force-overwrite", "--export", "{stem}"),
        ),
    ),
    "vtune": Tool(
        "Intel's VTune Profiler",
        "it is free, alone or with Intel's oneAPI base toolkit; then `source` its `vtune-vars.sh`",
        "itt",
        "opperf_vtune",
        "`vtune -report hotspots -group-by task -result-dir {report}` prints operators, `vtune-gui {report}` shows it",
        # Sampling in user mode needs no driver and no root.
        (
            *("-collect", "hotspots", "-knob", "sampling-mode=sw", "-no-summary", "-quiet"),
            *("-result-dir", "{report}", "--"),
        ),
    ),
    "perf": Tool(
        "Linux's perf",
        "Debian: `apt install linux-perf`; Ubuntu: `apt install linux-tools-generic`",
        None,
        "opperf_perf.data",
        "`perf report -i {report}` shows it",
        ("record", "--quiet", "--freq", str(FREQUENCY), "--output", "{report}"),
    ),
}


def wrap(tool: str, command: Sequence[str], output: Path) -> Vendor:
    """Return a command under a tool that leaves its report in the folder `output`, which must be there.

    The command begins with the interpreter. Raises `InputError` for a tool that is not known, is missing, or may not
    look.
    """
    check_known("tool", tool, TOOLS)
    tool_facts = TOOLS[tool]
    program = locate(tool, option=f"--with {tool}", package=tool_facts.package, hint=tool_facts.hint)
    report = output.absolute() / tool_facts.report
    if tool == "vtune":
        report = _free_name(report)
    words = [word.format(report=report, stem=report.with_suffix("")) for word in tool_facts.words]
    words += _stacks(command[0]) if tool == "perf" else []
    note = tool_facts.read.format(report=shlex.quote(str(report)))
    return Vendor((program, *words, *command), tool_facts.ranges, report, note)


def locate(program: str, *, option: str, package: str, hint: str) -> str:
    """Return the path of a program; raises `InputError` with the option that needs it and how to get its package."""
    path = shutil.which(program)
    if path is None:
        raise InputError(
            f"`{option}` needs {package}, which is not installed: no program `{program}`", hint=hint, slug="no_tool"
        )
    return str(Path(path).absolute())


def _stacks(python: str) -> list[str]:
    """Return how `perf` follows the calls of an interpreter; raises `InputError` where it may not look."""
    _check_allowed()
    if _names_its_functions(python):
        return ["--call-graph", "fp", "--", "env", "PYTHONPERFSUPPORT=1"]
    return ["--call-graph", "dwarf", "--"]


def _names_its_functions(python: str) -> bool:
    """Whether an interpreter can name its functions to `perf`, as Python can from 3.12 on."""
    command = [python, "-c", "import sys; print(sys.version_info >= (3, 12))"]
    try:
        process = listen(command, ANSWER_WITHIN)
    except (OSError, subprocess.TimeoutExpired):
        return False  # what is wrong with it shows when it runs
    return process.stdout.split()[-1:] == ["True"]


def _check_allowed() -> None:
    """Raise `InputError` where the kernel lets root alone use `perf`."""
    try:
        level = int(PARANOID.read_text())
    except (OSError, ValueError):
        return
    if level > MOST_PARANOID and os.geteuid() != 0:
        raise InputError(
            f"the kernel allows only root to use `perf`: `{PARANOID}` is {level}",
            hint=f"`sudo sysctl kernel.perf_event_paranoid={MOST_PARANOID}`",
            slug="no_tool",
        )


def _free_name(report: Path) -> Path:
    """Return a name that no folder has: VTune writes into none that holds something."""
    number = 1
    path = report
    while path.exists():
        number += 1
        path = report.with_name(f"{report.name}_{number}")
    return path
