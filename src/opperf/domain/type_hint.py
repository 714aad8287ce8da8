"""How values of a type hint are read from JSON, and what is expected where there is something else."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from json import JSONEncoder
from operator import ge, gt
from types import NoneType, UnionType
from typing import Annotated, Any, TypeAlias, Union, get_args, get_origin, get_type_hints, is_typeddict

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.files.json_text import show

#: Integers have 64 bits, as in every format and framework that receives them.
MOST_WHOLE = (1 << 64) - 1


@dataclass(frozen=True)
class AtLeast:
    """Minimum of a number, for `Annotated`."""

    least: float


@dataclass(frozen=True)
class Above:
    """Exclusive minimum of a number, for `Annotated`."""

    bound: float


@dataclass(frozen=True)
class OneOf:
    """The allowed values of a string, for `Annotated`."""

    names: tuple[str, ...]


#: What a hint may say of its values.
Bound: TypeAlias = AtLeast | Above | OneOf

Count: TypeAlias = Annotated[int, AtLeast(1)]
Natural: TypeAlias = Annotated[int, AtLeast(0)]
#: Seconds, or another quantity that is not negative.
Amount: TypeAlias = Annotated[float, AtLeast(0)]
#: What is divided by, or of which a logarithm is taken.
Positive: TypeAlias = Annotated[float, Above(0)]

#: Reads a value that stands somewhere, or raises `InputError`.
Read: TypeAlias = Callable[[object, str], Any]


@dataclass(frozen=True)
class Form:
    """A custom writer and reader of a value, for `Annotated`."""

    expected: str
    write: Callable[[Any], object]
    read: Read


#: A value that is looked at later, by another hint: there are too many to look at each twice.
Unread: TypeAlias = Annotated[object, Form("a value", lambda value: value, lambda value, _: value)]


def _limited(expected: str, least: float, most: float) -> Form:
    """Return how a number between two bounds is read."""

    def read(value: object, where: str) -> float:
        number = _number(value, where)
        if least <= number <= most:
            return number
        raise wrong(value, where, expected)

    return Form(expected, lambda number: number, read)


#: Ratios, and their logarithms, of which the others can be computed: beyond, `exp` has no result.
Ratio: TypeAlias = Annotated[float, _limited("a ratio of 1e-40 to 1e40", 1e-40, 1e40)]
LogRatio: TypeAlias = Annotated[float, _limited("the logarithm of a ratio, -100 to 100", -100, 100)]
#: How far a log-ratio spreads, and how sure something is.
LogSpread: TypeAlias = Annotated[float, _limited("a number of 0 to 100", 0, 100)]
Confidence: TypeAlias = Annotated[float, _limited("a number of 0.01 to 0.9999999", 0.01, 0.9999999)]


@dataclass(frozen=True)
class Kind:
    """How values of one type hint are read, and what is expected where there is something else."""

    expected: str
    read: Read
    #: Whether values are all of it, as they are: said of a long list much sooner than of each.
    holds: Callable[[list[Any]], bool] = lambda values: not values


def wrong(value: object, where: str, expected: str) -> InputError:
    """Return the error for a value that is not what was expected."""
    return InputError(f"{whole_place(where)}: found {show(value)}, expected {expected}", slug="bad_value")


def whole_place(where: str) -> str:
    """Return a place without what comes before a field of it.

    >>> whole_place("x.json: ")
    'x.json'
    """
    return where.removesuffix(": ")


def inside(where: str, name: str) -> str:
    """Return the place of a key that the file chose.

    >>> inside("settings", "threads"), inside("settings", "a b")
    ('settings.threads', 'settings["a b"]')
    """
    return f"{where}.{name}" if name.isidentifier() and name.isascii() else f"{where}[{show(name)}]"


@cache
def bounds_of(cls: type) -> Mapping[str, Bound]:
    """Return the bounds that hints set to the fields of a dataclass, of those that may be None too."""
    hints = get_type_hints(cls, include_extras=True)
    rules = {
        name: rule
        for name, hint in hints.items()
        for part in (hint, *get_args(hint))
        for rule in getattr(part, "__metadata__", ())
    }
    return {name: rule for name, rule in rules.items() if isinstance(rule, (AtLeast, Above, OneOf))}


def check_bound(option: str, value: Any, bound: Bound) -> None:
    """Raise `InputError` for the value of an option that its hint does not allow.

    >>> check_bound("--runs", 0, AtLeast(1))
    Traceback (most recent call last):
    ...
    opperf.domain.errors.InputError: `--runs` is 0, expected a whole number >= 1
    """
    if isinstance(bound, OneOf):
        if value not in bound.names:
            raise InputError(f"`{option}` is `{value}`, expected {' or '.join(bound.names)}")
    elif isinstance(bound, Above):
        if not value > bound.bound:
            raise InputError(f"`{option}` is {value}, expected a number > {bound.bound:g}")
    elif isinstance(value, bool) or not isinstance(value, int):
        raise InputError(f"`{option}` is `{value}`, expected a whole number")
    elif value < bound.least:
        raise InputError(f"`{option}` is {value}, expected a whole number >= {bound.least:g}")


@cache
def kind_of(hint: object) -> Kind:
    """Return the reader of a type hint, for reading many values."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint in _PLAIN:
        return _PLAIN[hint]
    if origin is Annotated:
        rule = inner[1]
        if isinstance(rule, Form):
            return Kind(rule.expected, rule.read)
        return _one_of(rule.names) if isinstance(rule, OneOf) else _bound(kind_of(inner[0]), rule)
    if origin in (Union, UnionType):
        return _either([one for one in inner if _is_readable(one)])
    if origin is tuple and inner[-1] is not Ellipsis:
        return _row([kind_of(one) for one in inner])
    if origin in (tuple, Sequence):
        return _list(kind_of(inner[0]))
    if origin is list:
        return _as_list(kind_of(inner[0]))
    if origin in (Mapping, dict):
        return _object(kind_of(inner[1]))
    if is_typeddict(hint):
        return _keys({name: kind_of(one) for name, one in get_type_hints(hint).items()})
    if hasattr(hint, "from_json"):
        return Kind("an object", hint.from_json)
    raise TypeError(f"{hint} is not read from data")


