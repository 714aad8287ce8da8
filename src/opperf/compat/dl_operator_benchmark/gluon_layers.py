"""The original's layers and losses with its defaults, and those that its proposal asked for next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mxnet as mx

from opperf.compat.dl_operator_benchmark import layers
from opperf.compat.dl_operator_benchmark.benchmark import BenchmarkSpec
from opperf.compat.dl_operator_benchmark.layers import Layer
from opperf.compat.dl_operator_benchmark.spelling import Spelling

nn, rnn, loss = mx.gluon.nn, mx.gluon.rnn, mx.gluon.loss
#: Images, signals and volumes, all with the channels in front.
IMAGES, SIGNALS, VOLUMES = (32, 3, 256, 256), (32, 3, 256), (8, 3, 32, 64, 64)
SCORES, SEQUENCES = (32, 1000, 1), (25, 32, 256)
INITIALIZER = "data_initializer"
SHAPES = {1: ("NCW", SIGNALS), 2: ("NCHW", IMAGES), 3: ("NCDHW", VOLUMES)}


def layer_classes() -> dict[str, BenchmarkSpec]:
    """Return every class of layers by name."""
    return {**_basic(), **_activations(), **_convolutions(), **_pooling(), **_normalization(), **_recurrent(),
            **_losses(), **_fuse()}  # fmt: skip


def _basic() -> dict[str, BenchmarkSpec]:
    dense: dict[str, Any] = {"units": 256, "activation": None, "use_bias": True, "flatten": True}
    dense |= {"weight_initializer": "Xavier", "bias_initializer": "Zeros"}
    cube = {"data": (128, 512, 512)}
    sizes = {"input_dim": 1000, "output_dim": 256}
    return {
        "Dense": Layer("Dense", nn.Dense, {"data": (512, 512)}, dense),
        "Flatten": Layer("Flatten", nn.Flatten, cube),
        "Lambda": Layer("Lambda_Batchify", layers.batchify, cube, hybrid=False),
        "Embedding": Layer(
            "Embedding", nn.Embedding, {"data": (32, 100)}, sizes, {"data": layers.indices}, fixed=("data",)
        ),
    }


def _activations() -> dict[str, BenchmarkSpec]:
    blocks: Mapping[str, tuple[Any, dict[str, Any]]] = {
        "LeakyRelu": (nn.LeakyReLU, {"alpha": 0.01}),
        "PRelu": (nn.PReLU, {"alpha_initializer": "zeros"}),
        "Sigmoid": (layers.activation("sigmoid"), {}),
        "Tanh": (layers.activation("tanh"), {}),
        "Relu": (layers.activation("relu"), {}),
        "Softrelu": (layers.activation("softrelu"), {}),
        "Softsign": (layers.activation("softsign"), {}),
        "Elu": (nn.ELU, {}),
        "Selu": (nn.SELU, {}),
        "Swish": (nn.Swish, {}),
        "Gelu": (nn.GELU, {}),
    }
    specs: dict[str, BenchmarkSpec] = {
        name: Layer(name, build, {"data": IMAGES}, attributes) for name, (build, attributes) in blocks.items()
    }
    for name, neutral, title in (("Softmax", "softmax", "Softmax"), ("LogSoftmax", "log_softmax", "Log_Softmax")):
        specs[name] = Spelling(
            neutral, title, f"nd.{neutral}", attributes={"data": IMAGES}, backward=True, filled=INITIALIZER
        )
    return specs


def _convolutions() -> dict[str, BenchmarkSpec]:
    layers: dict[str, BenchmarkSpec] = {}
    for rank, (layout, shape) in SHAPES.items():
        kernel, one, pad = ((3,) * rank, (1,) * rank, (0,) * rank) if rank > 1 else (3, 1, 1)
        window: dict[str, Any] = {"channels": 64, "kernel_size": kernel, "strides": one, "padding": pad}
        rest = {"dilation": one, "layout": layout, "activation": None}
        more = {"output_padding": (0,) * rank if rank > 1 else 0}
        name = f"Conv{rank}D"
        layers[name] = Layer(name, getattr(nn, name), {"data": shape}, {**window, **rest})
        name = f"Conv{rank}DTranspose"
        layers[name] = Layer(name, getattr(nn, name), {"data": shape}, {**window, **more, **rest})
    return layers


def _pooling() -> dict[str, BenchmarkSpec]:
    layers: dict[str, BenchmarkSpec] = {}
    for rank, (layout, shape) in SHAPES.items():
        window = {"pool_size": 2, "strides": None, "padding": 0} if rank == 1 else {
            "pool_size": (2,) * rank, "strides": None, "padding": (0,) * rank,
        }  # fmt: skip
        for kind in ("Max", "Avg"):
            name = f"{kind}Pool{rank}D"
            layers[name] = Layer(name, getattr(nn, name), {"data": shape}, {**window, "layout": layout})
            name = f"Global{kind}Pool{rank}D"
            layers[name] = Layer(name, getattr(nn, name), {"data": shape}, {"layout": layout})
    return layers


def _normalization() -> dict[str, BenchmarkSpec]:
    images = {"data": IMAGES}
    return {
        "Dropout": Layer("Dropout", nn.Dropout, images, {"rate": 0.5}),
        "BatchNorm": Layer("BatchNorm", nn.BatchNorm, images),
        "InstanceNorm": Layer("InstanceNorm", nn.InstanceNorm, images),
        "LayerNorm": Layer("LayerNorm", nn.LayerNorm, images),
        "GroupNorm": Layer("GroupNorm", nn.GroupNorm, images, {"num_groups": 1}),
    }


def _recurrent() -> dict[str, BenchmarkSpec]:
    attributes = {"hidden_size": 100, "num_layers": 1, "layout": "TNC", "dropout": 0, "bidirectional": False}
    layers: dict[str, BenchmarkSpec] = {
        "RNN": Layer("RNN", rnn.RNN, {"data": SEQUENCES}, {**attributes, "activation": "relu"}),
        "LSTM": Layer("LSTM", rnn.LSTM, {"data": SEQUENCES}, attributes),
        "GRU": Layer("GRU", rnn.GRU, {"data": SEQUENCES}, attributes),
    }
    for name in ("RNNCell", "LSTMCell", "GRUCell"):
        layers[name] = Layer(name, getattr(rnn, name), {"data": SEQUENCES[1:]}, {"hidden_size": 100})
    return {**layers, **_cells_of_cells()}


def _cells_of_cells() -> dict[str, BenchmarkSpec]:
    """Return the cells that are made of others, and the one that has no weights."""
    step, wide = {"data": SEQUENCES[1:]}, SEQUENCES[-1]
    zoneout = {"hidden_size": 100, "zoneout_states": 0.5}
    return {
        "SequentialRNNCell": Layer("SequentialRNNCell", layers.sequential_cells, step, {"hidden_size": 100}),
        "BidirectionalCell": Layer(
            "BidirectionalCell", layers.bidirectional_cell, {"data": SEQUENCES}, {"hidden_size": 100}, hybrid=False
        ),
        "DropoutCell": Layer("DropoutCell", rnn.DropoutCell, step, {"rate": 0.5}),
        "ZoneoutCell": Layer("ZoneoutCell", layers.zoneout_cell, step, zoneout),
        "ResidualCell": Layer("ResidualCell", layers.residual_cell, step, {"hidden_size": wide}),
    }


def _losses() -> dict[str, BenchmarkSpec]:
    pair = {"pred": SCORES, "label": SCORES}
    weight = {"weight": 1.0}
    classes = {"axis": -1, "sparse_label": False, **weight}
    constant = {"pred": mx.nd.ones, "label": mx.nd.zeros}
    layers: dict[str, BenchmarkSpec] = {
        "SigmoidBinaryCrossEntropyLoss": _loss("SigmoidBinaryCrossEntropyLoss", pair, weight, constant),
        "SoftmaxCrossEntropyLoss": _loss("SoftmaxCrossEntropyLoss", pair, classes),
        "TripletLoss": _loss("TripletLoss", {**pair, "negative": SCORES}, weight),
        "CTCLoss": _loss("CTCLoss", {"pred": (32, 100, 50), "label": (32, 20)}, weight, {"label": mx.nd.ones}),
        "CosineEmbeddingLoss": _loss(
            "CosineEmbeddingLoss", {"first": (32, 1000), "second": (32, 1000), "label": (32,)}, weight,
            {"label": mx.nd.ones},
        ),
    }  # fmt: skip
    for name in ("L1Loss", "L2Loss", "KLDivLoss", "HuberLoss", "HingeLoss", "SquaredHingeLoss", "LogisticLoss",
                 "PoissonNLLLoss"):  # fmt: skip
        layers[name] = _loss(name, pair, weight)
    return layers


def _loss(
    name: str, data: Mapping[str, tuple[int, ...]], attributes: Mapping[str, Any], fill: Mapping[str, Any] | None = None
) -> Layer:
    return Layer(name, getattr(loss, name), data, attributes, fill or {}, backward=False)


def _fuse() -> dict[str, BenchmarkSpec]:
    window = {"channels": 64, "kernel_size": (3, 3), "strides": (1, 1), "padding": (0, 0), "dilation": (1, 1)}
    images = {"data": IMAGES}
    return {
        "Conv2DRelu": Layer("Conv2D_Relu", nn.Conv2D, images, {**window, "activation": "relu"}),
        "Conv2DBatchNorm": Layer("Conv2D_BatchNorm", layers.convolution_batch_norm, images, window),
        "Conv2DBatchNormRelu": Layer("Conv2D_BatchNorm_Relu", layers.convolution_batch_norm_relu, images, window),
    }
