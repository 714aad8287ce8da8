from __future__ import annotations

from dataclasses import replace

import pytest
from tests.domain_examples import EXAMPLES as OF_FRAMEWORKS
from tests.domain_examples import FBGEMM, call, whole
from tests.each import check_each, each

from opperf.catalog import catalog
from opperf.catalog.domain import is_open
from opperf.catalog.domain_table import ROWS, Row
from opperf.catalog.valid_values import base_name, restrict
from opperf.domain.case import Argument, Case, ListOf, tensors_of
from opperf.domain.tensor import SPD, TensorSpec

EXAMPLES = (*OF_FRAMEWORKS, *FBGEMM)
#: Names in the table that no example has: kernels of another device, of another package, and what the catalog has.
ELSEWHERE = {
    "cudnn_batch_norm", "miopen_batch_norm", "batch_norm_elemt", "batch_norm_backward",
    "batchnormalization", "matrix_sqrt", "random_gamma", "softmax_output", "erfcinv", "loggamma",
    "roi_align", "roi_pool", "ps_roi_align", "ps_roi_pool",
}  # fmt: skip


def touched(row: Row) -> list[tuple[Case, Case]]:
    """Return every example that has the argument of a row, before and after."""
    cases = [case for case in EXAMPLES if base_name(case.operator) in row.operators]
    return [(case, restrict(case)) for case in cases if list(tensors_of(row.argument.argument(case)))]


def test_every_row_gives_its_argument_values_that_stay_when_they_are_asked_for_again() -> None:
    def check(row: Row) -> None:
        cases = touched(row)
        assert cases or set(row.operators) <= {*catalog(), *ELSEWHERE}
        changes = [row.argument.argument(before) != row.argument.argument(after) for before, after in cases]
        assert any(changes) or not cases
        assert all(restrict(after) == after for _, after in cases)

    check_each(ROWS, check, lambda row: row.label)


def test_every_name_in_the_table_has_an_example_or_is_in_the_catalog() -> None:
    names = {name for row in ROWS for name in row.operators}
    examples = {base_name(case.operator) for case in EXAMPLES}
    assert names - examples - set(catalog()) <= ELSEWHERE
    assert not ELSEWHERE & examples


def test_the_catalogs_own_cases_are_within_the_table() -> None:
    for definition in catalog().values():
        for size in definition.sizes:
            case = definition.case(size)
            assert restrict(case) == case, case


@pytest.mark.parametrize(
    "name", ["aten::sqrt", "aten::sqrt_.default", "aten::_foreach_sqrt_", "torch.sqrt", "torch.Tensor.sqrt_"]
)
def test_spellings_of_an_operator_share_a_row(name: str) -> None:
    assert restrict(Case(f"torch:{name}", {"x": TensorSpec((2,))}))["x"] == TensorSpec((2,), range=(0.1, 2.0))


def test_a_list_of_tensors_is_within_tensor_by_tensor() -> None:
    case = restrict(Case("torch:aten::_foreach_log.default", {"self": ListOf((TensorSpec((2,)), TensorSpec((3,))))}))
    assert [tensor.range for tensor in case.tensors()] == [(0.1, 2.0)] * 2


def test_values_that_a_case_says_stay_where_the_operator_takes_them() -> None:
    for tensor in (TensorSpec((2,), range=(0.5, 7.0)), TensorSpec((2,), literal=(-1.0, 1.0)), TensorSpec((2,), "bool")):
        assert restrict(Case("torch:aten::sqrt", {"self": tensor}))["self"] == tensor


def test_a_range_that_the_operator_does_not_take_is_replaced() -> None:
    case = restrict(Case("torch:aten::acosh", {"self": TensorSpec((2,), range=(0.0, 1.0))}))
    assert case["self"] == TensorSpec((2,), range=(1.1, 3.0))


def test_own_code_of_the_same_name_keeps_its_inputs() -> None:
    case = Case("my_kernels:sqrt", {"x": TensorSpec((2,))})
    assert restrict(case) == case


