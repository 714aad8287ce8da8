"""The catalog as a whole, and the outputs and counts of its operators against numbers computed by hand."""

from __future__ import annotations

import json
from functools import partial
from importlib import import_module

import pytest
from tests.each import each

from opperf.catalog import DIRECTIONS, FAMILIES, SIZES, catalog, categories, operator
from opperf.catalog.definition import FORWARD_ONLY, Operator
from opperf.domain.case import Argument, Case, DType, ListOf
from opperf.domain.errors import InputError
from opperf.domain.tensor import TensorSpec

OPERATORS = tuple(catalog().values())


def case_of(name: str, **arguments: Argument) -> Case:
    return operator(name).case_of(arguments)


def shapes(name: str, **arguments: Argument) -> list[tuple[int, ...]]:
    return [tensor.shape for tensor in operator(name).outputs(case_of(name, **arguments))]


def dtypes(name: str, **arguments: Argument) -> list[str]:
    return [tensor.dtype for tensor in operator(name).outputs(case_of(name, **arguments))]


def flops(name: str, direction: str = "forward", /, **arguments: Argument) -> int | None:
    return operator(name).flop_count(case_of(name, **arguments), direction)


# --- the catalog ---


def declared_by(family: str) -> set[str]:
    """Return the categories of the operators that a file declares."""
    return {declared.category for declared in import_module(f"opperf.catalog.{family}").OPERATORS}


def test_every_operator_that_a_family_declares_is_in_the_catalog_once() -> None:
    declared = [one.name for family in FAMILIES for one in import_module(f"opperf.catalog.{family}").OPERATORS]
    assert list(catalog()) == declared
    assert len(catalog()) == len(set(declared))


def test_a_category_stands_in_one_family() -> None:
    homes = [(category, family) for family in FAMILIES for category in declared_by(family)]
    assert sorted(category for category, _ in homes) == sorted(categories())


def test_the_names_that_the_contract_fixes_are_there() -> None:
    assert {"add", "matmul", "softmax", "conv2d", "layer_norm", "sort", "topk", "exp"} <= set(catalog())


def test_aliases_are_unique_and_hide_no_operator() -> None:
    aliases = [alias for declared in OPERATORS for alias in declared.aliases]
    assert len(aliases) == len(set(aliases))
    assert not set(aliases) & (set(catalog()) | set(categories()))


@pytest.mark.parametrize(
    ("alias", "name"),
    [("mm", "matmul"), ("bmm", "batch_matmul"), ("cat", "concatenate"), ("sub", "subtract"), ("mod", "remainder")],
)
def test_an_alias_finds_its_operator(alias: str, name: str) -> None:
    assert operator(alias).name == name


def test_every_default_case_has_an_id_of_its_own() -> None:
    ids = [declared.case(size).id for declared in OPERATORS for size in SIZES]
    assert len(set(ids)) == len(ids)


# --- each operator ---


def roles_are_inputs_of_the_operator(declared: Operator) -> None:
    assert {*declared.differentiable, *declared.mutates} <= set(declared.inputs)
    assert bool(declared.differentiable) == (declared.directions == DIRECTIONS)
    assert declared.directions in (DIRECTIONS, FORWARD_ONLY)
    assert declared.summary
    assert declared.summary[-1] != "."


def every_size_has_the_same_arguments(declared: Operator) -> None:
    assert tuple(declared.sizes) == SIZES
    names = [tuple(arguments) for arguments in declared.sizes.values()]
    assert names == [(*declared.inputs, *declared.attributes)] * len(SIZES)


def sizes_are_ordered_by_bytes(declared: Operator) -> None:
    def nbytes(size: str) -> int:
        case = declared.case(size)
        return case.input_bytes + sum(tensor.nbytes for tensor in declared.outputs(case))

    small, common, large = nbytes("small"), nbytes("common"), nbytes("large")
    assert small < common < large or (declared.name == "item" and small == large)


def a_case_survives_json_with_its_id(declared: Operator, size: str) -> None:
    case = declared.case(size)
    again = Case.from_json(json.loads(json.dumps(case.to_json())))
    assert again == case
    assert again.id == case.id
    assert case.id.startswith("c1-")


