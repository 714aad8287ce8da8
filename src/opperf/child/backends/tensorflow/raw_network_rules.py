"""What TensorFlow's registered operators of networks and images are given; each needs more than its names say."""

from __future__ import annotations

from collections.abc import Mapping

from opperf.child.backends.naming.notation import Rule, alike


def maps(side: int) -> tuple[int, ...]:
    """Return the shape of four maps of an image, of twice the side."""
    return (1, 2 * side, 2 * side, 4)


IMAGES = "images: 2,n,n,3 | size = (16, 16)"
STRIDE = {"strides": (1, 1, 1, 1), "padding": "VALID"}
SAME = {"strides": (1, 1, 1, 1), "padding": "SAME"}
DILATION = {**SAME, "rates": (1, 1, 1, 1)}
WHOLE = {"strides": (1, 1, 1, 1, 1), "padding": "VALID"}
SAME_WHOLE = {**WHOLE, "padding": "SAME"}
POOL = {"ksize": (1, 2, 2, 1), "strides": (1, 2, 2, 1), "padding": "VALID"}
POOL_3D = {"ksize": (1, 2, 2, 2, 1), "strides": (1, 2, 2, 2, 1), "padding": "VALID"}
#: Windows of half the height and width, that do not overlap, of several rows and columns each.
PLACES = {"row_pooling_sequence": (0, 2, 4, 6, 8), "col_pooling_sequence": (0, 2, 4, 6, 8)}
#: A cell of four gates: what it is given, and what it keeps for its gradient.
CELL = "x: 4,n | cs_prev: 4,n | h_prev: 4,n | w: 2n,4n | wci: n | wcf: n | wco: n | b: 4n"
GATES = "i: 4,n | cs: 4,n | f: 4,n | o: 4,n | ci: 4,n | co: 4,n"
LAYER = "seq_len_max = 4 | x: 4,4,n | cs_prev: 4,n | h_prev: 4,n | w: 2n,4n | wci: n | wcf: n | wco: n | b: 4n"
GATES_OF_ALL = "i: 4,4,n | cs: 4,4,n | f: 4,4,n | o: 4,4,n | ci: 4,4,n | co: 4,4,n | h: 4,4,n"
GRU = "x: 4,n | h_prev: 4,n | w_ru: 2n,2n | w_c: 2n,n | b_ru: 2n | b_c: n"
BOXES = "boxes: n,4 0..1 | scores: n 0..1 | max_output_size = 4"
#: Convolutions and pooling, normalization, recurrent cells, and images.
NETWORKS: Mapping[str, Rule] = {
    # Convolutions -----------------------------------------------------------------------------------------------------
    "Conv": ("input: 1,n,n,4 | filter: 3,3,4,8", STRIDE),
    "Conv2D": ("input: 1,n,n,4 | filter: 3,3,4,8", STRIDE),
    "Conv2DBackpropFilter": ("input: 1,n,n,4 | filter_sizes = (3, 3, 4, 8) | out_backprop: 1,n,n,8", SAME),
    "Conv2DBackpropInput": (
        "filter: 3,3,4,8 | out_backprop: 1,2n,2n,8",
        {**SAME, "input_sizes": maps},
    ),
    "Conv3D": ("input: 1,8,8,8,4 | filter: 3,3,3,4,8", WHOLE),
    "Conv3DBackpropFilterV2": (
        "input: 1,8,8,8,4 | filter_sizes = (3, 3, 3, 4, 8) | out_backprop: 1,8,8,8,8",
        SAME_WHOLE,
    ),
    "Conv3DBackpropInputV2": (
        "input_sizes = (1, 8, 8, 8, 4) | filter: 3,3,3,4,8 | out_backprop: 1,8,8,8,8",
        SAME_WHOLE,
    ),
    "DepthwiseConv2dNative": ("input: 1,n,n,4 | filter: 3,3,4,1", STRIDE),
    "DepthwiseConv2dNativeBackpropFilter": (
        "input: 1,n,n,4 | filter_sizes = (3, 3, 4, 1) | out_backprop: 1,n,n,4",
        SAME,
    ),
    "DepthwiseConv2dNativeBackpropInput": (
        "filter: 3,3,4,1 | out_backprop: 1,2n,2n,4",
        {**SAME, "input_sizes": maps},
    ),
    "Dilation2D": ("input: 1,n,n,4 | filter: 3,3,4", DILATION),
    **alike(
        "input: 1,n,n,4 | filter: 3,3,4 | out_backprop: 1,n,n,4",
        DILATION,
        "Dilation2DBackpropFilter",
        "Dilation2DBackpropInput",
    ),
    "FusedPadConv2D": (
        "input: 1,n,n,4 | paddings = ((0, 0), (1, 1), (1, 1), (0, 0)) | filter: 3,3,4,8",
        {**STRIDE, "mode": "REFLECT"},
    ),
    "FusedResizeAndPadConv2D": (
        "input: 1,n,n,4 | size = (16, 16) | paddings = ((0, 0), (1, 1), (1, 1), (0, 0)) | filter: 3,3,4,8",
        {**STRIDE, "mode": "REFLECT"},
    ),
    # Pooling ----------------------------------------------------------------------------------------------------------
    "AvgPool": ("value: 1,n,n,4", POOL),
    **alike("input: 1,n,n,4", POOL, "MaxPool", "MaxPoolWithArgmax"),
    **alike("input: 1,8,8,8,4", POOL_3D, "AvgPool3D", "MaxPool3D"),
    "AvgPoolGrad": ("grad: 1,n,n,4", {**POOL, "orig_input_shape": maps}),
    "AvgPool3DGrad": ("orig_input_shape = (1, 8, 8, 8, 4) | grad: 1,4,4,4,4", POOL_3D),
    "MaxPoolV2": ("input: 1,n,n,4 | ksize = (1, 2, 2, 1) | strides = (1, 2, 2, 1)", {"padding": "VALID"}),
    "MaxPoolGrad": ("orig_input: 1,2n,2n,4 | orig_output: 1,n,n,4 | grad: 1,n,n,4", POOL),
    "MaxPoolGradGrad": ("orig_input: 1,2n,2n,4 | orig_output: 1,n,n,4 | grad: 1,2n,2n,4", POOL),
    "MaxPoolGradV2": (
        (
            "orig_input: 1,2n,2n,4 | orig_output: 1,n,n,4 | grad: 1,n,n,4 |"
            " ksize = (1, 2, 2, 1) | strides = (1, 2, 2, 1)"
        ),
        {"padding": "VALID"},
    ),
    "MaxPoolGradGradV2": (
        (
            "orig_input: 1,2n,2n,4 | orig_output: 1,n,n,4 | grad: 1,2n,2n,4 |"
            " ksize = (1, 2, 2, 1) | strides = (1, 2, 2, 1)"
        ),
        {"padding": "VALID"},
    ),
    "MaxPoolGradWithArgmax": ("input: 1,2n,2n,4 | grad: 1,n,n,4 | argmax: 1,n,n,4 int64 0..4", POOL),
    "MaxPool3DGrad": ("orig_input: 1,8,8,8,4 | orig_output: 1,4,4,4,4 | grad: 1,4,4,4,4", POOL_3D),
    "MaxPool3DGradGrad": ("orig_input: 1,8,8,8,4 | orig_output: 1,4,4,4,4 | grad: 1,8,8,8,4", POOL_3D),
    **alike("value: 1,n,n,4", {"pooling_ratio": (1.0, 1.5, 1.5, 1.0)}, "FractionalAvgPool", "FractionalMaxPool"),
    "FractionalAvgPoolGrad": ("orig_input_tensor_shape = (1, 8, 8, 4) | out_backprop: 1,4,4,4", PLACES),
    "FractionalMaxPoolGrad": ("orig_input: 1,8,8,4 zeros | orig_output: 1,4,4,4 zeros | out_backprop: 1,4,4,4", PLACES),
    # Normalization ----------------------------------------------------------------------------------------------------
    **alike(
        "x: 2,n,n,4 | scale: 4 | offset: 4 | mean: 0 | variance: 0",
        {},
        "FusedBatchNorm",
        "FusedBatchNormV2",
        "FusedBatchNormV3",
    ),
    **alike(
        "y_backprop: 2,n,n,4 | x: 2,n,n,4 | scale: 4 | reserve_space_1: 4 | reserve_space_2: 4 1..2",
        {},
        "FusedBatchNormGrad",
        "FusedBatchNormGradV2",
    ),
    "FusedBatchNormGradV3": (
        (
            "y_backprop: 2,n,n,4 | x: 2,n,n,4 | scale: 4 | reserve_space_1: 4 | reserve_space_2: 4 1..2 |"
            " reserve_space_3: 0"
        ),
        {},
    ),
    "LRN": ("input: 1,n,n,4", {}),
    "LRNGrad": ("input_grads: 1,n,n,4 | input_image: 1,n,n,4 | output_image: 1,n,n,4", {}),
    "BiasAdd": ("value: n,n | bias: n", {}),
    "BiasAddV1": ("value: n,n | bias: n", {}),
    # Recurrent cells --------------------------------------------------------------------------------------------------
    "LSTMBlockCell": (CELL, {}),
    "LSTMBlockCellGrad": (f"{CELL} | {GATES} | cs_grad: 4,n | h_grad: 4,n", {"use_peephole": False}),
    **alike(LAYER, {}, "BlockLSTM", "BlockLSTMV2"),
    **alike(
        f"{LAYER} | {GATES_OF_ALL} | cs_grad: 4,4,n | h_grad: 4,4,n",
        {"use_peephole": False},
        "BlockLSTMGrad",
        "BlockLSTMGradV2",
    ),
    "GRUBlockCell": (GRU, {}),
    "GRUBlockCellGrad": (f"{GRU} | r: 4,n | u: 4,n | c: 4,n | d_h: 4,n", {}),
    # Images -----------------------------------------------------------------------------------------------------------
    **alike(IMAGES, {}, "ResizeArea", "ResizeBicubic", "ResizeBilinear", "ResizeNearestNeighbor"),
    **alike("grads: 1,n,n,4 | original_image: 1,2n,2n,4", {}, "ResizeBicubicGrad", "ResizeBilinearGrad"),
    "ResizeNearestNeighborGrad": ("grads: 1,n,n,4 | size = (16, 16)", {}),
    "ScaleAndTranslate": ("images: 1,n,n,4 | size = (16, 16) | scale: 2 1..2 | translation: 2", {}),
    "ScaleAndTranslateGrad": (
        "grads: 1,2n,2n,4 | original_image: 1,n,n,4 | scale: 2 1..2 | translation: 2",
        {},
    ),
    **alike("input: 2,n,n,4", {"block_size": 2}, "DepthToSpace", "SpaceToDepth"),
    **alike("images: n,n,3 0..1", {}, "RGBToHSV", "HSVToRGB"),
    **alike("images: n,n,3 | delta: ()", {}, "AdjustHue"),
    **alike("images: n,n,3 | contrast_factor: ()", {}, "AdjustContrastv2"),
    **alike("images: n,n,3 | scale: ()", {}, "AdjustSaturation"),
    "CropAndResize": ("image: 2,n,n,3 | boxes: 4,4 0..1 | box_ind: 4 int32 0..2 | crop_size = (8, 8)", {}),
    "CropAndResizeGradBoxes": ("grads: 4,8,8,3 | image: 2,n,n,3 | boxes: 4,4 0..1 | box_ind: 4 int32 0..2", {}),
    "CropAndResizeGradImage": (
        "grads: 4,8,8,3 | boxes: 4,4 0..1 | box_ind: 4 int32 0..2 | image_size = (2, 16, 16, 3)",
        {"T": "float32"},
    ),
    "DrawBoundingBoxes": ("images: 1,n,n,3 | boxes: 1,4,4 0..1", {}),
    "DrawBoundingBoxesV2": ("images: 1,n,n,3 | boxes: 1,4,4 0..1 | colors: 2,3", {}),
    **alike("input: 2,n,n,3 | size = (4, 4) | offsets: 2,2", {}, "ExtractGlimpse", "ExtractGlimpseV2"),
    "ExtractImagePatches": (
        "images: 1,n,n,3",
        {"ksizes": (1, 3, 3, 1), "strides": (1, 1, 1, 1), "rates": (1, 1, 1, 1), "padding": "VALID"},
    ),
    "ExtractVolumePatches": (
        "input: 1,8,8,8,3",
        {"ksizes": (1, 3, 3, 3, 1), "strides": (1, 1, 1, 1, 1), "padding": "VALID"},
    ),
    "StatelessSampleDistortedBoundingBox": (
        (
            "image_size = (64, 64, 3) | bounding_boxes = (((0.1, 0.1, 0.9, 0.9),),) | min_object_covered = 0.1 |"
            " seed = (1, 2)"
        ),
        {},
    ),
    **alike(BOXES, {}, "NonMaxSuppression"),
    "NonMaxSuppressionV2": (f"{BOXES} | iou_threshold = 0.5", {}),
    **alike(f"{BOXES} | iou_threshold = 0.5 | score_threshold = 0.1", {}, "NonMaxSuppressionV3", "NonMaxSuppressionV4"),
    "NonMaxSuppressionV5": (f"{BOXES} | iou_threshold = 0.5 | score_threshold = 0.1 | soft_nms_sigma = 0.5", {}),
    "NonMaxSuppressionWithOverlaps": (
        "overlaps: n,n 0..1 | scores: n 0..1 | max_output_size = 4 | overlap_threshold = 0.5 | score_threshold = 0.1",
        {},
    ),
    "CombinedNonMaxSuppression": (
        (
            "boxes: 1,n,1,4 0..1 | scores: 1,n,2 0..1 | max_output_size_per_class = 4 | max_total_size = 4 |"
            " iou_threshold = 0.5 | score_threshold = 0.1"
        ),
        {},
    ),
    "ImageProjectiveTransformV2": (
        "images: 1,n,n,3 | transforms: 1,8 0..0.1 | output_shape = (8, 8)",
        {"interpolation": "BILINEAR"},
    ),
    "ImageProjectiveTransformV3": (
        "images: 1,n,n,3 | transforms: 1,8 0..0.1 | output_shape = (8, 8) | fill_value = 0.0",
        {"interpolation": "BILINEAR"},
    ),
}
