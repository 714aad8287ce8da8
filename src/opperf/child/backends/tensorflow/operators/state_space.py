"""Selective state spaces in TensorFlow."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from opperf.child.backends.binding import Binding, compositions


def selective_scan(data: Any, step: Any, decay: Any, input_weight: Any, output_weight: Any, skip: Any) -> Any:
    """Return the sequence, one step after the other."""
    decays = tf.exp(step[..., None] * decay)
    inputs = (step * data)[..., None] * input_weight[:, :, None]
    state, results = tf.zeros_like(inputs[:, 0]), []
    for decayed, comes_in, goes_out in zip(*(tf.unstack(each, axis=1) for each in (decays, inputs, output_weight))):
        state = decayed * state + comes_in
        results.append(tf.linalg.matvec(state, goes_out))
    return tf.stack(results, 1) + skip * data


def selective_state_update(
    state: Any, data: Any, step: Any, decay: Any, input_weight: Any, output_weight: Any, skip: Any
) -> Any:
    """Return the result of a step, and the state after it."""
    state = tf.exp(step[..., None] * decay) * state + (step * data)[..., None] * input_weight[:, None]
    return tf.linalg.matvec(state, output_weight) + skip * data, state


def causal_conv1d(data: Any, weight: Any, bias: Any) -> Any:
    """Return the sum of the weighed data, shifted by as many places as each weight lies in the past."""
    length, width = data.shape[-1], weight.shape[-1]
    wide = tf.pad(data, ((0, 0), (0, 0), (width - 1, 0)))
    return tf.add_n([wide[..., i : i + length] * weight[:, i : i + 1] for i in range(width)]) + bias[:, None]


BINDINGS: dict[str, Binding] = compositions(
    selective_scan=(selective_scan, "tf.exp and products; for each step a product, a sum and tf.linalg.matvec"),
    selective_state_update=(
        selective_state_update,
        "tf.exp, products and sums into a new state, and tf.linalg.matvec",
    ),
    causal_conv1d=(causal_conv1d, "tf.pad, a product for each weight, tf.add_n and a sum"),
)
