"""Comparisons by groups of operators."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.unit.parent.reports.conftest import run_of

from opperf.domain.case import Case
from opperf.domain.plan import Side
from opperf.parent.documents.comparison import Comparison, ComparisonRun, Verdict
from opperf.parent.reports import render
from opperf.parent.reports.comparison_groups import compared_groups, document

BASE, NEW = Side("numpy"), Side("torch")


def compared(operator: str, base: float, new: float, verdict: str = "slower", count: int = 1) -> Comparison:
    """Return the comparison of an operator that takes so many seconds."""
    ratio = Verdict(verdict, new / base, (0.9 * new / base, 1.1 * new / base), "", 5)
    return Comparison(Case(operator), "forward", BASE, NEW, ratio, base, new, count=count)


SUITE = (
    compared("matmul", 1e-3, 3e-3, count=4),
    compared("torch:aten::addmm", 2e-3, 1e-3, "faster"),
    compared("add", 1e-3, 1e-3, "same", count=10),
)


def test_calls_of_a_group_are_summed_up_and_the_largest_ratio_comes_first() -> None:
    products, elementwise = compared_groups(SUITE)
    assert (products.group, products.cases, products.calls) == ("products", 2, 5)
    assert [products.base_total, products.new_total] == pytest.approx([6e-3, 13e-3])
    assert products.ratio == pytest.approx(13 / 6)
    assert (products.typical, products.largest, products.operator) == (1.75, 3, "matmul")
    assert (products.slower, products.faster) == (1, 1)
    assert (elementwise.group, elementwise.calls, elementwise.ratio) == ("elementwise", 10, 1)


def test_each_pair_of_sides_and_each_direction_has_rows_of_its_own() -> None:
    backward = replace(SUITE[0], direction="backward")
    jax = replace(SUITE[0], new=Side("jax", mode="compiled"))
    rows = compared_groups((*SUITE[:2], backward, jax))
    assert [(row.direction, row.new.partition(";")[0], row.calls) for row in rows] == [
        ("forward", "torch", 5),
        ("backward", "torch", 4),
        ("forward", "jax", 4),
    ]


def test_what_has_no_time_on_both_sides_has_no_row() -> None:
    failed = replace(SUITE[0], base_time=None, new_time=None, status="failed")
    assert compared_groups((failed,)) == ()


def test_people_and_programs_read_the_groups_and_the_suite() -> None:
    run = ComparisonRun(run_of(), SUITE)
    text = render(document(run), "console")
    assert "products         2      5    6.00 ms   13.0 ms  2.167   1.750    3.000  matmul" in text
    assert "15 of 15 calls" in text
    data = json.loads(render(document(run), "json"))
    assert [row["group"] for row in data["groups"]] == ["products", "elementwise"]
    assert ComparisonRun.from_json(data, "x.json").to_json() == run.to_json()
