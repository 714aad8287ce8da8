"""Problems in the formats of others as the judge knows them: looked into by a child, none of their code is run here."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from opperf.domain.code import ProblemCode
from opperf.domain.errors import InputError, OpperfError
from opperf.domain.message.requests import OpenProblem
from opperf.domain.plan import Settings, Trial
from opperf.domain.problem import OpenedProblem
from opperf.parent.measuring.progress import Progress, planning
from opperf.parent.measuring.session import Session
from opperf.parent.planning.request import Request
from opperf.parent.planning.selection import Selection
from opperf.parent.workers.process import Launch
from opperf.parent.workers.starting import start

#: Bytes that inputs and results of a problem may take, and its weights where sizes can make them so small.
BUDGET = 1 << 22
#: Bytes that weights may take where nothing makes them smaller. Pages that nobody touches cost nothing.
WEIGHT_BYTES = 1 << 34
#: The framework that problems are written for.
FRAMEWORK = "torch"
#: What a candidate is called in each format, best first; a problem of KernelBench may stand before itself.
ENTRIES = {
    "kernelbench": ("ModelNew", "Model"),
    "gpumode": ("custom_kernel",),
    "flashinfer": ("run",),
    "backendbench": (r"\w+_kernel_impl",),
}
#: What a request may not say of a problem, which says it itself.
OWN = {"inputs": "--input", "attributes": "--attribute", "dtype": "--dtype", "size": "--sizes"}


def check_request(problem: ProblemCode, request: Request) -> None:
    """Raise `InputError` for options that are not for problems, and for one that is not there."""
    for name, option in OWN.items():
        if getattr(request.what, name):
            raise InputError(f"`{option}` is not for `{problem}`", hint="a problem has inputs of its own; leave it out")
    if not Path(problem.path).exists():
        raise InputError(f"{problem.path}: there is no such file or folder")


def look_into(
    problem: ProblemCode, selection: Selection, settings: Settings, progress: Progress
) -> tuple[Trial, OpenedProblem]:
    """Return the case that is timed, with the reference on its side, and the problem; raises `InputError`."""
    selection = replace(selection, frameworks=selection.frameworks or (FRAMEWORK,))
    with planning(progress), Session(selection, settings, progress) as session:
        sides = session.sides()
        if len(sides) != 1:
            raise InputError(f"`{problem}` is judged on one side, and {len(sides)} are named", hint="name one")
        worker, _ = start(sides[0], Launch(plugins=selection.plugins), progress=progress.note, sharing=2)
        try:
            opened = worker.ask(OpenProblem(problem, BUDGET), settings.timeout)
        except OpperfError as error:
            raise InputError(error.message, hint=error.hint, slug="bad_problem") from error
        finally:
            worker.close()
    return Trial(opened.cases[0], replace(sides[0], implementation=problem), "forward", "problem"), opened


def entry_of(text: str, problem: ProblemCode) -> str:
    r"""Return which function or class of a text of Python is the candidate for a problem.

    Where there is none, the candidate's own process says so.

    >>> problem = ProblemCode("kernelbench", "1_A.py")
    >>> entry_of("class Model: ...\nclass ModelNew: ...", problem), entry_of("class Model: ...", problem)
    ('ModelNew', 'Model')
    """
    names = ENTRIES[problem.kind]
    for name in names:
        if match := re.search(rf"^(?:(?:async\s+)?def|class)\s+({name})\b", text, re.MULTILINE):
            return match[1]
    folder = Path(problem.path).name
    return f"{folder}_kernel_impl" if problem.kind == "backendbench" else names[0]


def readable_files(problem: ProblemCode) -> list[Path]:
    """Return the files that the reference of a problem is loaded from."""
    path = Path(problem.path)
    return [path, path.absolute().parent] if problem.kind == "gpumode" else [path]


def hidden_files(problem: ProblemCode) -> list[Path]:
    """Return the files that no candidate may read; its own may lie beside them."""
    path = Path(problem.path)
    if not path.is_dir():
        return [path]
    names = {"gpumode": "reference.py", "flashinfer": "definition.json"}
    return [path / names[problem.kind]] if problem.kind in names else []
