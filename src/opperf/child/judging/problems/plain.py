"""Two plain functions: the reference and the candidate take the same arguments, those of cases that the user gives."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from opperf.child.judging.problems.function_problem import Entry, Form, FunctionProblem
from opperf.child.worker import code
from opperf.domain.backend import Backend
from opperf.domain.case import Case, tensors_of
from opperf.domain.code import Code
from opperf.domain.errors import InputError
from opperf.domain.problem import Branch, Constant, Slot, Tree
from opperf.domain.tensor import TensorSpec


def open_plain(reference: Code, entry: str, folder: Path, backend: Backend, cases: Sequence[Case]) -> FunctionProblem:
    """Return a function with cases; those of its declaration where none are given. `entry` is the candidate's name.

    Raises `InputError` where there are no cases, and `CodeError` for code that cannot be loaded.
    """
    function = code.load(reference, folder)
    own = list(cases) or [case for size in ("common", "small") for case in code.examples(reference, function, size)]
    if not own:
        raise InputError(
            f"`{reference.name}` has no inputs",
            hint="give them: `--input 1024x1024`, or declare `sizes` with `@opperf.operator`",
        )
    form = Form("plain", entry, function)
    return FunctionProblem(str(reference), backend, form, [_entry(case) for case in own], list)


def _entry(case: Case) -> Entry:
    trees: list[Tree] = []
    number = 0
    for name, value in case.inputs.items():
        if isinstance(value, TensorSpec):
            trees.append(Slot(number))
        elif list(tensors_of(value)):
            trees.append(_row(value, number, name))
        else:
            trees.append(Constant(value))
        number += len(list(tensors_of(value)))
    return Entry(case, tuple(trees), {name: Constant(value) for name, value in case.attributes.items()})


def _row(value: object, number: int, name: str) -> Tree:
    """Return the tree of a list or tuple of tensors."""
    items = getattr(value, "items", value)
    if not isinstance(items, tuple) or not all(isinstance(item, TensorSpec) for item in items):
        raise InputError(f"`{name}` holds tensors among other values", hint="give tensors, or lists of them")
    slots = tuple(Slot(number + place) for place in range(len(items)))
    return Branch("tuple" if isinstance(value, tuple) else "list", slots)
