"""Plugins installed next to opperf: modules named in the entry points of the group `opperf.plugins`.

A module is found, never imported: what is in it runs in the children that measure it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import TYPE_CHECKING

from opperf.domain.errors import InputError

if TYPE_CHECKING:
    from importlib.metadata import Distribution, EntryPoint

GROUP = "opperf.plugins"


def installed_plugins(note: Callable[[str], None]) -> dict[str, Path]:
    """Return the file of each installed plugin by the plugin's name; `note` takes a line on each without one."""
    from importlib.metadata import distributions  # it reads mail headers; few commands ask for plugins

    entries: dict[str, EntryPoint] = {}
    for package in distributions():
        for entry in _entries(package, note):
            entries.setdefault(entry.name, entry)  # of a package in two places, Python imports the first
    paths: dict[str, Path] = {}
    for name in sorted(entries):
        try:
            paths[name] = module_file(_module(entries[name]))
        except InputError as error:
            note(f"plugin `{name}` is left out: {error.message}")
    return paths


def _entries(package: Distribution, note: Callable[[str], None]) -> Iterator[EntryPoint]:
    """Yield the plugins of a package; a file that Python cannot read does not stop the plugins of others."""
    try:
        yield from package.entry_points.select(group=GROUP)
    except (TypeError, ValueError, AttributeError) as error:  # each release of Python has its own
        note(f"the plugins of `{package.name}` are left out: {error}")


def _module(entry: EntryPoint) -> str:
    """Return the module that an entry point names; raises `InputError` for none."""
    module = entry.value.partition(":")[0].partition("[")[0].strip()
    if all(word.isidentifier() for word in module.split(".")):
        return module
    raise InputError(f"`{entry.value}` names no module", hint="write `name = package.module`")


def module_file(name: str, places: Sequence[str] | None = None) -> Path:
    """Return the file that a module would be loaded from; neither it nor a package around it is run.

    It is looked for in `places`, by default where Python does. Raises `InputError` for a module that is not there, or
    not a file of Python.
    """
    spec: ModuleSpec | None = None
    words = name.split(".")
    for i in range(len(words)):
        spec = _spec(".".join(words[: i + 1]), places)
        if spec is None:
            raise InputError(f"there is no module `{name}`", hint="install its package in the Python that runs opperf")
        places = spec.submodule_search_locations
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        raise InputError(f"module `{name}` is not a Python file", hint="name the module that declares operators")
    return Path(spec.origin)


def _spec(name: str, places: object) -> ModuleSpec | None:
    for finder in sys.meta_path:
        spec = finder.find_spec(name, places)  # type: ignore[arg-type]  # None at the top, else where a package lies
        if spec is not None:
            return spec
    return None
