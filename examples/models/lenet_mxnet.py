"""A training step of a small convolutional network on images of the shape of MNIST's, in MXNet's Gluon.

opperf capture examples/models/lenet_mxnet.py:training_step --framework mxnet --output lenet.json
opperf run --suite lenet.json --framework mxnet
"""

from __future__ import annotations

import mxnet as mx
from mxnet import autograd, gluon

BATCH = 64

mx.random.seed(0)
net = gluon.nn.HybridSequential(prefix="lenet_")
with net.name_scope():
    net.add(
        gluon.nn.Conv2D(20, kernel_size=5, activation="relu"),
        gluon.nn.MaxPool2D(pool_size=2, strides=2),
        gluon.nn.Conv2D(50, kernel_size=5, activation="relu"),
        gluon.nn.MaxPool2D(pool_size=2, strides=2),
        gluon.nn.Flatten(),
        gluon.nn.Dense(512, activation="relu"),
        gluon.nn.Dense(10),
    )
net.initialize(mx.init.Xavier())
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
cross_entropy = gluon.loss.SoftmaxCrossEntropyLoss()
images = mx.nd.random.uniform(shape=(BATCH, 1, 28, 28))
labels = mx.nd.random.randint(0, 10, shape=(BATCH,)).astype("float32")


def training_step() -> None:
    """Train on one batch."""
    with autograd.record():
        loss = cross_entropy(net(images), labels)
    loss.backward()
    trainer.step(BATCH)


if __name__ == "__main__":
    for _ in range(10):
        training_step()
    mx.nd.waitall()
