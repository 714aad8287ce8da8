"""What the functions of `jax.lax` are given: domains, whole numbers, shapes, windows and places.

An argument that JAX has no gradient for, though it has the function's, is `fixed`; so are all of a function with a loop
of unknown length, which has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opperf.child.backends.notation import Rule, alike
from opperf.domain.case import DType

#: Arguments that are no arrays.
ATTRIBUTES: Mapping[str, Any] = {
    "axis": 0,
    "axes": (0,),
    "dimension": 0,
    "dimensions": (0,),
    "dtype": DType("float32"),
    "fill_value": 1.0,
    "index_dtype": DType("int32"),
    "k": 4,
    "permutation": (1, 0),
    "reps": (2, 1),
    "shape": lambda side: (side, side),
    "size": lambda side: side * side,
}
#: A window of three by three that moves by one.
WINDOW: Mapping[str, Any] = {"window_strides": (1, 1), "padding": "SAME"}
PLACE = "() int32 0..4"

FUNCTIONS: Mapping[str, Rule] = {
    # Domains ----------------------------------------------------------------------------------------------------------
    "reciprocal": ("x: n,n 1..2", {}),
    "rem": ("x: n,n | y: n,n 1..2", {}),
    "integer_pow": ("x: n,n", {"y": 3}),
    "betainc": ("a: n,n 1..2 fixed | b: n,n 1..2 fixed | x: n,n 0.1..0.9", {}),
    **alike("a: n,n 1..2 | x: n,n 1..2", {}, "igamma", "igamma_grad_a", "igammac"),
    "random_gamma_grad": ("a: n,n 1..2 fixed | x: n,n 1..2 fixed", {}),
    "polygamma": ("m: n,n ones fixed | x: n,n 1..2", {}),
    "zeta": ("x: n,n 2..3 | q: n,n 1..2", {}),
    "clamp": ("min: () -1..0 fixed | x: n,n | max: () 0..1 fixed", {}),
    "reduce_precision": ("operand: n,n", {"exponent_bits": 8, "mantissa_bits": 7}),
    # Whole numbers, truth, complex numbers ----------------------------------------------------------------------------
    "mulhi": ("x: n,n int32 | y: n,n int32", {}),
    **alike("x: n,n int32", {}, "clz", "population_count"),
    **alike("x: n,n int32 | y: n,n int32 0..8", {}, "shift_left", "shift_right_arithmetic", "shift_right_logical"),
    **alike("operand: n,n bool", {"axes": (0,)}, "reduce_and", "reduce_or", "reduce_xor"),
    **alike("x: n,n complex64", {}, "conj", "imag", "real"),
    "bitcast_convert_type": ("operand: n,n", {"new_dtype": "int32"}),
    # Shapes -----------------------------------------------------------------------------------------------------------
    "broadcast": ("operand: n,n", {"sizes": (2,)}),
    "broadcast_in_dim": ("operand: n", {"shape": lambda side: (side, side), "broadcast_dimensions": (1,)}),
    "broadcast_like": ("arr: n | like_arr: n,n", {}),
    "broadcast_to_rank": ("x: n,n", {"rank": 3}),
    "collapse": ("operand: n,n", {"start_dimension": 0}),
    "concatenate": ("operands: [n,n; n,n]", {"dimension": 0}),
    "pad": ("operand: n,n | padding_value: ()", {"padding_config": ((1, 1, 0), (1, 1, 0))}),
    "split": ("operand: n,n", {"sizes": lambda side: (side // 2, side // 2)}),
    "squeeze": ("array: 1,n,n", {"dimensions": (0,)}),
    "stack": ("operands: [n,n; n,n]", {}),
    "unstack": ("x: 4,n,n", {}),
    # Places -----------------------------------------------------------------------------------------------------------
    "dynamic_index_in_dim": (f"operand: n,n | index: {PLACE}", {}),
    "dynamic_slice": (f"operand: n,n | start_indices: [{PLACE}; {PLACE}]", {"slice_sizes": (4, 4)}),
    "dynamic_slice_in_dim": (f"operand: n,n | start_index: {PLACE}", {"slice_size": 4}),
    "dynamic_update_index_in_dim": (f"operand: n,n | update: n | index: {PLACE}", {"axis": 0}),
    "dynamic_update_slice": (f"operand: n,n | update: 4,4 | start_indices: [{PLACE}; {PLACE}]", {}),
    "dynamic_update_slice_in_dim": (f"operand: n,n | update: 4,n | start_index: {PLACE}", {"axis": 0}),
    "index_in_dim": ("operand: n,n", {"index": 1}),
    "index_take": ("src: n,n | idxs: [n int32 0..8]", {"axes": (0,)}),
    "select_n": ("which: n,n int32 0..2 | case0: n,n | case1: n,n", {}),
    "slice": ("operand: n,n", {"start_indices": (0, 0), "limit_indices": (4, 4)}),
    "slice_in_dim": ("operand: n,n", {"start_index": 0, "limit_index": 4}),
    # Products, windows, transforms ------------------------------------------------------------------------------------
    "dot_general": ("lhs: n,n | rhs: n,n", {"dimension_numbers": (((1,), (0,)), ((), ()))}),
    "ragged_dot": ("lhs: n,n | rhs: 2,n,n | group_sizes: 2 int32 1..5", {}),
    "conv": ("lhs: 1,4,n,n | rhs: 8,4,3,3", WINDOW),
    "conv_general_dilated_local": ("lhs: 1,2,n,n | rhs: 1,18,n,n", {**WINDOW, "filter_shape": (3, 3)}),
    "conv_general_dilated_patches": ("lhs: 1,4,n,n", {**WINDOW, "filter_shape": (3, 3)}),
    "conv_transpose": ("lhs: 1,n,n,4 | rhs: 3,3,4,8", {"strides": (2, 2), "padding": "SAME"}),
    "conv_with_general_padding": (
        "lhs: 1,4,n,n | rhs: 8,4,3,3",
        {"window_strides": (1, 1), "padding": ((1, 1), (1, 1)), "lhs_dilation": (1, 1), "rhs_dilation": (1, 1)},
    ),
    "fft": ("x: n,n complex64", {"fft_type": "FFT", "fft_lengths": lambda side: (side, side)}),
    "rng_uniform": ("a: () 0..1 | b: () 1..2", {"shape": lambda side: (side, side)}),
    # Matrices ---------------------------------------------------------------------------------------------------------
    "linalg.cholesky": ("x: nn,1,1 1..2", {}),
    "linalg.cholesky_update": ("r_matrix: n,n | w_vector: n", {}),
    "linalg.householder_product": ("a: n,n | taus: n", {}),
    "linalg.lu_pivots_to_permutation": ("pivots: n int32 0..8", {"permutation_size": lambda side: side}),
    "linalg.ormqr": ("a: n,n | taus: n | c: n,n", {}),
    "linalg.triangular_solve": ("a: n,n 1..2 | b: n,n", {"left_side": True}),
    "linalg.qdwh": ("x: n,n fixed", {}),
    "linalg.tridiagonal_solve": ("dl: n | d: n 2..3 | du: n | b: n,n", {}),
}
