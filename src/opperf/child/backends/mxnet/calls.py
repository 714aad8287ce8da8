"""Calls that the program makes of MXNet's functions in Python, as spans: of Gluon blocks, and of single operators.

They tell what called an operator, and with which shapes, only where it runs in the calling thread, before the call
returns: in the naive engine.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

import mxnet as mx
from mxnet.ndarray import register

from opperf.child.backends.mxnet.thread_hash import of_thread
from opperf.domain.profile.event import Event


class Calls:
    """Sees the calls of one function between `start` and `stop`.

    `enter` is given the inputs of a call and returns what there is to say of it, or None where that is nothing; `leave`
    comes at its end.
    """

    def __init__(
        self,
        owner: Any,
        name: str,
        enter: Callable[[Sequence[Any]], Mapping[str, Any] | None],
        leave: Callable[[], object] = lambda: None,
    ) -> None:
        self._owner, self._name = owner, name
        self._enter, self._leave = enter, leave
        self._on = False
        self._before: Any = None
        self._own: Any = None
        self._spans: list[Event] = []

    def start(self) -> None:
        """Take the place of the function."""
        self._on = True
        if self._own is None:
            self._before = getattr(self._owner, self._name)
            self._own = self._wrap(self._before)
            setattr(self._owner, self._name, self._own)

    def stop(self) -> list[Event]:
        """Put the function back, and return the spans since the start; threads are as MXNet numbers them."""
        self._on = False
        if getattr(self._owner, self._name) is self._own:  # otherwise it has been wrapped again, and stays
            setattr(self._owner, self._name, self._before)
            self._own = None
        spans, self._spans = self._spans, []
        return spans

    def _wrap(self, before: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(before)
        def call(*inputs: Any, **keywords: Any) -> Any:
            details = self._enter(inputs) if self._on else None
            if details is None:
                return before(*inputs, **keywords)
            began = time.time_ns()
            try:
                return before(*inputs, **keywords)
            finally:
                took, thread = time.time_ns() - began, str(of_thread(threading.get_ident()))
                self._leave()
                if self._on:
                    self._spans.append(Event(begin=began, duration=took, process=os.getpid(), thread=thread, **details))

        return call


class Blocks:
    """The Gluon blocks that are being called, by their paths below the one that was called first.

    Of a hybridized block, what it holds is part of its graph and not called.
    """

    def __init__(self) -> None:
        self._thread = threading.local()

    def enter(self, inputs: Sequence[Any]) -> Mapping[str, Any] | None:
        """Note that a block is called; it is the first input."""
        block, *arguments = inputs
        if any(isinstance(one, mx.symbol.Symbol) for one in arguments):  # its graph is made, and nothing computed
            return None
        path = kind = type(block).__name__
        if self._inside:
            outer, above = self._inside[-1]
            name = next((name for name, child in outer._children.items() if child is block), kind)
            path = f"{above}.{name}"
        self._inside.append((block, path))
        return {"name": path, "kind": "module"}

    def leave(self) -> None:
        """Note that a block returns or raises."""
        self._inside.pop()

    @property
    def _inside(self) -> list[tuple[Any, str]]:
        """The blocks that this thread is inside of, with their paths."""
        stack: list[tuple[Any, str]] = self._thread.__dict__.setdefault("inside", [])
        return stack


def of_blocks() -> Calls:
    """Return a watch on the calls of Gluon blocks."""
    blocks = Blocks()
    return Calls(mx.gluon.Block, "__call__", blocks.enter, blocks.leave)


def of_operators() -> Calls:
    """Return a watch on the calls of single operators, with the shapes of their arrays."""
    return Calls(register, "_imperative_invoke", _with_shapes)


def _with_shapes(inputs: Sequence[Any]) -> Mapping[str, Any]:
    _, arrays, *_ = inputs
    return {"name": "", "kind": "api", "shapes": tuple(tuple(array.shape or ()) for array in arrays)}
