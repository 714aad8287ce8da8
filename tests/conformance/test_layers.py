"""What PyTorch builds before it calls it: layers, PARAM's models, and registered operators by their schema."""

from __future__ import annotations

from typing import Any

import pytest
from tests.conformance.conftest import Bench

from opperf.case import Argument, Case
from opperf.tensor import TensorSpec
from opperf.workers.process import OperatorFailure


@pytest.fixture
def torch(benches: dict[str, Bench]) -> Bench:
    return benches["torch"]


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
        assert torch.worker.ask("describe", {"name": name}, 60)["path"] is None, name
    assert torch.worker.ask("describe", {"name": "torch.nn.Conv2d"}, 60)["path"] == "torch.nn.Conv2d"


def test_embedding_bags_say_which_package_they_need(torch: Bench) -> None:
    name = "SplitTableBatchedEmbeddingBagsCodegen"
    with pytest.raises(OperatorFailure) as caught:
        shapes(torch, name, TensorSpec((2,), "int64"), build_0=1)
    assert caught.value.failure["slug"] == "no_package"
    assert caught.value.failure["skipped"]
