"""A training step of a small convolutional network on images of the shape of MNIST's, in JAX.

opperf capture examples/models/lenet_jax.py:training_step --framework jax --output lenet.json
opperf run --suite lenet.json --framework jax
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

BATCH = 64
RATE = 0.1
#: Of each layer, the shape of its weights: two convolutions, and two dense layers.
SHAPES = {"conv1": (20, 1, 5, 5), "conv2": (50, 20, 5, 5), "dense1": (50 * 4 * 4, 512), "dense2": (512, 10)}
#: Weights and biases.
Layer = tuple[jax.Array, jax.Array]


def initial(key: jax.Array) -> dict[str, Layer]:
    """Return small random weights, and biases of zero."""
    keys = jax.random.split(key, len(SHAPES))
    return {
        name: (0.05 * jax.random.normal(own, shape), jnp.zeros(shape[0] if len(shape) == 4 else shape[1]))
        for own, (name, shape) in zip(keys, SHAPES.items())
    }


def convolved(images: jax.Array, layer: Layer) -> jax.Array:
    """Return what a convolution and a pooling layer make of images."""
    weight, bias = layer
    layout = ("NCHW", "OIHW", "NCHW")
    data = jax.lax.conv_general_dilated(images, weight, (1, 1), "VALID", dimension_numbers=layout)
    data = jax.nn.relu(data + bias[:, None, None])
    return jax.lax.reduce_window(data, -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")


def dense(rows: jax.Array, layer: Layer) -> jax.Array:
    """Return what a dense layer makes of rows."""
    weight, bias = layer
    return rows @ weight + bias


def loss(layers: dict[str, Layer], images: jax.Array, labels: jax.Array) -> jax.Array:
    """Return how far the scores of the digits are from the labels."""
    data = images
    for name in ("conv1", "conv2"):
        with jax.named_scope(name):
            data = convolved(data, layers[name])
    with jax.named_scope("dense1"):
        data = jax.nn.relu(dense(data.reshape(BATCH, -1), layers["dense1"]))
    with jax.named_scope("dense2"):
        scores = jax.nn.log_softmax(dense(data, layers["dense2"]))
    return -jnp.take_along_axis(scores, labels[:, None], axis=1).mean()


@jax.jit
def updated(layers: dict[str, Layer], images: jax.Array, labels: jax.Array) -> tuple[jax.Array, dict[str, Layer]]:
    """Return the loss, and the layers after one step against its gradient."""
    value, gradients = jax.value_and_grad(loss)(layers, images, labels)
    return value, jax.tree.map(lambda own, gradient: own - RATE * gradient, layers, gradients)


layers = initial(jax.random.key(0))
images = jax.random.uniform(jax.random.key(1), (BATCH, 1, 28, 28))
labels = jax.random.randint(jax.random.key(2), (BATCH,), 0, 10)


def training_step() -> jax.Array:
    """Train on one batch, and return the loss."""
    global layers
    value, layers = updated(layers, images, labels)
    return value


if __name__ == "__main__":
    for _ in range(10):
        training_step().block_until_ready()
