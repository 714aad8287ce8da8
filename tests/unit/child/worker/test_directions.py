"""What is checked before anything is timed: gradients that agree, inputs that are put back."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from opperf.catalog import operator
from opperf.child.worker import directions
from opperf.child.worker.directions import CHECKED_CALLS, LONG_CALLS, call_once, place_doubts, ready
from opperf.domain.backend import Unsupported
from opperf.domain.call import Bound, Work

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.unit.child.worker.conftest import Arrays

UPDATE = operator("sgd_update")


@pytest.fixture
def bound() -> Bound:
    """A call that returns its one argument, through which a gradient flows."""
    data = np.ones((2, 3), "float32")
    return Bound(lambda array: array, (data,), differentiable=(data,))


def test_forward_is_run_once_and_its_result_measured(backend: Arrays, bound: Bound) -> None:
    calls: list[Any] = []

    def twice(array: Any) -> Any:
        calls.append(array)
        return [array, (array,)]

    counted = replace(bound, function=twice)
    result = ready(backend, lambda: counted, "forward", None, "s")
    assert len(calls) == 1
    assert result.output_bytes == 2 * 24
    assert len(result.took) == 1


@pytest.mark.parametrize("direction", ["backward", "forward_backward"])
def test_without_a_gradient_there_is_no_backward(direction: str, backend: Arrays, bound: Bound) -> None:
    with pytest.raises(Unsupported) as caught:
        ready(backend, lambda: replace(bound, differentiable=()), direction, None, "s")
    assert (caught.value.slug, caught.value.hint) == ("no_gradient", "measure it forward")


def test_gradients_that_agree_come_from_a_graph_that_is_kept(backend: Arrays, bound: Bound) -> None:
    result = ready(backend, lambda: bound, "backward", None, "s")
    assert backend.events.count("kept graph") == 1
    assert "fresh graph" not in backend.events
    assert result.output_bytes == 16
    assert len(result.took) == CHECKED_CALLS


def test_what_a_call_needs_ahead_of_it_is_not_in_its_time(
    backend: Arrays, mutating: Bound, monkeypatch: pytest.MonkeyPatch
) -> None:
    def step(array: Any) -> tuple[()]:
        backend.clock.advance(7)
        return ()

    monkeypatch.setattr(backend, "snapshot", lambda tensors: lambda: backend.clock.advance(1000))
    assert ready(backend, lambda: replace(mutating, function=step), "forward", UPDATE, "s").took == (7,)


@pytest.mark.parametrize(("changed", "graph"), [(3, "kept graph"), (1, "fresh graph")])
def test_of_a_large_gradient_the_first_part_is_compared(
    changed: int, graph: str, backend: Arrays, bound: Bound, monkeypatch: pytest.MonkeyPatch
) -> None:
    def backward(bound: Bound, cotangents: Any, *, fresh: bool) -> Work:
        backend.events.append("fresh graph" if fresh else "kept graph")
        gradients = iter(np.zeros((9, 4), "float32"))

        def walk(*_: Any) -> Any:
            gradient = next(gradients)
            gradient[changed] = 0.0 if fresh else backend.clock.wall()
            backend.clock.advance(10**9)
            return [gradient]

        return Work(walk, (), {}, nullcontext)

    monkeypatch.setattr(directions, "MOST_COMPARED", 8)  # two of four elements
    monkeypatch.setattr(backend, "backward", backward)
    assert ready(backend, lambda: bound, "backward", None, "s").output_bytes == 16
    assert backend.events[-1] == graph


@pytest.mark.parametrize("gradients", [[1.0, 2.0, 1.0], [1.0, 1.0, 2.0]])
def test_gradients_that_differ_get_a_fresh_forward_for_each_call(
    gradients: list[float], backend: Arrays, bound: Bound
) -> None:
    backend.kept = gradients
    result = ready(backend, lambda: bound, "backward", None, "s")
    assert [event for event in backend.events if "graph" in event] == ["kept graph", "fresh graph"]
    assert result.work.function()[0][0] == 1.0


def test_gradients_that_differ_in_any_case_are_not_measured(backend: Arrays, bound: Bound) -> None:
    backend.kept = backend.fresh = [1.0, 2.0, 3.0]
    with pytest.raises(Unsupported) as caught:
        ready(backend, lambda: bound, "backward", None, "s")
    assert caught.value.slug == "unsteady_gradients"
    assert "forward_backward" in str(caught.value.hint)


def test_a_random_operator_may_differ_with_a_fresh_forward(backend: Arrays, bound: Bound) -> None:
    backend.kept = backend.fresh = [1.0, 2.0, 3.0]
    ready(backend, lambda: bound, "backward", operator("dropout"), "s")
    assert backend.events[-1] != "kept graph"
    assert "fresh graph" in backend.events


def test_a_random_operator_that_keeps_its_draw_keeps_its_graph(backend: Arrays, bound: Bound) -> None:
    ready(backend, lambda: bound, "backward", operator("dropout"), "s")
    assert "fresh graph" not in backend.events


def test_no_fourth_call_is_looked_at(backend: Arrays, bound: Bound) -> None:
    backend.kept = [1.0, 1.0, 1.0, 2.0]
    ready(backend, lambda: bound, "backward", None, "s")
    assert "fresh graph" not in backend.events


@pytest.mark.parametrize(("nanoseconds", "calls"), [(LONG_CALLS // 2, CHECKED_CALLS), (LONG_CALLS // 2 + 1, 2)])
def test_a_third_call_is_looked_at_where_two_took_a_short_time(
    nanoseconds: int, calls: int, backend: Arrays, bound: Bound, monkeypatch: pytest.MonkeyPatch
) -> None:
    def walk(*_: Any) -> Any:
        backend.clock.advance(nanoseconds)
        return [np.zeros(4, "float32")]

    monkeypatch.setattr(backend, "backward", lambda *_, fresh: Work(walk, (), {}, nullcontext))
    assert ready(backend, lambda: bound, "backward", None, "s").took == (nanoseconds,) * calls


def test_a_cotangent_is_like_the_output_and_the_same_for_the_same_seed(backend: Arrays, bound: Bound) -> None:
    made = []
    for seed in ("a", "a", "b"):
        ready(backend, lambda: bound, "backward", None, seed)
        made.append(backend.cotangent)
    assert (made[0].shape, made[0].dtype) == ((2, 3), np.dtype("float32"))
    assert np.array_equal(made[0], made[1])
    assert not np.array_equal(made[0], made[2])


def test_an_output_that_is_too_large_to_make_another_is_its_own_cotangent(
    backend: Arrays, bound: Bound, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "cotangent" not in ready(backend, lambda: bound, "backward", None, "s").work.notes
    monkeypatch.setattr(directions, "MOST_COTANGENT", 0)
    result = ready(backend, lambda: bound, "backward", None, "s")
    assert backend.cotangent is bound.arguments[0]
    assert result.work.notes["cotangent"] == "the output itself, which is over 0 B"


@pytest.fixture
def mutating() -> Bound:
    """A call that takes one from its argument, in place."""
    weight = np.zeros(4, "float32")
    return Bound(
        lambda array: np.subtract(array, 1, out=array), (weight,), mutated=("weight",), values={"weight": weight}
    )


def test_mutated_inputs_are_put_back_before_each_call(backend: Arrays, mutating: Bound) -> None:
    work = ready(backend, lambda: mutating, "forward", UPDATE, "s").work
    assert work.before is not None
    for _ in range(3):
        assert call_once(backend, work)[0] == -1.0
    assert backend.events == ["restored"] * 4
    assert work.notes["mutates"] == "weight: restored before each call"


def test_what_a_call_that_compiles_has_changed_is_put_back(
    backend: Arrays, mutating: Bound, monkeypatch: pytest.MonkeyPatch
) -> None:
    forward = backend.forward

    def compiled(bound: Bound) -> Work:
        bound.function(*bound.arguments)
        return forward(bound)

    monkeypatch.setattr(backend, "forward", compiled)
    assert call_once(backend, ready(backend, lambda: mutating, "forward", UPDATE, "s").work)[0] == -1.0


def test_a_mode_that_the_framework_lacks_is_refused(backend: Arrays, bound: Bound) -> None:
    backend.side = replace(backend.side, mode="cuda_graph")
    with pytest.raises(Unsupported, match="null has no mode `cuda_graph`") as caught:
        ready(backend, lambda: bound, "forward", None, "s")
    assert (caught.value.slug, caught.value.hint) == ("no_such_mode", "`--mode eager`")


@pytest.mark.parametrize("known", [True, False])
def test_an_operator_that_mutates_nothing_is_called_as_it_is(known: bool, backend: Arrays, bound: Bound) -> None:
    work = ready(backend, lambda: bound, "forward", UPDATE if known else None, "s").work
    assert work.before is None
    assert "mutates" not in work.notes


def test_notes_of_the_backend_are_kept(backend: Arrays, mutating: Bound, monkeypatch: pytest.MonkeyPatch) -> None:
    noted = Work(mutating.function, mutating.arguments, {}, nullcontext, notes={"mode": "odd"})
    monkeypatch.setattr(backend, "forward", lambda bound: noted)
    assert set(ready(backend, lambda: mutating, "forward", UPDATE, "s").work.notes) == {"mode", "mutates"}


def test_one_call_is_made_in_its_scope_with_fresh_arguments_and_waited_for(
    backend: Arrays, monkeypatch: pytest.MonkeyPatch
) -> None:
    events: list[Any] = []

    @contextmanager
    def scope() -> Iterator[None]:
        events.append("open")
        yield
        events.append("closed")

    monkeypatch.setattr(backend, "wait", lambda outputs: events.append(outputs))
    work = Work(lambda x, *, k: (x, k), ("old",), {"k": 1}, scope, before=lambda: ("fresh",))
    assert call_once(backend, work) == ("fresh", 1)
    assert events == ["open", [("fresh", 1)], "closed"]


def test_a_result_in_the_machines_memory_is_that_of_a_call_on_the_cpu(
    backend: Arrays, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = [np.ones(2), np.ones(3)]
    monkeypatch.setattr(backend, "place", lambda leaf: "cpu" if len(leaf) == 2 else "cuda")
    for device, leaves, slugs in (
        ("cuda:0", result[:1], ["ran_on_cpu"]),
        ("cuda:0", result, []),
        ("cpu", result[:1], []),
    ):
        monkeypatch.setattr(backend, "side", replace(backend.side, device=device))
        assert [one.slug for one in place_doubts(backend, leaves)] == slugs
