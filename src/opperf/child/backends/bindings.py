"""The bindings of a framework, gathered from `backends/<framework>/operators/`, one file for each family."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module

from opperf.catalog import FAMILIES
from opperf.child.backends.call import Binding


@cache
def bindings(framework: str) -> Mapping[str, Binding]:
    """Return the binding of each neutral operator in a framework; each file calls its table `BINDINGS`."""
    result: dict[str, Binding] = {}
    for family in FAMILIES:
        result.update(import_module(f"opperf.child.backends.{framework}.operators.{family}").BINDINGS)
    return result
