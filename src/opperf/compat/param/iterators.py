"""How the entries of a config are gone through, by name: opperf's own iterators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from opperf.catalog.param.config import Spec
from opperf.catalog.param.grammar import DEFAULT_ITERATOR, RANGE_ITERATOR
from opperf.catalog.param.sweeps import combinations, plain
from opperf.domain.workload import ConfigIterator, register_config_iterator


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
            for n, point in enumerate(combinations(spec)):
                yield f"{i}_{n}", plain(point) or {}

    def __next__(self) -> tuple[Any, dict[str, Any]]:
        return next(self._entries)


register_config_iterator(DEFAULT_ITERATOR, DefaultConfigIterator)
register_config_iterator(RANGE_ITERATOR, RangeConfigIterator)
