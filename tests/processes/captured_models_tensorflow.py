# mypy: disable-error-code="untyped-decorator"
"""Steps of TensorFlow: one whose batch, length and what a mask leaves of them are open, and one with a loop."""

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


@tf.function
def recur(rows: Any) -> Any:
    """Return the gradient of a network that reads a list row by row, and of a branch."""
    with tf.GradientTape() as tape:
        state, outputs = tf.zeros((2, 8)), tf.TensorArray(tf.float32, 3)
        for place in tf.range(3):
            state = tf.tanh(rows[place] + state @ weights)
            outputs = outputs.write(place, state)
        loss = tf.cond(tf.reduce_sum(rows) > 0, lambda: tf.exp(state), lambda: tf.sin(state))
        loss = tf.reduce_sum(loss) + tf.reduce_sum(outputs.stack())
    return tape.gradient(loss, weights)


def turns() -> Any:
    """Train by one sequence of three rows."""
    return recur(tf.ones((3, 2, 8)))
