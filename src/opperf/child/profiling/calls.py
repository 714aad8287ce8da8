"""Some calls of one function: what runs during them is profiled, and nothing else."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import reduce, wraps
from threading import Lock


class Calls:
    """Puts itself around a function; `begin` and `end` are called around the calls after the first `skip`.

    Without `calls` these are all of them. A call within a call, or beside one in another thread, belongs to that one.
    `begin` says whether it began, and `end` is told the name of the call. `found` says whether there is such a
    function, `made` how often it was called.
    """

    def __init__(
        self, name: str, skip: int, calls: int | None, begin: Callable[[], bool], end: Callable[[str], None]
    ) -> None:
        self.has_function = False
        self.made = 0
        self._name = name
        self._skip = skip
        self._calls = calls
        self._begin = begin
        self._end = end
        self._outermost = Lock()

    def put_around(self, module: object) -> None:
        """Replace the function in its module, or in its class; raises `AttributeError` where there is none."""
        *owners, last = self._name.split(".")
        owner = reduce(getattr, owners, module)
        function = inspect.getattr_static(owner, last)
        if isinstance(function, (staticmethod, classmethod)):
            setattr(owner, last, type(function)(self._around(function.__func__)))
        else:
            setattr(owner, last, self._around(function))
        self.has_function = True

    def _around(self, function: Callable[..., object]) -> Callable[..., object]:
        @wraps(function)
        def called(*arguments: object, **keywords: object) -> object:
            if not self._outermost.acquire(blocking=False):
                return function(*arguments, **keywords)
            try:
                number, self.made = self.made, self.made + 1
                if not (self._is_wanted(number) and self._begin()):
                    return function(*arguments, **keywords)
                try:
                    return function(*arguments, **keywords)
                finally:
                    self._end(f"{self._name} {number}")
            finally:
                self._outermost.release()

        return called

    def _is_wanted(self, number: int) -> bool:
        return number >= self._skip and (self._calls is None or number < self._skip + self._calls)