def counts_are_whole_numbers(declared: Operator, size: str) -> None:
    case = declared.case(size)
    assert isinstance(declared.flops(case), int)
    assert declared.flops(case) >= 0
    for direction in declared.directions:
        count = declared.byte_count(case, direction)
        assert count is None if direction in declared.aliasing else count is None or count > 0


def gradients_flow_from_floats_to_floats(declared: Operator, size: str) -> None:
    case = declared.case(size)
    if declared.differentiable:
        assert declared.outputs(case)[0].is_float
    for name in declared.differentiable:
        assert all(tensor.is_float for tensor in Case("", {name: case[name]}).tensors())


def index_tensors_say_their_range(declared: Operator, size: str) -> None:
    for tensor in declared.case(size).tensors():
        assert tensor.dtype in ("float32", "int64", "bool", "int8", "uint8", "complex64", "float8_e4m3fn")
        # Ten classes are the range that integers have by default, so it is not repeated.
        assert tensor.dtype != "int64" or tensor.range is not None or size == "skewed"


def a_case_fits_into_512_mebibytes(declared: Operator, size: str) -> None:
    case = declared.case(size)
    outputs = sum(tensor.nbytes for tensor in declared.outputs(case))
    gradients = sum(
        tensor.nbytes for name in declared.differentiable for tensor in Case("", {name: case[name]}).tensors()
    )
    # Held together by a backward pass: inputs, outputs, their cotangents, gradients.
    assert case.input_bytes + 2 * outputs + gradients <= 512 * 2**20


OF_AN_OPERATOR = (roles_are_inputs_of_the_operator, every_size_has_the_same_arguments, sizes_are_ordered_by_bytes)
OF_A_CASE = (
    a_case_survives_json_with_its_id,
    counts_are_whole_numbers,
    gradients_flow_from_floats_to_floats,
    index_tensors_say_their_range,
    a_case_fits_into_512_mebibytes,
)


@pytest.mark.parametrize("declared", [pytest.param(declared, id=declared.name) for declared in OPERATORS])
def test_an_operator_keeps_the_rules_of_the_catalog(declared: Operator) -> None:
    rules = [(rule.__name__, partial(rule, declared)) for rule in OF_AN_OPERATOR]
    rules += [(f"{size}: {rule.__name__}", partial(rule, declared, size)) for size in SIZES for rule in OF_A_CASE]
    failures = []
    for name, rule in rules:
        try:
            rule()
        except AssertionError as error:
            failures.append(f"{name}: {error}")
    assert not failures, "\n".join(failures)


def test_a_sum_has_no_byte_count_backward_because_its_gradient_may_be_the_cotangent_itself() -> None:
    add = operator("add")
    assert add.byte_count(add.case("small"), "forward") == 3 * 32 * 32 * 4
    assert add.byte_count(add.case("small"), "backward") is None


def test_an_embedding_reads_only_the_rows_that_its_indices_pick() -> None:
    embedding = operator("embedding")
    case = embedding.case("small")  # 64 rows of 16 floats, 8x8 indices of 8 bytes
    assert embedding.byte_count(case, "forward") == 64 * 8 + 2 * 64 * 16 * 4
    assert embedding.byte_count(case, "backward") == 64 * 8 + 64 * 16 * 4 + 64 * 16 * 4


# --- elementwise, broadcast ---


def test_element_wise_inputs_broadcast() -> None:
    assert shapes("add", lhs=TensorSpec((4, 1, 3)), rhs=TensorSpec((5, 1))) == [(4, 5, 3)]
    assert flops("add", lhs=TensorSpec((4, 1, 3)), rhs=TensorSpec((5, 1))) == 60


def test_a_scalar_may_be_the_right_side() -> None:
    assert shapes("multiply", lhs=TensorSpec((4, 3)), rhs=2.0) == [(4, 3)]


def test_no_agreed_number_of_operations_for_the_gradient_of_add() -> None:
    assert flops("add", "backward", lhs=TensorSpec((2,)), rhs=TensorSpec((2,))) is None


