"""A training step of a Keras network: convolutions, batch norms and dropout, with Adam."""

from __future__ import annotations

import tensorflow as tf

IMAGES = tf.random.normal((8, 32, 32, 3))
LABELS = tf.random.uniform((8,), 0, 10, tf.int32)
MODEL = tf.keras.Sequential(
    [
        *(
            layer
            for filters in (16, 32)
            for layer in (
                tf.keras.layers.Conv2D(filters, 3, padding="same", use_bias=False),
                tf.keras.layers.BatchNormalization(),
                tf.keras.layers.ReLU(),
                tf.keras.layers.SeparableConv2D(filters, 3, padding="same", activation="gelu"),
                tf.keras.layers.MaxPooling2D(),
            )
        ),
        tf.keras.layers.Dropout(0.25),
        tf.keras.layers.GlobalAveragePooling2D(),
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.LayerNormalization(),
        tf.keras.layers.Dense(10),
    ]
)
MODEL.build(IMAGES.shape)
LOSS = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
OPTIMIZER = tf.keras.optimizers.Adam(1e-3)
OPTIMIZER.build(MODEL.trainable_variables)


def training_step() -> tf.Tensor:
    """Run one step of Adam, and return the loss."""
    with tf.GradientTape() as tape:
        loss = LOSS(LABELS, MODEL(IMAGES, training=True))
    variables = MODEL.trainable_variables
    OPTIMIZER.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss
