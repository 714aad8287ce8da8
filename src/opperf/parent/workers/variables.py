"""The environment variables that a child starts with: the parent's, what its side says, and defaults for the rest."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from opperf.domain.plan import LAYOUT_BYTES, PLACING, Side
from opperf.domain.tensor import ARRAYS
from opperf.parent.workers.package import cache_folder


def layout_variables(side: Side) -> dict[str, str]:
    """Return the variable that makes the environment of a side larger whose memory has another layout.

    >>> layout_variables(Side("torch")), len(layout_variables(Side("torch", settings={"layout": "2"}))[PLACING])
    ({}, 2000)
    """
    return {PLACING: "1" * (side.layout * LAYOUT_BYTES)} if side.layout else {}


#: Variables that hold several flags.
FLAGS = ("XLA_FLAGS",)


def child_variables(package: Path, *, own_path: bool, bytecode: bool) -> dict[str, str]:
    """Return the child's environment variables: the parent's, with `opperf` found in its private folder.

    They say where the elements of arrays lie that a program handed over.
    """
    variables = {**os.environ, ARRAYS: str(arrays_folder())}
    user = variables.get("PYTHONPATH") if own_path else None
    variables["PYTHONPATH"] = f"{package}{os.pathsep}{user}" if user else str(package)
    if bytecode:  # importing torch takes half the time with it
        variables.pop("PYTHONDONTWRITEBYTECODE", None)
    return variables


def arrays_folder() -> Path:
    """Return where the elements of arrays are kept."""
    return cache_folder() / "arrays"


def with_defaults(variables: Mapping[str, str], defaults: Mapping[str, str]) -> dict[str, str]:
    """Return variables with defaults for those that are not set. Of flags, which are a list, the last one counts.

    >>> with_defaults({"XLA_FLAGS": "--b", "SEED": "1"}, {"XLA_FLAGS": "--a", "SEED": "0"})
    {'XLA_FLAGS': '--a --b', 'SEED': '1'}
    """
    flags = {name: f"{defaults[name]} {variables[name]}" for name in FLAGS if name in defaults and name in variables}
    return {**defaults, **variables, **flags}
