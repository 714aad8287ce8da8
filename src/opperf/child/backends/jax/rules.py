"""What JAX's functions are given, by area, and which of them compute nothing that could be timed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opperf.child.backends import array_rules
from opperf.child.backends.jax import lax_rules, scipy_rules
from opperf.child.backends.notation import Rule, alike
from opperf.child.backends.signatures import Rules

#: How many elements a result has that NumPy would make as long as it turns out.
SIZE: Mapping[str, Any] = {"size": lambda side: side * side}
#: Functions that write into their first argument in NumPy, and return a new array here.
NEW: Mapping[str, Any] = {"inplace": False}

#: What functions of `jax.numpy` are given otherwise than NumPy's: `jax.jit` must know the shapes of results before.
_NUMPY: Mapping[str, Rule] = {
    **alike("a: n,n", SIZE, "argwhere", "flatnonzero", "nonzero"),
    "choose": ("a: n,n int32 0..2 | choices: [n,n; n,n]", {"mode": "clip"}),
    "compress": ("condition: n bool | a: n,n", {"axis": 0, "size": lambda side: side}),
    "extract": ("condition: n,n bool | arr: n,n", SIZE),
    "fill_diagonal": ("a: n,n", {"val": 1.0, **NEW}),
    **alike("ar1: nn int32 0..64 | ar2: n int32 0..64", SIZE, "intersect1d", "setdiff1d", "setxor1d", "union1d"),
    "place": ("arr: n,n | mask: n,n bool | vals: n", NEW),
    "put": ("a: n,n | ind: n int32 0..8 | v: n", NEW),
    "put_along_axis": ("arr: n,n | indices: 1,n int32 0..8 | values: 1,n", {"axis": 0, **NEW}),
    "ravel_multi_index": (
        "multi_index: [nn int32 0..8; nn int32 0..8]",
        {"dims": lambda side: (side, side), "mode": "clip"},
    ),
    "roots": ("p: 8 1..2", {"strip_zeros": False}),
    "unique": ("ar: nn int32 0..64", SIZE),
    **alike("x: nn int32 0..64", SIZE, "unique_all", "unique_counts", "unique_inverse", "unique_values"),
}
#: What the functions of `jax.nn`, `jax.ops` and `jax.image` are given where a square matrix is not enough.
_NN: Mapping[str, Rule] = {
    "nn.dot_product_attention": ("query: 1,n,4,16 | key: 1,n,4,16 | value: 1,n,4,16", {}),
    "nn.log1mexp": ("x: n,n 0.1..2", {}),
    "nn.scaled_matmul": ("lhs: 1,64,64 | rhs: 1,64,64 | lhs_scales: 1,64,2 | rhs_scales: 1,64,2", {}),
    **alike(
        "data: nn,4 | segment_ids: nn int32 0..8",
        {"num_segments": 8},
        *(f"ops.segment_{kind}" for kind in ("min", "prod")),
    ),
    "image.scale_and_translate": (
        (
            "image: n,n,3 | shape = (16, 16, 3) | spatial_dims = (0, 1) | scale: 2 1..2 | translation: 2 |"
            " method = 'linear'"
        ),
        {},
    ),
}
#: By the beginning of a path; what it ends in is the name that a rule stands under.
AREAS: Mapping[str, Rules] = {
    "jax.numpy.": Rules({**array_rules.RULES, **_NUMPY}, array_rules.ATTRIBUTES),
    "jax.lax.": Rules(lax_rules.FUNCTIONS, lax_rules.ATTRIBUTES),
    "jax.scipy.stats.": Rules(scipy_rules.DISTRIBUTIONS, arrays=scipy_rules.DISTRIBUTION_ARRAYS),
    "jax.scipy.": Rules(scipy_rules.FUNCTIONS),
    "jax.": Rules(_NN),
}

#: Why functions are not measured, and their paths below `jax`.
LEFT_OUT: Mapping[str, tuple[str, ...]] = {
    "it calls a Python function passed to it, and only that function would be timed": (
        "numpy.apply_along_axis", "numpy.apply_over_axes", "numpy.fromfunction", "numpy.frompyfunc",
        "numpy.mask_indices", "numpy.piecewise", "numpy.vectorize", "numpy.fromiter",
        "lax.associative_scan", "lax.composite", "lax.cond", "lax.custom_linear_solve", "lax.custom_root",
        "lax.fori_loop", "lax.map", "lax.platform_dependent", "lax.reduce", "lax.reduce_window", "lax.scan",
        "lax.scatter_apply", "lax.switch", "lax.while_loop", "scipy.linalg.funm",
    ),
    "it communicates between devices over a named axis, which only a mapped function has": (
        "lax.all_gather", "lax.all_to_all", "lax.axis_index", "lax.axis_size", "lax.pbroadcast", "lax.pcast",
        "lax.pmax", "lax.pmean", "lax.pmin", "lax.ppermute", "lax.precv", "lax.psend", "lax.pshuffle", "lax.psum",
        "lax.psum_scatter", "lax.pswapaxes", "lax.ragged_all_to_all", "lax.with_sharding_constraint",
    ),
    "it inspects element types or shapes and reads no elements": (
        "numpy.broadcast_shapes", "numpy.einsum_path", "numpy.iscomplexobj", "numpy.isdtype",
        "numpy.isrealobj", "numpy.isscalar", "numpy.issubdtype", "numpy.ndim",
        "numpy.promote_types", "numpy.result_type", "numpy.shape", "numpy.size", "lax.broadcast_shapes",
        "lax.conv_dimension_numbers", "lax.conv_general_permutations", "lax.conv_general_shape_tuple",
        "lax.conv_shape_tuple", "lax.conv_transpose_shape_tuple", "lax.dtype", "lax.padtype_to_pads",
        "lax.reduce_window_shape_tuple", "lax.shape_as_value", "nn.get_scaled_dot_general_config",
    ),
    "it orders effects, and computes nothing": ("lax.after_all", "lax.create_token", "lax.dce_sink"),
    "it parses numbers from text": ("numpy.fromstring",),
    "it reads or changes JAX's configuration": (
        "numpy.get_printoptions", "numpy.printoptions",
    ),
    "it needs an object of one of JAX's own classes, which a case cannot store": (
        "lax.gather", "lax.ragged_dot_general", "lax.scatter", "lax.scatter_add", "lax.scatter_max",
        "lax.scatter_min", "lax.scatter_mul", "lax.scatter_sub", "nn.scaled_dot_general",
    ),
    "it takes a key of unsigned integers, which opperf's tensors cannot hold": ("lax.rng_bit_generator",),
}  # fmt: skip
