"""Activations, gated ones, and what compilers fuse with them."""

from __future__ import annotations

from collections.abc import Mapping

from opperf.catalog.definition import Arguments, Formula, Operator, Outputs, elements
from opperf.catalog.formulas import (
    ELEMENTWISE,
    check_lengths,
    each,
    each_output,
    like,
    linear,
    product,
    same,
    tensors,
    wholes,
    windows,
)
from opperf.domain.case import Argument, Case
from opperf.domain.errors import InputError
from opperf.domain.tensor import TensorSpec

# Activations: one function of each element, and so one operation each, however it is computed.

#: Wide enough that every branch is taken.
VALUES = (-4.0, 4.0)


def _activation(name: str, summary: str, *aliases: str, **attributes: Argument) -> Operator:
    sizes = tensors("data", range=VALUES, more=attributes)
    return Operator(name, "activation", summary, sizes, same(), each(1), differentiable=("data",), aliases=aliases)


_ACTIVATION = (
    _activation("relu", "the value where positive, else 0"),
    _activation("relu6", "the value clamped to 0 and 6"),
    _activation("sigmoid", "the logistic function", "logistic"),
    _activation("tanh", "the hyperbolic tangent"),
    _activation(
        "gelu",
        "the value times the normal distribution function; `approximate` is `none` (erf) or `tanh`",
        approximate="none",
    ),
    _activation("silu", "the value times its sigmoid", "swish"),
    _activation("mish", "the value times the hyperbolic tangent of its softplus"),
    _activation("leaky_relu", "the value where positive, else `slope` times it", slope=0.01),
    _activation("elu", "the value where positive, else `alpha` (e to the power of it, minus one)", alpha=1.0),
    _activation("selu", "elu with the two constants that keep mean and variance"),
    _activation("softplus", "the logarithm of one plus e to the power of the value", "softrelu"),
    _activation("softsign", "the value divided by one plus its absolute value"),
    _activation("log_sigmoid", "the logarithm of the sigmoid", "logsigmoid"),
    _activation("hard_sigmoid", "a sixth of the value plus a half, clamped to 0 and 1", "hardsigmoid"),
    _activation("hard_swish", "the value times its hard sigmoid", "hardswish", "hard_silu"),
    Operator(
        "prelu",
        "activation",
        "the value where positive, else the value times the weight of its channel (axis 1)",
        sizes={
            size: {"data": TensorSpec(shape, range=VALUES), "weight": TensorSpec((shape[1],), range=(0.0, 0.5))}
            for size, shape in ELEMENTWISE.items()
        },
        outputs=same(),
        flops=each(1),
        differentiable=("data", "weight"),
    ),
)


# Gated activations: the last dimension is cut in two, and the first half passes through the gate of the second.
#
# Two operations for each element of the result: the activation of the gate, and the product.


