"""asv's folder of results: a folder for each machine, a file for each commit and environment.

A folder may hold hundreds of megabytes, so each file is read by itself, and skipped where the database has it: its
digest stands with the run. Format: https://asv.readthedocs.io/en/stable/dev.html.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from opperf.domain.codec import Fields, read_as
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.files.json_text import JsonDict, NotJSON, value_of
from opperf.domain.files.text_file import distinct, read_bytes, read_json
from opperf.domain.type_hint import Unread
from opperf.parent.store.imports.asv_file import Benchmark, read_build
from opperf.parent.store.imports.builds import Build

#: Goes into the digest of a file: what is read otherwise than it was, is another run.
EDITION = b"asv 2\n"
#: The most digits of a number that stands in a text.
MOST_DIGITS = 18
MACHINE, BENCHMARKS = "machine.json", "benchmarks.json"


@dataclass(frozen=True)
class _Machine(Fields):
    machine: str
    arch: str | None = None
    cpu: str | None = None
    num_cpu: str | None = None
    ram: str | None = None


def is_results(folder: Path) -> bool:
    """Whether this is a folder of asv's results: it has one for each machine."""
    return any(folder.glob(f"*/{MACHINE}"))


@dataclass(frozen=True)
class Folder:
    """A folder of asv's results. What it knows of benchmarks and machines is read once."""

    path: Path

    def files(self) -> list[Path]:
        """Return the file of each build, machine by machine; raises `InputError` where benchmarks cannot be read."""
        assert self.benchmarks is not None  # without them, parameters would have other names
        places = sorted(self.path.glob(f"*/{MACHINE}"))
        return [path for place in places for path in sorted(place.parent.glob("*.json")) if path != place]

    @cached_property
    def benchmarks(self) -> Mapping[str, Benchmark]:
        """The benchmarks by name; raises `InputError` for a file that cannot be read."""
        path = self.path / BENCHMARKS
        if not path.exists():
            return {}
        entries = read_as(Mapping[str, Unread], read_json(path), str(path))
        # `version` is the version of the file.
        return {name: read_as(Benchmark, one, f"{path}: {name}") for name, one in entries.items() if name != "version"}

    @cached_property
    def _machines(self) -> dict[Path, JsonDict | InputError]:
        return {}

    def machine(self, folder: Path) -> JsonDict:
        """Return the facts of the machine of a folder; raises `InputError` for a file that cannot be read."""
        if folder not in self._machines:
            try:
                self._machines[folder] = _facts(folder / MACHINE)
            except InputError as error:
                self._machines[folder] = error
        facts = self._machines[folder]
        if isinstance(facts, InputError):
            raise facts
        return facts

    def build(self, path: Path, there: Collection[str]) -> Build | str:
        """Read a file, or return its digest where that is among `there`; raises `InputError`."""
        benchmarks, machine = self.benchmarks, self.machine(path.parent)
        data = read_bytes(path)
        digest = sha256(EDITION + data).hexdigest()[:32]
        if digest in there:
            return digest
        try:
            value = value_of(data, object_pairs_hook=distinct)
        except NotJSON as error:
            raise InputError(f"{path}: not JSON ({error})", slug="input") from error
        return read_build(value, path, digest=digest, machine=machine, benchmarks=benchmarks)


def _facts(path: Path) -> JsonDict:
    machine = read_as(_Machine, read_json(path), str(path))
    facts = {
        "architecture": machine.arch,
        "cpu": machine.cpu or machine.machine,
        "cores_logical": _whole(machine.num_cpu),
        "memory_total": _whole(machine.ram),
    }
    return {name: value for name, value in facts.items() if value is not None}


def _whole(text: str | None) -> int | None:
    return int(text) if text and text.isdecimal() and len(text) <= MOST_DIGITS else None
