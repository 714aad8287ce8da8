"""Where operators are defined: the one table that every source of inputs asks, row by row an argument and its domain.

Sources know names, shapes and element types; of values they know little: a trace has none, a command line names none.
`valid_values.py` gives each argument values that its operator is defined for, where the case leaves them open. Rows go
by the base name of an operator, which all spellings share: `sqrt` is also `torch:aten::_foreach_sqrt_`,
`mxnet:nd.sqrt` and `onnxruntime:Sqrt`. The places are those of the signatures of PyTorch's operators, of MXNet's where
only that has them.
"""

from __future__ import annotations

from opperf.catalog.domain import (  # fmt: skip
    ABOVE_ZERO,
    BINARY,
    FAR_FROM_ZERO,
    INFINITE,
    POSITIVE,
    Always,
    Base,
    Below,
    Between,
    Constant,
    Definite,
    Domain,
    Edges,
    Full,
    IndexList,
    Lengths,
    Levels,
    Order,
    Parts,
    PartsOrFull,
    Rising,
    Whole,
)
from opperf.catalog.extent import (
    At,
    Bits,
    Classes,
    Either,
    Elements,
    Entry,
    Leading,
    Least,
    Number,
    Product,
    Size,
    Times,
)
from opperf.domain.dataclass import dataclass


@dataclass(frozen=True)
class Row:
    """One argument of some operators, by base name, and what it may hold."""

    operators: tuple[str, ...]
    argument: At
    domain: Domain | IndexList | Levels

    @property
    def label(self) -> str:
        """Name the row: its first operator, and the argument."""
        name = self.argument.names[0] if self.argument.names else str(self.argument.place)
        return f"{self.operators[0]}:{name}"


def _row(operators: str, argument: At, domain: Domain | IndexList | Levels) -> Row:
    return Row(tuple(operators.split()), argument, domain)


FIRST, SECOND, THIRD = At(0), At(1), At(2)
WITHIN_ONE = Between((-0.9, 0.9), (-1.0, 1.0), BINARY)
SHARE = Between((0.1, 0.9), (0.0, 1.0), BINARY)
GAMMA = Between((0.5, 5.0), (0.0, INFINITE), (1.0, 100.0))
SPREAD = Between((0.5, 1.5), (0.0, INFINITE), POSITIVE)
#: Exponents of whole numbers, whose powers a double holds.
EXPONENT = Whole((0.0, 10.0))
STEPS = Between((1.0, 10.0), (1.0, INFINITE), (1.0, 10.0))
#: Weights of embeddings, indices into them, and where bags begin.
WEIGHT, INDICES, OFFSETS = At(0, ("weight",)), At(1, ("indices",)), At(2, ("offsets",))
COUNT = At(2, ("num_weights",))
SELF, DIM = At(0, ("self", "input", "data", "operand0")), At(1, ("dim", "axis"))
AXIS = At(None, ("axis", "dim"))

