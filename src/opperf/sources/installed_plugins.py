"""Plugins that are installed beside opperf: modules named in the entry points of the group `opperf.plugins`.

A module is found, never imported: what is in it runs in the children that measure it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from importlib.metadata import entry_points
from pathlib import Path

from opperf.errors import InputError

GROUP = "opperf.plugins"


def installed_plugins(note: Callable[[str], None]) -> dict[str, Path]:
    """Return the file of each installed plugin by the plugin's name; `note` takes a line on each without one."""
    found: dict[str, Path] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        try:
            found[entry.name] = module_file(entry.module)
        except InputError as error:
            note(f"plugin `{entry.name}` is left out: {error.message}")
    return found


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
            raise InputError(f"there is no module `{name}`", hint="is its package installed beside opperf?")
        places = spec.submodule_search_locations
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        raise InputError(f"module `{name}` is not a file of Python", hint="name the module that declares operators")
    return Path(spec.origin)


def _spec(name: str, places: object) -> ModuleSpec | None:
    for finder in sys.meta_path:
        spec = finder.find_spec(name, places)  # type: ignore[arg-type]  # None at the top, else where a package lies
        if spec is not None:
            return spec
    return None