def _is_readable(hint: object) -> bool:
    return get_origin(hint) is not None or hint in _PLAIN or hasattr(hint, "from_json")


def _as_list(kind: Kind) -> Kind:
    row = _list(kind)
    return Kind(row.expected, lambda value, where: list(row.read(value, where)))


def _keys(kinds: Mapping[str, Kind]) -> Kind:
    """Read an object by its keys; there may be others."""

    def read(value: object, where: str) -> dict[str, object]:
        if not isinstance(value, dict):
            raise wrong(value, where, "an object")
        return {name: kinds[name].read(one, inside(where, name)) for name, one in value.items() if name in kinds}

    return Kind("an object", read)


def _plain(expected: str, *types: type) -> Kind:
    """Return the kind of values of some types of Python; true and false are no numbers."""

    def read(value: object, where: str) -> object:
        if type(value) in types:
            return value
        raise wrong(value, where, expected)

    return Kind(expected, read, lambda values: set(types).issuperset(map(type, values)))


def _are_whole(values: list[Any]) -> bool:
    return {int}.issuperset(map(type, values)) and (
        not values or -MOST_WHOLE <= min(values) <= max(values) <= MOST_WHOLE
    )


def _whole(value: object, where: str) -> int:
    if type(value) is float and value.is_integer():  # as other programs write whole numbers
        value = int(value)
    if type(value) is int and -MOST_WHOLE <= value <= MOST_WHOLE:
        return value
    raise wrong(value, where, "a whole number" + (" of 64 bits" if type(value) is int else ""))


def _number(value: object, where: str) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
        return value  # a whole number stays one: bytes are written as they were read
    raise wrong(value, where, "a number" + (" that is finite" if type(value) is float else ""))


