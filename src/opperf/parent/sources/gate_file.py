"""Gate files: what `opperf gate` and `opperf nightly` compare, in `opperf.toml` or `[tool.opperf]` of pyproject.toml.

A file is read whole and checked whole before anything runs. Each message names the file, the key, what was found and
what was expected. Paths in it are relative to its own folder, so that the gate is the same from wherever it is called.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from opperf.catalog import DIRECTIONS, INT64, SIZES, catalog, categories, is_known
from opperf.domain.code import check_name
from opperf.domain.environment import EnvironmentSpec
from opperf.domain.errors import InputError, at_place, check_known, unknown
from opperf.domain.files.json_text import JsonDict, JsonObject
from opperf.domain.files.text_file import read_text
from opperf.domain.judgement import POLICIES
from opperf.domain.plan import INSTRUCTIONS, MODES
from opperf.domain.registry import framework, parse_device, split_implementation
from opperf.domain.tensor import parse_distribution, parse_dtype
from opperf.domain.units import parse_duration, parse_percent

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

NAME, SHARED = "opperf.toml", "pyproject.toml"
#: The tables next to the keys of a gate.
TABLES = ("expected", "nightly", "database")
#: The fewest pairs and processes that a gate may judge by.
LEAST = 3


@dataclass(frozen=True)
class GateFile:
    """The settings of a gate file, with their defaults. Durations are in seconds."""

    path: Path | None = None
    suite: Path | None = None
    operators: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    sizes: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    random: int | None = None
    directions: tuple[str, ...] = ()
    inputs: tuple[Mapping[str, object], ...] = ()
    attributes: Mapping[str, object] = field(default_factory=dict)
    base: str | None = None
    new: tuple[str, ...] = ()
    tolerance: float = 0.02
    pairs: int = 5
    settle: bool = False
    max_pairs: int | None = None
    budget: float | None = None
    timeout: float = 120.0
    inconclusive: str = "fail"
    seed: int = 0
    cpus: str | None = None
    jobs: int = 1
    clock: str = "wall"
    expected: Path | None = None
    threshold: float = 0.10
    processes: int = 5
    frameworks: tuple[str, ...] = ()
    environments: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()


@dataclass(frozen=True)
class NightlyFile:
    """What a file says of nights: the `builds` under test, each a side, and the `anchor` that they are compared with.

    `gate` has what is measured and how strictly; `index` is where nightly wheels are looked for, too. Nights of one
    `name` belong together.
    """

    gate: GateFile
    builds: tuple[str, ...]
    anchor: str
    name: str
    index: str | None = None
    database: str | None = None


#: Reads one value of a key; raises `InputError` that says what was expected. The folder is that of the file.
Reader: TypeAlias = Callable[[object, Path], object]


def find_gate_file(folder: Path) -> Path | None:
    """Return `opperf.toml` of a folder, else its pyproject.toml where that has a table `[tool.opperf]`."""
    if (folder / NAME).is_file():
        return folder / NAME
    shared = folder / SHARED
    return shared if shared.is_file() and _shared_table(_parse(read_text(shared), str(shared))) is not None else None


def read_gate_file(path: Path, own: Callable[[], Collection[str]] = tuple) -> GateFile:
    """Read a gate file; raises `InputError` that says what is wrong and where."""
    return gate_file(read_text(path), path, own)


def gate_file(text: str, path: Path, own: Callable[[], Collection[str]] = tuple) -> GateFile:
    """Parse the text of a gate file; its name decides which table is read.

    `own` are the operators of plugins, asked for where there is a name that the catalog does not have. Raises
    `InputError` that says what is wrong and where.

    >>> gate_file('base = "torch"', Path("opperf.toml")).base
    'torch'
    """
    where = str(path)
    table = _table(text, path)
    values = _values(table, KEYS, where, path.parent, "")
    _check_operators(values, where, path.parent, own, "")
    values |= _values(_inner(table, "expected", where), EXPECTED_KEYS, where, path.parent, "expected.")
    return GateFile(path=path, **values)


def read_nightly_file(path: Path) -> NightlyFile:
    """Read a file with a table `[nightly]`; raises `InputError` that says what is wrong and where."""
    return nightly_file(read_text(path), path)


def nightly_file(text: str, path: Path) -> NightlyFile:
    r"""Return what the tables `[nightly]` and `[database]` of a file say; raises `InputError` that says where.

    >>> text = '[nightly]\noperators = "sum"\nbuild = "numpy"\nanchor = "numpy==1.26.4"'
    >>> file = nightly_file(text, Path("opperf.toml"))
    >>> file.builds, file.name
    (('numpy',), 'numpy')
    """
    where, table = str(path), _table(text, path)
    inner = _inner(table, "nightly", where)
    values = _values(inner, NIGHTLY_KEYS, where, path.parent, "nightly.")
    _check_operators(values, where, path.parent, tuple, "nightly.")
    own = {name: values.pop(name) for name in ("builds", "anchor", "index", "name") if name in values}
    for key, name in (("build", "builds"), ("anchor", "anchor")):
        if name not in own:
            message = f"{where}: no `{key}` in the table `[nightly]`" if inner else f"{where}: no table `[nightly]`"
            raise InputError(message, hint='write, for example, `anchor = "numpy==1.26.4"`', slug="gate_file")
    if not (values.get("operators") or values.get("categories") or values.get("suite")):
        hint = 'write, for example, `categories = ["reduction"]`'
        raise InputError(f"{where}: `[nightly]` selects no operators", hint=hint, slug="gate_file")
    own.setdefault("name", re.split(r"[^A-Za-z0-9_-]", own["anchor"])[0])
    return NightlyFile(gate=GateFile(path=path, **values), database=database_of(table, path), **own)


def database_of(table: Mapping[str, object], path: Path) -> str | None:
    """Return the address that the table `[database]` of a file names, None where it names none."""
    values = _values(
        _inner(table, "database", str(path)), {"url": ("url", _database)}, str(path), path.parent, "database."
    )
    return values.get("url")


def find_database(folder: Path) -> str | None:
    """Return the address that the file of a folder names, None where there is none; raises `InputError`."""
    path = find_gate_file(folder)
    return None if path is None else database_of(_table(read_text(path), path), path)


def _table(text: str, path: Path) -> Mapping[str, object]:
    """Return the whole of opperf's file, or its table of a shared one."""
    whole = _parse(text, str(path))
    table = _shared_table(whole) if path.name == SHARED else whole
    if path.name == SHARED and table is None:
        raise InputError(
            f"{path}: no table `[tool.opperf]`", hint="`opperf.toml` needs no such table", slug="gate_file"
        )
    if not isinstance(table, dict):
        raise InputError(f"{path}: `tool.opperf` is {_kind(table)}, expected a table", slug="gate_file")
    return table


