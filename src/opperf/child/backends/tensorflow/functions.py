"""TensorFlow's functions by the path that users write: `tf.add`, `tf.nn.relu`, `tf.raw_ops.TopKV2`.

A path is data, so it leads to computation on numbers only: never to files, Python code, or state that outlives a call.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import tensorflow as tf

from opperf.child.backends.paths import function_at, listing
from opperf.child.backends.tensorflow import raw_operators

ROOTS = {"tf": tf, "tensorflow": tf}
#: Where functions are, below `tf`; "" is what stands right below.
SPACES = ("", "math", "nn", "linalg", "signal", "bitwise", "random", "image", "sparse", "sets", "experimental.numpy")
#: The modules in which TensorFlow defines what computes, and those among them that do more.
HOME, FOREIGN = "tensorflow.python.ops.", ("io_ops", "script_ops", "logging_ops", "variables", "lookup", "resource")


def resolve(path: str) -> Callable[..., Any]:
    """Return the function at a path, or raise `LookupError`."""
    first, _, rest = path.partition(".")
    if first in ROOTS and rest.startswith("raw_ops."):
        return raw_operators.resolve(f"tf.{rest}")
    space, _, _ = rest.rpartition(".")
    if first not in ROOTS or space not in SPACES:
        raise LookupError(path)
    function = function_at(path, ROOTS, "tensorflow")
    home = str(getattr(function, "__module__", ""))
    if isinstance(function, type) or not home.startswith(HOME) or any(word in home for word in FOREIGN):
        raise LookupError(path)
    return function


@cache
def names() -> list[str]:
    """Return the paths that can be named, for near matches."""
    roots = {f"tf.{space}" if space else "tf": _module(space) for space in SPACES}
    return [*(path for path in listing(roots) if _is_named(path)), *raw_operators.paths()]


def _module(space: str) -> Any:
    module: Any = tf
    for word in space.split(".") if space else ():
        module = getattr(module, word)
    return module


def _is_named(path: str) -> bool:
    try:
        resolve(path)
    except LookupError:
        return False
    return True
