"""Normalizations written once, around what a framework has to standardize data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from opperf.child.backends.binding import Binding, compositions

#: What the catalog's normalizations add to a variance where a case does not say.
EPSILON = 1e-5


def or_usual(epsilon: float | None) -> float:
    """Return the number that is added to a variance."""
    return EPSILON if epsilon is None else epsilon


def last_axes(weight: Any) -> tuple[int, ...]:
    """Return the last dimensions, as many as the weight has."""
    return tuple(range(-weight.ndim, 0))


def along_channels(values: Any, data: Any) -> Any:
    """Return a vector in the shape in which it stands along the second dimension of the data."""
    return None if values is None else values.reshape(1, -1, *(1,) * (data.ndim - 2))


def affine(normal: Any, weight: Any, bias: Any) -> Any:
    """Return normalized data scaled and shifted, as far as there is a weight and a bias."""
    scaled = normal if weight is None else normal * weight
    return scaled if bias is None else scaled + bias


def layer_norm(standardize: Callable[..., Any]) -> Callable[..., Any]:
    """Return the normalization over as many last dimensions as the weight has."""

    def layer_norm(data: Any, weight: Any, bias: Any, epsilon: float | None) -> Any:
        return affine(standardize(data, last_axes(weight), epsilon=or_usual(epsilon)), weight, bias)

    return layer_norm


def normalizations(standardize: Callable[..., Any], note: str) -> dict[str, Binding]:
    """Return the bindings of those over dimensions of one sample.

    `standardize` takes data, axes and `epsilon`, and returns data whose mean is 0 and whose variance 1 along the axes.
    """

    def group_norm(data: Any, weight: Any, bias: Any, groups: int, epsilon: float | None) -> Any:
        rows = data.reshape(data.shape[0], groups, -1)
        normal = standardize(rows, -1, epsilon=or_usual(epsilon)).reshape(data.shape)
        return affine(normal, along_channels(weight, data), along_channels(bias, data))

    def instance_norm(data: Any, weight: Any, bias: Any, epsilon: float | None) -> Any:
        normal = standardize(data, tuple(range(2, data.ndim)), epsilon=or_usual(epsilon))
        return affine(normal, along_channels(weight, data), along_channels(bias, data))

    return compositions(
        layer_norm=(layer_norm(standardize), note), group_norm=(group_norm, note), instance_norm=(instance_norm, note)
    )
