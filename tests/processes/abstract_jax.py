"""Captures models of JAX as they run and by shapes alone, in one process, and prints what differs as JSON."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import jax.numpy as jnp

from opperf.child.backends.jax import capture
from opperf.domain.backend import Unsupported
from opperf.domain.call import CapturedCall
from opperf.domain.case import map_tensors
from opperf.domain.tensor import TensorSpec

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "examples" / "models"), str(ROOT / "benchmarks" / "capture_rerun_models")]
#: Convolutions; dense layers; attention in layers that a loop turns through; cells, whose loop another loop is around.
MODELS = (
    "lenet_jax:training_step",
    "mlp_jax:training_step",
    "transformer_jax:training_step",
    "captured_models_jax:recurrent",
    "captured_models_jax:convolved",
)


def loaded(model: str) -> Callable[[], Any]:
    """Return a function of a module that is loaded anew, with arrays of its own."""
    module, _, name = model.partition(":")
    sys.modules.pop(module, None)
    return getattr(import_module(module), name)  # type: ignore[no-any-return]


def differing(model: str) -> object:
    """Return the calls that only one of both captures has, or how many there are in both."""
    function = loaded(model)
    function()
    real, shapes = counted(capture.of_call(function)), counted(capture.of_shapes(lambda: loaded(model)).calls)
    return [repr(call) for call in (real - shapes) + (shapes - real)] or real.total()


def counted(calls: Iterable[CapturedCall]) -> Counter[object]:
    """Return how often there is a call of each kind, by what can be known of it without values."""
    return Counter(
        (one.name, one.module, one.backward, repr([map_tensors(value, shape) for value in one.case.inputs.values()]))
        for one in calls
        if one.case is not None
        for _ in range(one.count)
    )


def shape(spec: TensorSpec) -> TensorSpec:
    """Return the description of an array of any values."""
    return TensorSpec(spec.shape, spec.dtype)


def huge() -> Callable[[], Any]:
    """Return a function over an array that no address space holds."""
    rows = jnp.ones((2**25, 2**25))
    return lambda: jnp.tanh(rows @ rows)


def refusal() -> str:
    """Say what is said of a function that reads an array."""
    try:
        capture.of_shapes(lambda: lambda: float(jnp.ones(3).sum()))
    except Unsupported as problem:
        return str(problem)
    return ""


print(
    json.dumps(
        {
            "differences": {model: differing(model) for model in sys.argv[1:] or MODELS},
            "huge": [call.name for call in capture.of_shapes(huge).calls],
            "refusal": refusal(),
        }
    )
)