def _inner(table: Mapping[str, object], name: str, where: str) -> Mapping[str, object]:
    """Return a table inside another, empty where it is not there."""
    inner = table.get(name, {})
    if not isinstance(inner, dict):
        hint = f"write `[{name}]`"
        raise InputError(f"{where}: `{name}` is {_kind(inner)}, expected a table", hint=hint, slug="gate_file")
    return inner


def _check_operators(
    values: JsonObject, where: str, folder: Path, own: Callable[[], Collection[str]], prefix: str
) -> None:
    """Raise `InputError` for a neutral operator that neither the catalog nor a plugin has."""
    strange = [name for name in values.get("operators", ()) if split_implementation(name)[0] is None]
    if not all(map(is_known, strange)):
        read = _names(_name_of("operator", lambda: [*catalog(), *own()]))
        _read(read, [name for name in strange if not is_known(name)], folder, f"{where}: `{prefix}operators`")


def overridden(file: GateFile, options: Mapping[str, object]) -> GateFile:
    """Return the file with overriding options of a command line; None overrides nothing."""
    readers = {**KEYS, **EXPECTED_KEYS}
    values: JsonDict = {}
    for option, value in options.items():
        if value is None or value == []:
            continue
        field, reader = readers[OPTIONS.get(option, option)]
        values[field] = _read(reader, value, Path(), f"`--{option.replace('_', '-')}`")
    return replace(file, **values)


