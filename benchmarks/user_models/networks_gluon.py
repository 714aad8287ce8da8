"""A residual network of Gluon's model zoo, trained for one step."""

from __future__ import annotations

from functools import cache
from typing import Any

import mxnet as mx
from mxnet import autograd, gluon


@cache
def made() -> tuple[Any, Any, Any, Any]:
    """Return a network, what trains it, images, and their classes."""
    mx.random.seed(0)
    network = gluon.model_zoo.vision.resnet18_v1(classes=10, thumbnail=True)
    network.initialize(mx.init.Xavier())
    trainer = gluon.Trainer(network.collect_params(), "adam")
    return network, trainer, mx.nd.random.normal(shape=(2, 3, 32, 32)), mx.nd.array([1, 7])


def training_step() -> None:
    """Train."""
    network, trainer, images, labels = made()
    with autograd.record():
        loss = gluon.loss.SoftmaxCrossEntropyLoss()(network(images), labels)
    loss.backward()
    trainer.step(2)
    mx.nd.waitall()
