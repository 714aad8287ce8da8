"""What TensorFlow's registered operators are given: by their own name, else by the names of inputs and attributes.

An input that no name here tells of is a square matrix. A sparse tensor, which operators take in three parts, holds the
numbers of a diagonal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opperf.child.backends.naming.notation import Rule, alike
from opperf.child.backends.tensorflow.raw_network_rules import NETWORKS


def square(side: int) -> tuple[int, int]:
    """Return the shape of a square matrix."""
    return (side, side)


def diagonal(side: int) -> tuple[tuple[int, int], ...]:
    """Return the places of the elements on a diagonal."""
    return tuple((i, i) for i in range(side))


#: Inputs by their names; numbers are literal.
INPUTS: Mapping[str, str | tuple[int, ...] | int] = {
    **dict.fromkeys(("axis", "dim", "reduction_indices", "num_lower", "num_upper", "minval"), 0),
    **dict.fromkeys(("k", "n"), 4),
    "seed": (1, 2),
    "shift": 1,
    "multiples": (2, 2),
    "perm": (1, 0),
    # What draws numbers: how many, the state of the generator, and the distribution.
    "shape": (64, 64),
    "key": (1,),
    "counter": (1, 2),
    "alg": 1,
    "maxval": 10,
    **dict.fromkeys(("alpha", "lam", "rate"), "() 1..2"),
}
#: Attributes that have no default, by their names.
ATTRIBUTES: Mapping[str, Any] = {"N": 2, "shape": square, "k": 4}
QUANTIZED = "input_min = -2.0 | input_max = 2.0"
KEYS = "key = (1,) | counter = (1, 2) | alg = 1"
SPARSE = {"sp_indices": diagonal, "sp_shape": square}
TWO_SPARSE = {"a_indices": diagonal, "a_shape": square, "b_indices": diagonal, "b_shape": square}
REDUCED = {"input_indices": diagonal, "input_shape": square, "reduction_axes": (0,)}
SEGMENTS = "data: n,n | indices: n int32 0..8 | segment_ids: n int32 sorted 0..4"
SEGMENTS_GRADIENT = "grad: 4,n | indices: n int32 0..8 | segment_ids: n int32 sorted 0..4"
#: Inputs of operators that need others than their names say.
OPERATORS: Mapping[str, Rule] = {
    **NETWORKS,
    # Matrices ---------------------------------------------------------------------------------------------------------
    "Cross": ("a: nn,3 | b: nn,3", {}),
    "Einsum": ("inputs: [n,n; n,n]", {"equation": "ij,jk->ik"}),
    **alike("input: n,n spd", {}, "Cholesky", "MatrixInverse", "MatrixDeterminant", "MatrixSquareRoot",
            "SelfAdjointEigV2"),
    "MatrixLogarithm": ("input: n,n complex64", {}),
    **alike("matrix: n,n spd | rhs: n,n", {}, "MatrixSolve", "MatrixTriangularSolve"),
    "MatrixSolveLs": ("matrix: n,n spd | rhs: n,n | l2_regularizer = 0.1", {}),
    "Diag": ("diagonal: n", {}),
    "MatrixDiag": ("diagonal: 4,n", {}),
    **alike("diagonal: n | k = 0 | num_rows = -1 | num_cols = -1 | padding_value = 0.0", {}, "MatrixDiagV2",
            "MatrixDiagV3"),
    **alike("input: n,n | k = 0 | padding_value = 0.0", {}, "MatrixDiagPartV2", "MatrixDiagPartV3"),
    "MatrixSetDiag": ("input: n,n | diagonal: n", {}),
    **alike("input: n,n | diagonal: n | k = 0", {}, "MatrixSetDiagV2", "MatrixSetDiagV3"),
    "TridiagonalMatMul": ("superdiag: 1,n | maindiag: 1,n | subdiag: 1,n | rhs: n,n", {}),
    "TridiagonalSolve": ("diagonals: 3,n 1..2 | rhs: n,n", {}),
    # Places, joints, shapes -------------------------------------------------------------------------------------------
    "Gather": ("params: n,n | indices: n int32 0..8", {}),
    "GatherV2": ("params: n,n | indices: n int32 0..8 | axis = 0", {}),
    "GatherNd": ("params: n,n | indices: n,1 int32 0..8", {}),
    "OneHot": ("indices: n int32 0..8 | depth = 8 | on_value: () | off_value: ()", {}),
    "Reshape": ("tensor: n,n | shape = (-1,)", {}),
    "BroadcastTo": ("input: n", {"shape": square}),
    **alike("s0 = (4, 1) | s1 = (1, 8)", {}, "BroadcastArgs", "BroadcastGradientArgs"),
    "Fill": ("dims = (64, 64) | value: ()", {}),
    "Range": ("start = 0 | limit = 1024 | delta = 1", {}),
    "LinSpace": ("start: () 0..1 | stop: () 2..3 | num = 1024", {}),
    "Slice": ("input: n,n | begin = (0, 0) | size = (4, 4)", {}),
    "StridedSlice": ("input: n,n | begin = (0, 0) | end = (8, 8) | strides = (2, 2)", {}),
    "StridedSliceGrad": (
        "begin = (0, 0) | end = (8, 8) | strides = (2, 2) | dy: 4,4", {"shape": square},
    ),
    "TensorStridedSliceUpdate": ("input: n,n | begin = (0, 0) | end = (8, 8) | strides = (2, 2) | value: 4,4", {}),
    "Split": ("axis = 0 | value: n,n", {"num_split": 2}),
    "SplitV": ("value: n,n | size_splits = (4, -1) | axis = 0", {"num_split": 2}),
    "ConcatV2": ("values: [n,n; n,n] | axis = 0", {}),
    "Concat": ("concat_dim = 0 | values: [n,n; n,n]", {}),
    "ConcatOffset": ("concat_dim = 0 | shape: [= (4, 8); = (4, 8)]", {}),
    "ParallelConcat": ("values: [1,n; 1,n]", {"shape": lambda side: (2, side)}),
    "Unpack": ("value: n,n", {"num": lambda side: side}),
    "TopKV2": ("input: n,n | k = 4", {}),
    "ArgMax": ("input: n,n | dimension = 0", {}),
    "ArgMin": ("input: n,n | dimension = 0", {}),
    "Reverse": ("tensor: n,n | dims = (True, False)", {}),
    "ReverseV2": ("tensor: n,n | axis = (0,)", {}),
    "ReverseSequence": ("input: n,n | seq_lengths: n int64 1..8", {"seq_dim": 1}),
    "Transpose": ("x: n,n | perm = (1, 0)", {}),
    "Pad": ("input: n,n | paddings = ((1, 1), (2, 2))", {}),
    "PadV2": ("input: n,n | paddings = ((1, 1), (2, 2)) | constant_values: ()", {}),
    "MirrorPad": ("input: n,n | paddings = ((1, 1), (2, 2))", {"mode": "REFLECT"}),
    "MirrorPadGrad": ("input: n,n | paddings = ((1, 1), (2, 2))", {"mode": "REFLECT"}),
    "Select": ("condition: n,n bool | x: n,n | y: n,n", {}),
    "SelectV2": ("condition: n,n bool | t: n,n | e: n,n", {}),
    "ClipByValue": ("t: n,n | clip_value_min: () -1..0 | clip_value_max: () 0..1", {}),
    "BatchToSpace": ("input: 4,n,n,4 | crops = ((0, 0), (0, 0))", {"block_size": 2}),
    "BatchToSpaceND": ("input: 4,n,n,4 | block_shape = (2, 2) | crops = ((0, 0), (0, 0))", {}),
    "SpaceToBatch": ("input: 1,n,n,4 | paddings = ((0, 0), (0, 0))", {"block_size": 2}),
    "SpaceToBatchND": ("input: 1,n,n,4 | block_shape = (2, 2) | paddings = ((0, 0), (0, 0))", {}),
    "DataFormatVecPermute": ("x: 4 int32", {}),
    **alike("x: n,n | i = (0, 2) | v: 2,n", {}, "InplaceAdd", "InplaceSub", "InplaceUpdate"),
    "DynamicPartition": ("data: n,n | partitions: n int32 0..4", {"num_partitions": 4}),
    "DynamicStitch": ("indices: [n int32 0..8; n int32 0..8] | data: [n,n; n,n]", {}),
    "ParallelDynamicStitch": ("indices: [n int32 0..8; n int32 0..8] | data: [n,n; n,n]", {}),
    **alike("tensor: n,n | indices: n,1 int32 0..8 | updates: n,n", {}, "TensorScatterAdd", "TensorScatterMax",
            "TensorScatterMin", "TensorScatterSub", "TensorScatterUpdate"),
    "ScatterNd": ("indices: n,1 int32 0..8 | updates: n,n", {"shape": square}),
    "ScatterNdNonAliasingAdd": ("input: n,n | indices: n,1 int32 0..8 | updates: n,n", {}),
    "InvertPermutation": ("x = (1, 2, 0)", {}),
    "UnravelIndex": ("indices: nn int32 0..64", {"dims": square}),
    "ListDiff": ("x: nn int32 0..64 | y: n int32 0..64", {}),
    **alike("x: nn int32 0..64", {}, "Unique", "UniqueWithCounts"),
    **alike("x: nn int32 0..64 | axis = (0,)", {}, "UniqueV2", "UniqueWithCountsV2"),
    "EditDistance": (
        "",
        {
            "hypothesis_indices": diagonal,
            "hypothesis_values": lambda side: tuple(range(side)),
            "hypothesis_shape": square,
            "truth_indices": diagonal,
            "truth_values": lambda side: tuple(range(side, 0, -1)),
            "truth_shape": square,
        },
    ),
    # Segments and counts ----------------------------------------------------------------------------------------------
    **alike("data: n,n | segment_ids: n int32 0..4 | num_segments = 4", {}, "UnsortedSegmentMax",
            "UnsortedSegmentMin", "UnsortedSegmentProd", "UnsortedSegmentSum"),
    **alike("data: n,n | segment_ids: n int32 sorted 0..4", {}, "SegmentMax", "SegmentMean", "SegmentMin",
            "SegmentProd", "SegmentSum"),
    **alike(SEGMENTS, {}, "SparseSegmentMean", "SparseSegmentSqrtN", "SparseSegmentSum"),
    **alike(f"{SEGMENTS} | num_segments = 4", {}, "SparseSegmentMeanWithNumSegments",
            "SparseSegmentSqrtNWithNumSegments", "SparseSegmentSumWithNumSegments"),
    **alike(f"{SEGMENTS_GRADIENT} | output_dim0 = 8", {}, "SparseSegmentMeanGrad", "SparseSegmentSqrtNGrad",
            "SparseSegmentSumGrad"),
    **alike(f"{SEGMENTS_GRADIENT} | dense_output_dim0 = 8", {}, "SparseSegmentMeanGradV2", "SparseSegmentSqrtNGradV2",
            "SparseSegmentSumGradV2"),
    "Bincount": ("arr: nn int32 0..8 | size = 8 | weights: nn", {}),
    "DenseBincount": ("input: nn int32 0..8 | size = 8 | weights: nn", {}),
    "RaggedBincount": ("splits = (0, 4, 8) | values: 8 int32 0..8 | size = 8 | weights: 8", {}),
    "Bucketize": ("input: nn", {"boundaries": (-0.5, 0.0, 0.5)}),
    "HistogramFixedWidth": ("values: nn | value_range = (-1.0, 1.0) | nbins = 16", {}),
    **alike("predictions: n,n | targets: n int32 0..8", {"k": 4}, "InTopK"),
    "InTopKV2": ("predictions: n,n | targets: n int32 0..8 | k = 4", {}),
    # Losses, samples --------------------------------------------------------------------------------------------------
    "SoftmaxCrossEntropyWithLogits": ("features: n,n | labels: n,n 0..1", {}),
    "SparseSoftmaxCrossEntropyWithLogits": ("features: n,n | labels: n int32 0..8", {}),
    **alike("inputs: n,2,8 | sequence_length = (8, 8)", {}, "CTCGreedyDecoder"),
    "CTCBeamSearchDecoder": ("inputs: n,2,8 | sequence_length = (8, 8)", {"beam_width": 4, "top_paths": 1}),
    **alike(
        (
            "inputs: n,2,8 | labels_indices = ((0, 0), (0, 1), (1, 0), (1, 1)) | labels_values = (1, 2, 3, 4) |"
            " sequence_length = (8, 8)"
        ),
        {}, "CTCLoss",
    ),
    "ComputeAccidentalHits": ("true_classes: n,1 int64 0..8 | sampled_candidates: 8 int64 0..8", {"num_true": 1}),
    "Multinomial": ("logits: n,n | num_samples = 4", {}),
    "StatelessMultinomial": ("logits: n,n | num_samples = 4 | seed = (1, 2)", {}),
    "ParameterizedTruncatedNormal": (
        "shape = (64, 64) | means = (0.0,) | stdevs = (1.0,) | minvals = (-1.0,) | maxvals = (1.0,)", {},
    ),
    "StatelessParameterizedTruncatedNormal": (
        "shape = (64, 64) | seed = (1, 2) | means = 0.0 | stddevs = 1.0 | minvals = -1.0 | maxvals = 1.0", {},
    ),
    "StatelessRandomBinomial": ("shape = (64, 64) | seed = (1, 2) | counts = 10.0 | probs = 0.5", {}),
    "StatelessRandomGammaV2": ("shape = (64, 64) | seed = (1, 2) | alpha: () 1..2", {}),
    "StatelessRandomGammaV3": (f"shape = (64, 64) | {KEYS} | alpha: () 1..2", {}),
    "StatelessShuffle": (f"value: n,n | {KEYS}", {}),
    "RandomIndexShuffle": ("index = (1, 2, 3) | seed = (1, 2, 3) | max_index = 100", {}),
    "SobolSample": ("dim = 4 | num_results = 64 | skip = 0", {}),
    "KMC2ChainInitialization": ("distances: n 1..2 | seed = 1", {}),
    "KmeansPlusPlusInitialization": (
        "points: n,n | num_to_sample = 4 | seed = 1 | num_retries_per_sample = 1", {},
    ),
    # Quantization -----------------------------------------------------------------------------------------------------
    **alike("inputs: n,n | min = -1.0 | max = 1.0", {}, "FakeQuantWithMinMaxVars"),
    "FakeQuantWithMinMaxVarsGradient": ("gradients: n,n | inputs: n,n | min = -1.0 | max = 1.0", {}),
    "FakeQuantWithMinMaxVarsPerChannel": ("inputs: n,n | min: n -2..-1 | max: n 1..2", {}),
    "FakeQuantWithMinMaxVarsPerChannelGradient": ("gradients: n,n | inputs: n,n | min: n -2..-1 | max: n 1..2", {}),
    **alike(f"input: n,n | {QUANTIZED}", {}, "QuantizeAndDequantizeV2", "QuantizeAndDequantizeV4"),
    "QuantizeAndDequantizeV3": (f"input: n,n | {QUANTIZED} | num_bits = 8", {}),
    "QuantizeAndDequantizeV4Grad": (f"gradients: n,n | input: n,n | {QUANTIZED}", {}),
    "QuantizedResizeBilinear": ("images: 1,n,n,3 | size = (16, 16) | min = -1.0 | max = 1.0", {}),
    # Sound and Fourier transforms -------------------------------------------------------------------------------------
    "AudioSpectrogram": ("input: 512,1", {"window_size": 64, "stride": 32}),
    "Mfcc": ("spectrogram: 1,8,129 0..1 | sample_rate = 16000", {}),
    **alike("input: n,n,8 complex64", {}, "FFT3D", "IFFT3D"),
    "RFFT": ("input: n,8 | fft_length = (8,)", {}),
    "RFFT2D": ("input: n,8,8 | fft_length = (8, 8)", {}),
    "RFFT3D": ("input: n,8,8,8 | fft_length = (8, 8, 8)", {}),
    "IRFFT": ("input: n,5 complex64 | fft_length = (8,)", {}),
    "IRFFT2D": ("input: n,8,5 complex64 | fft_length = (8, 8)", {}),
    "IRFFT3D": ("input: n,8,8,5 complex64 | fft_length = (8, 8, 8)", {}),
    # Sparse and ragged tensors ----------------------------------------------------------------------------------------
    "SparseAdd": ("a_values: n | b_values: n | thresh = 0.0", TWO_SPARSE),
    "SparseAddGrad": ("backprop_val_grad: n", dict.fromkeys(("a_indices", "b_indices", "sum_indices"), diagonal)),
    "SparseBincount": (
        "values: n int32 0..8 | size = 8 | weights: n", {"indices": diagonal, "dense_shape": square},
    ),
    "SparseConcat": (
        (
            "indices: [= ((0, 0), (1, 1)); = ((0, 0), (1, 1))] | values: [2; 2] |"
            " shapes: [= (2, 2); = (2, 2)]"
        ),
        {"concat_dim": 0},
    ),
    "SparseCountSparseOutput": (
        "values: n int32 0..8 | weights: n", {"indices": diagonal, "dense_shape": square, "binary_output": False},
    ),
    "RaggedCountSparseOutput": ("splits = (0, 4, 8) | values: 8 int32 0..8 | weights: 8", {"binary_output": False}),
    **alike("sp_values: n | dense: n,n 1..2", SPARSE, "SparseDenseCwiseAdd", "SparseDenseCwiseDiv",
            "SparseDenseCwiseMul"),
    "SparseSoftmax": ("sp_values: n", SPARSE),
    "SparseFillEmptyRows": ("values: n | default_value = 0.0", {"indices": diagonal, "dense_shape": square}),
    "SparseFillEmptyRowsGrad": ("reverse_index_map = (0, 1, 2, 3) | grad_values: 8", {}),
    "RaggedFillEmptyRows": ("value_rowids = (0, 2, 2, 5) | values: 4 | nrows = 8 | default_value = 0.0", {}),
    "RaggedFillEmptyRowsGrad": ("reverse_index_map = (0, 1, 2, 3) | grad_values: 8", {}),
    **alike("input_values: n", REDUCED, "SparseReduceMax", "SparseReduceMaxSparse", "SparseReduceSum",
            "SparseReduceSumSparse"),
    "SparseReorder": ("input_values: n", {"input_indices": diagonal, "input_shape": square}),
    "SparseReshape": (
        "", {"input_indices": diagonal, "input_shape": square, "new_shape": (-1,)},
    ),
    "SparseSlice": (
        "values: n | start = (0, 0) | size = (4, 4)", {"indices": diagonal, "shape": square},
    ),
    "SparseSliceGrad": (
        "backprop_val_grad: n | input_start = (0, 0)", {"input_indices": diagonal, "output_indices": diagonal},
    ),
    "SparseSplit": ("split_dim = 0 | values: n", {"indices": diagonal, "shape": square, "num_split": 2}),
    **alike("a_values: n | b_values: n", TWO_SPARSE, "SparseSparseMaximum", "SparseSparseMinimum"),
    "SparseTensorDenseAdd": ("a_values: n | b: n,n", {"a_indices": diagonal, "a_shape": square}),
    "SparseTensorDenseMatMul": ("a_values: n | b: n,n", {"a_indices": diagonal, "a_shape": square}),
    "SparseToDense": (
        "sparse_values: n | default_value = 0.0", {"sparse_indices": diagonal, "output_shape": square},
    ),
    "SetSize": ("set_values: n int32", {"set_indices": diagonal, "set_shape": square}),
    **alike("", {"set1_indices": diagonal, "set1_values": lambda side: tuple(range(side)), "set1_shape": square,
                 "set2_indices": diagonal, "set2_values": lambda side: tuple(range(side)), "set2_shape": square,
                 "set_operation": "union"}, "SparseToSparseSetOperation"),
    "DenseToDenseSetOperation": (
        "set1: n,n int32 0..8 | set2: n,n int32 0..8", {"set_operation": "union"},
    ),
    "DenseToSparseSetOperation": (
        "set1: n,n int32 0..8",
        {"set2_indices": diagonal, "set2_values": lambda side: tuple(range(side)), "set2_shape": square,
         "set_operation": "union"},
    ),
    "RaggedGather": (
        "params_nested_splits: [= (0, 4, 8)] | params_dense_values: 8 | indices = (1, 0)", {"OUTPUT_RAGGED_RANK": 1},
    ),
    "RaggedRange": ("starts = (0, 4) | limits = (4, 8) | deltas = (1, 1)", {}),
    "RaggedTensorToTensor": (
        "shape = (2, 8) | values: 8 | default_value = 0.0 | row_partition_tensors: [= (0, 4, 8)]",
        {"row_partition_types": ("ROW_SPLITS",)},
    ),
    "RaggedTensorToSparse": ("rt_nested_splits: [= (0, 4, 8)] | rt_dense_values: 8", {}),
}  # fmt: skip
