"""What an option is: how it is written, what its help says, and how its value is read, wherever it comes from.

An option is a field of a class, declared once by `option`: its name, type and default are the field's. One that several
classes or verbs take has a hint of its own, in which an `Option` stands. The command line, the library, files and the
pages of the reference are made of these.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, Field, field, fields, replace
from numbers import Real
from pathlib import Path
from typing import Annotated, Any, Generic, Protocol, TypeVar, get_args, get_origin, get_type_hints

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, at_place, check_known
from opperf.domain.plan import UNCHECKED
from opperf.domain.units import parse_bytes, parse_duration, parse_jobs, parse_percent
from opperf.parent.documents.tolerances import Tolerances

#: A whole number as it is typed, of 64 bits.
_WHOLE = re.compile(r"-?[0-9]{1,18}")

Group = TypeVar("Group")
Value = TypeVar("Value")


class Reader(Protocol):
    """Reads a value, a text or not; raises `InputError` that has what a message calls it."""

    def __call__(self, value: Any, /, name: str) -> Any:
        """Return the value."""


@dataclass(frozen=True)
class Kind:
    """How values are read: `read` takes one, a text or not, and what a message calls it.

    `show` writes a default as a user would, and `keyword` is the type that the library takes.
    """

    read: Reader
    keyword: str
    show: Callable[[Any], str] = "{:g}".format


@dataclass(frozen=True)
class Option:
    """How an option is written, and what its help says of it.

    `flag` is the option's name where it is not that of the field, `words` reads what is given several times, and
    `complete` names what completes a value in a shell. `keyword` is the type of the argument in the library, and `key`
    the name in a file, where they do not follow from those of the field.
    """

    metavar: str
    help: str
    kind: Kind | None = None
    flag: str = ""
    words: Callable[[Sequence[str]], object] | None = None
    complete: str = ""
    keyword: str = ""
    key: str = ""


def option(default: Value, metavar: str, help: str, kind: Kind | None = None, **more: Any) -> Value:
    """Return a field with a default that is an option: how it is written, and the rest of an `Option`."""
    return field(default=default, metadata={"option": Option(metavar, help, kind, **more)})


class Only:
    """The options of a class that a verb takes, for `Annotated`; the others keep their defaults."""

    def __init__(self, *names: str) -> None:
        self.names = names


@dataclass(frozen=True)
class Overrides(Generic[Group]):
    """The options of a class that somebody gave, by their names: they come before those of a file."""

    values: Mapping[str, Any] = field(default_factory=dict)

    def has(self, name: str) -> bool:
        """Whether an option was given."""
        return name in self.values


@dataclass(frozen=True)
class Declaration:
    """An option where it is declared: its name, the hint of its type, how it is written, and its default."""

    name: str
    hint: Any
    option: Option
    default: Any = None
    is_required: bool = False

    @property
    def flag(self) -> str:
        """How it begins on a command line."""
        return f"--{self.option.flag or self.name.replace('_', '-')}"

    @property
    def item(self) -> Any:
        """The type of one value: of several, or of one that may be missing."""
        return next(one for one in (*get_args(self.hint), self.hint) if one is not type(None))

    @property
    def is_list(self) -> bool:
        """Whether it may be given several times."""
        return self.option.words is not None or get_origin(self.hint) is tuple

    @property
    def key(self) -> str:
        """How a file calls it: a list by the plural."""
        if self.option.key or get_origin(self.hint) is not tuple or self.name.endswith("s"):
            return self.option.key or self.name
        return f"{self.name[:-1]}ies" if self.name.endswith("y") else f"{self.name}s"

    @property
    def choices(self) -> tuple[str, ...]:
        """The words that it may be, where its metavar lists all of them."""
        words = tuple(self.option.metavar.split("|"))
        return words if len(words) > 1 and self.option.kind is None else ()

    @property
    def keyword(self) -> str:
        """The type of the argument in the library, as it is written there."""
        of_list = {str: "Names", Path: "Paths"}
        of_one = "str | Path" if self.item is Path else str(self.item.__name__)
        optional = " | None" if self.default is None and not self.is_required else ""
        return self.option.keyword or (
            of_list[self.item]
            if self.is_list
            else (self.option.kind.keyword if self.option.kind else of_one) + optional
        )

    def read(self, value: Any) -> Any:
        """Return a value as a field has it; raises `InputError` that names the option."""
        if self.option.kind is not None:
            return self.option.kind.read(value, f"`{self.flag}`")
        if get_origin(self.hint) is tuple and self.item in (str, Path):
            return tuple(map(self.item, [value] if isinstance(value, (str, Path)) else value))
        return Path(value) if self.item is Path and isinstance(value, str) else value


def declarations(group: Any) -> tuple[Declaration, ...]:
    """Return the options of a class, or of the part of one that a verb takes."""
    if get_origin(group) is Overrides:
        return tuple(replace(one, default=None) for one in declarations(get_args(group)[0]))
    if get_origin(group) is Annotated:
        whole, *parts = get_args(group)
        names = {name for part in parts if isinstance(part, Only) for name in part.names}
        return tuple(one for one in declarations(whole) if one.name in names)
    hints = get_type_hints(group, include_extras=True)
    several = [_declaration_of(one, hints[one.name]) for one in fields(group)]
    return tuple(one for one in several if one is not None)


def _declaration_of(entry: Field[Any], hint: Any) -> Declaration | None:
    """Return the option that a field of a class is, None for another field."""
    annotation = Annotated[hint, entry.metadata["option"]] if "option" in entry.metadata else hint
    is_required = entry.default is MISSING and entry.default_factory is MISSING
    return declaration(
        entry.name, annotation, None if entry.default is MISSING else entry.default, is_required=is_required
    )


def declaration(name: str, hint: Any, default: Any, *, is_required: bool = False) -> Declaration | None:
    """Return the option that a hint declares, None where it declares none."""
    option = next((one for one in getattr(hint, "__metadata__", ()) if isinstance(one, Option)), None)
    return None if option is None else Declaration(name, get_args(hint)[0], option, default, is_required)


def group_of(group: type[Group], values: Mapping[str, object]) -> Group:
    """Return a class of options with the values that are there; raises `InputError` that names an option."""
    return group(
        **{one.name: one.read(values[one.name]) for one in declarations(group) if values.get(one.name) is not None}
    )


def overrides_of(group: type[Group], values: Mapping[str, object]) -> Overrides[Group]:
    """Return the options of a class that are there, each read; raises `InputError` that names an option."""
    several = [(one, values.get(one.name)) for one in declarations(group)]
    return Overrides({one.name: one.read(value) for one, value in several if value is not None})


def _check_number(value: Any, name: str) -> None:
    """Raise `InputError` for what is neither a number nor a text that may be one."""
    if isinstance(value, bool) or not isinstance(value, (str, Real)):
        raise InputError(f"{name} is `{value!r}`, expected a number, or a text such as `2%` or `5m`")


def _reader(parse: Callable[..., Any]) -> Reader:
    """Return a reader that parses text and passes numbers on."""

    def read(value: Any, name: str) -> Any:
        _check_number(value, name)
        return parse(value, name=name) if isinstance(value, str) else value

    return read


def tolerances(usual: float) -> Kind:
    """Return how a share for all operators is read, or shares by name or pattern, of which `*` is for all others.

    Without `*` those have the usual one.
    """

    def read(value: Any, name: str) -> Tolerances:
        if isinstance(value, Tolerances):
            return value
        if not isinstance(value, Mapping):
            return Tolerances(PERCENT.read(value, name))
        shares: dict[str, float] = {}
        for pattern, share in value.items():
            with at_place(f"`{pattern}`"):
                shares[pattern] = PERCENT.read(share, name)
        return Tolerances(shares.pop("*", usual), shares)

    return Kind(read, "float | str", lambda value: _percent(value.usual))


def one_of(kind: str, names: Collection[str]) -> Kind:
    """Return how a word is read that is one of some; a message calls it by its kind."""

    def read(value: Any, name: str) -> Any:
        check_known(kind, value, names)
        return value

    return Kind(read, "str", str)


def at_least(least: int) -> Kind:
    """Return how a whole number is read that is not below another."""

    def read(value: Any, name: str) -> int:
        number = int(value) if isinstance(value, str) and _WHOLE.fullmatch(value) else value
        if type(number) is not int or number < least:
            text = f"{number}" if type(number) is int else f"`{value}`"
            raise InputError(f"{name} is {text}, expected a whole number >= {least}")
        return number

    return Kind(read, "int", str)


def _share(value: Any, name: str) -> float:
    _check_number(value, name)
    return parse_percent(value, name=name)


def _percent(share: float) -> str:
    return f"{share:.3%}".replace(".000", "")


#: A share, written as a percentage or as a fraction of 1.
PERCENT = Kind(_share, "float | str", _percent)
SECONDS = Kind(_reader(parse_duration), "float | str")
BYTES = Kind(_reader(parse_bytes), "int | str")
#: What of results is checked: a name, or in Python whether anything is. None leaves it to the side.
CHECK = Kind(lambda value, name: {True: None, False: UNCHECKED}.get(value, value), "bool | str", str)
#: A number of jobs, 0 for `auto`.
JOBS = Kind(lambda value, name: parse_jobs(str(value), name=name), "int | str", str)
