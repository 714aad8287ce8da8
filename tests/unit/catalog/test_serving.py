"""Operators of serving: their results' shapes, operations and bytes against numbers computed by hand."""

from __future__ import annotations

import math

import pytest
from tests.each import each

from opperf.catalog import operator
from opperf.catalog.valid_values import restrict
from opperf.domain.case import Argument, Case
from opperf.domain.errors import InputError
from opperf.domain.tensor import TensorSpec


def case_of(name: str, **arguments: Argument) -> Case:
    return operator(name).case_of(arguments)


def small(name: str, **changes: Argument) -> Case:
    definition = operator(name)
    return definition.case_of({**definition.sizes["small"], **changes})


def shapes(case: Case) -> list[tuple[int, ...]]:
    return [tensor.shape for tensor in operator(case.operator).outputs(case)]


def flops(case: Case, direction: str = "forward") -> int | None:
    return operator(case.operator).flop_count(case, direction)


def nbytes(case: Case) -> int | None:
    return operator(case.operator).byte_count(case, "forward")


def paged(lengths: tuple[int, ...] | None = None) -> Case:
    """Two sequences of two pages of four tokens, four heads of width 8, of which two share a key."""
    cache = TensorSpec((5, 4, 2, 8))
    return case_of(
        "paged_attention",
        query=TensorSpec((2, 4, 8)),
        key_cache=cache,
        value_cache=cache,
        page_table=TensorSpec((2, 2), "int64", range=(0, 5)),
        lengths=TensorSpec((2,), "int64", range=(1, 8), literal=lengths),
    )


def test_paged_attention_counts_the_tokens_that_a_case_says() -> None:
    case = paged((3, 5))
    assert shapes(case) == [(2, 4, 8)]
    assert flops(case) == 8 * 4 * (2 * 8 + 2 * 8 + 6)
    # Query, result, table and lengths; and of each token the rows of two heads, in both caches.
    assert nbytes(case) == 2 * 64 * 4 + 4 * 8 + 2 * 8 + 2 * 8 * (2 * 8 * 4)


def test_paged_attention_counts_drawn_lengths_by_their_mean() -> None:
    assert flops(paged()) == flops(paged((4, 4)))


def test_queries_of_another_width_than_the_pages_are_refused() -> None:
    with pytest.raises(InputError, match=r"queries of 4 heads of 7 cannot share 2 heads of 16"):
        shapes(small("paged_attention", query=TensorSpec((2, 4, 7))))


def test_packed_sequences_see_themselves_alone() -> None:
    tensor = TensorSpec((5, 2, 4))
    case = case_of("variable_length_attention", query=tensor, key=tensor, value=tensor, lengths=(2, 3))
    pairs = (1 + 2) + (1 + 2 + 3)
    assert flops(case) == pairs * 2 * (2 * 4 + 2 * 4 + 6)
    assert flops(case, "backward") == 2 * pairs * 2 * (2 * 4 + 2 * 4 + 6)


@each("lengths", [(2, 2), (6,), (5, 0), ()])
def test_lengths_that_are_not_those_of_the_tokens_are_refused(lengths: tuple[int, ...]) -> None:
    tensor = TensorSpec((5, 2, 4))
    with pytest.raises(InputError, match="`lengths` of `variable_length_attention` add up to"):
        shapes(case_of("variable_length_attention", query=tensor, key=tensor, value=tensor, lengths=lengths))


def test_a_window_bounds_what_a_query_sees() -> None:
    tensor = TensorSpec((1, 1, 5, 4))
    case = case_of("sliding_window_attention", query=tensor, key=tensor, value=tensor, window=2)
    assert flops(case) == (1 + 2 + 2 + 2 + 2) * 22
    with pytest.raises(InputError, match="`window` of `sliding_window_attention` is 0"):
        flops(small("sliding_window_attention", window=0))


def test_latent_attention_projects_and_weighs_once_a_head() -> None:
    case = small("multi_head_latent_attention")  # 2 sequences, 4 heads of 16 and 8, rank 32, values of 16, 16 tokens
    assert shapes(case) == [(2, 4, 16)]
    assert flops(case) == 2 * 4 * (2 * 32 * (16 + 16) + 16 * (2 * 40 + 2 * 32 + 6))