@each("name", ["equal", "less_equal", "broadcast_greater", "isnan", "logical_and", "logical_not"])
def test_answers_are_booleans(name: str) -> None:
    case = operator(name).case("small")
    assert [tensor.dtype for tensor in operator(name).outputs(case)] == ["bool"]


def test_broadcast_to_has_the_shape_asked_for() -> None:
    assert shapes("broadcast_to", data=TensorSpec((3, 1)), shape=(2, 3, 4)) == [(2, 3, 4)]


def test_another_dtype_goes_through_to_the_outputs() -> None:
    assert [t.dtype for t in operator("add").outputs(operator("add").case("small").with_dtype("float16"))] == [
        "float16"
    ]


# --- reduction ---


@each(
    ("axis", "keepdims", "expected"),
    [
        (None, False, ()),
        (None, True, (1, 1, 1)),
        (0, False, (3, 4)),
        (-1, False, (2, 3)),
        (-1, True, (2, 3, 1)),
        ((0, -1), False, (3,)),
        ((0, 2), True, (1, 3, 1)),
    ],
)
def test_a_reduction_folds_its_axes(axis: Argument, keepdims: bool, expected: tuple[int, ...]) -> None:
    assert shapes("sum", data=TensorSpec((2, 3, 4)), axis=axis, keepdims=keepdims) == [expected]
    assert flops("sum", data=TensorSpec((2, 3, 4)), axis=axis, keepdims=keepdims) == 24


def test_argmax_gives_indices() -> None:
    assert dtypes("argmax", data=TensorSpec((2, 3)), axis=1, keepdims=False) == ["int64"]


def test_cumsum_keeps_the_shape() -> None:
    assert shapes("cumsum", data=TensorSpec((2, 3)), axis=1) == [(2, 3)]


def test_an_axis_that_the_tensor_lacks_is_an_input_error() -> None:
    with pytest.raises(InputError, match="`axis` of `sum` is 2, and the tensor has 2 dimensions"):
        shapes("sum", data=TensorSpec((2, 3)), axis=2, keepdims=False)


# --- matmul ---


@pytest.mark.parametrize(
    ("lhs", "rhs", "expected", "operations"),
    [
        ((3, 4), (4, 5), (3, 5), 120),
        ((4,), (4, 5), (5,), 40),
        ((3, 4), (4,), (3,), 24),
        ((4,), (4,), (), 8),
        ((2, 1, 3, 4), (7, 4, 5), (2, 7, 3, 5), 1680),
    ],
)
def test_matmul_follows_the_rule_of_numpy(
    lhs: tuple[int, ...], rhs: tuple[int, ...], expected: tuple[int, ...], operations: int
) -> None:
    tensors = {"lhs": TensorSpec(lhs), "rhs": TensorSpec(rhs)}
    assert shapes("matmul", **tensors) == [expected]
    assert flops("matmul", **tensors) == operations
    assert flops("matmul", "backward", **tensors) == 2 * operations
    assert flops("matmul", "forward_backward", **tensors) == 3 * operations


def test_matmul_of_lengths_that_do_not_meet_is_an_input_error() -> None:
    with pytest.raises(InputError, match="multiplies along 4 and 3 elements"):
        shapes("matmul", lhs=TensorSpec((2, 4)), rhs=TensorSpec((3, 2)))


def test_matmul_transposed_meets_rows() -> None:
    assert shapes("matmul_transposed", lhs=TensorSpec((3, 4)), rhs=TensorSpec((5, 4))) == [(3, 5)]
    assert flops("matmul_transposed", lhs=TensorSpec((3, 4)), rhs=TensorSpec((5, 4))) == 120


def test_linear_has_its_weight_as_out_in() -> None:
    tensors = {"data": TensorSpec((2, 3, 4)), "weight": TensorSpec((5, 4)), "bias": TensorSpec((5,))}
    assert shapes("linear", **tensors) == [(2, 3, 5)]
    assert flops("linear", **tensors) == 240


