"""Which ATen operators the samples of OpInfo reach, and with which arguments: seen where PyTorch dispatches them.

What PyTorch composes of other operators is taken apart before it is dispatched, so these are the operators that have
code of their own. Gradients are computed too: what only they call is an operator like any other.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from keyword import iskeyword
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from opperf.child.backends.torch import opinfo
from opperf.child.backends.torch.functions import refused
from opperf.child.backends.torch.specs import Parameter, Undescribed, case_of, tensors
from opperf.domain.case import Case

#: What each of a sample's calls came to: a path, and what it was called with.
Seen = Callable[[str, Any, Sequence[Any], Mapping[str, Any]], None]


class Watch(TorchDispatchMode):  # type: ignore[misc]
    """Tells of every registered operator before it is called."""

    def __init__(self, note: Seen) -> None:
        super().__init__()
        self._seen = note

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Tell, and call."""
        if isinstance(func, torch._ops.OpOverload):
            path = f"{func.namespace}::{func.overloadpacket.__name__}.{func._overloadname}"
            self._seen(path, func, args, kwargs or {})
        return func(*args, **(kwargs or {}))


@dataclass(frozen=True)
class Where:
    """The sample that reaches an operator: of which OpInfo, and which of its samples."""

    name: str
    sample: int


@dataclass
class Index:
    """Every ATen operator that is reached, and the sample of most elements that does.

    Samples that a case can hold come first, then those of the operator's own OpInfo.
    """

    places: dict[str, Where] = field(default_factory=dict)
    worth: dict[str, tuple[bool, bool, int]] = field(default_factory=dict)
    here: Where = field(default_factory=lambda: Where("", 0))
    aten: str = ""

    def __call__(self, path: str, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Take an operator that is called, if it is one of ATen."""
        if not path.startswith("aten::"):
            return
        given = tensors(args)
        elements = max((tensor.numel() for tensor in given), default=0)
        fits = all(tensor.layout == torch.strided for tensor in given)
        worth = (fits, func.overloadpacket.__name__ == self.aten, elements or _numbers(args))
        if path not in self.places or worth > self.worth[path]:
            self.places[path], self.worth[path] = self.here, worth


def _numbers(value: Any) -> int:
    """Return the sum of the whole numbers among arguments: shapes and lengths, where no tensor is given."""
    if isinstance(value, (tuple, list)):
        return sum(map(_numbers, value))
    return value if isinstance(value, int) else 0


@cache
def index(device: str) -> Mapping[str, Where]:
    """Return every ATen operator that the samples reach on a device; a sample that fails reaches what it reaches."""
    result = Index()
    for name, info in opinfo.database().items():
        if not info.supported_dtypes(torch.device(device).type):
            continue
        result.aten = info.aten_name
        for number, sample in enumerate(opinfo.samples(name, device)):
            result.here = Where(name, number)
            with opinfo.seeded():
                run(result, info.op, (sample.input, *sample.args), sample.kwargs)
    return {path: where for path, where in sorted(result.places.items()) if not refused(path)}


def run(note: Seen, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Call a function, and compute the gradients of its first result that has some, while every operator is told."""
    with Watch(note), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = function(*args, **kwargs)
            first = next((leaf for leaf in tensors(result) if leaf.requires_grad), None)
            if first is not None:
                first.backward(torch.ones_like(first))
        except Exception:  # a sample that fails does so again as a trial, which says why
            return


def first_case(path: str, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Case | None:
    """Return the case of the first call of an ATen operator in a function's call that a case can hold; or None."""
    cases: list[Case] = []

    def note(called: str, func: Any, given: Sequence[Any], named: Mapping[str, Any]) -> None:
        if called == path and not cases:
            try:
                cases.append(case_of(f"torch:{path}", parameters(func), given, named))
            except Undescribed:
                return

    run(note, function, args, kwargs)
    return cases[0] if cases else None


def parameters(overload: Any) -> list[Parameter]:
    """Return the parameters of an ATen operator, as its schema names them; Python has its own use for `from`."""
    return [
        Parameter(
            own.name,
            own.default_value if own.has_default_value() else Parameter.default,
            own.kwarg_only,
            unnamed=iskeyword(own.name),
        )
        for own in overload._schema.arguments
    ]
