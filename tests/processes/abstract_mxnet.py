"""Captures models of MXNet as they run and by shapes alone, in one process, and prints what differs as JSON."""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Callable
from importlib import import_module
from itertools import zip_longest
from pathlib import Path
from typing import Any

import mxnet as mx

from opperf.child.backends.mxnet import abstract, capture
from opperf.domain.backend import Unsupported
from opperf.domain.call import CapturedCall
from opperf.domain.case import map_tensors
from opperf.domain.tensor import TensorSpec

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "examples" / "models")]
MODELS = (
    "lenet_mxnet:training_step",
    "captured_models_mxnet:lenet_hybridized",
    "captured_models_mxnet:normalized",
    "captured_models_mxnet:imperative",
    "captured_models_mxnet:recurrent",
)


def loaded(model: str) -> Callable[[], Any]:
    """Return a function of a module that is loaded anew, with arrays of its own."""
    module, _, name = model.partition(":")
    sys.modules.pop(module, None)
    mx.name.NameManager._current.value = mx.name.NameManager()  # it numbers blocks of one kind throughout a process
    return getattr(import_module(module), name)  # type: ignore[no-any-return]


def differing(model: str) -> object:
    """Return the calls that are not the same in both captures, or how many there are in both."""
    function = loaded(model)
    function()
    real = capture.of_call(function)
    shapes = abstract.of_call(lambda: loaded(model)).calls
    pairs = [(left and described(left), right and described(right)) for left, right in zip_longest(real, shapes)]
    return [f"{left} | {right}" for left, right in pairs if left != right] or len(real)


def described(call: CapturedCall) -> str:
    """Return the text of a call without the values of its tensors."""
    case = call.case
    inputs = case and {name: map_tensors(value, without_values) for name, value in case.inputs.items()}
    place = call.module, call.backward, call.direction, call.count
    return repr((call.name, place, call.why, inputs, case and case.attributes))


def without_values(spec: TensorSpec) -> TensorSpec:
    """Return the description of an array of any values."""
    return TensorSpec(spec.shape, spec.dtype, requires_grad=spec.requires_grad)


def large() -> Callable[[], Any]:
    """Return a function over layers of 64 GiB of weights, and as many gradients."""
    net = mx.gluon.nn.HybridSequential()
    net.add(*(mx.gluon.nn.Dense(2**15) for _ in range(16)))
    net.initialize(mx.init.Xavier())
    net.hybridize()
    trainer = mx.gluon.Trainer(net.collect_params(), "adam")

    def step() -> None:
        with mx.autograd.record():
            loss = net(mx.nd.ones((2, 2**15))).sum()
        loss.backward()
        trainer.step(2)

    return step


def refusal(function: Callable[[], Any]) -> str:
    """Say what is said of a function that needs values."""
    try:
        abstract.of_call(lambda: function)
    except Unsupported as problem:
        return str(problem)
    return ""


reads = (
    lambda: mx.nd.ones((3,)).sum().asscalar(),
    lambda: mx.nd.contrib.boolean_mask(mx.nd.ones((3, 2)), mx.nd.ones((3,))),
)
print(
    json.dumps(
        {
            "differences": {model: differing(model) for model in sys.argv[1:] or MODELS},
            "large": len(abstract.of_call(large).calls),
            "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
            "refusals": [refusal(function) for function in reads],
        }
    )
)
