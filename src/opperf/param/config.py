"""A config as it was read: operators, what each is built and called with, ranges still in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path

from opperf.domain.case import Argument
from opperf.domain.dataclass import dataclass
from opperf.param.names import Meaning


@dataclass(frozen=True)
class Workloads:
    """The iterators and data generators that plugins of the user's register, by name, and these plugins.

    `operators` are the functions that plugins declare, by name.
    """

    iterators: tuple[str, ...] = ()
    generators: tuple[str, ...] = ()
    plugins: tuple[Path, ...] = ()
    operators: Mapping[str, Meaning] = field(default_factory=dict)


@dataclass(frozen=True)
class GeneratedArguments:
    """What a data generator of the user's own made of an entry, and how it looks."""

    generator: str
    args: tuple[Argument, ...]
    kwargs: Mapping[str, Argument]


@dataclass(frozen=True)
class Spec:
    """The arguments of one call, as the file writes them: ranges and all.

    `more` are keys that only a data generator of the user's own understands, `described` what it made. `raw` is the
    entry as the file has it or, of a sweep, what PARAM makes of it: those of `args` and `kwargs` that hold something.
    """

    args: Sequence[Mapping[str, object]] = ()
    kwargs: Mapping[str, Mapping[str, object]] | None = None
    id: str | None = None
    more: Mapping[str, object] = field(default_factory=dict)
    described: GeneratedArguments | None = None
    raw: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Way:
    """Who of the user's own goes through the entries of `build` or `input`, and who makes their arguments, by name."""

    iterator: str | None = None
    generator: str | None = None


@dataclass(frozen=True)
class Entry:
    """One entry of `config`: what to build, and what to call each of it with. `builds` is None where nothing is built.

    `swept` says of each of the two whether its iterator goes through ranges, which shows in the run ids; `ways` what is
    left to the user's own code, which gets the entry `raw`.
    """

    builds: tuple[Spec, ...] | None
    inputs: tuple[Spec, ...]
    swept: tuple[bool, bool] = (False, False)
    ways: tuple[Way, Way] = (Way(), Way())
    raw: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class ConfiguredOperator:
    """What a config says of one operator. `batch` is the `build_id` of a file of `run_batch`."""

    name: str
    place: str
    meaning: Meaning
    entries: tuple[Entry, ...]
    batch: str | None = None

    @property
    def is_complete(self) -> bool:
        """Whether the file alone says what the cases are, with nothing left to the user's own code."""
        return all(way == Way() for entry in self.entries for way in entry.ways)


@dataclass(frozen=True)
class ParamConfig:
    """A config: its operators in the order of the file, and what a reader should know of how it was read.

    A `lenient` config may name unknown operators; they are skipped.
    """

    path: Path
    operators: tuple[ConfiguredOperator, ...]
    notes: tuple[str, ...] = ()
    lenient: bool = False


def notes(configs: Sequence[ParamConfig]) -> list[str]:
    """Return notes on how configs were read."""
    return [f"{config.path}: {note}" for config in configs for note in config.notes]
