"""Inputs of MXNet's layers and losses, in the notation of `notation.py`."""

from __future__ import annotations

from collections.abc import Mapping

from opperf.child.backends.naming.notation import Rule

#: What the norms over batches take.
CHANNELS = "data: 4,8,n,n | gamma: 8 | beta: 8 | moving_mean: 8 fixed | moving_var: 8 0..1 fixed"
#: Corners of rectangles.
BOXES = "n,4 0..1"

RULES: Mapping[str, Rule] = {
    # Convolution and what stands beside it ----------------------------------------------------------------------------
    "Convolution": ("data: 2,8,n,n | weight: 16,8,3,3 | bias: 16", {"kernel": (3, 3), "num_filter": 16, "pad": (1, 1)}),
    "Convolution_v1": (
        "data: 2,8,n,n | weight: 16,8,3,3 | bias: 16",
        {"kernel": (3, 3), "num_filter": 16, "pad": (1, 1)},
    ),
    "Pooling_v1": ("data: 4,8,n,n", {"kernel": (2, 2), "pool_type": "max", "stride": (2, 2)}),
    "Deconvolution": ("data: 2,8,n,n | weight: 8,16,3,3", {"kernel": (3, 3), "num_filter": 16, "pad": (1, 1)}),
    "DeformableConvolution": (
        "data: 1,8,n,n | offset: 1,18,n,n | weight: 16,8,3,3 | bias: 16",
        {"kernel": (3, 3), "num_filter": 16, "pad": (1, 1)},
    ),
    "ModulatedDeformableConvolution": (
        "data: 1,8,n,n | offset: 1,18,n,n | mask: 1,9,n,n 0..1 | weight: 16,8,3,3 | bias: 16",
        {"kernel": (3, 3), "num_filter": 16, "pad": (1, 1)},
    ),
    "im2col": ("data: 2,8,n,n", {"kernel": (3, 3), "pad": (1, 1)}),
    "col2im": ("data: 1,72,nn", {"kernel": (3, 3), "pad": (1, 1), "output_size": lambda side: (side, side)}),
    "Correlation": ("data1: 2,4,n,n | data2: 2,4,n,n", {"kernel_size": 1, "max_displacement": 2}),
    "Pooling": ("data: 4,8,n,n", {"kernel": (2, 2), "pool_type": "max", "stride": (2, 2)}),
    "UpSampling": ("data: 2,4,n,n", {"scale": 2, "sample_type": "nearest", "num_args": 1}),
    "AdaptiveAvgPooling2D": ("data: 4,8,n,n", {"output_size": (4, 4)}),
    "BilinearResize2D": ("data: 2,4,n,n", {"height": 16, "width": 16}),
    "BilinearSampler": ("data: 2,4,n,n | grid: 2,2,n,n", {}),
    "GridGenerator": ("data: 8,6", {"transform_type": "affine", "target_shape": lambda side: (side, side)}),
    "SpatialTransformer": (
        "data: 2,4,n,n | loc: 2,6",
        {"transform_type": "affine", "sampler_type": "bilinear", "target_shape": (8, 8)},
    ),
    "Pad": ("data: 2,4,n,n", {"mode": "constant", "pad_width": (0, 0, 0, 0, 1, 1, 1, 1)}),
    "Crop": ("data0: 2,4,n,n", {"num_args": 1, "h_w": (4, 4)}),
    "LRN": ("data: 2,8,n,n", {"nsize": 3}),
    # Regions ----------------------------------------------------------------------------------------------------------
    "ROIPooling": ("data: 1,4,n,n | rois: 8,5 0..1", {"pooled_size": (2, 2), "spatial_scale": 1.0}),
    "ROIAlign": ("data: 1,4,n,n | rois: 8,5 0..1", {"pooled_size": (2, 2), "spatial_scale": 1.0}),
    "RROIAlign": ("data: 1,4,n,n | rois: 8,6 0..1", {"pooled_size": (2, 2), "spatial_scale": 1.0}),
    "PSROIPooling": (
        "data: 1,8,n,n | rois: 8,5 0..1",
        {"spatial_scale": 1.0, "output_dim": 2, "pooled_size": 2, "group_size": 2},
    ),
    "DeformablePSROIPooling": (
        "data: 1,8,n,n | rois: 8,5 0..1 | trans: 8,2,2,2",
        {"spatial_scale": 1.0, "output_dim": 2, "pooled_size": 2, "group_size": 2},
    ),
    "MultiBoxPrior": ("data: 1,4,n,n", {}),
    "MultiBoxDetection": ("cls_prob: 1,4,n 0..1 | loc_pred: 1,4n | anchor: 1,n,4 0..1", {}),
    "MultiBoxTarget": ("anchor: 1,n,4 0..1 | label: 1,4,5 0..1 | cls_pred: 1,4,n 0..1", {}),
    "Proposal": (
        "cls_prob: 1,24,n,n 0..1 | bbox_pred: 1,48,n,n | im_info: 1,3 1..2",
        {"rpn_pre_nms_top_n": 100, "rpn_post_nms_top_n": 10},
    ),
    "MultiProposal": (
        "cls_prob: 1,24,n,n 0..1 | bbox_pred: 1,48,n,n | im_info: 1,3 1..2",
        {"rpn_pre_nms_top_n": 100, "rpn_post_nms_top_n": 10},
    ),
    "box_nms": ("data: n,6 0..1", {}),
    "box_iou": (f"lhs: {BOXES} | rhs: {BOXES}", {}),
    "box_encode": (
        "samples: 1,n 0..2 | matches: 1,n 0..4 | anchors: 1,n,4 0..1 | refs: 1,n,4 0..1 | means: 4 | stds: 4 1..2",
        {},
    ),
    "box_decode": ("data: 1,n,4 | anchors: 1,n,4 0..1", {}),
    "bipartite_matching": ("data: 1,n,n 0..1", {"threshold": 0.1}),
    # Normalization, dropout, embedding, recurrence --------------------------------------------------------------------
    "BatchNorm": (CHANNELS, {}),
    "BatchNormWithReLU": (CHANNELS, {}),
    "SyncBatchNorm": (CHANNELS, {"key": "one"}),
    "BatchNorm_v1": (CHANNELS, {}),
    "GroupNorm": ("data: 4,8,n,n | gamma: 2 | beta: 2", {"num_groups": 2}),
    "InstanceNorm": ("data: 4,8,n,n | gamma: 8 | beta: 8", {}),
    "LayerNorm": ("data: n,n | gamma: n | beta: n", {}),
    "LeakyReLU": ("data: n,n", {"act_type": "leaky"}),
    "FullyConnected": ("data: n,n | weight: 64,n | bias: 64", {"num_hidden": 64}),
    "Embedding": ("data: n int32 0..8 | weight: 64,n", {"input_dim": 64, "output_dim": lambda side: side}),
    "SparseEmbedding": ("data: n 0..8 fixed | weight: 64,n", {"input_dim": 64, "output_dim": lambda side: side}),
    "RNN": (
        "data: n,16,64 | parameters: 33280 | state: 1,16,64 | state_cell: 1,16,64",
        {"state_size": 64, "num_layers": 1, "mode": "lstm"},
    ),
    "rnn_param_concat": ("data0: n | data1: n", {"num_args": 2, "dim": 0}),
    "IdentityAttachKLSparseReg": ("data: n,n 0..1 | moving_avg: n 0.1..0.9 fixed", {}),
    "SequenceLast": ("data: 8,4,n", {}),
    "SequenceMask": ("data: 8,4,n", {}),
    "SequenceReverse": ("data: 8,4,n", {}),
    "softmax": ("data: n,n", {}),
    "SoftmaxActivation": ("data: n,n", {}),
    # Losses -----------------------------------------------------------------------------------------------------------
    "SoftmaxOutput": ("data: n,n | label: n 0..8 fixed", {}),
    "SVMOutput": ("data: n,n | label: n 0..8 fixed", {}),
    "softmax_cross_entropy": ("data: n,n | label: n 0..8 fixed", {}),
    "CTCLoss": ("data: 16,4,n | label: 4,4 1..8 fixed", {}),
    "LinearRegressionOutput": ("data: n,n | label: n,n fixed", {}),
    "LogisticRegressionOutput": ("data: n,n | label: n,n fixed", {}),
    "MAERegressionOutput": ("data: n,n | label: n,n fixed", {}),
    # Attention --------------------------------------------------------------------------------------------------------
    "interleaved_matmul_selfatt_qk": ("queries_keys_values: n,2,192", {"heads": 4}),
    "interleaved_matmul_selfatt_valatt": ("queries_keys_values: n,2,192 | attention: 8,n,n", {"heads": 4}),
    "interleaved_matmul_encdec_qk": ("queries: n,2,64 | keys_values: n,2,128", {"heads": 4}),
    "interleaved_matmul_encdec_valatt": ("keys_values: n,2,128 | attention: 8,n,n", {"heads": 4}),
}
