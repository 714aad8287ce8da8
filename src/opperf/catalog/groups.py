"""Groups of operators by the names that other tools gave them, so that who knows those names finds the operators.

The groups of MXNet's opperf hold MXNet's own operators; those of the operator-benchmark proposal hold neutral ones. A
group whose name is a category of the catalog (`activation`, `pooling`, `loss`, ...) is that category.
"""

from __future__ import annotations

from collections.abc import Iterable

from opperf.catalog import categories
from opperf.domain.errors import unknown

#: The category runners of MXNet's opperf, 1.9.1 and later, without `run_` and `_operators_benchmarks`.
_MXNET = {
    "mx_unary": """
        BlockGrad abs arccos arccosh arcsin arcsinh arctan arctanh argmax_channel cbrt ceil cos cosh degrees erf erfinv
        exp expm1 fix flatten floor gamma gammaln identity log log10 log1p log2 logical_not make_loss negative
        ones_like radians rcbrt reciprocal relu rint round rsqrt shape_array shuffle sigmoid sign sin sinh size_array
        softsign sqrt square stop_gradient tan tanh trunc zeros_like amp_cast cast amp_multicast
    """,
    "mx_binary_broadcast": """
        broadcast_add broadcast_div broadcast_equal broadcast_greater broadcast_greater_equal broadcast_hypot
        broadcast_lesser broadcast_lesser_equal broadcast_logical_and broadcast_logical_or broadcast_logical_xor
        broadcast_maximum broadcast_minimum broadcast_minus broadcast_mod broadcast_mul broadcast_not_equal
        broadcast_plus broadcast_power broadcast_sub
    """,
    "mx_binary_element_wise": "ElementWiseSum elemwise_add elemwise_div elemwise_mul elemwise_sub",
    "mx_binary_misc": "choose_element_0index reshape_like",
    "gemm": "dot batch_dot khatri_rao",
    "mx_random_sampling": """
        BilinearSampler GridGenerator random_exponential random_gamma random_generalized_negative_binomial random_normal
        random_poisson random_negative_binomial random_pdf_dirichlet random_pdf_exponential random_pdf_poisson
        random_pdf_gamma random_pdf_generalized_negative_binomial random_pdf_negative_binomial random_pdf_normal
        random_pdf_uniform random_randint random_uniform sample_exponential sample_poisson sample_gamma
        sample_generalized_negative_binomial sample_multinomial sample_negative_binomial sample_normal sample_uniform
    """,
    "mx_reduction": "max max_axis mean min min_axis nanprod nansum norm prod sum sum_axis",
    "sorting_searching": "argmax argmin sort argsort topk",
    "rearrange": "depth_to_space space_to_depth flip swapaxes transpose",
    "indexing_routines": "gather_nd one_hot pick ravel_multi_index slice slice_axis slice_like take where",
    "nn_basic": """
        BatchNorm Correlation Dropout Embedding FullyConnected GroupNorm InstanceNorm L2Normalization LRN LayerNorm
        LinearRegressionOutput LogisticRegressionOutput MAERegressionOutput RNN SVMOutput SoftmaxOutput
        SpatialTransformer col2im im2col
    """,
    "nn_activation": "Activation LeakyReLU Softmax SoftmaxActivation hard_sigmoid log_softmax softmax softmin",
    "mx_optimizer": """
        adam_update ftml_update ftrl_update lamb_update_phase1 lamb_update_phase2 mp_nag_mom_update mp_sgd_mom_update
        mp_sgd_update nag_mom_update signum_update rmsprop_update rmspropalex_update sgd_mom_update sgd_update
        signsgd_update multi_mp_sgd_mom_update multi_sgd_mom_update multi_sgd_update multi_mp_sgd_update
        preloaded_multi_mp_sgd_update preloaded_multi_sgd_mom_update preloaded_multi_sgd_update
        preloaded_multi_mp_sgd_mom_update
    """,
    "transpose_convolution": "Deconvolution",
    "mx_loss": "CTCLoss ctc_loss MakeLoss smooth_l1 softmax_cross_entropy",
    "mx_misc": """
        SequenceLast SequenceMask SequenceReverse all_finite cast_storage clip cumsum fill_element_0index multi_lars
        squeeze reset_arrays multi_all_finite multi_sum_sq add_n UpSampling
    """,
    "mx_linalg": """
        linalg_det linalg_extractdiag linalg_extracttrian linalg_gelqf linalg_inverse linalg_makediag linalg_potri
        linalg_slogdet linalg_sumlogdiag linalg_syrk linalg_gemm linalg_gemm2 linalg_maketrian linalg_trmm linalg_trsm
        linalg_potrf moments
    """,
    "mx_pooling": "Pooling ROIPooling",
    "mx_convolution": "Convolution",
    "expanding": "broadcast_axes broadcast_axis broadcast_like broadcast_to repeat tile expand_dims pad",
    "rounding": "ceil fix floor rint round trunc",
    "mx_shape": "split diag reshape reshape_like size_array shape_array squeeze",
    "mx_join_split": "concat split stack",
}

