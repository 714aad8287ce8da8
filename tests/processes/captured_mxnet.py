"""Run in MXNet's environment: capture functions, run every case by itself, and print where results look different.

python captured_mxnet.py FOLDER FILE:FUNCTION...
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy
from mxnet.base import _LIB

from opperf.backends.mxnet import capture
from opperf.backends.mxnet.described import array_at
from opperf.backends.mxnet.runtime import MxnetBackend
from opperf.case import Case
from opperf.child import code
from opperf.child.directions import call_once
from opperf.child.jobs import Jobs
from opperf.measure.disturbance import NoCounters
from opperf.plan import Side, Trial

#: What each imperative call returned, in order.
returned: list[Any] = []
invoke = _LIB.MXImperativeInvokeEx


def keeping(*args: Any) -> Any:
    """Call an operator, and keep what the arrays that it returned look like."""
    status = invoke(*args)
    count, made = args[3]._obj.value, args[4]._obj
    returned.append([look(array_at(made[i])) for i in range(count)])
    return status


def look(array: Any) -> list[Any]:
    """Return shape and element type."""
    return [list(array.shape), numpy.dtype(array.dtype).name]


def main(folder: Path, path: str) -> dict[str, Any]:
    """Return how often each operator was called, and the calls that no case holds or whose results look different."""
    backend = MxnetBackend(Side("mxnet"))
    jobs = Jobs(backend, NoCounters(), folder)
    function = code.load(path, folder)
    function()  # shapes of parameters are known from the first call on
    returned.clear()
    _LIB.MXImperativeInvokeEx = keeping
    try:
        calls = capture.of_call(function)
    finally:
        _LIB.MXImperativeInvokeEx = invoke
    seen = iter(list(returned))
    unlike: list[Any] = []
    for call in calls:
        expected = None if call.backward else next(seen)
        if call.case is None:
            unlike.append([call.name, call.why])
            continue
        case = Case.from_json(json.loads(json.dumps(call.case.to_json())))
        if call.direction == "backward":
            moving = [one for one in case.tensors() if one.is_float and one.requires_grad is not False]
            expected = [[list(one.shape), one.dtype] for one in moving]
        side = replace(backend.side, implementation=case.operator.removeprefix("mxnet:"))
        result = call_once(backend, jobs.work(Trial(case, side, call.direction), 0))
        found = [look(array) for array in backend.leaves(result)]
        if expected is not None and found != expected:
            unlike.append([call.name, call.direction, found, expected])
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
