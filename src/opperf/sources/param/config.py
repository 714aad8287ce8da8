"""A config as it was read: operators, what each is built and called with, ranges still in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opperf.sources.param.names import Meaning


@dataclass(frozen=True)
class Spec:
    """The arguments of one call, as the file writes them: ranges and all."""

    args: Sequence[Mapping[str, Any]] = ()
    kwargs: Mapping[str, Mapping[str, Any]] | None = None
    id: str | None = None


@dataclass(frozen=True)
class Entry:
    """One entry of `config`: what to build, and what to call each of it with. `builds` is None where nothing is built.

    `swept` says of each of the two whether its iterator goes through ranges, which shows in the run ids.
    """

    builds: tuple[Spec, ...] | None
    inputs: tuple[Spec, ...]
    swept: tuple[bool, bool] = (False, False)


@dataclass(frozen=True)
class ConfiguredOperator:
    """What a config says of one operator. `batch` is the `build_id` of a file of `run_batch`."""

    name: str
    place: str
    meaning: Meaning
    entries: tuple[Entry, ...]
    batch: str | None = None


@dataclass(frozen=True)
class ParamConfig:
    """A config: its operators in the order of the file, and what a reader should know of how it was read."""

    path: Path
    operators: tuple[ConfiguredOperator, ...]
    notes: tuple[str, ...] = ()


def notes(configs: Sequence[ParamConfig]) -> list[str]:
    """Return what a reader should know of how configs were read."""
    return [f"{config.path}: {note}" for config in configs for note in config.notes]
