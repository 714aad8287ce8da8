"""The custom operator that MXNet's opperf measures: its data plus one, written in Python."""

from __future__ import annotations

from typing import Any

import mxnet as mx


class CustomAddOne(mx.operator.CustomOp):  # type: ignore[misc]
    """The operator."""

    def forward(self, is_train: bool, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
        """Add one."""
        self.assign(out_data[0], req[0], in_data[0] + 1)

    def backward(self, req: Any, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any) -> None:
        """Pass the gradient on."""
        self.assign(in_grad[0], req[0], out_grad[0])


@mx.operator.register("CustomAddOne")
class CustomAddOneProp(mx.operator.CustomOpProp):  # type: ignore[misc]
    """What MXNet asks of it."""

    def __init__(self) -> None:
        super().__init__(need_top_grad=True)

    def list_arguments(self) -> list[str]:
        """Return the names of its inputs."""
        return ["in"]

    def list_outputs(self) -> list[str]:
        """Return the names of its outputs."""
        return ["output"]

    def infer_shape(self, in_shape: list[Any]) -> tuple[list[Any], list[Any], list[Any]]:
        """Return the shapes of inputs, outputs and states."""
        return in_shape, [in_shape[0]], []

    def create_operator(self, ctx: Any, shapes: Any, dtypes: Any) -> CustomAddOne:
        """Return the operator."""
        return CustomAddOne()
