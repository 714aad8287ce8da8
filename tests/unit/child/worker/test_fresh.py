"""Values that nobody can foresee, in place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from opperf.child.backends.numpy.runtime import NumpyBackend
from opperf.child.worker import fresh
from opperf.child.worker.arguments import Maker
from opperf.child.worker.fresh import Draw, Supply, substitute
from opperf.domain.case import Case, ListOf
from opperf.domain.plan import Side
from opperf.domain.tensor import TensorSpec

CASE = Case(
    "mine",
    {
        "x": TensorSpec((64, 32), range=(2.0, 3.0)),
        "places": TensorSpec((100,), "int64", range=(0, 7)),
        "rows": ListOf((TensorSpec((8,)), TensorSpec((8,), values="sorted"))),
        "strided": TensorSpec((4, 8), strides=(1, 4)),
    },
)


@pytest.fixture(scope="module")
def backend() -> NumpyBackend:
    return NumpyBackend(Side("numpy"))


def made(backend: NumpyBackend) -> dict[str, Any]:
    """Return the arguments of the case, as a preparation makes them."""
    maker = Maker(backend, f"0/{CASE.id}")
    return {name: maker.make(argument, name) for name, argument in CASE.inputs.items()}


def test_values_are_written_where_tensors_lie_and_stay_as_the_case_declares_them(backend: NumpyBackend) -> None:
    values, supply = made(backend), Supply(backend, CASE, 0)
    addresses = [leaf.ctypes.data for leaf in backend.leaves(list(values.values()))]
    before = {name: np.array(value, copy=True) for name, value in values.items()}
    assert supply.fill(values, supply.draw()) == {}
    assert [leaf.ctypes.data for leaf in backend.leaves(list(values.values()))] == addresses
    assert (values["x"] != before["x"]).mean() > 0.99
    assert 2 <= values["x"].min() <= values["x"].max() < 3
    assert set(values["places"]) <= set(range(7))
    assert (values["rows"][1] == before["rows"][1]).all()
    assert values["strided"].strides == (4, 16)
    assert supply.fixed == ["rows"]


def test_no_two_draws_in_a_row_are_alike_whatever_chance_says(
    backend: NumpyBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    values, supply = made(backend), Supply(backend, CASE, 0)
    monkeypatch.setattr(fresh, "draw_below", lambda _: 0)
    sums = set()
    for _ in range(8):
        supply.fill(values, supply.draw())
        sums.add(float(values["x"].sum()))
    assert len(sums) == 8
    assert {float(Supply(backend, CASE, 0).copies(Draw({("x", 0): 0}))["x"].sum()) for _ in range(3)} - sums  # type: ignore[attr-defined]


def test_copies_have_the_same_values_elsewhere(backend: NumpyBackend) -> None:
    values, supply = made(backend), Supply(backend, CASE, 0)
    for _ in range(2):
        draw = supply.draw()
        supply.fill(values, draw)
        pairs = list(zip(backend.leaves(list(values.values())), backend.leaves(list(supply.copies(draw).values()))))
        assert all((own == other).all() for own, other in pairs)
        assert not any(np.shares_memory(own, other) for own, other in pairs)


def test_inputs_that_are_to_be_left_alone_are(backend: NumpyBackend) -> None:
    values, supply = made(backend), Supply(backend, CASE, 0)
    before = values["x"].copy()
    supply.fill(values, supply.draw(), {"x"})
    assert (values["x"] == before).all()


def test_a_case_that_is_too_large_keeps_its_values(backend: NumpyBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fresh, "MOST_BYTES", 100)
    supply = Supply(backend, CASE, 0)
    assert supply.draw() == Draw()
    assert supply.fixed == list(CASE.inputs)


def test_others_stand_in_for_tensors_in_lists_tuples_and_dictionaries() -> None:
    one, other = object(), object()
    assert substitute([one, (one, {"a": one}), 1], {id(one): other}) == [other, (other, {"a": other}), 1]