def test_products_of_vectors() -> None:
    assert shapes("dot", lhs=TensorSpec((6,)), rhs=TensorSpec((6,))) == [()]
    assert flops("dot", lhs=TensorSpec((6,)), rhs=TensorSpec((6,))) == 12
    assert shapes("outer", lhs=TensorSpec((6,)), rhs=TensorSpec((5,))) == [(6, 5)]
    assert flops("outer", lhs=TensorSpec((6,)), rhs=TensorSpec((5,))) == 30


# --- convolution, pooling ---

IMAGE = TensorSpec((20, 16, 28, 28))


@each(
    ("weight", "stride", "padding", "dilation", "groups", "expected", "operations"),
    [
        ((32, 16, 3, 3), 1, 0, 1, 1, (20, 32, 26, 26), 124_600_320),
        ((32, 16, 3, 3), (1, 1), (1, 1), (1, 1), 1, (20, 32, 28, 28), 144_506_880),
        ((32, 16, 3, 3), 2, 1, 1, 1, (20, 32, 14, 14), 36_126_720),
        ((32, 16, 3, 3), 1, 0, 2, 1, (20, 32, 24, 24), 106_168_320),
        ((32, 4, 3, 3), 1, 0, 1, 4, (20, 32, 26, 26), 31_150_080),
        ((8, 16, 1, 5), (2, 1), (0, 2), 1, 1, (20, 8, 14, 28), 10_035_200),
    ],
)
def test_conv2d_outputs_and_operations(
    weight: tuple[int, ...],
    stride: Argument,
    padding: Argument,
    dilation: Argument,
    groups: int,
    expected: tuple[int, ...],
    operations: int,
) -> None:
    arguments: dict[str, Argument] = {
        "data": IMAGE,
        "weight": TensorSpec(weight),
        "stride": stride,
        "padding": padding,
        "dilation": dilation,
        "groups": groups,
    }
    assert shapes("conv2d", **arguments) == [expected]
    assert flops("conv2d", **arguments) == operations
    assert flops("conv2d", "backward", **arguments) == 2 * operations


def test_conv2d_takes_its_usual_values_where_an_attribute_is_left_out() -> None:
    assert shapes("conv2d", data=IMAGE, weight=TensorSpec((32, 16, 3, 3))) == [(20, 32, 26, 26)]


def test_conv2d_with_channels_that_do_not_meet_is_an_input_error() -> None:
    with pytest.raises(InputError, match="the data has 16 channels, and the weight takes 8 in each of 1 groups"):
        shapes("conv2d", data=IMAGE, weight=TensorSpec((32, 8, 3, 3)))


def test_a_window_larger_than_the_data_is_an_input_error() -> None:
    with pytest.raises(InputError, match=r"the window \[31, 31\] of `conv2d` does not fit into \[28, 28\]"):
        shapes("conv2d", data=IMAGE, weight=TensorSpec((32, 16, 31, 31)))


def test_conv1d_and_conv3d_slide_along_their_dimensions() -> None:
    assert shapes("conv1d", data=TensorSpec((1, 1, 100)), weight=TensorSpec((4, 1, 10)), stride=5) == [(1, 4, 19)]
    assert flops("conv1d", data=TensorSpec((1, 1, 100)), weight=TensorSpec((4, 1, 10)), stride=5) == 1520
    volume = {"data": TensorSpec((1, 2, 4, 8, 8)), "weight": TensorSpec((3, 2, 3, 3, 3))}
    assert shapes("conv3d", **volume, stride=(1, 2, 2), padding=1) == [(1, 3, 4, 4, 4)]
    assert flops("conv3d", **volume, stride=(1, 2, 2), padding=1) == 20_736


