"""Gated activations, and what models run one after another, composed once of the functions that a framework has.

A part is a function with what it is made of, behind commas: `(numpy.maximum, "numpy.maximum")`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from opperf.child.backends.binding import Binding, composition, compositions

Function: TypeAlias = Callable[..., Any]
Part: TypeAlias = tuple[Function, str]

#: The arguments of a convolution whose result is normalized.
NORMALIZED = "data, weight, scale, shift, running_mean, running_var, stride, padding, epsilon"


def listing(*parts: str) -> str:
    """Join what parts are made of.

    >>> listing("a product, a sum", "relu")
    'a product, a sum and relu'
    """
    *words, last = ", ".join(part for part in parts if part).split(", ")
    return f"{', '.join(words)} and {last}" if words else last


def gates(split: Part, *, product: str = "a product", **activations: Part) -> dict[str, Binding]:
    """Return the bindings of gated activations: the first half times an activation of the second.

    `split` takes data, a count and an axis. The gelu of `geglu` takes the approximation, too.
    """
    halve = split[0]

    def gate(name: str, activation: Function) -> Function:
        def gated(data: Any) -> Any:
            first, second = halve(data, 2, -1)
            return first * activation(second)

        def gated_by_gelu(data: Any, approximate: str | None) -> Any:
            first, second = halve(data, 2, -1)
            return first * activation(second, approximate)

        function: Function = gated_by_gelu if name == "geglu" else gated
        function.__name__ = name
        return function

    return compositions(
        **{
            name: (gate(name, function), listing(split[1], note, product))
            for name, (function, note) in activations.items()
        }
    )


def fusions(
    *,
    linear: Part,
    product: Part,
    relu: Part,
    gelu: Part,
    layer_norm: Part,
    rms_norm: Part,
    activations: Mapping[str, Function],
    addition: str = "a sum",
) -> Mapping[str, Part]:
    """Return parts of a product or a sum and what follows it.

    `linear` takes data, a weight (out, in) and a bias, `product` two matrices and a bias, `gelu` data and the
    approximation, and norms what those of the catalog take.
    """
    make_linear, multiply, cut, bend, norm, root_norm = (
        part[0] for part in (linear, product, relu, gelu, layer_norm, rms_norm)
    )
    return {
        "linear_relu": (
            lambda data, weight, bias: cut(make_linear(data, weight, bias)),
            f"{linear[1]}, {relu[1]}",
        ),
        "linear_gelu": (
            lambda data, weight, bias, approximate: bend(make_linear(data, weight, bias), approximate),
            f"{linear[1]}, {gelu[1]}",
        ),
        "matmul_bias_activation": (
            lambda lhs, rhs, bias, activation: activations[activation](multiply(lhs, rhs, bias)),
            f"{product[1]}, the activation",
        ),
        "add_layer_norm": (
            lambda data, residual, weight, bias, epsilon: norm(data + residual, weight, bias, epsilon),
            f"{addition}, {layer_norm[1]}",
        ),
        "add_rms_norm": (
            lambda data, residual, weight, epsilon: root_norm(data + residual, weight, epsilon),
            f"{addition}, {rms_norm[1]}",
        ),
        "residual_add_relu": (lambda data, residual: cut(data + residual), f"{addition}, {relu[1]}"),
        "bias_gelu": (lambda data, bias, approximate: bend(data + bias, approximate), f"{addition}, {gelu[1]}"),
    }


def fused(**parts: Any) -> dict[str, Binding]:
    """Return the bindings of `fusions`, which takes the same parts."""
    return compositions(**{name: (function, listing(note)) for name, (function, note) in fusions(**parts).items()})


def convolved(
    convolve: Part, normalize: Part, relu: Part, *, bias: str = "", layout_note: str = "", **more: Any
) -> dict[str, Binding]:
    """Return the bindings of a convolution and what follows it.

    `convolve` takes data, a weight, a bias or None, stride and padding, and `bias` says what adds that; `normalize`
    takes what batch norm does. `more` are fields of a binding.
    """
    convolution, norm, cut = convolve[0], normalize[0], relu[0]

    def conv_relu(data: Any, weight: Any, bias: Any, stride: Any, padding: Any) -> Any:
        return cut(convolution(data, weight, bias, stride, padding))

    def conv_batch_norm(data: Any, weight: Any, *statistics: Any) -> Any:
        *running, stride, padding, epsilon = statistics
        return norm(convolution(data, weight, None, stride, padding), *running, False, epsilon)

    def conv_batch_norm_relu(*arguments: Any) -> Any:
        return cut(conv_batch_norm(*arguments))

    rows = (
        (conv_relu, "data, weight, bias, stride, padding", (convolve[1], bias, relu[1])),
        (conv_batch_norm, NORMALIZED, (convolve[1], normalize[1])),
        (conv_batch_norm_relu, NORMALIZED, (convolve[1], normalize[1], relu[1])),
    )
    return {
        function.__name__: composition(function, arguments, note=listing(*parts) + layout_note, **more)
        for function, arguments, parts in rows
    }