@each(
    ("exponent", "bounds"),
    [(0.5, (0.1, 2.0)), (-1.5, (0.1, 2.0)), (2, None), (3.0, None), ("2.0", None), (TensorSpec((2,)), (0.1, 2.0)),
     (TensorSpec((), literal=(2.0,)), None), (TensorSpec((2,), "int64"), None)],
)  # fmt: skip
def test_only_a_fractional_power_asks_for_a_positive_base(exponent: object, bounds: object) -> None:
    case = restrict(Case("torch:aten::pow", {"self": TensorSpec((2,)), "exponent": exponent}))  # type: ignore[dict-item]
    assert case.tensor("self").range == bounds


def test_whole_numbers_are_not_divided_by_zero() -> None:
    divisor = TensorSpec((2,), "int64", range=(-3.0, 5.0))
    case = restrict(call("torch:aten::remainder", self=whole(2), other=divisor))
    assert case.tensor("other").range == (1.0, float(1 << 31))
    small = restrict(call("torch:aten::remainder", self=whole(2), other=TensorSpec((2,), "int8")))
    assert small.tensor("other").range == (1.0, 128.0)


@each(
    ("dtype", "bounds"),
    [("int64", (-(2**31), 2**31)), ("int32", (-(2**31), 2**31)), ("uint64", (0, 2**32)), ("int16", (-32768, 32768)),
     ("uint8", (0, 256)), ("bool", None), ("string", None), ("float32", None)],
)  # fmt: skip
def test_whole_numbers_of_which_nothing_is_said_have_those_of_their_type(dtype: str, bounds: object) -> None:
    for name in ("sort", "torch:aten::sort", "mxnet:nd.sort", "my_module:function"):
        assert restrict(Case(name, {"data": TensorSpec((9,), dtype)})).tensor("data").range == bounds


def test_ten_values_remain_where_a_case_says_so_and_are_another_case_than_all() -> None:
    said, unsaid = (Case("sort", {"data": TensorSpec((9,), "int64", range=r)}) for r in ((0, 10), None))
    assert restrict(said) == said
    assert len({said.id, unsaid.id, restrict(unsaid).id}) == 3
    assert Case.from_json(restrict(unsaid).to_json()) == restrict(unsaid)


def test_a_record_of_an_earlier_version_keeps_its_case_and_id() -> None:
    stored = {"operator": "sort", "inputs": {"data": {"shape": [9], "dtype": "int64"}}, "attributes": {}}
    assert Case.from_json(stored).id == "c1-183a798294d5dbab"


@each("name", ["zeros", "ones", "constant"])
def test_values_that_are_all_alike_need_no_bounds(name: str) -> None:
    case = Case("sort", {"data": TensorSpec((9,), "int64", values=name)})
    assert restrict(case) == case


def test_whole_weights_are_small_enough_to_add_up() -> None:
    case = catalog()["random_categorical"].case("small").with_dtype("int32")
    assert restrict(case).tensor("data").range == (1.0, 10.0)


def test_indices_into_what_a_reduction_chose_from_are_bound_by_its_sizes() -> None:
    several: tuple[Argument, ...] = ((256, 4), ListOf((256, 4)))
    for sizes in several:
        inputs: dict[str, Argument] = {"grad": TensorSpec((256, 2)), "dim": -1, "indices": whole(256, 2)}
        case = Case("torch:aten::value_selecting_reduction_backward", inputs, {"sizes": sizes, "keepdim": True})
        assert restrict(case).tensor("indices").range == (0.0, 4.0)


def test_lengths_of_joined_targets_add_up_to_them() -> None:
    joined = call("torch:aten::ctc_loss.Tensor", log_probs=(49, 2, 32), targets=whole(24), input_lengths=whole(2),
                  target_lengths=whole(2))  # fmt: skip
    case = restrict(joined)
    assert case.tensor("target_lengths").literal == (12, 12)
    assert case.tensor("input_lengths").range == (49.0, 50.0)
    rows = restrict(replace(joined, inputs={**joined.inputs, "targets": whole(2, 12)}))
    assert rows.tensor("target_lengths").range == (12.0, 13.0)