#: The groups of the operator-benchmark proposal and of dl-operator-benchmark.
_PROPOSAL = {
    "tensor_conversion": "copy copy_to to_device to_numpy item cast",
    "tensor_creation": "zeros ones full zeros_like ones_like full_like arange linspace eye",
    "shape_change": """
        transpose swap_axes reshape flatten expand_dims squeeze flip tile repeat pad broadcast_to split diagonal
        shape_array size_array
    """,
    "view": "swap_axes flip pixel_shuffle reshape transpose depth_to_space space_to_depth",
    "sort_and_search": "sort argsort topk argmax argmin",
    "arithmetic": "add subtract multiply divide remainder power negative",
    "inplace_arithmetic": "add_inplace subtract_inplace multiply_inplace divide_inplace remainder_inplace",
    "comparison": "equal not_equal greater greater_equal less less_equal",
    "logical": "logical_and logical_or logical_xor logical_not",
    "logical_comparison": "equal not_equal greater greater_equal less less_equal logical_and logical_or logical_xor",
    "exponential_and_log": "exp expm1 log log10 log2 log1p",
    "powers": "power sqrt square rsqrt cbrt rcbrt reciprocal",
    "trigonometric": """
        sin cos tan arcsin arccos arctan degrees radians sinh cosh tanh arcsinh arccosh arctanh
    """,
    "random_sampling": """
        random_uniform random_normal random_integers random_bernoulli random_poisson random_exponential random_gamma
        random_negative_binomial random_categorical shuffle
    """,
    "others": "clip where abs",
    "gluon_nn_basic": "linear embedding dropout batch_norm instance_norm layer_norm",
    "gluon_nn_convolution": "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d",
    "gluon_nn_pooling": """
        max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d global_max_pool1d global_max_pool2d
        global_max_pool3d global_avg_pool1d global_avg_pool2d global_avg_pool3d
    """,
    "gluon_nn_activation": "leaky_relu prelu sigmoid softmax log_softmax elu selu silu",
    "gluon_normalization": "batch_norm instance_norm layer_norm group_norm",
    "gluon_recurrent": "rnn_tanh_cell lstm_cell gru_cell rnn lstm gru bidirectional_lstm",
    "gluon_nn_loss": """
        l1_loss mse_loss binary_cross_entropy_with_logits cross_entropy kl_div huber_loss hinge_loss squared_hinge_loss
        logistic_loss triplet_margin_loss ctc_loss cosine_embedding_loss poisson_nll_loss
    """,
    "fused_operators": """
        conv_relu conv_batch_norm conv_batch_norm_relu linear_relu linear_gelu matmul_bias_activation add_layer_norm
    """,
    "sparse_operators": """
        to_csr csr_to_dense csr_matmul csr_matmul_transposed csr_add csr_multiply csr_square row_sparse_to_dense
        row_sparse_add row_sparse_retain row_sparse_matmul
    """,
    "image_operators": """
        image_to_tensor image_normalize image_flip_left_right image_flip_top_bottom image_crop image_resize_bilinear
        image_resize_nearest image_to_gray image_adjust_brightness image_adjust_contrast image_adjust_saturation
        image_adjust_hue image_color_jitter
    """,
    "data_transforms": """
        cast image_to_tensor image_normalize image_resize_bilinear image_crop image_flip_left_right
        image_flip_top_bottom image_color_jitter
    """,
    "metrics": """
        accuracy top_k_accuracy f1_score mean_absolute_error mean_squared_error root_mean_squared_error
        negative_log_likelihood perplexity pearson_correlation
    """,
    "initializers": """
        zeros ones full random_uniform random_normal xavier_uniform xavier_normal kaiming_uniform kaiming_normal
        truncated_normal orthogonal
    """,
}

#: Members of each group, as they are named on the command line.
GROUPS = {
    **{name: tuple(f"mxnet:nd.{member}" for member in members.split()) for name, members in _MXNET.items()},
    **{name: tuple(members.split()) for name, members in _PROPOSAL.items()},
}


def check_categories(names: Iterable[str]) -> None:
    """Raise `InputError` for a name that is neither a category of the catalog nor a group."""
    for name in names:
        if name not in (*categories(), *GROUPS):
            hint = f"known: {', '.join(dict.fromkeys([*categories(), *GROUPS]))}"
            raise unknown("category", name, [*categories(), *GROUPS], hint=hint)
