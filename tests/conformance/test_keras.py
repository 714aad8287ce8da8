"""Keras's layers: the same on each framework that runs them, with the same weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from tests.conformance.conftest import TIMEOUT, UNOPTIMIZED, Bench, Tensor

import opperf
from opperf.child.worker.correctness import check
from opperf.domain.backend import HostValue
from opperf.domain.case import Argument, Case
from opperf.domain.errors import OperatorFailure
from opperf.domain.message.requests import Describe, Discover
from opperf.domain.registry import LAYER_LIBRARIES
from opperf.domain.tensor import TensorSpec

HOSTS = LAYER_LIBRARIES["keras"].hosts


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Bench]]:
    """Each framework that runs Keras, in an environment with it."""
    benches = {name: Bench(name, tmp_path_factory.mktemp(name), UNOPTIMIZED, libraries=("keras",)) for name in HOSTS}
    yield benches
    for bench in benches.values():
        bench.close()


@pytest.fixture(params=HOSTS)
def host(request: pytest.FixtureRequest, hosts: dict[str, Bench]) -> Bench:
    """Each of them in turn."""
    return hosts[request.param]


def evaluate(bench: Bench, case: Case, direction: str = "forward", **changes: Any) -> list[Tensor]:
    """Return what a layer computes."""
    return bench.evaluate(case, direction, implementation=case.operator.replace(":", "."), **changes)


def dense(attributes: Mapping[str, Argument] | None = None, dtype: str = "float32") -> Case:
    """Return a case of a dense layer of four units."""
    data = TensorSpec((2, 3), dtype)
    return Case("keras:layers.Dense", {"inputs": data}, {"build.units": 4, **(attributes or {})})


def values(tensors: list[Tensor]) -> list[HostValue]:
    """Return tensors as they are compared."""
    return [(tensor.raw, tensor.shape, tensor.dtype) for tensor in tensors]


def test_a_layer_is_built_and_its_gradients_are_those_of_its_input_and_its_weights(host: Bench) -> None:
    assert [tensor.shape for tensor in evaluate(host, dense())] == [(2, 4)]
    assert [tensor.shape for tensor in evaluate(host, dense(), "backward")] == [(2, 3), (3, 4), (4,)]
    assert [tensor.shape for tensor in evaluate(host, dense(), "forward_backward")] == [(2, 3), (3, 4), (4,)]


@pytest.mark.parametrize("mode", ["eager", "compiled"])
def test_a_forward_with_a_backward_gives_the_gradients_of_the_backward(mode: str, host: Bench) -> None:
    alone, together = (evaluate(host, dense(), way, mode=mode) for way in ("backward", "forward_backward"))
    check(values(together), values(alone), "the backward alone")


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize(
    "name",
    ["BatchNormalization", "Conv2D", "Dense", "EinsumDense", "Embedding", "GRU", "Attention", "LSTM",
     "LayerNormalization", "LSTMCell", "Resizing", "SeparableConv1D", "UpSampling2D"],
)  # fmt: skip
def test_each_framework_computes_the_same_of_a_layer(name: str, direction: str, hosts: dict[str, Bench]) -> None:
    (example,) = hosts[HOSTS[0]].ask(Discover(f"keras.layers.{name}", "small")).examples
    first, *others = (values(evaluate(bench, example.case, direction)) for bench in hosts.values())
    for other in others:
        # JAX, whose arrays do not change, returns what a layer remembers of a batch beside its outputs.
        check(other[: len(first)], first, HOSTS[0])


def test_weights_have_the_same_bits_everywhere_and_what_is_not_drawn_stays(hosts: dict[str, Bench]) -> None:
    ones = TensorSpec((3, 3), literal=(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))
    kernels = {
        evaluate(bench, Case("keras:layers.Dense", {"inputs": ones}, {"build.units": 4}))[0].raw
        for bench in hosts.values()
    }
    assert len(kernels) == 1
    same = Case("keras:layers.Dense", {"inputs": ones}, {"build.units": 3, "build.kernel_initializer": "identity"})
    for bench in hosts.values():
        assert evaluate(bench, same)[0].values == [1, 0, 0, 0, 1, 0, 0, 0, 1]


def test_a_layer_computes_in_the_element_type_of_its_inputs_unless_it_is_told(host: Bench) -> None:
    assert evaluate(host, dense(dtype="float64"))[0].dtype == "float64"
    assert evaluate(host, dense({"build.dtype": "float32"}, dtype="float64"))[0].dtype == "float32"


def test_what_is_no_layer_that_computes_is_not_there(host: Bench) -> None:
    for name in ("Layer", "Lambda", "TFSMLayer", "TextVectorization", "Bidirectional", "deserialize", "__class__"):
        assert host.worker.ask(Describe(f"keras.layers.{name}"), TIMEOUT).path is None, name
    assert host.worker.ask(Describe("keras.utils.get_file"), TIMEOUT).path is None
    assert host.worker.ask(Describe("keras.layers.Dense"), TIMEOUT).takes == ("inputs", "training")
    assert "keras.layers.Dense" in host.worker.ask(Describe("keras.layers.Dens"), TIMEOUT).near


def test_the_version_of_keras_is_a_fact(hosts: dict[str, Bench], benches: dict[str, Bench]) -> None:
    assert {bench.worker.facts["keras"] for bench in hosts.values()} == {"3.15.1"}
    assert "keras" not in benches["torch"].worker.facts


def test_every_layer_has_inputs_by_rule(host: Bench) -> None:
    layers = [path for path in host.worker.ask(Discover(None), TIMEOUT).paths if path.startswith("keras.")]
    assert len(layers) > 100
    for path in layers:
        takes = host.worker.ask(Describe(path), TIMEOUT).takes
        (example,) = host.worker.ask(Discover(path, "small"), TIMEOUT).examples
        assert takes is not None
        assert set(example.case.inputs) <= set(takes), path


def test_without_keras_the_reason_says_what_to_do(benches: dict[str, Bench]) -> None:
    with pytest.raises(OperatorFailure) as caught:
        evaluate(benches["torch"], dense())
    assert caught.value.skipped
    assert (caught.value.reason.slug, "torch + keras" in str(caught.value.reason.hint)) == ("no_package", True)


DENSE: Any = {"inputs": {"inputs": (8, 16)}, "attributes": {"units": 4}}


def test_one_command_measures_a_layer_on_every_framework_and_holds_the_results_against_each_other() -> None:
    results = opperf.run("keras:layers.Dense", framework=list(HOSTS), trial_budget=0.05, timeout=TIMEOUT, **DENSE)
    records = results.run.records
    assert [(one.trial.side.framework, one.trial.direction) for one in records] == [
        (name, direction) for name in HOSTS for direction in ("forward", "backward")
    ]
    assert {one.status for one in records} == {"ok"}
    assert len({one.trial.case.id for one in records}) == 1
    assert [one.facts["checked"] for one in records[2:]] == [f"against {HOSTS[0]}"] * 4


def test_a_layer_is_compared_between_frameworks() -> None:
    # Each more starts two processes, and a verdict is not the point: what is the same is not confirmed by others.
    few: Any = {"pairs": 3, "tolerance": "100000%", "timeout": TIMEOUT}
    (comparison,) = opperf.compare("keras:layers.Dense", base="torch", new="jax", **few, **DENSE)
    assert [side.implementation for side in (comparison.base, comparison.new)] == ["keras.layers.Dense"] * 2
    assert comparison.status == "ok"
