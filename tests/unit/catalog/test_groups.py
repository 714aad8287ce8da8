"""Groups by the names of other tools: every member exists, and no name is a category's."""

from __future__ import annotations

from tests.each import check_each, each

from opperf.catalog import catalog, categories
from opperf.catalog.groups import GROUPS
from opperf.domain.registry import split_implementation


def test_every_member_is_an_operator_of_the_catalog_or_of_mxnet() -> None:
    def check(group: str) -> None:
        for member in GROUPS[group]:
            framework, name = split_implementation(member)
            assert name in catalog() if framework is None else (framework, name[:3]) == ("mxnet", "nd.")
        assert len(set(GROUPS[group])) == len(GROUPS[group])

    check_each(GROUPS, check)


#: What the 19 category runners of MXNet's opperf, and 5 later ones, are called, without `run_`.
RUNNERS = """
    mx_unary mx_binary_broadcast mx_binary_element_wise mx_binary_misc gemm mx_random_sampling mx_reduction
    sorting_searching rearrange indexing_routines nn_basic activation pooling convolution optimizer
    transpose_convolution loss mx_misc linalg rearrange shape expanding rounding join_split
"""


def test_the_name_of_a_runner_of_mxnets_opperf_selects_operators() -> None:
    assert {*RUNNERS.split()} <= {*GROUPS, *categories()}


@each("name", ["activation", "pooling", "convolution", "optimizer", "loss", "linalg", "shape"])
def test_a_runner_whose_name_is_a_category_has_mxnets_operators_under_another(name: str) -> None:
    assert name in categories()
    assert {f"mx_{name}", f"nn_{name}"} & set(GROUPS)


def test_no_group_hides_a_category() -> None:
    assert not set(GROUPS) & set(categories())


def test_the_groups_of_mxnets_opperf_hold_its_operators() -> None:
    sizes = {name: len(GROUPS[name]) for name in ("mx_binary_broadcast", "mx_reduction", "sorting_searching", "gemm")}
    assert sizes == {"mx_binary_broadcast": 20, "mx_reduction": 11, "sorting_searching": 5, "gemm": 3}
