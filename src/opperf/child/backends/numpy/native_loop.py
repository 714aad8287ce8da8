"""NumPy without the interpreter: a function that is written in C, called as an extension in C calls it."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path
from types import BuiltinFunctionType
from typing import Any

import numpy

from opperf.domain.backend import Unsupported
from opperf.domain.call import Work
from opperf.domain.extension import build


def library(folder: Path) -> ctypes.PyDLL:
    """Return the compiled loop; it is the same for every version of NumPy and of Python."""
    loops = ctypes.PyDLL(str(build(Path(__file__).with_suffix(".c"), folder)))
    for function in (loops.opperf_run, loops.opperf_around):
        function.restype = ctypes.py_object
        function.argtypes = [
            ctypes.py_object,
            ctypes.POINTER(ctypes.py_object),
            ctypes.c_size_t,
            ctypes.c_void_p,
            ctypes.c_longlong,
        ]
    return loops


class Loop:
    """Calls a piece of work from C."""

    def __init__(self, loops: ctypes.PyDLL, work: Work) -> None:
        """Raise `Unsupported` for a function that is written in Python: nothing of it runs without the interpreter."""
        if not _in_c(work.function):
            name = getattr(work.function, "__name__", "the operator")
            raise Unsupported(f"`{name}` is written in Python, so C cannot call it without", slug="not_native")
        self._loops, self._work = loops, work
        self._names = tuple(work.keywords)
        self.bind(work.make_arguments())

    def bind(self, arguments: tuple[Any, ...]) -> None:
        """Take the arguments of the next calls."""
        self._positional = arguments
        values = (*arguments, *self._work.keywords.values())
        self._values = (ctypes.py_object * max(1, len(values)))(*values)

    def run(self, calls: int) -> None:
        """Make that many calls."""
        self._call(self._loops.opperf_run, calls)

    def around(self, calls: int) -> None:
        """Do what surrounds that many calls, and make none."""
        self._call(self._loops.opperf_around, calls)

    def _call(self, function: Any, calls: int) -> None:
        names = ctypes.c_void_p(id(self._names)) if self._names else None
        function(self._work.function, self._values, len(self._positional), names, calls)

    def result(self) -> Sequence[Any]:
        """Make one call, and return the arrays of its result."""
        call = ctypes.pythonapi.PyObject_Vectorcall
        call.restype, call.argtypes = ctypes.py_object, self._loops.opperf_run.argtypes[:4]
        names = ctypes.c_void_p(id(self._names)) if self._names else None
        result = call(self._work.function, self._values, len(self._positional), names)
        return [*result] if isinstance(result, (tuple, list)) else [result]


def _in_c(function: Any) -> bool:
    """Whether a function is written in C, behind the dispatch by `__array_function__` if it has that."""
    function = getattr(function, "_implementation", function)
    return isinstance(function, (numpy.ufunc, BuiltinFunctionType))
