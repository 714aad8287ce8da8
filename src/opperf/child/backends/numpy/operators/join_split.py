"""Arrays joined and parted in NumPy; the parts are views."""

from __future__ import annotations

from opperf.child.backends.call import Binding, call

BINDINGS: dict[str, Binding] = {
    "concatenate": call("numpy.concatenate", "arrays=data", "axis=axis"),
    "stack": call("numpy.stack", "arrays=data", "axis=axis"),
    "split": call("numpy.split", "ary=data, indices_or_sections=sections", "axis=axis"),
}
