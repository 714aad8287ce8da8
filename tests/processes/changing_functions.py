"""Calls functions that change their inputs, own ones and the catalog's, in the framework that is named.

    python changing_functions.py torch

Prints how many were called, and those that some call gave other inputs than the first.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from operator import iadd, imul
from pathlib import Path
from typing import Any

from opperf.catalog import catalog
from opperf.child import backends
from opperf.child.measure.block import Block
from opperf.child.measure.disturbance import NoCounters
from opperf.child.worker import arguments
from opperf.child.worker.code import Plugins
from opperf.child.worker.directions import Ready, ready
from opperf.child.worker.names import Names
from opperf.domain.backend import Backend, Unsupported
from opperf.domain.call import Bound
from opperf.domain.plan import Side, Trial
from opperf.domain.registry import ARRAY_API, FRAMEWORKS, array_library, register
from opperf.domain.tensor import TensorSpec

X = TensorSpec((6, 4), range=(0.5, 1.5))
#: What the functions of each framework are called with; each takes a matrix, another, and a list of two.
Change = Callable[[Any, Any, list[Any]], object]


def of_numpy() -> dict[str, Change]:
    """Return functions that change NumPy's arrays."""
    import numpy as np

    return {
        "stable sort": lambda x, y, both: x.sort(kind="stable"),
        "partition": lambda x, y, both: x.partition(2, axis=0),
        "shuffle": lambda x, y, both: np.random.default_rng().shuffle(x),
        "in place": lambda x, y, both: x.__imul__(y),
        "out": lambda x, y, both: np.exp(x, out=y),
        "out of a part": lambda x, y, both: np.exp(x[1:3], out=y[2:4]),
        "one element": lambda x, y, both: x.__setitem__((5, 3), 7),
        "at": lambda x, y, both: np.add.at(x, [0, 0, 1], 1),
        "put": lambda x, y, both: np.put(x, [3, 1], 9),
        "a transposed view": lambda x, y, both: x.T.__setitem__(0, 0),
        "as other elements": lambda x, y, both: x.view("int32").__ixor__(1),
        "bytes": lambda x, y, both: x.byteswap(inplace=True),
        "copyto": lambda x, y, both: np.copyto(y, x),
        "another shape": lambda x, y, both: x.resize((3, 8), refcheck=False),
        "an item": lambda x, y, both: both[1].sort(axis=0),
        "another item": lambda x, y, both: both.__setitem__(0, both[0] * 2),
        "fewer items": lambda x, y, both: both.pop(),
        "the order of items": lambda x, y, both: both.reverse(),
    }


def of_torch() -> dict[str, Change]:
    """Return functions that change PyTorch's tensors, some past its own count of versions."""
    import torch

    return {
        "in place": lambda x, y, both: x.mul_(y),
        "past the versions": lambda x, y, both: x.data.exp_(),
        "by NumPy": lambda x, y, both: x.numpy().sort(axis=0),
        "transposed": lambda x, y, both: x.t_(),
        "resized": lambda x, y, both: x.resize_(8, 8),
        "another storage": lambda x, y, both: x.set_(torch.ones(2)),
        "other elements": lambda x, y, both: setattr(x, "data", x.double()),
        "out": lambda x, y, both: torch.add(x, y, out=y),
        "settling": lambda x, y, both: torch.nn.functional.threshold(x, 1.0, 0.0, inplace=True),
        "a part": lambda x, y, both: x[2].fill_(3),
        "a view": lambda x, y, both: x.T.view(4, 6).zero_(),
        "random": lambda x, y, both: x.uniform_(),
        "statistics": lambda x, y, both: torch.nn.functional.batch_norm(x, y[0], y[1], training=True),
        "a list": lambda x, y, both: torch._foreach_mul_(both, 2.0),
        "another item": lambda x, y, both: both.__setitem__(0, x),
        "more items": lambda x, y, both: both.append(x),
    }


