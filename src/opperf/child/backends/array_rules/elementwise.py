"""Inputs of functions that work on each element by itself: their domains, and who takes whole or complex numbers."""

from __future__ import annotations

from collections.abc import Mapping

from opperf.child.backends.notation import Rule, alike

RULES: Mapping[str, Rule] = {
    # Domains ----------------------------------------------------------------------------------------------------------
    "acosh": ("x: n,n 1..2", {}),
    **alike("x: n,n -0.9..0.9", {}, "acos", "asin", "atanh"),
    **alike("x1: n,n | x2: n,n 1..2", {}, "true_divide", "mod", "divmod"),
    **alike("x1: n,n 0.1..2 | x2: n,n", {}, "pow", "float_power"),
    # Whole numbers ----------------------------------------------------------------------------------------------------
    **alike("x: n,n int32", {}, "bitwise_count", "bitwise_invert", "invert"),
    **alike("x1: n,n int32 | x2: n,n int32 0..8", {}, "bitwise_left_shift", "bitwise_right_shift"),
    **alike("x1: n,n int32 1..10 | x2: n,n int32 1..10", {}, "gcd", "lcm"),
    "ldexp": ("x1: n,n | x2: n,n int32 0..4", {}),
    # Complex numbers --------------------------------------------------------------------------------------------------
    "angle": ("z: n,n complex64", {}),
    **alike("x: n,n complex64", {}, "conj", "conjugate", "iscomplex", "isreal"),
    **alike("val: n,n complex64", {}, "imag", "real"),
    "sort_complex": ("a: nn complex64", {}),
}
