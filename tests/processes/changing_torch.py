"""Calls every overload of ATen that writes into its arguments, as far as arguments for it can be found.

Each is called with inputs that no other call has touched: by its schema, and where only a digest tells what it writes.
"""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from typing import Any

import torch
from torch.utils._pytree import tree_map

from opperf.child.backends.torch import contents, opinfo
from opperf.child.backends.torch.functions import Watch, is_refused
from opperf.child.backends.torch.runtime import TorchBackend
from opperf.child.backends.torch.specs import tensors
from opperf.child.measure.block import Block
from opperf.child.measure.disturbance import NoCounters
from opperf.child.worker.directions import ready
from opperf.child.worker.mutation import Changed
from opperf.domain.backend import Unsupported
from opperf.domain.call import Bound
from opperf.domain.plan import Side

#: Samples of each operator that are looked at.
SAMPLES = 4
#: How a schema marks a tensor that is written, or a list of them; those of Python's own lists are for TorchScript.
WRITES = re.compile(r"Tensor\([a-z]+!")
#: What another device or another thread must have begun.
LEFT_OUT = re.compile(r"record_stream|.*_mps.*|.*cudnn.*|.*miopen.*")
backend = TorchBackend(Side("torch"))


def overloads() -> Iterator[tuple[str, Any]]:
    """Return every overload of ATen that writes into a tensor by its schema, by its whole name."""
    for name in sorted({schema.name for schema in torch._C._jit_get_all_schemas() if schema.name.startswith("aten::")}):
        packet: Any = getattr(torch.ops.aten, name.removeprefix("aten::"), None)
        for overload in packet.overloads() if isinstance(packet, torch._ops.OpOverloadPacket) else ():
            function = getattr(packet, overload)
            if (
                WRITES.search(str(function._schema))
                and not is_refused(name)
                and not LEFT_OUT.fullmatch(packet.__name__)
            ):
                yield f"{name}.{overload}", function


def copy(value: Any) -> Any:
    """Return arguments that nothing else holds."""
    return tree_map(lambda one: one.detach().clone() if isinstance(one, torch.Tensor) else one, value)


def digests(arguments: Any) -> list[object]:
    """Return what tells all tensors among arguments."""
    return [contents.digest(tensor) for tensor in tensors(arguments)]


def calls_of(function: Any, args: Any, kwargs: Any) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Return the arguments of the overloads beside a function that write: into its input, or into an output."""
    given = {own.name: value for own, value in zip(function._schema.arguments, args)} | dict(kwargs)
    name = function.overloadpacket.__name__
    for packet in {name, f"{name}_"}:
        beside = getattr(torch.ops.aten, packet, None)
        for overload in beside.overloads() if isinstance(beside, torch._ops.OpOverloadPacket) else ():
            other = getattr(beside, overload)
            written = contents.written(other)
            missing = [own for own in other._schema.arguments if own.name not in given and not own.has_default_value()]
            if not written or any(own.name not in written for own in missing):
                continue
            more: dict[str, Any] = {}
            if missing:
                results = tensors(function(*copy(args), **copy(kwargs)))
                if len(results) != len(missing):
                    continue
                more = {own.name: torch.zeros_like(result) for own, result in zip(missing, results)}
            names = {own.name for own in other._schema.arguments}
            yield other, {key: value for key, value in (given | more).items() if key in names}


def seen(name: str) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Return the calls of what writes that the samples of an OpInfo lead to."""
    function = opinfo.database()[name].op
    for sample in opinfo.samples(name, "cpu")[:SAMPLES]:
        noted: list[tuple[Any, Any, Any]] = []

        def note(path: str, func: Any, args: Any, kwargs: Any, noted: list[Any] = noted) -> None:
            noted.append((func, copy(args), copy(kwargs)))

        with Watch(note), suppress(Exception):  # what it reached until then was called
            function(sample.input, *sample.args, **sample.kwargs)
        for func, args, kwargs in noted:
            if not func._schema.name.startswith("aten::"):
                continue
            if "!" in str(func._schema):
                yield func, {own.name: value for own, value in zip(func._schema.arguments, args)} | dict(kwargs)
            try:
                yield from calls_of(func, args, kwargs)
            except Exception:  # it does not take its own arguments again
                continue


