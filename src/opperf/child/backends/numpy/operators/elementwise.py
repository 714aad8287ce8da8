"""Elementwise operators of one, two and three arrays, with broadcasting, and in place in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from opperf.child.backends.arrays.compositions import WRITES
from opperf.child.backends.arrays.operators import TERNARY
from opperf.child.backends.binding import Binding, call, compositions, functions, gaps


def copy_to(data: Any, destination: Any) -> Any:
    np.copyto(destination, data)
    return destination


BINDINGS: dict[str, Binding] = {
    **functions(
        "numpy",
        {
            ("a=data", ""): "round",
            ("a=data, a_min=minimum, a_max=maximum", ""): "clip",
            ("a=lhs, b=rhs", ""): "isclose",
            # All functions of two arrays broadcast.
            ("x1=lhs, x2=rhs", ""): (
                "broadcast_add=add broadcast_subtract=subtract broadcast_multiply=multiply broadcast_divide=divide "
                "broadcast_power=power broadcast_maximum=maximum broadcast_minimum=minimum broadcast_equal=equal "
                "broadcast_greater=greater"
            ),
            ("array=data, shape=shape", ""): "broadcast_to",
            # An input may be the place of the output.
            ("x1=lhs, x2=rhs", "out=lhs"): (
                "add_inplace=add subtract_inplace=subtract multiply_inplace=multiply divide_inplace=divide "
                "remainder_inplace=remainder"
            ),
            ("a=data, a_min=low, a_max=high", "out=data"): "clip_inplace=clip",
        },
    ),
    **gaps("NumPy has no error function; SciPy has it", "erf"),
    **gaps("NumPy has no inverse error function; SciPy has it", "erfinv"),
    **gaps("NumPy has no gamma function; SciPy has it", "gammaln"),
    **gaps("NumPy has no digamma function; SciPy has it", "digamma"),
    **compositions(
        rsqrt=(lambda data: np.reciprocal(np.sqrt(data)), "numpy.sqrt and numpy.reciprocal"),
        rcbrt=(lambda data: np.reciprocal(np.cbrt(data)), "numpy.cbrt and numpy.reciprocal"),
        frac=(lambda data: np.subtract(data, np.trunc(data)), "numpy.trunc and numpy.subtract"),
        copy_to=(copy_to, "numpy.copyto"),
    ),
    "relu_inplace": call("numpy.maximum", "x1=data, x2=0", "out=data", note="numpy.maximum with 0"),
    "set_item": WRITES["set_item"],
    # Functions of three arrays, which users of NumPy write with arithmetic.
    **TERNARY,
}
