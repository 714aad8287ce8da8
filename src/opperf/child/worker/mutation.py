"""Inputs that a call changes: found out by what they hold before and after it, and put back.

Some are declared, by the catalog, by an operator's schema or by its author; of all others a digest is kept. Lists and
dictionaries are looked into. What is neither a tensor nor one of those tells nothing, and is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from typing import Any

from opperf.domain.backend import Backend, Unsupported
from opperf.domain.call import Bound

#: What stands somewhere among the arguments, and the digest of its elements, None where nothing tells them.
Content = tuple[object, object]

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
    """What the inputs of a call hold now, but for those that are put back before each call."""

    def __init__(self, backend: Backend, bound: Bound) -> None:
        self._backend = backend
        self._values = {name: value for name, value in bound.inputs.items() if name not in bound.mutated}
        self.turns = 0
        self.look()

    def changed(self) -> tuple[str, ...]:
        """Return the names of the inputs that hold something else by now."""
        return tuple(name for name, value in self._values.items() if _differ(self._contents[name], self._look(value)))

    def look(self) -> None:
        """Take what the inputs hold now for what they should hold."""
        self._contents = {name: self._look(value) for name, value in self._values.items()}

    def check(self) -> None:
        """Raise `Changed` where there are any."""
        if names := self.changed():
            raise Changed(names)

    def _look(self, value: object) -> list[Content]:
        return [(one, self._digest(one)) for one in _walk(value)]

    def _digest(self, value: object) -> object:
        """Return a mark of the elements of a tensor; None for anything else, and where the framework fails at it."""
        if isinstance(value, PLAIN):
            return None
        with suppress(Exception):
            return tuple(self._backend.digest(leaf) for leaf in self._backend.leaves(value)) or None
        return None


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
