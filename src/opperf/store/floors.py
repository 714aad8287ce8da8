"""The noise floors of this machine: one file for each machine, since another one moves otherwise."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from opperf.errors import InputError
from opperf.floor import Floor
from opperf.store.run_file import write_text

#: The facts that make a machine another one, as far as noise goes.
FACTS = ("cpu", "cores_usable", "hypervisor", "governor", "memory_total")
SCHEMA_VERSION = 1
#: How long a command waits for another one that writes floors, in seconds.
PATIENCE = 10.0


def floors_file(folder: Path, machine: Mapping[str, Any]) -> Path:
    """Return where the floors of a machine lie, in the cache folder."""
    told = json.dumps([machine.get(name) for name in FACTS], default=str)
    return folder / "noise" / f"{hashlib.sha256(told.encode()).hexdigest()[:16]}.json"


def read_floors(path: Path) -> dict[tuple[object, ...], Floor]:
    """Return the floors of a file by what they are the floor of; a file that is not there holds none.

    Raises `InputError` for a file that opperf did not write.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        known = [Floor.from_json(entry, f"{path}: floors[{i}]") for i, entry in enumerate(data["floors"])]
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise InputError(
            f"{path}: not a file of noise floors ({error})", hint="remove it and run `opperf noise` again", slug="input"
        ) from error
    return {floor.key: floor for floor in known}


def add_floors(path: Path, floors: Iterable[Floor]) -> None:
    """Add floors to a file; one of the same trial replaces the earlier one. Several commands may do so at once."""
    from filelock import FileLock, Timeout  # 40 ms that only `opperf noise` pays

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{path}.lock", timeout=PATIENCE):
            known = {**read_floors(path), **{floor.key: floor for floor in floors}}
            document = {"schema_version": SCHEMA_VERSION, "floors": [floor.to_json() for floor in known.values()]}
            write_text(path, json.dumps(document, indent=1) + "\n")
    except Timeout as error:
        raise InputError(f"cannot write `{path}`: another opperf holds it", slug="output") from error
    except OSError as error:
        raise InputError(f"cannot write `{path}`: {error.strerror}", slug="output") from error
