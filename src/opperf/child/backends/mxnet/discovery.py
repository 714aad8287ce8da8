"""What MXNet has beside the neutral catalog: its registered operators, and a case of each made by rules.

Where no rule holds, every array is a square matrix. An attribute is left out where the registry has a default for it.
MXNet itself says, when a case runs, where this is not enough.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from opperf.child.backends import notation
from opperf.child.backends.mxnet import registry, rules
from opperf.child.backends.mxnet.gradient_rules import GRADIENTS
from opperf.domain.case import Case, map_tensors
from opperf.domain.tensor import TensorSpec


def paths() -> list[str]:
    """Return where users find every registered operator, in the registry's order."""
    return [registry.signature(name).path for name in registry.names()]


def examples(path: str, size: str) -> list[Case]:
    """Return cases of the registered operator at a path; none for another function, or a size without rules."""
    name = path.removeprefix("nd._internal.").removeprefix("nd.")
    if size not in notation.SIDES or name not in registry.names() or registry.signature(name).path != path:
        return []
    side = notation.SIDES[size]
    signature = registry.signature(name)
    written = _rule(name) or _rule(signature.real)
    arrays, given = written if written is not None else ("", {})
    inputs = notation.inputs(arrays, side)
    if written is None:
        inputs = {own: notation.tensor(rules.ARRAYS.get(own, rules.MATRIX), side) for own in signature.arrays}
    attributes = notation.attributes({**_needed(signature), **given}, side)
    # MXNet ends the process for some gradients of gradients, and has none of what it writes into its inputs.
    if "backward" in name or name in registry.CHANGING:
        inputs = {own: map_tensors(value, _fixed) for own, value in inputs.items()}
    return [Case(f"mxnet:{path}", inputs, attributes)]


def _rule(name: str) -> notation.Rule | None:
    """Return the rule of an operator: by its name without the leading underscore, else without its prefix."""
    if name in GRADIENTS:
        return GRADIENTS[name][0], GRADIENTS[name][2]
    stems = [name.removeprefix("_"), *(name.removeprefix(prefix) for prefix in rules.PREFIXES)]
    if name.startswith(("_image_", "_npx__image_")):
        stems.insert(0, f"image_{name.rpartition('image_')[2]}")
    stems += [NPX[stem] for stem in stems if stem in NPX and name.startswith("_npx_")]
    return next((rules.RULES[stem] for stem in stems if stem in rules.RULES), None)


def _needed(signature: registry.Signature) -> dict[str, Any]:
    """Return the attributes that an operator cannot do without, or hardly."""
    arguments = {}
    for own, text in signature.attributes:
        if own in rules.SPOKEN and not signature.arrays:
            arguments[own] = rules.SPOKEN[own]
        elif "optional" not in text and own in rules.ATTRIBUTES:
            arguments[own] = rules.ATTRIBUTES[own]
        elif own == "scalar":
            arguments[own] = 2.0
    return arguments


def _fixed(tensor: TensorSpec) -> TensorSpec:
    return replace(tensor, requires_grad=False)


#: Operators of `npx` whose rule stands under the name of their older twin.
NPX = {
    "activation": "Activation",
    "batch_norm": "BatchNorm",
    "convolution": "Convolution",
    "deconvolution": "Deconvolution",
    "embedding": "Embedding",
    "fully_connected": "FullyConnected",
    "layer_norm": "LayerNorm",
    "leaky_relu": "LeakyReLU",
    "multibox_detection": "MultiBoxDetection",
    "multibox_prior": "MultiBoxPrior",
    "multibox_target": "MultiBoxTarget",
    "pooling": "Pooling",
    "rnn": "RNN",
    "roi_pooling": "ROIPooling",
    "sequence_mask": "SequenceMask",
}
