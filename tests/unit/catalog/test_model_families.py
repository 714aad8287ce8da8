"""Outputs and counts of gated, fused, expert, quantized, segment, spectral, sequence and image operators, by hand."""

from __future__ import annotations

import pytest
from tests.each import each

from opperf.catalog import operator
from opperf.domain.case import Argument, Case
from opperf.domain.errors import InputError
from opperf.domain.tensor import TensorSpec


def case_of(name: str, **arguments: Argument) -> Case:
    return operator(name).case_of(arguments)


def shapes(name: str, **arguments: Argument) -> list[tuple[int, ...]]:
    return [tensor.shape for tensor in operator(name).outputs(case_of(name, **arguments))]


def dtypes(name: str, **arguments: Argument) -> list[str]:
    return [tensor.dtype for tensor in operator(name).outputs(case_of(name, **arguments))]


def flops(name: str, **arguments: Argument) -> int | None:
    return operator(name).flop_count(case_of(name, **arguments), "forward")


def nbytes(name: str, **arguments: Argument) -> int | None:
    return operator(name).byte_count(case_of(name, **arguments), "forward")


# --- attention ---


def test_causal_attention_counts_what_is_seen() -> None:
    # Batch 2, 3 heads, 1 + 2 pairs, width 8: 38 operations a pair.
    square = TensorSpec((2, 3, 2, 8))
    assert flops("causal_attention", query=square, key=square, value=square) == 6 * 3 * 38


def test_grouped_attention_has_the_heads_of_the_queries() -> None:
    query, shared = TensorSpec((2, 4, 2, 8)), TensorSpec((2, 2, 3, 8))
    arguments: dict[str, Argument] = {"query": query, "key": shared, "value": shared, "causal": False}
    assert shapes("grouped_query_attention", **arguments) == [(2, 4, 2, 8)]
    assert flops("grouped_query_attention", **arguments) == 8 * 6 * 38


def layer(heads: int) -> dict[str, Argument]:
    return {
        "data": TensorSpec((2, 3, 8)),
        "weight": TensorSpec((24, 8)),
        "bias": TensorSpec((24,)),
        "output_weight": TensorSpec((8, 8)),
        "output_bias": TensorSpec((8,)),
        "heads": heads,
    }


def test_a_layer_of_attention_is_its_projections_and_its_heads() -> None:
    # 6 rows of 8: 24 x 8 and 8 x 8 multiply-adds a row; 2 x 2 heads of width 4 with 9 pairs of 22 operations.
    assert shapes("multi_head_attention", **layer(2)) == [(2, 3, 8)]
    assert flops("multi_head_attention", **layer(2)) == 2 * 6 * (24 * 8 + 8 * 8) + 4 * 9 * 22


def test_heads_that_do_not_share_out_the_width_are_an_input_error() -> None:
    with pytest.raises(InputError, match="cannot split 8 elements between 3 heads"):
        flops("multi_head_attention", **layer(3))


def test_rotary_positions_take_three_operations_an_element() -> None:
    angles = TensorSpec((4, 8))
    assert flops("rotary_embedding", data=TensorSpec((1, 2, 4, 8)), cosine=angles, sine=angles) == 192


# --- gated, fused ---


def test_a_gate_halves_the_last_dimension() -> None:
    assert shapes("glu", data=TensorSpec((3, 8))) == [(3, 4)]
    assert flops("glu", data=TensorSpec((3, 8))) == 24


def test_a_gate_of_an_odd_width_is_an_input_error() -> None:
    with pytest.raises(InputError, match="`swiglu` halves the last dimension, which has 7 elements"):
        shapes("swiglu", data=TensorSpec((3, 7)))


def test_a_fused_convolution_counts_its_parts() -> None:
    tensors = {"data": TensorSpec((1, 2, 5, 5)), "weight": TensorSpec((3, 2, 3, 3)), "bias": TensorSpec((3,))}
    assert shapes("conv_relu", **tensors, stride=(1, 1), padding=(0, 0)) == [(1, 3, 3, 3)]
    # 27 results of 18 multiply-adds and one relu.
    assert flops("conv_relu", **tensors, stride=(1, 1), padding=(0, 0)) == 27 * 37


def test_a_fused_convolution_of_channels_that_do_not_meet_is_an_input_error() -> None:
    tensors = {"data": TensorSpec((1, 2, 5, 5)), "weight": TensorSpec((3, 4, 3, 3)), "bias": TensorSpec((3,))}
    with pytest.raises(InputError, match="`conv_relu` has 2 channels, and the weight takes 4"):
        shapes("conv_relu", **tensors)


