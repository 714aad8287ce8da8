"""A user's own operator: its author's declaration of a function.

    import opperf

    @opperf.operator(implements="softmax")
    def fast_softmax(x):
        ...

The function is named on the command line as code: `opperf run my_kernels:fast_softmax --framework torch`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TypeVar

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError

Function = TypeVar("Function", bound=Callable[..., object])
#: The attribute of a function that holds its declaration.
MARK = "__opperf__"


@dataclass(frozen=True)
class Declaration:
    """The declaration of a function.

    `implements` names the neutral operator that it computes; it is measured on that operator's cases, checked against
    the framework's own, and stands in one table beside it. `arguments` maps the function's parameters, in order, to
    neutral names. `sizes` holds the arguments of each size class by parameter name: a shape for a tensor, anything else
    as it is. `frameworks` are those whose tensors it takes, none meaning any. `flops` counts the floating-point
    operations of one call, from the shapes of its tensors and its other arguments by name. `reference` computes the
    same with the same arguments. `mutates` names parameters whose values a call changes: they are put back before each
    call. opperf finds out by itself what the first call changes, and skips a function that changes more later.
    """

    implements: str | None = None
    arguments: Mapping[str, str] = field(default_factory=dict)
    sizes: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    frameworks: tuple[str, ...] = ()
    flops: Callable[..., int] | None = None
    reference: Callable[..., object] | None = None
    mutates: tuple[str, ...] = ()


def operator(
    *,
    implements: str | None = None,
    arguments: Mapping[str, str] | None = None,
    sizes: Mapping[str, Mapping[str, object]] | None = None,
    framework: str | Sequence[str] = (),
    flops: Callable[..., int] | None = None,
    reference: Callable[..., object] | None = None,
    mutates: str | Sequence[str] = (),
) -> Callable[[Function], Function]:
    """Declare a function as an operator, without changing it. See `Declaration` for the arguments.

    Raises `InputError` for an object that takes no declaration, such as a function built into Python.

    >>> @operator(sizes={"common": {"x": (64, 64), "times": 3}})
    ... def scaled(x, times):
    ...     return x * times
    >>> declaration_of(scaled).sizes["common"]["times"]
    3
    """
    declaration = Declaration(
        implements=implements,
        arguments=dict(arguments or {}),
        sizes=dict(sizes or {}),
        frameworks=(framework,) if isinstance(framework, str) else tuple(framework),
        flops=flops,
        reference=reference,
        mutates=(mutates,) if isinstance(mutates, str) else tuple(mutates),
    )

    def declare(function: Function) -> Function:
        try:
            setattr(function, MARK, declaration)
        except (AttributeError, TypeError) as error:
            raise InputError(f"{function!r} takes no declaration", hint="wrap it in your own function") from error
        return function

    return declare


def declaration_of(function: Callable[..., object]) -> Declaration:
    """Return the declaration of a function; an empty one where there is none."""
    mark = getattr(function, MARK, None)
    return mark if isinstance(mark, Declaration) else Declaration()
