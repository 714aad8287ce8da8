"""The user's own iterators and data generators for PARAM's configs, by name.

A plugin registers them when it is loaded, which happens in a child alone:

    from opperf.compat.param import ConfigIterator, register_config_iterator

    class Halves(ConfigIterator):
        ...

    register_config_iterator("Halves", Halves)
"""

from __future__ import annotations

import abc
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

from opperf.domain.errors import InputError, near

Entry = TypeVar("Entry")


class Registry(Generic[Entry]):
    """A registry of entries by unique name."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._entries: dict[str, Entry] = {}

    def add(self, name: str, entry: Entry) -> None:
        """Take a name; raises `ValueError`, as PARAM does, for one that is taken."""
        if name in self._entries:
            raise ValueError(f"{self._kind} `{name}` is already registered")
        self._entries[name] = entry

    def find(self, name: str) -> Entry:
        """Return the entry of a name; raises `InputError` with similar names."""
        if name not in self._entries:
            close = near(name, self._entries) or self._entries
            hint = f"known: {', '.join(close)}; register it first, where it is your own"
            raise InputError(f"no {self._kind} `{name}`", hint=hint, slug="param_config")
        return self._entries[name]

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)


class ConfigIterator(abc.ABC):
    """Goes through `configs[key]`; each step is an id and an entry."""

    def __init__(self, configs: dict[str, Any], key: str, device: str) -> None:
        self.configs = configs
        self.key = key
        self.device = device

    def __iter__(self) -> Iterator[tuple[object, dict[str, object]]]:
        return self

    @abc.abstractmethod
    def __next__(self) -> tuple[object, dict[str, object]]:
        """Return the next id and entry."""


class DataGenerator(abc.ABC):
    """Makes the arguments of an entry of `build` or `input`."""

    @abc.abstractmethod
    def get_data(self, config: dict[str, object], device: str) -> tuple[list[object], dict[str, object]]:
        """Return positional arguments, and those by name."""


ITERATORS: Registry[type[ConfigIterator]] = Registry("iterator")
GENERATORS: Registry[type[DataGenerator]] = Registry("data generator")


def register_config_iterator(name: str, iterator_class: type[ConfigIterator]) -> None:
    """Make an iterator known by a name; raises `ValueError` for one that is taken."""
    ITERATORS.add(name, iterator_class)


def register_data_generator(name: str, data_gen_class: type[DataGenerator]) -> None:
    """Make a generator known by a name; raises `ValueError` for one that is taken."""
    GENERATORS.add(name, data_gen_class)