@pytest.mark.parametrize(
    ("name", "roles", "weight"),
    [("linear_relu", ("data", "weight"), (5, 4)), ("matmul_bias_activation", ("lhs", "rhs"), (4, 5))],
)
def test_a_fused_product_has_one_operation_more_for_each_result(
    name: str, roles: tuple[str, str], weight: tuple[int, int]
) -> None:
    tensors = {roles[0]: TensorSpec((3, 4)), roles[1]: TensorSpec(weight), "bias": TensorSpec((5,))}
    assert shapes(name, **tensors) == [(3, 5)]
    assert flops(name, **tensors) == 15 * 9


def test_a_fused_product_of_lengths_that_do_not_meet_is_an_input_error() -> None:
    with pytest.raises(InputError, match="`linear_relu` multiplies along 4 and 6 elements"):
        shapes("linear_relu", data=TensorSpec((3, 4)), weight=TensorSpec((5, 6)), bias=TensorSpec((5,)))


def test_what_lies_between_fused_parts_is_no_traffic() -> None:
    square = TensorSpec((4, 4))
    assert nbytes("residual_add_relu", data=square, residual=square) == 3 * 16 * 4
    assert flops("residual_add_relu", data=square, residual=square) == 32


# --- experts, quantized ---


def test_grouped_products_take_equal_groups() -> None:
    assert shapes("grouped_matmul", data=TensorSpec((6, 4)), weight=TensorSpec((3, 4, 5))) == [(6, 5)]
    assert flops("grouped_matmul", data=TensorSpec((6, 4)), weight=TensorSpec((3, 4, 5))) == 240
    with pytest.raises(InputError, match="cannot multiply 7 rows of 4 with 3 matrices"):
        shapes("grouped_matmul", data=TensorSpec((7, 4)), weight=TensorSpec((3, 4, 5)))


def test_tokens_go_to_each_of_their_experts_and_come_back() -> None:
    experts = TensorSpec((6, 2), "int64", range=(0, 4))
    assert shapes("moe_gather", data=TensorSpec((6, 3)), experts=experts) == [(12, 3)]
    # Twelve indices, and twelve rows read and written.
    assert nbytes("moe_gather", data=TensorSpec((6, 3)), experts=experts) == 12 * 8 + 2 * 12 * 3 * 4
    tokens, weights = TensorSpec((12,), "int64", range=(0, 6)), TensorSpec((12,))
    assert shapes("moe_scatter", data=TensorSpec((12, 3)), tokens=tokens, weights=weights, count=6) == [(6, 3)]
    assert flops("moe_scatter", data=TensorSpec((12, 3)), tokens=tokens, weights=weights, count=6) == 72


def test_routing_gives_weights_and_whose_they_are() -> None:
    assert shapes("top_k_routing", logits=TensorSpec((6, 8)), k=2) == [(6, 2), (6, 2)]
    assert dtypes("top_k_routing", logits=TensorSpec((6, 8)), k=2) == ["float32", "int64"]
    assert flops("top_k_routing", logits=TensorSpec((6, 8)), k=2) == 5 * 48 + 2 * 12


def test_eight_bits_are_a_quarter_of_the_traffic_and_products_are_summed_in_32() -> None:
    assert nbytes("quantize_int8", data=TensorSpec((4, 4)), scale=0.5, zero_point=0) == 16 * (4 + 1)
    square = TensorSpec((4, 4), "int8")
    assert dtypes("dequantize_int8", data=square, scale=0.5, zero_point=0) == ["float32"]
    assert dtypes("int8_matmul", lhs=square, rhs=square) == ["int32"]
    assert flops("int8_matmul", lhs=square, rhs=square) == 128


# --- segment, embedding ---


def test_segments_are_as_many_as_asked_for() -> None:
    arguments: dict[str, Argument] = {"data": TensorSpec((6, 3)), "segments": TensorSpec((6,), "int64"), "count": 4}
    for name, operations in (("segment_sum", 18), ("segment_max", 18), ("segment_mean", 30)):
        assert shapes(name, **arguments) == [(4, 3)]
        assert flops(name, **arguments) == operations


def test_counts_and_places() -> None:
    assert shapes("bincount", data=TensorSpec((9,), "int64"), count=4) == [(4,)]
    assert shapes("histogram", data=TensorSpec((9,)), bins=5, low=0.0, high=1.0) == [(5,)]
    assert shapes("searchsorted", data=TensorSpec((8,)), values=TensorSpec((3,))) == [(3,)]
    # Nine places among eight elements: four halvings.
    assert flops("searchsorted", data=TensorSpec((8,)), values=TensorSpec((3,))) == 12


