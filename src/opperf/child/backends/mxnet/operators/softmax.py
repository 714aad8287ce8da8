"""MXNet's softmax and its kin."""

from __future__ import annotations

from opperf.child.backends.call import Binding, call

BINDINGS: dict[str, Binding] = {
    name: call(f"nd.{name}", "data", "axis") for name in ("softmax", "log_softmax", "softmin")
}
