"""Where gradients flow in a graph of MXNet's."""

from __future__ import annotations

from typing import Any

from opperf.child.backends.mxnet.flow import flowing


def graph(*nodes: tuple[str, str, list[int]], heads: list[int]) -> dict[str, Any]:
    """Return a graph of nodes: operator, name, and the numbers of the nodes that it reads."""
    written = [{"op": op, "name": name, "inputs": [[one, 0, 0] for one in read]} for op, name, read in nodes]
    return {"nodes": written, "heads": [[one, 0, 0] for one in heads]}


def test_a_gradient_flows_to_variables_and_to_nothing_else_that_is_read() -> None:
    result = graph(("null", "var0", []), ("null", "null1", []), ("dot", "node_0", [0, 1]), heads=[2])
    assert flowing(result) == [True, False, True]


def test_no_gradient_flows_where_only_constants_are_read() -> None:
    result = graph(("null", "null0", []), ("exp", "node_0", [0]), heads=[1])
    assert flowing(result) == [False, False]


def test_a_gradient_stops_where_it_is_blocked_and_goes_on_beside() -> None:
    result = graph(
        ("null", "var0", []), ("exp", "node_0", [0]), ("sin", "node_1", [1]), ("BlockGrad", "node_2", [2]),
        ("elemwise_add", "node_3", [1, 3]), heads=[4],
    )  # fmt: skip
    assert flowing(result) == [True, True, False, False, True]


def test_each_of_several_heads_is_where_a_gradient_comes_from() -> None:
    result = graph(("null", "var0", []), ("exp", "node_0", [0]), ("sin", "node_1", [0]), heads=[1, 2])
    assert flowing(result) == [True, True, True]