def test_a_bag_reads_every_row_that_goes_into_it() -> None:
    arguments: dict[str, Argument] = {"indices": TensorSpec((2, 3), "int64"), "weight": TensorSpec((100, 4))}
    assert shapes("embedding_bag_sum", **arguments) == [(2, 4)]
    assert flops("embedding_bag_sum", **arguments) == 24
    assert nbytes("embedding_bag_sum", **arguments) == 6 * 8 + 6 * 4 * 4 + 2 * 4 * 4


# --- spectral ---


@each(
    ("name", "given", "dtype", "expected", "made", "operations"),
    [
        ("fft", (3, 8), "complex64", (3, 8), "complex64", 3 * 5 * 8 * 3),
        ("ifft", (3, 8), "complex64", (3, 8), "complex64", 3 * 5 * 8 * 3),
        ("rfft", (3, 8), "float32", (3, 5), "complex64", 3 * 5 * 8 * 3 // 2),
        ("irfft", (3, 5), "complex64", (3, 8), "float32", 3 * 5 * 8 * 3 // 2),
        ("fft2", (3, 4, 8), "complex64", (3, 4, 8), "complex64", 3 * 5 * 32 * 5),
        ("rfft2", (3, 4, 8), "float32", (3, 4, 5), "complex64", 3 * 5 * 32 * 5 // 2),
    ],
)
def test_a_transform_of_n_numbers_takes_5_n_log2_n(
    name: str, given: tuple[int, ...], dtype: str, expected: tuple[int, ...], made: str, operations: int
) -> None:
    data = TensorSpec(given, dtype)
    assert (shapes(name, data=data), dtypes(name, data=data)) == ([expected], [made])
    assert flops(name, data=data) == operations


# --- sequence, image ---


def test_the_last_of_each_sequence_is_all_that_is_read() -> None:
    arguments: dict[str, Argument] = {"data": TensorSpec((5, 3, 4)), "lengths": TensorSpec((3,), "int64")}
    assert shapes("sequence_last", **arguments) == [(3, 4)]
    assert nbytes("sequence_last", **arguments) == 3 * 8 + 2 * 12 * 4


def test_images_change_their_layout_and_size() -> None:
    photograph, planes = TensorSpec((2, 6, 8, 3), "uint8"), TensorSpec((2, 4, 6, 8))
    assert shapes("image_to_tensor", data=photograph) == [(2, 3, 6, 8)]
    assert dtypes("image_to_tensor", data=photograph) == ["float32"]
    assert shapes("image_crop", data=photograph, top=1, left=2, height=3, width=4) == [(2, 3, 4, 3)]
    assert shapes("image_resize_nearest", data=planes, size=(3, 5)) == [(2, 4, 3, 5)]
    assert shapes("upsample_bilinear", data=planes, scale=2) == [(2, 4, 12, 16)]
    assert shapes("grid_sample", data=planes, grid=TensorSpec((2, 5, 7, 2))) == [(2, 4, 5, 7)]
    assert shapes("pixel_shuffle", data=planes, factor=2) == [(2, 1, 12, 16)]
    assert shapes("im2col", data=planes, kernel=(3, 3), stride=1, padding=1) == [(2, 36, 48)]


def test_a_part_beyond_the_image_is_an_input_error() -> None:
    with pytest.raises(InputError, match="`image_crop` reaches beyond the 6 x 8 pixels"):
        shapes("image_crop", data=TensorSpec((2, 6, 8, 3), "uint8"), top=4, left=2, height=3, width=4)


def test_channels_that_do_not_spread_are_an_input_error() -> None:
    with pytest.raises(InputError, match="cannot spread 4 channels over 3 x 3 pixels"):
        shapes("pixel_shuffle", data=TensorSpec((2, 4, 6, 8)), factor=3)


# --- inplace, conversion ---


def test_what_is_replaced_is_not_read() -> None:
    assert nbytes("set_item", data=TensorSpec((4, 4)), updates=TensorSpec((4, 4))) == 2 * 16 * 4


def test_what_an_operator_writes_is_declared() -> None:
    assert operator("add_inplace").mutates == ("lhs",)
    assert operator("relu_inplace").mutates == ("data",)


def test_what_leaves_the_framework_is_none_of_its_tensors() -> None:
    assert shapes("to_numpy", data=TensorSpec((4, 4))) == []
    assert nbytes("to_numpy", data=TensorSpec((4, 4))) is None
