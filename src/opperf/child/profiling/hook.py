"""Callbacks for a complete module, for a name of the script, and for calls of one function."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import reduce, wraps
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from threading import Lock
from types import FrameType, ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import TraceFunction


class Imports(MetaPathFinder):
    """Finds modules as Python does, and reports some of them, each once."""

    def __init__(self, names: Iterable[str], imported: Callable[[str], None]) -> None:
        self._names = set(names)
        self._imported = imported

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec that the other finders find."""
        if name not in self._names:
            return None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                if spec.loader is not None:
                    self._tell_after(spec.loader, name)
                return spec
        return None

    def _tell_after(self, loader: Loader, name: str) -> None:
        """Make a loader call back after executing its module; it is otherwise unchanged."""
        execute = loader.exec_module

        def execute_and_tell(module: ModuleType) -> None:
            del vars(loader)["exec_module"]
            execute(module)
            if name in self._names:
                self._names.discard(name)
                self._imported(name)

        vars(loader)["exec_module"] = execute_and_tell


def when_bound(space: dict[str, object], name: str, then: Callable[[], None]) -> None:
    """Call `then` as soon as the script itself has bound a name in `space`, the names of its module.

    Until then Python says for each line of the script, and for each call, where it is; a debugger has to wait.
    """

    def at_call(frame: FrameType, event: str, argument: object) -> TraceFunction | None:
        return at_line if frame.f_globals is space and frame.f_code.co_name == "<module>" else None

    def at_line(frame: FrameType, event: str, argument: object) -> TraceFunction | None:
        if name not in space:
            return at_line
        sys.settrace(None)
        then()
        return None

    sys.settrace(at_call)


class Calls:
    """Puts itself around a function; `begin` and `end` are called around the calls after the first `skip`.

    Without `calls` these are all of them. A call within a call, or beside one in another thread, belongs to that one.
    `begin` says whether it began, and `end` is told the name of the call. `has_function` says whether there is such
    a function, `count` how often it was called.
    """

    def __init__(
        self, name: str, skip: int, calls: int | None, begin: Callable[[], bool], end: Callable[[str], None]
    ) -> None:
        self.has_function = False
        self.count = 0
        self._name = name
        self._skip = skip
        self._calls = calls
        self._begin = begin
        self._end = end
        self._outermost = Lock()

    @property
    def are_over(self) -> bool:
        """Whether no further call is wanted."""
        return self._calls is not None and self.count >= self._skip + self._calls

    def put_around(self, module: object) -> None:
        """Replace the function in its module, or in its class; raises `AttributeError` where there is none."""
        *owners, last = self._name.split(".")
        owner = reduce(getattr, owners, module)
        function = inspect.getattr_static(owner, last)
        if isinstance(function, (staticmethod, classmethod)):
            setattr(owner, last, type(function)(self._wrap(function.__func__)))
        else:
            setattr(owner, last, self._wrap(function))
        self.has_function = True

    def _wrap(self, function: Callable[..., object]) -> Callable[..., object]:
        @wraps(function)
        def call(*arguments: object, **keywords: object) -> object:
            if not self._outermost.acquire(blocking=False):
                return function(*arguments, **keywords)
            try:
                number, self.count = self.count, self.count + 1
                if not (self._is_wanted(number) and self._begin()):
                    return function(*arguments, **keywords)
                try:
                    return function(*arguments, **keywords)
                finally:
                    self._end(f"{self._name} {number}")
            finally:
                self._outermost.release()

        return call

    def _is_wanted(self, number: int) -> bool:
        return number >= self._skip and (self._calls is None or number < self._skip + self._calls)
