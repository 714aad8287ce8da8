"""Fourier transforms; a part of the family of convolutions."""

from __future__ import annotations

import math

from opperf.catalog.definition import Operator
from opperf.catalog.formulas import product
from opperf.domain.case import Case
from opperf.domain.tensor import TensorSpec

_Shape = tuple[int, ...]

# Fourier transforms along the last dimension, or the last two.
#
# Operations by the usual count: 5 N log2 N for the transform of N complex numbers, half of that where one side is real.
# Measured forward: to PyTorch the gradient of a complex tensor is the conjugate of what it is to JAX.

#: (signals, length); skewed is one long signal.
SIGNALS = {"small": (8, 128), "common": (256, 1024), "large": (1024, 4096), "skewed": (1, 1_048_576)}
#: (images, height, width); skewed are many small ones.
IMAGES = {"small": (2, 16, 16), "common": (16, 256, 256), "large": (16, 512, 512), "skewed": (4096, 16, 16)}


def _transform(
    name: str, summary: str, *, axes: int = 1, dtype: str = "complex64", output: str = "complex64"
) -> Operator:
    """Declare `name`; of real numbers the half of the spectrum that says everything is `last // 2 + 1` wide."""
    width = _as_wide if dtype == output else _half if dtype == "float32" else _full

    def outputs(case: Case) -> tuple[TensorSpec, ...]:
        *rows, last = case.tensor("data").shape
        return (TensorSpec((*rows, width(last)), output),)

    def flops(case: Case) -> int:
        data, result = case.tensor("data").shape, outputs(case)[0].shape
        # The longer side is the one with every number in it.
        extents = max(data, result)
        count = product(extents[-axes:])
        each = 5 * count * math.log2(max(count, 2))
        return round(product(extents[:-axes]) * (each if dtype == output else each / 2))

    shapes = SIGNALS if axes == 1 else IMAGES
    sizes = {size: {"data": TensorSpec(_input_shape(shape, dtype, output), dtype)} for size, shape in shapes.items()}
    return Operator(name, "spectral", summary, sizes, outputs, flops)


def _as_wide(last: int) -> int:
    return last


def _half(last: int) -> int:
    return last // 2 + 1


def _full(last: int) -> int:
    return 2 * (last - 1)


def _input_shape(shape: _Shape, dtype: str, output: str) -> _Shape:
    """Return the shape of the input: half a spectrum where real numbers are made of it."""
    return (*shape[:-1], _half(shape[-1])) if dtype != output == "float32" else shape


OPERATORS = (
    _transform("fft", "the Fourier transform of complex numbers along the last dimension"),
    _transform("ifft", "the inverse Fourier transform of complex numbers along the last dimension"),
    _transform("rfft", "the Fourier transform of real numbers, as half a spectrum", dtype="float32"),
    _transform("irfft", "the inverse of `rfft`: an even count of real numbers from half a spectrum", output="float32"),
    _transform("fft2", "the Fourier transform of complex images along the last two dimensions", axes=2),
    _transform("rfft2", "the Fourier transform of real images, as half a spectrum", axes=2, dtype="float32"),
)