FRACTIONS = (
    _row("sqrt rsqrt log log2 log10 rcbrt cbrt entr", FIRST, ABOVE_ZERO),
    _row("log1p", FIRST, Between((-0.5, 1.0), (-1.0, INFINITE), POSITIVE)),
    _row("exp exp2 expm1 sinh cosh softplus", FIRST, Whole((-10.0, 10.0))),
    _row(
        "asin acos atanh arcsin arccos arctanh erfinv erf_inv", FIRST, WITHIN_ONE
    ),
    _row("acosh arccosh", FIRST, Between((1.1, 3.0), (1.0, INFINITE), POSITIVE)),
    _row("logit ndtri", FIRST, SHARE),
    _row("erfcinv", FIRST, Between((0.1, 1.9), (0.0, 2.0), BINARY)),
    _row("lgamma gammaln digamma psi gamma loggamma", FIRST, GAMMA),
    _row("mvlgamma multigammaln", FIRST, Between((20.0, 30.0), (20.0, INFINITE), (20.0, 100.0))),
    _row(
        "bessel_y0 bessel_y1 modified_bessel_k0 modified_bessel_k1 scaled_modified_bessel_k0 scaled_modified_bessel_k1",
        FIRST, ABOVE_ZERO,
    ),
    _row("igamma igammac gammainc gammaincc random_gamma_grad betaln", FIRST, ABOVE_ZERO),
    _row("igamma igammac gammainc gammaincc random_gamma_grad betaln", SECOND, ABOVE_ZERO),
    _row("betainc regularized_incomplete_beta", FIRST, ABOVE_ZERO),
    _row("betainc regularized_incomplete_beta", SECOND, ABOVE_ZERO),
    _row("betainc regularized_incomplete_beta", THIRD, SHARE),
    _row(
        "chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w "
        "hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p "
        "shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v "
        "shifted_chebyshev_polynomial_w",
        SECOND, EXPONENT,
    ),
    _row("polygamma", FIRST, Always(1.0)),
    _row("polygamma", SECOND, GAMMA),
    _row("zeta", FIRST, Between((1.5, 3.0), (1.0, INFINITE), (2.0, 10.0))),
    _row("zeta", SECOND, ABOVE_ZERO),
    _row("xlogy", SECOND, ABOVE_ZERO),
    _row("xlog1py", SECOND, Between((-0.5, 1.0), (-1.0, INFINITE), POSITIVE)),
    _row(
        "pow power float_power power_scalar", FIRST,
        Base(At(1, ("exponent", "scalar", "operand1", "rhs", "x2")), ABOVE_ZERO),
    ),
    _row("pow power float_power ldexp", At(1, ("exponent", "operand1", "rhs", "x2", "other")), EXPONENT),
    _row(
        "left_shift right_shift shift_left shift_right_logical shift_right_arithmetic bitwise_left_shift "
        "bitwise_right_shift lshift rshift leftshift rightshift",
        SECOND, Below(Bits(FIRST)),
    ),
    _row(
        "div divide true_divide floor_divide remainder fmod mod rem divmod realdiv floordiv floormod truncatediv "
        "truncatemod",
        SECOND,
        FAR_FROM_ZERO,
    ),
    _row("addcdiv", THIRD, FAR_FROM_ZERO),
    _row("reciprocal rdiv_scalar rmod_scalar", FIRST, FAR_FROM_ZERO),
)  # fmt: skip

#: Weights, whose sum a small type holds: MXNet divides whole ones by it.
WEIGHTS = Between((0.1, 1.0), (0.0, 1000.0), (1.0, 10.0))
DRAWS = (
    _row("multinomial sample_multinomial random_categorical", FIRST, WEIGHTS),
    _row("bernoulli", FIRST, SHARE),
    _row("bernoulli", At(None, ("p",)), SHARE),
    _row("poisson standard_gamma sample_dirichlet random_gamma sample_gamma sample_poisson", FIRST, ABOVE_ZERO),
    _row("sample_exponential", FIRST, ABOVE_ZERO),
    _row("sample_gamma random_gamma", SECOND, ABOVE_ZERO),
    _row("normal sample_normal", At(1, ("std", "sigma")), ABOVE_ZERO),
    _row("binomial", FIRST, STEPS),
    _row("binomial", SECOND, SHARE),
    _row("sample_negative_binomial", FIRST, STEPS),
    _row("sample_negative_binomial", SECOND, SHARE),
    _row("dirichlet_grad", FIRST, SHARE),
    _row("dirichlet_grad", SECOND, ABOVE_ZERO),
    _row("dirichlet_grad", THIRD, Between((2.0, 4.0), (0.0, INFINITE))),
)