def _parse(text: str, where: str) -> dict[str, object]:
    try:
        document: dict[str, object] = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not TOML ({error})", slug="gate_file") from error
    return document


def _shared_table(document: Mapping[str, object]) -> object:
    """Return the table `tool.opperf`, None if there is none."""
    tool = document.get("tool")
    return tool.get("opperf") if isinstance(tool, dict) else None


def _values(
    table: Mapping[str, object], keys: Mapping[str, tuple[str, Reader]], where: str, folder: Path, prefix: str
) -> JsonDict:
    """Read the values of a table by the name of their field; an unknown key is refused."""
    result = {}
    for key, value in table.items():
        if key in TABLES and not prefix:
            continue
        if key not in keys:
            names = sorted({*keys, *(() if prefix else TABLES)})
            error = unknown("key", key, names, hint=f"known: {', '.join(names)}")
            raise InputError(f"{where}: {error.message}", hint=error.hint, slug=error.slug)
        field, reader = keys[key]
        result[field] = _read(reader, value, folder, f"{where}: `{prefix}{key}`")
    return result


def _read(reader: Reader, value: object, folder: Path, where: str) -> object:
    """Read one value; errors name its place."""
    with at_place(where):
        return reader(value, folder)


def _kind(value: object) -> str:
    return {"str": "a string", "dict": "a table", "list": "a list"}.get(type(value).__name__, f"`{value!r}`")


def _wrong(value: object, expected: str, hint: str | None = None) -> InputError:
    return InputError(f"found {value!r}, expected {expected}", hint=hint, slug="gate_file")


def _string(value: object, _: Path) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _wrong(value, "a string")
    return value


def _jobs(value: object, folder: Path) -> int:
    """Return a number of jobs, 0 for `auto`."""
    if isinstance(value, str) and re.fullmatch(r"[1-9][0-9]{0,3}", value.strip()):
        return int(value)
    if value == "auto":
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value < 10_000:
        raise _wrong(value, "`auto` or a whole number >= 1")
    return value


def _path(value: object, folder: Path) -> Path:
    text = _string(value, folder)
    if "\0" in text:
        raise _wrong(value, "a path")
    return folder / text


def _whole(least: int) -> Reader:
    def read(value: object, _: Path) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise _wrong(value, f"a whole number >= {least}")
        return value

    return read


def _yes_or_no(value: object, _: Path) -> bool:
    if not isinstance(value, bool):
        raise _wrong(value, "true or false")
    return value


def _percent(value: object, folder: Path) -> float:
    if isinstance(value, float) and 0 < value < 1:
        return value
    if not isinstance(value, str):
        raise _wrong(value, "a percentage or a fraction below 1", 'write, for example, `"2%"`')
    read = parse_percent(_string(value, folder), name="the value")
    if read <= 0:
        raise _wrong(value, "more than 0%")
    return read


def _duration(value: object, folder: Path) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e12:
        read = float(value)
    else:
        read = parse_duration(_string(value, folder), name="the value")
    if not read > 0:
        raise _wrong(value, "a time above 0")
    return read


def _one_of(names: Sequence[str]) -> Reader:
    def read(value: object, _: Path) -> str:
        if value not in names:
            raise _wrong(value, " or ".join(f"`{word}`" for word in names))
        return str(value)

    return read


def _names(check: Callable[[str], object]) -> Callable[[object, Path], tuple[str, ...]]:
    """Read a list of names, or one name, each of which `check` must know."""

    def read(value: object, folder: Path) -> tuple[str, ...]:
        words = value if isinstance(value, list) else [value]
        if not words:
            raise _wrong(value, "one name at least")
        for word in words:
            check(_string(word, folder))
        return tuple(words)

    return read


def _name_of(kind: str, names: Callable[[], Sequence[str]]) -> Callable[[str], None]:
    def check(name: str) -> None:
        check_known(kind, name, names())

    return check


def _operator(name: str) -> None:
    """Raise for code; a framework's own names only the framework knows, and other names may be those of plugins."""
    check_name(name, "an operator")
    split_implementation(name)


