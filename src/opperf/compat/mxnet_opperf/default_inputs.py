"""The default inputs of MXNet's opperf for each operator, and further rows where those measure too little.

Data only: the functions for scripts and the command line share it. What is otherwise than there:

* Where a row forced an element type on an operator (float16, float32 and float64 in turn), it has that of the run.
* `broadcast_*` have a row that broadcasts, reductions rows over all axes, activations every shape, slices a larger one.
* Pooling, convolution and its transpose have each of their rows, not the last alone.
* `linalg_makediag` makes matrices of rows of 64, not of 1024: that result took 4 GB.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

from opperf.domain.errors import InputError

Inputs = dict[str, Any]

SQUARE = (1024, 1024)
#: What most operators get: a square matrix, a column, and many short rows.
DATA = (SQUARE, (10000, 1), (10000, 100))
PAIRS = (SQUARE, (10000, 10), (10000, 1))
IMAGES = ((32, 3, 256, 256), (32, 3, 10000, 10))
SMALL_IMAGES = ((32, 3, 256, 256), (32, 3, 64, 64))
SEQUENCES = ((32, 3, 256), (32, 3, 64))
#: Types given to the first, second and third row of operators that take one as an argument.
TYPES = ("float32", "int32", "float32")
#: Rates of the three rows of an optimizer.
RATES = (0.1, 0.5, 0.9)
#: Shapes with 2**32 elements and more, each in the place of a usual one.
LARGE = {SQUARE: (2**16, 2**16), (10000, 1): (2**32, 1), (10000, 10): (2**29, 2**4), (10000, 100): (2**26, 2**7)}


def default_inputs(operator: str, *, dtype: str = "float32", large: bool = False) -> list[Inputs]:
    """Return the rows of an operator; none for one that has no inputs here.

    With `large`, matrices have more elements than 32 bits can count.

    >>> default_inputs("squeeze")
    [{'data': (1, 1024, 1024), 'axis': 0}, {'data': (32, 1, 256, 256), 'axis': 1}]
    """
    rows = [dict(row) for row in TABLE.get(operator, ())]
    for row in rows:
        if row.get("dtype") is OF_THE_RUN:
            row["dtype"] = dtype
        if large:
            row.update({name: LARGE[value] for name, value in row.items() if _shape(value) in LARGE})
    return rows


def is_large(int64_tensor: str) -> bool:
    """Whether `on` or `off` asks for large matrices; raises `InputError` for any other word.

    >>> is_large("ON"), is_large("off")
    (True, False)
    """
    word = str(int64_tensor).lower()
    if word not in ("on", "off"):
        raise InputError(f"`int64_tensor` is `{int64_tensor}`, expected on or off")
    return word == "on"


#: Placeholder for the element type of the run.
OF_THE_RUN = object()


def _shape(value: Any) -> Any:
    return value if isinstance(value, tuple) else None


def _per_shape(shapes: Iterable[Any], *names: str, **attributes: Any) -> list[Inputs]:
    """Return a row for each shape, which every array has."""
    return [{**dict.fromkeys(names or ("data",), shape), **attributes} for shape in shapes]


def _by_name(names: str, rows: list[Inputs]) -> dict[str, list[Inputs]]:
    """Return the same rows for several operators."""
    return dict.fromkeys(names.split(), rows)


def _vary(rows: list[Inputs], **attributes: Any) -> list[Inputs]:
    """Return rows with attributes whose values differ from row to row."""
    return [{**row, **{name: values[i] for name, values in attributes.items()}} for i, row in enumerate(rows)]


def _optimizer(arrays: str, rates: str = "lr wd", **attributes: Any) -> list[Inputs]:
    """Return the rows of an optimizer: arrays of one shape, and the rates that rise from row to row."""
    rows = _per_shape(DATA, *arrays.split(), **attributes)
    return _vary(rows, **dict.fromkeys(rates.split(), RATES))


def _count(**attributes: Any) -> list[Inputs]:
    """Return the rows of an operator on a list of arrays."""
    return [{"args": [shape], **attributes} for shape in (SQUARE, (10000, 1), (10000, 10))]


def _weights(arrays: int, rates: int = 0) -> list[Inputs]:
    """Return the row of an update of several weights: arrays of 5 x 5, then rates that are arrays too."""
    inputs: Inputs = {f"args{i}": (5, 5) for i in range(arrays)}
    inputs |= {f"args{arrays + i}": (1,) for i in range(rates)}
    if not rates:
        inputs |= {"lrs": 0.1, "wds": 0.2}
    return [{**inputs, "out": (5, 5)}]


def _draw(**attributes: Any) -> list[Inputs]:
    return [{**attributes, "shape": shape, "dtype": OF_THE_RUN} for shape in DATA]


def _windows(weights: Mapping[int, tuple[int, ...]], **attributes: Any) -> list[Inputs]:
    """Return the rows of a convolution in one and two dimensions; `weights` are shapes by that number."""
    inputs = []
    for shape in (*SEQUENCES, *SMALL_IMAGES):
        size = len(shape) - 2
        inputs.append(
            {
                "data": shape,
                "weight": weights[size],
                "bias": (64,),
                "kernel": (3,) * size,
                "stride": (1,) * size,
                "dilate": (1,) * size,
                "pad": (0,) * size,
                "num_filter": 64,
                "layout": "NCW" if size == 1 else "NCHW",
                **attributes,
            }
        )
    return inputs


def _pools() -> list[Inputs]:
    return [
        {
            "data": shape,
            "kernel": (3,) * (len(shape) - 2),
            "pool_type": kind,
            "global_pool": everywhere,
            "stride": (1,) * (len(shape) - 2),
            "pad": (0,) * (len(shape) - 2),
        }
        for kind, everywhere, shape in product(("avg", "max", "sum"), (0, 1), (*SEQUENCES, *SMALL_IMAGES))
    ]


_GATES = ("relu", "sigmoid", "softrelu", "softsign", "tanh")
_LEAKS = ("leaky", "elu", "selu", "gelu")
_ALONG = _per_shape(DATA, axis=0)
_REDUCTION = [*_ALONG, {"data": SQUARE, "axis": ()}, {"data": SQUARE, "axis": (0, 1)}]
_SPREAD = [*_per_shape(PAIRS, "lhs", "rhs"), {"lhs": (10000, 1), "rhs": (10000, 100)}]
_PICK = [{"data": shape, "index": (1, shape[1]), "axis": 0} for shape in DATA]
_SLICE = _per_shape(DATA, begin=0, end=1)
_WITH_LABELS = [{"data": shape, "label": shape[:-1]} for shape in IMAGES]
_PRODUCTS: list[Inputs] = [
    {"lhs": SQUARE, "rhs": SQUARE},
    {"lhs": (1000, 10), "rhs": (1000, 10), "transpose_b": True},
    {"lhs": (1000, 1), "rhs": (100, 1000), "transpose_a": True, "transpose_b": True},
]
_ADAM = {"beta1": RATES, "beta2": RATES}
_PAIR = {"low": [0.0, 2.5], "high": [1.0, 3.7]}
_BELL = {"mu": [2.0, 2.5], "sigma": [1.0, 3.7]}
_GAMMA = {"alpha": [0.0, 2.5], "beta": [1.0, 0.7]}
_COUNTS = {"k": [20, 49], "p": [0.4, 0.77]}
_GENERAL = {"mu": [2.0, 2.5], "alpha": [0.0, 2.5]}
_RATE = {"lam": [1.0, 8.5]}
_DEPTH: list[Inputs] = [{"data": (1, 4, 2, 4), "block_size": 2}, {"data": (10, 25, 10, 100), "block_size": 5}]

TABLE: Mapping[str, list[Inputs]] = {
    # Elements ---------------------------------------------------------------------------------------------------------
    **_by_name(
        """BlockGrad SoftmaxActivation abs all_finite arccos arccosh arcsin arcsinh arctan arctanh argmax_channel cbrt
        ceil cos cosh degrees erf erfinv exp expm1 fix flatten floor gamma gammaln hard_sigmoid identity log log10 log1p
        log2 logical_not make_loss negative ones_like radians rcbrt reciprocal relu rint round rsqrt shape_array shuffle
        sigmoid sign sin sinh size_array smooth_l1 softsign sqrt square stop_gradient tan tanh trunc zeros_like""",
        _per_shape(DATA),
    ),
    **_by_name("amp_cast cast", _vary(_per_shape(DATA), dtype=TYPES)),
    "amp_multicast": _count(num_outputs=1)[:2],
    **_by_name(
        """broadcast_add broadcast_div broadcast_equal broadcast_greater broadcast_greater_equal broadcast_hypot
        broadcast_lesser broadcast_lesser_equal broadcast_logical_and broadcast_logical_or broadcast_logical_xor
        broadcast_maximum broadcast_minimum broadcast_minus broadcast_mod broadcast_mul broadcast_not_equal
        broadcast_plus broadcast_power broadcast_sub""",
        _SPREAD,
    ),
    **_by_name("elemwise_add elemwise_div elemwise_mul elemwise_sub reshape_like", _per_shape(PAIRS, "lhs", "rhs")),
    "ElementWiseSum": [{"args": SQUARE}],
    "add_n": _count(),
    "clip": _per_shape(DATA, a_min=0.1, a_max=0.9),
    "where": [{"condition": shape[:1], "x": shape, "y": shape} for shape in DATA],
    # Reductions, sorting, shapes and indices --------------------------------------------------------------------------
    **_by_name("max max_axis mean min min_axis nanprod nansum norm prod sum sum_axis", _REDUCTION),
    **_by_name("SequenceLast SequenceMask SequenceReverse argmax argmin flip sort", _ALONG),
    "argsort": _vary(_ALONG, dtype=TYPES),
    "topk": _vary(_per_shape(DATA, axis=0, k=1), dtype=TYPES),
    "cumsum": _vary(_per_shape([SQUARE] * 3, "a", axis=0), dtype=TYPES),
    **_by_name("moments transpose", _per_shape(DATA, axes=(0, 1))),
    "swapaxes": _per_shape(DATA, dim1=0, dim2=1),
    **_by_name("depth_to_space space_to_depth", _DEPTH),
    "squeeze": [{"data": (1, *SQUARE), "axis": 0}, {"data": (32, 1, 256, 256), "axis": 1}],
    **_by_name("choose_element_0index pick", _PICK),
    "gather_nd": _per_shape(DATA, indices=(1, 1)),
    "one_hot": _vary(_per_shape([(1, 1)] * 3, "indices", depth=0), dtype=TYPES),
    "ravel_multi_index": [{"data": (2, 1024), "shape": shape} for shape in DATA],
    "slice": [*_SLICE, {"data": SQUARE, "begin": (0, 0), "end": (512, 512)}],
    "slice_axis": [{**row, "axis": 0} for row in _SLICE],
    "slice_like": _vary(_per_shape(DATA, axes=(0, 1)), shape_like=((100, 100), (10, 1), (100, 10))),
    "take": [{"a": SQUARE, "indices": (1, 1), "axis": 0}],
    "fill_element_0index": [{"lhs": shape, "mhs": shape[:1], "rhs": shape[:1]} for shape in DATA],
    "cast_storage": _vary(_per_shape(DATA), stype=("default", "csr", "row_sparse")),
    # Products ---------------------------------------------------------------------------------------------------------
    "dot": _PRODUCTS,
    "batch_dot": [{**row, "lhs": (32, *row["lhs"]), "rhs": (32, *row["rhs"])} for row in _PRODUCTS],
    "khatri_rao": [{"args": [(32, 32)] * 2}, {"args": [(64, 64)] * 2}],
    **_by_name(
        """linalg_det linalg_extractdiag linalg_extracttrian linalg_gelqf linalg_inverse linalg_potri linalg_slogdet
        linalg_sumlogdiag linalg_syrk""",
        _per_shape([SQUARE], "A"),
    ),
    "linalg_makediag": [{"A": (64, 64)}],
    "linalg_maketrian": [{"A": (1024, 1035)}],
    "linalg_potrf": [{"A": [[1, 0], [0, 1]]}, {"A": [[2, -1, 0], [-1, 2, -1], [0, -1, 2]]}],
    "linalg_gemm": _per_shape([SQUARE], "A", "B", "C", axis=0),
    "linalg_gemm2": _per_shape([SQUARE], "A", "B", axis=0),
    **_by_name("linalg_trmm linalg_trsm", _per_shape([SQUARE], "A", "B")),
    # Random numbers ---------------------------------------------------------------------------------------------------
    **_by_name(
        "random_exponential random_gamma random_generalized_negative_binomial random_normal random_poisson", _draw()
    ),
    "random_negative_binomial": _draw(k=1, p=1),
    "random_uniform": _draw(low=0, high=5),
    "random_randint": _vary(_draw(low=0, high=5), dtype=("int32", "int64", "int32")),
    "random_pdf_dirichlet": [{"sample": (2,), "alpha": [0.0, 2.5]}],
    **_by_name("random_pdf_exponential random_pdf_poisson", [{"sample": (2,), **_RATE}]),
    "random_pdf_gamma": [{"sample": (2,), **_GAMMA}],
    "random_pdf_generalized_negative_binomial": [{"sample": (2,), **_GENERAL}],
    "random_pdf_negative_binomial": [{"sample": (2,), **_COUNTS}],
    "random_pdf_normal": [{"sample": (2,), **_BELL}],
    "random_pdf_uniform": [{"sample": (2,), **_PAIR}],
    **_by_name("sample_exponential sample_poisson", _draw(**_RATE)),
    "sample_gamma": _draw(**_GAMMA),
    "sample_generalized_negative_binomial": _draw(**_GENERAL),
    "sample_multinomial": _draw(data=(32, 32)),
    "sample_negative_binomial": _draw(**_COUNTS),
    "sample_normal": _draw(**_BELL),
    "sample_uniform": _draw(**_PAIR),
    # Layers -----------------------------------------------------------------------------------------------------------
    "Activation": [{"data": shape, "act_type": kind} for shape, kind in product(DATA, _GATES)],
    "LeakyReLU": [{"data": shape, "act_type": kind} for shape, kind in product(DATA, _LEAKS)],
    **_by_name("log_softmax softmax softmin", _ALONG),
    "Softmax": _per_shape(DATA, "data", "label", grad_scale=0.5, normalization="batch"),
    "BatchNorm": _per_shape(IMAGES, gamma=(3,), beta=(3,), moving_mean=(3,), moving_var=(3,), eps=1e-8, axis=1),
    "InstanceNorm": _per_shape(IMAGES, gamma=(3,), beta=(3,), eps=1e-8),
    "LayerNorm": _per_shape(IMAGES, gamma=(32,), beta=(32,), axis=0, eps=1e-8),
    "GroupNorm": [
        {"data": (32, 3, 256, 256), "gamma": (1,), "beta": (1,), "num_groups": 1, "eps": 1e-8},
        {"data": (32, 10, 10000, 10), "gamma": (10,), "beta": (10,), "num_groups": 10, "eps": 1e-8},
    ],
    "L2Normalization": _vary(_per_shape([IMAGES[0]] * 3, eps=1e-8), mode=("channel", "instance", "spatial")),
    "LRN": _per_shape(IMAGES, alpha=0.001, beta=0.2, nsize=3),
    "Dropout": _per_shape([IMAGES[0], (10000, 10)], p=1, mode="always", axes=(0, 1)),
    "Embedding": _vary(_per_shape(DATA, weight=(3, 4), input_dim=3, output_dim=4, sparse_grad=False), dtype=TYPES),
    "FullyConnected": [
        {"data": IMAGES[0], "weight": (64, 196608), "bias": (64,), "num_hidden": 64, "flatten": True},
        {"data": IMAGES[1], "weight": (64, 10), "bias": (64,), "num_hidden": 64, "flatten": False},
    ],
    "Correlation": _per_shape(IMAGES, "data1", "data2", kernel_size=3, max_displacement=2, stride1=2, stride2=2),
    **_by_name(
        "LinearRegressionOutput LogisticRegressionOutput MAERegressionOutput",
        _per_shape(IMAGES, "data", "label", grad_scale=0.5),
    ),
    "SVMOutput": [{**row, "margin": 0.5, "regularization_coefficient": 0.5} for row in _WITH_LABELS],
    "SoftmaxOutput": [{**row, "grad_scale": 0.5, "normalization": "batch"} for row in _WITH_LABELS],
    "RNN": [
        {"data": (32, 4, 4), "parameters": (7,), "state": (1, 4, 1), "state_size": 1, "num_layers": 1,
         "mode": "rnn_relu", "p": 0.5},
        {"data": (512, 10000, 10), "parameters": (104,), "state": (2, 10000, 4), "state_size": 4, "num_layers": 2,
         "mode": "rnn_tanh", "p": 0.5},
    ],
    "Pooling": _pools(),
    "ROIPooling": _per_shape(SMALL_IMAGES, rois=(32, 5), pooled_size=(2, 2), spatial_scale=0.5),
    "Convolution": _windows({1: (64, 3, 3), 2: (64, 3, 3, 3)}),
    "Deconvolution": _windows({1: (3, 64, 3), 2: (3, 64, 3, 3)}, no_bias=False),
    "UpSampling": [
        {"args": IMAGES[0], "scale": 2, "sample_type": "nearest"},
        {"args": (32, 3, 10000, 1), "scale": 4, "sample_type": "nearest"},
    ],
    "im2col": [
        {"data": IMAGES[0], "kernel": (3,), "stride": (1,), "dilate": (1,), "pad": (1,)},
        {"data": IMAGES[1], "kernel": (3, 3), "stride": (1, 1), "dilate": (1, 1), "pad": (1, 1)},
    ],
    "col2im": [
        {"data": (32, 64, 256), "output_size": (64, 16, 1), "kernel": (1, 1, 1), "stride": (2, 2, 2)},
        {"data": (32, 64, 256), "output_size": (32, 8, 1), "kernel": (1, 1, 1), "stride": (1, 1, 1)},
    ],
    "BilinearSampler": _per_shape([(32, 2, 256, 256)], "data", "grid"),
    "GridGenerator": [
        {"data": (32, 2, 256, 256), "transform_type": "warp", "target_shape": (256, 6)},
        {"data": (256, 6), "transform_type": "affine", "target_shape": (256, 6)},
    ],
    "SpatialTransformer": [
        {"data": (count, 3, height, 6), "loc": (count, 6), "target_shape": (count, 6), "transform_type": "affine",
         "sampler_type": "bilinear"}
        for count, height in ((32, 256), (256, 10000))
    ],
    "Custom": _count(op_type="CustomAddOne"),
    # Losses -----------------------------------------------------------------------------------------------------------
    **_by_name("CTCLoss ctc_loss", [{"data": (1024, 100, 100), "label": (100, 100)}]),
    "MakeLoss": _per_shape(DATA, grad_scale=0.5, normalization="batch"),
    "softmax_cross_entropy": [{"data": SQUARE, "label": (1024,)}],
    # Updates of weights -----------------------------------------------------------------------------------------------
    "adam_update": _vary(
        _optimizer("weight grad mean var", epsilon=1e-8, rescale_grad=0.4, lazy_update=0), **_ADAM
    ),
    "ftml_update": _vary(
        _optimizer("weight grad d v z", epsilon=1e-8, t=1, rescale_grad=0.4, clip_grad=-1.0), **_ADAM
    ),
    "ftrl_update": _optimizer("weight grad z n", rescale_grad=0.4),
    "lamb_update_phase1": _vary(
        _optimizer("weight grad mean var", "wd", epsilon=1e-8, t=1, rescale_grad=0.4), **_ADAM
    ),
    "lamb_update_phase2": [
        {"weight": shape, "g": shape, "r1": (1, shape[1]), "r2": (1, shape[1]), "lr": rate}
        for shape, rate in zip(DATA, RATES)
    ],
    "mp_nag_mom_update": _optimizer("weight grad mom weight32", rescale_grad=0.4),
    "mp_sgd_mom_update": _optimizer("weight grad mom weight32", rescale_grad=0.4, lazy_update=0),
    "mp_sgd_update": _optimizer("weight grad weight32", rescale_grad=0.4, lazy_update=0),
    **_by_name("nag_mom_update signum_update", _optimizer("weight grad mom", rescale_grad=0.4)),
    "rmsprop_update": _optimizer("weight grad n", "lr wd gamma1", epsilon=1e-8, rescale_grad=0.4),
    "rmspropalex_update": _optimizer(
        "weight grad n g delta", "lr wd gamma1 gamma2", epsilon=1e-8, rescale_grad=0.4
    ),
    "sgd_mom_update": _optimizer("weight grad mom", rescale_grad=0.4, lazy_update=0),
    "sgd_update": _optimizer("weight grad", rescale_grad=0.4, lazy_update=0),
    "signsgd_update": _optimizer("weight grad", rescale_grad=0.4),
    "multi_sgd_update": _weights(2),
    "multi_sgd_mom_update": _weights(3),
    "multi_mp_sgd_update": _weights(3),
    "multi_mp_sgd_mom_update": _weights(4),
    "preloaded_multi_sgd_update": _weights(2, rates=2),
    "preloaded_multi_sgd_mom_update": _weights(3, rates=2),
    "preloaded_multi_mp_sgd_update": _weights(3, rates=2),
    "preloaded_multi_mp_sgd_mom_update": _weights(4, rates=2),
    "multi_lars": _per_shape(
        DATA, "lrs", "weights_sum_sq", "grads_sum_sq", "wds", eta=0.5, eps=1e-8, rescale_grad=0.4
    ),
    **_by_name("multi_all_finite multi_sum_sq reset_arrays", _count(num_arrays=1)),
}  # fmt: skip
