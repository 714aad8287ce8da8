"""From a bound call to what is really called: the function found or settled, its arrays of the class it takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

import mxnet as mx

from opperf.backend import Bound
from opperf.backends.mxnet.paths import function_at
from opperf.backends.mxnet.spelling import Composition, Settling, as_numpy, takes_numpy


@dataclass(frozen=True)
class Target:
    """A function of MXNet (or a composition) and its arguments; `notes` become facts of the record.

    `numpy` says that it is of the functions with NumPy's names. `compile_seconds` is what the first call of a compiled
    function took.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any]
    numpy: bool
    notes: Mapping[str, Any] = field(default_factory=dict)
    compile_seconds: float | None = None

    def eager(self) -> Target:
        """Return the target that is timed where operators run at once: compositions with their face as an argument."""
        if not isinstance(self.function, Composition):
            return self
        return replace(self, function=self.function.function, arguments=(mx.nd, *self.arguments))

    def scope(self, *, training: bool = False) -> Callable[[], AbstractContextManager[Any]]:
        """Return what must be open around calls.

        Tensors without dimensions, which NumPy's names return, want to be called known; `nd` takes them for unknown.
        """

        def opened() -> AbstractContextManager[Any]:
            stack = ExitStack()
            if self.numpy:
                stack.enter_context(mx.util.np_shape(True))
            if training:
                stack.enter_context(mx.autograd.train_mode())
            return stack

        return opened


def target_of(bound: Bound) -> Target:
    """Return what a bound call calls. Gradients must be attached before: a view made earlier does not share them."""
    function, arguments, keywords = bound.function, bound.arguments, bound.keywords
    notes = {}
    if isinstance(function, Settling):
        named, arguments, keywords = function.settle(*arguments, **keywords)
        if isinstance(named, Composition):
            function = named
        else:
            function = function_at(named)
            notes["implementation"] = f"mxnet:{named}"
    numpy = takes_numpy(function)
    if numpy:
        arguments = as_numpy(arguments)
        keywords = {name: as_numpy(value) for name, value in keywords.items()}
    return Target(function, arguments, keywords, numpy, notes)
