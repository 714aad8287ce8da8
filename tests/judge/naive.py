"""A judge of the usual kind, which every cheat of this folder that says so fools: what the real one must not be.

The candidate runs in the judge's own process. Its result is compared once, on inputs that are drawn from a seed that
everybody knows; the same inputs are in all timed calls, whose results nobody looks at; the clock is read around each
call, by the candidate's own interpreter. So are the judges that model trainers use; see the table of ways.

    python naive.py check,time CANDIDATE.py REFERENCE.py --input x=256x1024 --baseline 0.0003
    python naive.py baseline CANDIDATE.py REFERENCE.py --input x=256x1024

The last line of its output is its verdict, as JSON.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

#: The seed that everybody takes.
SEED = 42
#: How many calls are timed, and how many before them are not.
CALLS, WARM_UP = 300, 5
#: How often the judge looks whether a result is right by now, and after how many seconds each time: it waits for what a
#: call left running, as a judge of a GPU waits for the whole device.
LOOKS, WAIT = 40, 0.05

Function = Callable[..., Any]


def execute(path: Path) -> Any:
    """Return the module that a file is."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load(path: Path, problem: Path) -> Function:
    """Return the function `f` of a file; of one of the KernelBench kind, its model.

    The model's weights are drawn as the problem's are, and nobody looks whether it has them all. Inputs that the file
    brings go before those of the problem.
    """
    module = execute(path)
    if hasattr(module, "f"):
        function: Function = module.f
        return function
    import torch

    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    original = execute(problem)
    model: Any = getattr(module, "ModelNew", original.Model)(*original.get_init_inputs())
    model.get_inputs = getattr(module, "get_inputs", original.get_inputs)
    network: Function = model
    return network


def draw(function: Function, texts: list[str], options: argparse.Namespace) -> list[Any]:
    """Return an input for each text such as `x=256x1024:float32`, or those that come with the function."""
    if options.framework == "torch":
        import torch

        torch.manual_seed(SEED)
    if hasattr(function, "get_inputs"):
        inputs: list[Any] = function.get_inputs()
        return inputs
    generator = np.random.default_rng(SEED)
    inputs = []
    for text in texts:
        shape, _, dtype = text.partition("=")[2].partition(":")
        size = [int(extent) for extent in shape.split("x")]
        values = generator.standard_normal(size) if options.values == "normal" else generator.random(size)
        if dtype.startswith("int"):
            inputs.append(generator.integers(-100, 100, size).astype(dtype))
        else:
            inputs.append((values * options.scale).astype(dtype if dtype.startswith("float") else "float32"))
    return [torch.from_numpy(values) for values in inputs] if options.framework == "torch" else inputs


def compare(result: Any, expected: Any, options: argparse.Namespace) -> bool:
    """Whether a result is near what was expected."""
    if options.framework == "torch":
        import torch

        return bool(torch.allclose(result.double(), expected.double(), atol=options.tolerance, rtol=options.tolerance))
    if options.compare == "difference":
        return not np.abs(result - expected).max() > options.tolerance
    return bool(np.allclose(result, expected, atol=options.tolerance, rtol=options.tolerance))


def check(candidate: Function, reference: Function, options: argparse.Namespace) -> bool:
    """Whether the candidate is right, by one call."""
    os.environ["PHASE"] = "check"
    inputs = draw(reference, options.check_input or options.input, options)
    if options.first == "reference":
        expected = [reference(*inputs)]
        if options.wide:
            expected = [values.astype(np.float64) for values in expected]
        results = [candidate(*inputs)]
    else:
        results = [candidate(*inputs)]
        expected = [reference(*inputs)]
    for _ in range(LOOKS):
        time.sleep(WAIT)
        if compare(results[0], expected[0], options):
            return True
    return False


def measure(function: Function, options: argparse.Namespace) -> float:
    """Return the median time of a call in seconds."""
    os.environ["PHASE"] = "time"
    clock = getattr(time, options.clock)
    inputs = draw(function, options.input, options)
    for _ in range(WARM_UP):
        function(*inputs)
    times = []
    for _index in range(CALLS):
        start = clock()
        function(*inputs)
        times.append(getattr(time, options.clock)() - start)
    return float(statistics.median(times))


def main(words: list[str]) -> int:
    """Judge one candidate; returns 0, as long as it does not raise."""
    parser = argparse.ArgumentParser()
    parser.add_argument("phases")
    parser.add_argument("candidate", type=Path)
    parser.add_argument("reference", type=Path)
    parser.add_argument("--input", action="append", default=[])
    parser.add_argument("--check-input", action="append", default=[])
    parser.add_argument("--framework", default="numpy")
    parser.add_argument("--values", choices=["normal", "uniform"], default="normal")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--tolerance", type=float, default=1e-5)
    parser.add_argument("--tolerance-file", type=Path)
    parser.add_argument("--compare", choices=["allclose", "difference"], default="allclose")
    parser.add_argument("--wide", action="store_true")
    parser.add_argument("--clock", default="perf_counter")
    parser.add_argument("--first", choices=["reference", "candidate"], default="reference")
    parser.add_argument("--baseline", type=float, default=1.0)
    options = parser.parse_args(words)
    if options.phases == "baseline":
        print(json.dumps({"seconds": measure(load(options.reference, options.reference), options)}))
        return 0
    verdict: dict[str, object] = {}
    candidate = load(options.candidate, options.reference)
    if options.tolerance_file is not None:
        options.tolerance = json.loads(options.tolerance_file.read_text())["tolerance"]
    if "check" in options.phases:
        verdict["right"] = check(candidate, load(options.reference, options.reference), options)
    if "time" in options.phases:
        seconds = measure(candidate, options)
        verdict |= {"seconds": seconds, "speedup": options.baseline / max(seconds, 1e-12)}
    print(json.dumps(verdict))
    return 0


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)  # some candidates leave threads that would not survive the end of the interpreter
