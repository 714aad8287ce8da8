"""What every backend says of what it runs."""

from __future__ import annotations

import platform

import pytest
from tests.conformance.conftest import TIMEOUT, Bench

from opperf.catalog import catalog, operator
from opperf.domain.case import Case
from opperf.domain.explanation import KINDS, Explanation
from opperf.domain.message.requests import Explain
from opperf.domain.plan import Settings, Trial
from opperf.domain.tensor import TensorSpec
from opperf.parent.documents.comparison import Verdict
from opperf.parent.measuring.contest import Contest
from opperf.parent.measuring.explain import explain

#: A word of an event that must be there; NumPy tells no events of a function that is no ufunc.
WORDS: dict[str, dict[str, str]] = {
    "add": {},
    "matmul": {"torch": "mm", "mxnet": "dot", "jax": "dot", "numpy": ""},
}


def explained(bench: Bench, case: Case, direction: str = "forward") -> Explanation:
    """Return what runs in a call."""
    return bench.ask(Explain(bench.trial(case, direction), 0))


@pytest.mark.parametrize("name", WORDS)
def test_every_backend_says_what_it_runs(name: str, any_backend: Bench) -> None:
    result = explained(any_backend, catalog()[name].case("small"))
    word = WORDS[name].get(any_backend.name, name)
    assert not word or any(word in event.name.lower() for event in result.events)
    assert result.events or result.notes
    assert all(event.kind in KINDS and event.calls > 0 for event in result.events)
    assert all(event.seconds is None or event.seconds >= 0 for event in result.events)


def test_a_call_of_an_operator_is_told_as_one_call(any_backend: Bench) -> None:
    result = explained(any_backend, operator("add").case("small"))
    assert {event.calls for event in result.events if "add" in event.name} <= {1.0}


@pytest.mark.parametrize("framework", ["torch", "mxnet", "jax", "tensorflow"])
def test_a_fresh_forward_before_a_backward_is_not_part_of_it(framework: str, benches: dict[str, Bench]) -> None:
    data = {"data": TensorSpec((20, 20))}
    result = explained(benches[framework], Case("dropout", data, {"rate": 0.5, "training": True}), "backward")
    names = {event.name for event in result.events}
    assert names
    assert not names & {"Dropout", "aten::dropout", "aten::native_dropout", "aten::bernoulli_"}


def test_explaining_leaves_the_child_as_it_was(any_backend: Bench) -> None:
    case = operator("add").case("small")
    before = any_backend.worker.pid
    assert {(one.name, one.by, one.calls) for one in explained(any_backend, case).events} == {
        (one.name, one.by, one.calls) for one in explained(any_backend, case).events
    }
    assert any_backend.worker.pid == before


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the instruction sets named are those of x86")
@pytest.mark.parametrize(("framework", "variable"), [("torch", "ONEDNN_MAX_CPU_ISA"), ("mxnet", "DNNL_MAX_CPU_ISA")])
def test_another_instruction_set_is_seen_in_the_primitives(
    framework: str, variable: str, benches: dict[str, Bench]
) -> None:
    case = operator("conv2d").case("common")
    sides = [benches[framework].side(), benches[framework].side(settings={f"env.{variable}": "SSE41"})]
    base, new = (Trial(case, side, "forward") for side in sides)
    one = Contest(base, new, base, verdict=Verdict("slower", 4.0, (3.9, 4.1), "", 5))
    explain([one], Settings(timeout=TIMEOUT), lambda _: None)
    assert one.explanation["failures"] == {}
    (line,) = [line for line in one.explanation["difference"] if line.startswith("convolution")]
    assert "new ran" in line
    assert "sse41" in line.partition("new ran")[2] or "gemm" in line.partition("new ran")[2]