def of_mxnet() -> dict[str, Change]:
    """Return functions that change MXNet's arrays."""
    import mxnet as mx

    return {
        "in place": lambda x, y, both: x.__imul__(y),
        "all elements": lambda x, y, both: x.__setitem__(slice(None), y),
        "a part": lambda x, y, both: x.__setitem__(slice(1, 3), 0),
        "out": lambda x, y, both: mx.nd.elemwise_add(x, y, out=x),
        "an update": lambda x, y, both: mx.nd.sgd_mom_update(x, y, both[0], lr=0.1, momentum=0.9, out=x),
        "an item": lambda x, y, both: both[0].__iadd__(1),
        "fewer items": lambda x, y, both: both.pop(),
    }


def of_array_api() -> dict[str, Change]:
    """Return functions that change the arrays of a library behind the array API standard."""
    return {
        "in place": lambda x, y, both: imul(x, y),  # type: ignore[no-untyped-call]
        "a part": lambda x, y, both: x.__setitem__((0, slice(None)), 0.0),
        "an item": lambda x, y, both: both.__setitem__(1, iadd(both[1], 1.0)),  # type: ignore[no-untyped-call]
        "fewer items": lambda x, y, both: both.pop(),
    }


#: Those of the others are of an array library.
CHANGES = {"numpy": of_numpy, "torch": of_torch, "mxnet": of_mxnet}


def host(backend: Backend, value: Any) -> Any:
    """Return what is in the arguments of a call, by the bytes of each tensor."""
    if isinstance(value, (list, tuple)):
        return [host(backend, item) for item in value]
    return [backend.to_host(leaf) for leaf in backend.leaves(value)] or repr(type(value))


def steady(backend: Backend, sound: Ready, fresh: Any) -> bool:
    """Whether each of some calls in blocks, whatever comes before it, gets inputs as they were made."""
    given: list[Any] = []

    def call(*places: Any, **keywords: Any) -> Any:
        given.append(host(backend, (places, [*keywords.values()])))
        return sound.work.function(*places, **keywords)

    block = Block(replace(sound.work, function=call), backend, NoCounters())
    with block.scope():
        block.run(2)
        block.sample(3)
    sound.check()
    return len(given) == 5 and all(one == fresh for one in given)


def bind(backend: Backend, function: Change) -> Bound:
    """Return a call of a function with inputs of its own."""
    maker = arguments.Maker(backend, "own")
    values = {"x": maker.make(X, "x"), "y": maker.make(X, "y"), "both": [maker.make(X, "0"), maker.make(X, "1")]}
    return Bound(function, (*values.values(),), values=values)


def own(backend: Backend) -> Iterator[tuple[str, bool]]:
    """Return for each own function whether its calls are steady."""
    for name, change in CHANGES.get(backend.name, of_array_api)().items():
        fresh = host(backend, (bind(backend, change).arguments, []))
        sound = ready(backend, partial(bind, backend, change), "forward", None, "0")
        yield name, steady(backend, sound, fresh)


def is_refused(backend: Backend, change: Change) -> bool:
    """Whether a function is not measured for what it changes."""
    try:
        ready(backend, lambda: bind(backend, change), "forward", None, "0")
    except Unsupported as reason:
        return reason.slug == "mutates"
    return False


def of_catalog(backend: Backend) -> Iterator[tuple[str, bool]]:
    """Return for each operator of the catalog that declares changes whether its calls are steady."""
    names = Names(backend, Path.cwd(), Plugins(Path.cwd(), ()))
    for name, operator in catalog().items():
        if not operator.mutates:
            continue
        case = operator.case("small")
        try:
            call = names.call(Trial(case, backend.side, "forward"))
            make = partial(arguments.bind, case, call, operator, backend, 0)
            sound = ready(backend, make, "forward", operator, "0")
        except Unsupported:
            continue
        yield (
            name,
            steady(backend, sound, host(backend, (sound.work.make_arguments(), [*sound.work.keywords.values()]))),
        )


def main(framework: str) -> dict[str, object]:
    """Return what was called, and what of it is not steady."""
    kind, _, library = framework.partition(":")
    if kind == ARRAY_API and framework not in FRAMEWORKS:
        register(array_library(library))
    backend = backends.start(Side(framework))
    if backend.immutable:
        return {"refused": [name for name, change in of_array_api().items() if is_refused(backend, change)]}
    result = {f"own {name}": good for name, good in own(backend)} | dict(of_catalog(backend))
    return {"called": len(result), "unsteady": [name for name, good in result.items() if not good]}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(main(sys.argv[1])))
