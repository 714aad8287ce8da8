"""What is built before it is called: layers of PyTorch and MXNet, PARAM's models; registered operators by schema."""

from __future__ import annotations

from typing import Any

import pytest
from tests.conformance.conftest import TIMEOUT, Bench

from opperf.domain.case import Argument, Case
from opperf.domain.errors import OperatorFailure
from opperf.domain.message.replies import Discovery
from opperf.domain.message.requests import Describe, Discover
from opperf.domain.tensor import TensorSpec


@pytest.fixture
def torch(benches: dict[str, Bench]) -> Bench:
    return benches["torch"]


@pytest.fixture
def mxnet(benches: dict[str, Bench]) -> Bench:
    return benches["mxnet"]


def shapes(bench: Bench, path: str, data: TensorSpec, direction: str = "forward", **given: Argument) -> list[Any]:
    """Return the shapes of what a path computes; `build_0` is the first argument of what it is built with."""
    attributes = {name.replace("build_", "build."): value for name, value in given.items()}
    case = Case(f"torch:{path}", {"0": data}, attributes)
    return [tensor.shape for tensor in bench.evaluate(case, direction, implementation=path)]


def test_a_layer_is_built_and_its_gradients_are_those_of_its_input_and_its_parameters(torch: Bench) -> None:
    data = TensorSpec((2, 3))
    assert shapes(torch, "torch.nn.Linear", data, build_0=3, build_1=4) == [(2, 4)]
    assert shapes(torch, "torch.nn.Linear", data, "backward", build_0=3, build_1=4) == [(2, 3), (4, 3), (4,)]
    without = {"build_0": 3, "build_1": 4, "build_bias": False}
    assert shapes(torch, "torch.nn.Linear", data, "backward", **without) == [(2, 3), (4, 3)]


def test_a_layer_has_the_same_weights_every_time(torch: Bench) -> None:
    case = Case("torch:torch.nn.Linear", {"0": TensorSpec((2, 3))}, {"build.0": 3, "build.1": 4})
    first, second = (torch.evaluate(case, implementation="torch.nn.Linear")[0].values for _ in range(2))
    assert first == second


@pytest.mark.parametrize(("name", "size"), [("pytorch.model.alex_net", 64), ("pytorch.model.resnet", 32)])
def test_a_model_of_param_sorts_images_into_classes(torch: Bench, name: str, size: int) -> None:
    assert shapes(torch, name, TensorSpec((2, 3, size, size)), build_num_classes=7) == [(2, 7)]


def test_a_tensor_that_goes_by_name_has_a_gradient_too(torch: Bench) -> None:
    other = TensorSpec((3,))
    assert shapes(torch, "torch.add", TensorSpec((2, 3)), "backward", other=other) == [(2, 3), (3,)]


def test_what_is_no_layer_is_not_found(torch: Bench) -> None:
    for name in ("torch.nn.Module", "torch.nn.DataParallel", "torch.nn.init", "torch.nn.Parameter", "torch.nn.modules"):
        assert torch.worker.ask(Describe(name), TIMEOUT).path is None, name
    assert torch.worker.ask(Describe("torch.nn.Conv2d"), TIMEOUT).path == "torch.nn.Conv2d"


def test_embedding_bags_say_which_package_they_need(torch: Bench) -> None:
    name = "SplitTableBatchedEmbeddingBagsCodegen"
    with pytest.raises(OperatorFailure) as caught:
        shapes(torch, name, TensorSpec((2,), "int64"), build_0=1)
    assert caught.value.reason.slug == "no_package"
    assert caught.value.skipped


def test_a_layer_has_no_samples_to_make_inputs_of(torch: Bench) -> None:
    assert torch.worker.ask(Discover("torch.nn.Linear"), TIMEOUT) == Discovery()


def gluon(bench: Bench, path: str, data: TensorSpec, direction: str = "forward", **given: Argument) -> list[Any]:
    """Return the shapes of what a block of Gluon computes, which is built with what is given."""
    case = Case(f"mxnet:{path}", {"x": data}, {f"build.{name}": value for name, value in given.items()})
    return [tensor.shape for tensor in bench.evaluate(case, direction, implementation=path)]


def test_a_block_is_built_and_its_gradients_are_those_of_its_input_and_its_parameters(mxnet: Bench) -> None:
    data = TensorSpec((2, 3))
    assert gluon(mxnet, "gluon.nn.Dense", data, units=4, in_units=3) == [(2, 4)]
    assert gluon(mxnet, "gluon.nn.Dense", data, "backward", units=4, in_units=3) == [(2, 3), (4, 3), (4,)]


def test_what_a_norm_remembers_of_batches_has_no_gradient(mxnet: Bench) -> None:
    data = TensorSpec((2, 3, 4, 4))
    assert gluon(mxnet, "gluon.nn.BatchNorm", data, "backward", in_channels=3) == [(2, 3, 4, 4), (3,), (3,)]


def test_a_block_that_is_not_told_how_long_its_inputs_are_says_what_to_tell_it(mxnet: Bench) -> None:
    with pytest.raises(OperatorFailure) as caught:
        gluon(mxnet, "gluon.nn.Dense", TensorSpec((2, 3)), units=4)
    assert caught.value.reason.hint == "say `build.in_units`"


def test_an_initializer_that_reads_a_file_is_refused(mxnet: Bench) -> None:
    told = '["load", {"param": "weights.params"}]'
    with pytest.raises(OperatorFailure, match="expected the name of an initializer"):
        gluon(mxnet, "gluon.nn.Dense", TensorSpec((2, 3)), units=4, in_units=3, weight_initializer=told)


def test_what_is_no_block_that_computes_is_not_found(mxnet: Bench) -> None:
    for name in (
        "gluon.nn.Block",
        "gluon.nn.Lambda",
        "gluon.nn.SymbolBlock",
        "gluon.rnn.ResidualCell",
        "gluon.Trainer",
    ):
        assert mxnet.worker.ask(Describe(name), TIMEOUT).path is None, name
