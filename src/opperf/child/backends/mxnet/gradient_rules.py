"""Inputs of MXNet's registered gradients, which MXNet calls in a backward pass and users rarely.

The registry names the arrays of few of them. They are those of the gradient's own formula: the gradients of the
outputs, then what of the forward operator's inputs and outputs it needs. MXNet does not know the shapes of their
results from that, so these are given too, as arrays to write into.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opperf.child.backends.mxnet import special_rules

#: How many square matrices go in, how many come out, the gradients of that kind, and their attributes.
SQUARE: tuple[tuple[int, int, str, Mapping[str, Any]], ...] = (
    (1, 1, "amp_cast cast copy np_cumsum reshape squeeze np_broadcast_to tril", {}),
    (1, 2, "add sub broadcast_add broadcast_sub", {}),
    (2, 1, "hard_sigmoid SoftmaxActivation log_softmax softmax softmin linalg_inverse linalg_potrf linalg_syrk", {}),
    (2, 2, "where np_where", {}),
    (2, 1, "np_where_lscalar np_where_rscalar", {"scalar": 2.0}),
    (2, 2, "linear_reg_out logistic_reg_out mae_reg_out SoftmaxOutput", {}),
    (2, 1, "image_normalize", {}),
    (2, 2, "amp_multicast", {"num_outputs": 2}),
    (2, 1, "clip", {"a_min": -0.5, "a_max": 0.5}),
    (2, 1, "Activation", {"act_type": "relu"}),
    (1, 1, "reverse npi_flip", {"axis": (0,)}),
    (3, 2, "div hypot maximum minimum mod mul power dot linalg_gemm2 linalg_trmm np_dot np_matmul", {}),
    (3, 2, "broadcast_div broadcast_hypot broadcast_maximum broadcast_minimum broadcast_mod broadcast_mul", {}),
    (3, 2, "broadcast_power npi_broadcast_add npi_broadcast_div npi_broadcast_mod npi_broadcast_mul", {}),
    (3, 2, "npi_broadcast_power npi_broadcast_sub npi_arctan2 npi_copysign npi_hypot npi_ldexp", {}),
    (3, 1, "linalg_potri LeakyReLU", {}),
    (3, 2, "npi_tensordot_int_axes", {"axes": 1}),
    (3, 2, "npi_tensordot", {"a_axes_summed": (1,), "b_axes_summed": (0,)}),
    (4, 3, "linalg_gemm", {}),
    (4, 2, "linalg_trsm npi_solve", {}),
    (2, 1, "npi_tensorinv", {"ind": 1}),
)  # fmt: skip
#: Attributes of the convolutions, and of what cuts regions out.
WINDOW: Mapping[str, Any] = {"kernel": (3, 3), "num_filter": 16, "pad": (1, 1)}
REGIONS: Mapping[str, Any] = {"pooled_size": (2, 2), "spatial_scale": 1.0}
#: What a norm over batches kept of its forward, and what it was given.
NORMALIZATION = "mean: 8 | var: 8 1..2 | data: 4,8,n,n | gamma: 8 | beta: 8 | moving_mean: 8 | moving_var: 8 0..1"
NORMED_GRADIENTS = "out0: 4,8,n,n | out1: 8 | out2: 8"
#: Random numbers, made of noise and of one parameter or two: the gradients of the numbers and of the noise come first.
DRAWN_OF_ONE = "ograd0: n,n | ograd1: n,n | parameter: n,n 1..2 | sample: n,n | noise: n,n 0.1..0.9 | out: n,n"
DRAWN_OF_TWO = (
    "ograd0: n,n | ograd1: n,n | middle: n,n | width: n,n 1..2 | sample: n,n | noise: n,n 0.1..0.9 | "
    "out0: n,n | out1: n,n"
)
#: A matrix taken apart, and how its rows were exchanged.
FACTORS = "LU: n,n spd | pivot: n int32 1..8 | out: n,n"
#: The arrays, how many of them are inputs, and the attributes of the others.
OTHER: Mapping[str, tuple[str, int, Mapping[str, Any]]] = {
    **{
        f"_backward_{name}": ("ograd: n,1 | out: n,n", 1, {"axis": (1,), "keepdims": True})
        for name in ("sum", "mean", "np_sum", "np_mean")
    },
    **{
        f"_backward_{name}": (
            "ograd: n,1 | data: n,n | result: n,1 | out: n,n", 3, {"axis": (1,), "keepdims": True})
        for name in ("max", "min", "prod", "nansum", "nanprod", "np_max", "np_min", "np_prod", "norm")
    },
    "_broadcast_backward": ("ograd: n,n | out: 1,n", 1, {"axis": (0,), "keepdims": True}),
    "_backward_slice": ("ograd: 4,4 | out: n,n", 1, {"begin": (0, 0), "end": (4, 4)}),
    "_backward_slice_axis": ("ograd: 4,n | out: n,n", 1, {"axis": 0, "begin": 0, "end": 4}),
    "_backward_slice_like": ("ograd: 4,4 | out0: n,n | out1: 4,4", 1, {}),
    "_backward_tile": ("ograd: 2n,n | out: n,n", 1, {"reps": (2, 1)}),
    "_backward_repeat": ("ograd: 2n,n | out: n,n", 1, {"repeats": 2, "axis": 0}),
    "_backward_diag": ("ograd: n | out: n,n", 1, {}),
    "_backward_np_diag": ("ograd: n | out: n,n", 1, {}),
    "_backward_np_diagonal": ("ograd: n | out: n,n", 1, {}),
    "_backward_np_trace": ("ograd: 1 | out: n,n", 1, {}),
    "_backward_np_diagflat": ("ograd: n,n | out: n", 1, {}),
    "_backward_linalg_extractdiag": ("ograd: n | out: n,n", 1, {}),
    "_backward_linalg_makediag": ("ograd: n,n | out: n", 1, {}),
    "_backward_npi_diff": ("ograd: n,n | out: n,2n", 1, {}),
    "_backward_Concat": ("ograd: 2n,n | data0: n,n | data1: n,n | out0: n,n | out1: n,n", 3, {"num_args": 2, "dim": 0}),
    "_backward_np_concat": ("ograd: 2n,n | out0: n,n | out1: n,n", 1, {"num_args": 2, "axis": 0}),
    "_backward_np_vstack": ("ograd: 2n,n | out0: n,n | out1: n,n", 1, {"num_args": 2}),
    "_backward_np_hstack": ("ograd: n,2n | out0: n,n | out1: n,n", 1, {"num_args": 2}),
    "_backward_np_dstack": ("ograd: n,n,2 | out0: n,n | out1: n,n", 1, {"num_args": 2}),
    "_backward_np_column_stack": ("ograd: n,2n | out0: n,n | out1: n,n", 1, {"num_args": 2}),
    "_backward_stack": ("ograd: 2,n,n | out0: n,n | out1: n,n", 1, {"num_args": 2}),
    "_split_v2_backward": ("ograd0: 4,n | ograd1: 4,n | out: 8,n", 2, {"indices": (0, 4)}),
    "_backward_FullyConnected": (
        "ograd: n,64 | data: n,n | weight: 64,n | out0: n,n | out1: 64,n | out2: 64", 3, {"num_hidden": 64}),
    "_backward_pick": ("ograd: n,1 | index: n 0..8 | out: n,n", 2, {"keepdims": True}),
    "_backward_take": ("ograd: n,n | indices: n 0..8 | out0: n,n | out1: n", 2, {}),
    "_backward_moments": (
        "ograd0: 1 | ograd1: 1 | data: n,n | mean: 1 | var: 1 | out: n,n", 5, {"axes": (0, 1)}),
    "_backward_LayerNorm": (
        "ograd: n,n | data: n,n | gamma: n | mean: n,1 | std: n,1 1..2 | out0: n,n | out1: n | out2: n", 5, {}),
    "_backward_im2col": ("ograd: 2,72,nn | out: 2,8,n,n", 1, {"kernel": (3, 3), "pad": (1, 1)}),
    "_contrib_backward_quadratic": ("ograd: n,n | data: n,n", 2, {}),
    "_npi_backward_nan_to_num": ("ograd: n,n | data: n,n", 2, {}),
    "_npi_backward_polyval": ("ograd: n | p: 8 | x: n | out0: 8 | out1: n", 3, {}),
    "_backward_npi_pad": ("ograd: 10,n | out: 8,n", 1, {"pad_width": ((1, 1), (0, 0)), "mode": "constant"}),
    "_backward_linalg_sumlogdiag": ("ograd: 1 | A: n,n 1..2 | out: n,n", 2, {}),
    "_backward_interleaved_matmul_selfatt_qk": ("ograd: 8,n,n | qkv: n,2,192 | out: n,2,192", 2, {"heads": 4}),
    "_backward_interleaved_matmul_selfatt_valatt": (
        "ograd: n,2,64 | qkv: n,2,192 | attention: 8,n,n | out0: n,2,192 | out1: 8,n,n", 3, {"heads": 4}),
    "_backward_interleaved_matmul_encdec_qk": (
        "ograd: 8,n,n | queries: n,2,64 | keys: n,2,128 | out0: n,2,64 | out1: n,2,128", 3, {"heads": 4}),
    "_backward_interleaved_matmul_encdec_valatt": (
        "ograd: n,2,64 | keys: n,2,128 | attention: 8,n,n | out0: n,2,128 | out1: 8,n,n", 3, {"heads": 4}),
    "_backward_contrib_AdaptiveAvgPooling2D": ("ograd: 4,8,4,4 | out: 4,8,n,n", 1, {"output_size": (4, 4)}),
    # Layers -----------------------------------------------------------------------------------------------------------
    "_backward_Convolution": (
        "ograd: 2,16,n,n | data: 2,8,n,n | weight: 16,8,3,3 | bias: 16 | out0: 2,8,n,n | out1: 16,8,3,3 | out2: 16",
        4, WINDOW),
    "_backward_Deconvolution": (
        "ograd: 2,16,n,n | data: 2,8,n,n | weight: 8,16,3,3 | out0: 2,8,n,n | out1: 8,16,3,3", 3, WINDOW),
    "_backward_backward_FullyConnected": (
        "ograd0: n,n | ograd1: 64,n | ograd: n,64 | out0: n,64 | out1: n,n | out2: 64,n", 3,
        {"num_hidden": 64, "no_bias": True}),
    "_backward_BatchNorm": (f"ograd: 4,8,n,n | {NORMALIZATION} | {NORMED_GRADIENTS}", 8, {}),
    "_backward_contrib_BatchNormWithReLU": (
        f"ograd: 4,8,n,n | {NORMALIZATION} | workspace: 4,8,n,n | {NORMED_GRADIENTS}", 9, {}),
    "_backward_GroupNorm": (
        "ograd: 4,8,n,n | data: 4,8,n,n | gamma: 2 | mean: 4,2 | std: 4,2 1..2 | out0: 4,8,n,n | out1: 2 | out2: 2",
        5, {"num_groups": 2}),
    "_backward_LRN": ("ograd: 2,8,n,n | data: 2,8,n,n | norm: 2,8,n,n 1..2 | out: 2,8,n,n", 3, {"nsize": 3}),
    "_backward_Pooling": (
        "ograd: 2,4,n,n | data: 2,4,2n,2n | result: 2,4,n,n | out: 2,4,2n,2n", 3,
        {"kernel": (2, 2), "stride": (2, 2), "pool_type": "avg"}),
    "_backward_UpSampling": (
        "ograd: 2,4,2n,2n | out: 2,4,n,n", 1, {"scale": 2, "sample_type": "nearest", "num_args": 1}),
    "_backward_contrib_BilinearResize2D": ("ograd: 2,4,16,16 | out: 2,4,n,n", 1, {"height": 16, "width": 16}),
    "_backward_col2im": (
        "ograd: 1,8,n,n | out: 1,72,nn", 1,
        {"kernel": (3, 3), "pad": (1, 1), "output_size": lambda side: (side, side)}),
    "_backward_image_crop": ("ograd: 4,4,3 | out: n,n,3", 1, {"x": 0, "y": 0, "width": 4, "height": 4}),
    "_backward_ctc_loss": (
        "ograd0: 4 | ograd1: 16,4,n | loss: 4 | kept: 16,4,n | out0: 16,4,n | out1: 4,4", 4, {}),
    # Regions ----------------------------------------------------------------------------------------------------------
    "_backward_ROIAlign": ("ograd: 8,4,2,2 | rois: 8,5 0..1 | out0: 1,4,n,n | out1: 8,5", 2, REGIONS),
    "_backward_contrib_bipartite_matching": ("ograd0: 1,n | ograd1: 1,n | out: 1,n,n", 2, {"threshold": 0.1}),
    "_backward_contrib_box_iou": ("ograd: n,n | out0: n,4 | out1: n,4", 1, {}),
    "_backward_contrib_box_nms": ("ograd0: n,6 | ograd1: n,1 | result: n,6 | places: n,1 0..8 | out: n,6", 4, {}),
    # Indices ----------------------------------------------------------------------------------------------------------
    "_backward_contrib_boolean_mask": ("ograd: n,n | data: n,n | index: n ones | out0: n,n | out1: n", 3, {}),
    "_backward_gather_nd": (
        "ograd: n | indices: 2,n int32 0..8 | out: n,n", 2, {"shape": lambda side: (side, side)}),
    "_backward_topk": (
        "ograd: n,4 | result: n,4 | places: n,4 int32 0..8 | out: n,n", 3, {"k": 4, "ret_typ": "value"}),
    "_contrib_backward_index_copy": (
        "ograd: n,n | old: n,n | index: 8 int64 0..8 | new: 8,n | out0: n,n | out1: 8 | out2: 8,n", 4, {}),
    "_npi_backward_ediff1d": ("ograd: nn | data: nn | out: nn", 2, {"to_begin_scalar": 1.0}),
    "_npi_hsplit_backward": ("ograd0: n,4 | ograd1: n,4 | out: n,8", 2, {"indices": (0, 4), "axis": 1}),
    # Matrices ---------------------------------------------------------------------------------------------------------
    "_backward_linalg_det": (f"ograd: 1 | det: 1 1..2 | {FACTORS}", 4, {}),
    "_backward_linalg_slogdet": (f"ograd: 1 | sign: 1 ones | logarithm: 1 1..2 | {FACTORS}", 5, {}),
    "_backward_linalg_extracttrian": ("ograd: n,2080 | out: n,64,64", 1, {}),
    "_backward_linalg_maketrian": ("ograd: n,64,64 | out: n,2080", 1, {}),
    "_backward_linalg_gelqf": ("ograd0: n,n | ograd1: n,n | Q: n,n | L: n,n spd | out: n,n", 4, {}),
    "_backward_linalg_syevd": ("ograd0: n,n | ograd1: n | U: n,n | L: n 1..2 | out: n,n", 4, {}),
    "_backward_npi_svd": (
        "ograd0: n,n | ograd1: n | ograd2: n,n | UT: n,n | L: n 1..2 | V: n,n | out: n,n", 6, {}),
    "_backward_npi_norm": (
        "ograd0: 1 | ograd1: 1 | ograd2: 1 | ograd3: 1 | data: n,n | norm: 1 1..2 | UT: 1 | L: 1 | V: 1 | out: n,n",
        9, {"ord": 2.0, "axis": None, "keepdims": False, "flag": -2}),
    "_backward_npi_tensorsolve": ("ograd: n | a: n,n spd | b: n | x: n | out0: n,n | out1: n", 4, {}),
    "_backward_np_average": (
        "ograd0: 1 | ograd1: 1 | a: n,n | weights: n,n 1..2 | average: 1 | scale: 1 1..2 | out0: n,n | out1: n,n",
        6, {"weighted": True, "axis": None}),
    # Random numbers ---------------------------------------------------------------------------------------------------
    **{
        f"_backward_broadcast_{name}": (DRAWN_OF_TWO, 6, {"loc": None, "scale": None})
        for name in ("gumbel", "logistic", "normal")
    },
    **{f"_backward_broadcast_{name}": (DRAWN_OF_ONE, 5, {"a": None}) for name in ("pareto", "weibull")},
    **{f"_backward_broadcast_{name}": (DRAWN_OF_ONE, 5, {"scale": None}) for name in ("exponential", "rayleigh")},
    "_backward_sample_multinomial": (
        "ograd: n,16 | data: n,4 0.1..1 | result: n,16 int32 0..4 | out: n,4", 3, {}),
    "_backward_pdf_dirichlet": (
        "ograd: n | sample: n,4 0.1..1 | alpha: 4 1..2 | result: n 0.1..1 | out0: n,4 | out1: 4", 4, {}),
}  # fmt: skip
#: Densities whose rule says all of their gradient's arrays but what is beside them.
DENSITIES = "exponential gamma generalized_negative_binomial negative_binomial normal poisson uniform"


def _square(inputs: int, outputs: int) -> str:
    return " | ".join([*(f"data{i}: n,n" for i in range(inputs)), *(f"out{i}: n,n" for i in range(outputs))])


def _density(name: str) -> tuple[str, int, Mapping[str, Any]]:
    """Return the arrays of a density's gradient: those of the density between the gradient of its result and that."""
    inputs = special_rules.RULES[f"random_pdf_{name}"][0].split(" | ")
    outputs = [f"out{i}: {array.split()[1]}" for i, array in enumerate(inputs)]
    return " | ".join(["ograd: n,n", *inputs, "result: n,n 0.1..1", *outputs]), len(inputs) + 2, {}


#: Every gradient that has a rule: its arrays, how many of them are inputs, and its attributes.
GRADIENTS: Mapping[str, tuple[str, int, Mapping[str, Any]]] = {
    **{
        f"_backward_{name}": (_square(inputs, outputs), inputs, attributes)
        for inputs, outputs, names, attributes in SQUARE
        for name in names.split()
    },
    **{f"_backward_pdf_{name}": _density(name) for name in DENSITIES.split()},
    **OTHER,
}


def inputs_of(name: str) -> int | None:
    """Return how many arrays go into a gradient whose results stand behind them; None for another operator."""
    return GRADIENTS[name][1] if name in GRADIENTS else None
