"""Names, arguments and messages as text that fits in one cell.

Different cases are written differently. Formats escape text from files and frameworks.
"""

from __future__ import annotations

import hashlib
from pathlib import PurePath

from opperf.domain.case import Argument, Case, Device, DType, Graph, ListOf
from opperf.domain.code import own_name
from opperf.domain.comparison import Comparison
from opperf.domain.plan import Side, Trial
from opperf.domain.registry import MADE_OF
from opperf.domain.tensor import TensorSpec

#: From this count on, repetitions in a list are written once: `[32x32]*200`, `[32x32,32]*21`.
REPEATED = 4


def first_line(text: str) -> str:
    r"""Return the first line that says something.

    >>> first_line("\n  shapes do not match\n  at add.cc:12")
    'shapes do not match'
    """
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def subject(case: Case, side: Side) -> str:
    """Name what is measured of a case on a side: the user's own function by its own name, else the operator.

    >>> from opperf.domain.case import Case
    >>> from opperf.domain.plan import Side
    >>> subject(Case("softmax"), Side("torch", implementation="code:kernels/mine.py:fast"))
    'mine.py:fast'
    >>> subject(Case("softmax"), Side("torch", implementation="aten::softmax"))
    'softmax'
    """
    return own_function(side) or case.operator


def place(side: Side) -> str:
    """Say where a side runs, as `torch (current, cpu, eager)`."""
    return f"{side.framework} ({side.environment}, {side.device}, {side.mode})"


def common_subject(comparison: Comparison) -> str:
    """Name the subject of a comparison: the user's function on both sides or on the base, else the operator."""
    base, new = own_function(comparison.base), own_function(comparison.new)
    is_base = comparison.case.operator == own_name(comparison.base.implementation)
    return subject(comparison.case, comparison.base) if base == new or is_base else comparison.case.operator


def own_function(side: Side) -> str | None:
    """Return what the user's own function on a side is called, without the folder of its file; None for another."""
    place, colon, function = (own_name(side.implementation) or "").rpartition(":")
    return f"{PurePath(place).name}{colon}{function}" if colon else None


def case_text(case: Case) -> str:
    """Write the inputs and attributes of a case.

    >>> from opperf.domain.case import Case
    >>> case_text(Case("take", {"data": TensorSpec((8, 4)), "indices": TensorSpec((3,), "int64")}, {"axis": 0}))
    'data=8x4 indices=3:int64 axis=0'
    """
    arguments = {**case.inputs, **case.attributes}
    if MADE_OF in arguments:  # a whole entry of a config, identified by its digest
        entry = repr(arguments[MADE_OF]).encode(errors="backslashreplace")
        arguments[MADE_OF] = f"sha_{hashlib.sha256(entry).hexdigest()[:12]}"
    return " ".join(f"{name}={argument_text(value)}" for name, value in arguments.items())


def argument_text(argument: Argument) -> str:
    """Write one argument without spaces and without default values."""
    if isinstance(argument, TensorSpec):
        return _tensor(argument)
    if isinstance(argument, ListOf):
        return _items(argument.items, "[", "]")
    if isinstance(argument, tuple):
        return _items(argument, "(", ")")
    if isinstance(argument, (DType, Device)):
        return argument.name
    if isinstance(argument, Graph):
        return str(argument)
    if isinstance(argument, str):
        return argument if argument.isidentifier() else repr(argument)
    return repr(argument)


def trial_text(trial: Trial) -> str:
    """Name a trial in a list of trials.

    >>> from opperf.domain.case import Case
    >>> from opperf.domain.plan import Side, Trial
    >>> trial_text(Trial(Case("add", {"lhs": TensorSpec((2,))}), Side("torch", device="cuda:0"), "forward"))
    'add torch cuda:0 forward lhs=2'
    """
    side = trial.side
    usual = ((side.environment, ("current", side.framework)), (side.device, ("cpu",)), (side.mode, ("eager",)))
    unusual = [text for text, usual_values in usual if text not in usual_values]
    words = [subject(trial.case, side), side.framework, *unusual, trial.direction, case_text(trial.case)]
    return " ".join(word for word in words if word)


def _tensor(tensor: TensorSpec) -> str:
    parts = ["x".join(str(size) for size in tensor.shape) if tensor.shape else "scalar"]
    if tensor.dtype != "float32":
        parts.append(tensor.dtype)
    if tensor.strides is not None:
        parts.append(f"strides={','.join(str(stride) for stride in tensor.strides)}")
    if tensor.values != "uniform":
        parts.append(tensor.values)
    if tensor.range is not None:
        parts.append(f"range={tensor.range[0]:g}..{tensor.range[1]:g}")
    if tensor.requires_grad is not None:
        parts.append(f"requires_grad={tensor.requires_grad}")
    return ":".join(parts)


def _items(items: tuple[Argument, ...], opening: str, closing: str) -> str:
    texts = [argument_text(item) for item in items]
    for period in (1, 2):  # parameters come as weights, or as weights and biases
        times, rest = divmod(len(texts), period)
        if times >= REPEATED and not rest and texts == texts[:period] * times:
            return f"{opening}{','.join(texts[:period])}{closing}*{times}"
    return f"{opening}{','.join(texts)}{closing}"