TARGETS = At(1, ("targets", "labels"))
LOSSES = (
    _row("binary_cross_entropy bceloss", FIRST, SHARE),
    _row("binary_cross_entropy bceloss", SECOND, SHARE),
    _row("binary_cross_entropy_backward", SECOND, SHARE),
    _row("binary_cross_entropy_backward", THIRD, SHARE),
    _row("multilabel_margin_loss_backward", At(4, ("is_target",)), SHARE),
    _row("logit_backward", SECOND, SHARE),
    _row("kl_div kldivloss", SECOND, SHARE),
    _row("gaussian_nll_loss", At(2, ("variance", "var")), SPREAD),
    _row("log_sigmoid_backward", THIRD, SHARE),
    _row("nll_loss_backward nll_loss2d_backward", At(6, ("total_weight",)), ABOVE_ZERO),
    _row(
        "nll_loss nll_loss_nd nll_loss_forward nll_loss2d nll_loss2d_forward cross_entropy_loss cross_entropy "
        "multi_margin_loss multilabel_margin_loss multilabel_margin_loss_forward negative_log_likelihood perplexity "
        "accuracy top_k_accuracy",
        At(1, ("target", "labels")), Below(Classes(SELF)),
    ),
    _row(
        "nll_loss_backward nll_loss2d_backward multi_margin_loss_backward multilabel_margin_loss_backward",
        At(2, ("target",)), Below(Classes(At(1, ("self", "input")))),
    ),
    _row(
        "softmaxoutput softmax_cross_entropy softmax_output svmoutput", At(1, ("label",)),
        Below(Size(SELF, -1), floating=True),
    ),
    _row("ctc_loss", TARGETS, Below(Size(SELF, 2), low=1)),
    _row("ctc_loss", At(2, ("input_lengths",)), Full(Size(SELF, 0))),
    _row("ctc_loss", At(3, ("target_lengths",)), PartsOrFull(TARGETS)),
    _row("ctc_loss_backward", At(2, ("targets",)), Below(Size(At(1, ("log_probs",)), 2), low=1)),
    _row("ctc_loss_backward", At(3, ("input_lengths",)), Full(Size(At(1, ("log_probs",)), 0))),
    _row("ctc_loss_backward", At(4, ("target_lengths",)), PartsOrFull(At(2, ("targets",)))),
)  # fmt: skip

STATE = (
    _row(
        "batch_norm native_batch_norm native_batch_norm_legit native_batch_norm_legit_no_training cudnn_batch_norm "
        "miopen_batch_norm batch_norm_impl_index batch_norm_with_update native_batch_norm_backward batchnorm "
        "batchnormalization batch_norm_elemt conv_batch_norm conv_batch_norm_relu",
        At(4, ("running_var", "moving_var", "var")), SPREAD,
    ),
    _row("functional.batch_norm batch_norm_update_stats", At(2, ("running_var",)), SPREAD),
    _row("native_batch_norm_backward batch_norm_backward", At(6, ("save_invstd",)), SPREAD),
    _row("fused_adam fused_adamw adam_update adamw_update", At(3, ("exp_avg_sqs", "var")), SPREAD),
    _row("ftml_update", At(2, ("d",)), SPREAD),
    _row("ftrl_update lamb_update_phase1 ftml_update", At(3, ("n", "var", "v")), SPREAD),
    _row("fused_adam fused_adamw", At(4, ("max_exp_avg_sqs",)), SPREAD),
    _row("fused_adam fused_adamw fused_adagrad", At(None, ("state_steps",)), STEPS),
    _row("fused_adam fused_adamw fused_adagrad fused_sgd", At(None, ("found_inf",)), Always(0.0)),
    _row("fused_adam fused_adamw fused_adagrad fused_sgd", At(None, ("grad_scale",)), Always(1.0)),
    _row("fused_adagrad rmsprop_update", At(2, ("state_sums", "n")), SPREAD),
    _row("rmspropalex_update", At(2, ("n",)), Between((1.0, 2.0), (1.0, INFINITE))),
)  # fmt: skip