#: What a parameter of each type gets where no sample says; tensors are square, or lists of two.
BY_TYPE = {
    "number": 0.5, "float": 0.5, "int": 1, "SymInt": 1, "bool": False, "List[number]": [0.5, 0.25], "List[int]": [4, 4],
    "List[float]": [0.5, 0.25], "str": "none",
}  # fmt: skip


def filled(function: Any, dtype: torch.dtype) -> dict[str, Any]:
    """Return arguments for an overload by the types of its parameters; raises `KeyError` for a type without a value."""

    def tensor(place: int) -> Any:
        elements = torch.arange(16 * place + 1, 16 * place + 17).reshape(4, 4)
        return elements / 64 if dtype.is_floating_point else (elements % 3).to(dtype)

    result: dict[str, Any] = {}
    for place, own in enumerate(function._schema.arguments):
        kind = str(own.type)
        if own.has_default_value() or kind.startswith("Optional"):
            continue
        if kind == "Tensor":
            result[own.name] = tensor(place)
        elif kind == "List[Tensor]":
            result[own.name] = [tensor(place), tensor(place + 1)]
        else:
            result[own.name] = BY_TYPE[kind]
    return result


def guessed(function: Any) -> Iterator[dict[str, Any]]:
    """Return arguments that a function may take. Internal ones do not check them, so it gets none."""
    if function.overloadpacket.__name__.startswith("_") and "_foreach_" not in function.overloadpacket.__name__:
        return
    for dtype in (torch.float32, torch.int64, torch.bool):
        try:
            yield filled(function, dtype)
        except KeyError:
            return


def sampled() -> Iterator[tuple[Any, dict[str, Any]]]:
    """Return the calls that all of PyTorch's samples lead to."""
    for name in opinfo.database():
        with suppress(Unsupported):
            yield from seen(name)


def steady(function: Any, values: dict[str, Any], mutated: tuple[str, ...]) -> bool:
    """Whether calls that are made as a trial makes them all get what the first one got."""
    keywords = {own.name for own in function._schema.arguments if own.kwarg_only}
    found: list[list[object]] = []

    def call(*args: Any, **kwargs: Any) -> Any:
        found.append(digests((args, kwargs)))
        return function(*args, **kwargs)

    def bind() -> Bound:
        fresh = copy(values)
        places = tuple(fresh[own.name] for own in function._schema.arguments if own.name in fresh.keys() - keywords)
        return Bound(
            call,
            places,
            {name: value for name, value in fresh.items() if name in keywords},
            values=fresh,
            mutated=tuple(name for name in mutated if fresh.get(name) is not None),
        )

    sound = ready(backend, bind, "forward", None, "0", random=True)
    block = Block(sound.work, backend, NoCounters())
    with block.scope():
        block.sample(3)
    sound.check()
    return all(one == found[0] for one in found)


def main() -> dict[str, object]:
    """Return what was called, and which of it got other inputs at some call."""
    every = dict(overloads())
    unmarked = []
    for name, function in every.items():
        marked = re.findall(r"\([a-z]+!\)\??(?:\[\d*\])?\??\s(\w+)", str(function._schema).rpartition("->")[0])
        if marked != contents.written(function):
            unmarked.append(name)
    called: set[str] = set()
    wrong: list[str] = []
    for function, values in chain(sampled(), ((one, values) for one in every.values() for values in guessed(one))):
        path = f"aten::{function.overloadpacket.__name__}.{function._overloadname}"
        if path in called or path not in every:
            continue
        try:
            function(**copy(values))
        except Exception:  # what another overload takes need not be for this one
            continue
        called.add(path)
        for kind, mutated in (("schema", contents.written(function)), ("digest", [])):
            try:
                if not steady(function, values, tuple(mutated)):
                    wrong.append(f"{path} by {kind}")
            except Changed:
                if kind == "schema":
                    wrong.append(f"{path} by {kind}: refused")
    return {"overloads": len(every), "called": len(called), "unmarked": unmarked, "wrong": wrong}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    json.dump(main(), sys.stdout)
