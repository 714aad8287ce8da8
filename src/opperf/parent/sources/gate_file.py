"""Gate files: what `opperf gate` and `opperf nightly` compare, in `opperf.toml` or `[tool.opperf]` of pyproject.toml.

A file is read whole and checked whole before anything runs. Each message names the file, the key, what was found and
what was expected. Paths in it are relative to its own folder, so that the gate is the same from wherever it is called.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path

from opperf.catalog import catalog, is_known
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, at_place, unknown
from opperf.domain.files.json_text import JsonDict, JsonObject
from opperf.domain.files.text_file import read_text
from opperf.domain.registry import split_implementation
from opperf.parent.sources.gate_keys import (
    DATABASE_KEYS,
    EXPECTED_KEYS,
    KEYS,
    NIGHTLY_KEYS,
    Keys,
    Reader,
    check_option,
    name_of,
    names,
)
from opperf.parent.sources.machine_tokens import NAME as MACHINE
from opperf.parent.sources.machine_tokens import reference
from opperf.parent.sources.notify_keys import NOTIFY_KEYS, Channels
from opperf.parent.sources.option import Overrides, declarations
from opperf.parent.sources.options import GateOptions, What

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

NAME, SHARED = "opperf.toml", "pyproject.toml"
#: The tables next to the keys of a gate.
TABLES = ("expected", "nightly", "database", "notify", "serve")


@dataclass(frozen=True)
class GateFile(What, GateOptions):
    """The settings of a gate file, with their defaults: options of the command line, but for the first and the last."""

    path: Path | None = None
    notify: Channels = Channels()
    operators: tuple[str, ...] = ()
    base: str | None = None
    new: tuple[str, ...] = ()
    mode: tuple[str, ...] = ()


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


def find_gate_file(folder: Path) -> Path | None:
    """Return `opperf.toml` of a folder, else its pyproject.toml where that has a table `[tool.opperf]`."""
    if (folder / NAME).is_file():
        return folder / NAME
    shared = folder / SHARED
    return shared if shared.is_file() and _shared_table(_parse(read_text(shared), str(shared))) is not None else None


def read_gate_file(path: Path, plugin_names: Callable[[], Collection[str]] = tuple) -> GateFile:
    """Read a gate file; raises `InputError` that says what is wrong and where."""
    return gate_file(read_text(path), path, plugin_names)


def gate_file(text: str, path: Path, plugin_names: Callable[[], Collection[str]] = tuple) -> GateFile:
    """Parse the text of a gate file; its name decides which table is read.

    `plugin_names` are the operators of plugins, asked for where there is a name that the catalog does not have. Raises
    `InputError` that says what is wrong and where.

    >>> gate_file('base = "torch"', Path("opperf.toml")).base
    'torch'
    """
    where = str(path)
    table = _table(text, path)
    values = _values(table, KEYS, where, path.parent, "")
    _check_operators(values, where, path.parent, plugin_names, "")
    values |= _values(_inner(table, "expected", where), EXPECTED_KEYS, where, path.parent, "expected.")
    return GateFile(path=path, notify=_channels(table, path), **values)


def read_nightly_file(path: Path, *, selects: bool = True) -> NightlyFile:
    """Read a file with a table `[nightly]`; raises `InputError` that says what is wrong and where."""
    return nightly_file(read_text(path), path, selects=selects)


def nightly_file(text: str, path: Path, *, selects: bool = True) -> NightlyFile:
    r"""Read the tables `[nightly]` and `[database]` of a file; it `selects` operators unless the user has named some.

    Raises `InputError` that says what is wrong and where.

    >>> text = '[nightly]\noperators = "sum"\nbuild = "numpy"\nanchor = "numpy==1.26.4"'
    >>> file = nightly_file(text, Path("opperf.toml"))
    >>> file.builds, file.name
    (('numpy',), 'numpy')
    """
    where, table = str(path), _table(text, path)
    inner = _inner(table, "nightly", where)
    values = _values(inner, NIGHTLY_KEYS, where, path.parent, "nightly.")
    _check_operators(values, where, path.parent, tuple, "nightly.")
    settings = {name: values.pop(name) for name in ("builds", "anchor", "index", "name") if name in values}
    for key, name in (("build", "builds"), ("anchor", "anchor")):
        if name not in settings:
            message = f"{where}: no `{key}` in the table `[nightly]`" if inner else f"{where}: no table `[nightly]`"
            raise InputError(message, hint='write, for example, `anchor = "numpy==1.26.4"`', slug="gate_file")
    if selects and not (values.get("operators") or values.get("category") or values.get("suite")):
        hint = 'write, for example, `categories = ["reduction"]`'
        raise InputError(f"{where}: `[nightly]` selects no operators", hint=hint, slug="gate_file")
    settings.setdefault("name", re.split(r"[^A-Za-z0-9_-]", settings["anchor"])[0])
    gate = GateFile(path=path, notify=_channels(table, path), **values)
    return NightlyFile(gate=gate, database=database_of(table, path), **settings)


def _channels(table: Mapping[str, object], path: Path) -> Channels:
    """Return where the table `[notify]` of a file has messages sent; raises `InputError`."""
    where, inner = str(path), _inner(table, "notify", str(path))
    unknown_names = [name for name in inner if name not in NOTIFY_KEYS]
    if unknown_names:
        hint = f"known: {', '.join(NOTIFY_KEYS)}"
        raise InputError(f"{where}: no table `[notify.{unknown_names[0]}]`", hint=hint, slug="gate_file")
    channels = {}
    for name in inner:
        kind, keys = NOTIFY_KEYS[name]
        values = _values(_inner(inner, name, where), keys, where, path.parent, f"notify.{name}.")
        missing = [key for key in keys if key not in values and key != "form"]
        if missing:
            raise InputError(f"{where}: no `{missing[0]}` in the table `[notify.{name}]`", slug="gate_file")
        channels[name] = kind(**values)
    return Channels(**channels)


def database_of(table: Mapping[str, object], path: Path) -> str | None:
    """Return the address that the table `[database]` of a file names, None where it names none."""
    where = str(path)
    return _values(_inner(table, "database", where), DATABASE_KEYS, where, path.parent, "database.").get("url")


def find_database(folder: Path) -> str | None:
    """Return the address that the file of a folder names, None where there is none; raises `InputError`."""
    path = find_gate_file(folder)
    return None if path is None else database_of(_table(read_text(path), path), path)


def find_machines(folder: Path) -> dict[str, str]:
    """Return the variable, as `$NAME`, that has the token of each machine in the table `[serve.machines]` of a file.

    The file is that of a folder; without one there are none. Raises `InputError`.
    """
    path = find_gate_file(folder)
    if path is None:
        return {}
    table = _inner(_table(read_text(path), path), "serve", str(path))
    machines = _inner(table, "machines", str(path))
    strange = [
        *(name for name in table if name != "machines"),
        *(name for name in machines if not MACHINE.fullmatch(name)),
    ]
    if strange:
        hint = "known: `[serve.machines]`, whose keys are names of letters, digits and `_.-`"
        raise InputError(f"{path}: no key `{strange[0]}` in the table `[serve]`", hint=hint, slug="gate_file")
    keys = {name: (name, reference) for name in machines}
    return _values(machines, keys, str(path), path.parent, "serve.machines.")


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
    values: JsonObject, where: str, folder: Path, plugin_names: Callable[[], Collection[str]], prefix: str
) -> None:
    """Raise `InputError` for a neutral operator that neither the catalog nor a plugin has."""
    strange = [name for name in values.get("operators", ()) if split_implementation(name)[0] is None]
    if not all(map(is_known, strange)):
        read = names(name_of("operator", lambda: [*catalog(), *plugin_names()]))
        _read(read, [name for name in strange if not is_known(name)], folder, f"{where}: `{prefix}operators`")


def overridden(file: GateFile, options: Overrides[GateOptions]) -> GateFile:
    """Return the file with overriding options; raises `InputError` for what a file may not say either."""
    for option in declarations(GateOptions):
        if options.has(option.name):
            with at_place(f"`{option.flag}`"):
                check_option(option, options.values[option.name])
    return replace(file, **options.values)


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


def _values(table: Mapping[str, object], keys: Keys, where: str, folder: Path, prefix: str) -> JsonDict:
    """Read the values of a table by the name of their field; an unknown key is refused."""
    result = {}
    for key, value in table.items():
        if key in TABLES and not prefix:
            continue
        if key not in keys:
            valid = sorted({*keys, *(() if prefix else TABLES)})
            error = unknown("key", key, valid, hint=f"known: {', '.join(valid)}")
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
