"""What problems in the formats of others need of PyTorch: how their inputs are made, models without memory, weights.

A problem makes its inputs by itself. To draw fresh ones, opperf has to know how: `Origins` watches the functions that
make tensors. What one of them made, and nothing changed since, opperf can draw anew by itself.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from opperf.child.backends.torch.specs import DTYPES, NAMES
from opperf.domain.errors import InputError
from opperf.domain.problem import WrongWeights
from opperf.domain.tensor import TensorSpec

#: Functions that make a tensor of values that a description can say.
UNIT, NORMAL = ("rand", "rand_like"), ("randn", "randn_like")
WHOLE, EMPTY = ("randint", "randint_like"), ("empty", "empty_like", "new_empty", "empty_strided")
FILLED = {"zeros": "zeros", "zeros_like": "zeros", "ones": "ones", "ones_like": "ones"}
#: Functions whose result has the values of the tensor that they are called with, in the same order.
SAME_VALUES = frozenset(
    ("contiguous", "to", "cpu", "cuda", "detach", "requires_grad_", "reshape", "view", "unsqueeze", "clone")
)
#: By how much a parameter that is the same number everywhere is varied: a scale of 1 that nobody multiplies by is seen.
VARIATION = 0.25


class Origins(TorchFunctionMode):  # type: ignore[misc]  # PyTorch is not installed here
    """Watches how tensors are made, for as long as it is entered."""

    def __init__(self) -> None:
        super().__init__()
        #: By identity: the tensor, so that no other gets its identity, and the values that it was made with.
        self._tensors: dict[int, tuple[torch.Tensor, tuple[str, tuple[float, float] | None] | None]] = {}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call the function, and note what its result is made of."""
        keywords = kwargs or {}
        result = func(*args, **keywords)
        name = getattr(func, "__name__", "")
        if isinstance(result, torch.Tensor):
            self._tensors[id(result)] = (result, self._values(name, args, keywords, result))
        elif result is None and args and isinstance(args[0], torch.Tensor):  # `x[0] = 1`
            self._tensors[id(args[0])] = (args[0], None)
        return result

    def _values(
        self, name: str, args: Any, keywords: Mapping[str, Any], result: torch.Tensor
    ) -> tuple[str, tuple[float, float] | None] | None:
        if name in UNIT:
            return "uniform", (0.0, 1.0)
        if name in NORMAL:
            return "normal", None
        if name in EMPTY:
            return "empty", None
        if name in FILLED:
            return FILLED[name], None
        if name in WHOLE:
            bounds = [value for value in args if type(value) is int][:2]
            bounds = [keywords["low"], *bounds] if "low" in keywords else bounds
            bounds = [*bounds, keywords["high"]] if "high" in keywords else bounds
            low, high = (0, *bounds)[-2:]
            return "uniform", (float(low), float(high))
        if name in SAME_VALUES and args and isinstance(args[0], torch.Tensor):
            same_kind = args[0].dtype.is_floating_point == result.dtype.is_floating_point
            return self._tensors.get(id(args[0]), (None, None))[1] if same_kind else None
        return None

    def description(self, tensor: torch.Tensor) -> TensorSpec | None:
        """Return the description by which opperf draws such a tensor; None for values that are made in another way."""
        values = self._tensors.get(id(tensor), (None, None))[1]
        if values is None or not tensor.is_contiguous():
            return None
        distribution, bounds = values
        return replace(shape_of(tensor), values="zeros" if distribution == "empty" else distribution, range=bounds)

    def is_empty(self, tensor: torch.Tensor) -> bool:
        """Whether nothing was written into a tensor yet: it waits for a result."""
        return self._tensors.get(id(tensor), (None, None))[1] == ("empty", None)


def shape_of(tensor: torch.Tensor) -> TensorSpec:
    """Return shape and type of a tensor, one without memory too; raises `InputError`."""
    if tensor.dtype not in NAMES or tensor.layout != torch.strided:
        raise InputError(
            f"an input is a tensor of {tensor.dtype}, {tensor.layout}", hint="opperf knows no such tensors"
        )
    return TensorSpec(tuple(tensor.shape), NAMES[tensor.dtype])


def is_tensor(value: object) -> bool:
    """Whether a value is a tensor."""
    return isinstance(value, torch.Tensor)


