"""Dataclasses that cost next to nothing until they are used.

The standard library compiles six methods for each dataclass when its module is imported: half a millisecond a class,
which was a third of the CPU time of starting a child, and of a command. Here a class gets its methods when the first
object is made of it, or when something asks for its fields. The standard library still says what the fields are; of the
methods, only `__init__` has to be compiled. To a type checker this is the standard library's own decorator.

It does what the package needs, and no more: there is no `order`, no `slots`, no `InitVar`, no field that `__init__`
does not take.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import MISSING, FrozenInstanceError, fields
from dataclasses import dataclass as standard_dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

#: Makes a method of a dataclass.
Maker: TypeAlias = Callable[[type], Any]

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, eq=True, repr=True, kw_only=False):
        """Make a dataclass of a class, as `dataclasses.dataclass` does; its methods are made when it is first used.

        >>> @dataclass(frozen=True)
        ... class Point:
        ...     x: int
        ...     y: int = 0
        >>> Point(1) == Point(1, 0), Point(1)
        (True, Point(x=1, y=0))
        """
        if cls is None:
            return lambda cls: dataclass(cls, frozen=frozen, eq=eq, repr=repr, kw_only=kw_only)
        makers = {"__init__": _frozen_init if frozen else _init}
        if repr:
            makers["__repr__"] = _repr
        if eq:
            makers |= {"__eq__": _eq, "__hash__": _hash if frozen else _no_hash}
        unbuilt = _Unbuilt(cls, kw_only, {name: make for name, make in makers.items() if vars(cls).get(name) is None})
        cls.__dataclass_fields__ = unbuilt
        for name in unbuilt.makers:
            setattr(cls, name, unbuilt.stand_in(name))
        if frozen:
            cls.__setattr__, cls.__delattr__ = _refuse_assignment, _refuse_deletion
        return cls


#: One class is built at a time, and its bases on the way.
_building = threading.RLock()


class _Unbuilt:
    """A class that is not built yet. It stands where the fields will be, so who looks for them has the class built."""

    def __init__(self, cls: type, kw_only: bool, makers: dict[str, Maker]) -> None:
        self._cls, self._kw_only, self.makers = cls, kw_only, makers

    def __get__(self, instance: object, owner: type) -> object:
        self._build()
        return getattr(owner, "__dataclass_fields__")  # noqa: B009  # no type checker knows of it

    def stand_in(self, name: str) -> Callable[..., object]:
        """Return a method that builds the class, and calls the one that has its place then."""

        def method(*arguments: object, **keywords: object) -> object:
            self._build()
            return getattr(self._cls, name)(*arguments, **keywords)

        return method

    def _build(self) -> None:
        """Make the fields and methods; a thread that comes meanwhile waits, and finds them made."""
        with _building:
            if vars(self._cls)["__dataclass_fields__"] is self:
                standard_dataclass(init=False, repr=False, eq=False, kw_only=self._kw_only)(self._cls)
                for name, make in self.makers.items():
                    setattr(self._cls, name, make(self._cls))


def _init(cls: Any, assignment: str = "self.{0} = {1}") -> Callable[..., None]:
    """Compile `__init__`: no other function takes its arguments as fast."""
    scope: dict[str, Any] = {"_set": object.__setattr__, "_missing": MISSING}
    positional, keywords, lines = ["self"], ["*"], []
    for field in fields(cls):
        name, value = field.name, field.name
        default = ""
        if field.default is not MISSING:
            scope[f"_default_{name}"], default = field.default, f"=_default_{name}"
        elif field.default_factory is not MISSING:
            scope[f"_make_{name}"], default = field.default_factory, "=_missing"
            value = f"_make_{name}() if {name} is _missing else {name}"
        (keywords if field.kw_only else positional).append(f"{name}{default}")
        lines.append(assignment.format(name, value))
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    parameters = ", ".join(positional + keywords * (len(keywords) > 1))
    text = f"def __init__({parameters}):\n " + "\n ".join(lines or ["pass"])
    # The text has names of fields alone, which are in the source; defaults and values go in as objects.
    # One that `exec` compiles itself would make Python forget that Ctrl-C ended the program, where a class is first
    # used as it exits: the exit code would be 1.
    exec(compile(text, f"<{cls.__qualname__}>", "exec"), scope)
    method: Callable[..., None] = scope["__init__"]
    method.__qualname__ = f"{cls.__qualname__}.__init__"
    method.__annotations__ = {field.name: field.type for field in fields(cls)}
    return method


def _frozen_init(cls: Any) -> Callable[..., None]:
    return _init(cls, '_set(self, "{0}", {1})')


def _repr(cls: Any) -> Callable[[object], str]:
    names = [field.name for field in fields(cls) if field.repr]

    def method(self: object) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({values})"

    return method


def _eq(cls: Any) -> Callable[[object, object], bool]:
    values = _values(field.name for field in fields(cls) if field.compare)

    def method(self: object, other: object) -> bool:
        return values(self) == values(other) if type(other) is type(self) else NotImplemented

    return method


def _hash(cls: Any) -> Callable[[object], int]:
    values = _values(field.name for field in fields(cls) if field.compare)
    return lambda self: hash(values(self))


def _no_hash(cls: Any) -> None:
    """What can be changed has no hash."""


def _values(names: Iterable[str]) -> Callable[[object], object]:
    names = tuple(names)
    return attrgetter(*names) if names else lambda _: ()


def _refuse_assignment(self: object, name: str, value: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deletion(self: object, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")
