"""Run in JAX's environment: capture functions, run every case by itself, and print where results look different.

python captured_jax.py FOLDER ((compile|trace) FILE:FUNCTION)...

With `trace` the results are those that JAX says a case has, and nothing is computed.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax

from opperf.backends.jax import capture, parameters
from opperf.backends.jax.equations import Equation, equations
from opperf.backends.jax.programs import over_tensors
from opperf.backends.jax.runtime import JaxBackend
from opperf.case import Case
from opperf.child import arguments, code
from opperf.child.directions import call_once
from opperf.child.jobs import Jobs
from opperf.measure.disturbance import NoCounters
from opperf.plan import Side, Trial

SIDE = Side("jax", mode="compiled")
#: Parameters that say on which device an array is.
DEVICES = ("devices", "srcs", "sharding", "out_sharding")


def look(value: Any) -> list[Any]:
    """Return shape and element type of each array, of keys those of the numbers below them."""
    found = []
    for leaf in jax.tree_util.tree_leaves(value):
        shaped = jax.ShapeDtypeStruct(leaf.shape, leaf.dtype)
        if jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            shaped = jax.eval_shape(jax.random.key_data, shaped)
        found.append([list(shaped.shape), str(shaped.dtype)])
    return found


def main(folder: Path, way: str, path: str) -> dict[str, Any]:
    """Return how many calls and cases there were, and those that no case holds or whose results look different."""
    found = list(equations(capture.traced(code.load(path, folder))))
    calls = [capture.captured(equation) for equation in found]
    unlike: list[Any] = []
    alone: dict[Case, Any] = {}
    backend = JaxBackend(SIDE)
    with jax.enable_x64(True):  # as where cases are measured
        for call, equation in zip(calls, found):
            if call.case is None:
                unlike.append([call.name, call.why])
                continue
            if call.case not in alone:
                case = Case.from_json(json.loads(json.dumps(call.case.to_json())))
                alone[call.case] = look(computed(backend, folder, case) if way == "compile" else traced(backend, case))
            expected = look([one.aval for one in equation.own.outvars])
            if alone[call.case] != expected:
                unlike.append([call.name, alone[call.case], expected])
            unlike += [[call.name, name] for name in others(backend, call.case, equation)]
    names = Counter(call.name for call in calls)
    return {"calls": sum(call.count for call in calls), "cases": len(alone), "names": names, "unlike": unlike}


def others(backend: JaxBackend, case: Case, equation: Equation) -> list[str]:
    """Return the parameters that are not what they were when the case is read, those of devices left out."""
    make = arguments.Maker(backend, "").make
    operands = [one.aval for one in equation.own.invars]
    own = {name: value for name, value in equation.own.params.items() if name not in DEVICES}
    found = {name: parameters.decoded(make(case.attributes[name], name), operands) for name in own}
    return [name for name, value in own.items() if found[name] != value and str(found[name]) != str(value)]


def computed(backend: JaxBackend, folder: Path, case: Case) -> Any:
    """Return the results of a case that runs by itself."""
    side = replace(SIDE, implementation=case.operator.removeprefix("jax:"))
    work = Jobs(backend, NoCounters(), folder).work(Trial(case, side, "forward"), 0)
    return call_once(backend, work)


def traced(backend: JaxBackend, case: Case) -> Any:
    """Return what the results of a case look like to JAX."""
    call = arguments.call_of(case, case.operator.removeprefix("jax:"))
    bound = arguments.bind(case, call, None, backend, 0)
    return jax.eval_shape(*spread(over_tensors(bound.function, bound.arguments, dict(bound.keywords))))


def spread(program: tuple[Any, tuple[Any, ...]]) -> tuple[Any, ...]:
    """Return a function and its arrays in one row."""
    return program[0], *program[1]


if __name__ == "__main__":
    print(json.dumps([main(Path(sys.argv[1]), *pair) for pair in zip(sys.argv[2::2], sys.argv[3::2])]))