def test_appending_moves_the_new_tokens_and_nothing_else() -> None:
    case = small("cache_append")
    assert shapes(case) == [(2, 2, 16, 16)]
    assert nbytes(case) == 2 * (2 * 2 * 16 * 4)
    with pytest.raises(
        InputError,
        match="`position` of `cache_append` is 16: an update of length 1 does not fit into a cache of length 16",
    ):
        shapes(small("cache_append", position=16))


def test_the_last_layer_counts_as_a_product_and_a_cross_entropy() -> None:
    case = small("linear_cross_entropy")  # 8 tokens of 16, 32 classes
    assert shapes(case) == [()]
    assert flops(case) == 8 * (32 * (2 * 16 + 5) + 1)


def test_four_bits_are_half_a_byte_each() -> None:
    case = small("int4_matmul")  # 16 rows of 64, 32 columns
    assert shapes(case) == [(16, 32)]
    assert flops(case) == 2 * 16 * 64 * 32 + 2 * 32 * 64
    assert nbytes(case) == 16 * 64 * 4 + 32 * 64 // 2 + 32 * 2 * 4 + 16 * 32 * 4


@each(
    ("name", "input_name", "shape", "words"),
    [
        ("int4_matmul", "weight", (32, 31), "multiplies along 64 and 62 elements"),
        ("int4_matmul", "scale", (32, 3), "cannot cut 64 elements into 3 equal blocks"),
        ("int8_weight_matmul", "weight", (32, 63), "multiplies along 64 and 63 elements"),
        ("block_scaled_matmul", "rhs_scale", (32, 4), "multiplies along 2 and 4 blocks"),
        ("float8_matmul", "rhs", (32, 63), "multiplies along 64 and 63 elements"),
    ],
)
def test_products_of_few_bits_refuse_what_does_not_meet(
    name: str, input_name: str, shape: tuple[int, ...], words: str
) -> None:
    tensor = small(name).tensor(input_name)
    with pytest.raises(InputError, match=words):
        shapes(small(name, **{input_name: TensorSpec(shape, tensor.dtype)}))


@each(("name", "dtype"), [("block_quantize", "int8"), ("block_quantize_float8", "float8_e4m3fn")])
def test_a_block_has_one_scale(name: str, dtype: str) -> None:
    numbers, scales = operator(name).outputs(small(name))
    assert (numbers.shape, numbers.dtype) == ((8, 64), dtype)
    assert (scales.shape, scales.dtype) == ((8, 2), "float32")
    with pytest.raises(InputError, match="cannot cut 64 elements into blocks of 48"):
        shapes(small(name, block=48))


def test_a_scan_counts_seven_operations_a_state_and_three_a_channel() -> None:
    case = small("selective_scan")  # 2 sequences of 8, 16 channels, 4 states
    assert flops(case) == 2 * 8 * 16 * (7 * 4 + 3)
    assert flops(case, "backward") is None
    with pytest.raises(InputError, match="the decay is of 16 channels and 5 states"):
        shapes(small("selective_scan", decay=TensorSpec((16, 5))))


def test_a_step_of_a_scan_writes_the_state_that_it_reads() -> None:
    case = small("selective_state_update")  # 2 sequences, 16 channels, 4 states
    state, rows, weights = 2 * 16 * 4, 2 * 16, 2 * 4
    assert nbytes(case) == 4 * (2 * state + 3 * rows + 16 * 4 + 2 * weights + 16)


def test_inputs_of_other_shapes_get_values_that_the_operator_is_defined_for() -> None:
    plain = {name: TensorSpec(tensor.shape, tensor.dtype) for name, tensor in paged((1, 1)).inputs.items()
             if isinstance(tensor, TensorSpec)}  # fmt: skip
    case = restrict(case_of("paged_attention", **plain))
    assert case.tensor("page_table").range == (0, 5)
    assert case.tensor("lengths").range == (1, 8)
    logits = TensorSpec((2, 30))
    penalized = restrict(case_of("repetition_penalty", logits=logits, tokens=TensorSpec((2, 3), "int64"), penalty=1.5))
    assert penalized.tensor("tokens").range == (0, 30)
    decay = restrict(small("selective_scan", decay=TensorSpec((16, 4)))).tensor("decay").range
    assert decay is not None
    assert -math.inf < decay[0] < decay[1] <= 0
