"""Pooling in NumPy: there is none over windows; over whole images it is a reduction."""

from __future__ import annotations

from opperf.backends.call import Binding, Missing, call

WINDOWS = Missing("NumPy has no pooling over windows")
SPACE = "axis=(2, 3), keepdims=True"

BINDINGS: dict[str, Binding] = {
    "max_pool1d": WINDOWS,
    "avg_pool1d": WINDOWS,
    "max_pool2d": WINDOWS,
    "avg_pool2d": WINDOWS,
    "global_avg_pool2d": call("numpy.mean", "a=data", SPACE),
    "global_max_pool2d": call("numpy.max", "a=data", SPACE),
}
