"""Captures models of TensorFlow as they run and by shapes alone, in one process, and prints what differs as JSON."""

from __future__ import annotations

import json
import re
import resource
import sys
from collections.abc import Callable
from importlib import import_module
from itertools import zip_longest
from pathlib import Path
from typing import Any

import tensorflow as tf

from opperf.child.backends import keras
from opperf.child.backends.tensorflow import abstract, capture
from opperf.domain.backend import Unsupported
from opperf.domain.call import AbstractCapture, CapturedCall
from opperf.domain.case import map_tensors
from opperf.domain.tensor import TensorSpec

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "examples" / "models"), str(ROOT / "benchmarks" / "capture_rerun_models")]
MODELS = (
    "lenet_tensorflow:training_step",
    "cnn_keras:training_step",
    "captured_models_tensorflow:open_dimensions",
    "captured_models_tensorflow:turns",
    "captured_models_keras:recurrent",
    "captured_models_keras:attending",
)


def main() -> None:
    """Print what differs, by model, and what is said where values are asked for."""
    models = sys.argv[1:] or MODELS
    differences = {model: differing(model) for model in models}
    print(json.dumps({"differences": differences, **({} if sys.argv[1:] else others())}))


def loaded(model: str) -> Callable[[], Any]:
    """Return a function of a module that is loaded anew, with tensors of its own."""
    module, _, name = model.partition(":")
    sys.modules.pop(module, None)
    return getattr(import_module(module), name)  # type: ignore[no-any-return]


def differing(model: str) -> object:
    """Return the calls that are not the same in both captures, or how many there are in both and how many left out."""
    tf.keras.backend.clear_session()  # it numbers layers of one kind throughout a process
    function = loaded(model)
    function()
    real = capture.of_call(function)
    tf.keras.backend.clear_session()
    shapes = abstract.of_call(lambda: loaded(model)).calls
    unlike = [
        f"{left and described(left)} | {right and described(right)}"[:600]
        for left, right in zip_longest(real, shapes)
        if left is None or right is None or not same(left, right)
    ]
    return unlike or [sum(one.count for one in real), sum(one.count for one in shapes if one.case is None)]


def same(real: CapturedCall, shapes: CapturedCall) -> bool:
    """Whether calls are equal but for values, of which the second may know fewer, and no other."""
    if described(real) != described(shapes):
        return False
    if real.case is None or shapes.case is None:
        return True
    pairs = zip(real.case.tensors(), shapes.case.tensors())
    return all(known.literal in (None, ran.literal) for ran, known in pairs)


def described(call: CapturedCall) -> str:
    """Return the text of a call without the values of its tensors."""
    case = call.case
    inputs = case and {name: map_tensors(value, without_values) for name, value in case.inputs.items()}
    reason = re.sub("`.*?`", "", call.why)
    backward = case and call.backward  # what a loop keeps for its gradient is listed anywhere
    return repr((call.name, call.module, backward, call.count, reason, inputs, case and case.attributes))


def without_values(spec: TensorSpec) -> TensorSpec:
    """Return the description of a tensor of any values."""
    return TensorSpec(spec.shape, spec.dtype)


def others() -> dict[str, object]:
    """Return the operators of weights that no address space holds, and what is said of values that decide."""
    captured = abstract.of_call(lambda: loaded("captured_models_keras:huge"))
    try:
        abstract.of_call(lambda: lambda: float(tf.reduce_sum(tf.ones(3))))
    except Unsupported as refusal:
        said = str(refusal)
    masked = abstract.of_call(lambda: loaded("captured_models_keras:masked"))
    largest = max(
        (spec.elements for call in captured.calls if call.case is not None for spec in call.case.tensors()), default=0
    )
    return {
        "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "huge": [len(captured.calls), largest, *captured.assumed],
        "masked": [called(masked), *masked.assumed],
        "refusal": said,
    }


def called(captured: AbstractCapture) -> list[object]:
    """Return each operator with the shape of its first input, or why it is left out."""
    return [(own.name, own.why or next(iter(own.case.tensors())).shape) for own in captured.calls]  # type: ignore[union-attr]


if __name__ == "__main__":
    keras.configure("tensorflow", "cpu")
    main()
