"""Run in MXNet's environment: capture functions, run every case by itself, and print where results differ.

python captured_mxnet.py FOLDER FILE:FUNCTION...

Each imperative case is called twice: with arrays of its own, whose results must look like those of the captured call,
and with the numbers of that call, whose results must be the same numbers.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import mxnet as mx
import numpy
from mxnet.base import _LIB

from opperf.backend import Work
from opperf.backends.mxnet import capture
from opperf.backends.mxnet.described import array_at
from opperf.backends.mxnet.runtime import MxnetBackend
from opperf.case import Case
from opperf.child import code
from opperf.child.directions import call_once
from opperf.child.jobs import Jobs
from opperf.measure.disturbance import NoCounters
from opperf.plan import Side, Trial

#: Operators that draw numbers.
DRAWING = ("Dropout", "_random_normal")
#: What each imperative call took and returned, in order.
kept: list[tuple[list[Any], list[Any]]] = []
invoke = _LIB.MXImperativeInvokeEx


def keeping(*args: Any) -> Any:
    """Call an operator, and keep the numbers that it took and returned."""
    given = [array_at(args[2][i]).asnumpy() for i in range(args[1].value)]
    status = invoke(*args)
    count, made = args[3]._obj.value, args[4]._obj
    kept.append((given, [array_at(made[i]).asnumpy() for i in range(count)]))
    return status


def look(array: Any) -> list[Any]:
    """Return shape and element type."""
    return [list(array.shape), numpy.dtype(array.dtype).name]


def same(backend: MxnetBackend, work: Work, given: list[Any], returned: list[Any]) -> bool:
    """Whether a case returns the numbers of the captured call when it is given the numbers of that call."""
    for array, value in zip(work.arguments, given):
        mx.nd.array(value, dtype=value.dtype).copyto(array)
    found = [array.asnumpy() for array in backend.leaves(call_once(backend, work))]
    return all(numpy.allclose(one, other, rtol=1e-5, atol=1e-6) for one, other in zip(found, returned))


def main(folder: Path, path: str) -> dict[str, Any]:
    """Return how often each operator was called, and the calls that no case holds or whose results look different."""
    backend = MxnetBackend(Side("mxnet"))
    jobs = Jobs(backend, NoCounters(), folder)
    function = code.load(path, folder)
    function()  # shapes of parameters are known from the first call on
    kept.clear()
    _LIB.MXImperativeInvokeEx = keeping
    try:
        calls = capture.of_call(function)
    finally:
        _LIB.MXImperativeInvokeEx = invoke
    seen = iter(list(kept))
    unlike: list[Any] = []
    for call in calls:
        given, returned = ([], None) if call.backward else next(seen)
        expected = None if returned is None else [look(array) for array in returned]
        if call.case is None:
            unlike.append([call.name, call.why])
            continue
        case = Case.from_json(json.loads(json.dumps(call.case.to_json())))
        if call.direction == "backward":
            moving = [one for one in case.tensors() if one.is_float and one.requires_grad is not False]
            expected = [[list(one.shape), one.dtype] for one in moving]
        side = replace(backend.side, implementation=case.operator.removeprefix("mxnet:"))
        work = jobs.work(Trial(case, side, call.direction), 0)
        found = [look(array) for array in backend.leaves(call_once(backend, work))]
        if expected is not None and found != expected:
            unlike.append([call.name, call.direction, found, expected])
        elif returned is not None and call.name not in DRAWING and not same(backend, work, given, returned):
            unlike.append([call.name, "other numbers"])
    assert next(seen, None) is None
    return {
        "calls": sum(call.count for call in calls),
        "cases": len({(call.case, call.direction) for call in calls}),
        "names": Counter(f"{call.name}{' backward' if call.direction == 'backward' else ''}" for call in calls),
        "modules": sorted({call.module for call in calls}),
        "unlike": unlike,
    }


if __name__ == "__main__":
    print(json.dumps([main(Path(sys.argv[1]), path) for path in sys.argv[2:]]))
