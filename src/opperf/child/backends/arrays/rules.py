"""Inputs of the functions that frameworks name as NumPy does, in the notation of `notation.py`, area by area.

A name is the path below NumPy's own module: `arccosh`, `linalg.cond`, `fft.irfft`. What is not here needs no more than
square matrices and what its arguments mean by their own names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opperf.child.backends.naming.notation import Rule, alike

RULES: Mapping[str, Rule] = {
    # Inputs of functions that work on each element by itself: their domains, and who takes whole or complex numbers.
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
    # Inputs of functions that move, join, split and repeat elements.
    "append": ("arr: n,n | values: n,n", {"axis": 0}),
    "astype": ("x: n,n | dtype = float16", {}),
    **alike("arys0: n,n | arys1: n", {}, "atleast_1d", "atleast_2d", "atleast_3d"),
    "block": ("arrays: [n,n; n,n]", {}),
    "broadcast_arrays": ("args0: n,n | args1: n", {}),
    "concat": ("arrays: [n,n; n,n]", {}),
    **alike("tup: [n,n; n,n]", {}, "column_stack", "dstack", "hstack", "vstack"),
    "dsplit": ("ary: n,n,4", {"indices_or_sections": 2}),
    "meshgrid": ("x1: n | x2: n", {}),
    "ix_": ("args0: n int32 | args1: n int32", {}),
    "permute_dims": ("a: n,n", {"axes": (1, 0)}),
    "diag": ("v: n,n", {}),
    "diagflat": ("v: n", {}),
    "trim_zeros": ("filt: nn", {}),
    "unstack": ("x: 4,n,n", {}),
    # Inputs of functions that select, search and write by index or mask.
    "argpartition": ("a: n,n", {"kth": 4}),
    "choose": ("a: n,n int32 0..2 | choices: [n,n; n,n]", {}),
    "compress": ("condition: n bool | a: n,n", {"axis": 0}),
    "delete": ("arr: n,n", {"obj": 1, "axis": 0}),
    "digitize": ("x: nn | bins: n sorted", {}),
    "extract": ("condition: n,n bool | arr: n,n", {}),
    "fill_diagonal": ("a: n,n", {"val": 1.0}),
    "insert": ("arr: n,n | obj = 1 | values: n", {"axis": 0}),
    "interp": ("x: nn | xp: n sorted | fp: n", {}),
    **alike("ar1: nn int32 0..64 | ar2: n int32 0..64", {}, "intersect1d", "setdiff1d", "setxor1d", "union1d"),
    "isin": ("element: nn int32 0..64 | test_elements: n int32 0..64", {}),
    "lexsort": ("keys: [nn; nn]", {}),
    "packbits": ("a: n,n bool", {}),
    "unpackbits": ("a: n,n uint8", {}),
    "place": ("arr: n,n | mask: n,n bool | vals: n", {}),
    "put": ("a: n,n | ind: n int32 0..8 | v: n", {}),
    "put_along_axis": ("arr: n,n | indices: 1,n int32 0..8 | values: 1,n", {"axis": 0}),
    "ravel_multi_index": ("multi_index: [nn int32 0..8; nn int32 0..8]", {"dims": lambda side: (side, side)}),
    "unravel_index": ("indices: nn int32 0..64", {"shape": lambda side: (side, side)}),
    "select": ("condlist: [n,n bool; n,n bool] | choicelist: [n,n; n,n]", {}),
    "unique": ("ar: nn int32 0..64", {}),
    **alike("x: nn int32 0..64", {}, "unique_all", "unique_counts", "unique_inverse", "unique_values"),
    # Inputs of functions that sum, count and describe many values.
    "average": ("a: n,n", {"axis": 0}),
    **alike("a: nn | v: n", {}, "convolve", "correlate"),
    "cross": ("a: nn,3 | b: nn,3", {}),
    "linalg.cross": ("x1: nn,3 | x2: nn,3", {}),
    **alike("x: nn", {}, "cumulative_sum", "cumulative_prod"),
    "gradient": ("f: n,n", {}),
    "histogram_bin_edges": ("a: nn", {"bins": 16}),
    "histogram2d": ("x: nn | y: nn", {"bins": 16}),
    "histogramdd": ("sample: nn,2", {"bins": 16}),
    **alike("a: n,n", {"q": 25.0}, "percentile", "nanpercentile"),
    "unwrap": ("p: n,n -10..10", {}),
    # Inputs of polynomials and of Fourier transforms.
    # Polynomials ------------------------------------------------------------------------------------------------------
    "poly": ("seq_of_zeros: 8", {}),
    **alike("a1: nn | a2: nn", {}, "polyadd", "polysub"),
    **alike("p: nn", {}, "polyder", "polyint"),
    "polymul": ("a1: n | a2: n", {}),
    "polydiv": ("u: 2n | v: n 1..2", {}),
    "polyfit": ("x: nn | y: nn", {"deg": 3}),
    "polyval": ("p: 8 | x: n,n", {}),
    "roots": ("p: 8 1..2", {}),
    "vander": ("x: n", {}),
    # Fourier transforms -----------------------------------------------------------------------------------------------
    **alike(
        "a: n,n complex64", {}, *(f"fft.{name}" for name in ("fftn", "hfft", "ifft2", "ifftn", "irfft2", "irfftn"))
    ),
    **alike("", {"n": lambda side: side * side}, "fft.fftfreq", "fft.rfftfreq"),
    # Inputs of products, decompositions and solvers.
    "einsum": ("subscripts = 'ij,jk->ik' | operand0: n,n | operand1: n,n", {}),
    "matvec": ("x1: n,n | x2: n", {}),
    "vecmat": ("x1: n | x2: n,n", {}),
    "linalg.outer": ("x1: n | x2: n", {}),
    "vdot": ("a: nn | b: nn", {}),
    "linalg.matrix_power": ("a: n,n", {"n": 3}),
    "linalg.matrix_rank": ("A: n,n", {}),
    "linalg.multi_dot": ("arrays: [n,n; n,n; n,n]", {}),
    "linalg.tensorinv": ("a: n,n", {"ind": 1}),
    "linalg.tensorsolve": ("a: n,n | b: n", {}),
    "linalg.tensordot": ("x1: n,n | x2: n,n", {"axes": 1}),
    # What functions are given that make arrays of nothing but numbers.
    "geomspace": ("", {"start": 1.0, "stop": 100.0, "num": lambda side: side * side}),
    "logspace": ("", {"start": 0.0, "stop": 1.0, "num": lambda side: side * side}),
    **alike("", {"n": lambda side: side}, "diag_indices", "identity", "tril_indices", "triu_indices"),
    **alike("arr: n,n", {}, "diag_indices_from", "tril_indices_from", "triu_indices_from"),
}
#: Arguments that are no arrays.
ATTRIBUTES: Mapping[str, Any] = {
    "axis": 0,
    "source": 0,
    "destination": 1,
    "kth": 4,
    "q": 0.25,
    "N": lambda side: side,
    "M": lambda side: side * side,
    "beta": 14.0,
    "indices_or_sections": 2,
    "shape": lambda side: (side, side),
    "new_shape": lambda side: (2 * side, side),
    "dimensions": lambda side: (side, side),
}
