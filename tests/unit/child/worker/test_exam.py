"""Timed calls of the user's own functions: what honest mistakes and simple cheats come to. The clock is virtual."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from opperf.catalog import catalog
from opperf.child.backends.numpy.runtime import NumpyBackend
from opperf.child.measure.disturbance import NoCounters
from opperf.child.worker import exam
from opperf.child.worker.correctness import WrongResult
from opperf.child.worker.failures import failure
from opperf.child.worker.handler import Handler
from opperf.child.worker.seal import Patched
from opperf.child.worker.side_work import Overseer, Times, Unfair
from opperf.domain.case import Case
from opperf.domain.code import Code
from opperf.domain.message.requests import Measure, Prepare, Release, Turn
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.tensor import TensorSpec

#: What each file of a test begins with. A right result takes a millisecond of the virtual clock, a call a microsecond.
HEAD = """
import sys
import numpy as np
import opperf
import virtual_time

cache = {}

def right(x):
    virtual_time.spend(1_000_000)
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)

"""
#: Larger than the small case, so that a function can tell both.
SHAPE = (96, 1024)
WRONG: dict[str, tuple[str, str]] = {
    "a cache by address": (
        "    key = x.ctypes.data\n    if key not in cache:\n        cache[key] = right(x)\n    return cache[key]",
        "wrong result in timed call 1: ",
    ),
    "a cache by identity": (
        "    if id(x) not in cache:\n        cache[id(x)] = right(x)\n    return cache[id(x)]",
        "wrong result in timed call 1: ",
    ),
    "right in the first calls only": (
        "    cache['n'] = cache.get('n', 0) + 1\n    return right(x) if cache['n'] <= 3 else x",
        "wrong result in timed call ",
    ),
    "right for small inputs only": (
        "    return right(x) if x.size <= 2**16 else np.concatenate([right(x[:64]), x[64:]])",
        "of tensor 0 is ",
    ),
    "right in the first rows only": (
        "    y = np.zeros_like(x)\n    y[:64] = right(x[:64])\n    return y",
        "element 65536 of tensor 0 is 0, expected ",
    ),
    "half the precision": ("    return right(x).astype(np.float16)", "tensor 0 is of float16, and of float32 from "),
    "a type that computes later": (
        "    return right(x).view(type('Lazy', (np.ndarray,), {'__module__': 'mine'}))",
        "tensor 0 is a `mine.Lazy`",
    ),
    "wrong where a loop of samples calls it": (
        "    return x if sys._getframe(1).f_code.co_name == 'block' else right(x)",
        "wrong result in timed call ",
    ),
    "an input that it overwrites": (
        "    x[...] = right(x)\n    return x",
        'it changes `data`, and numpy:composition:softmax does not; declare that: `@opperf.operator(mutates=["data"])`',
    ),
}  # fmt: skip


class VirtualTime:
    """A clock that only a function moves."""

    def __init__(self) -> None:
        self.now = 0

    def wall(self) -> int:
        """Return the time, a nanosecond later at each look."""
        self.now += 1
        return self.now

    cpu = wall

    def spend(self, nanoseconds: int) -> None:
        """Let time pass."""
        self.now += nanoseconds


@pytest.fixture(scope="module")
def backend() -> NumpyBackend:
    return NumpyBackend(Side("numpy"))


@pytest.fixture
def handler(backend: NumpyBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Handler:
    clock = VirtualTime()
    monkeypatch.setitem(sys.modules, "virtual_time", SimpleNamespace(spend=clock.spend))
    backend.clock = clock
    # What else runs in the process of the tests is not the function's.
    monkeypatch.setattr(Overseer, "_read", lambda _, **__: Times())
    return Handler(backend, NoCounters(), tmp_path)


def softmax(folder: Path, body: str, *, head: str = HEAD) -> Trial:
    """Return the trial of a function that should compute softmax."""
    (folder / "mine.py").write_text(f"{head}\ndef f(x):\n    virtual_time.spend(1_000)\n{body}\n")
    side = Side("numpy", implementation=Code("mine.py:f"))
    return Trial(Case("softmax", {"data": TensorSpec(SHAPE)}, {"axis": -1}), side, "forward")


def own(folder: Path, body: str, *, declaration: str = "") -> Trial:
    """Return the trial of a function that computes what no other does."""
    (folder / "mine.py").write_text(f"{HEAD}\n{declaration}\ndef f(x):\n    virtual_time.spend(1_000)\n{body}\n")
    return Trial(
        Case("mine.py:f", {"x": TensorSpec(SHAPE)}), Side("numpy", implementation=Code("mine.py:f")), "forward"
    )


def take_turns(handler: Handler, trial: Trial, rounds: int = 3) -> dict[str, Any]:
    """Prepare a trial and take a turn, as often as that; return the facts."""
    facts: dict[str, Any] = {}
    for _ in range(rounds):
        preparation = handler.answer(Prepare(trial, check="timed", offset=64))
        facts = {**preparation.facts}
        handler.answer(Turn(preparation.handle, 2))
        handler.answer(Release(preparation.handle))
    return facts


@pytest.mark.parametrize(("body", "text"), WRONG.values(), ids=WRONG)
def test_a_function_that_is_wrong_in_what_is_timed_fails(
    handler: Handler, tmp_path: Path, body: str, text: str
) -> None:
    with pytest.raises(WrongResult) as caught:
        take_turns(handler, softmax(tmp_path, body))
    assert text in str(caught.value)
    assert failure(caught.value).reason.slug == "wrong_result"


@pytest.mark.parametrize("body", [body for body, _ in WRONG.values()], ids=WRONG)
def test_the_check_before_anything_is_timed_lets_most_of_them_pass(handler: Handler, tmp_path: Path, body: str) -> None:
    preparation = handler.answer(Prepare(softmax(tmp_path, body), check="small"))
    assert handler.answer(Turn(preparation.handle, 2)).samples.samples


def test_a_run_checks_timed_calls_as_turns_do(handler: Handler, tmp_path: Path) -> None:
    handle = handler.answer(Prepare(softmax(tmp_path, WRONG["a cache by address"][0]), check="timed")).handle
    with pytest.raises(WrongResult, match=r"^wrong result in timed call 1: element \d+ of tensor 0 is .* by numpy:"):
        handler.answer(Measure(handle, Settings(runs=4, warmup=1)))


def test_an_honest_function_is_measured_and_its_record_says_what_was_checked(handler: Handler, tmp_path: Path) -> None:
    trial = softmax(tmp_path, "    return right(x)")
    assert take_turns(handler, trial)["checked"] == "timed calls against numpy:composition:softmax"
    handle = handler.answer(Prepare(trial, check="timed")).handle
    measurement = handler.answer(Measure(handle, Settings(runs=4, warmup=1)))
    assert measurement.facts["checked"] == "timed calls against numpy:composition:softmax"
    assert {sample.wall_ns // sample.calls for sample in measurement.time.samples} == {1_001_001}


HONEST = {
        "plain": ("    return right(x) + 1", ""),
        "with a workspace": ("    cache['y'] = y = cache.get('y', x + 0)\n    y[:] = right(x)\n    return y", ""),
        "with a table that is built lazily": ("    return right(x) * cache.setdefault('two', np.float32(2))", ""),
        "in place, as it declares": ("    x *= 2\n    return x", "@opperf.operator(mutates='x')"),
        "in place, as the first call shows": ("    x *= 2\n    return x", ""),
        "a view of its input": ("    return x.T", ""),
        "of several results": ("    return right(x), x.max(axis=-1)", ""),
}  # fmt: skip


@pytest.mark.parametrize(("body", "declaration"), HONEST.values(), ids=HONEST)
def test_honest_functions_without_a_reference_are_held_against_a_copy(
    handler: Handler, tmp_path: Path, body: str, declaration: str
) -> None:
    facts = take_turns(handler, own(tmp_path, body, declaration=declaration))
    assert facts["checked"] == "timed calls against a call on a copy of the same values"


def test_a_cache_by_address_is_seen_without_a_reference(handler: Handler, tmp_path: Path) -> None:
    with pytest.raises(WrongResult, match=r"timed call 1: element .* by a call on a copy of the same values \("):
        take_turns(handler, own(tmp_path, WRONG["a cache by address"][0]))


def test_results_that_differ_from_call_to_call_are_not_compared(handler: Handler, tmp_path: Path) -> None:
    trial = own(tmp_path, "    return right(x) + np.random.random()")
    handle = handler.answer(Prepare(trial, check="timed")).handle
    measurement = handler.answer(Measure(handle, Settings(runs=4, warmup=1)))
    assert measurement.facts["checked"] == "no: its results differ from call to call"


FINGERPRINT = (
    "    key = x.tobytes()\n    if cache.get('key') != key:\n        cache['key'], cache['y'] = key, right(x)\n"
)


def test_a_function_that_remembers_results_by_their_values_is_told_by_its_time(
    handler: Handler, tmp_path: Path
) -> None:
    with pytest.raises(Unfair) as caught:
        take_turns(handler, softmax(tmp_path, f"{FINGERPRINT}    return cache['y']"))
    reason = failure(caught.value).reason
    assert reason.slug == "remembers_results"
    assert reason.message.startswith("remembers results: a call takes 1001.0 us with new values, and 1.0 us with those")


def test_one_pair_of_calls_that_take_as_long_acquits_a_function(
    handler: Handler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = iter([*[(3_000_000, 1_000)] * (exam.PAIRS - 1), (7_200_000, 5_096_000)])
    monkeypatch.setattr(exam.Exam, "_pair", lambda *_: next(pairs))
    take_turns(handler, softmax(tmp_path, "    return right(x)"))
    assert next(pairs, None) is None


PATCHED = {
        "the comparison": (
            f"{HEAD}\nfrom opperf.child.worker import spot_check\nspot_check.compare = lambda *words: None",
            "replaces `opperf.child.worker.spot_check.compare`, which measures it",
        ),
        "a method of what is timed": (
            f"{HEAD}\nfrom opperf.child.measure.block import Block\nBlock.scope = lambda block: block.work.scope()",
            "replaces `Block.scope`, which measures it",
        ),
        "the code of a check": (
            f"{HEAD}\nfrom opperf.child.worker.correctness import leeway\nleeway.__code__ = (lambda _: 9.0).__code__",
            "replaces `opperf.child.worker.correctness.leeway`, which measures it",
        ),
        "the clock": (f"{HEAD}\nimport time\ntime.perf_counter_ns = lambda: 0", "replaces `time.perf_counter_ns`"),
        "the reference": (f"{HEAD}\nnp.exp = lambda x: x", "replaces `numpy.exp` of its framework"),
}  # fmt: skip


@pytest.mark.parametrize(("head", "what"), PATCHED.values(), ids=PATCHED)
def test_a_function_that_replaces_what_measures_it_fails(
    handler: Handler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, head: str, what: str
) -> None:
    import time

    import numpy as np

    from opperf.child.measure.block import Block
    from opperf.child.worker import correctness, spot_check

    for owner, name in ((spot_check, "compare"), (Block, "scope"), (time, "perf_counter_ns"), (np, "exp")):
        monkeypatch.setattr(owner, name, getattr(owner, name))  # put back behind the test
    monkeypatch.setattr(correctness.leeway, "__code__", correctness.leeway.__code__)
    with pytest.raises(Patched) as caught:
        take_turns(handler, softmax(tmp_path, "    return right(x)", head=head))
    reason = failure(caught.value).reason
    assert (reason.slug, what in reason.message) == ("patched", True)


def test_inputs_stay_in_their_place_and_have_other_values_in_each_turn(handler: Handler, tmp_path: Path) -> None:
    body = "    cache.setdefault('calls', []).append((x.ctypes.data, x[0, 0], x[-1, -1]))\n    return right(x)"
    handle = handler.answer(Prepare(softmax(tmp_path, body), check="timed")).handle
    calls = sys.modules["opperf_plugin_mine"].cache["calls"]
    turns = []
    for _ in range(3):
        calls.clear()
        handler.answer(Turn(handle, 2, 3))
        turns.append(list(calls))
    timed = [turn[-1] for turn in turns]
    assert len({address for turn in turns for address, *_ in turn}) == 1
    assert len({first for _, first, _ in timed}) == len({last for *_, last in timed}) == 3


def test_what_cannot_be_checked_says_why(handler: Handler, tmp_path: Path) -> None:
    trial = Trial(catalog()["dropout"].case("small"), Side("numpy"), "forward")
    assert handler.answer(Prepare(trial, check="timed")).facts["checked"] == "no: its results are random"


def test_values_that_stand_in_the_case_stay(handler: Handler, tmp_path: Path) -> None:
    softmax(tmp_path, "    return right(x)")
    case = Case("softmax", {"data": TensorSpec(SHAPE, values="sorted")}, {"axis": -1})
    trial = Trial(case, Side("numpy", implementation=Code("mine.py:f")), "forward")
    assert take_turns(handler, trial)["checked"].endswith("; the values of data are always the same")
