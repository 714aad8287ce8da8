"""MXNet's dropout."""

from __future__ import annotations

from typing import Any

from opperf.child.backends.call import Binding
from opperf.child.backends.mxnet.spelling import Settled, settled


def _dropout(data: Any, p: float = 0.5, training: bool = True) -> Settled:
    # Gradients are recorded as in training, where only a rate of zero makes it the identity.
    return "nd.Dropout", (data,), {"p": p if training else 0.0}


BINDINGS: dict[str, Binding] = {
    "dropout": settled("nd.Dropout", "data", "p=rate, training=training", settle=_dropout, also=("nd.Dropout",)),
}
