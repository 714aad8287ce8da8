"""Inputs that calls change are found out and put back, or the trial is skipped."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from opperf.child.worker.directions import call_once, ready
from opperf.child.worker.mutation import Changed, Watch, keep
from opperf.domain.call import Bound

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.child.worker.conftest import Arrays

VALUES = [3.0, 1.0, 2.0]


class Recorder:
    """A function of the user's that notes what it is called with, and then changes it."""

    def __init__(self, change: Callable[..., object]) -> None:
        self.change = change
        self.seen: list[Any] = []

    def __call__(self, *arguments: Any) -> Any:
        self.seen.append(copied(arguments))
        return self.change(*arguments)


def copied(value: Any) -> Any:
    """Return a value as lists of numbers."""
    if isinstance(value, (list, tuple)):
        return [copied(item) for item in value]
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    return value.tolist() if isinstance(value, np.ndarray) else value


def array() -> Any:
    """Return an array that can be changed."""
    return np.array(VALUES, "float32")


def grow(items: list[Any]) -> None:
    """Add to a list."""
    items.append(items[0] * 2)


CHANGES: dict[str, tuple[Callable[..., Any], Callable[[], tuple[Any, ...]]]] = {
    "sorts": (lambda x: x.sort(), lambda: (array(),)),
    "writes a part": (lambda x: x[1:2].fill(7), lambda: (array(),)),
    "writes the second": (lambda x, out: np.negative(x, out=out), lambda: (array(), array())),
    "a list of arrays": (lambda xs: xs[1].sort(), lambda: ([array(), array()],)),
    "a list in a tuple": (lambda xs: xs[0][1].sort(), lambda: (([array(), array()],),)),
    "replaces an item": (lambda xs: xs.__setitem__(0, xs[0] * 2), lambda: ([array(), array()],)),
    "takes an item away": (lambda xs: xs.pop(), lambda: ([array(), array(), array()],)),
    "adds an item": (grow, lambda: ([array()],)),
    "numbers": (lambda xs: xs.sort(), lambda: ([3, 1, 2],)),
    "a dictionary": (lambda d: d.update(b=d["a"] * 2), lambda: ({"a": array()},)),
    "an array in a dictionary": (lambda d: d["a"].sort(), lambda: ({"a": array()},)),
    "a transposed view": (
        lambda x: x.__imul__(2),
        lambda: (np.arange(6, dtype="float32").reshape(2, 3).copy().T,),
    ),
    "every second element": (lambda x: x.__imul__(2), lambda: (np.arange(6, dtype="float32")[::2],)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_every_call_finds_its_inputs_as_they_were_made(name: str, backend: Arrays) -> None:
    change, make = CHANGES[name]
    recorder = Recorder(change)
    sound = ready(backend, lambda: Bound(recorder, make()), "forward", None, "s")
    for _ in range(3):
        call_once(backend, sound.work)
    assert recorder.seen == [copied(make())] * 5  # the first call of all is the one that tells
    sound.check()
    assert str(sound.work.notes["mutates"]).endswith(": restored before each call")


def test_the_record_names_what_is_put_back(backend: Arrays) -> None:
    values = {"x": array(), "y": array()}
    sound = ready(
        backend, lambda: Bound(lambda x, y: y.sort(), (*values.values(),), values=values), "forward", None, "s"
    )
    assert sound.work.notes["mutates"] == "y: restored before each call"


@pytest.mark.parametrize(
    ("call", "remains"),
    [
        (lambda x, out: np.negative(x, out=out), True),
        (lambda x, out: np.cumsum(x, out=out), True),
        (lambda x, out: np.negative(x[:2], out=out[:2]), False),
        (lambda x, out: out.sort(), False),
        (lambda x, out: np.add(out, x, out=out), False),
        (lambda x, out: np.maximum(out, x * 0 + 2, out=out), False),
        (lambda x, out: np.copyto(out, x, where=out > 1.5), False),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "complex64", "int16"])
def test_what_each_call_of_a_suite_writes_over_stays_and_what_it_reads_is_put_back(
    call: Callable[..., Any], remains: bool, dtype: str, backend: Arrays
) -> None:
    def bind() -> Bound:
        arrays = [array().astype(dtype), np.array([1, 3, 2], dtype)]
        return Bound(lambda both: call(*both), (arrays,), values={"both": arrays}, as_is=True)

    sound = ready(backend, bind, "forward", None, "s")
    assert (sound.work.before is None) == remains
    words = "written over by each call, whatever was there" if remains else "restored before each call"
    assert sound.work.notes["mutates"] == f"both: {words}"
    sound.check()


def test_an_input_that_a_later_call_changes_is_seen_beside_one_that_is_written_over(backend: Arrays) -> None:
    x, out = array(), array()
    values = {"x": x, "out": out}
    bound = Bound(lambda x, out: np.negative(x, out=out), (x, out), values=values, as_is=True)
    sound = ready(backend, keep(backend, bound), "forward", None, "s")
    assert sound.work.before is None
    x += 1
    with pytest.raises(Changed, match="`x`"):
        sound.check()


def test_inputs_that_no_call_changes_are_made_once(backend: Arrays) -> None:
    made: list[Any] = []

    def bind() -> Bound:
        made.append(array())
        return Bound(np.sort, (made[-1],))

    sound = ready(backend, bind, "forward", None, "s")
    assert len(made) == 1
    assert sound.work.before is None
    assert "mutates" not in sound.work.notes


def test_what_a_later_call_changes_is_refused_with_how_to_declare_it(backend: Arrays) -> None:
    calls = iter([0, 0, 1])
    values = {"x": array()}
    bound = Bound(lambda x: x.__iadd__(next(calls)), (values["x"],), values=values)
    sound = ready(backend, lambda: bound, "forward", None, "s")
    call_once(backend, sound.work)
    sound.check()
    call_once(backend, sound.work)
    with pytest.raises(Changed, match="some call changed `x`") as caught:
        sound.check()
    assert caught.value.slug == "mutates"
    assert caught.value.hint == 'declare that of your own function: `@opperf.operator(mutates=["x"])`'


def test_turns_are_looked_at_after_the_first_the_second_and_the_fourth(
    backend: Arrays, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound = ready(backend, lambda: Bound(np.sort, (array(),)), "forward", None, "s")
    turns: list[int] = []
    looks: list[int] = []
    monkeypatch.setattr(sound.watch, "check", lambda: looks.append(len(turns)))
    for turn in range(1, 10):
        turns.append(turn)
        sound.end_turn()
    assert looks == [1, 2, 4, 8]


def test_a_call_that_fails_on_what_another_left_gets_inputs_of_its_own(backend: Arrays) -> None:
    def consume(x: Any) -> Any:
        if x[0] != VALUES[0]:
            raise ValueError("used already")
        x[:] = 0
        return x

    def forward_twice(bound: Bound) -> Any:
        work = forward(bound)
        work.function(*work.arguments)  # as to compile it
        return work

    forward = backend.forward
    backend.forward = forward_twice  # type: ignore[method-assign]
    call_once(backend, ready(backend, lambda: Bound(consume, (array(),)), "forward", None, "s").work)


def test_an_error_of_a_call_that_changed_nothing_is_its_own(backend: Arrays) -> None:
    with pytest.raises(ZeroDivisionError):
        ready(backend, lambda: Bound(lambda x: 1 / 0, (array(),)), "forward", None, "s")


def test_what_cannot_be_looked_into_is_left_as_it_is(backend: Arrays) -> None:
    class Opaque:
        count = 0

    box = Opaque()

    def use(box: Any) -> None:
        box.count += 1

    sound = ready(backend, lambda: Bound(use, (box,)), "forward", None, "s")
    assert sound.work.before is None
    sound.check()


def test_a_tensor_that_the_framework_fails_to_read_is_left_as_it_is(
    backend: Arrays, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(tensor: Any) -> Any:
        raise RuntimeError("it has no elements")

    monkeypatch.setattr(backend, "digest", fail)
    assert ready(backend, lambda: Bound(lambda x: x.sort(), (array(),)), "forward", None, "s").work.before is None


def test_each_tensor_of_a_list_is_read_once_at_each_look(backend: Arrays, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[object] = []
    monkeypatch.setattr(backend, "digest", read.append)
    Watch(backend, Bound(sum, ([array(), (array(), [array()])],)))
    assert len(read) == 3


def test_a_forward_that_changes_its_inputs_leaves_a_graph_that_is_kept(backend: Arrays) -> None:
    kept = ready(backend, lambda: Bound(np.sort, (array(),), differentiable=(1,)), "backward", None, "s")
    assert kept.work.before is None


def test_a_fresh_forward_that_changes_its_inputs_has_them_put_back(backend: Arrays) -> None:
    backend.kept = [1.0, 2.0, 3.0, 4.0]
    backward = backend.backward

    def changing(bound: Bound, cotangents: Any, *, fresh: bool) -> Any:
        work = backward(bound, cotangents, fresh=fresh)
        bound.arguments[0].sort()
        return work

    backend.backward = changing  # type: ignore[method-assign]
    work = ready(backend, lambda: Bound(np.sort, (array(),), differentiable=(1,)), "backward", None, "s").work
    work.make_arguments()
    assert backend.events[-1] == "restored"
    assert work.arguments[0].tolist() == VALUES


def test_what_a_walk_back_changes_is_put_back_to_what_the_forward_left(backend: Arrays) -> None:
    backward = backend.backward

    def changing(bound: Bound, cotangents: Any, *, fresh: bool) -> Any:
        work = backward(bound, cotangents, fresh=fresh)
        bound.arguments[0].sort()

        def walk(x: Any) -> Any:
            x += 1
            return work.function(x)

        return replace(work, function=walk)

    backend.backward = changing  # type: ignore[method-assign]
    sound = ready(backend, lambda: Bound(np.sort, (array(),), differentiable=(1,)), "backward", None, "s")
    for _ in range(2):
        assert sound.work.make_arguments()[0].tolist() == [1.0, 2.0, 3.0]
        call_once(backend, sound.work)
    assert sound.work.notes["mutates"] == "argument 1: restored before each call"
    sound.check()


def test_inputs_that_cannot_be_made_again_are_kept(backend: Arrays) -> None:
    bind = keep(backend, Bound(np.sort, (array(), [array()], {"k": array()})))
    for _ in range(2):
        bound = bind()
        assert copied(bound.arguments) == [VALUES, [VALUES], {"k": VALUES}]
        bound.arguments[0].sort()
        bound.arguments[1].clear()
        bound.arguments[2]["k"].sort()
