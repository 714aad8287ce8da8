"""What autograd remembers: which operator made an array, and the graph that a backward walks."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Sequence
from typing import Any

import mxnet as mx
from mxnet.base import _LIB, NDArrayHandle, SymbolHandle


def node_name(address: int) -> str | None:
    """Return the name, never given twice, of the operator that made the array at an address; None if none is known."""
    symbol = _symbol(address)
    return None if symbol is None else str(symbol.name)


def between(made: int, given: int) -> list[str]:
    """Return the names of the operators that made one array of another and of nothing else, the last first.

    There are none where autograd does not know both.
    """
    symbol, end = _symbol(made), node_name(given)
    names: list[str] = []
    while end is not None and symbol is not None:
        if symbol.name == end:
            return names
        names.append(str(symbol.name))
        symbol = symbol.get_children()
    return []


def graph_behind(addresses: Sequence[int]) -> dict[str, Any]:
    """Return the operators and variables that the arrays at some addresses come from, as MXNet writes a symbol.

    There are none behind an array that autograd does not know; MXNet has its own word for that.
    """
    symbols = [_symbol(address) for address in addresses]
    if any(symbol is None for symbol in symbols):
        return {"nodes": [], "heads": []}
    graph: dict[str, Any] = json.loads(mx.sym.Group(symbols).tojson(remove_amp_cast=False))
    return graph


def _symbol(address: int) -> Any:
    symbol = SymbolHandle()
    failed = _LIB.MXAutogradGetSymbol(NDArrayHandle(address), ctypes.byref(symbol))
    return None if failed else mx.sym.Symbol(symbol)
