"""Functions of MXNet whose operators are captured: hybridized networks, and what imperative code can do."""

from __future__ import annotations

import runpy
from pathlib import Path

import mxnet as mx
from mxnet import autograd, gluon

example = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "models" / "lenet_mxnet.py"))
example["net"].hybridize()
example["cross_entropy"].hybridize()
lenet_hybridized = example["training_step"]

mx.random.seed(0)
net = gluon.nn.HybridSequential(prefix="net_")
with net.name_scope():
    net.add(
        gluon.nn.Conv2D(4, kernel_size=3, activation="relu"),
        gluon.nn.BatchNorm(),
        gluon.nn.GlobalAvgPool2D(),
        gluon.nn.Dropout(0.5),
        gluon.nn.Dense(10),
    )
net.initialize(mx.init.Xavier())
net.hybridize(static_alloc=True)
trainer = gluon.Trainer(net.collect_params(), "adam")
cross_entropy = gluon.loss.SoftmaxCrossEntropyLoss()
images, labels = mx.nd.random.uniform(shape=(2, 1, 8, 8)), mx.nd.array([3, 7])


def normalized() -> None:
    """Train a hybridized network with operators that are others in training."""
    with autograd.record():
        loss = cross_entropy(net(images), labels)
    loss.backward()
    trainer.step(2)


words = mx.nd.random.uniform(-1, 1, shape=(5, 4))
places = mx.nd.array([0, 4, 2], dtype="int32")


def imperative() -> None:
    """Call operators that write into an array, take lists, read whole numbers, and share an array; and views."""
    words.attach_grad()
    with autograd.record():
        rows = mx.nd.take(words, places)
        both = mx.nd.concat(rows, rows.reshape((3, 4)) * 2, dim=1)
        total = mx.nd.stop_gradient(mx.nd.exp(rows)).sum() + (both * both[0:1]).sum() + both[1].sum()
    total.backward()
    words[:] = words - 0.1 * words.grad
    mx.nd.broadcast_add(words, mx.nd.ones((1, 4)), out=words)
    mx.nd.random.normal(shape=(2, 3))


cells = gluon.rnn.LSTM(8, num_layers=2, layout="NTC")
head = gluon.nn.Dense(3)
for block in (cells, head):
    block.initialize()
sentences = mx.nd.random.uniform(shape=(2, 5, 4))


def recurrent() -> None:
    """Read sequences by cells, and ask for a gradient."""
    weights = [head.weight.data()] if head.weight._data else []
    with autograd.record():
        loss = mx.nd.softmax(head(cells(sentences))).sum()
    if weights:
        mx.nd.square(autograd.grad(loss, weights)[0])
