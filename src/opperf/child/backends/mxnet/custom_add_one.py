"""The custom operator that MXNet's own benchmark measures: `nd.Custom(data, op_type="CustomAddOne")`.

It is Python that MXNet calls back; what it measures is the way there and back.
"""

from __future__ import annotations

from typing import Any

import mxnet as mx

NAME = "CustomAddOne"


class AddOne(mx.operator.CustomOp):  # type: ignore[misc]
    """The data and one."""

    def forward(self, is_train: Any, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
        """Compute it."""
        self.assign(out_data[0], req[0], in_data[0] + 1)

    def backward(self, req: Any, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any) -> None:
        """Pass the gradient on."""
        self.assign(in_grad[0], req[0], out_grad[0])


class AddOneProperties(mx.operator.CustomOpProp):  # type: ignore[misc]
    """What MXNet asks of the operator."""

    def __init__(self) -> None:
        super().__init__(need_top_grad=True)

    def create_operator(self, ctx: Any, shapes: Any, dtypes: Any) -> AddOne:
        """Make the operator."""
        return AddOne()


def register() -> None:
    """Tell MXNet of it."""
    mx.operator.register(NAME)(AddOneProperties)
