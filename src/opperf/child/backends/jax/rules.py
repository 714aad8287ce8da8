"""What JAX's functions are given, by area, and which of them compute nothing that could be timed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opperf.child.backends.arrays import rules as array_rules
from opperf.child.backends.naming.notation import Rule, alike
from opperf.child.backends.naming.signatures import Rules
from opperf.domain.case import DType

#: Arguments of the functions of distributions: all of them have a density for these.
DISTRIBUTION_ARRAYS: Mapping[str, str] = {
    "x": "n,n 0.1..0.9",
    "q": "n,n 0.1..0.9",
    "p": "n,n 0.1..0.9",
    "k": "n,n int32 0..4",
    "n": "n,n int32 4..8",
    **dict.fromkeys(("a", "b", "c", "beta", "df", "kappa", "mu"), "n,n 1..2"),
}
#: The functions of `x` that continuous distributions have.
CONTINUOUS = ("cdf", "logcdf", "logpdf", "logsf", "pdf", "sf")
DISTRIBUTIONS: Mapping[str, Rule] = {
    **alike("x: 4,nn 0.1..0.9 | alpha: 4 1..2", {}, "dirichlet.logpdf", "dirichlet.pdf"),
    **alike("x: nn,4 int32 0..4 | n: () int32 8..16 | p: 4 0.1..0.9", {}, "multinomial.logpmf", "multinomial.pmf"),
    **alike("x: nn,1 | mean: 1 | cov: 1,1 1..2", {}, "multivariate_normal.logpdf", "multivariate_normal.pdf"),
    "pareto.ppf": ("q: n,n 0.1..0.9 | b: n,n 1..2", {}),
    **alike("x: n,n 1..2 | b: n,n 1..2", {}, *(f"pareto.{name}" for name in CONTINUOUS)),
    **alike("x: n,n | a: n,n -2..-1 | b: n,n 1..2", {}, *(f"truncnorm.{name}" for name in CONTINUOUS)),
    **alike(
        "x: n,n 0.1..0.9 | a: n,n 1..2 fixed | b: n,n 1..2 fixed",
        {},
        *(f"beta.{name}" for name in ("cdf", "logcdf", "logsf", "sf")),
    ),
    "mode": ("a: n,n int32", {}),
    **alike("a: n,n", {}, "rankdata", "sem"),
}
SIGNAL: Mapping[str, Any] = {"nperseg": 64}

SPECIAL: Mapping[str, Rule] = {
    "bernoulli": ("", {"n": 20}),
    "bessel_jn": ("z: n,n 0.1..2", {"v": 3}),
    **alike("a: n,n 1..2 | b: n,n 1..2", {}, "beta", "betaln"),
    "betainc": ("a: n,n 1..2 fixed | b: n,n 1..2 fixed | x: n,n 0.1..0.9", {}),
    **alike("x: n,n 0.1..2 | lmbda: n,n 0.1..2", {}, "boxcox", "boxcox1p"),
    "comb": ("N: n,n 5..10 | k: n,n 1..4", {}),
    **alike("x: n,n 0.1..2", {}, "entr", "exp1", "expi", "sici", "spence"),
    "expn": ("n: n,n int32 1..4 | x: n,n 0.1..2", {}),
    "factorial": ("n: n,n 0..10", {}),
    **alike("x: n,n 1..3", {}, "gamma", "gammasgn", "loggamma"),
    **alike("a: n,n 1..2 | x: n,n 1..2", {}, "gammainc", "gammaincc"),
    "hyp1f1": ("a: n,n 1..2 | b: n,n 1..2 | x: n,n 0..1", {}),
    "hyp2f1": ("a: n,n 1..2 | b: n,n 1..2 | c: n,n 3..4 | x: n,n 0..0.5", {}),
    **alike("p: n,n 0.1..1 | q: n,n 0.1..1", {}, "kl_div", "rel_entr"),
    "logit": ("x: n,n 0.1..0.9", {}),
    "multigammaln": ("a: n,n 3..5", {"d": 2}),
    "ndtri": ("p: n,n 0.1..0.9", {}),
    "poch": ("z: n,n 1..2 | m: n,n 1..2", {}),
    "polygamma": ("n: n,n int32 1..3 | x: n,n 1..2", {}),
    "sph_harm_y": ("n: nn int32 0..4 | m: nn int32 0..1 | theta: nn 0..3 | phi: nn 0..3", {"n_max": 4}),
    "wofz": ("z: n,n complex64", {}),
    "xlog1py": ("x: n,n | y: n,n -0.5..2", {}),
    "xlogy": ("x: n,n | y: n,n 0.1..2", {}),
    "zeta": ("x: n,n 2..3 | q: n,n 1..2", {}),
}
LINALG: Mapping[str, Rule] = {
    "block_diag": ("arrs0: n,n | arrs1: n,n", {}),
    **alike("a: nn,1,1 1..2", {}, "cho_factor", "cholesky"),
    "cho_solve": ("c_and_lower: [n,n 1..2; = True] | b: n,n", {}),
    **alike("c: n", {}, "circulant", "hankel", "toeplitz"),
    **alike("a: n 1..2", {}, "companion", "fiedler", "fiedler_companion"),
    "convolution_matrix": ("a: n", {"n": lambda side: side}),
    **alike("", {"n": lambda side: side}, "dft", "hadamard", "helmert", "hilbert", "pascal"),
    **alike("", {"n": 8}, "invhilbert", "invpascal"),
    "eigh_tridiagonal": ("d: 64 fixed | e: 63 fixed", {"eigvals_only": True}),
    "leslie": ("f: 64 | s: 63", {}),
    "lu_solve": ("lu_and_piv: [n,n 1..2; n int32 0..8] | b: n,n", {}),
    "polar": ("a: n,n fixed", {}),
}
SIGNALS: Mapping[str, Rule] = {
    **alike("in1: nn | in2: n", {}, "convolve", "correlate", "fftconvolve"),
    **alike("in1: n,n | in2: 4,4", {}, "convolve2d", "correlate2d"),
    "csd": ("x: nn | y: nn", SIGNAL),
    "istft": ("Zxx: 33,n complex64", SIGNAL),
    **alike("x: nn", SIGNAL, "stft", "welch"),
}
SCIPY: Mapping[str, Rule] = {
    **{f"special.{name}": rule for name, rule in SPECIAL.items()},
    **{f"linalg.{name}": rule for name, rule in LINALG.items()},
    **{f"signal.{name}": rule for name, rule in SIGNALS.items()},
    "ndimage.map_coordinates": ("input: n,n | coordinates: [nn 0..8; nn 0..8] | order = 1", {}),
}


#: Arguments that are no arrays.
LAX_ATTRIBUTES: Mapping[str, Any] = {
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

LAX: Mapping[str, Rule] = {
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
    "jax.lax.": Rules(LAX, LAX_ATTRIBUTES),
    "jax.scipy.stats.": Rules(DISTRIBUTIONS, arrays=DISTRIBUTION_ARRAYS),
    "jax.scipy.": Rules(SCIPY),
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
