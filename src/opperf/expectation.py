"""An expectation: how long a trial took when somebody wrote it down, on which machine and with which version."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any

from opperf.environment import EnvironmentSpec
from opperf.errors import InputError, unknown
from opperf.operators import DIRECTIONS
from opperf.plan import ALLOCATORS, ENGINES, MODES, Trial
from opperf.registry import device_named, framework

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Expectation:
    """What is expected of a trial. `times` has the clean minimum of each process, in seconds."""

    trial: Trial
    times: tuple[float, ...]
    memory_peak: int | None = None
    memory_source: str | None = None
    version: str | None = None
    machine: Mapping[str, Any] = field(default_factory=dict)
    recorded: str | None = None

    @property
    def time(self) -> float:
        """The median over processes, in seconds."""
        return median(self.times)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form, with the median beside the times that it is of."""
        return {
            **self.trial.to_json(),
            "time": self.time,
            "times": list(self.times),
            "memory_peak": self.memory_peak,
            "memory_source": self.memory_source,
            "version": self.version,
            "machine": dict(self.machine),
            "recorded": self.recorded,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], where: str) -> Expectation:
        """Read the JSON form; raises `InputError` that names the place."""
        try:
            trial = Trial.from_json(data)
            _check(trial)
            times = tuple(float(value) for value in data["times"])
            peak = data.get("memory_peak")
            machine = dict(data.get("machine") or {})
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise InputError(
                f"{where}: not an expectation that opperf wrote ({type(error).__name__}: {error})",
                slug="expected_file",
            ) from error
        except InputError as error:
            raise InputError(f"{where}: {error.message}", hint=error.hint, slug=error.slug) from error
        if not times or not all(math.isfinite(value) and value > 0 for value in times):
            raise InputError(
                f"{where}.times: found {data['times']!r}, expected the seconds of each process, all above 0",
                slug="expected_file",
            )
        if peak is not None and (not isinstance(peak, int) or isinstance(peak, bool) or peak < 0):
            raise InputError(f"{where}.memory_peak: found {peak!r}, expected bytes or null", slug="expected_file")
        return cls(
            trial,
            times,
            peak,
            data.get("memory_source"),
            data.get("version"),
            machine,
            data.get("recorded"),
        )


def _check(trial: Trial) -> None:
    """Raise for a trial that cannot be measured; what is in a file was not checked by a command line."""
    side = trial.side
    hash(trial.key)
    framework(side.framework)
    device_named(side.device)
    EnvironmentSpec.parse(side.environment)
    for kind, value, known in (
        ("mode", side.mode, MODES),
        ("engine", side.engine, ENGINES),
        ("allocator", side.allocator, ALLOCATORS),
        ("direction", trial.direction, DIRECTIONS),
    ):
        if value not in known:
            raise unknown(kind, value, known, hint=f"known: {', '.join(known)}")
    if not isinstance(side.threads, int) or isinstance(side.threads, bool) or side.threads < 1:
        raise InputError(f"`threads` is {side.threads!r}, expected a whole number >= 1", slug="expected_file")
    if not all(isinstance(word, str) for pair in side.settings.items() for word in pair):
        raise InputError("`settings` holds what is no text", slug="expected_file")
    if side.implementation is not None and not isinstance(side.implementation, str):
        raise InputError("`implementation` is no text", slug="expected_file")


def document(expectations: Iterable[Expectation]) -> dict[str, Any]:
    """Return what a file of expectations holds."""
    return {
        "schema_version": SCHEMA_VERSION,
        "expectations": [expectation.to_json() for expectation in expectations],
    }


def from_document(data: Any, where: str) -> tuple[Expectation, ...]:
    """Read what `document` wrote; raises `InputError` that names the place."""
    if not isinstance(data, dict) or "expectations" not in data:
        raise InputError(
            f"{where}: not a file of expectations",
            hint="`opperf gate --update-expected` writes one",
            slug="expected_file",
        )
    if data.get("schema_version") != SCHEMA_VERSION:
        raise InputError(
            f"{where}: schema_version is {data.get('schema_version')!r}, this opperf reads {SCHEMA_VERSION}",
            hint="read it with the opperf that wrote it, or a newer one",
            slug="schema_version",
        )
    entries = data["expectations"]
    if not isinstance(entries, list):
        raise InputError(f"{where}: `expectations` is {type(entries).__name__}, expected a list", slug="expected_file")
    found = tuple(Expectation.from_json(entry, f"{where}: expectations[{i}]") for i, entry in enumerate(entries))
    keys: set[tuple[object, ...]] = set()
    for i, one in enumerate(found):
        if one.trial.key in keys:
            raise InputError(
                f"{where}: expectations[{i}] is of a trial that an earlier one is of", slug="expected_file"
            )
        keys.add(one.trial.key)
    return found
