"""Functions of Keras on TensorFlow whose operators shapes alone tell too: cells, attention, and weights without end."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)
words = tf.constant([[1, 2, 3, 4, 5, 6], [7, 8, 9, 1, 2, 3]])
labels = tf.constant([0, 1])


def trained(model: Any, optimizer: Any, data: Any) -> Any:
    """Train a model by one batch, and return the loss."""
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(keras.losses.sparse_categorical_crossentropy(labels, model(data, training=True)))
    weights = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return loss


cells = keras.Sequential(
    [
        keras.layers.Embedding(20, 8),
        keras.layers.Bidirectional(keras.layers.LSTM(8, return_sequences=True)),
        keras.layers.GRU(4),
        keras.layers.Dense(2, activation="softmax"),
    ]
)
descent = keras.optimizers.SGD(0.1, momentum=0.9)


def recurrent() -> Any:
    """Train cells by sequences of words."""
    return trained(cells, descent, words)


tokens = keras.Input((6,), dtype="int32")
embedded = keras.layers.Embedding(20, 8)(tokens)
attended = keras.layers.MultiHeadAttention(2, 4, dropout=0.1)(embedded, embedded)
normalized = keras.layers.LayerNormalization()(keras.layers.Add()([embedded, attended]))
pooled = keras.layers.GlobalAveragePooling1D()(normalized)
encoder = keras.Model(tokens, keras.layers.Dense(2, activation="softmax")(pooled))
adam = keras.optimizers.Adam()


def attending() -> Any:
    """Train a block of attention."""
    return trained(encoder, adam, words)


def huge() -> Any:
    """Train layers of more than 2^40 weights, which are made where it is called first."""
    return trained(wide, momentum, tf.random.normal((2, 2**21)))


wide = keras.Sequential([keras.layers.Dense(2**21, activation="relu"), keras.layers.Dense(2, activation="softmax")])
momentum = keras.optimizers.SGD(0.1, momentum=0.9)


def masked() -> Any:
    """Compute by what a mask of drawn numbers leaves, and by a branch that one of them decides."""
    rows = tf.random.normal((6, 4))
    left = tf.exp(tf.boolean_mask(rows, rows[:, 0] > 0))
    return tf.cond(rows[0, 0] > 0, lambda: tf.sin(left), lambda: tf.cos(left))
