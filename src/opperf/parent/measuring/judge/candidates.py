"""Candidates as a user names them, and what they are held against. No candidate's file is run here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from opperf.domain.code import Code, ProblemCode, read_operator, read_problem
from opperf.domain.errors import InputError
from opperf.domain.files.text_file import read_text
from opperf.domain.plan import Settings, Trial
from opperf.domain.problem import OpenedProblem
from opperf.domain.registry import parse_device
from opperf.parent.measuring.judge.problems import check_request, entry_of, look_into
from opperf.parent.measuring.progress import Progress, planning
from opperf.parent.measuring.session import Session
from opperf.parent.planning import request as requests
from opperf.parent.planning.request import Request
from opperf.parent.planning.selection import Selection

#: What a function is called that a file has beside others.
USUAL = ("f", "forward", "kernel", "custom_kernel")
FUNCTIONS = re.compile(r"^(?:async\s+)?def\s+([A-Za-z_]\w*)\s*\(", re.MULTILINE)


def read_candidate(text: str, against: str) -> Code:
    """Return the function that a user names, of a file the one that it has; raises `InputError`.

    >>> read_candidate("mine.py:f", "softmax").name
    'mine.py:f'
    """
    code, problem = read_operator(text), read_problem(against)
    if isinstance(code, Code):
        return code
    if text.endswith(".json") and isinstance(problem, ProblemCode) and problem.kind == "flashinfer":
        return Code(f"{text}:run")  # a solution says itself what it is called
    if not text.endswith(".py"):
        raise InputError(
            f"`{text}` is no candidate", hint="name a function: `my_kernel.py:f`, or `my_package.my_module:f`"
        )
    return Code(f"{text}:{function_of(read_text(Path(text)), text, against)}")


def function_of(text: str, place: str, against: str) -> str:
    r"""Return which function of a text of Python is the candidate; raises `InputError` that names the place.

    It is not parsed: a text can break Python's own parser.

    >>> function_of("def _part(x): ...\ndef mine(x): ...", "a.py", "softmax")
    'mine'
    """
    problem = read_problem(against)
    if isinstance(problem, ProblemCode):
        return entry_of(text, problem)
    names: list[str] = FUNCTIONS.findall(text)
    public = list(dict.fromkeys(name for name in names if not name.startswith("_")))
    for name in (*USUAL, against.rpartition(":")[2]):
        if name in public:
            return name
    if len(public) == 1:
        return public[0]
    if not public:
        raise InputError(f"{place}: there is no public function", hint="a candidate is a function: `def f(x): ...`")
    listing = ", ".join(f"`{name}`" for name in public[:8])
    raise InputError(f"{place}: which function is the candidate? It has {listing}", hint=f"write `{place}:NAME`")


def reference_trials(
    against: str, request: Request, settings: Settings, progress: Progress
) -> tuple[Sequence[Trial], OpenedProblem | None]:
    """Return the cases that candidates are judged on, with the reference on its side, and the problem that it is of.

    Raises `InputError`.
    """
    problem = read_problem(against)
    if isinstance(problem, ProblemCode):
        check_request(problem, request)
        trial, opened = look_into(problem, _selection([], request, progress), settings, progress)
        return [trial], opened
    selection = _selection([against], request, progress)
    selection = replace(selection, directions=("forward",), sizes=selection.sizes or ("common",))
    if selection.user_rows:
        selection = replace(selection, sizes=())
    with planning(progress), Session(selection, settings, progress) as session:
        trials = session.plan().trials
    frameworks = sorted({trial.side.framework for trial in trials})
    if len(frameworks) > 1:
        raise InputError(
            f"`{against}` is an operator of {', '.join(frameworks)}", hint=f"name one: `--framework {frameworks[0]}`"
        )
    return trials, None


def _selection(operators: Sequence[str], request: Request, progress: Progress) -> Selection:
    """Return the selection, on the CPU where no device is named; raises `InputError` for several."""
    selection = requests.selection(operators, request, note=progress.note)
    devices = {parse_device(device) for device in selection.devices} or {"cpu"}
    if len(devices) > 1:
        text = f"`--device` names {len(devices)} devices, and candidates are judged on one"
        raise InputError(text, hint=f"`--device {selection.devices[0]}`", slug="unknown_device")
    return replace(selection, devices=tuple(devices))
