"""What JAX's functions are given, by area, and which of them compute nothing that could be timed."""

from __future__ import annotations

from collections.abc import Mapping

from opperf.child.backends import array_rules
from opperf.child.backends.jax import lax_rules, nn_rules, numpy_rules, scipy_rules
from opperf.child.backends.signatures import Rules

#: By the beginning of a path; what it ends in is the name that a rule stands under.
AREAS: Mapping[str, Rules] = {
    "jax.numpy.": Rules({**array_rules.RULES, **numpy_rules.FUNCTIONS}, array_rules.ATTRIBUTES),
    "jax.lax.": Rules(lax_rules.FUNCTIONS, lax_rules.ATTRIBUTES),
    "jax.scipy.stats.": Rules(scipy_rules.DISTRIBUTIONS, arrays=scipy_rules.DISTRIBUTION_ARRAYS),
    "jax.scipy.": Rules(scipy_rules.FUNCTIONS),
    "jax.": Rules(nn_rules.FUNCTIONS),
}

#: Why functions are not measured, and their paths below `jax`.
LEFT_OUT: Mapping[str, tuple[str, ...]] = {
    "it calls a Python function that it is given, and nothing but that is timed": (
        "numpy.apply_along_axis", "numpy.apply_over_axes", "numpy.fromfunction", "numpy.frompyfunc",
        "numpy.mask_indices", "numpy.piecewise", "numpy.vectorize", "numpy.fromiter",
        "lax.associative_scan", "lax.composite", "lax.cond", "lax.custom_linear_solve", "lax.custom_root",
        "lax.fori_loop", "lax.map", "lax.platform_dependent", "lax.reduce", "lax.reduce_window", "lax.scan",
        "lax.scatter_apply", "lax.switch", "lax.while_loop", "scipy.linalg.funm",
    ),
    "it talks to other devices, by the name of an axis that only a mapped function has": (
        "lax.all_gather", "lax.all_to_all", "lax.axis_index", "lax.axis_size", "lax.pbroadcast", "lax.pcast",
        "lax.pmax", "lax.pmean", "lax.pmin", "lax.ppermute", "lax.precv", "lax.psend", "lax.pshuffle", "lax.psum",
        "lax.psum_scatter", "lax.pswapaxes", "lax.ragged_all_to_all", "lax.with_sharding_constraint",
    ),
    "it answers a question about element types or shapes, and sees no elements": (
        "numpy.broadcast_shapes", "numpy.einsum_path", "numpy.iscomplexobj", "numpy.isdtype",
        "numpy.isrealobj", "numpy.isscalar", "numpy.issubdtype", "numpy.ndim",
        "numpy.promote_types", "numpy.result_type", "numpy.shape", "numpy.size", "lax.broadcast_shapes",
        "lax.conv_dimension_numbers", "lax.conv_general_permutations", "lax.conv_general_shape_tuple",
        "lax.conv_shape_tuple", "lax.conv_transpose_shape_tuple", "lax.dtype", "lax.padtype_to_pads",
        "lax.reduce_window_shape_tuple", "lax.shape_as_value", "nn.get_scaled_dot_general_config",
    ),
    "it orders effects, and computes nothing": ("lax.after_all", "lax.create_token", "lax.dce_sink"),
    "it reads numbers from a text, not from an array": ("numpy.fromstring",),
    "it asks or sets how JAX works": (
        "numpy.get_printoptions", "numpy.printoptions",
    ),
    "it needs an object of a class of JAX's own, which no case can hold": (
        "lax.gather", "lax.ragged_dot_general", "lax.scatter", "lax.scatter_add", "lax.scatter_max",
        "lax.scatter_min", "lax.scatter_mul", "lax.scatter_sub", "nn.scaled_dot_general",
    ),
    "it draws from a key of unsigned numbers, which no tensor of opperf holds": ("lax.rng_bit_generator",),
}  # fmt: skip