def _anything(value: object, where: str) -> object:
    """Return a value that is kept as it is, and so must be one that JSON has a word for when it is written again."""
    if type(value) in (float, list, dict):
        try:
            _ENCODER.encode(value)
        except ValueError as error:
            raise wrong(value, where, "numbers that are finite") from error
    return value


_ENCODER = JSONEncoder(allow_nan=False)
_PLAIN: dict[object, Kind] = {
    Any: Kind("a value", _anything),
    object: Kind("a value", _anything),
    NoneType: _plain("null", NoneType),
    str: _plain("a string", str),
    bool: _plain("true or false", bool),
    int: Kind("a whole number", _whole, _are_whole),
    float: Kind("a number", _number),
}


def _bound(kind: Kind, bound: AtLeast | Above) -> Kind:
    least, sign = (bound.least, ">=") if isinstance(bound, AtLeast) else (bound.bound, ">")
    is_within = ge if isinstance(bound, AtLeast) else gt
    expected = f"{kind.expected} {sign} {least:g}"

    def read(value: object, where: str) -> object:
        try:
            number = kind.read(value, where)
        except InputError as error:
            raise wrong(value, where, expected) from error
        if is_within(number, least):
            return number
        raise wrong(value, where, expected)

    def holds(values: list[Any]) -> bool:
        return kind.holds(values) and (not values or is_within(min(values), least))

    return Kind(expected, read, holds)


def _one_of(names: Sequence[str]) -> Kind:
    expected = " or ".join(map(show, names))

    def read(value: object, where: str) -> object:
        if isinstance(value, str) and value in names:
            return value
        raise wrong(value, where, expected)

    return Kind(expected, read)


def _either(hints: Sequence[object]) -> Kind:
    """Return the kind of several; what is no value of any is told of the only one that is not null.

    Of several dataclasses an object is the one that has most of its keys.
    """
    if len(hints) > 1 and all(is_dataclass(hint) for hint in hints):
        return Kind("an object", lambda value, where: _nearest(hints, value, where).from_json(value, where))
    kinds = [kind_of(hint) for hint in hints if hint is not NoneType]
    is_optional = len(kinds) < len(hints)
    expected = " or ".join([kind.expected for kind in kinds] + ["null"] * is_optional)

    def read(value: object, where: str) -> object:
        if value is None and is_optional:
            return None
        for kind in kinds:
            try:
                return kind.read(value, where)
            except InputError as error:
                if len(kinds) == 1 and not error.message.startswith(f"{where}: found"):
                    raise  # what is wrong is further inside
        raise wrong(value, where, expected)

    return Kind(expected, read)


def _nearest(hints: Sequence[Any], value: object, where: str) -> Any:
    if not isinstance(value, dict):
        raise wrong(value, where, "an object")
    return max(hints, key=lambda hint: len(value.keys() & {one.name for one in fields(hint)}))


def _list(kind: Kind) -> Kind:
    expected = "a list"

    def read(value: object, where: str) -> tuple[object, ...]:
        if not isinstance(value, list):
            raise wrong(value, where, expected)
        if kind.holds(value):
            return tuple(value)
        try:
            return tuple([kind.read(one, where) for one in value])
        except InputError:  # only now the place of each is spelled
            return tuple([kind.read(one, f"{where}[{i}]") for i, one in enumerate(value)])

    return Kind(expected, read)


def _row(kinds: Sequence[Kind]) -> Kind:
    expected = f"a list of {len(kinds)}: {', '.join(kind.expected for kind in kinds)}"

    def read(value: object, where: str) -> tuple[object, ...]:
        if not isinstance(value, list) or len(value) != len(kinds):
            raise wrong(value, where, expected)
        return tuple(kind.read(one, f"{where}[{i}]") for i, (kind, one) in enumerate(zip(kinds, value)))

    return Kind(expected, read)


def _object(kind: Kind) -> Kind:
    expected = "an object"

    def read(value: object, where: str) -> dict[str, object]:
        if not isinstance(value, dict):
            raise wrong(value, where, expected)
        return {name: kind.read(one, inside(where, name)) for name, one in value.items()}

    return Kind(expected, read)
