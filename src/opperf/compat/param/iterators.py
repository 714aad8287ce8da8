"""How the entries of a config are gone through, by name."""

from __future__ import annotations

import abc
from collections.abc import Iterator
from typing import Any

from opperf.compat.param.registry import Registry
from opperf.sources.param.config import Spec
from opperf.sources.param.grammar import DEFAULT_ITERATOR, RANGE_ITERATOR
from opperf.sources.param.sweeps import combinations, plain


class ConfigIterator(abc.ABC):
    """Goes through `configs[key]`; each step is an id and an entry."""

    def __init__(self, configs: dict[str, Any], key: str, device: str) -> None:
        self.configs = configs
        self.key = key
        self.device = device

    def __iter__(self) -> Iterator[tuple[Any, dict[str, Any]]]:
        return self

    @abc.abstractmethod
    def __next__(self) -> tuple[Any, dict[str, Any]]:
        """Return the next id and entry."""


class DefaultConfigIterator(ConfigIterator):
    """Takes the entries as they are."""

    def __init__(self, configs: dict[str, Any], key: str, device: str) -> None:
        super().__init__(configs, key, device)
        self._entries = iter(enumerate(configs[key]))

    def __next__(self) -> tuple[Any, dict[str, Any]]:
        return next(self._entries)


class RangeConfigIterator(ConfigIterator):
    """Sweeps the ranges of each entry."""

    def __init__(self, configs: dict[str, Any], key: str, device: str) -> None:
        super().__init__(configs, key, device)
        self._entries = self._swept()

    def _swept(self) -> Iterator[tuple[Any, dict[str, Any]]]:
        for i, entry in enumerate(self.configs[self.key]):
            spec = Spec(entry.get("args", []), entry.get("kwargs", {}))
            for n, made in enumerate(combinations(spec)):
                yield f"{i}_{n}", plain(made) or {}

    def __next__(self) -> tuple[Any, dict[str, Any]]:
        return next(self._entries)


ITERATORS: Registry[type[ConfigIterator]] = Registry("iterator")
ITERATORS.add(DEFAULT_ITERATOR, DefaultConfigIterator)
ITERATORS.add(RANGE_ITERATOR, RangeConfigIterator)


def register_config_iterator(name: str, iterator_class: type[ConfigIterator]) -> None:
    """Make an iterator known by a name; raises `ValueError` for one that is taken."""
    ITERATORS.add(name, iterator_class)
