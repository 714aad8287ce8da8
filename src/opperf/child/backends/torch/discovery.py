"""PyTorch's operators outside the neutral catalog: those of OpInfo, and those of ATen that its samples reach.

A case of each is made from its samples: the largest that can be written as a case and runs with values drawn anew. It
is scaled up from there, for PyTorch's samples are of a few elements. Names are as in `opinfo.py`, `aten::add.Tensor`
for what is below.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any

import torch

from opperf.child.backends.torch import functions, layers, opinfo
from opperf.child.backends.torch.scaling import ScaledCase, cost, scale_case
from opperf.child.backends.torch.specs import NoDescription, called_with, case_of, describe_row, parameters_of
from opperf.domain.backend import Unsupported
from opperf.domain.case import Case, map_tensors
from opperf.domain.dataclass import dataclass
from opperf.domain.tensor import TensorSpec

#: Elements of the largest tensor at each size; the small one is the sample as it is, or hardly larger.
ELEMENTS = {"small": 64, "common": 1 << 16, "large": 1 << 20}
#: The most samples of an operator to scale up, the largest first, until one has as many elements.
MOST_TRIES = 3


@dataclass(frozen=True, eq=False)
class Example(Case):
    """A case, and by which factor it is larger than the sample that it is made from."""

    scale: int = 1


def paths(device: str) -> list[str]:
    """Return every operator of OpInfo, and every ATen operator that its samples opinfo."""
    return [*opinfo.names(), *opinfo.index(device)]


def resolve(path: str, device: str) -> Callable[..., Any]:
    """Return the function of an operator of OpInfo; raises `LookupError`, and `Unsupported` where no case can be one.

    The operators of one function that differ in their samples are different operators, and a function of each.
    """
    opinfo.info_at(path)
    name = path.removeprefix(opinfo.PREFIX)
    _describe_samples(name, device)
    return _function(name)


@cache
def _function(name: str) -> Callable[..., Any]:
    info = opinfo.database()[name]
    function: Callable[..., Any] = partial(info.op) if info.variant_test_name else info.op
    return function


def examples(path: str, size: str, device: str) -> list[Case]:
    """Return a case of an operator that has samples; none for another, a layer, or a size that is not known here."""
    if size not in ELEMENTS or layers.maker(path) is not None:
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        examples_of_path = (
            _of_aten(path, size, device) if path.startswith("aten::") else _of_function(path, size, device)
        )
    return [] if examples_of_path is None else [examples_of_path]


def _of_function(path: str, size: str, device: str) -> Example | None:
    """Return the case of an OpInfo, or of the first one that calls the function at a path."""
    name = path.removeprefix(opinfo.PREFIX)
    if not path.startswith(opinfo.PREFIX):
        function = functions.resolve(path)
        name = next((own for own, info in opinfo.database().items() if info.op is function), "")
    sample = _sample(name, size, device)
    return None if sample is None else _example(path, sample.case, sample.factor)


def _of_aten(path: str, size: str, device: str) -> Example | None:
    """Return the case in which samples reach an ATen operator, those of its own OpInfo first."""
    overload = functions.overload(path)
    full = f"aten::{overload.overloadpacket.__name__}.{overload._overloadname}"
    where = opinfo.index(device).get(full)
    if where is None:
        return _compose(path, overload.overloadpacket.__name__, size, device)
    case, scale = _case_within(full, where, size, device)
    if overload._schema.is_mutable:  # it writes into its inputs, which a tensor with a gradient does not allow
        case = replace(case, inputs={name: map_tensors(value, _detach) for name, value in case.inputs.items()})
    return _example(path, case, scale)


def _case_within(full: str, where: opinfo.Where, size: str, device: str) -> tuple[Case, int]:
    """Return the case of an ATen operator as it is called within a scaled case of an OpInfo, else within its sample.

    ATen's operators check their inputs less than the functions that call them, some not at all: they are never called
    with inputs that no function made for them.
    """
    function = opinfo.database()[where.name].op
    outer = _scale(where.name, where.sample, size, device)
    if outer is not None:
        with opinfo.use_seed():
            case = opinfo.first_case(full, function, *called_with(outer.case, device, gradients=True))
        if case is not None:
            return case, outer.factor
    sample = opinfo.samples(where.name, device)[where.sample]
    with opinfo.use_seed():
        case = opinfo.first_case(full, function, (sample.input, *sample.args), sample.kwargs)
    return (Case(f"torch:{full}") if case is None else case), 1


def _compose(path: str, packet: str, size: str, device: str) -> Example | None:
    """Return the case of the OpInfo of an operator that PyTorch composes of others, where the operator takes it."""
    name = next((own for own, info in opinfo.database().items() if info.aten_name == packet), "")
    sample = _sample(name, size, device)
    if sample is None or cost(functions.resolve(path), sample.case, device) is None:
        return None
    return _example(path, sample.case, sample.factor)


def _example(path: str, case: Case, scale: int) -> Example:
    return Example(f"torch:{path}", case.inputs, case.attributes, scale)


def _sample(name: str, size: str, device: str) -> ScaledCase | None:
    """Return the scaled case of an OpInfo's best sample; one without inputs where no case can hold any."""
    if name not in opinfo.database():
        return None
    try:
        cases = _describe_samples(name, device)
    except Unsupported:  # its trial says so
        return ScaledCase(Case(f"torch:{opinfo.PREFIX}{name}"))
    function = opinfo.database()[name].op
    with opinfo.use_seed():
        costs = {number: cost(function, case, device) for number, case in cases.items()}
    sizes = {number: example.elements for number, example in costs.items() if example is not None}
    likely = sorted(sizes or cases, key=lambda number: -sizes.get(number, 0))
    best: ScaledCase | None = None
    for number in likely[:MOST_TRIES]:
        example = _scale(name, number, size, device)
        if example is not None and (best is None or example.cost.elements > best.cost.elements):
            best = example
        if best is not None and best.cost.elements >= ELEMENTS[size]:
            break
    return best


@cache
def _scale(name: str, number: int, size: str, device: str) -> ScaledCase | None:
    """Return the scaled case of one sample of an OpInfo; None where no case can hold it."""
    try:
        case = _describe_samples(name, device)[number]
    except (Unsupported, KeyError):
        return None
    with opinfo.use_seed():
        return scale_case(opinfo.database()[name].op, case, ELEMENTS[size], device)


@cache
def _describe_samples(name: str, device: str) -> Mapping[int, Case]:
    """Return the samples of an OpInfo that a case can hold, by number; raises `Unsupported` where there is none."""
    info = opinfo.database()[name]
    arguments, what = {}, "it has none with elements"
    schemas = torch._C._jit_get_schemas_for_operator(f"aten::{info.aten_name}")
    adding_up = name in opinfo.ADDING_UP
    for number, sample in enumerate(opinfo.samples(name, device)):
        if adding_up and sample.kwargs.get(opinfo.UNSAFE):
            continue
        args = (sample.input, *sample.args)
        parameters = parameters_of(info.op, args, sample.kwargs, schemas)
        try:
            arguments[number] = case_of(
                f"torch:{opinfo.PREFIX}{name}", parameters, args, sample.kwargs, describe_row if adding_up else None
            )
        except NoDescription as error:
            what = str(error)
    if not arguments:
        raise Unsupported(f"no case can hold the samples of `{name}`: {what}", slug="no_sample")
    return arguments


def _detach(tensor: TensorSpec) -> TensorSpec:
    return replace(tensor, requires_grad=False)
