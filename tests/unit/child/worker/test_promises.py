"""What a call promises: types and extents of its results, and the order of equal elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.unit.child.worker.conftest import Arrays

from opperf.catalog import operator
from opperf.child.backends.binding import Call, call, composition
from opperf.child.worker.promises import order_of_equals, results
from opperf.domain.call import Layout
from opperf.domain.case import Case
from opperf.domain.plan import Side, Trial


def stable_unless_told(data: Any, axis: int = -1, stable: bool = True) -> Any:
    """Sort as JAX and the array API do."""
    return np.sort(data, axis, stable=stable)


@pytest.mark.parametrize(
    ("bound", "function", "attributes", "expected"),
    [
        (call("numpy.sort", "a=data", "axis=axis"), np.sort, {}, "any"),
        (call("numpy.sort", "a=data", "kind='stable'"), np.sort, {}, "kept"),
        (call("numpy.argsort", "a=data", "kind=kind"), np.argsort, {"kind": "mergesort"}, "kept"),
        (call("numpy.argsort", "a=data", "kind=kind"), np.argsort, {"kind": "heapsort"}, "any"),
        (call("jax.numpy.sort", "data", "axis=axis"), stable_unless_told, {}, "kept"),
        (call("jax.numpy.sort", "data", "stable=stable"), stable_unless_told, {"stable": False}, "any"),
        (call("aten::sort.stable", "self", "stable=stable"), min, {"stable": True}, "kept"),  # a builtin tells nothing
        (call("torch.sort", "input=data", "dim=axis"), min, {}, "any"),
        (call("nd.argsort", "data"), None, {}, "any"),
        (call("numpy.searchsorted", "a=data"), np.searchsorted, {}, None),
        (call("numpy.add", "lhs, rhs"), np.add, {}, None),
        (composition(stable_unless_told, note="it sorts"), None, {}, None),
    ],
)
def test_the_order_of_equals_is_read_from_how_a_sort_is_called(
    bound: Call, function: Callable[..., Any] | None, attributes: dict[str, Any], expected: str | None
) -> None:
    assert order_of_equals(bound, Case("sort", {}, attributes), lambda _: function) == expected


def test_results_are_told_by_type_and_extents_in_the_catalogs_order() -> None:
    trial = Trial(operator("conv2d").case("small"), Side("null"), "forward")
    value = (np.zeros((1, 2, 3, 4), "float32"), np.int64(7)[...])
    assert results(Arrays(), trial, call("conv", "data"), value) == ("float32 1x2x3x4", "int64 scalar")
    swap = Layout(lambda one: one.transpose(0, 2, 3, 1), lambda one: one.transpose(0, 3, 1, 2))
    assert results(Arrays(), trial, call("conv", "data", layout=swap), value[0]) == ("float32 1x4x2x3",)


def test_states_that_are_returned_where_others_write_them_do_not_count() -> None:
    trial = Trial(operator("adam_update").case("small"), Side("null"), "forward")
    value = [np.zeros(4, "float32")] * 3
    assert results(Arrays(), trial, call("adam", "data"), value) == ("float32 4",)