MATRICES = (
    _row(
        "cholesky cholesky_ex potrf potri logdet sumlogdiag cholesky_inverse solve_triangular trsm matrix_sqrt",
        FIRST, Definite(),
    ),
    _row("triangular_solve", At(None, ("A", "a", "operand0")), Definite()),
    _row("cholesky_solve", SECOND, Definite()),
    _row("lu_solve", At(0, ("LU",)), Definite()),
    _row("lu_solve", At(1, ("pivots",)), Below(Size(SECOND, -1), low=1)),
    _row("ldl_solve", At(1, ("pivots",)), Below(Size(FIRST, -1), low=1)),
    _row("lu_unpack", At(1, ("LU_pivots",)), Below(Size(FIRST, -1), low=1)),
)  # fmt: skip

INDEXED = (
    _row("embedding embedding_bag embedding_renorm", INDICES, Below(Size(WEIGHT))),
    _row(
        "functional.embedding functional.embedding_bag", At(0, ("input",)), Below(Size(At(1, ("weight",)))),
    ),
    _row("embedding", At(None, ("data",)), Below(Size(At(1, ("weight",))), floating=True)),
    _row("embedding_bag_sum embedding_bag_mean", At(0, ("indices",)), Below(Size(At(1, ("weight",))))),
    _row("embedding_bag", OFFSETS, Rising(Elements(INDICES))),
    _row("functional.embedding_bag", At(2, ("offsets",)), Rising(Elements(At(0, ("input",))))),
    _row("embedding_backward embedding_dense_backward embedding_sparse_backward", INDICES, Below(Number(COUNT))),
    _row(
        "embedding_bag_backward embedding_bag_dense_backward embedding_bag_sparse_backward", INDICES,
        Below(Number(At(None, ("num_weights",)))),
    ),
    _row("embedding_bag_per_sample_weights_backward", At(2, ("indices",)), Below(Size(At(1, ("weight",))))),
    _row("embedding_bag_per_sample_weights_backward", At(3, ("offsets",)), Rising(Elements(At(2, ("indices",))))),
    _row("embedding_bag_per_sample_weights_backward", At(4, ("offset2bag",)), Rising(Size(FIRST))),
    _row("embedding_bag_backward embedding_bag_sparse_backward", OFFSETS, Rising(Elements(INDICES))),
    _row(
        "embedding_bag_backward embedding_bag_dense_backward embedding_bag_sparse_backward",
        At(None, ("offset2bag",)), Rising(Size(FIRST)),
    ),
    _row(
        "embedding_bag_backward embedding_bag_dense_backward embedding_bag_sparse_backward",
        At(None, ("bag_size",)), STEPS,
    ),
    _row(
        "embedding_bag_backward embedding_bag_dense_backward", At(None, ("maximum_indices",)),
        Below(Number(At(None, ("num_weights",)))),
    ),
    _row(
        "gather scatter scatter_add scatter_reduce index_select index_add index_copy index_fill index_reduce "
        "take_along_dim take_along_axis scatter_reduce_amax gather_backward",
        At(2, ("index", "indices")), Below(Size(SELF, DIM)),
    ),
    _row(
        "value_selecting_reduction_backward", At(2, ("indices",)),
        Below(Entry(At(3, ("sizes",)), At(1, ("dim",)))),
    ),
    _row(
        "index_select_backward", At(3, ("index",)), Below(Entry(At(1, ("self_sizes",)), At(2, ("dim",)))),
    ),
    _row("cummaxmin_backward", At(2, ("indices",)), Below(Size(SECOND, At(3, ("dim",))))),
    _row("take put", At(1, ("index",)), Below(Elements(SELF), negative=True)),
    _row("take", At(None, ("indices",)), Below(Size(At(0, ("a", "data", "input")), AXIS, otherwise=0), floating=True)),
    _row("pick", At(1, ("index", "indices")), Below(Size(SELF, AXIS, otherwise=-1), floating=True)),
    _row("batch_take", At(1, ("indices",)), Below(Size(FIRST, 1))),
    _row("index index_put index_put_impl unsafe_index unsafe_index_put", At(1, ("indices",)), IndexList(FIRST)),
    _row("gather_nd", At(1, ("indices",)), Below(Least(SELF), floating=True)),
    _row("scatter_nd", At(1, ("indices",)), Below(Least(At(None, ("shape",))), floating=True)),
    _row("unravel_index", FIRST, Below(Product(At(1, ("shape",))))),
    _row("one_hot", FIRST, Below(Either((Number(At(1, ("num_classes", "depth"))), Constant(16))))),
    _row(
        "bincount densecountsparseoutput", FIRST,
        Below(Either((Number(At(None, ("count", "minlength"))), Elements(FIRST)))),
    ),
    _row("moe_scatter", SECOND, Below(Number(At(None, ("count",))))),
    _row("segment_sum segment_mean segment_max", At(1, ("segments",)), Below(Number(At(None, ("count",))))),
    _row("max_unpool2d max_unpool3d", At(1, ("indices",)), Below(Product(At(2, ("output_size",))))),
    _row("max_pool2d_with_indices_backward", At(7, ("indices",)), Below(Elements(SECOND, last=2))),
    _row("adaptive_max_pool2d_backward", At(2, ("indices",)), Below(Elements(SECOND, last=2))),
    _row("fractional_max_pool2d_backward", At(4, ("indices",)), Below(Elements(SECOND, last=2))),
    _row("max_pool3d_with_indices_backward", At(7, ("indices",)), Below(Elements(SECOND, last=3))),
    _row("adaptive_max_pool3d_backward", At(2, ("indices",)), Below(Elements(SECOND, last=3))),
    _row("fractional_max_pool3d_backward", At(4, ("indices",)), Below(Elements(SECOND, last=3))),
    _row("roi_align roi_pool ps_roi_align ps_roi_pool roipooling roialign", SECOND, Between((0.0, 1.0), (0.0, 1.0))),
)  # fmt: skip

