"""What is built before it is called: modules of `torch.nn`, PARAM's two models, and embedding bags of FBGEMM.

A path may come from a file, so the modules are those that `torch.nn` itself defines. They compute on tensors, and open
no file.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from opperf.child.backends.torch import models
from opperf.domain.backend import Layer, Unsupported

HOME, PREFIX = "torch.nn.modules.", "torch.nn."
#: What is called by PARAM's names.
NAMED: Mapping[str, Callable[..., Any]] = {
    "pytorch.model.alex_net": models.alex_net,
    "pytorch.model.resnet": models.resnet,
}


def names() -> list[str]:
    """Return the paths of all that can be built."""
    own = [f"{PREFIX}{name}" for name in dir(torch.nn) if _module(name) is not None]
    return [*own, *NAMED, NAME]


def maker(path: str) -> Callable[..., Any] | None:
    """Return what builds the layer at a path, None for another path."""
    if path in NAMED:
        return NAMED[path]
    if path == NAME:
        return build
    return _module(path.removeprefix(PREFIX)) if path.startswith(PREFIX) else None


def layer(path: str, arguments: Sequence[Any], keywords: Mapping[str, Any], device: torch.device) -> Layer | None:
    """Return the layer at a path, on a device, with weights that are the same every time; None for another path."""
    make = maker(path)
    if make is None:
        return None
    torch.manual_seed(0)
    if make is build:
        return build(arguments, keywords, device)
    module = make(*arguments, **keywords).to(device)
    return Layer(module, tuple(module.parameters()))


def _module(name: str) -> type | None:
    """Return the class of that name that `torch.nn` defines."""
    layer = getattr(torch.nn, name, None) if name.isidentifier() else None
    if not inspect.isclass(layer) or not issubclass(layer, torch.nn.Module) or layer is torch.nn.Module:
        return None
    return layer if layer.__module__.startswith(HOME) else None


NAME = "SplitTableBatchedEmbeddingBagsCodegen"
#: The build's arguments that go by position, in PARAM's order.
POSITIONAL = ("num_tables", "rows", "dim", "pooling", "weighted", "weights_precision", "optimizer")


def build(arguments: Sequence[Any], keywords: Mapping[str, Any], device: torch.device) -> Layer:
    """Return the embedding bags that PARAM's arguments describe; raises `Unsupported` where FBGEMM is not there."""
    try:
        from fbgemm_gpu import split_table_batched_embeddings_ops_common as common
        from fbgemm_gpu import split_table_batched_embeddings_ops_training as training
        from fbgemm_gpu.split_embedding_configs import EmbOptimType, SparseType
    except (ImportError, OSError) as error:
        raise Unsupported(
            f"it needs the package fbgemm_gpu, which does not import here: {error}",
            slug="no_package",
            hint="`--environment fbgemm`",
        ) from error
    given = {**dict(zip(POSITIONAL, arguments)), **keywords}
    tables, cpu = given["num_tables"], device.type == "cpu"
    place = common.EmbeddingLocation.HOST if cpu else common.EmbeddingLocation.DEVICE
    kind = training.ComputeDevice.CPU if cpu else training.ComputeDevice.CUDA
    rows, sizes = (_each(given[name], tables) for name in ("rows", "dim"))
    more = {name: given[name] for name in ("eps", "weight_decay") if name in given}
    module = training.SplitTableBatchedEmbeddingBagsCodegen(
        [(row, size, place, kind) for row, size in zip(rows, sizes)],
        optimizer=EmbOptimType(given.get("optimizer", "exact_sgd")),
        pooling_mode=common.PoolingMode(given["pooling"]),
        weights_precision=SparseType(given["weights_precision"]),
        learning_rate=given.get("lr", 0.01),
        device=device,
        **more,
    )
    return Layer(module, tuple(module.parameters()))


def _each(value: Any, tables: int) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value] * tables
