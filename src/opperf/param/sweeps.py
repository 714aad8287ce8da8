"""From arguments with ranges to arguments without: every combination, the last range going fastest."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, TypeAlias, Union

from opperf.domain.dataclass import dataclass
from opperf.param.arguments import copy_of
from opperf.param.config import Entry, Spec
from opperf.param.grammar import COPY, LIST, LOG2, RANGE, ZIP

#: The path of a value in a spec, such as `("args", 0, "shape", 1)`.
Path: TypeAlias = tuple[Union[str, int], ...]
#: A share of a step by which the end of a range of real numbers may be missed: 0.1 + 0.2 is not 0.3.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Steps:
    """The values of a range, made on demand: `low`, then each larger by `step`, or `doubling`."""

    low: float
    step: float
    count: int
    doubling: bool = False

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, place: int) -> float:
        if not 0 <= place < self.count:
            raise IndexError(place)
        return self.low * 2**place if self.doubling else self.low + place * self.step


@dataclass(frozen=True)
class Axis:
    """Something that is swept: where, through which values, and the name of those that go on together with it."""

    path: Path
    values: Sequence[object] | Steps
    group: str | None = None


class TooMany(Exception):
    """A range with too many values to go through."""


def axes(spec: Spec) -> list[Axis]:
    """Return the axes that a spec sweeps, in order; raises `TooMany`."""
    swept: list[Axis] = []
    for i, argument in enumerate(spec.args):
        swept += _axes(argument, ("args", i), None)
    for name, argument in (spec.kwargs or {}).items():
        swept += _axes(argument, ("kwargs", name), None)
    return swept


def together(swept_axes: Sequence[Axis]) -> list[list[Axis]]:
    """Return axes sorted by group, each group at the place of its first axis."""
    groups: dict[object, list[Axis]] = {}
    for i, axis in enumerate(swept_axes):
        groups.setdefault(i if axis.group is None else axis.group, []).append(axis)
    return list(groups.values())


def uneven(axes_swept: Sequence[Axis]) -> str | None:
    """Return the name of a group whose sweeps are not equally long."""
    for group in together(axes_swept):
        if len({len(axis.values) for axis in group}) > 1:
            return group[0].group
    return None


def size(axes_of_spec: Sequence[Axis]) -> int:
    """Return how many combinations there are."""
    return math.prod(len(group[0].values) for group in together(axes_of_spec))


def combinations(spec: Spec) -> Iterator[Spec]:
    """Yield the spec with each combination of what it sweeps."""
    groups = together(axes(spec))
    for places in product(*(range(len(group[0].values)) for group in groups)):
        point: Any = {"args": spec.args, "kwargs": spec.kwargs or {}}
        for group, place in zip(groups, places):
            for axis in group:
                point = _replace_at(point, axis.path, axis.values[place])
        yield replace(spec, args=_copy(point["args"]), kwargs=point["kwargs"])


def _axes(argument: Mapping[str, Any], path: Path, group: str | None) -> Iterator[Axis]:
    group = argument.get(ZIP, group)
    bounds, lists = argument.get(RANGE, ()), argument.get(LIST, ())
    for name, value in argument.items():
        if name in lists:
            yield Axis((*path, name), value, group)
        elif name in bounds and name == "shape":
            ranges = ((i, one) for i, one in enumerate(value) if isinstance(one, list))
            yield from (Axis((*path, name, i), _values(one), group) for i, one in ranges)
        elif name in bounds and argument["type"] in ("genericlist", "tuple"):
            for i, inner in enumerate(value):
                yield from _axes(inner, (*path, name, i), group)
        elif name in bounds:
            plain = argument["type"] in ("int", "long", "float", "double")
            yield Axis((*path, name), _values(value) if plain else value, group)


def _values(bounds: Sequence[Any]) -> Sequence[Any] | Steps:
    """Return the values of `[min, max, step]`, both ends among them."""
    low, high = bounds[0], bounds[1]
    step = bounds[2] if len(bounds) == 3 else 1
    if step == LOG2:
        return Steps(low, 1, math.floor(math.log2(high) - math.log2(low) + ROUNDING) + 1, doubling=True)
    if all(isinstance(number, int) for number in (low, high, step)):
        return range(low, high + 1, step)
    count = (high - low) / step + ROUNDING
    if not count < 1e9:
        raise TooMany
    return Steps(low, step, math.floor(count) + 1)


def _replace_at(container: Any, path: Path, value: Any) -> Any:
    """Return a container with another value at a path, copied along the way there."""
    if not path:
        return value
    copy: Any = dict(container) if isinstance(container, Mapping) else list(container)
    copy[path[0]] = _replace_at(container[path[0]], path[1:], value)
    return copy


def _copy(args: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Return arguments with every `__copy__` followed, from left to right."""
    for i, argument in enumerate(args):
        for copy in argument.get(COPY, ()):
            reference = copy_of(copy)
            if reference is not None:
                dimension, source, other = reference
                args = _replace_at(args, (i, "shape", dimension), args[source]["shape"][other])
    return args


def arguments_of(spec: Spec) -> dict[str, object]:
    """Return the arguments of a spec as a config writes them, without what swept them."""
    return {"args": plain(spec.args), "kwargs": plain(spec.kwargs or {})}


def as_swept(spec: Spec) -> Spec:
    """Return a member of a sweep as PARAM writes one: an entry of what it is called with, and of nothing else."""
    return replace(spec, raw={name: value for name, value in arguments_of(spec).items() if value})


def entry_of(spec: Spec) -> dict[str, object]:
    """Return a spec as a data generator gets it: an entry of `build` or `input`."""
    return {**spec.more, **arguments_of(spec)}


def in_line(entry: Entry, build: Spec | None, call: Spec, *, bags: bool) -> dict[str, object]:
    """Return PARAM's description of a case beside its times: what the file has, and nothing that it leaves out.

    A build that says nothing is there as the file writes it. What goes through the inputs of embedding bags repeats of
    their build what their data depend on.
    """
    built = plain(entry.raw.get("build")) if build is None else _as_written(build)
    if bags and build is not None and entry.swept[1]:
        args = [*build.args[:3], *call.args, *build.args[4:6]]
        return {"build": built, "input": {"args": plain(args), "kwargs": {}}}
    return {"build": built, "input": _as_written(call)}


def _as_written(spec: Spec) -> dict[str, object]:
    arguments = arguments_of(spec)
    return {name: arguments.get(name, plain(value)) for name, value in spec.raw.items()}


def plain(value: object) -> object:
    """Return a value of a config without what swept it; JSON has no word for infinities and NaN."""
    if isinstance(value, Mapping):
        return {name: plain(inner) for name, inner in value.items() if name not in (RANGE, LIST, COPY, ZIP)}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(inner) for inner in value]
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value
