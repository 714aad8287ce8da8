"""An operator of one's own in MXNet, as a `CustomOp`; the catalog knows what it should compute.

opperf run examples.custom.mxnet_swish:swish silu --framework mxnet --input data=256x256
"""

from __future__ import annotations

import mxnet as mx

import opperf


class Swish(mx.operator.CustomOp):
    """The data times its sigmoid."""

    def forward(self, is_train, req, in_data, out_data, aux):
        """Compute it."""
        self.assign(out_data[0], req[0], in_data[0] * mx.nd.sigmoid(in_data[0]))

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        """Compute the gradient."""
        sigmoid = mx.nd.sigmoid(in_data[0])
        self.assign(in_grad[0], req[0], out_grad[0] * sigmoid * (1 + in_data[0] * (1 - sigmoid)))


@mx.operator.register("examples_swish")
class SwishProperties(mx.operator.CustomOpProp):
    """What MXNet asks of the operator."""

    def __init__(self):
        super().__init__(need_top_grad=True)

    def infer_shape(self, in_shape):
        """The output is as large as the input."""
        return in_shape, [in_shape[0]], []

    def create_operator(self, ctx, shapes, dtypes):
        """Make the operator."""
        return Swish()


@opperf.operator(implements="silu", framework="mxnet")
def swish(data):
    """Call it as users do."""
    return mx.nd.Custom(data, op_type="examples_swish")