def test_depthwise_conv2d_may_multiply_channels() -> None:
    tensors = {"data": TensorSpec((2, 3, 8, 8)), "weight": TensorSpec((6, 1, 3, 3))}
    assert shapes("depthwise_conv2d", **tensors, padding=1) == [(2, 6, 8, 8)]
    assert flops("depthwise_conv2d", **tensors, padding=1) == 13_824


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({}, (1, 3, 6, 6)),
        ({"stride": 2}, (1, 3, 9, 9)),
        ({"stride": 2, "padding": 1, "output_padding": 1}, (1, 3, 8, 8)),
        ({"dilation": 2}, (1, 3, 8, 8)),
        ({"groups": 2}, (1, 6, 6, 6)),
    ],
)
def test_conv_transpose2d_outputs(attributes: dict[str, Argument], expected: tuple[int, ...]) -> None:
    tensors = {"data": TensorSpec((1, 2, 4, 4)), "weight": TensorSpec((2, 3, 3, 3))}
    assert shapes("conv_transpose2d", **tensors, **attributes) == [expected]
    assert flops("conv_transpose2d", **tensors, **attributes) == 1728


def test_pooling_outputs_and_operations() -> None:
    image = TensorSpec((1, 2, 9, 9))
    assert shapes("max_pool2d", data=image, kernel=3, stride=2, padding=1) == [(1, 2, 5, 5)]
    assert flops("max_pool2d", data=image, kernel=3, stride=2, padding=1) == 450
    assert shapes("avg_pool2d", data=image, kernel=(2, 3), stride=None, padding=0) == [(1, 2, 4, 3)]
    assert shapes("avg_pool1d", data=TensorSpec((1, 2, 9)), kernel=2, stride=2) == [(1, 2, 4)]
    assert shapes("global_avg_pool2d", data=image) == [(1, 2, 1, 1)]
    assert flops("global_avg_pool2d", data=image) == 162


# --- normalization, softmax, dropout ---


def test_batch_norm_costs_less_when_the_statistics_are_known() -> None:
    arguments = dict(operator("batch_norm").sizes["small"])
    assert flops("batch_norm", **arguments) == 7 * 1024
    assert flops("batch_norm", **{**arguments, "training": False}) == 2 * 1024
    assert operator("batch_norm").mutates == ("running_mean", "running_var")
    assert operator("batch_norm").differentiable == ("data", "weight", "bias")


def test_softmax_is_five_operations_an_element() -> None:
    assert flops("softmax", data=TensorSpec((2, 3)), axis=-1) == 30


def test_dropout_that_does_not_train_computes_nothing() -> None:
    assert flops("dropout", data=TensorSpec((2, 3)), rate=0.5, training=False) == 0


# --- embedding, indexing, sorting ---


def test_embedding_puts_a_row_at_each_index() -> None:
    arguments = {"indices": TensorSpec((2, 3), "int64"), "weight": TensorSpec((10, 4))}
    assert shapes("embedding", **arguments) == [(2, 3, 4)]
    assert dtypes("one_hot", indices=TensorSpec((2,), "int64"), depth=5, dtype=DType("int32")) == ["int32"]
    assert shapes("one_hot", indices=TensorSpec((2,), "int64"), depth=5, dtype=DType("int32")) == [(2, 5)]


@pytest.mark.parametrize(("axis", "expected"), [(0, (5, 6, 3, 4)), (-1, (2, 3, 5, 6)), (None, (5, 6))])
def test_take_replaces_its_axis_by_the_indices(axis: int | None, expected: tuple[int, ...]) -> None:
    assert shapes("take", data=TensorSpec((2, 3, 4)), indices=TensorSpec((5, 6), "int64"), axis=axis) == [expected]


def test_gather_has_the_shape_of_the_indices_and_the_dtype_of_the_data() -> None:
    arguments: dict[str, Argument] = {"data": TensorSpec((4, 3)), "indices": TensorSpec((2, 3), "int64"), "axis": 0}
    assert shapes("gather", **arguments) == [(2, 3)]
    assert dtypes("gather", **arguments) == ["float32"]


def test_gather_nd_has_coordinates_first() -> None:
    assert shapes("gather_nd", data=TensorSpec((4, 3, 7)), indices=TensorSpec((2, 5), "int64")) == [(5, 7)]


def test_scatter_add_adds_each_update() -> None:
    index = TensorSpec((2, 3), "int64")
    arguments: dict[str, Argument] = {"data": TensorSpec((4, 3)), "indices": index, "updates": TensorSpec((2, 3))}
    assert shapes("scatter_add", **arguments, axis=0) == [(4, 3)]
    assert flops("scatter_add", **arguments, axis=0) == 6


