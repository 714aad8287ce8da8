"""Operators whose memory MXNet reserves for a whole graph, before any of them runs.

A hybridized block and an executor plan the memory of their graphs. What an operator of theirs allocates by itself is
scratch space, so where the profiler saw it allocate nothing, it may have written megabytes: nobody can tell.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import mxnet as mx

from opperf.domain.profile.event import Event
from opperf.domain.profile.mxnet_names import BACKWARD, BULK

#: Said where memory is not told.
PLANNED = (
    "MXNet reserves the memory of a compiled graph (`hybridize`) before its operators run: their `allocated` and "
    "`peak` leave it out, and are empty where there is nothing else"
)


class PlannedGraphs:
    """Notes the operators of all graphs, those that are there when it starts too."""

    def __init__(self) -> None:
        self._operators: set[str] = set()
        self._cached, self._executor = mx.nd.CachedOp, mx.executor.Executor.__init__

    def start(self) -> None:
        """Note the graphs that are there, and those that are made from now on."""
        for instance in gc.get_objects():
            if issubclass(type(instance), mx.gluon.HybridBlock) and instance._cached_graph:
                self._add(instance._cached_graph[1])
            elif issubclass(type(instance), mx.executor.Executor):
                self._add(instance._symbol)
        mx.nd.CachedOp = self._noting(self._cached, 0)
        mx.executor.Executor.__init__ = self._noting(self._executor, 2)

    def stop(self) -> None:
        """Give MXNet its own back."""
        mx.nd.CachedOp, mx.executor.Executor.__init__ = self._cached, self._executor

    def without_memory(self, events: Iterable[Event]) -> list[Event]:
        """Return the spans, those of graphs that allocated nothing without a size."""
        return [
            replace(event, allocated=None, peak=None) if event.allocated == 0 and self._has(event.name) else event
            for event in events
        ]

    def _has(self, name: str) -> bool:
        """Whether an operator, or each of a bulk, is in a graph; a bulk without names may be one of a graph."""
        if name == BULK:
            return bool(self._operators)
        return all(_forward(part) in self._operators for part in name.strip("[]").split(","))

    def _noting(self, make: Callable[..., Any], place: int) -> Callable[..., Any]:
        def note(*arguments: Any, **keywords: Any) -> Any:
            symbol = [*arguments, *keywords.values()][place]
            self._add(symbol)
            return make(*arguments, **keywords)

        return note

    def _add(self, symbol: Any) -> None:
        self._operators |= operators(json.loads(symbol.tojson())["nodes"])


def operators(nodes: Sequence[dict[str, Any]]) -> set[str]:
    """Return the names of a graph's operators, as `_forward` has them."""
    return {_forward(node["op"]) for node in nodes if node["op"] != "null"}


def _forward(name: str) -> str:
    """Return the name that an operator and its backward share."""
    return name.removeprefix(BACKWARD).lstrip("_")
