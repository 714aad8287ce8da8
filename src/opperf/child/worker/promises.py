"""What a call promises beside its name, so that two sides that do different work can be told of it.

Element types and extents of its results are seen. That a sort keeps equal elements in their order is not: it takes
longer, and gives the same values. Whether it does so is read from how it is called.
"""

from __future__ import annotations

from collections.abc import Callable

from opperf.catalog import catalog
from opperf.child.backends.binding import Call
from opperf.domain.backend import Backend
from opperf.domain.case import Case
from opperf.domain.plan import Trial

#: Functions that sort, by a word of their path, as in `aten::sort.stable`.
SORTING = frozenset({"sort", "argsort", "msort"})
#: Words for NumPy's argument `kind` that keep equal elements in their order.
STABLE_KINDS = ("stable", "mergesort")
#: What becomes of the order of equal elements.
KEPT, ANY = "kept", "any"


def results(backend: Backend, trial: Trial, call: Call, value: object) -> tuple[str, ...]:
    """Return the element type and extents of each tensor of a result, in the catalog's order of extents.

    A framework whose tensors cannot be written to returns what others write: only the operator's own outputs count.
    """
    tensors, definition = backend.leaves(value), catalog().get(trial.case.operator)
    if definition is not None and definition.mutates:
        tensors = tensors[: len(definition.outputs(trial.case))]
    layout = call.layout if trial.direction == "forward" else None
    specs = [backend.spec(tensor if layout is None else layout.neutral(tensor)) for tensor in tensors]
    return tuple(f"{spec.dtype} {'x'.join(map(str, spec.shape)) or 'scalar'}" for spec in specs)


def order_of_equals(call: Call, case: Case, resolve: Callable[[str], object]) -> str | None:
    """Return whether a framework's sort keeps equal elements in their order; None for any other call.

    What the user's own code and compositions do within cannot be seen.
    """
    if call.function is not None or SORTING.isdisjoint(call.path.replace("::", ".").split(".")):
        return None
    defaults = _defaults(resolve(call.path))
    constants = {one.own: one.constant if one.neutral is None else case.get(one.neutral) for one in call.keywords}
    settings = {name: constants.get(name, defaults.get(name)) for name in ("stable", "kind")}
    return KEPT if settings["stable"] is True or settings["kind"] in STABLE_KINDS else ANY


def _defaults(function: object) -> dict[str, object]:
    """Return the defaults of a function's parameters; none where Python cannot tell them."""
    from inspect import signature  # a child that sorts nothing starts without it

    if not callable(function):
        return {}
    try:
        return {name: one.default for name, one in signature(function).parameters.items()}
    except (TypeError, ValueError):
        return {}