def test_where_broadcasts_and_has_the_dtype_of_its_sides() -> None:
    condition = TensorSpec((3, 1), "bool")
    assert shapes("where", condition=condition, lhs=TensorSpec((4,)), rhs=0.0) == [(3, 4)]
    assert dtypes("where", condition=condition, lhs=0.0, rhs=TensorSpec((4,), "float64")) == ["float64"]


@pytest.mark.parametrize(
    ("begin", "end", "step", "expected"),
    [
        ((0, 0), (2, 3), (1, 1), (2, 3)),
        ((1, None), (None, -1), (1, 2), (9, 10)),
        ((5,), (100,), None, (5, 20)),
    ],
)
def test_slice_follows_the_rule_of_python(
    begin: Argument, end: Argument, step: Argument, expected: tuple[int, ...]
) -> None:
    assert shapes("slice", data=TensorSpec((10, 20)), begin=begin, end=end, step=step) == [expected]


def test_sorting_counts_comparisons() -> None:
    assert flops("sort", data=TensorSpec((4, 1000)), axis=-1, descending=False) == 40_000
    assert dtypes("argsort", data=TensorSpec((4, 1000)), axis=-1, descending=False) == ["int64"]


def test_topk_gives_values_and_indices() -> None:
    arguments: dict[str, Argument] = {"data": TensorSpec((4, 1000)), "k": 5, "axis": -1, "largest": True}
    assert shapes("topk", **arguments) == [(4, 5), (4, 5)]
    assert dtypes("topk", **arguments) == ["float32", "int64"]
    assert flops("topk", **arguments) == 12_000


# --- shape, join_split, linalg ---


@each(
    ("name", "attributes", "expected"),
    [
        ("transpose", {"axes": (2, 0, 1)}, (4, 2, 3)),
        ("transpose", {"axes": None}, (4, 3, 2)),
        ("swap_axes", {"axis1": 0, "axis2": -1}, (4, 3, 2)),
        ("reshape", {"shape": (6, -1)}, (6, 4)),
        ("reshape_like", {"like": TensorSpec((6, 4), "int8")}, (6, 4)),
        ("expand_dims", {"axis": -1}, (2, 3, 4, 1)),
        ("flip", {"axis": (0, 1)}, (2, 3, 4)),
        ("roll", {"shift": 1, "axis": 0}, (2, 3, 4)),
        ("tile", {"repeats": (2, 1, 1, 3)}, (2, 2, 3, 12)),
        ("tile", {"repeats": (5,)}, (2, 3, 20)),
        ("repeat", {"repeats": 2, "axis": 1}, (2, 6, 4)),
        ("repeat", {"repeats": 2, "axis": None}, (48,)),
        ("pad", {"widths": ((0, 0), (1, 2), (3, 0)), "value": 0.0}, (2, 6, 7)),
        ("copy", {}, (2, 3, 4)),
    ],
)
def test_layouts(name: str, attributes: dict[str, Argument], expected: tuple[int, ...]) -> None:
    assert shapes(name, data=TensorSpec((2, 3, 4)), **attributes) == [expected]
    assert flops(name, data=TensorSpec((2, 3, 4)), **attributes) == 0


@pytest.mark.parametrize(("axis", "expected"), [(None, (2, 3)), (0, (2, 1, 3)), ((0, -2), (2, 3))])
def test_squeeze_takes_out_the_dimensions_named(axis: Argument, expected: tuple[int, ...]) -> None:
    assert shapes("squeeze", data=TensorSpec((1, 2, 1, 3)), axis=axis) == [expected]


@each(
    ("name", "attributes"),
    [
        ("reshape", {"shape": (5, -1)}),
        ("reshape_like", {"like": TensorSpec((5, 5))}),
        ("squeeze", {"axis": 0}),
        ("transpose", {"axes": (0, 0, 1)}),
        ("pad", {"widths": (1, 1, 1), "value": 0.0}),
        ("split", {"sections": 2, "axis": 1}),
    ],
)
def test_a_layout_that_does_not_fit_is_an_input_error(name: str, attributes: dict[str, Argument]) -> None:
    with pytest.raises(InputError, match=name):
        shapes(name, data=TensorSpec((2, 3, 4)), **attributes)


