"""What is built before it is called: modules of `torch.nn`, PARAM's two models, and embedding bags of FBGEMM.

The two are written after their papers, as one call each, not as operators. AlexNet is that of "One weird trick for
parallelizing convolutional neural networks" (https://arxiv.org/abs/1404.5997), ResNet that of "Deep residual learning
for image recognition" (https://arxiv.org/abs/1512.03385), with 50 layers.

A path may come from a file, so the modules are those that `torch.nn` itself defines. They compute on tensors, and open
no file.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import nn

from opperf.domain.backend import Unsupported
from opperf.domain.call import Layer

HOME, PREFIX = "torch.nn.modules.", "torch.nn."


def names() -> list[str]:
    """Return the paths of all that can be built."""
    own = [f"{PREFIX}{name}" for name in dir(nn) if _module(name) is not None]
    return [*own, *MODELS, NAME]


def maker(path: str) -> Callable[..., Any] | None:
    """Return the class that builds the layer at a path, None for another path."""
    if path in MODELS:
        return MODELS[path]
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


def builds(path: str) -> Sequence[str]:
    """Return the names of the arguments of a layer's constructor; none for another path, and for PARAM's own."""
    module = _module(path.removeprefix(PREFIX)) if path.startswith(PREFIX) else None
    return () if module is None else tuple(inspect.signature(module).parameters)


def _module(name: str) -> type | None:
    """Return the class of that name that `torch.nn` defines."""
    layer = getattr(nn, name, None) if name.isidentifier() else None
    if not inspect.isclass(layer) or not issubclass(layer, nn.Module) or layer is nn.Module:
        return None
    return layer if layer.__module__.startswith(HOME) else None


NAME = "SplitTableBatchedEmbeddingBagsCodegen"
#: The positional arguments of the build, in PARAM's order.
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
    settings = {**dict(zip(POSITIONAL, arguments)), **keywords}
    tables, cpu = settings["num_tables"], device.type == "cpu"
    place = common.EmbeddingLocation.HOST if cpu else common.EmbeddingLocation.DEVICE
    kind = training.ComputeDevice.CPU if cpu else training.ComputeDevice.CUDA
    rows, sizes = (_per_table(settings[name], tables) for name in ("rows", "dim"))
    more = {name: settings[name] for name in ("eps", "weight_decay") if name in settings}
    module = training.SplitTableBatchedEmbeddingBagsCodegen(
        [(row, size, place, kind) for row, size in zip(rows, sizes)],
        optimizer=EmbOptimType(settings.get("optimizer", "exact_sgd")),
        pooling_mode=common.PoolingMode(settings["pooling"]),
        weights_precision=SparseType(settings["weights_precision"]),
        learning_rate=settings.get("lr", 0.01),
        device=device,
        **more,
    )
    return Layer(module, tuple(module.parameters()))


def _per_table(value: Any, tables: int) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value] * tables


#: Output channels, kernel, stride and padding of each convolution, and whether it is pooled after.
ALEX_NET = (
    (64, 11, 4, 2, True),
    (192, 5, 1, 2, True),
    (384, 3, 1, 1, False),
    (256, 3, 1, 1, False),
    (256, 3, 1, 1, True),
)
#: By how much a block's output is wider than its middle.
EXPANSION = 4


def alex_net(num_classes: int = 1000, dropout: float = 0.5) -> Any:
    """Return AlexNet for images of three channels."""
    features: list[nn.Module] = []
    channels = 3
    for width, kernel, stride, padding, pools in ALEX_NET:
        features += [nn.Conv2d(channels, width, kernel, stride, padding), nn.ReLU(inplace=True)]
        features += [nn.MaxPool2d(3, 2)] if pools else []
        channels = width
    hidden = 4096
    classifier = [
        nn.Dropout(dropout), nn.Linear(channels * 36, hidden), nn.ReLU(inplace=True),
        nn.Dropout(dropout), nn.Linear(hidden, hidden), nn.ReLU(inplace=True),
        nn.Linear(hidden, num_classes),
    ]  # fmt: skip
    return nn.Sequential(*features, nn.AdaptiveAvgPool2d(6), nn.Flatten(), *classifier)


def resnet(layers: Sequence[int] = (3, 4, 6, 3), num_classes: int = 1000) -> Any:
    """Return a ResNet of bottleneck blocks, with their number in each of its four stages."""
    width, channels = 64, 64
    modules: list[nn.Module] = [*_convolution(3, channels, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    for stage, blocks in enumerate(layers):
        for block in range(blocks):
            modules.append(_Bottleneck(channels, width, 2 if stage and not block else 1))
            channels = EXPANSION * width
        width *= 2
    return nn.Sequential(*modules, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, num_classes))


def _convolution(channels: int, width: int, kernel: int, stride: int = 1) -> list[nn.Module]:
    return [nn.Conv2d(channels, width, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(width)]


class _Bottleneck(nn.Module):  # type: ignore[misc]  # without PyTorch's types its base is Any
    """Three convolutions around which the input goes unchanged, or through one of its own where the size changes."""

    def __init__(self, channels: int, width: int, stride: int) -> None:
        super().__init__()
        wide = EXPANSION * width
        self.body = nn.Sequential(
            *_convolution(channels, width, 1), nn.ReLU(inplace=True),
            *_convolution(width, width, 3, stride), nn.ReLU(inplace=True),
            *_convolution(width, wide, 1),
        )  # fmt: skip
        plain = stride == 1 and channels == wide
        self.around = nn.Identity() if plain else nn.Sequential(*_convolution(channels, wide, 1, stride))

    def forward(self, data: Any) -> Any:
        """Return the sum of both ways."""
        return torch.relu_(self.body(data) + self.around(data))


#: What is called by PARAM's names.
MODELS: Mapping[str, Callable[..., Any]] = {"pytorch.model.alex_net": alex_net, "pytorch.model.resnet": resnet}
