"""Problems in the formats of others: a reference, the cases that it is asked, and how a candidate is called.

All of it is code that the user named on the command line (`ProblemCode`), loaded in the trusted child alone. The
process of a candidate loads the candidate's own file, as a `Standing` says (`functions.load_candidate`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from opperf.child.judging.problems.backendbench import open_backendbench
from opperf.child.judging.problems.flashinfer import open_flashinfer
from opperf.child.judging.problems.gpumode import open_gpumode
from opperf.child.judging.problems.kernelbench import KernelBench
from opperf.child.judging.problems.plain import open_plain
from opperf.child.judging.problems.problem import Problem
from opperf.domain.backend import Backend
from opperf.domain.code import ProblemCode

__all__ = ["Problem", "open_plain", "open_problem"]

#: What opens a problem of each format: its file or folder, its name, the backend, and the budget of bytes.
FORMATS: Mapping[str, Callable[[Path, str, Backend, int], Problem]] = {
    "kernelbench": KernelBench,
    "gpumode": open_gpumode,
    "flashinfer": open_flashinfer,
    "backendbench": open_backendbench,
}


def open_problem(problem: ProblemCode, folder: Path, backend: Backend, budget: int) -> Problem:
    """Return a problem that the user named, of a path in `folder`; `budget` is how many bytes its inputs may take.

    Raises `InputError` for files that are none of the format, and `Unsupported` for a framework that has not what the
    format needs.
    """
    return FORMATS[problem.kind](folder / problem.path, str(problem), backend, budget)
