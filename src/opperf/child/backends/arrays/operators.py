"""Operators written once, with Python's arithmetic and methods, for frameworks that share an array interface."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Any

from opperf.catalog.image import GRAY, hue_rotation
from opperf.child.backends.arrays.activations import activations
from opperf.child.backends.arrays.fusions import fusions
from opperf.child.backends.arrays.recurrent import lstm_step
from opperf.child.backends.binding import Binding, Derive, composition
from opperf.child.backends.binding import compositions as written_down


def lerp(start: Any, end: Any, weight: Any) -> Any:
    """Go a part of the way from start to end."""
    return start + weight * (end - start)


def addcmul(data: Any, lhs: Any, rhs: Any, value: float = 1.0) -> Any:
    """Add a scaled product."""
    return data + value * (lhs * rhs)


def addcdiv(data: Any, lhs: Any, rhs: Any, value: float = 1.0) -> Any:
    """Add a scaled quotient."""
    return data + value * (lhs / rhs)


#: Of three arrays, element by element.
TERNARY: Mapping[str, Binding] = {
    "lerp": composition(lerp, note="a difference, a product and a sum"),
    "addcmul": composition(addcmul, note="two products and a sum"),
    "addcdiv": composition(addcdiv, note="a quotient, a product and a sum"),
}


def image_to_gray(data: Any, weights: Any) -> Any:
    """Return the weighed sum of the channels."""
    return data @ weights


def image_adjust_brightness(data: Any, factor: float) -> Any:
    """Scale."""
    return data * factor


def image_adjust_contrast(data: Any, weights: Any, factor: float) -> Any:
    """Mix with one gray."""
    return data * factor + (1 - factor) * (data @ weights).mean()


def image_adjust_saturation(data: Any, weights: Any, factor: float) -> Any:
    """Mix with the gray of each pixel."""
    return data * factor + (1 - factor) * (data @ weights)[..., None]


def image_adjust_hue(data: Any, turn: Any) -> Any:
    """Turn the two differences of color around the gray."""
    return data @ turn


def image_color_jitter(data: Any, weights: Any, brightness: float, contrast: float, saturation: float) -> Any:
    """Adjust one after the other."""
    image = image_adjust_contrast(image_adjust_brightness(data, brightness), weights, contrast)
    return image_adjust_saturation(image, weights, saturation)


#: Of each: the function, and what it is made of.
CHANGES: Mapping[str, tuple[Callable[..., Any], str]] = {
    "image_to_gray": (image_to_gray, "a product with three precomputed weights"),
    "image_adjust_brightness": (image_adjust_brightness, "`data * factor`"),
    "image_adjust_contrast": (image_adjust_contrast, "products, a mean and a sum"),
    "image_adjust_saturation": (image_adjust_saturation, "products and a sum"),
    "image_adjust_hue": (image_adjust_hue, "a product with nine precomputed numbers"),
    "image_color_jitter": (image_color_jitter, "the three adjustments, composed"),
}


def derivations(like: Callable[[Any, Any], Any]) -> dict[str, Derive]:
    """Return how what changes need is made before anything is timed; `like` makes an array like another, of numbers."""
    return {
        "weights": lambda arguments: like(arguments["data"], GRAY),
        "turn": lambda arguments: like(arguments["data"], hue_rotation(arguments["angle"])),
    }


def change(name: str, like: Callable[[Any, Any], Any]) -> Binding:
    """Return the binding of one; `like` makes an array like another, of numbers."""
    function, note = CHANGES[name]
    derive = {own: make for own, make in derivations(like).items() if own in signature(function).parameters}
    return composition(function, derive=derive, note=note)


def image_normalize(data: Any, mean: Any, deviation: Any) -> Any:
    """Shift and scale the channels."""
    return (data - mean) / deviation


def normalization(like: Callable[[Any, Any], Any], note: str) -> Binding:
    """Return the binding of `image_normalize`, whose arrays along the channels `like` makes of numbers."""

    def along_channels(name: str) -> Derive:
        def make(arguments: Mapping[str, Any]) -> Any:
            numbers = arguments[name] if isinstance(arguments[name], Sequence) else (arguments[name],)
            return like(arguments["data"], [[[number]] for number in numbers])

        return make

    derive = {name: along_channels(name) for name in ("mean", "deviation")}
    return composition(image_normalize, derive=derive, note=note)


def moves(transpose: Callable[[Any, Any], Any], name: str) -> dict[str, Binding]:
    """Return the bindings that move channels between pixels or pixels between channels.

    `transpose` takes an array and the order of its axes, and `name` is how users call it.
    """

    def depth_to_space(data: Any, factor: int) -> Any:
        """Take channels as (down, right, channel) and move the first two between the pixels."""
        batch, channels, height, width = data.shape
        blocks = data.reshape(batch, factor, factor, channels // factor**2, height, width)
        pixels = transpose(blocks, (0, 3, 4, 1, 5, 2))
        return pixels.reshape(batch, channels // factor**2, height * factor, width * factor)

    def space_to_depth(data: Any, factor: int) -> Any:
        """Part the pixels and move the parts before the channels."""
        batch, channels, height, width = data.shape
        blocks = data.reshape(batch, channels, height // factor, factor, width // factor, factor)
        pixels = transpose(blocks, (0, 3, 5, 1, 2, 4))
        return pixels.reshape(batch, channels * factor**2, height // factor, width // factor)

    def pixel_shuffle(data: Any, factor: int) -> Any:
        batch, channels, height, width = data.shape
        blocks = data.reshape(batch, channels // factor**2, factor, factor, height, width)
        return transpose(blocks, (0, 1, 4, 2, 5, 3)).reshape(batch, -1, height * factor, width * factor)

    note = f"{name} between reshapes"
    functions = (depth_to_space, space_to_depth, pixel_shuffle)
    return {function.__name__: composition(function, note=note) for function in functions}


def images(np: Any, place: str, like: Callable[[Any, Any], Any], crop: str) -> dict[str, Binding]:
    """Return the bindings that users of NumPy's functions write with indexing and arithmetic; `place` is their name.

    `like` makes an array like another, of numbers, and `crop` is the note on a crop.
    """
    return {
        **moves(np.transpose, f"{place}.transpose"),
        **written_down(
            image_crop=(
                lambda data, top, left, height, width: data[:, top : top + height, left : left + width],
                crop,
            ),
            upsample_nearest=(
                lambda data, scale: np.repeat(np.repeat(data, scale, axis=2), scale, axis=3),
                f"{place}.repeat in both dimensions",
            ),
        ),
        **{name: change(name, like) for name in CHANGES},
        "image_normalize": normalization(
            like, "a difference and a division; mean and deviation are precomputed arrays"
        ),
    }


def compositions(xp: Any) -> Mapping[str, tuple[Callable[..., Any], str]]:
    """Return functions made of a library's own by neutral name, each with those that it is made of."""
    shared = activations(xp)
    sigmoid, gelu = shared["sigmoid"][0], shared["gelu"][0]

    def softmax(data: Any, axis: int) -> Any:
        exponentials = xp.exp(data - xp.max(data, axis=axis, keepdims=True))
        return exponentials / xp.sum(exponentials, axis=axis, keepdims=True)

    def logsumexp(data: Any, axis: Any, keepdims: bool | None) -> Any:
        largest = xp.max(data, axis=axis, keepdims=True)
        logarithm = xp.log(xp.sum(xp.exp(data - largest), axis=axis, keepdims=True)) + largest
        return logarithm if keepdims else xp.squeeze(logarithm, axis)

    def normalize(data: Any, axes: tuple[int, ...], epsilon: float) -> Any:
        mean, variance = xp.mean(data, axis=axes, keepdims=True), xp.var(data, axis=axes, keepdims=True)
        return (data - mean) / xp.sqrt(variance + epsilon)

    def layer_norm(data: Any, weight: Any, bias: Any, epsilon: float) -> Any:
        return normalize(data, tuple(range(-weight.ndim, 0)), epsilon) * weight + bias

    def rms_norm(data: Any, weight: Any, epsilon: float) -> Any:
        squares = xp.mean(xp.square(data), axis=tuple(range(-weight.ndim, 0)), keepdims=True)
        return data / xp.sqrt(squares + epsilon) * weight

    def linear(data: Any, weight: Any, bias: Any) -> Any:
        product = xp.matmul(data, xp.matrix_transpose(weight))
        return product if bias is None else product + bias

    def attention(query: Any, key: Any, value: Any, causal: bool | None) -> Any:
        scores = xp.matmul(query * query.shape[-1] ** -0.5, xp.matrix_transpose(key))
        if causal:
            within = xp.tril(xp.ones(scores.shape[-2:], dtype=xp.int32)) > 0
            scores = xp.where(within, scores, -float("inf"))
        return xp.matmul(softmax(scores, -1), value)

    def lstm_cell(data: Any, hidden: Any, cell: Any, weight_input: Any, weight_hidden: Any, bias_input: Any,
                  bias_hidden: Any) -> Any:  # fmt: skip
        gates = linear(data, weight_input, bias_input) + linear(hidden, weight_hidden, bias_hidden)
        size = hidden.shape[-1]
        parts = [gates[..., at * size : (at + 1) * size] for at in range(4)]
        return lstm_step(parts, cell, sigmoid, xp.tanh)

    def reduce_by(values: Any, reduction: str | None) -> Any:
        return values if reduction == "none" else (xp.sum if reduction == "sum" else xp.mean)(values)

    def blocks(data: Any, factor: int, *, apart: bool) -> Any:
        batch, channels, height, width = data.shape
        if apart:
            pieces = xp.reshape(data, (batch, factor, factor, channels // factor**2, height, width))
            pixels = xp.permute_dims(pieces, (0, 3, 4, 1, 5, 2))
            return xp.reshape(pixels, (batch, channels // factor**2, height * factor, width * factor))
        pieces = xp.reshape(data, (batch, channels, height // factor, factor, width // factor, factor))
        pixels = xp.permute_dims(pieces, (0, 3, 5, 1, 2, 4))
        return xp.reshape(pixels, (batch, channels * factor**2, height // factor, width // factor))

    of_softmax, of_norm, of_root = "max exp sum", "mean var sqrt", "square mean sqrt"
    of_product = "matmul matrix_transpose"
    fused = fusions(
        linear=(linear, of_product),
        product=(lambda lhs, rhs, bias: xp.matmul(lhs, rhs) + bias, "matmul, add, maximum, exp, tanh"),
        relu=(lambda data: xp.maximum(data, 0), "maximum"),
        gelu=(gelu, "tanh"),
        layer_norm=(layer_norm, of_norm),
        rms_norm=(rms_norm, of_root),
        activations={"relu": lambda data: xp.maximum(data, 0), "sigmoid": sigmoid, "tanh": lambda data: xp.tanh(data)},
        addition="add",
    )
    return {
        **shared,
        **{
            name: (function, made_of.replace(", the activation", "").replace(", ", " "))
            for name, (function, made_of) in fused.items()
        },
        "softmax": (softmax, of_softmax),
        "logsumexp": (logsumexp, "max exp sum log squeeze"),
        "rsqrt": (lambda data: xp.reciprocal(xp.sqrt(data)), "sqrt reciprocal"),
        "frac": (lambda data: data - xp.trunc(data), "trunc"),
        "degrees": (lambda data: data * 57.29577951308232, "multiply"),
        "radians": (lambda data: data * 0.017453292519943295, "multiply"),
        "log_softmax": (lambda data, axis: data - logsumexp(data, axis, True), "max exp sum log"),
        "softmin": (lambda data, axis: softmax(-data, axis), of_softmax),
        "linear": (linear, of_product),
        "syrk": (lambda data: xp.matmul(data, xp.matrix_transpose(data)), "matmul matrix_transpose"),
        "layer_norm": (layer_norm, of_norm),
        "rms_norm": (rms_norm, of_root),
        "scaled_dot_product_attention": (attention, f"matmul matrix_transpose {of_softmax}"),
        "causal_attention": (
            lambda query, key, value: attention(query, key, value, True),
            f"matmul matrix_transpose tril where {of_softmax}",
        ),
        "lstm_cell": (lstm_cell, "matmul matrix_transpose exp tanh"),
        "reshape_like": (lambda data, like: xp.reshape(data, like.shape), "reshape"),
        "flatten": (lambda data: xp.reshape(data, (data.shape[0], -1)), "reshape"),
        "get_item": (lambda data, index: data[index, ...], ""),
        "slice": (
            lambda data, begin, end, step: data[tuple(map(slice, begin, end, step or (1,) * len(begin)))],
            "",
        ),
        "pick": (
            lambda data, indices, axis: xp.squeeze(
                xp.take_along_axis(data, xp.expand_dims(indices, axis=axis), axis=axis), axis
            ),
            "expand_dims take_along_axis squeeze",
        ),
        "embedding": (
            lambda indices, weight: xp.reshape(
                xp.take(weight, xp.reshape(indices, (-1,)), axis=0), (*indices.shape, weight.shape[1])
            ),
            "take reshape",
        ),
        "one_hot": (
            lambda indices, depth, dtype: xp.astype(xp.expand_dims(indices, axis=-1) == xp.arange(depth), dtype),
            "expand_dims arange equal astype",
        ),
        "mean_absolute_error": (lambda data, labels: xp.mean(xp.abs(data - labels)), "abs mean"),
        "mean_squared_error": (lambda data, labels: xp.mean(xp.square(data - labels)), "square mean"),
        "root_mean_squared_error": (
            lambda data, labels: xp.sqrt(xp.mean(xp.square(data - labels))),
            "square mean sqrt",
        ),
        "mse_loss": (lambda data, labels, reduction: reduce_by(xp.square(data - labels), reduction), "square mean"),
        "l1_loss": (lambda data, labels, reduction: reduce_by(xp.abs(data - labels), reduction), "abs mean"),
        "binary_cross_entropy_with_logits": (
            lambda data, labels, reduction: reduce_by(xp.logaddexp(data, 0.0) - data * labels, reduction),
            "logaddexp mean",
        ),
        "kl_div": (lambda data, labels, reduction: reduce_by(labels * (xp.log(labels) - data), reduction), "log mean"),
        "depth_to_space": (lambda data, factor: blocks(data, factor, apart=True), "reshape permute_dims"),
        "space_to_depth": (lambda data, factor: blocks(data, factor, apart=False), "reshape permute_dims"),
    }  # fmt: skip
