"""Which operators a function runs, by shapes alone: PyTorch's fake tensors have no elements, so nothing is computed.

The user's code is loaded among them, so that its parameters have none either: no memory is allocated for any tensor.
What asks for a value gets one that is assumed, and told with the line that asked:

* a number of a tensor (`loss.item()`) is 1.0, and a truth (`if mask.any()`) is False;
* of a mask, all elements are true, and of other values none is zero or occurs twice: the most that there can be.

A whole number may decide a shape, so none is assumed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import torch
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensorMode,
    UnsupportedOperatorException,
)
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

from opperf.child.backends.torch import capture
from opperf.child.backends.torch.specs import NAMES, NoDescription
from opperf.domain.backend import Unsupported
from opperf.domain.call import AbstractCapture, CapturedCall
from opperf.domain.tensor import TensorSpec, row_major
from opperf.domain.units import plural

Load: TypeAlias = Callable[[], Callable[[], Any]]
#: What the lines of the user's code are told from.
_OWN = (str(Path(torch.__file__).parent), str(Path(__file__).parents[3]), "<")
_HINT = "capture it without `--abstract` in a smaller size, or give it the number itself"


def of_call(load: Load) -> AbstractCapture:
    """Load a function and return every operator of its second call, and what was assumed.

    Raises `Unsupported` where a value decides that cannot be assumed, and what the function raises.
    """
    with _mode(), Assumptions() as assumptions:
        function = load()
        function()
        calls = capture.of_call(function, _spec)
    return AbstractCapture([call for call in calls if not _asks(call)], assumptions.lines())


@cache
def _mode() -> Any:
    """Return the mode of all functions of a process, which may share tensors: it makes every tensor a fake one."""
    return Shapes(allow_non_fake_inputs=True)


class Shapes(FakeTensorMode):  # type: ignore[misc]
    """Makes every tensor a fake one."""

    def __deepcopy__(self, memo: object) -> Shapes:
        """Return itself: a copy of a tensor copies what it belongs to, and a copy of this frees storages once more."""
        return self


def _spec(tensor: torch.Tensor) -> TensorSpec:
    """Return the description of a fake tensor, and what is known of its values: those of a constant.

    Raises `NoDescription`.
    """
    constant = getattr(tensor, "constant", None)
    if constant is not None:
        with _disable_current_modes():  # it is a real tensor, whose values can be looked at
            return capture.exact(constant)
    if tensor.layout != torch.strided or tensor.is_nested:
        raise NoDescription(f"a tensor that is {tensor.layout}".replace("torch.", ""))
    if tensor.dtype not in NAMES:
        raise NoDescription(f"a tensor of {tensor.dtype}")
    strides = tuple(tensor.stride())
    plain = strides == row_major(tensor.shape) or not tensor.numel()
    return TensorSpec(tuple(tensor.shape), NAMES[tensor.dtype], strides=None if plain else strides)


def _asks(call: CapturedCall) -> bool:
    """Whether a call is not the program's own: fake tensors are asked for their device, which real ones just have."""
    return call.name.startswith("prim::")


class Assumptions(TorchDispatchMode):  # type: ignore[misc]
    """Answers what asks for values, and remembers what it has said and where."""

    def __init__(self) -> None:
        super().__init__()
        self._places: dict[str, dict[str, None]] = {}

    def lines(self) -> tuple[str, ...]:
        """Say each assumption, with the lines of the program that asked."""
        return tuple(f"assumed: {what} ({_join([*places])})" for what, places in self._places.items())

    def __torch_dispatch__(self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None) -> Any:
        """Call, and assume what the call depends on."""
        try:
            return func(*args, **(kwargs or {}))
        except UnsupportedOperatorException as error:
            raise Unsupported(
                f"`{func}` at {_place()} has no shapes without values in PyTorch", slug="no_capture", hint=_HINT
            ) from error
        except (DataDependentOutputException, DynamicOutputShapeException) as error:
            packet = func.overloadpacket.__name__
            if packet not in ANSWERS:
                raise Unsupported(
                    f"the result of `{packet}` at {_place()} depends on values, which shapes alone do not tell",
                    slug="no_capture",
                    hint=_HINT,
                ) from error
            answer, what = ANSWERS[packet](func, args, kwargs or {})
            self._places.setdefault(what, {})[_place()] = None
            return answer


def _number(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, str]:
    """Return the number that a tensor of one element is assumed to hold."""
    dtype = args[0].dtype
    if dtype == torch.bool:
        return False, "a truth that the program reads is False"
    if dtype.is_floating_point or dtype.is_complex:
        return (1.0 if dtype.is_floating_point else 1.0 + 0j), "a number that the program reads is 1.0"
    raise Unsupported(
        f"it reads a whole number from a tensor at {_place()}, which shapes alone do not tell",
        slug="no_capture",
        hint=_HINT,
    )


def _places(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, str]:
    """Return the places of what is not zero: all."""
    data = args[0]
    return data.new_empty((data.numel(), data.dim()), dtype=torch.int64), MOST


def _selection(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, str]:
    """Return the elements that a mask selects: all."""
    shape = torch.broadcast_shapes(args[0].shape, args[1].shape)
    return args[0].new_empty((shape.numel(),)), MOST


def _indexed(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, str]:
    """Return the elements at places, of which masks are all."""
    indices = [item for index in args[1] for item in _unmasked(index)]
    return func(args[0], indices, *args[2:], **kwargs), MOST


def _unmasked(index: Any) -> list[Any]:
    if index is None or index.dtype not in (torch.bool, torch.uint8):
        return [index]
    return [index.new_empty((index.numel(),), dtype=torch.int64) for _ in range(index.dim())]


def _unique(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, str]:
    """Return the values that occur: each once."""
    data = args[0]
    counts = data.new_empty((data.numel(),), dtype=torch.int64)
    return (data.new_empty((data.numel(),)), data.new_empty(data.shape, dtype=torch.int64), counts), MOST


MOST = "all elements of a mask are true, and no value is zero or occurs twice"
Answer: TypeAlias = Callable[[Any, Sequence[Any], Mapping[str, Any]], "tuple[Any, str]"]
#: What is assumed, by the operator that depends on values: its result, and the words for it.
ANSWERS: Mapping[str, Answer] = {
    "_local_scalar_dense": _number,
    "nonzero": _places,
    "masked_select": _selection,
    "index": _indexed,
    "_unique2": _unique,
}


def _place() -> str:
    """Return the line of the user's that is running: the innermost that is neither PyTorch's nor opperf's."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_OWN):
        frame = frame.f_back
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}" if frame is not None else "an unknown line"


def _join(places: Sequence[str], most: int = 3) -> str:
    rest = len(places) - most
    return ", ".join(places[:most]) + (f" and {plural(rest, 'other line')}" if rest > 0 else "")
