"""Compiled mode: fused operators of every framework that compiles, Gluon's blocks, PyTorch without a compiler."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.conformance.conftest import TIMEOUT, Bench

from opperf.catalog import operator
from opperf.domain.case import Case, ListOf
from opperf.domain.errors import OperatorFailure
from opperf.domain.measurement import Outcome
from opperf.domain.message.requests import Explain, Prepare
from opperf.domain.plan import Settings, Trial
from opperf.domain.tensor import TensorSpec
from opperf.parent.workers.pool import Pool

QUICK = Settings(warmup=1, runs=2, trial_budget=1.0, timeout=TIMEOUT)


def outcome(bench: Bench, direction: str, **variables: str) -> Outcome:
    """Return what becomes of a convolution, a batch norm and a relu, compiled in a child of its own."""
    settings = {f"env.{name}": value for name, value in variables.items()}
    side = replace(bench.side(), mode="compiled", settings=settings)
    with Pool(QUICK, lambda _: None) as pool:
        return pool.measure(Trial(operator("conv_batch_norm_relu").case("small"), side, direction), 0)


@pytest.mark.parametrize("mode", ["compiled", "xla"])
def test_a_program_of_tensorflow_folds_nothing_away(mode: str, benches: dict[str, Bench]) -> None:
    # Of operands that the program saw as constants, the product would be known before it runs.
    bench, square = benches[f"tensorflow {mode}"], TensorSpec((128, 128))
    trial = bench.trial(Case("matmul", {"lhs": square, "rhs": square}), "forward")
    events = bench.ask(Explain(trial, 0)).events
    assert [event.calls for event in events if "matmul" in event.name.lower()] == [1.0]


@pytest.mark.parametrize(
    ("name", "mode", "direction", "reason"),
    [
        ("determinant", "xla", "forward", "XLA has no MatrixDeterminant"),
        ("image_resize_nearest", "xla", "backward", "XLA has no ResizeNearestNeighborGrad"),
        ("ctc_loss", "compiled", "backward", "TensorFlow does not find the gradient of a loop within a program"),
    ],
)
def test_what_tensorflow_does_not_compile_is_skipped_with_the_reason(
    name: str, mode: str, direction: str, reason: str, benches: dict[str, Bench]
) -> None:
    with pytest.raises(OperatorFailure) as caught:
        benches[f"tensorflow {mode}"].worker.ask(
            Prepare(benches[f"tensorflow {mode}"].trial(operator(name).case("small"), direction)), TIMEOUT
        )
    assert caught.value.skipped
    assert (caught.value.reason.slug, caught.value.reason.message) == ("no_compiled_form", reason)


@pytest.mark.parametrize("framework", ["torch", "mxnet", "jax", "tensorflow"])
def test_forward_and_backward_are_compiled_and_the_time_it_took_stands_apart(
    framework: str, benches: dict[str, Bench]
) -> None:
    result = outcome(benches[framework], "forward_backward")
    assert result.status == "ok", result.reason
    assert result.measurement is not None
    compiling = result.measurement.quantity("compile_time")
    if compiling is None:
        assert str(result.measurement.facts["compiled"]).startswith("loaded from the cache")
    else:
        assert compiling.value > 0


def test_a_block_with_a_list_of_states_is_compiled(benches: dict[str, Bench]) -> None:
    path, states = "gluon.rnn.LSTMCell", ListOf((TensorSpec((2, 4)), TensorSpec((2, 4))))
    built = {"build.hidden_size": 4, "build.input_size": 3}
    case = Case(f"mxnet:{path}", {"inputs": TensorSpec((2, 3)), "states": states}, built)
    side = replace(benches["mxnet"].side(), mode="compiled", implementation=path)
    with Pool(QUICK, lambda _: None) as pool:
        result = pool.measure(Trial(case, side, "backward"), 0)
    assert result.status == "ok", result.reason


def test_pytorch_without_a_compiler_is_skipped_with_a_hint(benches: dict[str, Bench]) -> None:
    result = outcome(benches["torch"], "forward", CXX="/nowhere/g++", TORCHINDUCTOR_FORCE_DISABLE_CACHES="1")
    assert result.status == "skipped"
    assert result.reason is not None
    assert result.reason.slug == "no_compiler"
    assert "CXX" in (result.reason.hint or "")
