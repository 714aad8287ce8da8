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


def test_no_gradient_flows_through_a_mask_or_to_an_index_that_was_computed() -> None:
    result = graph(
        ("null", "var0", []), ("null", "var1", []), ("broadcast_greater", "mask", [0, 1]),
        ("_contrib_arange_like", "places", [0]), ("_plus_scalar", "next", [1]),
        ("Embedding", "rows", [4, 0]), ("broadcast_mul", "product", [2, 5]), heads=[6],
    )  # fmt: skip
    assert flowing(result, {"rows": {0}}) == [True, False, False, False, False, True, True]
    assert flowing(result)[4]


def test_values_of_the_largest_have_a_gradient_and_their_places_have_none() -> None:
    for kind, flows in (({}, False), ({"ret_typ": "indices"}, False), ({"ret_typ": "both"}, True)):
        largest = graph(("null", "var0", []), ("topk", "node_0", [0]), heads=[1])
        largest["nodes"][1]["attrs"] = kind
        assert flowing(largest) == [flows, flows]


def test_each_of_several_heads_is_where_a_gradient_comes_from() -> None:
    result = graph(("null", "var0", []), ("exp", "node_0", [0]), ("sin", "node_1", [0]), heads=[1, 2])
    assert flowing(result) == [True, True, True]
