"""From a bound call to what is really called: the function found or settled, its arrays of the class it takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import field, replace
from typing import Any

import mxnet as mx

from opperf.child.backends.mxnet.paths import function_at
from opperf.child.backends.mxnet.registry import RegisteredOperator
from opperf.child.backends.mxnet.spelling import CallAdjustment, Composition, as_numpy, takes_numpy
from opperf.domain.call import Bound
from opperf.domain.dataclass import dataclass
from opperf.domain.measurement import Quantity


@dataclass(frozen=True)
class Target:
    """A function of MXNet (or a composition) and its arguments; `notes` become facts of the record.

    `numpy` says that it is of the functions with NumPy's names, `np_shape` that tensors without dimensions or elements
    occur. `metrics` are what compiling it has measured.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any]
    numpy: bool
    np_shape: bool
    notes: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, Quantity] = field(default_factory=dict)

    def eager(self) -> Target:
        """Return the target that is timed where operators run at once: compositions with their face as an argument."""
        if not isinstance(self.function, Composition):
            return self
        return replace(self, function=self.function.function, arguments=(mx.nd, *self.arguments))

    def scope(self, *, training: bool = False) -> Callable[[], AbstractContextManager[Any]]:
        """Return the contexts around calls: training mode, and the reading of shapes that NumPy has.

        Without the latter MXNet takes no dimensions, and a dimension of zero, for ones that are not yet known.
        """

        def open_stack() -> AbstractContextManager[Any]:
            stack = ExitStack()
            if self.np_shape:
                stack.enter_context(mx.util.np_shape(True))
            if training:
                stack.enter_context(mx.autograd.train_mode())
            return stack

        return open_stack


def target_of(bound: Bound) -> Target:
    """Return the target of a bound call. Gradients must be attached before: a view made earlier does not share them."""
    function, arguments, keywords = bound.function, bound.arguments, bound.keywords
    notes = {}
    if isinstance(function, CallAdjustment):
        function_or_path, arguments, keywords = function.settle(*arguments, **keywords)
        if isinstance(function_or_path, Composition):
            function = function_or_path
            notes["implementation"] = f"mxnet:composition:{function_or_path.function.__name__}"
        else:
            function = function_at(function_or_path)
            notes["implementation"] = f"mxnet:{function_or_path}"
    else:  # no operator takes `training`: MXNet is told so beside the call
        keywords = {name: value for name, value in keywords.items() if name != "training"}
    if isinstance(function, RegisteredOperator):
        arguments = function.complete(arguments)
    numpy = takes_numpy(function)
    if numpy:
        arguments = as_numpy(arguments)
        keywords = {name: as_numpy(value) for name, value in keywords.items()}
    return Target(function, arguments, keywords, numpy, numpy or _unusual(arguments), notes)


def _unusual(arguments: tuple[Any, ...]) -> bool:
    """Whether an array has no dimensions or no elements."""
    return any(isinstance(value, mx.nd.NDArray) and 0 in (len(value.shape), *value.shape) for value in arguments)
