"""Groups of operators by their names."""

from __future__ import annotations

from collections import Counter

import pytest

from opperf.catalog import catalog
from opperf.domain.operator_group import GROUPS, OTHER, group_of

#: Where operators of a category of the catalog belong, all but the few named beside.
CATEGORIES = {
    "elementwise_unary": "elementwise",
    "elementwise_binary": "elementwise",
    "elementwise_ternary": "elementwise",
    "activation": "elementwise",
    "gated": "elementwise",
    "reduction": "reductions",
    "sorting": "sorting",
    "score": "losses",
    "loss": "losses",
    "matmul": "products",
    "convolution": "convolutions",
    "pooling": "pooling",
    "spectral": "spectral",
    "normalization": "normalizations",
    "softmax": "softmax",
    "recurrent": "recurrent",
    "embedding": "indexing",
    "creation": "creation",
    "random": "random",
    "initializer": "random",
    "optimizer": "optimizer",
    "color": "images",
    "sparse": "sparse",
}


def test_operators_of_the_catalog_belong_to_the_group_of_their_category() -> None:
    wrong = {
        name: group_of(name)
        for name, operator in catalog().items()
        if group_of(name) != CATEGORIES.get(operator.category, group_of(name))
    }
    assert wrong == {}


def test_hardly_an_operator_of_the_catalog_is_in_no_group() -> None:
    groups = Counter(map(group_of, catalog()))
    assert groups[OTHER] <= 0.02 * groups.total()
    assert set(groups) <= set(GROUPS)


@pytest.mark.parametrize(
    ("group", "names"),
    [
        ("products", "aten::mm aten::addmm AddmmBackward0 aten::_scaled_mm aten::linear dot_general MatMul"),
        ("products", "FullyConnected mxnet:nd.batch_dot torch:torch.nn.functional.linear BmmBackward0 dot.12"),
        ("convolutions", "aten::convolution_backward ConvolutionBackward0 aten::mkldnn_convolution Conv2D"),
        ("convolutions", "Conv2DBackpropInput conv_general_dilated"),
        ("views", "aten::view aten::t TBackward0 aten::transpose aten::as_strided aten::detach aten::_unsafe_view"),
        ("copies", "aten::copy_ aten::_to_copy aten::clone aten::cat convert_element_type aten::contiguous"),
        (
            "elementwise",
            "aten::add_.Tensor aten::mul MulBackward0 aten::_foreach_add_ aten::silu_backward broadcast_add",
        ),
        ("normalizations", "aten::native_layer_norm NativeLayerNormBackward0 BatchNorm FusedBatchNormV3"),
        ("reductions", "aten::sum.dim_IntList SumBackward1 reduce_sum aten::norm aten::linalg_vector_norm"),
        ("attention", "aten::_scaled_dot_product_flash_attention_for_cpu paged_attention"),
        ("optimizer", "aten::_fused_adamw_ adam_update mp_sgd_mom_update sgd_momentum_update"),
        ("losses", "aten::nll_loss_forward NllLossBackward0 aten::cross_entropy_loss"),
        ("indexing", "aten::index_select aten::embedding_dense_backward EmbeddingBackward0 GatherV2 aten::where.self"),
        ("compiled", "CompiledFxGraph triton_poi_fused_add_0 loop_add_fusion.3"),
        ("communication", "c10d::allreduce_"),
        ("other", "my_library::kernel Net.forward"),
    ],
)
def test_names_of_frameworks_and_of_gradients_belong_to_the_group_of_their_operator(group: str, names: str) -> None:
    assert {name: group_of(name) for name in names.split()} == dict.fromkeys(names.split(), group)
