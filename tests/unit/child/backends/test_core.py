"""A backend of the core alone: what it does not say has a default, or is skipped with a reason."""

from __future__ import annotations

import operator
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from opperf.child.backends.binding import call
from opperf.child.measure.block import ProcessClock
from opperf.child.measure.disturbance import NoCounters
from opperf.child.worker.code import Plugins
from opperf.child.worker.handler import Handler
from opperf.child.worker.names import NOT_BOUND, Names
from opperf.domain.backend import Backend, HostValue, Unsupported
from opperf.domain.call import Bound, Work
from opperf.domain.case import Case
from opperf.domain.plan import Side, Trial
from opperf.domain.tensor import TensorSpec


class Numbers:
    """Numbers on the host, with arithmetic."""

    def __init__(self, values: Iterable[float]) -> None:
        self.values = list(values)

    def _each(self, other: float, join: Callable[[float, float], float]) -> Numbers:
        return Numbers(join(value, other) for value in self.values)

    def __sub__(self, other: float) -> Numbers:
        return self._each(other, operator.sub)

    def __mul__(self, other: float) -> Numbers:
        return self._each(other, operator.mul)

    def __add__(self, other: float) -> Numbers:
        return self._each(other, operator.add)


class Core(Backend):
    """Lists of floats, and one operator."""

    name = "null"

    def __init__(self) -> None:
        self.side = Side("null")
        self.clock = ProcessClock()

    def facts(self) -> dict[str, Any]:
        return {"version": "1"}

    def host(self, raw: bytearray, dtype: str) -> Any:
        return Numbers(array("f", bytes(raw)))

    def tensor(self, host: Any, shape: Sequence[int], dtype: str, strides: Sequence[int] | None) -> Any:
        return list(host.values)

    def dtype(self, name: str) -> Any:
        return name

    def to_host(self, tensor: Any) -> HostValue:
        return array("f", tensor).tobytes(), (len(tensor),), "float32"

    def leaves(self, value: Any) -> list[Any]:
        return [value] if isinstance(value, list) else []

    def spec(self, tensor: Any) -> TensorSpec:
        return TensorSpec((len(tensor),))

    def bindings(self) -> Mapping[str, Any]:
        return {"abs": call("mine.abs", "data")}

    def resolve(self, path: str) -> Callable[..., Any]:
        if path == "mine.abs":
            return lambda data: [abs(value) for value in data]
        raise LookupError(path)

    def forward(self, bound: Bound) -> Work:
        return Work(bound.function, bound.arguments, bound.keywords, nullcontext)

    def wait(self, outputs: Any) -> None:
        return None


WORK = Work(abs, (1,), {}, nullcontext)
BOUND = Bound(abs, (1,))


def test_what_a_core_does_not_tell_is_nothing() -> None:
    core = Core()
    assert core.devices() == ["cpu"]
    assert core.names() == core.registered() == core.examples("abs", "small") == []
    nothing = [
        core.threads_seen, core.device_timer(), core.cache_sweep(), core.free_memory(), core.layer("abs", (), {}),
        core.memory(WORK), core.counts(WORK), core.capture(lambda: None),
    ]  # fmt: skip
    assert nothing == [None] * len(nothing)
    assert (core.immutable, core.collects) == (False, False)
    assert core.same([(b"1", (1,), "int8")], [(b"1", (1,), "int8")])


@pytest.mark.parametrize(
    ("ask", "slug"),
    [
        (lambda core: core.backward(BOUND, list, fresh=False), "no_gradient"),
        (lambda core: core.forward_backward(BOUND, list), "no_gradient"),
        (lambda core: core.snapshot([]), "mutates"),
        (lambda core: core.explain(WORK, 1), "no_explanation"),
    ],
)
def test_what_a_core_cannot_do_is_skipped_with_a_reason(ask: Callable[[Backend], Any], slug: str) -> None:
    with pytest.raises(Unsupported) as caught:
        ask(Core())
    assert caught.value.slug == slug


def test_tensors_that_never_change_need_not_be_put_back() -> None:
    core = Core()
    core.immutable = True
    assert core.snapshot([[1.0]])() is None


def test_a_class_that_lacks_a_verb_of_the_core_cannot_be_made() -> None:
    class Half(Backend):
        name = "half"

    with pytest.raises(TypeError, match="abstract"):
        Half()  # type: ignore[abstract]


def test_a_core_is_enough_to_prepare_a_trial_and_an_operator_it_does_not_bind_is_not_bound_yet(tmp_path: Path) -> None:
    core = Core()
    names = Names(core, tmp_path, Plugins(tmp_path, ()))
    case = Case("abs", {"data": TensorSpec((3,))})
    work = Handler(core, NoCounters(), tmp_path).work(Trial(case, Side("null"), "forward"), 0)
    assert all(value >= 0 for value in work.function(*work.arguments))
    with pytest.raises(Unsupported, match=f"null has no `exp`: {NOT_BOUND}"):
        names.call(Trial(Case("exp"), Side("null"), "forward"))
    assert names.describe("exp").reason == NOT_BOUND
