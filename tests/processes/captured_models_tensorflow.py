# mypy: disable-error-code="untyped-decorator"
"""A step of TensorFlow whose dimensions are open: a batch, a length, and what a mask leaves of them."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

table = tf.Variable(tf.random.normal((50, 8)))
weights = tf.Variable(tf.random.normal((8, 8)))
words = tf.constant([[1, 2, 3, 4, 5], [3, 4, 5, 6, 7]])


@tf.function(input_signature=[tf.TensorSpec((None, None, 8))])
def activate(rows: Any) -> Any:
    """Compute what a program within a program does."""
    return tf.nn.softmax(tf.tanh(rows @ weights))


@tf.function(input_signature=[tf.TensorSpec((None, None), tf.int32)])
def train(words: Any) -> Any:
    """Return the gradients of one batch."""
    with tf.GradientTape() as tape:
        rows = activate(tf.nn.embedding_lookup(table, words))
        loss = tf.reduce_mean(tf.square(tf.transpose(tf.boolean_mask(rows, words > 3), [1, 0])))
    by_row, by_weight = tape.gradient(loss, [table, weights])
    return loss, tf.convert_to_tensor(by_row), by_weight


def open_dimensions() -> Any:
    """Train by one batch."""
    return train(words)
