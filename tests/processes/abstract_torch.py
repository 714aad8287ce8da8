"""Captures models of PyTorch as they run and by shapes alone, in one process, and prints what differs as JSON."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch import nn

from opperf.child.backends.torch import abstract, capture
from opperf.domain.backend import Unsupported
from opperf.domain.call import CapturedCall
from opperf.domain.case import Case, map_tensors
from opperf.domain.tensor import TensorSpec, row_major

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"
sys.path[:0] = [str(HERE), str(EXAMPLES / "models"), str(EXAMPLES / "workloads")]
#: A fraction among the arguments of an operator.
NUMBER = re.compile(r"\d+\.\d+(e[+-]?\d+)?|\d+e-\d+")
MODELS = (
    "captured_models:transformer",
    "captured_models:residual_network",
    "captured_models:layouts",
    "captured_models:recomputing",
    "captured_models_abstract:recurrent",
    "captured_models_abstract:experts",
    "captured_models_abstract:upsampling",
    "lenet_torch:training_step",
    "dense_small:step",
)


def main() -> None:
    """Print what differs, by model, and what is said where values are asked for."""
    models = sys.argv[1:] or MODELS
    differences = {model: differing(model) for model in models}
    print(
        json.dumps(
            {
                "differences": differences,
                "huge": huge(),
                "reading": reading(),
                "length": length(),
            }
        )
    )


def loaded(model: str) -> Callable[[], Any]:
    """Return a function of a module that is loaded anew, with tensors of its own."""
    module, _, name = model.partition(":")
    for known in (module, "dense"):
        sys.modules.pop(known, None)
    return getattr(import_module(module), name)  # type: ignore[no-any-return]


def differing(model: str) -> object:
    """Return the calls that only one of both captures has, or how many there are in both."""
    function = loaded(model)
    function()
    real = counted(capture.of_call(function))
    shapes = counted(abstract.of_call(lambda: loaded(model)).calls)
    unlike = [repr(one)[:400] for one in (real - shapes) + (shapes - real)]
    return unlike or real.total()


def counted(calls: Iterable[CapturedCall]) -> Counter[tuple[str, str, str, str, str | None]]:
    """Return how often there is a call of each kind, by what can be known of it without values."""
    counts: Counter[tuple[str, str, str, str, str | None]] = Counter()
    for call in calls:
        case = None if call.case is None else described(call.case)
        if call.optimizer and case:
            case = NUMBER.sub("a number", case)  # of how many steps there were before
        counts[call.name, call.why, call.module, call.phase, case] += call.count
    return counts


def described(case: Case) -> str:
    """Return the text of a case without the values of its tensors."""
    inputs, attributes = (
        {name: map_tensors(value, without_values) for name, value in own.items()}
        for own in (case.inputs, case.attributes)
    )
    return repr((case.operator, inputs, attributes))


def without_values(spec: TensorSpec) -> TensorSpec:
    """Return the description of a tensor of any values; how far it is to the next of a single row says nothing."""
    strides = spec.strides or row_major(spec.shape)
    own = tuple(0 if extent == 1 else stride for extent, stride in zip(spec.shape, strides))
    return TensorSpec(spec.shape, spec.dtype, own)


def huge() -> list[object]:
    """Train a layer whose weight no address space holds: whatever allocated it would fail."""

    def load() -> Callable[[], Any]:
        layer = nn.Linear(2**25, 2**25)
        descent = torch.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9)

        def step() -> float:
            descent.zero_grad()
            loss = layer(torch.rand(4, 2**25)).sum()
            loss.backward()
            descent.step()
            return float(loss)

        return step

    captured = abstract.of_call(load)
    return [len(captured.calls), *captured.assumed]


def reading() -> list[str]:
    """Ask for what shapes do not tell, where something can be assumed."""

    def load() -> Callable[[], Any]:
        scores = torch.rand(6, 5)

        def step() -> None:
            mask = scores > 0.5
            if mask.all():
                raise ValueError
            scores[mask].sum().backward if mask.any() else scores[scores.argmax(dim=1) == 1].exp()
            torch.masked_select(scores, mask).unique().nonzero()

        return step

    return list(abstract.of_call(load).assumed)


def length() -> list[object]:
    """Ask for a whole number that decides a shape, and for what PyTorch cannot follow."""
    said = []
    for function in (lambda: torch.rand(int(torch.randint(3, (1,)).sum())), lambda: torch.rand(3).bincount()):
        try:
            abstract.of_call(lambda function=function: function)  # type: ignore[misc]
        except Unsupported as refusal:
            said.append(str(refusal))
    return list(said)


if __name__ == "__main__":
    main()
