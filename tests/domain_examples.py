"""A case of every operator in the table of domains, as a source makes it that knows names, shapes and types alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opperf.domain.case import Argument, Case, ListOf
from opperf.domain.tensor import TensorSpec

#: Indices, which are whole numbers.
INDICES = (6, 5)


def whole(*shape: int) -> TensorSpec:
    """Return a tensor of whole numbers."""
    return TensorSpec(shape, "int64")


def several(*shapes: tuple[int, ...]) -> ListOf:
    """Return a list of tensors."""
    return ListOf(tuple(map(TensorSpec, shapes)))


def _argument(value: Any) -> Argument:
    """Read a shape as a tensor of it; a list stands for a tuple of numbers."""
    if isinstance(value, tuple):
        return TensorSpec(value)
    return tuple(value) if isinstance(value, list) else value


def call(name: str, *, attributes: Mapping[str, Argument] | None = None, **inputs: Any) -> Case:
    """Return the case of a call: inputs by name, in their order."""
    return Case(name, {key: _argument(value) for key, value in inputs.items()}, attributes or {})


SQUARE, TABLE, FLAT = (8, 8), (12, 4), (16,)

_TORCH_UNARY = (
    "aten::sqrt", "aten::sqrt_", "aten::rsqrt", "aten::log", "aten::log_", "aten::log2", "aten::log10", "aten::log1p",
    "aten::asin", "aten::acos", "aten::acos_", "aten::atanh", "aten::arcsin", "aten::arccos", "aten::arctanh",
    "aten::erfinv", "aten::acosh", "aten::arccosh", "aten::logit", "aten::special_logit", "aten::special_ndtri",
    "aten::special_entr", "aten::lgamma", "aten::digamma", "aten::special_gammaln", "aten::special_psi",
    "aten::special_bessel_y0", "aten::special_bessel_y1", "aten::special_modified_bessel_k0",
    "aten::special_modified_bessel_k1", "aten::special_scaled_modified_bessel_k0",
    "aten::special_scaled_modified_bessel_k1", "aten::reciprocal", "aten::multinomial", "aten::bernoulli",
    "aten::poisson", "aten::_standard_gamma", "aten::_sample_dirichlet", "aten::linalg_cholesky",
    "aten::linalg_cholesky_ex", "aten::cholesky", "aten::logdet", "aten::cholesky_inverse",
)  # fmt: skip
_MORE: Mapping[str, Mapping[str, Argument]] = {"aten::logit": {"eps": None}, "aten::multinomial": {"num_samples": 2}}

TORCH = (
    *(call(f"torch:{name}", self=SQUARE, attributes=_MORE.get(name, {})) for name in _TORCH_UNARY),
    call("torch:aten::mvlgamma", self=SQUARE, attributes={"p": 3}),
    call("torch:aten::special_multigammaln", self=SQUARE, attributes={"p": 3}),
    *(call(f"torch:aten::_foreach_{name}", self=several(SQUARE, FLAT)) for name in ("sqrt", "sqrt_", "log", "acos")),
    *(call(f"torch:{name}", self=SQUARE, other=SQUARE) for name in (
        "aten::igamma", "aten::igammac", "aten::special_gammainc", "aten::special_gammaincc", "aten::special_zeta",
        "aten::xlogy.Tensor", "aten::special_xlog1py", "aten::div.Tensor", "aten::divide.Tensor",
        "aten::true_divide.Tensor", "aten::floor_divide", "aten::remainder.Tensor", "aten::fmod.Tensor",
    )),
    call("torch:aten::remainder.Tensor", self=whole(8, 8), other=whole(8, 8)),
    Case("torch:aten::polygamma", {"n": 1, "self": TensorSpec(SQUARE)}),
    call("torch:aten::pow.Tensor_Scalar", self=SQUARE, exponent=0.5),
    call("torch:aten::pow.Tensor_Scalar", self=SQUARE, exponent=3),
    call("torch:aten::pow.Tensor_Tensor", self=SQUARE, exponent=SQUARE),
    call("torch:aten::pow.Tensor_Tensor", self=whole(8, 8), exponent=whole(8, 8)),
    call("torch:aten::ldexp.Tensor", self=SQUARE, other=whole(8, 8)),
    call("torch:aten::exp", self=whole(8, 8)),
    call("torch:aten::bincount", self=whole(16)),
    call(
        "torch:aten::value_selecting_reduction_backward", grad=(16, 2), dim=-1, indices=whole(16, 2),
        attributes={"sizes": (16, 4), "keepdim": True},
    ),
    call("torch:aten::index_select_backward", grad=(5, 4), self_sizes=[16, 4], dim=0, index=whole(5)),
    call("torch:aten::cummaxmin_backward", grad=(4, 6), input=(4, 6), indices=whole(4, 6), dim=1),
    call("torch:aten::embedding_renorm_", self=TABLE, indices=whole(5), max_norm=1.0, norm_type=2.0),
    call("torch:aten::_pack_padded_sequence_backward", grad=(12, 4), input_size=[5, 3, 4], batch_sizes=whole(5),
         batch_first=False),
    call("torch:aten::repeat_interleave.self_Tensor", self=FLAT, repeats=whole(16)),
    *(call(f"torch:aten::special_{name}", x=SQUARE, n=whole(8, 8)) for name in (
        "chebyshev_polynomial_t", "chebyshev_polynomial_u", "chebyshev_polynomial_v", "chebyshev_polynomial_w",
        "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p",
        "shifted_chebyshev_polynomial_t", "shifted_chebyshev_polynomial_u", "shifted_chebyshev_polynomial_v",
        "shifted_chebyshev_polynomial_w",
    )),
    call("torch:aten::linalg_ldl_solve", LD=SQUARE, pivots=TensorSpec((8,), "int32"), B=SQUARE),
    call("torch:aten::lu_unpack", LU_data=SQUARE, LU_pivots=TensorSpec((8,), "int32")),
    call(
        "torch:aten::ctc_loss.Tensor", log_probs=(49, 2, 32), targets=whole(24), input_lengths=whole(2),
        target_lengths=whole(2),
    ),
    call(
        "torch:aten::_ctc_loss_backward.Tensor", grad=(2,), log_probs=(49, 2, 32), targets=whole(24),
        input_lengths=whole(2), target_lengths=whole(2), neg_log_likelihood=(2,), log_alpha=(2, 49, 25), blank=0,
    ),
    call("torch:aten::one_hot", self=whole(6)),
    *(call(f"torch:aten::{name}.Tensor", self=whole(8, 8), other=whole(8, 8)) for name in (
        "bitwise_left_shift", "bitwise_right_shift", "__lshift__", "__rshift__",
    )),
    call("torch:aten::float_power.Tensor_Scalar", self=SQUARE, exponent=0.5),
    call("torch:aten::_foreach_pow.Scalar", self=several(SQUARE), exponent=0.5),
    call("torch:aten::addcdiv", self=SQUARE, tensor1=SQUARE, tensor2=SQUARE),
    call("torch:aten::bernoulli_.Tensor", self=SQUARE, p=SQUARE),
    call("torch:aten::normal.Tensor_Tensor", mean=SQUARE, std=SQUARE),
    call("torch:aten::binomial", count=SQUARE, prob=SQUARE),
    call("torch:aten::_dirichlet_grad", x=SQUARE, alpha=SQUARE, total=SQUARE),
    call("torch:aten::binary_cross_entropy", self=SQUARE, target=SQUARE),
    call("torch:aten::binary_cross_entropy_backward", grad_output=SQUARE, self=SQUARE, target=SQUARE),
    call("torch:torch.nn.BCELoss", input=SQUARE, target=SQUARE),
    call("torch:torch.nn.KLDivLoss", input=SQUARE, target=SQUARE),
    call("torch:aten::logit_backward", grad_output=SQUARE, self=SQUARE),
    call("torch:aten::kl_div", self=SQUARE, target=SQUARE),
    call("torch:torch.nn.functional.gaussian_nll_loss", input=SQUARE, target=SQUARE, var=SQUARE),
    call("torch:aten::log_sigmoid_backward", grad_output=SQUARE, self=SQUARE, buffer=SQUARE),
    *(call(f"torch:aten::{name}", self=(6, 12), target=whole(6)) for name in (
        "nll_loss", "nll_loss_nd", "cross_entropy_loss", "multi_margin_loss",
    )),
    call("torch:aten::nll_loss_forward", self=(6, 12), target=whole(6), weight=None, reduction=1, ignore_index=-100),
    call("torch:aten::nll_loss2d", self=(2, 12, 4, 4), target=whole(2, 4, 4)),
    call(
        "torch:aten::nll_loss2d_forward", self=(2, 12, 4, 4), target=whole(2, 4, 4), weight=None, reduction=1,
        ignore_index=-100,
    ),
    call("torch:aten::multilabel_margin_loss", self=(6, 12), target=whole(6, 12)),
    call("torch:aten::multilabel_margin_loss_forward", self=(6, 12), target=whole(6, 12), reduction=1),
    call(
        "torch:aten::multilabel_margin_loss_backward", grad_output=(), self=(6, 12), target=whole(6, 12), reduction=1,
        is_target=(6, 12),
    ),
    call(
        "torch:aten::multi_margin_loss_backward", grad_output=(), self=(6, 12), target=whole(6), p=1, margin=1.0,
    ),
    call(
        "torch:aten::nll_loss_backward", grad_output=(), self=(6, 12), target=whole(6), weight=None, reduction=1,
        ignore_index=-100, total_weight=(),
    ),
    call(
        "torch:aten::nll_loss2d_backward", grad_output=(), self=(2, 12, 4, 4), target=whole(2, 4, 4), weight=None,
        reduction=1, ignore_index=-100, total_weight=(),
    ),
    call(
        "torch:aten::ctc_loss.Tensor", log_probs=(20, 3, 8), targets=whole(3, 5), input_lengths=whole(3),
        target_lengths=whole(3),
    ),
    *(
        call(
            f"torch:aten::{name}", input=(4, 3, 8), weight=(3,), bias=(3,), running_mean=(3,), running_var=(3,),
            training=False, momentum=0.1, eps=1e-5, attributes=more,
        )
        for name, more in (
            ("native_batch_norm", {}), ("batch_norm", {"cudnn_enabled": False}),
            ("_batch_norm_impl_index", {"cudnn_enabled": False}),
        )
    ),
    call(
        "torch:aten::_native_batch_norm_legit", input=(4, 3, 8), weight=(3,), bias=(3,), running_mean=(3,),
        running_var=(3,), training=False, momentum=0.1, eps=1e-5,
    ),
    *(
        call(
            f"torch:aten::{name}", input=(4, 3, 8), weight=(3,), bias=(3,), running_mean=(3,), running_var=(3,),
            momentum=0.1, eps=1e-5,
        )
        for name in ("_native_batch_norm_legit_no_training", "_batch_norm_with_update")
    ),
    call("torch:aten::batch_norm_update_stats", input=(4, 3, 8), running_mean=(3,), running_var=(3,), momentum=0.1),
    call("torch:torch.nn.functional.batch_norm", input=(4, 3, 8), running_mean=(3,), running_var=(3,)),
    call(
        "torch:aten::native_batch_norm_backward", grad_out=(4, 3, 8), input=(4, 3, 8), weight=(3,), running_mean=(3,),
        running_var=(3,), save_mean=(3,), save_invstd=(3,), train=False, eps=1e-5, output_mask=[True, True, True],
    ),
    call(
        "torch:aten::_fused_adam", self=several(FLAT), grads=several(FLAT), exp_avgs=several(FLAT),
        exp_avg_sqs=several(FLAT), max_exp_avg_sqs=several(FLAT), state_steps=several(()),
        attributes={
            "lr": 0.1, "beta1": 0.9, "beta2": 0.99, "weight_decay": 0.0, "eps": 1e-8, "amsgrad": True,
            "maximize": False, "grad_scale": TensorSpec(()), "found_inf": TensorSpec(()),
        },
    ),
    call(
        "torch:aten::_fused_adamw", self=several(FLAT), grads=several(FLAT), exp_avgs=several(FLAT),
        exp_avg_sqs=several(FLAT), max_exp_avg_sqs=several(FLAT), state_steps=several(()),
        attributes={
            "lr": 0.1, "beta1": 0.9, "beta2": 0.99, "weight_decay": 0.0, "eps": 1e-8, "amsgrad": True,
            "maximize": False,
        },
    ),
    call(
        "torch:aten::_fused_adagrad", self=several(FLAT), grads=several(FLAT), state_sums=several(FLAT),
        state_steps=several(()),
        attributes={"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.0, "eps": 1e-8, "maximize": False},
    ),
    call(
        "torch:aten::_fused_sgd", self=several(FLAT), grads=several(FLAT), momentum_buffer_list=several(FLAT),
        attributes={
            "weight_decay": 0.0, "momentum": 0.9, "lr": 0.1, "dampening": 0.0, "nesterov": False, "maximize": False,
            "is_first_step": False, "grad_scale": TensorSpec(()), "found_inf": TensorSpec(()),
        },
    ),
    call("torch:aten::linalg_solve_triangular", self=(256, 256), B=(256, 4), attributes={"upper": True}),
    call("torch:aten::triangular_solve", self=(256, 4), A=(256, 256)),
    call("torch:aten::cholesky_solve", self=SQUARE, input2=SQUARE),
    call("torch:aten::linalg_lu_solve", LU=SQUARE, pivots=TensorSpec((8,), "int32"), B=SQUARE),
    call("torch:aten::embedding", weight=TABLE, indices=whole(6, 5)),
    call("torch:torch.nn.functional.embedding", input=whole(6, 5), weight=TABLE),
    call("torch:aten::embedding_bag", weight=TABLE, indices=whole(30), offsets=whole(4)),
    call("torch:aten::_embedding_bag", weight=TABLE, indices=whole(30), offsets=whole(4)),
    call("torch:torch.nn.functional.embedding_bag", input=whole(30), weight=TABLE, offsets=whole(4)),
    Case(
        "torch:aten::embedding_backward",
        {
            "grad": TensorSpec((6, 4)), "indices": whole(6), "num_weights": 12, "padding_idx": -1,
            "scale_grad_by_freq": False, "sparse": False,
        },
    ),
    Case(
        "torch:aten::embedding_dense_backward",
        {
            "grad_output": TensorSpec((6, 4)), "indices": whole(6), "num_weights": 12, "padding_idx": -1,
            "scale_grad_by_freq": False,
        },
    ),
    Case(
        "torch:aten::embedding_sparse_backward",
        {
            "grad": TensorSpec((6, 4)), "indices": whole(6), "num_weights": 12, "padding_idx": -1,
            "scale_grad_by_freq": False,
        },
    ),
    Case(
        "torch:aten::_embedding_bag_backward",
        {
            "grad": TensorSpec((4, 4)), "indices": whole(30), "offsets": whole(4), "offset2bag": whole(30),
            "bag_size": whole(4), "maximum_indices": whole(4), "num_weights": 12, "scale_grad_by_freq": False,
            "mode": 0, "sparse": False, "per_sample_weights": None,
        },
    ),
    Case(
        "torch:aten::_embedding_bag_dense_backward",
        {
            "grad": TensorSpec((4, 4)), "indices": whole(30), "offset2bag": whole(30), "bag_size": whole(4),
            "maximum_indices": whole(4), "num_weights": 12, "scale_grad_by_freq": False, "mode": 0,
            "per_sample_weights": None,
        },
    ),
    Case(
        "torch:aten::_embedding_bag_sparse_backward",
        {
            "grad": TensorSpec((4, 4)), "indices": whole(30), "offsets": whole(4), "offset2bag": whole(30),
            "bag_size": whole(4), "num_weights": 12, "scale_grad_by_freq": False, "mode": 0,
            "per_sample_weights": None,
        },
    ),
    Case(
        "torch:aten::_embedding_bag_per_sample_weights_backward",
        {
            "grad": TensorSpec((4, 4)), "weight": TensorSpec(TABLE), "indices": whole(30), "offsets": whole(4),
            "offset2bag": whole(30), "mode": 0,
        },
    ),
    *(call(f"torch:aten::{name}", self=TABLE, dim=0, index=whole(3, 4)) for name in ("gather",)),
    *(
        call(f"torch:aten::{name}", self=TABLE, dim=0, index=whole(3, 4), src=(3, 4))
        for name in ("scatter.src", "scatter_add", "scatter_add_")
    ),
    call("torch:aten::scatter_reduce.two", self=TABLE, dim=0, index=whole(3, 4), src=(3, 4), reduce="sum"),
    call("torch:aten::index_select", self=TABLE, dim=1, index=whole(6)),
    call("torch:aten::index_add", self=TABLE, dim=0, index=whole(6), source=(6, 4)),
    call("torch:aten::index_copy", self=TABLE, dim=0, index=whole(1), source=(1, 4)),
    call("torch:aten::index_fill.int_Scalar", self=TABLE, dim=0, index=whole(6), value=0),
    call("torch:aten::index_reduce", self=TABLE, dim=0, index=whole(6), source=(6, 4), reduce="amax"),
    call("torch:aten::take_along_dim", self=TABLE, indices=whole(3, 4), dim=0),
    call("torch:aten::gather_backward", grad=(3, 4), self=TABLE, dim=0, index=whole(3, 4), sparse_grad=False),
    call("torch:aten::take", self=TABLE, index=whole(6)),
    call("torch:aten::put", self=TABLE, index=whole(6), source=(6,)),
    call("torch:aten::index.Tensor", self=TABLE, indices=ListOf((whole(6), whole(6)))),
    call("torch:aten::index.Tensor", self=TABLE, indices=ListOf((None, whole(6)))),
    *(
        call(f"torch:aten::{name}", self=TABLE, indices=ListOf((whole(6),)), values=(6, 4))
        for name in ("index_put", "index_put_", "_unsafe_index_put", "_index_put_impl_")
    ),
    call("torch:aten::_unsafe_index.Tensor", self=TABLE, indices=ListOf((whole(6),))),
    call("torch:aten::one_hot", self=whole(6), num_classes=3),
    call("torch:aten::max_unpool2d", self=(1, 2, 2, 2), indices=whole(1, 2, 2, 2), output_size=[4, 4]),
    call(
        "torch:aten::max_unpool3d", self=(1, 2, 2, 2, 2), indices=whole(1, 2, 2, 2, 2), output_size=[4, 4, 4],
        stride=[2, 2, 2], padding=[0, 0, 0],
    ),
    call(
        "torch:aten::max_pool2d_with_indices_backward", grad_output=(1, 2, 2, 2), self=(1, 2, 4, 4), kernel_size=[2, 2],
        stride=[2, 2], padding=[0, 0], dilation=[1, 1], ceil_mode=False, indices=whole(1, 2, 2, 2),
    ),
    call(
        "torch:aten::max_pool3d_with_indices_backward", grad_output=(1, 2, 2, 2, 2), self=(1, 2, 4, 4, 4),
        kernel_size=[2, 2, 2], stride=[2, 2, 2], padding=[0, 0, 0], dilation=[1, 1, 1], ceil_mode=False,
        indices=whole(1, 2, 2, 2, 2),
    ),
    call(
        "torch:aten::adaptive_max_pool2d_backward", grad_output=(1, 2, 2, 2), self=(1, 2, 4, 4),
        indices=whole(1, 2, 2, 2),
    ),
    call(
        "torch:aten::adaptive_max_pool3d_backward", grad_output=(1, 2, 2, 2, 2), self=(1, 2, 4, 4, 4),
        indices=whole(1, 2, 2, 2, 2),
    ),
    call(
        "torch:aten::fractional_max_pool2d_backward", grad_output=(1, 2, 2, 2), self=(1, 2, 4, 4), kernel_size=[2, 2],
        output_size=[2, 2], indices=whole(1, 2, 2, 2),
    ),
    call(
        "torch:aten::fractional_max_pool3d_backward", grad_output=(1, 2, 2, 2, 2), self=(1, 2, 4, 4, 4),
        kernel_size=[2, 2, 2], output_size=[2, 2, 2], indices=whole(1, 2, 2, 2, 2),
    ),
    call(
        "torch:aten::_jagged_to_padded_dense_forward", values=(10, 4), offsets=ListOf((whole(4),)), max_lengths=[4],
    ),
    call(
        "torch:aten::_padded_dense_to_jagged_forward", dense=(3, 4, 4), offsets=ListOf((whole(4),)), total_L=10,
    ),
    call("torch:aten::_pack_padded_sequence", input=(7, 3, 4), lengths=whole(3), batch_first=False),
    call(
        "torch:aten::_pad_packed_sequence", data=(12, 4), batch_sizes=whole(5), batch_first=False, padding_value=0.0,
        total_length=5,
    ),
    call(
        "torch:aten::lstm.data", data=(12, 4), batch_sizes=whole(5), hx=several((1, 3, 4), (1, 3, 4)),
        params=several((16, 4), (16, 4), (16,), (16,)), has_biases=True, num_layers=1, dropout=0.0, train=False,
        bidirectional=False,
    ),
    *(
        call(
            f"torch:aten::{name}.data", data=(12, 4), batch_sizes=whole(5), hx=(1, 3, 4),
            params=several((gates * 4, 4), (gates * 4, 4), (gates * 4,), (gates * 4,)), has_biases=True, num_layers=1,
            dropout=0.0, train=False, bidirectional=False,
        )
        for name, gates in (("gru", 3), ("rnn_tanh", 1), ("rnn_relu", 1))
    ),
    call(
        "torch:torch.segment_reduce", data=(12, 4), attributes={"reduce": "sum", "lengths": whole(5), "axis": 0},
    ),
    call("torch:aten::repeat_interleave.Tensor", repeats=whole(5), attributes={"output_size": 12}),
    call("torch:aten::searchsorted.Tensor", sorted_sequence=FLAT, self=SQUARE),
    call("torch:aten::bucketize.Tensor", self=SQUARE, boundaries=FLAT),
    call("torch:aten::histogram.bins_tensor", self=SQUARE, bins=FLAT),
)  # fmt: skip

NUMPY = (
    *(call(f"numpy:numpy.{name}", x=SQUARE) for name in (
        "sqrt", "log", "log2", "log10", "log1p", "arcsin", "arccos", "arctanh", "arccosh", "reciprocal",
        "asin", "acos", "atanh", "acosh",
    )),
    call("numpy:numpy.linalg.cholesky", a=SQUARE),
    *(call(f"numpy:numpy.{name}", x1=SQUARE, x2=SQUARE) for name in (
        "power", "float_power", "divide", "true_divide", "floor_divide", "remainder", "mod", "fmod", "divmod",
    )),
    call("numpy:numpy.power", x1=whole(8, 8), x2=whole(8, 8)),
    call("numpy:numpy.bincount", x=whole(16)),
    call("numpy:numpy.take", a=TABLE, indices=whole(6), attributes={"axis": 1}),
    call("numpy:numpy.take_along_axis", arr=TABLE, indices=whole(3, 4), axis=0),
    call("numpy:numpy.unravel_index", indices=whole(6), attributes={"shape": (3, 4)}),
    call("numpy:numpy.digitize", x=SQUARE, bins=FLAT),
    call("numpy:numpy.searchsorted", a=FLAT, v=SQUARE),
    call("numpy:numpy.interp", x=SQUARE, xp=FLAT, fp=FLAT),
)  # fmt: skip

MXNET = (
    *(call(f"mxnet:nd.{name}", data=SQUARE) for name in (
        "sqrt", "rsqrt", "log", "log2", "log10", "log1p", "arcsin", "arccos", "arctanh", "erfinv", "arccosh", "rcbrt",
        "cbrt", "gammaln", "gamma", "reciprocal",
    )),
    *(call(f"mxnet:nd.linalg.{name}", A=SQUARE) for name in ("potrf", "potri", "sumlogdiag")),
    call("mxnet:nd.linalg.trsm", A=(256, 256), B=(256, 4)),
    *(call(f"mxnet:nd.{name}", lhs=SQUARE, rhs=SQUARE) for name in (
        "broadcast_power", "broadcast_div", "broadcast_mod", "elemwise_div",
    )),
    call("mxnet:nd._internal._power_scalar", data=SQUARE, attributes={"scalar": 0.5}),
    call("mxnet:nd._internal._rdiv_scalar", data=SQUARE, attributes={"scalar": 2.0}),
    call("mxnet:nd._internal._rmod_scalar", data=SQUARE, attributes={"scalar": 2.0}),
    call("mxnet:nd.sample_multinomial", data=SQUARE),
    call("mxnet:nd.sample_exponential", lam=FLAT),
    call("mxnet:nd.sample_poisson", lam=FLAT),
    call("mxnet:nd.sample_gamma", alpha=FLAT, beta=FLAT),
    call("mxnet:nd.sample_normal", mu=FLAT, sigma=FLAT),
    call("mxnet:nd.sample_negative_binomial", k=FLAT, p=FLAT),
    call("mxnet:nd.SoftmaxOutput", data=(6, 12), label=(6,)),
    call("mxnet:nd.SVMOutput", data=(6, 12), label=(6,)),
    call("mxnet:nd.softmax_cross_entropy", data=(6, 12), label=(6,)),
    call("mxnet:nd.BatchNorm", data=(4, 3, 8), gamma=(3,), beta=(3,), moving_mean=(3,), moving_var=(3,)),
    call("mxnet:nd.adam_update", weight=FLAT, grad=FLAT, mean=FLAT, var=FLAT, attributes={"lr": 0.1}),
    call("mxnet:nd.rmsprop_update", weight=FLAT, grad=FLAT, n=FLAT, attributes={"lr": 0.1}),
    call("mxnet:nd.rmspropalex_update", weight=FLAT, grad=FLAT, n=FLAT, g=FLAT, delta=FLAT, attributes={"lr": 0.1}),
    call("mxnet:nd.ftrl_update", weight=FLAT, grad=FLAT, z=FLAT, n=FLAT, attributes={"lr": 0.1}),
    call("mxnet:nd.ftml_update", weight=FLAT, grad=FLAT, d=FLAT, v=FLAT, z=FLAT, attributes={"lr": 0.1, "t": 2}),
    call("mxnet:nd.lamb_update_phase1", weight=FLAT, grad=FLAT, mean=FLAT, var=FLAT, attributes={"t": 2, "wd": 0.1}),
    call("mxnet:nd.Embedding", data=INDICES, weight=TABLE, attributes={"input_dim": 12, "output_dim": 4}),
    call("mxnet:nd.take", a=TABLE, indices=(6,)),
    call("mxnet:nd.pick", data=TABLE, index=(12,)),
    call("mxnet:nd.batch_take", a=TABLE, indices=TensorSpec((12,), "int32")),
    call("mxnet:nd.gather_nd", data=TABLE, indices=(2, 6)),
    call("mxnet:nd.scatter_nd", data=(6,), indices=(2, 6), attributes={"shape": (10, 4)}),
    call("mxnet:nd.one_hot", indices=(6,), attributes={"depth": 3}),
    *(
        call(f"mxnet:nd.{name}", data=(7, 3, 4), sequence_length=(3,), attributes={"use_sequence_length": True})
        for name in ("SequenceMask", "SequenceLast", "SequenceReverse")
    ),
    call(
        "mxnet:nd.ROIPooling", data=(1, 2, 8, 8), rois=(3, 5),
        attributes={"pooled_size": (2, 2), "spatial_scale": 1.0},
    ),
    call(
        "mxnet:nd.contrib.ROIAlign", data=(1, 2, 8, 8), rois=(3, 5),
        attributes={"pooled_size": (2, 2), "spatial_scale": 1.0},
    ),
)  # fmt: skip

JAX = (
    *(call(f"jax:lax.{name}", x=SQUARE) for name in (
        "sqrt", "rsqrt", "log", "log1p", "cbrt", "asin", "acos", "acosh", "atanh", "erf_inv", "lgamma", "digamma",
    )),
    *(call(f"jax:jax.scipy.special.{name}", x=SQUARE) for name in ("logit", "ndtri", "entr", "gammaln")),
    *(call(f"jax:{name}", x=SQUARE, y=SQUARE) for name in ("lax.pow", "lax.div", "lax.rem")),
    *(call(f"jax:lax.{name}", x=whole(8, 8), y=whole(8, 8)) for name in (
        "shift_left", "shift_right_logical", "shift_right_arithmetic",
    )),
    call("jax:lax.igamma", a=SQUARE, x=SQUARE),
    call("jax:lax.igammac", a=SQUARE, x=SQUARE),
    call("jax:lax.random_gamma_grad", a=SQUARE, x=SQUARE),
    call("jax:primitive.regularized_incomplete_beta", operand0=SQUARE, operand1=SQUARE, operand2=SQUARE),
    call("jax:primitive.log", operand0=SQUARE),
    call("jax:primitive.pow", operand0=SQUARE, operand1=()),
    call("jax:jax.scipy.special.betainc", a=SQUARE, b=SQUARE, x=SQUARE),
    call("jax:jax.scipy.special.betaln", a=SQUARE, b=SQUARE),
    call("jax:lax.polygamma", m=SQUARE, x=SQUARE),
    call("jax:lax.zeta", x=SQUARE, q=SQUARE),
    call("jax:jax.lax.linalg.cholesky", a=SQUARE),
    call("jax:jax.lax.linalg.triangular_solve", a=(256, 256), b=(256, 4), attributes={"left_side": True}),
)  # fmt: skip

RAGGED, PADDED, ENDS = (100, 4), (8, 14, 4), whole(9)

_JAGGED: Mapping[str, Mapping[str, Any]] = {
    **{
        name: {"values": RAGGED, "offsets": ListOf((ENDS,)), "max_lengths": [14], "padding_value": 0.0}
        for name in ("jagged_to_padded_dense", "jagged_to_padded_dense_forward")
    },
    **{
        f"jagged_dense_{name}": {"x_values": RAGGED, "x_offsets": ListOf((ENDS,)), "y": PADDED}
        for name in (
            "elementwise_add", "elementwise_add_jagged_output", "elementwise_mul", "elementwise_mul_forward",
        )
    },
    **{
        f"jagged_dense_dense_elementwise_add_jagged_output{name}": {
            "x_values": RAGGED, "x_offsets": ListOf((ENDS,)), "y_0": PADDED, "y_1": PADDED,
        }
        for name in ("", "_forward")
    },
    "jagged_dense_elementwise_mul_backward": {
        "grad_output": RAGGED, "x_offsets": ListOf((ENDS,)), "y": PADDED, "x_values": RAGGED,
    },
    "jagged_to_padded_dense_backward": {"grad_output": PADDED, "offsets": ListOf((ENDS,)), "total_L": 100},
    "dense_to_jagged": {"dense": PADDED, "x_offsets": ListOf((ENDS,)), "total_L": None},
    "dense_to_jagged_forward": {"dense": PADDED, "x_offsets": ListOf((ENDS,)), "total_L": 100},
    "jagged_1d_to_dense": {"values": (100,), "offsets": ENDS, "max_sequence_length": 14, "padding_value": 0},
    "jagged_2d_to_dense": {"values": RAGGED, "offsets": ENDS, "max_sequence_length": 14},
    **{
        name: {"values": RAGGED, "x_offsets": ENDS, "max_L": 14}
        for name in ("jagged_softmax", "jagged_softmax_forward")
    },
    "jagged_softmax_backward": {"grad_output": RAGGED, "output": RAGGED, "x_offsets": ENDS, "max_L": 14},
    **{
        name: {"x_values": RAGGED, "x_offsets": ENDS, "y": (8, 4, 5), "max_L": 14}
        for name in ("jagged_dense_bmm", "jagged_dense_bmm_forward")
    },
    **{
        name: {"x_values": RAGGED, "y_values": RAGGED, "x_offsets": ENDS, "max_L": 14}
        for name in ("jagged_jagged_bmm", "jagged_jagged_bmm_forward")
    },
    **{
        f"batched_dense_vec_jagged_2d_mul{name}": {"v": (16, 14), "a_values": (100, 6), "a_offsets": ENDS}
        for name in ("", "_forward")
    },
    "batched_dense_vec_jagged_2d_mul_backward": {
        "grad_output": (16, 3), "v": (16, 14), "a_values": (100, 6), "a_offsets": ENDS,
    },
    "jagged_index_select": {"values": RAGGED, "lengths": whole(8), "indices": whole(5)},
    "jagged_1d_to_truncated_values": {"values": (100,), "lengths": whole(8), "max_truncated_length": 9},
    "masked_select_jagged_1d": {"values": (100,), "lengths": whole(8), "mask": TensorSpec((100,), "bool")},
    "jagged_slice": {"x_values": (100,), "x_lengths": whole(8), "start": whole(8), "slice_length": 3},
    "pack_segments": {"t_in": RAGGED, "lengths": whole(8), "max_length": 14},
    "pack_segments_v2": {"t_in": RAGGED, "lengths": whole(8), "max_length": 14},
    "pack_segments_backward": {"data": PADDED, "lengths": whole(8), "total_length": 100, "max_length": 14},
    "permute_1D_sparse_data": {"permute": TensorSpec((8,), "int32"), "lengths": whole(8), "values": whole(100)},
    **{
        name: {"permute": TensorSpec((4,), "int32"), "lengths": whole(4, 8), "values": whole(100)}
        for name in ("permute_2D_sparse_data", "permute_sparse_data")
    },
    "permute_sparse_features": {
        "permute": TensorSpec((4,), "int32"), "lengths": whole(4, 8), "indices": whole(100),
    },
    "permute_sequence_embeddings": {
        "permute": TensorSpec((4,), "int32"), "lengths": whole(4, 8), "embeddings": RAGGED,
    },
    "jagged_index_select_2d_forward": {
        "values": RAGGED, "indices": whole(4), "input_offsets": whole(8), "output_offsets": whole(4),
        "num_dense_output_rows": 48,
    },
    "bucketize_sparse_features": {
        "lengths": whole(8), "indices": whole(100), "bucketize_pos": False, "my_size": 2,
    },
    "block_bucketize_sparse_features": {
        "lengths": whole(8), "indices": whole(100), "bucketize_pos": False, "sequence": False,
        "block_sizes": whole(4), "my_size": 2,
    },
    "expand_into_jagged_permute": {
        "permute": TensorSpec((8,), "int32"), "input_offset": TensorSpec((9,), "int32"),
        "output_offset": TensorSpec((9,), "int32"), "output_size": 100,
    },
    "invert_permute": {"permute": TensorSpec((8,), "int32")},
    "lengths_range": {"t_in": whole(8), "shape": [100]},
    "offsets_range": {"offsets": whole(8), "range_size": 100},
}  # fmt: skip

FBGEMM = tuple(call(f"torch:fbgemm::{name}", **inputs) for name, inputs in _JAGGED.items())

TENSORFLOW = (
    call(
        "tensorflow:tf.raw_ops.DenseCountSparseOutput",
        values=whole(16),
        weights=(0,),
        attributes={"binary_output": False},
    ),
    call("tensorflow:tf.raw_ops.RealDiv", x=SQUARE, y=SQUARE),
    *(
        call(f"tensorflow:tf.raw_ops.{name}", x=whole(8, 8), y=whole(8, 8))
        for name in ("FloorDiv", "FloorMod", "TruncateDiv", "TruncateMod", "LeftShift", "RightShift")
    ),
)

EXAMPLES = (*TORCH, *NUMPY, *MXNET, *JAX, *TENSORFLOW)
