"""A statement of Python in a loop, among the names that its setup has made: what `timeit` compiles, in two steps.

The loop is a generator. So the setup is over before the clock is read, the statement's names are local ones as in a
function, and they last from one block to the next.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import repeat
from types import GeneratorType
from typing import Any, TypeAlias

import torch

from opperf.child.worker.mutation import Watch
from opperf.domain.backend import Backend
from opperf.domain.call import Bound, nothing

_SOURCE = """\
def loop():
    {setup}
    _it = yield
    while True:
        for _i in _it:
            {stmt}
        _it = yield
"""

#: Takes an iterator with an item for each call.
Loop: TypeAlias = "GeneratorType[None, Iterator[None], None]"


class Statement:
    """A statement and its setup, which makes its calls in a `Block`; `space` is where it looks for global names.

    `wait` waits for what the statement has started on an accelerator.

    >>> statement = Statement("seen.append(x)", "x = 7", {"seen": (seen := [])})
    >>> statement.set_up()
    >>> statement.run(2)
    >>> seen
    [7, 7]
    """

    def __init__(self, stmt: str, setup: str, space: dict[str, Any], wait: Callable[[], None] = nothing) -> None:
        self._make = _compile(stmt, setup, space)
        self._names = {node.id for node in ast.walk(ast.parse(stmt)) if isinstance(node, ast.Name)}
        self._space = space
        self._wait = wait
        self._empty = _begin(_compile("pass", "pass", {}))

    def set_up(self) -> None:
        """Run the setup; later calls find what it has made."""
        self._loop = _begin(self._make)
        self._wait()

    def run(self, calls: int) -> None:
        """Run the statement that often, and wait."""
        self._loop.send(repeat(None, calls))
        self._wait()

    def around(self, calls: int) -> None:
        """Run an empty statement that often."""
        self._empty.send(repeat(None, calls))

    def bind(self, arguments: tuple[Any, ...]) -> None:
        """Take no arguments: a statement has its names."""

    def result(self) -> Sequence[Any]:
        """Run the statement once; it has no result."""
        self.run(1)
        return ()

    def watch(self, backend: Backend) -> Watch:
        """Take note of what the names that the statement reads hold by now, of modules their tensors."""
        values = {name: _contents(value) for name, value in self._values().items()}
        return Watch(backend, Bound(self.run, (), values=values))

    def is_set_up(self, name: str) -> bool:
        """Whether the setup has made what has this name."""
        return name in self._locals

    @property
    def _locals(self) -> Mapping[str, Any]:
        return {} if self._loop.gi_frame is None else self._loop.gi_frame.f_locals

    def _values(self) -> dict[str, Any]:
        space = {**self._space, **self._locals}
        return {name: space[name] for name in sorted(self._names & space.keys())}


def _contents(value: Any) -> Any:
    if isinstance(value, torch.nn.Module):
        return [*value.parameters(), *value.buffers()]
    return value


def _begin(make: Callable[[], Loop]) -> Loop:
    loop = make()
    next(loop)
    return loop


def _compile(stmt: str, setup: str, space: dict[str, Any]) -> Callable[[], Loop]:
    source = _SOURCE.format(stmt=_indented(stmt, 12), setup=_indented(setup, 4))
    local: dict[str, Any] = {}
    exec(compile(source, "<statement of a Timer>", "exec"), space, local)  # the user's own code, in the user's process
    loop: Callable[[], Loop] = local["loop"]
    return loop


def _indented(text: str, spaces: int) -> str:
    return (text or "pass").replace("\n", "\n" + " " * spaces)