def is_module(value: object) -> bool:
    """Whether a value is a module, which may have weights."""
    return isinstance(value, torch.nn.Module)


def without_memory() -> Any:
    """Return a context in which tensors have shapes and no elements, and models cost nothing."""
    return torch.device("meta")


class TooLong(Exception):
    """What was computed takes longer than anyone waits."""


class _Limit(TorchDispatchMode):  # type: ignore[misc]  # as above
    """Looks at the clock before each operator."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._end = time.process_time() + seconds

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call the operator while there is time."""
        if time.process_time() > self._end:
            raise TooLong
        return func(*args, **(kwargs or {}))


def limited(seconds: float) -> Any:
    """Return a context in which `TooLong` is raised after seconds of CPU time."""
    shape = torch.empty(1, device="meta")
    shape.add(shape)  # PyTorch imports what computes shapes at the first one: a second that is not the problem's
    return _Limit(seconds)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Set every generator that a problem may draw from; that of the process is as before afterwards."""
    numpy = sys.modules.get("numpy")
    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        torch.manual_seed(seed)
        random.seed(seed)
        if numpy is not None:
            numpy.random.seed(seed % (1 << 32))
        yield


def device(name: str) -> torch.device:
    """Return a device as PyTorch has it."""
    return torch.device(name)


def has_gpu() -> bool:
    """Whether PyTorch can use a GPU."""
    return bool(torch.cuda.is_available())


def call_without_gradients(function: Any, *arguments: Any) -> Any:
    """Call a function while no graph is recorded."""
    with torch.no_grad():
        return function(*arguments)


def settle(module: torch.nn.Module, dtype: str | None, device: str) -> torch.nn.Module:
    """Return a module on a device, in a type, whose calls record no graph."""
    module.requires_grad_(False)
    return module.to(device=device, dtype=None if dtype is None else DTYPES[dtype])


def state_bytes(module: torch.nn.Module) -> int:
    """Return the bytes of a module's weights."""
    return sum(value.numel() * value.element_size() for value in module.state_dict().values())


def vary(module: torch.nn.Module) -> list[str]:
    """Vary the parameters that are one number everywhere, and return their names."""
    names = []
    for name, value in module.named_parameters():
        if value.numel() > 1 and value.is_floating_point() and bool((value == value.flatten()[0]).all()):
            with torch.no_grad():
                value.add_(torch.rand_like(value) * (2 * VARIATION) - VARIATION)
            names.append(name)
    return names


def copy_state(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Return a copy of a module's weights, by name."""
    return {name: value.detach().clone() for name, value in module.state_dict().items()}


def load_state(module: torch.nn.Module, weights: Mapping[str, torch.Tensor]) -> None:
    """Put weights into a module; raises `InputError` where names, shapes or types are not the same."""
    state = module.state_dict()
    wrong = [f"has no `{name}`" for name in weights if name not in state]
    wrong += [f"has `{name}`, which the reference has not" for name in state if name not in weights]
    for name in state.keys() & weights.keys():
        pair = [(tuple(value.shape), str(value.dtype)) for value in (state[name], weights[name])]
        if pair[0] != pair[1]:
            texts = [f"{list(shape)} of {dtype.removeprefix('torch.')}" for shape, dtype in pair]
            wrong.append(f"has `{name}` of {texts[0]}, expected {texts[1]}")
    if wrong:
        more = f" and {len(wrong) - 4} more" if len(wrong) > 4 else ""
        raise WrongWeights(
            f"the candidate {', '.join(sorted(wrong)[:4])}{more}",
            hint="weights are loaded by name: give the candidate the names and shapes of the reference's",
        )
    module.load_state_dict(dict(weights), strict=True)


def allocate(spec: TensorSpec, device: str) -> torch.Tensor:
    """Return a tensor to write a result into."""
    return torch.empty(spec.shape, dtype=DTYPES[spec.dtype], device=device)


def operator(name: str) -> Any:
    """Return an operator of ATen by its name and overload, `add.Tensor`; raises `InputError`."""
    base, _, overload = name.partition(".")
    packet = getattr(torch.ops.aten, base, None)
    if packet is None or (overload and overload not in packet.overloads()):
        raise InputError(f"PyTorch {torch.__version__} has no operator `aten::{name}`", slug="unknown_operator")
    return getattr(packet, overload or "default", packet)
