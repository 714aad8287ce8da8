"""PyTorch without the interpreter: the dispatcher's calls of one call in Python, recorded and made from C++.

What is recorded are the overloads that Python itself calls (`aten::softmax.int`), before the dispatcher or autograd
takes them apart, so the same work is done; what Python does between them is left out. A function that computes
something else than operators, or that other values would lead elsewhere, is found by its results: they must be those
of the call from Python.
"""

from __future__ import annotations

import ctypes
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from opperf.child.backends.torch.gradients import run_backward
from opperf.child.backends.torch.specs import tensors
from opperf.domain.backend import Unsupported
from opperf.domain.call import Work
from opperf.domain.extension import build


def library(folder: Path) -> ctypes.PyDLL:
    """Return the compiled loops, for this version of PyTorch and of Python."""
    home = Path(torch.__file__).parent.resolve() / "include"  # a library is compiled anew for another name of it
    headers = [str(home), str(home / "torch" / "csrc" / "api" / "include"), sysconfig.get_paths()["include"]]
    if not Path(headers[-1], "Python.h").is_file():
        raise Unsupported(
            f"the headers of Python are not in `{headers[-1]}`",
            slug="no_headers",
            hint="install them (python3-dev on Debian), or measure in an environment that opperf builds",
        )
    abi = f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}"
    libraries = [f"-L{home.parent / 'lib'}", "-lc10", "-ltorch_cpu", "-ltorch_python"]
    # PyTorch is built without assertions, and some of its classes have other fields with them.
    options = ["-std=c++20", "-w", "-DNDEBUG", abi, *(f"-I{header}" for header in headers), *libraries]
    source = Path(__file__).with_suffix(".cpp")
    loops = ctypes.PyDLL(str(build(source, folder, options=options, key=torch.__version__)))
    arguments = {
        "record": [],
        "program": [ctypes.py_object],
        "backward": [*[ctypes.py_object] * 3, ctypes.c_int],
        "run": [ctypes.py_object, ctypes.c_longlong],
        "around": [ctypes.py_object, ctypes.c_longlong],
        "results": [ctypes.py_object],
    }
    for name, types in arguments.items():
        function = getattr(loops, f"opperf_{name}")
        function.argtypes, function.restype = types, ctypes.py_object
    return loops


class Loop:
    """Calls a piece of work from C++."""

    def __init__(self, loops: ctypes.PyDLL, work: Work) -> None:
        """Record one call of the work, or take the graph that it walks back; raises `Unsupported`."""
        self._loops, self._work = loops, work
        if "within the call" in str(work.notes.get("backward_method")):
            message = "a forward that records a graph and the walk back are two loops"
            raise Unsupported(message, slug="not_native", hint="measure `--direction forward,backward`")
        self._backward = work.function is run_backward
        self._outputs: list[int] | None = None
        self.bind(work.make_arguments())

    def bind(self, arguments: tuple[Any, ...]) -> None:
        """Take the arguments of the next calls."""
        if self._backward:
            outputs, heads, keep, _, leaves, *_ = arguments
            self._loop = self._loops.opperf_backward(outputs, heads, leaves, int(keep))
        elif self._outputs is None:  # those of a forward are the same objects at each call
            self._record(arguments)

    def run(self, calls: int) -> None:
        """Make that many calls."""
        self._loops.opperf_run(self._loop, calls)

    def around(self, calls: int) -> None:
        """Do what surrounds that many calls, and make none."""
        self._loops.opperf_around(self._loop, calls)

    def result(self) -> Sequence[Any]:
        """Make one call, and return the tensors of its result."""
        values = self._loops.opperf_results(self._loop)
        return values if self._outputs is None else [values[i] for i in self._outputs]

    def _record(self, arguments: tuple[Any, ...]) -> None:
        """Record one call, and find which of the tensors that its operators return its result is made of.

        It is recorded twice: a tensor that operators take and that is another each time, though none of them returned
        it, is computed elsewhere, and that would be left out.
        """
        first = self._recording(arguments)
        again = self._recording(self._work.make_arguments())
        self._loop, steps, self._outputs, _ = again
        if not steps:
            raise Unsupported("it calls no operator of PyTorch's dispatcher", slug="not_native")
        if -1 in self._outputs or first[1:] != again[1:]:
            raise Unsupported("part of its work is not done by PyTorch's dispatcher", slug="not_native")

    def _recording(self, arguments: tuple[Any, ...]) -> tuple[Any, int, list[int], list[int]]:
        """Return the loop of one call, its number of steps, which results they make, and what tensors they take."""
        self._loops.opperf_record()
        result: Any = ()
        try:
            result = self._work.function(*arguments, **self._work.keywords)
        finally:
            recording: tuple[Any, int, list[int], list[int]] = self._loops.opperf_program(tuple(tensors(result)))
        return recording
