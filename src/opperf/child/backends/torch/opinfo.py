"""PyTorch's own list of its operators with sample inputs, which its tests are made from: OpInfo.

An operator of the list is `opinfo::linalg.svd` to users: the name that PyTorch gives it, with its variant behind
(`opinfo::nn.functional.pad.circular`). Names are unique, and stay while PyTorch keeps them. The list comes with PyTorch
and needs the package `expecttest`; it takes seconds to import, so it is read when somebody asks for it.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from itertools import islice
from typing import Any

import torch

from opperf.child.backends.torch.specs import tensors
from opperf.domain.backend import Unsupported

PREFIX = "opinfo::"
#: How many samples of an operator are taken, and looked at; some have thousands, which differ little.
SAMPLES, LOOKED_AT = 16, 100
#: So many samples whose tensors have the same shapes are taken.
ALIKE = 4
#: Operators of lengths that must add up, or their gradient writes past its arrays: a case of one holds each length. A
#: sample that asks PyTorch not to look at the sum is none for them.
ADDING_UP, UNCHECKED = ("_segment_reduce.lengths",), "unsafe"
#: Drawn from for every sample, so that cases are the same in every process.
SEED = 0
#: The element types that an operator is asked for, the first that it has.
PREFERRED = (torch.float32, torch.float64, torch.complex64, torch.int64, torch.bool)


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
            f"PyTorch's list of its operators cannot be read here: {error}",
            slug="no_registry",
            hint="install `expecttest` beside PyTorch, and where SciPy is there its newest version",
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
    return next((dtype for dtype in PREFERRED if dtype in dtypes), sorted(dtypes, key=str)[0])


def samples(name: str, device: str) -> list[Any]:
    """Return the first samples of an operator that hold elements: each has `input`, `args` and `kwargs`."""
    info = database()[name]
    dtype = element_type(info, device)
    gradients = info.supports_autograd and (dtype.is_floating_point or dtype.is_complex)
    result: list[Any] = []
    shapes: Counter[tuple[Any, ...]] = Counter()
    with seeded():
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
def seeded() -> Iterator[None]:
    """Draw from the same seed, and leave the generators as they were."""
    state = random.getstate()
    with torch.random.fork_rng():
        torch.manual_seed(SEED)
        random.seed(SEED)
        try:
            yield
        finally:
            random.setstate(state)
