"""MXNet's steps of optimizers."""

from __future__ import annotations

from opperf.backends.call import Binding, call

BINDINGS: dict[str, Binding] = {
    "sgd_update": call("nd.sgd_update", "weight=weight, grad=gradient", "lr=learning_rate, out=weight"),
}
