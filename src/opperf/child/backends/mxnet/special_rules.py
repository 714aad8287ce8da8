"""Inputs of MXNet's random numbers, weight updates, images and whole numbers, in the notation of `notation.py`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opperf.child.backends.naming.notation import Rule, alike

IMAGE = "data: n,n,3 0..1"
#: The ranges of 8-bit integers of the data, the weight and the bias.
RANGE = "min_data: 1 zeros | max_data: 1 ones"
BOUNDS = (
    "min_data: 1 zeros | max_data: 1 ones | min_weight: 1 zeros | max_weight: 1 ones | min_bias: 1 zeros |"
    " max_bias: 1 ones"
)
#: Two weights to update at once, and what each takes beside them.
PAIR: Mapping[str, Any] = {"lrs": (0.1, 0.1), "wds": (0.0, 0.0), "num_weights": 2}

RULES: Mapping[str, Rule] = {
    # Random -----------------------------------------------------------------------------------------------------------
    "sample_multinomial": ("data: n,4 ones", {"shape": (16,)}),
    "sample_negative_binomial": ("k: n 1..8 | p: n 0.1..0.9", {"shape": (16,)}),
    "sample_uniform": ("low: n 0..1 | high: n 1..2", {"shape": (16,)}),
    "sample_normal": ("mu: n | sigma: n 1..2", {"shape": (16,)}),
    "sample_gamma": ("alpha: n 1..2 | beta: n 1..2", {"shape": (16,)}),
    "sample_exponential": ("lam: n 1..2", {"shape": (16,)}),
    "sample_poisson": ("lam: n 1..2", {"shape": (16,)}),
    "sample_generalized_negative_binomial": ("mu: n 1..2 | alpha: n 0.1..1", {"shape": (16,)}),
    "sample_unique_zipfian": ("", {"range_max": 1000, "shape": (1, 64)}),
    "random_pdf_dirichlet": ("sample: n,4 0.1..1 | alpha: 4 1..2", {}),
    "random_pdf_exponential": ("sample: n,n 0.1..1 | lam: n 1..2", {}),
    "random_pdf_gamma": ("sample: n,n 0.1..1 | alpha: n 1..2 | beta: n 1..2", {}),
    "random_pdf_generalized_negative_binomial": ("sample: n,n 1..8 | mu: n 1..2 | alpha: n 0.1..1", {}),
    "random_pdf_negative_binomial": ("sample: n,n 1..8 | k: n 1..8 | p: n 0.1..0.9", {}),
    "random_pdf_normal": ("sample: n,n | mu: n | sigma: n 1..2", {}),
    "random_pdf_poisson": ("sample: n,n 1..8 | lam: n 1..2", {}),
    "random_pdf_uniform": ("sample: n,n 0..1 | low: n 0..1 | high: n 1..2", {}),
    "random_negative_binomial": ("", {"k": 3, "p": 0.4, "shape": lambda side: (side, side)}),
    "choice": ("", {"a": 100, "size": (64,), "replace": True, "weighted": False}),
    "npi_multinomial": ("", {"n": 8, "pvals": (0.25, 0.75), "size": (16,)}),
    "bernoulli": ("", {"prob": 0.5, "logit": None, "is_logit": False, "size": lambda side: (side, side)}),
    "gumbel": ("", {"loc": 0.0, "scale": 1.0, "size": lambda side: (side, side)}),
    "logistic": ("", {"loc": 0.0, "scale": 1.0, "size": lambda side: (side, side)}),
    "npi_normal": ("", {"loc": 0.0, "scale": 1.0, "size": lambda side: (side, side)}),
    "normal_n": ("", {"loc": 0.0, "scale": 1.0, "size": lambda side: (side, side)}),
    "npi_uniform": ("", {"low": 0.0, "high": 1.0, "size": lambda side: (side, side)}),
    "uniform_n": ("", {"low": 0.0, "high": 1.0, "size": lambda side: (side, side)}),
    "npi_gamma": ("", {"shape": 2.0, "scale": 1.0, "size": lambda side: (side, side)}),
    "npi_exponential": ("", {"scale": 1.0, "size": lambda side: (side, side)}),
    "pareto": ("", {"a": 2.0, "size": lambda side: (side, side)}),
    "powerd": ("", {"a": 2.0, "size": lambda side: (side, side)}),
    "weibull": ("", {"a": 2.0, "size": lambda side: (side, side)}),
    "rayleigh": ("", {"scale": 2.0, "size": lambda side: (side, side)}),
    # Updates of weights -----------------------------------------------------------------------------------------------
    "multi_lars": (
        "lrs: n 0..1 | weights_sum_sq: n 0..1 | grads_sum_sq: n 0..1 | wds: n 0..1",
        {"eta": 0.1, "eps": 1e-8},
    ),
    "multi_sgd_update": ("data0: n,n | data1: n,n | data2: n,n | data3: n,n", PAIR),
    "multi_sgd_mom_update": (" | ".join(f"data{i}: n,n" for i in range(6)), PAIR),
    "multi_mp_sgd_update": (" | ".join(f"data{i}: n,n" for i in range(6)), PAIR),
    "multi_mp_sgd_mom_update": (" | ".join(f"data{i}: n,n" for i in range(8)), PAIR),
    "multi_sum_sq": ("data0: n,n | data1: n,n", {"num_arrays": 2}),
    "multi_all_finite": ("data0: n,n | data1: n,n", {"num_arrays": 2}),
    "reset_arrays": ("data0: n,n | data1: n,n", {"num_arrays": 2}),
    "multi_adamw_update": (
        " | ".join(f"data{i}: n,n" for i in range(8)) + " | scale: 1 ones",
        {**PAIR, "etas": (1.0, 1.0)},
    ),
    "multi_mp_adamw_update": (
        " | ".join(f"data{i}: n,n" for i in range(10)) + " | scale: 1 ones",
        {**PAIR, "etas": (1.0, 1.0)},
    ),
    "multi_lamb_update": (
        " | ".join(f"data{i}: n,n" for i in range(8)),
        {"learning_rates": (0.1, 0.1), "wds": (0.0, 0.0), "step_count": (1, 1), "num_tensors": 2},
    ),
    "multi_mp_lamb_update": (
        " | ".join(f"data{i}: n,n" for i in range(10)),
        {"learning_rates": (0.1, 0.1), "wds": (0.0, 0.0), "step_count": (1, 1), "num_tensors": 2},
    ),
    "preloaded_multi_sgd_update": (
        " | ".join(f"data{i}: n,n" for i in range(4)) + " | rates: 2 0..1 | decays: 2 0..1",
        {"num_weights": 2},
    ),
    "preloaded_multi_sgd_mom_update": (
        " | ".join(f"data{i}: n,n" for i in range(6)) + " | rates: 2 0..1 | decays: 2 0..1",
        {"num_weights": 2},
    ),
    "preloaded_multi_mp_sgd_update": (
        " | ".join(f"data{i}: n,n" for i in range(6)) + " | rates: 2 0..1 | decays: 2 0..1",
        {"num_weights": 2},
    ),
    "preloaded_multi_mp_sgd_mom_update": (
        " | ".join(f"data{i}: n,n" for i in range(8)) + " | rates: 2 0..1 | decays: 2 0..1",
        {"num_weights": 2},
    ),
    "group_adagrad_update": ("weight: n,n | grad: n,n | history: n 0..1", {"lr": 0.01}),
    "mp_lamb_update_phase1": (
        "weight: n,n float16 | grad: n,n float16 | mean: n,n | var: n,n 0..1 | weight32: n,n",
        {"t": 1, "wd": 0.0},
    ),
    "lamb_update_phase2": ("weight: n,n | g: n,n | r1: 1 1..2 | r2: 1 1..2", {"lr": 0.01}),
    "mp_lamb_update_phase2": ("weight: n,n | g: n,n | r1: 1 1..2 | r2: 1 1..2 | weight32: n,n", {"lr": 0.01}),
    # Images -----------------------------------------------------------------------------------------------------------
    "adjust_lighting": (IMAGE, {"alpha": (0.1, 0.1, 0.1)}),
    "copyto": ("data: n,n | out: n,n fixed", {}),
    "image_crop": (IMAGE, {"x": 0, "y": 0, "width": 4, "height": 4}),
    "normalize": ("data: 3,n,n 0..1", {"mean": (0.5, 0.5, 0.5), "std": (0.5, 0.5, 0.5)}),
    "random_color_jitter": (IMAGE, {"brightness": 0.1, "contrast": 0.1, "saturation": 0.1, "hue": 0.1}),
    "resize": ("data: n,n,3 uint8", {"size": (4, 4)}),
    "to_tensor": ("data: n,n,3 uint8", {}),
    "cvimresize": ("src: n,n,3 uint8", {"w": 4, "h": 4}),
    "cvcopyMakeBorder": ("src: n,n,3 uint8", {"top": 1, "bot": 1, "left": 1, "right": 1}),
    **alike(
        IMAGE,
        {},
        "flip_left_right",
        "flip_top_bottom",
        "random_flip_left_right",
        "random_flip_top_bottom",
        "random_lighting",
    ),
    **alike(
        IMAGE,
        {"min_factor": 0.5, "max_factor": 1.5},
        "random_brightness",
        "random_contrast",
        "random_hue",
        "random_saturation",
    ),
    # Whole numbers of eight bits --------------------------------------------------------------------------------------
    "quantize": ("data: n,n 0..1 | min_range: 1 zeros | max_range: 1 ones", {"out_type": "uint8"}),
    "quantize_v2": ("data: n,n", {"out_type": "int8", "min_calib_range": -1.0, "max_calib_range": 1.0}),
    "dequantize": ("data: n,n uint8 | min_range: 1 zeros | max_range: 1 ones", {}),
    "requantize": ("data: n,n int32 | min_range: 1 zeros | max_range: 1 ones", {}),
    "quantized_flatten": ("data: n,n,4 uint8 | min_data: 1 zeros | max_data: 1 ones", {}),
    "quantized_pooling": (
        "data: 2,4,n,n uint8 | min_data: 1 zeros | max_data: 1 ones",
        {"kernel": (2, 2), "pool_type": "max"},
    ),
    "quantized_act": ("data: 2,4,n,n uint8 | min_data: 1 zeros | max_data: 1 ones", {"act_type": "relu"}),
    "quantized_concat": (
        "data0: n,n uint8 | data1: n,n uint8 | low0: 1 zeros | low1: 1 zeros | high0: 1 ones | high1: 1 ones",
        {"num_args": 2, "dim": 1},
    ),
    "quantized_elemwise_add": (
        "lhs: n,n int8 | rhs: n,n int8 | lhs_min: 1 zeros | lhs_max: 1 ones | rhs_min: 1 zeros | rhs_max: 1 ones",
        {},
    ),
    "quantized_elemwise_mul": (
        "lhs: n,n int8 | rhs: n,n int8 | lhs_min: 1 zeros | lhs_max: 1 ones | rhs_min: 1 zeros | rhs_max: 1 ones",
        {},
    ),
    "quantized_fully_connected": (
        "data: n,n uint8 | weight: 64,n int8 | bias: 64 int8 | " + BOUNDS,
        {"num_hidden": 64},
    ),
    "quantized_conv": (
        "data: 2,4,n,n uint8 | weight: 8,4,3,3 int8 | bias: 8 int8 | " + BOUNDS,
        {"kernel": (3, 3), "num_filter": 8},
    ),
    "quantized_batch_norm": (
        "data: 2,8,n,n int8 | gamma: 8 | beta: 8 | moving_mean: 8 | moving_var: 8 0..1 | " + RANGE,
        {"min_calib_range": -1.0, "max_calib_range": 1.0},
    ),
    "quantized_embedding": (
        "data: n 0..8 | weight: 64,n int8 | min_weight: 1 zeros | max_weight: 1 ones",
        {"input_dim": 64, "output_dim": lambda side: side},
    ),
    "quantize_asym": ("data: 4,n,n", {"min_calib_range": -1.0, "max_calib_range": 1.0}),
    "calibrate_entropy": ("hist: 257 1..8 | hist_edges: 258", {"num_quantized_bins": 31}),
    # What a user writes in Python; the one that is registered here ----------------------------------------------------
    "Custom": ("data: n,n", {"op_type": "CustomAddOne"}),
}