LENGTHS = (
    _row(
        "sequencemask sequencelast sequencereverse", At(1, ("sequence_length",)),
        Below(Size(FIRST, 0), low=1, floating=True),
    ),
    _row("pack_padded_sequence", At(1, ("lengths",)), Rising(Size(FIRST, 0), falling=True, low=1)),
    _row(
        "pad_packed_sequence pack_padded_sequence_backward lstm gru rnn_tanh rnn_relu", At(None, ("batch_sizes",)),
        Parts(Size(FIRST)),
    ),
    _row("segment_reduce", At(None, ("lengths",)), Parts(Size(FIRST, AXIS))),
    _row("repeat_interleave", At(None, ("repeats",)), Parts(Number(At(None, ("output_size",))))),
    _row("repeat_interleave", At(None, ("repeats",)), Whole((1.0, 4.0))),
    _row("searchsorted", At(None, ("sorted_sequence", "a")), Rising()),
    _row("bucketize digitize histogram interp", SECOND, Rising()),
)  # fmt: skip

#: Rows of several lengths one after the other, as FBGEMM and PyTorch have them, what says where each ends, and how many
#: there are in all.
ROWS_OF = At(0, ("values", "x_values", "t_in", "embeddings"))
PIECES, EDGES = At(None, ("lengths", "x_lengths")), At(None, ("offsets", "x_offsets"))
TOTAL = At(None, ("total_L",))

