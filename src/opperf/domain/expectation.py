"""An expectation: how long a trial took when it was recorded, on which machine and with which version."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median

from opperf.domain.codec import Fields, Natural, Positive, check_version, decode, encode, read_as, wrong
from opperf.domain.environment import EnvironmentSpec
from opperf.domain.errors import InputError, at_place
from opperf.domain.plan import Trial
from opperf.domain.registry import device_named, framework

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Expectation(Fields):
    """What is expected of a trial. `times` has the clean minimum of each process, in seconds."""

    trial: Trial
    times: tuple[Positive, ...]
    memory_peak: Natural | None = None
    memory_source: str | None = None
    version: str | None = None
    machine: Mapping[str, object] = field(default_factory=dict)
    recorded: str | None = None

    flat = ("trial",)
    beside = ("time",)

    @property
    def time(self) -> float:
        """The median over processes, in seconds."""
        return median(self.times)

    @classmethod
    def from_json(cls, data: object, where: str = "expectation") -> Expectation:
        """Read the JSON form, in which the trial's keys are inlined; raises `InputError` that names the place."""
        if not isinstance(data, dict):
            raise wrong(data, where, "an object")
        fields = {name: value for name, value in data.items() if (name, value) != ("machine", None)}
        expectation = decode(cls, fields, where)
        if not expectation.times:
            raise wrong([], f"{where}.times", "the seconds of each process")
        side = expectation.trial.side
        for name, check in (("framework", framework), ("device", device_named), ("environment", EnvironmentSpec.parse)):
            with at_place(f"{where}.side.{name}"):
                check(getattr(side, name))
        return expectation


def document(expectations: Iterable[Expectation]) -> dict[str, object]:
    """Return what a file of expectations holds."""
    return {"schema_version": SCHEMA_VERSION, "expectations": encode(tuple(expectations))}


def from_document(data: object, where: str) -> tuple[Expectation, ...]:
    """Read what `document` wrote; raises `InputError` that names the place."""
    if not isinstance(data, dict) or "expectations" not in data:
        raise InputError(
            f"{where}: not an expectations file",
            hint="create one with `opperf gate --update-expected`",
            slug="expected_file",
        )
    check_version(data.get("schema_version"), SCHEMA_VERSION, where)
    expectations = read_as(tuple[Expectation, ...], data["expectations"], f"{where}: expectations")
    keys: set[tuple[object, ...]] = set()
    for i, one in enumerate(expectations):
        if one.trial.key in keys:
            raise InputError(f"{where}: expectations[{i}] repeats the trial of an earlier one", slug="expected_file")
        keys.add(one.trial.key)
    return expectations