def _arguments(value: object, _: Path) -> Mapping[str, object]:
    """Read arguments by name, each as `--input` and `--attribute` read it or as TOML has it."""
    if not isinstance(value, dict) or not value or any(isinstance(one, dict) for one in value.values()):
        raise _wrong(value, "a table of arguments by name", 'write, for example, `{lhs = "64x64", rhs = [64, 64]}`')
    return {name: tuple(one) if isinstance(one, list) else one for name, one in value.items()}


def _inputs(value: object, folder: Path) -> tuple[Mapping[str, object], ...]:
    """Read a table of inputs, or a list of them: each makes one case of every operator."""
    return tuple(_arguments(one, folder) for one in (value if isinstance(value, list) else [value]))


def _places(value: object, folder: Path) -> tuple[str, ...]:
    """Read sides or environments; `python=PATH` is relative to the file too."""
    words = _names(lambda _: None)(value, folder)
    return tuple(_place(word, folder) for word in words)


def _place(word: str, folder: Path) -> str:
    path, _, rest = word.removeprefix("python=").partition(";")
    if not word.startswith("python=") or Path(path).is_absolute():
        return word
    return f"python={(folder / path).absolute()}" + (f";{rest}" if rest else "")


def _environments(value: object, folder: Path) -> tuple[str, ...]:
    words = _places(value, folder)
    for word in words:
        EnvironmentSpec.parse(word)
    return words


def _side(value: object, folder: Path) -> str:
    return _place(_string(value, folder), folder)


def _database(value: object, folder: Path) -> str:
    """Read an address; a file is relative to this one."""
    text = _string(value, folder)
    return text if "://" in text else str((folder / text).absolute())


#: The keys of the file, each with the field that it fills and how its value is read.
KEYS: Mapping[str, tuple[str, Reader]] = {
    "suite": ("suite", _path),
    "operators": ("operators", _names(_operator)),
    "categories": ("categories", _names(_name_of("category", categories))),
    "skip": ("skip", _names(lambda _: None)),
    "sizes": ("sizes", _names(_name_of("size", lambda: (*SIZES, INT64)))),
    "dtypes": ("dtypes", _names(parse_dtype)),
    "directions": ("directions", _names(_name_of("direction", lambda: DIRECTIONS))),
    "values": ("values", _names(parse_distribution)),
    "random": ("random", _whole(1)),
    "inputs": ("inputs", _inputs),
    "attributes": ("attributes", _arguments),
    "base": ("base", _side),
    "new": ("new", _places),
    "tolerance": ("tolerance", _percent),
    "pairs": ("pairs", _whole(LEAST)),
    "settle": ("settle", _yes_or_no),
    "max_pairs": ("max_pairs", _whole(LEAST)),
    "budget": ("budget", _duration),
    "timeout": ("timeout", _duration),
    "inconclusive": ("inconclusive", _one_of(POLICIES)),
    "seed": ("seed", _whole(0)),
    "cpus": ("cpus", _string),
    "jobs": ("jobs", _jobs),
    "clock": ("clock", _one_of(("wall", INSTRUCTIONS))),
}
_NOT_NIGHTLY = ("base", "new", "jobs")
#: The keys of the table `[nightly]`: those of a gate but for its sides and jobs, and its own.
NIGHTLY_KEYS: Mapping[str, tuple[str, Reader]] = {
    **{name: both for name, both in KEYS.items() if name not in _NOT_NIGHTLY},
    "build": ("builds", _places),
    "builds": ("builds", _places),
    "anchor": ("anchor", _side),
    "index": ("index", _string),
    "name": ("name", _string),
}
#: The keys of the table `[expected]`.
EXPECTED_KEYS: Mapping[str, tuple[str, Reader]] = {
    "file": ("expected", _path),
    "threshold": ("threshold", _percent),
    "processes": ("processes", _whole(LEAST)),
    "frameworks": ("frameworks", _names(framework)),
    "environments": ("environments", _environments),
    "devices": ("devices", _names(parse_device)),
    "modes": ("modes", _names(_name_of("mode", lambda: MODES))),
}
#: Options of the command line that are not called like their key.
OPTIONS = {"expected": "file", "framework": "frameworks", "environment": "environments", "device": "devices"}