def test_cast_has_the_dtype_asked_for() -> None:
    assert dtypes("cast", data=TensorSpec((2,)), dtype=DType("int32")) == ["int32"]


def test_joining_and_splitting() -> None:
    parts = ListOf((TensorSpec((2, 3)), TensorSpec((5, 3))))
    assert shapes("concatenate", data=parts, axis=0) == [(7, 3)]
    twins = ListOf((TensorSpec((2, 3)), TensorSpec((2, 3))))
    assert shapes("stack", data=twins, axis=-1) == [(2, 3, 2)]
    assert shapes("split", data=TensorSpec((2, 6)), sections=3, axis=1) == [(2, 2)] * 3


@pytest.mark.parametrize(("offset", "expected"), [(0, (3,)), (2, (3,)), (4, (1,)), (-1, (2,)), (-5, (0,))])
def test_diagonals_end_at_the_edge(offset: int, expected: tuple[int, ...]) -> None:
    assert shapes("diagonal", data=TensorSpec((3, 5)), offset=offset) == [expected]


def test_trace_adds_the_diagonal() -> None:
    assert shapes("trace", data=TensorSpec((3, 5))) == [()]
    assert flops("trace", data=TensorSpec((3, 5))) == 3


# --- random, loss, attention, optimizer ---


def test_a_random_operator_takes_no_tensor() -> None:
    assert operator("random_normal").inputs == ()
    assert operator("random_normal").random
    assert shapes("random_normal", shape=(2, 3), dtype=DType("float16"), mean=0.0, std=1.0) == [(2, 3)]
    assert dtypes("random_normal", shape=(2, 3), dtype=DType("float16"), mean=0.0, std=1.0) == ["float16"]


@pytest.mark.parametrize(("reduction", "expected"), [("mean", ()), ("sum", ()), ("none", (8,))])
def test_a_loss_is_one_number_or_one_for_each_label(reduction: str, expected: tuple[int, ...]) -> None:
    arguments: dict[str, Argument] = {"data": TensorSpec((8, 10)), "labels": TensorSpec((8,), "int64")}
    assert shapes("cross_entropy", **arguments, reduction=reduction) == [expected]
    assert dtypes("cross_entropy", **arguments, reduction=reduction) == ["float32"]
    assert flops("cross_entropy", **arguments, reduction=reduction) == 400


def test_an_unknown_reduction_of_a_loss_is_an_input_error() -> None:
    with pytest.raises(InputError, match="`reduction` of `mse_loss` is 'median'"):
        shapes("mse_loss", data=TensorSpec((2,)), labels=TensorSpec((2,)), reduction="median")


@pytest.mark.parametrize(("causal", "pairs"), [(False, 4), (True, 3)])
def test_attention_counts_the_pairs_that_are_seen(causal: bool, pairs: int) -> None:
    # Batch 2, 3 heads, width 8: 2 x 8 + 2 x 8 + 6 = 38 operations a pair.
    square = TensorSpec((2, 3, 2, 8))
    counted = flops("scaled_dot_product_attention", query=square, key=square, value=square, causal=causal)
    assert counted == 6 * pairs * 38


def test_causal_attention_never_sees_keys_beyond_the_queries() -> None:
    query, longer = TensorSpec((2, 3, 2, 8)), TensorSpec((2, 3, 3, 8))
    assert shapes("sdpa", query=query, key=longer, value=longer, causal=True) == [(2, 3, 2, 8)]
    assert flops("sdpa", query=query, key=longer, value=longer, causal=True) == 6 * 3 * 38


def test_sgd_update_changes_its_weight_and_has_no_gradient() -> None:
    assert operator("sgd_update").mutates == ("weight",)
    assert operator("sgd_update").directions == FORWARD_ONLY
    assert flops("sgd_update", weight=TensorSpec((5,)), gradient=TensorSpec((5,)), learning_rate=0.1) == 10
