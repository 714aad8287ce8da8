"""MXNet's joining and parting."""

from __future__ import annotations

from opperf.child.backends.call import Binding, call

BINDINGS: dict[str, Binding] = {
    "concatenate": call("nd.concat", "*data", "dim=axis"),
    "stack": call("nd.stack", "*data", "axis=axis"),
    "split": call("nd.split", "data", "num_outputs=sections, axis=axis"),
}
