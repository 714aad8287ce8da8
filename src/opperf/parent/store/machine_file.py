"""What is known of this machine: one file for each machine and kind of knowledge, added to by several commands."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.files.destination import ensure_private, explain_errors, prove, write_text
from opperf.domain.files.text_file import read_json
from opperf.domain.peaks import Rate
from opperf.parent.documents.floor import Floor
from opperf.parent.workers.contention import Effect

#: The facts that make a machine another one, as far as its speed and noise go.
FACTS = ("cpu", "cores_usable", "hypervisor", "governor", "memory_total")
SCHEMA_VERSION = 1
#: How long a command waits for another one that writes, in seconds.
PATIENCE = 10.0


class Entry(Protocol):
    """One thing that is known; a later one with the same key replaces it."""

    @property
    def key(self) -> tuple[object, ...]:
        """What it is known of."""

    def to_json(self) -> dict[str, object]:
        """Return the JSON form."""


E = TypeVar("E", bound=Entry)


@dataclass(frozen=True)
class MachineFile(Generic[E]):
    """Files of `what`, in `folder` of the cache: entries stand under `name`, and the command `made_by` makes them."""

    what: str
    folder: str
    name: str
    made_by: str
    from_json: Callable[[Mapping[str, object], str], E]

    def path(self, cache: Path, machine: Mapping[str, object]) -> Path:
        """Return where the entries of a machine lie, below the cache folder."""
        names = [gpu.get("name") for gpu in machine.get("gpus") or ()]  # type: ignore[attr-defined]
        gpus = machine.get("gpus_visible") or names
        text = json.dumps([*(machine.get(name) for name in FACTS), *gpus], default=str)  # type: ignore[misc]
        return cache / self.folder / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"

    def read(self, path: Path) -> dict[tuple[object, ...], E]:
        """Return the entries of a file by their keys; a file that is not there holds none.

        Raises `InputError` for a file that opperf did not write.
        """
        if not path.exists():
            return {}
        hint = f"remove it and run `{self.made_by}` again"
        data = read_json(path, hint=hint)
        entries = data.get(self.name) if isinstance(data, dict) else None
        if not isinstance(entries, list):
            raise InputError(f"{path}: not a file of {self.what}: `{self.name}` is not a list", hint=hint, slug="input")
        try:
            result = [self.from_json(entry, f"{path}: {self.name}[{i}]") for i, entry in enumerate(entries)]
        except InputError as error:
            raise InputError(error.message, hint=hint, slug=error.slug) from error
        return {entry.key: entry for entry in result}

    def prove(self, path: Path) -> None:
        """Raise where entries could not be added: for a file that cannot be written, or read."""
        with explain_errors(path):
            ensure_private(path.parent)
        prove(path)
        self.read(path)

    def add(self, path: Path, entries: Iterable[E]) -> None:
        """Add entries to a file; several commands may do so at once. Raises `InputError` where it cannot be written."""
        from filelock import FileLock, Timeout  # 40 ms that only commands which write pay

        try:
            with explain_errors(path):
                ensure_private(path.parent)
            with FileLock(f"{path}.lock", timeout=PATIENCE):
                by_key = {**self.read(path), **{entry.key: entry for entry in entries}}
                document = {"schema_version": SCHEMA_VERSION, self.name: [entry.to_json() for entry in by_key.values()]}
                write_text(path, json.dumps(document, indent=1) + "\n")
        except Timeout as error:
            raise InputError(
                f"cannot write `{path}`: another opperf process is using it",
                hint="try again when that process has finished",
                slug="output",
            ) from error
        except OSError as error:
            raise InputError(f"cannot write `{path}`: {error.strerror}", slug="output") from error


#: How far identical code moves on a machine, how fast it can be, and how far its jobs disturb each other.
FLOORS = MachineFile[Floor]("noise floors", "noise", "floors", "opperf noise", Floor.from_json)
RATES = MachineFile[Rate]("measured peaks", "peaks", "rates", "opperf doctor --peaks", Rate.from_json)
EFFECTS = MachineFile[Effect]("effects of jobs", "jobs", "effects", "opperf run --jobs N", Effect.from_json)