JAGGED = (
    _row(
        "jagged_to_padded_dense jagged_to_padded_dense_forward jagged_dense_elementwise_add "
        "jagged_dense_elementwise_add_jagged_output jagged_dense_elementwise_mul jagged_dense_elementwise_mul_forward "
        "jagged_dense_dense_elementwise_add_jagged_output jagged_dense_dense_elementwise_add_jagged_output_forward",
        EDGES, Levels(EDGES, Size(ROWS_OF)),
    ),
    _row("jagged_dense_elementwise_mul_backward", EDGES, Levels(EDGES, Size(At(None, ("x_values",))))),
    _row("jagged_to_padded_dense_backward", EDGES, Levels(EDGES, Number(TOTAL))),
    _row(
        "dense_to_jagged dense_to_jagged_forward padded_dense_to_jagged_forward", EDGES,
        Levels(EDGES, Either((Number(TOTAL), Leading(FIRST)))),
    ),
    _row(
        "jagged_1d_to_dense jagged_2d_to_dense jagged_softmax jagged_softmax_forward jagged_dense_bmm "
        "jagged_dense_bmm_forward jagged_jagged_bmm jagged_jagged_bmm_forward",
        EDGES, Edges(Size(ROWS_OF)),
    ),
    _row("jagged_softmax_backward", EDGES, Edges(Size(FIRST))),
    _row(
        "batched_dense_vec_jagged_2d_mul batched_dense_vec_jagged_2d_mul_forward "
        "batched_dense_vec_jagged_2d_mul_backward",
        At(None, ("a_offsets",)), Edges(Size(At(None, ("a_values",)))),
    ),
    _row(
        "jagged_index_select jagged_1d_to_truncated_values masked_select_jagged_1d jagged_slice pack_segments "
        "pack_segments_v2 permute_1d_sparse_data permute_2d_sparse_data permute_sparse_data "
        "permute_sequence_embeddings",
        PIECES, Lengths(Size(ROWS_OF)),
    ),
    _row("jagged_slice", At(None, ("start",)), Below(Constant(1))),
    _row("jagged_index_select", INDICES, Below(Size(PIECES))),
    _row("jagged_index_select_2d_forward", At(None, ("input_offsets",)), Edges(Size(FIRST), ends=True)),
    _row("jagged_index_select_2d_forward", INDICES, Below(Size(At(None, ("input_offsets",))))),
    _row(
        "jagged_index_select_2d_forward", At(None, ("output_offsets",)),
        Edges(Number(At(None, ("num_dense_output_rows",))), ends=True),
    ),
    _row("pack_segments_backward", PIECES, Lengths(Number(At(None, ("total_length",))))),
    _row(
        "permute_sparse_features bucketize_sparse_features block_bucketize_sparse_features", PIECES,
        Lengths(Size(At(None, ("indices",)))),
    ),
    _row("block_bucketize_sparse_features", At(None, ("block_sizes",)), STEPS),
    _row(
        "permute_1d_sparse_data permute_2d_sparse_data permute_sparse_data permute_sequence_embeddings "
        "permute_sparse_features",
        At(None, ("permute",)), Order(Size(PIECES)),
    ),
    _row("expand_into_jagged_permute invert_permute", At(None, ("permute",)), Order(Size(FIRST))),
    _row("expand_into_jagged_permute", At(None, ("input_offset",)), Edges(Number(At(None, ("output_size",))))),
    _row("expand_into_jagged_permute", At(None, ("output_offset",)), Edges(Number(At(None, ("output_size",))))),
    _row("lengths_range", FIRST, Lengths(Product(At(None, ("shape",))))),
    _row("offsets_range", At(None, ("offsets",)), Rising(Number(At(None, ("range_size",))))),
)  # fmt: skip

#: What serving needs: pages of a cache, tokens of a vocabulary, draws, and states that decay.
PAGES, KEYS = At(3, ("page_table",)), At(1, ("key_cache",))

SERVING = (
    _row("paged_attention", PAGES, Below(Size(KEYS))),
    _row("paged_attention", At(4, ("lengths",)), Below(Times((Size(PAGES, 1), Size(KEYS, 1))), low=1)),
    _row("repetition_penalty", At(1, ("tokens",)), Below(Size(FIRST, -1))),
    _row("top_p_sampling", At(1, ("draws",)), Between((0.0, 1.0), (0.0, 1.0))),
    _row("linear_cross_entropy", At(2, ("labels", "target")), Below(Size(SECOND))),
    _row("selective_scan selective_state_update", At(None, ("step",)), Between((0.05, 0.5), (0.0, INFINITE))),
    _row("selective_scan selective_state_update", At(None, ("decay",)), Between((-1.0, -0.1), (-INFINITE, 0.0))),
)

#: Every row: an operator may have several, one for each of its arguments that not every value does for.
ROWS = (*FRACTIONS, *DRAWS, *LOSSES, *STATE, *MATRICES, *INDEXED, *LENGTHS, *JAGGED, *SERVING)
