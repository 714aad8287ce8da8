"""What MXNet's bindings need beyond a path and its arguments.

* Some operators go by another name for another shape (`dot` and `matmul`), or want tensors made beside those of the
  case (`ones` for a group norm). `adjust` writes down a function that works this out when the call is bound, so that
  the timed call is MXNet's operator alone.
* A composition takes MXNet's face as its first parameter, as `hybrid_forward(self, F, x)` does: `mx.nd` where
  operators run at once, `mx.sym` where they are compiled. The functions with NumPy's names are under `F.np`, `F.npx`.
* Functions with NumPy's names take arrays of a class of their own, a view onto the same memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import mxnet as mx

from opperf.child.backends.binding import Binding, Call, Derive, arguments_of, parameters
from opperf.child.backends.mxnet.registry import RegisteredOperator
from opperf.domain.dataclass import dataclass


@dataclass(frozen=True)
class Composition:
    """A function of a face and the arguments, made of several operators; with `numpy` it takes arrays of that class."""

    function: Callable[..., Any]
    numpy: bool = False

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Compute it at once."""
        return self.function(mx.nd, *arguments, **keywords)


#: What to call (a path or a composition), its positional arguments, and its keywords.
CallSpec: TypeAlias = tuple[str | Composition, tuple[Any, ...], Mapping[str, Any]]


@dataclass(frozen=True)
class CallAdjustment:
    """A placeholder for a function: called with the arguments, it chooses what to call."""

    settle: Callable[..., CallSpec]

    def __call__(self, *arguments: Any, **keywords: Any) -> CallSpec:
        """Return the function to call, with its arguments."""
        return self.settle(*arguments, **keywords)


def adjust(path: str, positional: str, keywords: str = "", *, settle: Callable[..., CallSpec], **more: Any) -> Call:
    """Write down an operator whose call `settle` works out from the arguments; `path` is the usual one."""
    return Call(path, parameters(positional), parameters(keywords), CallAdjustment(settle), **more)


def composition(
    function: Callable[..., Any],
    positional: str | None = None,
    keywords: str = "",
    *,
    note: str,
    numpy: bool = False,
    settle: Callable[..., CallSpec] | None = None,
    **more: Any,
) -> Call:
    """Write down a composition of the operators that `note` names; `settle`, when given, returns it with arguments.

    Without `positional` it takes the neutral arguments that those of `settle`, or its own, are called by.
    """
    if positional is None:
        positional, keywords = arguments_of(function, 1) if settle is None else arguments_of(settle)
    stand_in = Composition(function, numpy) if settle is None else CallAdjustment(settle)
    path = f"composition:{function.__name__}"
    return Call(path, parameters(positional), parameters(keywords), stand_in, note, **more)


def compositions(*, numpy: bool = False, **functions: tuple[Callable[..., Any], str]) -> dict[str, Binding]:
    """Write down several compositions by neutral name, each with what it is made of; lambdas get the name."""
    for name, (function, _) in functions.items():
        if function.__name__ == "<lambda>":
            function.__name__ = name
    return {
        name: composition(function, note=f"{note}, composed", numpy=numpy)
        for name, (function, note) in functions.items()
    }


def extent(name: str, axis: int) -> Derive:
    """Make an argument of the size of an input along an axis, for which no symbol can be asked."""
    return lambda arguments: int(arguments[name].shape[axis])


def takes_numpy(function: Any) -> bool:
    """Whether a function is one of those with NumPy's names."""
    if isinstance(function, (Composition, RegisteredOperator)):
        return function.numpy
    return str(getattr(function, "__module__", "")).startswith("mxnet.numpy")


def as_numpy(value: Any) -> Any:
    """Return an argument with its arrays viewed as those of the functions with NumPy's names."""
    if isinstance(value, mx.nd.NDArray):
        return value.as_np_ndarray()
    if isinstance(value, (list, tuple)):
        return type(value)(as_numpy(item) for item in value)
    return value
