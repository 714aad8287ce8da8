"""Shell completion: names of operators, frameworks and other option values.

A shell waits for these after each key press, so they come from opperf's own tables, and no framework is imported
or asked. A framework's own operators are completed no further than its prefix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from types import ModuleType


def _names(module: str, names: Callable[[ModuleType], Iterable[str]]) -> Callable[[str], list[str]]:
    """Return the function that completes a word by names in a module, which is imported on the first completion."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names(import_module(f"opperf.{module}")) if name.startswith(incomplete)]

    return complete


def _prefixes() -> Iterable[str]:
    from opperf.domain.registry import FRAMEWORKS

    return (f"{name}:" for name in FRAMEWORKS if name != "null")


operators = _names("catalog", lambda catalog: (*catalog.catalog(), *_prefixes()))
categories = _names("catalog.groups", lambda groups: (*groups.categories(), *groups.GROUPS))
frameworks = _names("domain.registry", lambda registry: registry.FRAMEWORKS)
environments = _names("domain.registry", lambda registry: ("current", *registry.PRESETS, "python="))
dtypes = _names("domain.tensor", lambda tensor: (*tensor.ITEM_SIZES, *tensor.DTYPE_ALIASES))
values = _names("domain.tensor", lambda tensor: (*tensor.DISTRIBUTIONS[:-1], tensor.SPARSE))
sizes = _names("catalog", lambda catalog: (*catalog.SIZES, catalog.INT64))
directions = _names("domain.registry", lambda registry: registry.DIRECTIONS)
modes = _names("domain.plan", lambda plan: plan.MODES)
