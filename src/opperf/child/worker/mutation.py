"""Inputs that a call changes: found out by what they hold before and after it, and put back.

Some are declared, by the catalog, by an operator's schema or by its author; of all others a digest is kept. Lists and
dictionaries are looked into. What is neither a tensor nor one of those tells nothing, and is left as it is.

To put something back takes no time that counts, but moves the inputs out of the caches. An array that calls only write
their result into need not be: whatever it held, the same is there afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from typing import Any

from opperf.child.worker.inputs import of_elements
from opperf.domain.backend import Backend, Unsupported
from opperf.domain.call import Bound
from opperf.domain.tensor import TensorSpec

#: What stands somewhere among the arguments, and the digest of its elements, None where nothing tells them.
Content = tuple[object, object]
#: Where something stands: the name of an input, and its number in a walk through that.
Place = tuple[str, int]
#: A call that takes longer, in nanoseconds, loses little to the copies.
LONG_CALL = 50_000_000

#: What has no elements of its own: containers, which are walked through, and what nothing can change.
PLAIN = (list, tuple, dict, str, bytes, int, float, complex, type(None))


class Changed(Unsupported):
    """Calls have changed inputs that are not put back; where it happens late, the trial is skipped."""

    def __init__(self, names: Collection[str]) -> None:
        listing, declared = ", ".join(f"`{name}`" for name in names), ", ".join(f'"{name}"' for name in names)
        super().__init__(
            f"some call changed {listing}, which the first ones left as it was: not every call had the same inputs",
            slug="mutates",
            hint=f"declare that of your own function: `@opperf.operator(mutates=[{declared}])`",
        )
        self.names = names


class Watch:
    """What the inputs of a call hold now, but for those that are put back before each call or `overwritten` by it."""

    def __init__(self, backend: Backend, bound: Bound, overwritten: Collection[Place] = ()) -> None:
        self._backend, self._overwritten = backend, overwritten
        self._values = {name: value for name, value in bound.inputs.items() if name not in bound.mutated}
        self.turns = 0
        self.look()

    def changed(self) -> tuple[str, ...]:
        """Return the names of the inputs that hold something else by now."""
        return tuple(name for name in self._values if _differ(self._contents[name], self._look(name)))

    def look(self) -> None:
        """Take what the inputs hold now for what they should hold."""
        self._contents = {name: self._look(name) for name in self._values}

    def check(self) -> None:
        """Raise `Changed` where there are any."""
        if names := self.changed():
            raise Changed(names)

    def _look(self, name: str) -> list[Content]:
        parts = enumerate(_walk(self._values[name]))
        return [(part, None if (name, k) in self._overwritten else _digest(self._backend, part)) for k, part in parts]


def overwritten(backend: Backend, bound: Bound, names: Collection[str], call: Callable[[], object]) -> set[Place]:
    """Return the places of what each call writes over, whatever was there: all that it changes of inputs, or none.

    Calls are made on what the last one left, and on tensors whose elements are all one that stood there before a call,
    or after one: sorting, adding and clipping in place each tell by one of these. Elements of their own keep an array
    of places within bounds. What cannot be told is to be put back. The inputs are of no use afterwards.
    """
    parts = {(name, k): part for name in names for k, part in enumerate(_walk(bound.inputs[name]))}
    before, restore = {place: _digest(backend, part) for place, part in parts.items()}, remember(backend, bound, names)

    def outcome() -> list[object]:
        result = call()
        backend.wait([result])
        return [_digest(backend, result), *(_digest(backend, part) for part in parts.values())]

    with suppress(Exception):  # what one call has left another may not take
        start = backend.clock.wall()
        expected = outcome()
        changed = {place: part for (place, part), after in zip(parts.items(), expected[1:]) if after != before[place]}
        if None in (before[place] for place in changed) or backend.clock.wall() - start > LONG_CALL:
            return set()
        leaves = [leaf for part in changed.values() for leaf in backend.leaves(part)]
        later = _levels(backend, leaves, -1)
        restore()
        levels = (lambda: None, _levels(backend, leaves, 0), later)
        if changed and all(_is_left(level, outcome, expected) for level in levels):
            return set(changed)
    return set()


def _is_left(level: Callable[[], None], outcome: Callable[[], list[object]], expected: list[object]) -> bool:
    level()
    return outcome() == expected


def _levels(backend: Backend, leaves: Sequence[Any], index: int) -> Callable[[], None]:
    """Return a function that gives all elements of each tensor the value that one of them has now, by its index."""
    pools = []
    for leaf in leaves:
        raw, shape, dtype = backend.to_host(leaf)
        count = math.prod(shape)
        size = len(raw) // count
        pools.append(of_elements(backend, TensorSpec((count,), dtype), bytearray(raw[index * size :][:size] * count)))

    def level() -> None:
        for leaf, pool in zip(leaves, pools):
            backend.refill(leaf, pool, 0)

    return level


def remember(backend: Backend, bound: Bound, names: Collection[str]) -> Callable[[], None]:
    """Remember what some inputs of a call hold, and return what puts it back."""
    parts = [part for name in names for part in _walk(bound.inputs[name])]
    containers = [(part, part.copy()) for part in parts if isinstance(part, (list, dict))]
    tensors = [leaf for part in parts if not isinstance(part, (list, tuple, dict)) for leaf in backend.leaves(part)]
    restore_tensors = backend.snapshot(tensors) if tensors else lambda: None

    def restore() -> None:
        for container, content in containers:
            container.clear()
            container.extend(content) if isinstance(container, list) else container.update(content)
        restore_tensors()

    return restore


def keep(backend: Backend, bound: Bound) -> Callable[[], Bound]:
    """Return a maker of calls whose inputs cannot be made again, each time with the values that they hold now."""
    restore = remember(backend, bound, tuple(bound.inputs))

    def bind() -> Bound:
        restore()
        return bound

    return bind


def _digest(backend: Backend, value: object) -> object:
    """Return a mark of the elements of a tensor; None for anything else, and where the framework fails at it."""
    if isinstance(value, PLAIN):
        return None
    with suppress(Exception):
        return tuple(backend.digest(leaf) for leaf in backend.leaves(value)) or None
    return None


def _walk(value: object) -> Iterator[Any]:
    """Return a value, and all that stands in it where it is a list, a tuple or a dictionary."""
    yield value
    if isinstance(value, (list, tuple, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _walk(item)


def _differ(before: list[Content], after: list[Content]) -> bool:
    """Whether other values stand there, or a tensor has other elements."""
    if len(before) != len(after):
        return True
    pairs = zip(before, after)
    return any(
        old is not new or (digest != again and None not in (digest, again)) for (old, digest), (new, again) in pairs
    )