def test_what_a_framework_calls_an_index_stays_small_where_no_row_knows_its_extent() -> None:
    names = ("segment_ids", "indices", "perm", "num_segments", "Offsets", "table1_idx", "valid", "side", "data")
    case = restrict(Case("torch:mylib::lookup", {name: whole(3) for name in names}))
    small = [name for name in names if case.tensor(name).range == (0.0, 10.0)]
    assert small == ["segment_ids", "indices", "perm", "num_segments", "Offsets", "table1_idx"]
    for name in ("my_module:lookup", "lookup"):
        assert restrict(Case(name, {"indices": whole(3)})).tensor("indices").range == (-(2.0**31), 2.0**31)


def test_no_gradient_flows_to_indices_that_stand_in_floats() -> None:
    case = restrict(call("mxnet:nd.Embedding", data=(6, 5), weight=(10, 4)))
    assert [tensor.requires_grad for tensor in case.tensors()] == [False, None]


def test_shifts_and_exponents_and_counts_of_whole_numbers_are_small() -> None:
    def second(name: str, dtype: str) -> object:
        two = Case(name, {"self": TensorSpec((2,), dtype), "other": TensorSpec((2,), dtype)})
        return restrict(two).tensor("other").range

    assert second("torch:aten::bitwise_left_shift.Tensor", "int8") == (0.0, 7.0)
    assert second("torch:aten::__rshift__.Tensor", "int64") == (0.0, 63.0)
    assert second("power", "int32") == (0.0, 10.0)
    assert restrict(call("torch:aten::bincount", self=whole(40))).tensor("self").range == (0.0, 40.0)


def test_matrices_to_be_factored_are_positive_definite_and_others_are_left() -> None:
    assert restrict(call("torch:aten::linalg_cholesky", self=(3, 8, 8))).tensor("self").values == SPD
    assert restrict(call("torch:aten::linalg_cholesky", self=(8, 7))).tensor("self").values == "uniform"


def test_offsets_rise_from_zero_to_no_more_than_there_are_indices_whatever_was_recorded() -> None:
    recorded = TensorSpec((3,), "int64", range=(0.0, 900.0))
    case = restrict(call("torch:aten::embedding_bag", weight=(100, 8), indices=whole(40), offsets=recorded))
    assert case["offsets"] == TensorSpec((3,), "int64", values="sorted", range=(0.0, 40.0))
    assert case.tensor("indices").range == (0.0, 100.0)


def test_targets_of_which_some_are_ignored_are_classes() -> None:
    recorded = TensorSpec((16,), "int64", range=(-100.0, 8.0))
    assert restrict(call("torch:aten::cross_entropy_loss", self=(16, 8), target=recorded))["target"] == replace(
        recorded, range=(0.0, 8.0)
    )


def test_targets_that_were_ignored_one_by_one_stay_so() -> None:
    given = TensorSpec((3,), "int64", literal=(-100, 2, 1))
    assert restrict(call("torch:aten::nll_loss", self=(3, 8), target=given))["target"] == given


def test_targets_that_are_probabilities_are_left() -> None:
    case = call("torch:aten::cross_entropy_loss", self=(16, 8), target=(16, 8))
    assert restrict(case) == case


def test_indices_follow_the_dimension_that_they_are_of_and_keep_bounds_inside_it() -> None:
    taken = call("torch:aten::gather", self=(100, 16), dim=1, index=whole(100, 4))
    assert restrict(taken).tensor("index").range == (0.0, 16.0)
    within_it = call("torch:aten::gather", self=(100, 16), dim=1, index=TensorSpec((9, 4), "int64", range=(2.0, 5.0)))
    assert restrict(within_it) == within_it


