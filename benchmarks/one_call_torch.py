"""Time calls of PyTorch three ways, in its own environment: from Python, by opperf's loop, by calls written in C++.

The C++ is what a user of libtorch writes (`at::exp(x)`), compiled here; it shares nothing with opperf's loop, which
calls the dispatcher with arguments that it recorded. Writes JSON.

    python one_call_torch.py FOLDER
"""

from __future__ import annotations

import ctypes
import json
import sys
import sysconfig
import time
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import torch

from opperf.child.backends.torch import native_loop
from opperf.domain.call import Work
from opperf.domain.extension import build

ROUNDS, CALLS = 15, 5000
UNARY = (
    *("abs", "neg", "exp", "expm1", "log", "sqrt", "rsqrt", "sin", "cos", "tan", "atan", "tanh", "sigmoid", "relu"),
    *("floor", "ceil", "round", "sign", "reciprocal", "erf", "logical_not", "isnan", "clone"),
)
BINARY = ["add", "sub", "mul", "div", "maximum", "minimum", "atan2", "eq", "lt"]
#: Elements of the operators' tensors, in turn.
SIZES = (1, 8, 64)
SOURCE = """
#include <ATen/ATen.h>
#include <Python.h>
#include <vector>
using Call = void (*)(const at::Tensor&, const at::Tensor&);
static const std::vector<Call> calls = {%s};
static at::Tensor x, y;
extern "C" void take(const float* left, const float* right, long size) {
  x = at::empty({size}, at::kFloat); y = at::empty({size}, at::kFloat);
  for (long i = 0; i < size; ++i) { x.data_ptr<float>()[i] = left[i]; y.data_ptr<float>()[i] = right[i]; }
}
extern "C" void run(int which, long count) {
  const Call call = calls[which];
  for (long i = 0; i < count; ++i) call(x, y);
}
"""


def least(run: Callable[[], object], calls: int = CALLS) -> float:
    """Return the least time of one of so many calls, in nanoseconds."""
    result = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter_ns()
        run()
        result = min(result, (time.perf_counter_ns() - start) / calls)
    return result


def from_python(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Callable[[], None]:
    """Return a loop of Python over a call."""

    def run() -> None:
        for _ in range(CALLS):
            function(*arguments)

    return run


def nothing(*arguments: Any) -> None:
    """Stand for an operator where the loop around it is timed."""


def written(folder: Path) -> ctypes.CDLL:
    """Compile the calls that are written in C++."""
    lines = [f"[](const at::Tensor& x, const at::Tensor&) {{ at::{name}(x); }}" for name in UNARY]
    lines += [f"[](const at::Tensor& x, const at::Tensor& y) {{ at::{name}(x, y); }}" for name in BINARY]
    source = folder / "written.cpp"
    source.write_text(SOURCE % ",\n".join(lines))
    home = Path(torch.__file__).parent
    headers = [home / "include", home / "include" / "torch" / "csrc" / "api" / "include"]
    includes = [f"-I{path}" for path in (*headers, sysconfig.get_paths()["include"])]
    abi = f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}"
    options = ["-std=c++20", "-w", "-DNDEBUG", abi, *includes, f"-L{home / 'lib'}", "-lc10", "-ltorch_cpu"]
    library = ctypes.CDLL(str(build(source, folder, options=options, key=torch.__version__)))
    library.take.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long]
    library.run.argtypes = [ctypes.c_int, ctypes.c_long]
    return library


def times(function: Callable[..., Any], arguments: tuple[Any, ...], loops: Any) -> dict[str, Any]:
    """Return what a call takes from Python and by opperf's loop, and whether the results are identical."""
    loop = native_loop.Loop(loops, Work(function, arguments, {}, nullcontext))
    (result,) = loop.result()
    around = least(partial(loop.around, 20 * CALLS), 20 * CALLS)
    return {
        "python ns": least(from_python(function, arguments)) - least(from_python(nothing, arguments)),
        "native ns": least(partial(loop.run, CALLS)) - around,
        "loop ns": around,
        "identical": bool(torch.equal(result, function(*arguments))),
    }


def main(folder: Path) -> None:
    """Print a row for each operator."""
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    library, loops = written(folder), native_loop.library(folder)
    rows = []
    for which, name in enumerate((*UNARY, *BINARY)):
        size = SIZES[which % len(SIZES)]
        x, y = torch.rand(size), torch.rand(size)
        library.take(x.data_ptr(), y.data_ptr(), size)
        arguments = (x,) if name in UNARY else (x, y)
        rows.append(
            {
                "operator": name,
                "elements": size,
                "tensors": len(arguments),
                **times(getattr(torch, name), arguments, loops),
            }
        )
        rows[-1]["C++ ns"] = least(partial(library.run, which, CALLS))
    print(json.dumps(rows))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
