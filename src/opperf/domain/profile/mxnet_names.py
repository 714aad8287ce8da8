"""How MXNet's profiler names and sorts what it records, in the file that it writes and in its own summary.

Each operator stands in the file twice: as a span of its thread (`B`, `E`), which counts, and as a task (`b`, `e`).
Other tasks are the Python part of custom operators, calls of MXNet's C interface, and what the program marks by itself.
"""

from __future__ import annotations

#: Where the profiler has operators: those of a custom operator stand apart, each after the custom one's name.
DOMAINS = ("operator", "Custom Operator")
#: The category of calls of MXNet's C interface.
INTERFACE = "MXNET_C_API"
#: What the engine does for itself when an array is let go.
NO_OPERATORS = frozenset({"DeleteVariable"})
#: What the engine runs for itself.
OF_THE_ENGINE = NO_OPERATORS | {"DeleteOperator", "WaitForVar"}
#: The Python part of a custom operator. The naive engine runs its inner operators within it.
PYTHON_PART = "::pure_python"
#: Several operators that the threaded engine ran as one; it does not tell which.
BULK = "ImperativeBulk"
#: Operators that take the place of several: of oneDNN, and of pointwise ones on a GPU.
FUSION_PREFIXES = ("_sg_", "_FusedOp")
#: How the operators of a backward pass are called.
BACKWARD = "_backward_"


def kind_of_span(name: str, category: str, phase: str) -> str:
    """Return the kind of a span that ends by `phase`; empty for an operator's second one.

    >>> kind_of_span("dot", "operator", "E"), kind_of_span("dot", "operator", "e")
    ('operator', '')
    """
    if category not in DOMAINS:
        return "api" if category == INTERFACE else "task"
    if phase == "E":
        return "task" if name.rpartition("::")[2] in OF_THE_ENGINE else "operator"
    return "operator" if name.endswith(PYTHON_PART) else ""


def is_fused(name: str) -> bool:
    """Whether an operator is several; a bulk of a compiled graph is named by them, of a symbolic one in brackets.

    >>> is_fused("[dot,relu]"), is_fused("dot")
    (True, False)
    """
    return len(_parts(name)) > 1 or name == BULK or name.startswith(FUSION_PREFIXES)


def is_backward(name: str) -> bool:
    """Whether an operator belongs to a backward pass.

    Passes are run apart; a bulk of a backward one also has what adds gradients up and copies them.
    """
    return any(part.startswith(BACKWARD) for part in _parts(name))


def _parts(name: str) -> list[str]:
    return name.strip("[]").split(",")
