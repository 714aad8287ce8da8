"""PyTorch's own list of its operators with sample inputs, which its tests are made from: OpInfo.

An operator of the list is `opinfo::linalg.svd` to users: the name that PyTorch gives it, with its variant behind
(`opinfo::nn.functional.pad.circular`). Names are unique, and stay while PyTorch keeps them. The list comes with PyTorch
and needs the package `expecttest`; it takes seconds to import, so it is read on demand.

Which ATen operators its samples reach, and with which arguments, is seen where PyTorch dispatches them. What PyTorch
composes of other operators is taken apart before it is dispatched, so these are the operators that have code of their
own. Gradients are computed too: what only they call is an operator like any other.
"""

from __future__ import annotations

import math
import random
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from functools import cache
from itertools import islice
from typing import Any

import torch

from opperf.child.backends.torch.functions import Seen, Watch, is_refused, parameters
from opperf.child.backends.torch.specs import NoDescription, case_of, tensors
from opperf.domain.backend import Unsupported
from opperf.domain.case import Case
from opperf.domain.dataclass import dataclass

PREFIX = "opinfo::"
#: How many samples of an operator are taken, and looked at; some have thousands, which differ little.
SAMPLES, LOOKED_AT = 16, 100
#: The most samples to take whose tensors have the same shapes.
ALIKE = 4
#: Operators of lengths that must add up, or their gradient writes past its arrays: a case of one holds each length. A
#: sample that asks PyTorch not to look at the sum is none for them.
ADDING_UP, UNSAFE = ("_segment_reduce.lengths",), "unsafe"
#: Drawn from for every sample, so that cases are the same in every process.
SEED = 0
#: The element types that an operator is asked for, the first that it has.
DTYPE_ORDER = (torch.float32, torch.float64, torch.complex64, torch.int64, torch.bool)


def names() -> list[str]:
    """Return the path of every operator in the list, in its order; raises `Unsupported` without `expecttest`."""
    return [f"{PREFIX}{name}" for name in database()]


@cache
def database() -> Mapping[str, Any]:
    """Return PyTorch's list by name and variant."""
    try:
        from torch.testing._internal.common_methods_invocations import op_db
    except ImportError as error:
        raise Unsupported(
            f"cannot read PyTorch's list of its operators: {error}",
            slug="no_registry",
            hint="install `expecttest` next to PyTorch, and upgrade SciPy if it is installed",
        ) from error
    return {info.full_name: info for info in op_db}


def info_at(path: str) -> Any:
    """Return the OpInfo at a path; raises `LookupError`."""
    name = path.removeprefix(PREFIX)
    if not path.startswith(PREFIX) or name not in database():
        raise LookupError(path)
    return database()[name]


def element_type(info: Any, device: str) -> torch.dtype:
    """Return the element type that an operator is sampled in; raises `Unsupported` where it has none on a device."""
    kind = torch.device(device).type
    dtypes = info.supported_dtypes(kind)
    if not dtypes:
        raise Unsupported(f"PyTorch lists no element type of `{info.full_name}` on {kind}", slug="no_such_device")
    return next((dtype for dtype in DTYPE_ORDER if dtype in dtypes), sorted(dtypes, key=str)[0])


def samples(name: str, device: str) -> list[Any]:
    """Return the first samples of an operator that hold elements: each has `input`, `args` and `kwargs`."""
    info = database()[name]
    dtype = element_type(info, device)
    gradients = info.supports_autograd and (dtype.is_floating_point or dtype.is_complex)
    result: list[Any] = []
    shapes: Counter[tuple[Any, ...]] = Counter()
    with use_seed():
        # Not `info.sample_inputs`: it searches the stack for a test, which takes longer than all the rest.
        for sample in islice(info.sample_inputs_func(info, device, dtype, gradients), LOOKED_AT):
            here = tuple(tensor.shape for tensor in tensors((sample.input, sample.args)))
            shapes[here] += 1
            if all(map(math.prod, here)) and (shapes[here] <= ALIKE or not here):
                result.append(sample)
            if len(result) == SAMPLES:
                break
    return result


@contextmanager
def use_seed() -> Iterator[None]:
    """Draw from the same seed, and leave the generators as they were."""
    state = random.getstate()
    # For devices that are not there, `torch.manual_seed` writes down the stack of each call: a third of a discovery.
    seed = torch.manual_seed if torch.cuda.is_available() else torch.default_generator.manual_seed
    with torch.random.fork_rng():
        seed(SEED)
        random.seed(SEED)
        try:
            yield
        finally:
            random.setstate(state)


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
        leaves = tensors(args)
        elements = max((tensor.numel() for tensor in leaves), default=0)
        fits = all(tensor.layout == torch.strided for tensor in leaves)
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
    for name, info in database().items():
        if not info.supported_dtypes(torch.device(device).type):
            continue
        result.aten = info.aten_name
        for number, sample in enumerate(samples(name, device)):
            result.here = Where(name, number)
            with use_seed():
                run(result, info.op, (sample.input, *sample.args), sample.kwargs)
    return {path: where for path, where in sorted(result.places.items()) if not is_refused(path)}


def run(note: Seen, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Call a function and compute the gradients of its first differentiable result, reporting every operator."""
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

    def note(name: str, func: Any, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> None:
        if name == path and not cases:
            try:
                cases.append(case_of(f"torch:{path}", parameters(func), arguments, keywords))
            except NoDescription:
                return

    run(note, function, args, kwargs)
    return cases[0] if cases else None
