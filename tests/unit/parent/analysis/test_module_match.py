"""Modules of two suites: matched by place, by order where frameworks differ, and summed up where the same runs."""

from __future__ import annotations

from opperf.domain.case import Case
from opperf.domain.suite import Suite, SuiteCase
from opperf.parent.analysis.module_match import labels


def suite(*cases: tuple[str, str]) -> Suite:
    """Return a suite of operators and their places."""
    return Suite("", "", tuple(SuiteCase(Case(operator), 1, origin) for operator, origin in cases))


def test_layers_that_kept_what_they_run_are_one_row_and_one_that_changed_is_another() -> None:
    relu, gelu = "torch:aten::relu", "torch:aten::gelu"
    before = suite((relu, "Net.0.act, Net.1.act, Net.2.act"))
    after = suite((relu, "Net.0.act, Net.2.act"), (gelu, "Net.1.act"))
    first, second = labels(before, after)
    assert first == second == {"Net.0.act": "Net.{0,2}.act", "Net.1.act": "Net.1.act", "Net.2.act": "Net.{0,2}.act"}


def test_a_model_in_two_frameworks_is_matched_by_the_order_of_its_layers() -> None:
    before = suite(("tensorflow:tf.raw_ops.MatMul", "sequential_1.dense_2, sequential_1.dense_3"))
    after = suite(
        ("jax:primitive.dot_general", "sequential.dense.matmul, sequential.dense_1.matmul"),
        ("jax:primitive.add", "sequential.dense.add"),
        ("jax:primitive.stage", "step"),
    )
    first, second = labels(before, after)
    assert first == {"sequential_1.dense_2": "sequential.dense", "sequential_1.dense_3": "sequential.dense_1"}
    assert second == {
        "sequential.dense.matmul": "sequential.dense",
        "sequential.dense_1.matmul": "sequential.dense_1",
        "sequential.dense.add": "sequential.dense",
        "step": "step",
    }


def test_numbers_stand_as_they_are_where_one_framework_has_both_suites() -> None:
    before = suite(("torch:aten::mm", "net.block_1"), ("torch:aten::mm", "net.block_2"))
    after = suite(("torch:aten::mm", "net.block_2"))
    assert labels(before, after)[1] == {"net.block_2": "net.block_2"}
