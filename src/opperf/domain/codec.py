"""Convert dataclasses to JSON and back by their type hints; values of the wrong type are errors.

A dataclass says what may stand in its fields, and `decode` holds a document to it. What is wrong is told with its path
in the file (`x.json: records[3].side.threads: found "a", expected a whole number >= 1`). Keys that nobody knows are of
later versions, and passed over. A class without `from_json` is never made from data, whatever a hint says of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from functools import cache
from typing import Any, ClassVar, TypeVar, get_args, get_type_hints, overload

from opperf.domain.errors import InputError
from opperf.domain.files.json_text import show
from opperf.domain.type_hint import Form, Kind, kind_of, whole_place, wrong

T = TypeVar("T")
Self = TypeVar("Self", bound="Fields")


class Fields:
    """A dataclass whose JSON is its fields, by name.

    The fields of a `flat` field stand among them. A `sparse` one is left out where it has its default. What stands
    `beside` are properties written for readers without opperf; they are not read back.
    """

    flat: ClassVar[tuple[str, ...]] = ()
    sparse: ClassVar[tuple[str, ...]] = ()
    beside: ClassVar[tuple[str, ...]] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        form: dict[str, object] = {}
        for name, write, default in _writers(type(self)):  # type: ignore[arg-type]  # as below
            value = getattr(self, name)
            if name in self.flat:
                form |= value.to_json()
            elif name not in self.sparse or value != default:
                form[name] = write(value)
        return form

    @classmethod
    def from_json(cls: type[Self], data: object, where: str = "") -> Self:
        """Read the JSON form; raises `InputError` that names the place."""
        return decode(cls, data, where or cls.__name__.lower())


class Exact(Fields):
    """A dataclass whose JSON is its fields and nothing else: what both sides of a pipe know the same of."""

    @classmethod
    def from_json(cls: type[Self], data: object, where: str = "") -> Self:
        """Read the JSON form; raises `InputError` that names the place, for a key that is no field too."""
        where = where or cls.__name__.lower()
        names = [name for name, _, _ in _members(cls)]  # type: ignore[arg-type]  # as below
        for name in data if isinstance(data, dict) else ():
            if name not in names:
                raise InputError(f"{where}: found a key {show(name)}, expected {', '.join(names) or 'none'}")
        return decode(cls, data, where)


def encode(value: object) -> object:
    """Return the JSON form of a value: of objects as they say, of rows and lists a list, of names an object.

    >>> encode({"shape": (2, 3), "note": None})
    {'shape': [2, 3], 'note': None}
    """
    if value is None or isinstance(value, (str, int, float)):
        return value
    if hasattr(value, "to_json"):
        return value.to_json()
    if isinstance(value, Mapping):
        return {name: encode(one) for name, one in value.items()}
    if isinstance(value, Sequence):
        return [encode(one) for one in value]
    raise TypeError(f"{type(value).__name__} has no JSON form")


def encode_fields(value: object, *without: str) -> dict[str, object]:
    """Return the JSON form of a dataclass that is no `Fields`, from which `decode` reads it with the others given."""
    names = (one.name for one in fields(value))  # type: ignore[arg-type]  # a dataclass
    return {name: encode(getattr(value, name)) for name in names if name not in without}


@cache
def _writers(cls: type[Fields]) -> tuple[tuple[str, Callable[[Any], object], object], ...]:
    """Return the layout of a dataclass: each field, its writer and its default; then the extra properties."""
    hints = get_type_hints(cls, include_extras=True)
    forms = {name: next(iter(get_args(hint)[1:]), None) for name, hint in hints.items()}
    writes = {name: form.write for name, form in forms.items() if isinstance(form, Form)}
    own = tuple((one.name, writes.get(one.name, encode), _default(one)) for one in fields(cls))  # type: ignore[arg-type]  # a dataclass
    return *own, *((name, encode, None) for name in cls.beside)


def _default(one: Field[object]) -> object:
    return one.default if one.default_factory is MISSING else one.default_factory()


def decode(cls: type[T], data: object, where: str, **others: object) -> T:
    """Return a dataclass made of an object of JSON; raises `InputError` that names the place.

    `others` are fields whose values the caller has read, of keys that stand in other places.

    >>> from opperf.domain.reason import Warning
    >>> decode(Warning, {"slug": "noisy", "message": "the machine is busy"}, "file: warnings[0]").hint is None
    True
    """
    if not isinstance(data, dict):
        raise wrong(data, where, "an object")
    values = dict(others)
    for name, kind, is_needed in _members(cls):  # type: ignore[arg-type]  # a class is hashable
        if name in others:
            continue
        if name in getattr(cls, "flat", ()):
            values[name] = kind.read(data, where)
        elif name in data:
            values[name] = kind.read(data[name], _field_place(where, name))
        elif is_needed:
            raise InputError(f"{whole_place(where)}: no `{name}`, expected {kind.expected}", slug="bad_value")
    try:
        return cls(**values)
    except InputError as error:
        raise InputError(f"{whole_place(where)}: {error.message}", hint=error.hint, slug=error.slug) from error


@overload
def read_as(hint: type[T], data: object, where: str) -> T: ...
@overload
def read_as(hint: Any, data: object, where: str) -> Any: ...
def read_as(hint: object, data: object, where: str) -> object:
    """Return a value of the type of a hint; raises `InputError` that names the place.

    >>> read_as(tuple[int, ...], [1, 2], "shape")
    (1, 2)
    """
    return kind_of(hint).read(data, where)


def check_version(version: object, newest: int, where: str) -> None:
    """Raise `InputError` for a document of another version than is known."""
    if version != newest:
        raise InputError(
            f"{where}: schema_version is {show(version)}, this opperf reads {newest}",
            hint="read it with the opperf that wrote it, or a newer one",
            slug="schema_version",
        )


def _field_place(where: str, name: str) -> str:
    """Return the place of a field, in a document right behind the name of its file (`x.json: `)."""
    return f"{where}{name}" if where.endswith(": ") else f"{where}.{name}"


@cache
def _members(cls: type) -> tuple[tuple[str, Kind, bool], ...]:
    """Return the fields of a dataclass: name, kind, and whether it has no default."""
    hints = get_type_hints(cls, include_extras=True)
    return tuple(
        (one.name, kind_of(hints[one.name]), one.default is MISSING and one.default_factory is MISSING)
        for one in fields(cls)
        if one.init
    )
