"""From PyTorch's values to the arguments of a case, and back to values of the same kind.

A case says of a tensor its shape, element type and which values it is drawn from, not the values themselves: bounds are
those that were seen, whole numbers that were seen to rise are sorted, and matrices that were positive definite are so
again. `called_with` draws values by the same description, to see whether a function takes them.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from opperf.child.backends.torch import quantization
from opperf.domain.case import Argument, Case, Device, DType, ListOf, tensors_of
from opperf.domain.dataclass import dataclass
from opperf.domain.tensor import FLOAT8, ITEM_SIZES, SPD, TensorSpec

#: What this PyTorch has of the element types that opperf knows; older ones lack those of eight bits, and unsigned ones.
DTYPES = {name: getattr(torch, name) for name in ITEM_SIZES if hasattr(torch, name)}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
#: What holds the elements of types that PyTorch stores and hardly computes in.
COMPUTE_TYPES = {
    DTYPES[name]: wide
    for name, wide in (
        *((name, torch.float32) for name in FLOAT8), ("complex32", torch.complex64), ("uint16", torch.int32),
        ("uint32", torch.int64), ("uint64", torch.int64),
    )
    if name in DTYPES
}  # fmt: skip
#: The decimals to which bounds are rounded, inward: enough for any domain, and the same on every machine.
DECIMALS = 1000
#: Elements of a symmetric matrix differ by so much from those across its diagonal, after a product in float32.
UNEVEN = 1e-5
#: Keywords with their default values.
PLAIN = (torch.strided, torch.preserve_format, torch.contiguous_format)


class NoDescription(Exception):
    """A value that no case can hold; the message says what it is."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a function, as far as a call needs it; an `unnamed` one goes by place alone."""

    name: str
    default: Any = inspect.Parameter.empty
    keyword_only: bool = False
    unnamed: bool = False


def case_of(
    operator: str,
    parameters: Sequence[Parameter],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    tensor: Callable[[torch.Tensor], TensorSpec] | None = None,
) -> Case:
    """Return the case of a call: its inputs go by place, up to the last that holds tensors or can go by place alone.

    `tensor` describes a tensor, in place of `spec`. Raises `NoDescription`.
    """
    places = [parameter for parameter in parameters if not parameter.keyword_only]
    arguments = {**{place.name: value for place, value in zip(places, args)}, **kwargs}
    specs = {name: argument(value, tensor) for name, value in arguments.items() if not _plain(value)}
    by_place = [i for i, own in enumerate(places) if own.unnamed or _holds_tensors(specs.get(own.name))]
    inputs = {}
    for place in places[: max(by_place, default=-1) + 1]:
        if place.name not in arguments and place.default is inspect.Parameter.empty:
            raise NoDescription(f"a call without `{place.name}`")
        inputs[place.name] = specs[place.name] if place.name in specs else argument(place.default)
    attributes = {name: value for name, value in specs.items() if name not in inputs}
    return Case(operator, inputs, attributes)


def parameters_of(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], schemas: Sequence[Any]
) -> list[Parameter]:
    """Return the parameters of a function that is called with values by place, and others by name.

    Functions in Python say what they are. For one that is built in, the names are those of the first of `schemas` that
    has tensors where the values are some, or else numbers; its values can only go by place, as the names may be others.
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    by_place = [own for own in parameters if own.kind is own.POSITIONAL_OR_KEYWORD]
    if len(by_place) >= len(args) and not any(own.kind is own.VAR_POSITIONAL for own in parameters):
        parameters_in_order = [*by_place, *(own for own in parameters if own.kind is own.KEYWORD_ONLY)]
        return [Parameter(own.name, own.default, own.kind is own.KEYWORD_ONLY) for own in parameters_in_order]
    fitting = (names for names in map(_place_names, schemas) if _fits(names, args))
    choices = ([name for name, _ in zip(names, args)] for names in fitting)
    free = next((names for names in choices if not {*names} & {*kwargs}), _number(len(args)))
    return [Parameter(name, unnamed=True) for name in free]


def _place_names(schema: Any) -> dict[str, bool]:
    """Return the names of a schema's places, and whether each holds tensors."""
    return {own.name: "Tensor" in str(own.type) for own in schema.arguments if not own.kwarg_only}


