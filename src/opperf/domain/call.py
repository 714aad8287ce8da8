"""What a framework is asked to call: a function with its arguments, a layer that is built for it, work to time.

Values of the framework (tensors, functions) are opaque to everything but their backend, hence `Any`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import field
from typing import Any

from opperf.domain.case import Case
from opperf.domain.dataclass import dataclass
from opperf.domain.measurement import Quantity
from opperf.domain.tensor import TensorSpec


@dataclass(frozen=True)
class Layout:
    """The order of extents in which a framework has a result: `own` brings the catalog's into it, `neutral` back."""

    own: Callable[[Any], Any]
    neutral: Callable[[Any], Any]


def nothing() -> None:
    """Do nothing."""


@dataclass(frozen=True)
class Bound:
    """An operator of a framework with its arguments made: all that a call needs.

    `values` are the arguments by name, and `mutated` names those that a call is known to change. `differentiable` are
    the tensors among the arguments that a gradient flows to. `training` says that the operator behaves as in training.
    `layout` is that of the result, where it is not the catalog's. `renew`, when given, makes all of this anew, untimed,
    ahead of each call, and returns its positional arguments where they are others; `release` is called when the last
    was made. `shared` names arguments that were there before and are there afterwards, so that they are left as they
    were. `as_is` says that a forward is the call alone, in the state that its caller has set: no mode of the framework.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any] = field(default_factory=dict)
    differentiable: tuple[Any, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    mutated: tuple[str, ...] = ()
    training: bool = False
    layout: Layout | None = None
    renew: Callable[[], tuple[Any, ...] | None] | None = None
    release: Callable[[], None] = nothing
    shared: tuple[str, ...] = ()
    as_is: bool = False

    @property
    def inputs(self) -> Mapping[str, Any]:
        """The arguments by name, or by place where they have none."""
        places = {f"argument {i}": value for i, value in enumerate(self.arguments, 1)}
        return self.values or {**places, **self.keywords}


@dataclass(frozen=True)
class Layer:
    """Something that is built once and then called, as `torch.nn.Linear` is; a gradient flows to its `parameters`.

    A function that holds none of what it was built with takes that as `arguments` behind its inputs.
    """

    function: Callable[..., Any]
    parameters: tuple[Any, ...] = ()
    arguments: tuple[Any, ...] = ()


@dataclass(frozen=True)
class FirstCall:
    """The call that a layer is built for, which may tell it how long its weights are.

    `draw` makes the values of a weight by its place among them: the same bits in every framework.
    """

    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any]
    draw: Callable[[TensorSpec, int], Any]


@dataclass(frozen=True)
class Work:
    """Something to time: `function(*arguments, **keywords)`, again and again, inside `scope()`.

    `before`, when given, is called untimed ahead of each call and returns that call's arguments: for operators that
    change their inputs and for a backward that needs a fresh forward. `metrics` are what making it has measured, as
    the time to trace and compile. `notes` become facts of the record.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any]
    scope: Callable[[], AbstractContextManager[object]]
    before: Callable[[], tuple[Any, ...]] | None = None
    metrics: Mapping[str, Quantity] = field(default_factory=dict)
    notes: Mapping[str, object] = field(default_factory=dict)

    def make_arguments(self) -> tuple[Any, ...]:
        """Return the arguments of the next call, which `before` makes where there is one."""
        return self.arguments if self.before is None else self.before()


@dataclass(frozen=True)
class CapturedCall:
    """One operator that a program called: its case, or `why` there is none, and the module that called it.

    `module` is empty for a call outside of every module. `backward` says that a gradient was computed; by an operator
    of its own, or else in the `direction` "backward" of the one whose gradient it is. `recomputed` says that a backward
    ran a forward again, `optimizer` that a step of an optimizer called it. `count` is how often it is called in this
    place: as often as the loop around it turns.
    """

    name: str
    case: Case | None = None
    why: str = ""
    module: str = ""
    backward: bool = False
    direction: str = "forward"
    count: int = 1
    recomputed: bool = False
    optimizer: bool = False

    @property
    def phase(self) -> str:
        """What it is part of: empty for a forward."""
        phases = {"backward": self.backward, "recomputed": self.recomputed, "optimizer": self.optimizer}
        return next((phase for phase, is_part in phases.items() if is_part), "")


@dataclass(frozen=True)
class AbstractCapture:
    """What a program calls that runs by shapes alone, and what had to be `assumed` of values, a line each."""

    calls: Sequence[CapturedCall]
    assumed: tuple[str, ...] = ()
