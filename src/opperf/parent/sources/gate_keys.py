"""The keys of a gate file: options, which a file has as TOML writes them, and what stands in a file alone.

An option of a gate needs no line here. What a command line finds when it plans, a file is told with its place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from opperf.catalog import DIRECTIONS, INT64, SIZES, categories
from opperf.domain.code import check_name
from opperf.domain.errors import InputError, check_known
from opperf.domain.metric import compared_names
from opperf.domain.plan import MODES, Settings
from opperf.domain.registry import framework, parse_device, split_implementation
from opperf.domain.tensor import parse_dtype
from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.sources.option import Declaration, Only, declarations
from opperf.parent.sources.options import Expecting, GateOptions, Names, What, Where
from opperf.parent.sources.value_choice import ValueChoice

#: The fewest pairs and processes that a gate may judge by.
LEAST = 3

#: Reads one value of a key; raises `InputError` that says what was expected. The folder is that of the file.
Reader: TypeAlias = Callable[[object, Path], object]
#: The field that each key fills, and how its value is read.
Keys: TypeAlias = Mapping[str, tuple[str, Reader]]


def wrong(value: object, expected: str, hint: str | None = None) -> InputError:
    """Return the error for a value that is not as expected."""
    return InputError(f"found {value!r}, expected {expected}", hint=hint, slug="gate_file")


def string(value: object, folder: Path) -> str:
    """Read a text that is not empty; the path of `python=PATH` is relative to the file."""
    if not isinstance(value, str) or not value.strip():
        raise wrong(value, "a string")
    path, _, rest = value.removeprefix("python=").partition(";")
    if not value.startswith("python=") or Path(path).is_absolute():
        return value
    return f"python={(folder / path).absolute()}" + (f";{rest}" if rest else "")


def names(check: Callable[[str], object] = str) -> Callable[[object, Path], tuple[str, ...]]:
    """Read a list of names, or one name, each of which `check` must know."""

    def read(value: object, folder: Path) -> tuple[str, ...]:
        words = tuple(string(word, folder) for word in (value if isinstance(value, list) else [value]))
        if not words:
            raise wrong(value, "one name at least")
        for word in words:
            check(word)
        return words

    return read


def one_of(words: Sequence[str]) -> Reader:
    """Return the reader of a word that is one of some."""

    def read(value: object, _: Path) -> str:
        if value not in words:
            raise wrong(value, " or ".join(f"`{word}`" for word in words))
        return str(value)

    return read


def name_of(kind: str, members: Callable[[], Sequence[str]]) -> Callable[[str], None]:
    """Return a check that raises `InputError` for a name that is none of the members of a kind."""

    def check(name: str) -> None:
        check_known(kind, name, members())

    return check


def _check_whole(least: int, value: object) -> None:
    if type(value) is not int or value < least:
        raise wrong(value, f"a whole number >= {least}")


def _check_operator(name: str) -> None:
    """Raise for code; a framework's own names only the framework knows, and other names may be those of plugins."""
    check_name(name, "an operator")
    split_implementation(name)


def _path(value: object, folder: Path) -> Path:
    text = string(value, folder)
    if "\0" in text:
        raise wrong(value, "a path")
    return folder / text


def _yes_or_no(value: object, _: Path) -> bool:
    if not isinstance(value, bool):
        raise wrong(value, "true or false")
    return value


def _arguments(value: object, _: Path) -> Mapping[str, object]:
    """Read arguments by name, each as `--input` and `--attribute` read it or as TOML has it."""
    if not isinstance(value, dict) or not value or any(isinstance(inner, dict) for inner in value.values()):
        raise wrong(value, "a table of arguments by name", 'write, for example, `{lhs = "64x64", rhs = [64, 64]}`')
    return {name: tuple(inner) if isinstance(inner, list) else inner for name, inner in value.items()}


def _inputs(value: object, folder: Path) -> tuple[Mapping[str, object], ...]:
    """Read a table of inputs, or a list of them: each makes one case of every operator."""
    return tuple(_arguments(case, folder) for case in (value if isinstance(value, list) else [value]))


def _database(value: object, folder: Path) -> str:
    """Read an address; a file is relative to this one."""
    text = string(value, folder)
    return text if "://" in text else str((folder / text).absolute())


_SETTINGS = {setting.name for setting in fields(Settings)}
#: How a file has the values of options that no `Kind` reads: those of a name, else of a type.
_READERS: Mapping[object, Reader] = {
    "inputs": _inputs,
    "attributes": _arguments,
    Names: names(),
    Path: _path,
    str: string,
    bool: _yes_or_no,
    int: lambda value, _: value,
}
#: What each value, or each word, of an option must be.
_CHECKS: Mapping[str, Callable[[Any], object]] = {
    "category": name_of("category", categories),
    "size": name_of("size", lambda: (*SIZES, INT64)),
    "dtype": parse_dtype,
    "direction": name_of("direction", lambda: DIRECTIONS),
    "values": ValueChoice.parse,
    "framework": framework,
    "environment": EnvironmentSpec.parse,
    "device": parse_device,
    "mode": name_of("mode", lambda: MODES),
    "metric": name_of("metric", compared_names),
    "random": partial(_check_whole, 1),
    "seed": partial(_check_whole, 0),
    **dict.fromkeys(("pairs", "max_pairs", "processes"), partial(_check_whole, LEAST)),
}
#: The options of `What` that a file may have: it names neither code nor files of other tools.
_SELECTING = ("suite", "category", "skip", "size", "dtype", "direction", "values", "random", "inputs", "attributes")


def check_option(option: Declaration, value: Any) -> None:
    """Raise `InputError` for a value that names what there is not, or that is too small for a gate."""
    if option.choices:
        one_of(option.choices)(value, Path())
    elif option.name in _CHECKS:
        for word in value if isinstance(value, tuple) else (value,):
            _CHECKS[option.name](word)


def _read_option(option: Declaration, value: object, folder: Path) -> object:
    """Return the value that a file has for an option; raises `InputError`."""
    kind = option.option.kind
    if kind is None:
        read = next(_READERS[key] for key in (option.name, option.hint, option.item) if key in _READERS)
        result = read(value, folder)
        check_option(option, result)
        return result
    result = kind.read(value, "the value")
    if option.name in _SETTINGS:
        Settings(**{option.name: result})  # which says how long a time may be
    return result


def keys_of(group: Any) -> Keys:
    """Return the keys that the options of a class are in a file."""
    return {option.key: (option.name, partial(_read_option, option)) for option in declarations(group)}


#: The keys of the table `[expected]`.
EXPECTED_KEYS = {**keys_of(Expecting), **keys_of(Annotated[Where, Only("mode")])}
#: The keys of a gate: what it compares, and its options but for those of expectations.
KEYS: Keys = {
    "operators": ("operators", names(_check_operator)),
    "base": ("base", string),
    "new": ("new", names()),
    **keys_of(Annotated[What, Only(*_SELECTING)]),
    **{key: entry for key, entry in keys_of(GateOptions).items() if key not in EXPECTED_KEYS},
}
#: The keys of the table `[nightly]`: those of a gate but for its sides and jobs, and its own.
NIGHTLY_KEYS: Keys = {
    **{key: entry for key, entry in KEYS.items() if key not in ("base", "new", "jobs", "repo", "build")},
    **dict.fromkeys(("build", "builds"), ("builds", names())),
    **{name: (name, string) for name in ("anchor", "index", "name")},
}
#: The keys of the table `[database]`.
DATABASE_KEYS: Keys = {"url": ("url", _database)}
