"""Problems in the formats of others: a reference, the cases that it is asked, and how a candidate is called.

All of it is code that the user named on the command line (`ProblemCode`), loaded in the trusted child alone. The
process of a candidate loads the candidate's own file, as a `Standing` says; that of the reference beside it loads no
more of a problem than its reference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from opperf.child.judging.problems import backendbench, flashinfer, gpumode, kernelbench
from opperf.child.judging.problems.problem import Problem
from opperf.child.judging.problems.scale import Sizes
from opperf.domain.backend import Backend
from opperf.domain.code import ProblemCode
from opperf.domain.problem import OpenedProblem, Standing

__all__ = ["Problem", "load_reference", "look_into", "open_problem"]

#: Opens a problem: its file or folder, its name, the backend, and the budget of bytes.
Opener: TypeAlias = Callable[[Path, str, Backend, int], Problem]
#: Loads the reference alone, as it is called by a standing.
Loader: TypeAlias = Callable[[Path, Standing, Backend], Callable[..., Any]]
#: What opens a problem of each format, and what loads its reference.
FORMATS: Mapping[str, tuple[Opener, Loader]] = {
    "kernelbench": (kernelbench.KernelBench, kernelbench.load_model),
    "gpumode": (gpumode.open_gpumode, gpumode.load_reference),
    "flashinfer": (flashinfer.open_flashinfer, flashinfer.load_reference),
    "backendbench": (backendbench.open_backendbench, backendbench.load_reference),
}


def open_problem(
    problem: ProblemCode, folder: Path, backend: Backend, budget: int, sizes: Sequence[Sizes] = ()
) -> Problem:
    """Return a problem that the user named, of a path in `folder`; `budget` is how many bytes its inputs may take.

    `sizes` are those of its cases, where they are known. Raises `InputError` for files that are none of the format, and
    `Unsupported` for a framework that has not what the format needs.
    """
    place, name = folder / problem.path, str(problem)
    if sizes:
        return kernelbench.KernelBench(place, name, backend, budget, sizes)
    return FORMATS[problem.kind][0](place, name, backend, budget)


def look_into(problem: ProblemCode, folder: Path, backend: Backend, budget: int) -> OpenedProblem:
    """Return the facts of a problem before it is posed; raises as `open_problem` does."""
    own = open_problem(problem, folder, backend, budget)
    cases, hidden = tuple(own.cases()), tuple(own.hidden())
    return OpenedProblem(problem, budget, cases, hidden, own.notes, tuple(own.sizes()), own.workload)


def load_reference(problem: ProblemCode, folder: Path, standing: Standing, backend: Backend) -> Callable[..., Any]:
    """Load the reference of a problem: a function, or a class that a standing builds."""
    return FORMATS[problem.kind][1](folder / problem.path, standing, backend)