def test_indices_from_the_end_are_left_where_the_operator_counts_so() -> None:
    index = TensorSpec((6,), "int64", range=(-10.0, 10.0))
    case = Case("torch:aten::index.Tensor", {"self": TensorSpec((10, 4)), "indices": ListOf((None, index, index))})
    assert restrict(case)["indices"] == ListOf(
        (None, replace(index, range=(-4.0, 4.0)), replace(index, range=(0.0, 1.0)))
    )


def test_numbers_of_a_floating_type_are_indices_where_mxnet_has_them_so() -> None:
    case = restrict(call("mxnet:nd.Embedding", data=(6, 5), weight=(10, 4)))
    assert case.tensor("data").range == (0.0, 9.0)
    assert case.tensor("weight").range is None


def test_lengths_of_packed_sequences_fall_and_add_up() -> None:
    packed = restrict(call("torch:aten::_pack_padded_sequence", input=(7, 3, 4), lengths=whole(3)))
    assert packed["lengths"] == TensorSpec((3,), "int64", values="reversed", range=(1.0, 8.0))
    sizes = restrict(call("torch:aten::_pad_packed_sequence", data=(12, 4), batch_sizes=whole(5)))["batch_sizes"]
    assert sizes == TensorSpec((5,), "int64", literal=(3, 3, 2, 2, 2))


def test_lengths_and_offsets_of_jagged_rows_add_up_to_their_values_whatever_was_recorded() -> None:
    recorded = TensorSpec((2, 3), "int64", range=(0.0, 90.0))
    case = restrict(call("torch:fbgemm::permute_2D_sparse_data", permute=whole(2), lengths=recorded, values=whole(11)))
    assert case.tensor("lengths").literal == (2, 2, 2, 2, 2, 1)
    assert case.tensor("permute").literal == (1, 0)
    edges = call("torch:fbgemm::jagged_softmax", values=(11, 4), x_offsets=whole(4), max_L=4)
    assert restrict(edges).tensor("x_offsets").literal == (0, 3, 7, 11)
    levels = ListOf((whole(3), whole(6)))
    dense = restrict(call("torch:fbgemm::jagged_to_padded_dense", values=(11, 4), offsets=levels, max_lengths=[3, 4]))
    assert [tensor.literal for tensor in tensors_of(dense["offsets"])] == [(0, 2, 5), (0, 2, 4, 6, 8, 11)]
    padded = restrict(
        call("torch:fbgemm::dense_to_jagged", dense=(2, 5, 4), x_offsets=ListOf((whole(3),)), total_L=None)
    )
    assert [tensor.literal for tensor in tensors_of(padded["x_offsets"])] == [(0, 5, 10)]


def test_very_many_lengths_and_offsets_stay_within_their_values() -> None:
    many = call("torch:fbgemm::pack_segments", t_in=(700_000, 4), lengths=whole(100_000), max_length=9)
    assert restrict(many)["lengths"] == TensorSpec((100_000,), "int64", range=(7.0, 8.0))
    edges = call("torch:fbgemm::jagged_softmax", values=(700_000, 4), x_offsets=whole(100_001), max_L=9)
    assert restrict(edges)["x_offsets"] == TensorSpec((100_001,), "int64", values="sorted", range=(0.0, 700_001.0))
    assert restrict(restrict(edges)) == restrict(edges)


def test_the_inputs_of_the_catalog_follow_shapes_that_a_user_gives() -> None:
    indices = TensorSpec((4,), "int64", range=(0.0, 32000.0))
    case = Case("embedding", {"indices": indices, "weight": TensorSpec((9, 8))})
    assert restrict(case).tensor("indices").range == (0.0, 9.0)


def test_values_of_which_nothing_is_drawn_are_not_touched() -> None:
    assert is_open(TensorSpec((2,)))
    assert not is_open(TensorSpec((0,)))
    zeros = TensorSpec((2,), values="zeros")
    assert restrict(Case("torch:aten::log", {"self": zeros}))["self"] == zeros
