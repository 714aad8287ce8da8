"""A small convolutional network for digits, trained for a few steps on random images.

opperf profile examples/models/lenet_tensorflow.py --html lenet.html
"""

from __future__ import annotations

import tensorflow as tf

BATCH, STEPS, RATE = 32, 5, 0.01
IMAGES = tf.random.normal((BATCH, 28, 28, 1))
LABELS = tf.random.uniform((BATCH,), 0, 10, tf.int32)
MODEL = tf.keras.Sequential(
    [
        tf.keras.layers.Conv2D(6, 5, padding="same", activation="relu"),
        tf.keras.layers.MaxPool2D(),
        tf.keras.layers.Conv2D(16, 5, activation="relu"),
        tf.keras.layers.MaxPool2D(),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(120, activation="relu"),
        tf.keras.layers.Dense(84, activation="relu"),
        tf.keras.layers.Dense(10),
    ]
)
MODEL.build(IMAGES.shape)


def training_step() -> tf.Tensor:
    """Run one step of gradient descent, and return the loss."""
    with tf.GradientTape() as tape:
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(LABELS, MODEL(IMAGES, training=True))
        loss = tf.reduce_mean(losses)
    variables = MODEL.trainable_variables
    for variable, gradient in zip(variables, tape.gradient(loss, variables)):
        variable.assign_sub(RATE * gradient)
    return loss


if __name__ == "__main__":
    step = tf.function(training_step)
    for _ in range(STEPS):
        loss = step()
    print(f"loss {float(loss):.3f}")