def _half(case: Case) -> tuple[TensorSpec, ...]:
    data = case.tensor("data")
    *rows, width = data.shape
    if width % 2:
        raise InputError(f"`{case.operator}` halves the last dimension, which has {width} elements")
    return (like(data, (*rows, width // 2)),)


def _gate(name: str, summary: str, **attributes: Argument) -> Operator:
    sizes = tensors("data", range=VALUES, more=attributes)
    return Operator(name, "gated", summary, sizes, _half, each_output(2, _half), differentiable=("data",))


_GATED = (
    _gate("glu", "the first half of the last dimension times the sigmoid of the second"),
    _gate("reglu", "the first half of the last dimension times the relu of the second"),
    _gate("swiglu", "the first half of the last dimension times the silu of the second"),
    _gate(
        "geglu",
        "the first half of the last dimension times the gelu of the second; `approximate` is `none` (erf) or `tanh`",
        approximate="none",
    ),
)


# Operators that models run one after another and compilers make one of.
#
# In eager mode each is two or three calls, in compiled mode one program; the counts are of the whole, and what lies
# between its parts is not counted as bytes: a fused kernel need not write it. Operations are those of the parts:
# products as of their family, seven for each element of a layer norm, four of a root mean square norm, two of a batch
# norm with known statistics, one of an activation or a sum. A bias is where the sum of a product starts: nothing more.

_Shape = tuple[int, ...]

#: Data (batch, channels, height, width), weight, stride and padding: a ResNet's stages; skewed is its first layer.
CONVOLUTIONS: Mapping[str, tuple[_Shape, _Shape, int, int]] = {
    "small": ((1, 4, 16, 16), (8, 4, 3, 3), 1, 1),
    "common": ((16, 32, 28, 28), (32, 32, 3, 3), 1, 1),
    "large": ((8, 64, 56, 56), (64, 64, 3, 3), 1, 1),
    "skewed": ((4, 3, 224, 224), (64, 3, 7, 7), 2, 3),
}
#: (rows, width in, width out): the first layer of a transformer's two; skewed has few elements to many rows.
LAYERS: Mapping[str, tuple[int, int, int]] = {
    "small": (32, 32, 32),
    "common": (512, 512, 1024),
    "large": (2048, 1024, 4096),
    "skewed": (100_000, 16, 16),
}
#: (batch, length, width); the skewed ones have short rows.
ROWS: Mapping[str, _Shape] = {
    "small": (2, 4, 128),
    "common": (8, 128, 1024),
    "large": (16, 1024, 1024),
    "skewed": (100, 1000, 10),
}
SCALES = (0.5, 1.5)


def _convolve(case: Case) -> tuple[TensorSpec, ...]:
    data, weight = case.tensor("data"), case.tensor("weight")
    if data.shape[1] != weight.shape[1]:
        raise InputError(
            f"the data of `{case.operator}` has {data.shape[1]} channels, and the weight takes {weight.shape[1]}"
        )
    stride = wholes(case, "stride", 2, 1)
    return (like(data, (data.shape[0], weight.shape[0], *windows(case, data.shape[2:], weight.shape[2:], stride))),)


def _convolution_and(more: int) -> Formula:
    """Return the operations of the convolution, and `more` for each element of its result."""

    def flops(case: Case) -> int:
        return (2 * product(case.tensor("weight").shape[1:]) + more) * elements(_convolve(case))

    return flops


def _image_layer(name: str, summary: str, more: int, *, bias: bool, normalized: bool) -> Operator:
    roles = ("bias",) if bias else ()
    statistics = ("scale", "shift", "running_mean", "running_var") if normalized else ()

    def arguments(data: _Shape, weight: _Shape, stride: int, padding: int) -> Arguments:
        channels = (weight[0],)
        positive = {"scale", "running_var"}
        vectors = {
            role: TensorSpec(channels, range=SCALES if role in positive else None) for role in (*roles, *statistics)
        }
        epsilon: dict[str, Argument] = {"epsilon": 1e-5} if normalized else {}
        tensors = {"data": TensorSpec(data), "weight": TensorSpec(weight), **vectors}
        return {**tensors, "stride": (stride, stride), "padding": (padding, padding), **epsilon}

    # The products dominate, and each has two of its size in the backward pass.
    sizes = {size: arguments(*of_size) for size, of_size in CONVOLUTIONS.items()}
    return Operator(
        name,
        "fused",
        summary,
        sizes=sizes,
        outputs=_convolve,
        flops=_convolution_and(more),
        differentiable=("data", "weight", *roles, *statistics[:2]),
        backward_flops=2,
    )


def _product(case: Case) -> tuple[TensorSpec, ...]:
    lhs, rhs = case.tensor("lhs"), case.tensor("rhs")
    check_lengths(case, lhs.shape[-1], rhs.shape[0])
    return (like(lhs, (*lhs.shape[:-1], rhs.shape[1])),)


def _product_layer(
    name: str, summary: str, roles: tuple[str, str], outputs: Outputs, *, transposed: bool, **attributes: Argument
) -> Operator:
    def arguments(rows: int, width: int, out: int) -> Arguments:
        weight = (out, width) if transposed else (width, out)
        tensors = {roles[0]: TensorSpec((rows, width)), roles[1]: TensorSpec(weight), "bias": TensorSpec((out,))}
        return {**tensors, **attributes}

    sizes = {size: arguments(*of_size) for size, of_size in LAYERS.items()}
    return Operator(
        name,
        "fused",
        summary,
        sizes=sizes,
        outputs=outputs,
        flops=lambda case: (2 * case.tensor(roles[0]).shape[-1] + 1) * elements(outputs(case)),
        differentiable=(*roles, "bias"),
        backward_flops=2,
    )


def _sum_and(
    name: str,
    summary: str,
    operations: int,
    *,
    vectors: tuple[str, ...] = (),
    roles: tuple[str, ...] = ("data", "residual"),
    shapes: Mapping[str, _Shape] = ROWS,
    **attributes: Argument,
) -> Operator:
    """Declare `name`: a sum and what follows; the vectors have an element for each along the last dimension."""

    def arguments(shape: _Shape) -> Arguments:
        tensors = {role: TensorSpec(shape) for role in roles}
        along = {role: TensorSpec(shape[-1:], range=SCALES if role == "weight" else None) for role in vectors}
        return {**tensors, **along, **attributes}

    sizes = {size: arguments(shape) for size, shape in shapes.items()}
    return Operator(name, "fused", summary, sizes, same(), each(operations), differentiable=(*roles, *vectors))


_FUSED = (
    _image_layer("conv_relu", "the convolution of images with a bias, then relu", 1, bias=True, normalized=False),
    _image_layer(
        "conv_batch_norm",
        "the convolution of images, then batch normalization by running statistics",
        2,
        bias=False,
        normalized=True,
    ),
    _image_layer(
        "conv_batch_norm_relu",
        "the convolution of images, batch normalization by running statistics, then relu",
        3,
        bias=False,
        normalized=True,
    ),
    _product_layer(
        "linear_relu",
        "data times the transposed weight (out, in), plus the bias, then relu",
        ("data", "weight"),
        linear,
        transposed=True,
    ),
    _product_layer(
        "linear_gelu",
        "data times the transposed weight (out, in), plus the bias, then gelu; `approximate` is `none` (erf) or `tanh`",
        ("data", "weight"),
        linear,
        transposed=True,
        approximate="tanh",
    ),
    _product_layer(
        "matmul_bias_activation",
        "the product of two matrices plus a bias, then `activation`, which is `relu`, `sigmoid` or `tanh`",
        ("lhs", "rhs"),
        _product,
        transposed=False,
        activation="sigmoid",
    ),
    _sum_and(
        "add_layer_norm",
        "data plus residual, normalized over the last dimension",
        8,
        vectors=("weight", "bias"),
        epsilon=1e-5,
    ),
    _sum_and(
        "add_rms_norm",
        "data plus residual, divided by the root mean square of the last dimension",
        5,
        vectors=("weight",),
        epsilon=1e-5,
    ),
    _sum_and("residual_add_relu", "data plus residual, then relu", 2, shapes=ELEMENTWISE),
    _sum_and(
        "bias_gelu",
        "data plus a bias along the last dimension, then gelu; `approximate` is `none` (erf) or `tanh`",
        2,
        roles=("data",),
        vectors=("bias",),
        shapes=ELEMENTWISE,
        approximate="tanh",
    ),
)


OPERATORS = (*_ACTIVATION, *_GATED, *_FUSED)
