"""A node of a fleet: one of the machines that measure for a command, and its kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from opperf.domain.codec import Fields
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.files.json_text import JsonObject

#: What a node may be chosen by.
PROPERTIES = ("cpu", "gpu", "architecture", "node")


@dataclass(frozen=True)
class Node(Fields):
    """A machine of a fleet: its `name` there, and its `kind`, which it shares with all that have the same hardware."""

    name: str
    kind: str


def kind_of(machine: JsonObject) -> str:
    """Return the kind of a machine: its hardware, never what a clock or a load says.

    >>> kind_of({"cpu": "AMD EPYC 7763", "cores_logical": 64, "gpus": [{"name": "NVIDIA H200"}] * 2})
    'AMD EPYC 7763, 64 cores, 2 x NVIDIA H200'
    """
    cores = machine.get("cores_logical")
    gpus = Counter(_gpus(machine))
    parts = [machine.get("cpu") or machine.get("architecture") or "unknown", cores and f"{cores} cores"]
    parts += [f"{count} x {name}" if count > 1 else name for name, count in gpus.items()]
    return ", ".join(str(part) for part in parts if part)


def _gpus(machine: JsonObject) -> list[str]:
    gpus = machine.get("gpus")
    gpus = gpus if isinstance(gpus, Sequence) else ()
    return [str(gpu.get("name") if isinstance(gpu, Mapping) else gpu) for gpu in gpus]


@dataclass(frozen=True)
class Where:
    """Which nodes may measure: each condition is a property and a pattern that one of its values must hold."""

    conditions: Sequence[tuple[str, str]] = ()

    @classmethod
    def parse(cls, text: str | None) -> Where:
        """Read `--where`; raises `InputError`.

        >>> Where.parse("cpu=AMD EPYC*, gpu=H200").conditions
        (('cpu', 'AMD EPYC*'), ('gpu', 'H200'))
        """
        conditions = []
        for part in filter(None, map(str.strip, (text or "").split(","))):
            name, equals, pattern = (word.strip() for word in part.partition("="))
            if not equals or not pattern or name not in PROPERTIES:
                raise InputError(
                    f"`--where` has `{part[:100]}`, expected PROPERTY=PATTERN with {', '.join(PROPERTIES)}",
                    hint='write, for example, `--where "cpu=AMD EPYC*, gpu=H200"`',
                )
            conditions.append((name, pattern))
        return cls(tuple(conditions))

    def holds(self, node: str, machine: JsonObject) -> bool:
        """Whether a node meets every condition, ignoring case."""
        values = {
            "cpu": [str(machine.get("cpu"))],
            "gpu": _gpus(machine),
            "architecture": [str(machine.get("architecture"))],
            "node": [node],
        }
        return all(
            any(fnmatchcase(value.lower(), f"*{pattern.lower()}*") for value in values[name])
            for name, pattern in self.conditions
        )
