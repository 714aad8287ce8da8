"""What sides have in common when they are compared: the operator that they are implementations of, and its trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from opperf.domain.code import Code
from opperf.domain.errors import InputError
from opperf.domain.plan import Trial
from opperf.parent.planning.own_code import Describes, own_meaning
from opperf.parent.planning.selection import Selection
from opperf.parent.planning.side_text import SideText


def between(selection: Selection, sides: Sequence[SideText], answers: Describes) -> Selection:
    """Return the selection for sides, the base first: with their code, and their operator where it selects nothing.

    Raises `InputError` where the sides do not tell the operator.
    """
    code = [text.side.implementation for text in sides if isinstance(text.side.implementation, Code)]
    selection = replace(selection, declared=(*selection.declared, *code))
    if selection.operators or selection.categories or selection.every or selection.suite:
        return selection
    return replace(selection, operators=(_subject(sides, answers),))


def _subject(sides: Sequence[SideText], answers: Describes) -> str | Code:
    """Return the neutral operator that a side implements; else the base's implementation, which has cases of its own.

    Raises `InputError` where neither is.
    """
    implementations = [text for text in sides if text.side.implementation is not None]
    if not implementations:
        raise InputError("nothing to compare", hint="name operators, or sides that are implementations")
    for text in implementations:
        operator = _implement(text, answers)
        if operator is not None:
            return operator
    base = sides[0].side
    if base.implementation is None:
        text = implementations[0]
        raise InputError(f"opperf does not know which operator `{text.text}` is", hint="name it before `--base`")
    own = isinstance(base.implementation, Code)
    return base.implementation if own else f"{base.framework}:{base.implementation}"


def _implement(text: SideText, answers: Describes) -> str | None:
    """Return the neutral operator that a side's implementation is of, None where it is of none."""
    path, plain = text.side.implementation, replace(text.side, implementation=None)
    if path is None:
        return None
    meaning = own_meaning(path, plain, answers) if isinstance(path, Code) else answers.describe(plain, path)
    return meaning.operator


def on(trial: Trial, text: SideText) -> Trial:
    """Return a trial on a side; a dtype of the side's overrides the case's."""
    case = trial.case if text.dtype is None else trial.case.with_dtype(text.dtype)
    named = trial.side.implementation if text.side.framework == trial.side.framework else None
    return replace(trial, case=case, side=replace(text.side, implementation=text.side.implementation or named))
