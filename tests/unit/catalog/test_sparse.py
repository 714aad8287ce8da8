"""Sparse operators: what is stored is counted, and the share of zeros is the user's."""

from __future__ import annotations

import pytest
from tests.each import each

from opperf.catalog import catalog, operator
from opperf.catalog.storage import count_nonzero, csr_bytes
from opperf.domain.case import Case
from opperf.domain.errors import InputError
from opperf.domain.tensor import TensorSpec

QUARTER = TensorSpec((4, 8), values="sparse:0.75")


def test_stored_elements_are_those_that_the_distribution_leaves() -> None:
    assert count_nonzero(QUARTER) == 8
    assert count_nonzero(TensorSpec((4, 8))) == 32


def test_compressed_rows_are_values_columns_and_row_ends() -> None:
    assert csr_bytes(QUARTER) == 8 * (4 + 4) + 5 * 4


def test_a_product_counts_a_multiply_add_for_each_stored_element_and_column() -> None:
    case = operator("csr_matmul").case_of({"lhs": QUARTER, "rhs": TensorSpec((8, 3))})
    assert operator("csr_matmul").flop_count(case, "forward") == 2 * 8 * 3
    assert operator("csr_matmul").byte_count(case, "forward") == csr_bytes(QUARTER) + 8 * 3 * 4 + 4 * 3 * 4


def test_a_product_of_the_transpose_meets_rows() -> None:
    case = operator("csr_matmul_transposed").case_of({"lhs": QUARTER, "rhs": TensorSpec((4, 3))})
    assert [tensor.shape for tensor in operator("csr_matmul_transposed").outputs(case)] == [(8, 3)]
    with pytest.raises(InputError, match="multiplies along 8 and 4 elements"):
        operator("csr_matmul").outputs(Case("csr_matmul", case.inputs))


def test_looking_for_what_to_store_reads_the_whole_matrix_and_writing_it_out_need_not_touch_zeros() -> None:
    case = operator("to_csr").case_of({"data": QUARTER})
    assert operator("to_csr").byte_count(case, "forward") == 4 * 8 * 4 + csr_bytes(QUARTER)
    case = operator("csr_to_dense").case_of({"data": QUARTER})
    assert operator("csr_to_dense").byte_count(case, "forward") == csr_bytes(QUARTER) + 8 * 4


@each("name", [name for name, known in catalog().items() if known.category == "sparse"])
def test_no_sparse_operator_moves_less_than_it_reads(name: str) -> None:
    case = operator(name).case("common")
    read = sum(csr_bytes(tensor) if tensor.values.startswith("sparse") else 0 for tensor in case.tensors())
    assert (operator(name).byte_count(case, "forward") or 0) >= read


def test_another_share_of_zeros_may_be_asked_for_and_no_other_distribution() -> None:
    case = operator("csr_matmul").case("small")
    assert case.with_values("sparse:0.5").tensor("lhs").values == "sparse:0.5"
    assert case.with_values("normal").tensor("lhs").values == "sparse:0.9"
    assert case.with_values("normal").tensor("rhs").values == "normal"
