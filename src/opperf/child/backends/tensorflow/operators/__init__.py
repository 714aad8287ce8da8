"""How TensorFlow spells the neutral operators, family by family."""

import tensorflow as tf

from opperf.child.backends.binding import OwnNames

OWN_NAMES = OwnNames({"tf": tf, "tf.nn": tf.nn, "tf.math": tf.math})