def _fits(names: Mapping[str, bool], args: Sequence[Any]) -> bool:
    return len(names) >= len(args) and all(own == bool(tensors(value)) for own, value in zip(names.values(), args))


def _number(count: int) -> list[str]:
    return [f"argument{i}" if i else "input" for i in range(count)]


def argument(value: Any, tensor: Callable[[torch.Tensor], TensorSpec] | None = None) -> Argument:
    """Return the argument that describes a value; raises `NoDescription`."""
    if quantization.is_quantized(value):
        try:
            return quantization.describe(value)
        except quantization.NotQuantized as error:
            raise NoDescription(str(error)) from error
    if isinstance(value, torch.Tensor):
        return (tensor or spec)(value)
    if isinstance(value, torch.dtype):
        if value not in NAMES:
            raise NoDescription(f"the element type {value}")
        return DType(NAMES[value])
    if isinstance(value, torch.device):
        return Device(str(value))
    if isinstance(value, list):
        return ListOf(tuple(argument(item, tensor) for item in value))
    if isinstance(value, tuple):
        return tuple(argument(item, tensor) for item in value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise NoDescription(f"a value of type `{type(value).__name__}`")


def spec(tensor: torch.Tensor) -> TensorSpec:
    """Return the description of a tensor; raises `NoDescription` for one that is not strided, or of an unknown type."""
    if tensor.is_nested:  # of the strided kind too, which has no shape to ask for
        raise NoDescription("a tensor that is nested")
    if tensor.layout != torch.strided or type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        raise NoDescription(f"a tensor that is {tensor.layout}".replace("torch.", ""))
    if tensor.dtype not in NAMES:
        raise NoDescription(f"a tensor of {tensor.dtype}")
    plain = to_compute_type(tensor.detach())
    definite = _definite(plain)
    fixed = (tensor.is_floating_point() or tensor.is_complex()) and not tensor.requires_grad
    return TensorSpec(
        tuple(tensor.shape),
        NAMES[tensor.dtype],
        strides=_strides(tensor),
        values=SPD if definite else "sorted" if _rises(plain) else "uniform",
        range=None if definite or tensor.is_complex() else _bounds(plain),
        requires_grad=False if fixed else None,
    )


def describe_row(tensor: torch.Tensor) -> TensorSpec:
    """Return the description of a tensor, a row of whole numbers with their values; raises `NoDescription` for rows."""
    result = spec(tensor)
    if result.is_float:
        return result
    if tensor.dim() != 1:
        raise NoDescription("integers in several rows, each with a fixed sum")
    return replace(result, literal=tuple(tensor.tolist()))


def called_with(case: Case, device: str, *, gradients: bool = False) -> tuple[list[Any], dict[str, Any]]:
    """Return values of the kinds that a case describes, by place and by name; those with gradients record them."""

    def value_of(spec: Argument) -> Any:
        if isinstance(spec, TensorSpec):
            tensor = _tensor(spec, device)
            return tensor.requires_grad_(gradients and spec.is_float and spec.requires_grad is not False)
        if isinstance(spec, ListOf):
            return [value_of(item) for item in spec.items]
        if isinstance(spec, tuple):
            return quantization.compose(tuple(value_of(item) for item in spec))
        if isinstance(spec, DType):
            return DTYPES[spec.name]
        return spec.name if isinstance(spec, Device) else spec

    return [value_of(value) for value in case.inputs.values()], {
        name: value_of(v) for name, v in case.attributes.items()
    }


def to_compute_type(tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor of the same elements in a type that PyTorch compares and adds."""
    return tensor.to(COMPUTE_TYPES.get(tensor.dtype, tensor.dtype))


def tensors(value: Any) -> list[torch.Tensor]:
    """Return the tensors in a value, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    return [leaf for item in value for leaf in tensors(item)] if isinstance(value, (tuple, list)) else []


def _plain(value: Any) -> bool:
    return isinstance(value, (torch.layout, torch.memory_format)) and value in PLAIN


def _holds_tensors(spec: Argument) -> bool:
    return any(True for _ in tensors_of(spec))


def _bounds(tensor: torch.Tensor) -> tuple[float, float] | None:
    """Return the bounds of the values seen; None for floats of either sign, which the default bounds are for."""
    if not tensor.is_floating_point():
        if not tensor.numel():
            return None
        least, most = (int(bound) for bound in tensor.to(torch.int64).aminmax())
        return float(least), float(most + 1)
    finite = tensor[torch.isfinite(tensor)].to(torch.float64)
    if not finite.numel():
        return None
    low, high = (float(bound) for bound in finite.aminmax())
    if low < 0 < high:
        return None
    inward = math.ceil(low * DECIMALS) / DECIMALS, math.floor(high * DECIMALS) / DECIMALS
    return inward if inward[0] < inward[1] else (low, high)


def _definite(tensor: torch.Tensor) -> bool:
    """Whether a tensor holds symmetric matrices, larger than one by one, that are positive definite."""
    if tensor.dim() < 2 or not tensor.numel() or not tensor.shape[-2] == tensor.shape[-1] > 1:
        return False
    if not (tensor.is_floating_point() or tensor.is_complex()):
        return False
    if not _even(tensor[..., 0, :], tensor[..., 0].conj()) or not _even(tensor, tensor.mH):  # most fail the first
        return False
    wide = tensor.to(torch.promote_types(tensor.dtype, torch.float64))
    return not bool(torch.linalg.cholesky_ex(wide).info.any())


def _even(one: torch.Tensor, other: torch.Tensor) -> bool:
    return bool(torch.allclose(one, other, rtol=UNEVEN, atol=UNEVEN))


def _rises(tensor: torch.Tensor) -> bool:
    whole = not (tensor.is_floating_point() or tensor.is_complex() or tensor.dtype == torch.bool)
    if not whole or tensor.dim() != 1 or len(tensor) < 2:
        return False
    return bool((tensor[1:] >= tensor[:-1]).all()) and bool(tensor[0] != tensor[-1])


def _strides(tensor: torch.Tensor) -> tuple[int, ...] | None:
    """Return the strides of a tensor whose dimensions are stored in another order; gaps are left out."""
    order = sorted(range(tensor.dim()), key=lambda i: -tensor.stride(i))
    dense, step = [0] * tensor.dim(), 1
    for i in reversed(order):
        dense[i] = step
        step *= tensor.shape[i]
    return tuple(dense) if tuple(dense) == tensor.stride() and not tensor.is_contiguous() else None


def _tensor(spec: TensorSpec, device: str) -> torch.Tensor:
    dtype = DTYPES[spec.dtype]
    low, high = spec.range or spec.default_range
    if spec.literal is not None:
        sample = torch.tensor(spec.literal, device=device).reshape(spec.shape)
    elif spec.values == SPD:
        lower = (torch.rand(spec.shape, device=device) * 2 - 1).tril(-1)
        sample = lower + lower.mT + spec.shape[-1] * torch.eye(spec.shape[-1], device=device)
    elif spec.values == "sorted":
        sample = torch.arange(spec.elements, device=device) * ((high - low) / spec.elements) + low
    elif spec.is_float:
        wide = COMPUTE_TYPES.get(dtype, dtype) if dtype.is_complex else torch.float32
        sample = torch.rand(spec.shape, dtype=wide, device=device) * (high - low) + low
    else:
        sample = torch.randint(int(low), max(int(low) + 1, int(high)), spec.shape, device=device)
    values = sample.to(dtype)
    if spec.strides is None:
        return values
    return torch.empty_strided(spec.shape, spec.strides, dtype=dtype, device=device).copy_(values)
