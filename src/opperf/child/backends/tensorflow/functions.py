"""TensorFlow's functions by the path that users write: `tf.add`, `tf.nn.relu`, `tf.raw_ops.TopKV2`.

A path is data, so it leads to computation on numbers only: never to files, Python code, or state that outlives a call.
The registered operators, `tf.raw_ops`, stand below the others.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import tensorflow as tf

from opperf.child.backends.naming.paths import Refusal, function_at, resolvable
from opperf.child.backends.naming.signatures import Functions
from opperf.child.backends.tensorflow import raw_operators
from opperf.child.backends.tensorflow.rules import AREAS, LEFT_OUT
from opperf.domain.case import Case

ROOTS = {"tf": tf, "tensorflow": tf}
#: Where functions are, below `tf`; "" is what stands right below.
SPACES = ("", "math", "nn", "linalg", "signal", "bitwise", "random", "image", "sparse", "sets", "experimental.numpy")
#: The modules in which TensorFlow defines what computes, and those among them that do more.
HOME, FOREIGN = "tensorflow.python.ops.", ("io_ops", "script_ops", "logging_ops", "variables", "lookup", "resource")
#: Functions that do more than compute with numbers.
REFUSALS = {
    "nn.fixed_unigram_candidate_sampler": "it can read a file",
    "random.fixed_unigram_candidate_sampler": "it can read a file",
    "variable_creator_scope": "it changes how TensorFlow works",
    "experimental.numpy.experimental_enable_numpy_behavior": "it changes how TensorFlow works",
    "nondifferentiable_batch_function": "it keeps threads",
    "random.set_global_generator": "it changes how TensorFlow works",
}


def resolve(path: str) -> Callable[..., Any]:
    """Return the function at a path, or raise `LookupError`, or `Refusal` for one that does more than compute."""
    first, _, rest = path.partition(".")
    if first in ROOTS and rest in REFUSALS:
        raise Refusal(path, REFUSALS[rest])
    if first in ROOTS and rest.startswith("raw_ops."):
        return raw_operators.resolve(f"tf.{rest}")
    function = function_at(path, ROOTS, "tensorflow")
    home = str(getattr(function, "__module__", ""))
    if rest.rpartition(".")[0] not in SPACES:
        raise Refusal(
            path, f"opperf calls functions of {', '.join(f'tf.{space}' for space in SPACES[1:])} and tf alone"
        )
    if isinstance(function, type) or not home.startswith(HOME) or any(word in home for word in FOREIGN):
        raise Refusal(path, "it is not among TensorFlow's functions that only compute with numbers")
    return function


@cache
def names() -> list[str]:
    """Return the paths that can be named, for near matches."""
    roots = {f"tf.{space}" if space else "tf": _module(space) for space in SPACES}
    return [*resolvable(roots, resolve), *raw_operators.paths()]


def _module(space: str) -> Any:
    module: Any = tf
    for word in space.split(".") if space else ():
        module = getattr(module, word)
    return module


def registered() -> list[str]:
    """Return the functions that compute, and the operators below them."""
    return [*_functions().paths(), *raw_operators.paths()]


def examples(path: str, size: str) -> list[Case]:
    """Return the case of a function or a registered operator, by rule."""
    path = path.replace("tensorflow.", "tf.", 1) if path.startswith("tensorflow.") else path
    if path.startswith(raw_operators.PREFIX):
        return raw_operators.examples(path, size)
    return _functions().examples(path, size)


@cache
def _functions() -> Functions:
    paths = [path for path in names() if not path.startswith(raw_operators.PREFIX)]
    return Functions("tensorflow", paths, resolve, {}, AREAS, LEFT_OUT, root="tf")
