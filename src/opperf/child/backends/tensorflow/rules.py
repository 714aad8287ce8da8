"""What TensorFlow's functions are given, by area, and which of them compute nothing that could be timed.

The registered operators below them have rules of their own, in `raw_rules`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opperf.child.backends.arrays import rules as array_rules
from opperf.child.backends.naming.notation import Rule, alike
from opperf.child.backends.naming.signatures import Rules
from opperf.child.backends.tensorflow.raw_network_rules import maps
from opperf.child.backends.tensorflow.raw_rules import square
from opperf.domain.case import DType

#: Arguments that are no arrays, or whose values must be there already.
ATTRIBUTES: Mapping[str, Any] = {
    "axis": 0,
    "axes": (0,),
    "shape": square,
    "dtype": DType("float32"),
    "seed": (1, 2),
    "k": 4,
    "num_segments": 4,
    "delta": 0.1,
    "max_delta": 0.1,
    "lower": 0.5,
    "upper": 1.5,
    "offset_height": 0,
    "offset_width": 0,
    "target_height": 8,
    "target_width": 8,
    "window_length": 64,
    "num_rows": lambda side: side,
    "num_samples": 16,
    "shift": 1,
    "clip_norm": 1.0,
}
#: Arrays that are no square matrices.
ARRAYS: Mapping[str, str] = {
    **dict.fromkeys(("image", "images"), "n,n,3 0..1"),
    "segment_ids": "n int32 sorted 0..4",
}
WINDOW: Mapping[str, Any] = {"strides": 1, "padding": "SAME"}
POOL: Mapping[str, Any] = {"ksize": 2, "strides": 2, "padding": "VALID"}
DILATION: Mapping[str, Any] = {
    "strides": (1, 1, 1, 1), "padding": "SAME", "data_format": "NHWC", "dilations": (1, 1, 1, 1),
}  # fmt: skip
SAMPLER: Mapping[str, Any] = {"num_true": 1, "num_sampled": 4, "unique": True}
SAMPLED: Mapping[str, Any] = {"num_sampled": 4, "num_classes": 8}

FUNCTIONS: Mapping[str, Rule] = {
    # Domains ----------------------------------------------------------------------------------------------------------
    **alike("x: n,n -0.9..0.9", {}, "acos", "asin", "atanh", "math.erfinv"),
    "acosh": ("x: n,n 1..2", {}),
    "math.betainc": ("a: n,n 1..2 fixed | b: n,n 1..2 fixed | x: n,n 0.1..0.9", {}),
    **alike("x: n,n 0.1..0.9", {}, "math.erfcinv", "math.ndtri"),
    **alike("x: n,n 0.1..2", {}, "math.log", "math.log1p", "math.lbeta", "math.lgamma", "math.digamma", "math.rsqrt",
            "math.sqrt"),
    **alike("a: n,n 1..2 | x: n,n 1..2", {}, "math.igamma", "math.igammac"),
    "math.polygamma": ("a: n,n ones fixed | x: n,n 1..2", {}),
    "math.polyval": ("coeffs: [n,n; n,n; n,n] | x: n,n", {}),
    "math.zeta": ("x: n,n 2..3 | q: n,n 1..2", {}),
    **alike("x: n,n 0.1..2 | y: n,n 0.1..2", {}, "math.pow", "math.xdivy", "math.xlog1py", "math.xlogy"),
    **alike("x: n,n | y: n,n 1..2", {}, "divide", "math.floordiv", "math.floormod", "math.truediv", "realdiv",
            "truncatemod"),
    "math.scalar_mul": ("scalar: () | x: n,n", {}),
    # Whole numbers, truth, complex numbers ----------------------------------------------------------------------------
    "truncatediv": ("x: n,n int32 | y: n,n int32 1..8", {}),
    **alike("x: n,n int32 | y: n,n int32 0..8", {}, "bitwise.bitwise_and", "bitwise.bitwise_or", "bitwise.bitwise_xor",
            "bitwise.left_shift", "bitwise.right_shift"),
    "bitwise.invert": ("x: n,n int32", {}),
    **alike("x: n,n bool | y: n,n bool", {}, "logical_and", "logical_or", "math.logical_xor"),
    "logical_not": ("x: n,n bool", {}),
    **alike("input_tensor: n,n bool", {}, "math.reduce_all", "math.reduce_any"),
    **alike("input: n,n complex64", {}, "math.angle", "math.imag", "math.real"),
    "math.conj": ("x: n,n complex64", {}),
    "complex": ("real: n,n | imag: n,n", {}),
    "bitcast": ("input: n,n", {"type": DType("int32")}),
    # Sums, joints, lists ----------------------------------------------------------------------------------------------
    **alike("inputs: [n,n; n,n]", {}, "add_n", "math.accumulate_n"),
    **alike("t_list: [n,n; n,n]", {"clip_norm": 1.0}, "clip_by_global_norm"),
    "linalg.global_norm": ("t_list: [n,n; n,n]", {}),
    "clip_by_value": ("t: n,n", {"clip_value_min": -0.5, "clip_value_max": 0.5}),
    "concat": ("values: [n,n; n,n]", {"axis": 0}),
    **alike("values: [n,n; n,n]", {}, "parallel_stack", "stack"),
    "identity_n": ("input: [n,n; n,n]", {}),
    "meshgrid": ("x: n | y: n", {}),
    "einsum": ("equation = 'ij,jk->ik' | a: n,n | b: n,n", {}),
    # Shapes and places ------------------------------------------------------------------------------------------------
    "broadcast_to": ("input: n", {"shape": square}),
    "batch_to_space": ("input: 4,n,n,4", {"block_shape": (2, 2), "crops": ((0, 0), (0, 0))}),
    **alike("input: 1,n,n,4", {"block_shape": (2, 2), "paddings": ((0, 0), (0, 0))}, "nn.space_to_batch",
            "space_to_batch_nd"),
    **alike("input: 1,n,n,4", {"block_size": 2}, "nn.depth_to_space", "nn.space_to_depth"),
    "boolean_mask": ("tensor: n,n | mask: n bool", {}),
    "dynamic_partition": ("data: n,n | partitions: n int32 0..4", {"num_partitions": 4}),
    "dynamic_stitch": ("indices: [n int32 0..8; n int32 0..8] | data: [n,n; n,n]", {}),
    "extract_volume_patches": (
        "input: 1,8,8,8,3", {"ksizes": (1, 3, 3, 3, 1), "strides": (1, 1, 1, 1, 1), "padding": "VALID"},
    ),
    "fill": ("value: ()", {"dims": square}),
    "gather": ("params: n,n | indices: n int32 0..8", {}),
    "gather_nd": ("params: n,n | indices: n,1 int32 0..8", {}),
    "nn.embedding_lookup": ("params: n,n | ids: n int32 0..8", {}),
    "linspace": ("start: () 0..1 | stop: () 2..3", {"num": lambda side: side * side}),
    "one_hot": ("indices: n int32 0..8", {"depth": 8}),
    "pad": ("tensor: n,n", {"paddings": ((1, 1), (2, 2))}),
    "random_index_shuffle": ("", {"index": (1, 2, 3), "seed": (1, 2, 3), "max_index": 100}),
    "range": ("", {"start": lambda side: side * side}),
    "repeat": ("input: n,n", {"repeats": 2, "axis": 0}),
    "reshape": ("tensor: n,n", {"shape": (-1,)}),
    "reverse": ("tensor: n,n", {"axis": (0,)}),
    "reverse_sequence": ("input: n,n | seq_lengths: n int32 1..8", {"seq_axis": 1}),
    "scatter_nd": ("indices: n,1 int32 0..8 | updates: n,n", {"shape": square}),
    "searchsorted": ("sorted_sequence: nn sorted | values: n", {}),
    "sequence_mask": ("lengths: n int32 1..8", {"maxlen": 8}),
    "slice": ("input_: n,n", {"begin": (0, 0), "size": (4, 4)}),
    "split": ("value: n,n", {"num_or_size_splits": 2}),
    "squeeze": ("input: 1,n,n", {}),
    "strided_slice": ("input_: n,n", {"begin": (0, 0), "end": (8, 8), "strides": (2, 2)}),
    **alike("tensor: n,n | indices: n,1 int32 0..8 | updates: n,n", {}, *(
        f"tensor_scatter_nd_{kind}" for kind in ("add", "max", "min", "sub", "update"))),
    "tile": ("input: n,n", {"multiples": (2, 1)}),
    **alike("x: nn int32 0..64", {}, "unique", "unique_with_counts"),
    "unravel_index": ("indices: nn int32 0..64", {"dims": square}),
    "unstack": ("value: 4,n,n", {}),
    "where": ("condition: n,n bool | x: n,n | y: n,n", {}),
    "math.invert_permutation": ("", {"x": lambda side: tuple(reversed(range(side)))}),
    "math.top_k": ("input: n,n", {"k": 4}),
    "ragged_fill_empty_rows": (
        "values: 4", {"value_rowids": (0, 2, 2, 5), "nrows": 8, "default_value": 0.0},
    ),
    "ragged_fill_empty_rows_grad": ("grad_values: 8", {"reverse_index_map": (0, 1, 2, 3)}),
    "fingerprint": ("data: n,n uint8", {}),
    # Counts and segments ----------------------------------------------------------------------------------------------
    "math.bincount": ("arr: nn int32 0..8", {}),
    "sparse.bincount": ("values: nn int64 0..8", {}),
    "math.confusion_matrix": ("labels: nn int32 0..8 | predictions: nn int32 0..8", {"num_classes": 8}),
    **alike("values: nn", {"value_range": (-1.0, 1.0)}, "histogram_fixed_width", "histogram_fixed_width_bins"),
    "math.in_top_k": ("targets: n int32 0..8 | predictions: n,n", {"k": 4}),
    "math.sobol_sample": ("", {"dim": 4, "num_results": lambda side: side * side}),
    **alike("data: n,n | indices: n int32 0..8 | segment_ids: n int32 sorted 0..4", {}, "sparse.segment_mean",
            "sparse.segment_sqrt_n", "sparse.segment_sum"),
    **alike("operand: n,n", {"k": 4}, "math.approx_max_k", "math.approx_min_k"),
    # Matrices ---------------------------------------------------------------------------------------------------------
    **alike("input: n,n spd", {}, "linalg.cholesky", "linalg.det", "linalg.inv", "linalg.lu", "linalg.slogdet",
            "linalg.expm", "matrix_square_root"),
    "linalg.logm": ("input: n,n complex64", {}),
    "linalg.logdet": ("matrix: n,n spd", {}),
    "linalg.band_part": ("input: n,n", {"num_lower": 1, "num_upper": 1}),
    "linalg.banded_triangular_solve": ("bands: 2,n 1..2 | rhs: n,n", {}),
    "linalg.cholesky_solve": ("chol: n,n spd | rhs: n,n", {}),
    "linalg.cross": ("a: nn,3 | b: nn,3", {}),
    **alike("diagonal: n", {}, "linalg.diag", "linalg.tensor_diag"),
    "linalg.set_diag": ("input: n,n | diagonal: n", {}),
    "linalg.eigh_tridiagonal": ("alpha: 64 | beta: 63", {}),
    **alike("matrix: n,n spd | rhs: n,n", {}, "linalg.lstsq", "linalg.solve", "linalg.triangular_solve"),
    **alike("lower_upper: n,n spd", {"perm": lambda side: tuple(range(side))}, "linalg.lu_matrix_inverse",
            "linalg.lu_reconstruct"),
    "linalg.lu_solve": ("lower_upper: n,n spd | rhs: n,n", {"perm": lambda side: tuple(range(side))}),
    "linalg.matvec": ("a: n,n | b: n", {}),
    "linalg.tensordot": ("a: n,n | b: n,n", {"axes": 1}),
    **alike("diagonals: 3,n 2..3 | rhs: n,n", {}, "linalg.tridiagonal_matmul", "linalg.tridiagonal_solve"),
    # Convolutions and pooling -----------------------------------------------------------------------------------------
    "conv": ("input: 1,n,n,4 | filter: 3,3,4,8", {"strides": (1, 1, 1, 1), "padding": "SAME"}),
    "nn.conv1d": ("input: 1,n,4 | filters: 3,4,8", {"stride": 1, "padding": "SAME"}),
    **alike("input: 1,n,n,4 | filters: 3,3,4,8", WINDOW, "nn.conv2d", "nn.convolution"),
    "nn.conv3d": ("input: 1,8,8,8,4 | filters: 3,3,3,4,8", {**WINDOW, "strides": (1, 1, 1, 1, 1)}),
    "nn.conv1d_transpose": (
        "input: 1,n,8 | filters: 3,4,8", {"output_shape": lambda side: (1, 2 * side, 4), "strides": 2},
    ),
    **alike("input: 1,n,n,8 | filters: 3,3,4,8", {"output_shape": maps, "strides": 2}, "nn.conv2d_transpose",
            "nn.conv_transpose"),
    "nn.conv3d_transpose": ("input: 1,4,4,4,8 | filters: 3,3,3,4,8", {"output_shape": (1, 8, 8, 8, 4), "strides": 2}),
    "nn.atrous_conv2d": ("value: 1,n,n,4 | filters: 3,3,4,8", {"rate": 2, "padding": "SAME"}),
    "nn.atrous_conv2d_transpose": (
        "value: 1,2n,2n,8 | filters: 3,3,4,8", {"output_shape": maps, "rate": 2, "padding": "SAME"},
    ),
    "nn.depthwise_conv2d": ("input: 1,n,n,4 | filter: 3,3,4,1", {"strides": (1, 1, 1, 1), "padding": "SAME"}),
    "nn.depthwise_conv2d_backprop_filter": (
        "input: 1,n,n,4 | out_backprop: 1,n,n,4",
        {"filter_sizes": (3, 3, 4, 1), "strides": (1, 1, 1, 1), "padding": "SAME"},
    ),
    "nn.depthwise_conv2d_backprop_input": (
        "filter: 3,3,4,1 | out_backprop: 1,2n,2n,4",
        {"input_sizes": maps, "strides": (1, 1, 1, 1), "padding": "SAME"},
    ),
    "nn.separable_conv2d": (
        "input: 1,n,n,4 | depthwise_filter: 3,3,4,1 | pointwise_filter: 1,1,4,8",
        {"strides": (1, 1, 1, 1), "padding": "SAME"},
    ),
    "nn.dilation2d": ("input: 1,n,n,4 | filters: 3,3,4", DILATION),
    "nn.erosion2d": ("value: 1,n,n,4 | filters: 3,3,4", DILATION),
    **alike("input: 1,n,n,4", POOL, "nn.avg_pool", "nn.avg_pool2d", "nn.max_pool", "nn.max_pool2d",
            "nn.max_pool_with_argmax"),
    **alike("input: 1,n,4", POOL, "nn.avg_pool1d", "nn.max_pool1d"),
    **alike("input: 1,8,8,8,4", POOL, "nn.avg_pool3d", "nn.max_pool3d"),
    "nn.pool": ("input: 1,n,n,4", {"window_shape": (2, 2), "pooling_type": "AVG", "strides": (2, 2)}),
    **alike("value: 1,n,n,4", {"pooling_ratio": (1.0, 1.5, 1.5, 1.0)}, "nn.fractional_avg_pool",
            "nn.fractional_max_pool"),
    # Layers, losses, samples ------------------------------------------------------------------------------------------
    "nn.bias_add": ("value: n,n | bias: n", {}),
    "nn.batch_normalization": (
        "x: n,n | mean: n | variance: n 1..2 | offset: n | scale: n", {"variance_epsilon": 1e-3},
    ),
    "nn.batch_norm_with_global_normalization": (
        "input: 1,n,n,4 | mean: 4 | variance: 4 1..2 | beta: 4 | gamma: 4",
        {"variance_epsilon": 1e-3, "scale_after_normalization": True},
    ),
    "nn.dropout": ("x: n,n", {"rate": 0.5}),
    "nn.lrn": ("input: 1,n,n,4", {}),
    **alike("x: n,n", {"axes": (0,)}, "nn.moments", "nn.sufficient_statistics"),
    "nn.weighted_moments": ("x: n,n | frequency_weights: n,n 1..2", {"axes": (0,)}),
    "nn.normalize_moments": ("counts: () 8..9 | mean_ss: n | variance_ss: n 8..9", {"shift": None}),
    "nn.collapse_repeated": ("labels: 2,n int32 0..8 | seq_length: 2 int32 1..8", {}),
    "nn.ctc_unique_labels": ("labels: 2,n int32 0..8", {}),
    "nn.ctc_loss": (
        "labels: 2,3 int32 1..8 | logits: n,2,8",
        {"label_length": (3, 3), "logit_length": (8, 8), "blank_index": 0},
    ),
    "nn.ctc_beam_search_decoder": ("inputs: n,2,8", {"sequence_length": (8, 8), "beam_width": 4, "top_paths": 1}),
    "nn.ctc_greedy_decoder": ("inputs: n,2,8", {"sequence_length": (8, 8)}),
    "nn.sigmoid_cross_entropy_with_logits": ("labels: n,n 0..1 | logits: n,n", {}),
    "nn.softmax_cross_entropy_with_logits": ("labels: n,n 0..1 | logits: n,n", {}),
    "nn.sparse_softmax_cross_entropy_with_logits": ("labels: n int32 0..8 | logits: n,n", {}),
    "nn.weighted_cross_entropy_with_logits": ("labels: n,n 0..1 | logits: n,n", {"pos_weight": 2.0}),
    **alike("weights: 8,n | biases: 8 | labels: n,1 int64 0..8 | inputs: n,n", SAMPLED, "nn.nce_loss",
            "nn.sampled_softmax_loss"),
    "nn.all_candidate_sampler": ("true_classes: n,1 int64 0..4", SAMPLER),
    **alike("true_classes: n,1 int64 0..4", {**SAMPLER, "range_max": 8}, "nn.learned_unigram_candidate_sampler",
            "random.log_uniform_candidate_sampler", "random.uniform_candidate_sampler"),
    "nn.compute_accidental_hits": ("true_classes: n,1 int64 0..8 | sampled_candidates: 8 int64 0..8", {"num_true": 1}),
    # Images -----------------------------------------------------------------------------------------------------------
    "image.adjust_contrast": ("images: n,n,3 0..1", {"contrast_factor": 1.5}),
    "image.adjust_saturation": ("image: n,n,3 0..1", {"saturation_factor": 1.5}),
    "image.adjust_jpeg_quality": ("image: n,n,3 0..1", {"jpeg_quality": 80}),
    "image.central_crop": ("image: n,n,3", {"central_fraction": 0.5}),
    "image.combined_non_max_suppression": (
        "boxes: 1,n,1,4 0..1 | scores: 1,n,2 0..1", {"max_output_size_per_class": 4, "max_total_size": 4},
    ),
    "image.crop_and_resize": (
        "image: 2,n,n,3 | boxes: 4,4 0..1 | box_indices: 4 int32 0..2", {"crop_size": (8, 8)},
    ),
    "image.draw_bounding_boxes": ("images: 1,n,n,3 0..1 | boxes: 1,4,4 0..1 | colors: 2,3", {}),
    "image.extract_glimpse": ("input: 2,n,n,3 | offsets: 2,2", {"size": (4, 4)}),
    "image.extract_patches": (
        "images: 1,n,n,3",
        {"sizes": (1, 3, 3, 1), "strides": (1, 1, 1, 1), "rates": (1, 1, 1, 1), "padding": "VALID"},
    ),
    "image.grayscale_to_rgb": ("images: n,n,1", {}),
    **alike("image: 1,n,n,3", {}, "image.image_gradients", "image.sobel_edges"),
    **alike("boxes: n,4 0..1 | scores: n 0..1", {"max_output_size": 4}, "image.non_max_suppression",
            "image.non_max_suppression_padded", "image.non_max_suppression_with_scores"),
    "image.non_max_suppression_overlaps": ("overlaps: n,n 0..1 | scores: n 0..1", {"max_output_size": 4}),
    "image.pad_to_bounding_box": (
        "image: n,n,3",
        {"offset_height": 1, "offset_width": 1, "target_height": lambda side: side + 2,
         "target_width": lambda side: side + 2},
    ),
    "image.psnr": ("a: n,n,3 0..1 | b: n,n,3 0..1", {"max_val": 1.0}),
    **alike("image: n,n,3 0..1", {"min_jpeg_quality": 50, "max_jpeg_quality": 90}, "image.random_jpeg_quality"),
    "image.stateless_random_jpeg_quality": (
        "image: n,n,3 0..1", {"min_jpeg_quality": 50, "max_jpeg_quality": 90, "seed": (1, 2)},
    ),
    "image.stateless_random_saturation": ("image: n,n,3 0..1", {"lower": 0.5, "upper": 1.5, "seed": (1, 2)}),
    "image.random_crop": ("value: n,n,3", {"size": (4, 4, 3)}),
    "image.stateless_random_crop": ("value: n,n,3", {"size": (4, 4, 3), "seed": (1, 2)}),
    "image.resize": ("images: 1,n,n,3", {"size": (16, 16)}),
    **alike("", {"image_size": (64, 64, 3), "bounding_boxes": (((0.1, 0.1, 0.9, 0.9),),)},
            "image.sample_distorted_bounding_box"),
    "image.stateless_sample_distorted_bounding_box": (
        "", {"image_size": (64, 64, 3), "bounding_boxes": (((0.1, 0.1, 0.9, 0.9),),), "seed": (1, 2)},
    ),
    "image.ssim": ("img1: 1,2n,2n,3 0..1 | img2: 1,2n,2n,3 0..1", {"max_val": 1.0}),
    "image.ssim_multiscale": ("img1: 1,192,192,1 0..1 | img2: 1,192,192,1 0..1", {"max_val": 1.0}),
    # Random numbers ---------------------------------------------------------------------------------------------------
    "random.gamma": ("alpha: () 1..2", {"shape": square}),
    "random.poisson": ("lam: () 1..2", {"shape": square}),
    "random.split": ("", {"seed": (1, 2)}),
    "random.fold_in": ("", {"seed": (1, 2), "data": 1}),
    "random.stateless_binomial": ("", {"shape": square, "seed": (1, 2), "counts": 10.0, "probs": 0.5}),
    "random.stateless_gamma": ("alpha: () 1..2", {"shape": square, "seed": (1, 2)}),
    "random.stateless_poisson": ("lam: () 1..2", {"shape": square, "seed": (1, 2), "dtype": DType("float32")}),
    # Signals ----------------------------------------------------------------------------------------------------------
    **alike("input: n,n complex64", {}, "signal.fft", "signal.fft2d", "signal.ifft", "signal.ifft2d"),
    **alike("input: n,n,8 complex64", {}, "signal.fft3d", "signal.ifft3d"),
    **alike("input_tensor: n,n complex64", {}, "signal.irfft", "signal.irfft2d"),
    "signal.irfft3d": ("input_tensor: n,n,8 complex64", {}),
    "signal.rfft3d": ("input_tensor: n,n,8", {}),
    "signal.frame": ("signal: nn", {"frame_length": 16, "frame_step": 8}),
    "signal.stft": ("signals: 2nn", {"frame_length": 64, "frame_step": 16}),
    "signal.inverse_stft": ("stfts: n,33 complex64", {"frame_length": 64, "frame_step": 16}),
    "signal.mdct": ("signals: 2nn", {"frame_length": 64}),
    "signal.inverse_mdct": ("mdcts: n,32", {}),
    "signal.overlap_and_add": ("signal: n,64", {"frame_step": 16}),
    "signal.linear_to_mel_weight_matrix": ("", {}),
}  # fmt: skip

#: What functions of `tf.experimental.numpy` are given otherwise than NumPy's.
NUMPY: Mapping[str, Rule] = {
    **alike("a: n,n | axis1 = 0 | axis2 = 1", {}, "swapaxes"),
    "atleast_1d": ("arys0: n,n", {}),
    "divmod": ("x1: n,n | x2: n,n 1..2", {}),
    **alike("x1: n,n int32 | x2: n,n int32 0..8", {}, "bitwise_and", "bitwise_or", "bitwise_xor"),
    "bitwise_not": ("x: n,n int32", {}),
    "array_equal": ("a1: n,n | a2: n,n", {}),
    "clip": ("a: n,n", {"a_min": -0.5, "a_max": 0.5}),
    "concatenate": ("arys: [n,n; n,n]", {}),
    **alike("a: n | b: n", {}, "kron", "outer"),
    **alike("arrays: [n,n; n,n]", {}, "stack"),
    **alike("ary: n,n", {"indices_or_sections": 2}, "hsplit", "split", "vsplit"),
    "full": ("", {"shape": square, "fill_value": 1.0}),
    "full_like": ("a: n,n", {"fill_value": 1.0}),
    **alike("", {"start": 0.0, "stop": 1.0, "num": lambda side: side * side}, "linspace"),
    "arange": ("", {"start": lambda side: side * side}),
    "identity": ("", {"n": lambda side: side}),
    "pad": ("array: n,n", {"pad_width": ((1, 1), (2, 2)), "mode": "constant"}),
    "broadcast_to": ("array: n", {"shape": square}),
    "repeat": ("a: n,n", {"repeats": 2, "axis": 0}),
    "reshape": ("a: n,n", {"newshape": (-1,)}),
    "roll": ("a: n,n", {"shift": 1}),
    "take": ("a: n,n | indices: n int32 0..8", {"axis": 0}),
    "take_along_axis": ("arr: n,n | indices: 1,n int64 0..8", {"axis": 0}),
    "tile": ("a: n,n", {"reps": (2, 1)}),
    "where": ("condition: n,n bool | x: n,n | y: n,n", {}),
    **alike("x1: n,n bool | x2: n,n bool", {}, "logical_and", "logical_or", "logical_xor"),
    **alike("x: n,n -0.9..0.9", {}, "arccos", "arcsin", "arctanh"),
    "arccosh": ("x: n,n 1..2", {}),
    **alike("x: n,n 0.1..2", {}, "log", "log10", "log1p", "log2", "sqrt"),
    "power": ("x1: n,n 0.1..2 | x2: n,n", {}),
}

#: By the beginning of a path; what it ends in is the name that a rule stands under.
AREAS: Mapping[str, Rules] = {
    "tf.experimental.numpy.": Rules({**array_rules.RULES, **NUMPY}, array_rules.ATTRIBUTES),
    "tf.": Rules(FUNCTIONS, ATTRIBUTES, ARRAYS),
}

#: Why functions are not measured, and their paths below `tf`.
LEFT_OUT: Mapping[str, tuple[str, ...]] = {
    "it calls a Python function passed to it, and only that function would be timed": (
        "case", "cond", "custom_gradient", "foldl", "foldr", "grad_pass_through", "map_fn", "nn.with_space_to_batch",
        "recompute_grad", "scan", "sparse.map_values", "switch_case", "vectorized_map", "while_loop",
        "signal.inverse_stft_window_fn",
    ),
    "it needs a graph, and calls run one by one here": ("gradients", "hessians"),
    "it takes a sparse tensor, but opperf generates only dense ones": (
        "edit_distance", "nn.embedding_lookup_sparse", "nn.safe_embedding_lookup_sparse", "sets.difference",
        "sets.intersection", "sets.size", "sets.union",
        *(f"sparse.{name}" for name in (
            "add", "concat", "cross", "cross_hashed", "expand_dims", "fill_empty_rows", "mask", "maximum", "minimum",
            "reduce_max", "reduce_sum", "reorder", "reset_shape", "reshape", "retain", "sampled_addmm", "slice",
            "softmax", "sparse_dense_matmul", "split", "to_dense", "to_indicator", "transpose",
        )),
    ),
    "it reads or writes text, which opperf makes no TensorFlow tensors of": (
        "as_string", *(f"image.decode_{name}" for name in (
            "and_crop_jpeg", "bmp", "gif", "image", "jpeg", "jxl", "png", "webp")),
        "image.encode_jpeg", "image.encode_png", "image.extract_jpeg_shape", "image.is_jpeg",
    ),
    "it inspects shapes or element types and reads no elements": (
        "broadcast_dynamic_shape", "broadcast_static_shape", "ensure_shape", "rank", "shape", "shape_n", "size",
        "required_space_to_batch_paddings",
        *(f"experimental.numpy.{name}" for name in (
            "finfo", "iscomplexobj", "isrealobj", "isscalar", "ndim", "promote_types", "result_type", "shape", "size")),
    ),
    "it checks its inputs or orders effects, and computes nothing": (
        "Assert", "assert_equal", "assert_greater", "assert_less", "assert_rank", "check_pinned", "group", "no_op",
        "tuple",
    ),
    "it makes or returns a generator": ("random.create_rng_state", "random.get_global_generator"),
    "it needs TensorFlow to be told to behave as NumPy does": ("experimental.numpy.around", "experimental.numpy.round"),
    "it needs several replicas of a program": ("nn.compute_average_loss", "nn.scale_regularization_loss"),
    "TensorFlow has no kernel of it for a CPU or a GPU": (
        "conv2d_backprop_filter_v2", "conv2d_backprop_input_v2", "fftnd", "ifftnd", "irfftnd", "rfftnd",
        "image.generate_bounding_box_proposals", "signal.fftnd", "signal.ifftnd", "signal.irfftnd", "signal.rfftnd",
    ),
}  # fmt: skip
