"""Groups by the names of other tools: every member exists, and no name is a category's."""

from __future__ import annotations

import pytest

from opperf.operators import catalog, categories
from opperf.operators.groups import GROUPS
from opperf.registry import split_implementation


@pytest.mark.parametrize("group", GROUPS)
def test_every_member_is_an_operator_of_the_catalog_or_of_mxnet(group: str) -> None:
    for member in GROUPS[group]:
        framework, name = split_implementation(member)
        assert name in catalog() if framework is None else (framework, name[:3]) == ("mxnet", "nd.")
    assert len(set(GROUPS[group])) == len(GROUPS[group])


def test_no_group_hides_a_category() -> None:
    assert not set(GROUPS) & set(categories())


def test_the_groups_of_mxnets_opperf_hold_its_operators() -> None:
    sizes = {name: len(GROUPS[name]) for name in ("mx_binary_broadcast", "mx_reduction", "sorting_searching", "gemm")}
    assert sizes == {"mx_binary_broadcast": 20, "mx_reduction": 11, "sorting_searching": 5, "gemm": 3}
