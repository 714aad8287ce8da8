"""MXNet's operators outside the neutral catalog: the registered ones, with a case for each made by rules.

Where no rule holds, every array is a square matrix. An attribute is left out where the registry has a default for it.
MXNet itself says, when a case runs, where this is not enough.

A rule is that of an operator, else that of the names of its arguments. Operators are named as they are registered,
without the prefixes of `PREFIXES`; the rules of areas are in `*_rules.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from opperf.child.backends.mxnet import array_rules, layer_rules, registry, special_rules
from opperf.child.backends.mxnet.gradient_rules import GRADIENTS
from opperf.child.backends.naming import notation
from opperf.child.backends.naming.notation import Rule
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
    rule = _rule(name) or _rule(signature.real)
    arrays, settings = rule if rule is not None else ("", {})
    inputs = notation.inputs(arrays, side)
    if rule is None:
        inputs = {own: notation.tensor(ARRAYS.get(own, MATRIX), side) for own in signature.arrays}
    attributes = notation.attributes({**_required_attributes(signature), **settings}, side)
    # MXNet ends the process for some gradients of gradients, and has none of the tensors that it writes to its inputs.
    if "backward" in name or name in registry.CHANGING:
        inputs = {own: map_tensors(value, _detach) for own, value in inputs.items()}
    return [Case(f"mxnet:{path}", inputs, attributes)]


def _rule(name: str) -> notation.Rule | None:
    """Return the rule of an operator: by its name without the leading underscore, else without its prefix."""
    if name in GRADIENTS:
        return GRADIENTS[name][0], GRADIENTS[name][2]
    stems = [name.removeprefix("_"), *(name.removeprefix(prefix) for prefix in PREFIXES)]
    if name.startswith(("_image_", "_npx__image_")):
        stems.insert(0, f"image_{name.rpartition('image_')[2]}")
    stems += [NPX[stem] for stem in stems if stem in NPX and name.startswith("_npx_")]
    return next((RULES[stem] for stem in stems if stem in RULES), None)


def _required_attributes(signature: registry.Signature) -> dict[str, Any]:
    """Return the attributes that an operator cannot do without, or hardly."""
    arguments = {}
    for attribute, text in signature.attributes:
        if attribute in LARGER_DEFAULTS and not signature.arrays:
            arguments[attribute] = LARGER_DEFAULTS[attribute]
        elif "optional" not in text and attribute in ATTRIBUTES:
            arguments[attribute] = ATTRIBUTES[attribute]
        elif attribute == "scalar":
            arguments[attribute] = 2.0
    return arguments


def _detach(tensor: TensorSpec) -> TensorSpec:
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


RULES: Mapping[str, Rule] = {**layer_rules.RULES, **array_rules.RULES, **special_rules.RULES}
#: Left off a registered name to find its rule; longer ones first.
PREFIXES = ("_npx__image_", "_npx_", "_npi_", "_np_", "_sparse_", "_contrib_", "_image_", "_linalg_", "_")

#: Arrays by their own name, where an operator has no rule.
ARRAYS: Mapping[str, str] = {
    "grad": "n,n",
    "condition": "n,n 0..2",
    "mean": "n,n",
    "var": "n,n 0..1",
    "weight": "n,n",
    "mask": "n bool",
    "length": "n int32 1..8",
    "rescale_grad": "1 ones",
}
#: The default.
MATRIX = "n,n"

#: Attributes by their own name, where the registry has no default for them and an operator has no rule.
ATTRIBUTES: Mapping[str, Any] = {
    "dtype": "float32",
    "lr": 0.01,
    "wd": 0.0,
    "eta": 0.001,
    "eps": 1e-8,
    "axis": 0,
    "t": 1,
    "start": 0,
    "stop": 100,
    "N": lambda side: side,
    "shape": lambda side: (side, side),
    "size": lambda side: (side, side),
    "ctx": "cpu",
    "a_min": -0.5,
    "a_max": 0.5,
    "act_type": "relu",
    "repeats": 2,
    "reps": (2, 1),
    "begin": (0, 0),
    "end": lambda side: (side // 2, side // 2),
    "newshape": (-1,),
    "value": 1.0,
    "fill_value": 1.0,
    "low": 0,
    "high": 10,
    "scale": 1.0,
    "loc": 0.0,
    "scalar": 2.0,
    "min_factor": 0.5,
    "max_factor": 1.5,
    "stype": "default",
    "indices": (4,),
    "num": 100,
    "depth": 16,
    "num_outputs": 2,
    "block_size": 2,
}
#: Attributes that have a default with which an operator without arrays would do next to nothing.
LARGER_DEFAULTS: Mapping[str, Any] = {"shape": lambda side: (side, side)}
