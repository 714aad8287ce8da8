"""Pooling in NumPy: there is none over windows; over whole images it is a reduction."""

from __future__ import annotations

from opperf.child.backends.call import Binding, Missing, call

WINDOWS = Missing("NumPy has no pooling over windows")
SPACE = "axis=(2, 3), keepdims=True"

BINDINGS: dict[str, Binding] = {
    "max_pool1d": WINDOWS,
    "avg_pool1d": WINDOWS,
    "max_pool2d": WINDOWS,
    "avg_pool2d": WINDOWS,
    "global_avg_pool2d": call("numpy.mean", "a=data", SPACE),
    "global_max_pool2d": call("numpy.max", "a=data", SPACE),
    "max_pool3d": WINDOWS,
    "avg_pool3d": WINDOWS,
    "global_avg_pool1d": call("numpy.mean", "a=data", "axis=2, keepdims=True"),
    "global_max_pool1d": call("numpy.max", "a=data", "axis=2, keepdims=True"),
    "global_avg_pool3d": call("numpy.mean", "a=data", "axis=(2, 3, 4), keepdims=True"),
    "global_max_pool3d": call("numpy.max", "a=data", "axis=(2, 3, 4), keepdims=True"),
    "adaptive_avg_pool2d": WINDOWS,
    "lp_pool2d": WINDOWS,
}
