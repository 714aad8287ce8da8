"""Inputs of MXNet's registered gradients, which it calls by itself on the way back and users rarely.

The registry names the arrays of few of them. They are those of the gradient's own formula: the gradients of the
outputs, then what of the forward operator's inputs and outputs it needs. MXNet does not know the shapes of their
results from that, so these are given too, as arrays to write into.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
)  # fmt: skip
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
}  # fmt: skip


def _square(inputs: int, outputs: int) -> str:
    return " | ".join([*(f"data{i}: n,n" for i in range(inputs)), *(f"out{i}: n,n" for i in range(outputs))])


#: Every gradient that has a rule: its arrays, how many of them are inputs, and its attributes.
GRADIENTS: Mapping[str, tuple[str, int, Mapping[str, Any]]] = {
    **{
        f"_backward_{name}": (_square(inputs, outputs), inputs, attributes)
        for inputs, outputs, names, attributes in SQUARE
        for name in names.split()
    },
    **OTHER,
}


def inputs_of(name: str) -> int | None:
    """Return how many arrays go into a gradient whose results stand behind them; None for another operator."""
    return GRADIENTS[name][1] if name in GRADIENTS else None
