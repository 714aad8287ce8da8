"""Values that nobody can foresee, written into the inputs of a case where they lie.

They are drawn as the case declares them, once, into a pool that is longer than the largest input. From there each
input gets as many elements as it has, from a place that the operating system draws: every element is another one then,
for the price of a copy. What is not drawn element by element (sorted values, those that stand in the case) stays.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import field, replace
from typing import Any

from opperf.child.worker import inputs
from opperf.child.worker.arguments import Maker
from opperf.domain.backend import Backend
from opperf.domain.call import Bound
from opperf.domain.case import Case, tensors_of
from opperf.domain.dataclass import dataclass
from opperf.domain.tensor import SPARSE, TensorSpec

#: Distributions whose elements do not depend on each other.
INDEPENDENT = ("uniform", "normal", "denormal")
#: By how much a pool is longer than the largest tensor, as a share and in elements at least: the sum of all elements
#: of a tensor differs from draw to draw too.
MORE_SHARE, MORE = 8, 4096
#: The most bytes of the pools of a case. Beyond, the inputs themselves hardly fit.
MOST_BYTES = 1 << 29
#: So many values are drawn; no input has a multiple of them, so that a turn of the pool is no turn of the input.
MOST_DRAWN = (1 << 20) - 3

#: Which input, and which of its tensors.
Place = tuple[str, int]


@dataclass(frozen=True)
class Draw:
    """Where in its pool the elements of each tensor begin."""

    starts: Mapping[Place, int] = field(default_factory=dict)


class Supply:
    """The pools of one case."""

    def __init__(self, backend: Backend, case: Case, seed: int) -> None:
        """Draw them, unless the case is too large; what is not drawn has the values that `seed` gives."""
        self._backend = backend
        self._case = case
        self._maker = Maker(backend, f"{seed}/{case.id}")
        self._arguments = {**case.inputs, **case.attributes}
        specs = {name: list(tensors_of(argument)) for name, argument in self._arguments.items()}
        moving = {
            (name, i): spec for name, several in specs.items() for i, spec in enumerate(several) if _is_drawn(spec)
        }
        sizes: dict[TensorSpec, int] = {}
        for spec in moving.values():
            sizes[_kind(spec)] = max(spec.elements, sizes.get(_kind(spec), 0))
        pools = [replace(kind, shape=(size + max(MORE, size // MORE_SHARE),)) for kind, size in sizes.items()]
        # A backend need not be able to write into its tensors.
        if type(backend).refill is Backend.refill or sum(pool.nbytes for pool in pools) > MOST_BYTES:
            moving, pools = {}, []
        self._specs = moving
        self._pools = {_kind(pool): self._pool(pool) for pool in pools}
        self._lengths = {_kind(pool): pool.elements for pool in pools}
        #: The inputs that have tensors with the same values in every draw.
        self.fixed = [
            name for name, several in specs.items() if any((name, i) not in moving for i in range(len(several)))
        ]
        self._copies: dict[str, object] | None = None
        self._last = Draw()

    def _pool(self, spec: TensorSpec) -> object:
        """Return as many values as a pool has; those of a long one repeat."""
        few = inputs.tensor(self._backend, replace(spec, shape=(min(spec.elements, MOST_DRAWN),)), os.urandom(32).hex())
        if spec.elements <= MOST_DRAWN:
            return few
        raw = bytearray(self._backend.to_host(few)[0]) * -(-spec.elements // MOST_DRAWN)
        del raw[spec.nbytes :]
        return inputs.of_elements(self._backend, spec, raw)

    def _blank(self, spec: TensorSpec, place: str) -> object:
        """Return a tensor for values to come; only where all of its elements are written, so none are drawn for it."""
        if spec.strides is not None or not _is_drawn(spec) or not self._pools:
            return self._maker.make(spec, place)
        return inputs.of_elements(self._backend, spec, bytearray(spec.nbytes))

    @property
    def names(self) -> set[str]:
        """The inputs that have other values in every draw."""
        return {name for name, _ in self._specs}

    def draw(self) -> Draw:
        """Return places that nobody can foresee, none of them that of the last draw."""
        spans = {place: self._lengths[_kind(spec)] - spec.elements + 1 for place, spec in self._specs.items()}
        last = self._last.starts
        starts = {place: (last.get(place, 0) + 1 + draw_below(span - 1)) % span for place, span in spans.items()}
        self._last = Draw(starts)
        return self._last

    def fill(self, values: Mapping[str, Any], draw: Draw, keep: Collection[str] = ()) -> dict[int, object]:
        """Write the values of a draw into arguments, but for those to `keep`.

        Where tensors cannot be written to, return what stands for each of them instead, by its identity.
        """
        instead: dict[int, object] = {}
        for (name, i), start in draw.starts.items():
            if name not in keep:
                tensor = self._backend.leaves(values[name])[i]
                other = self._backend.refill(tensor, self._pools[_kind(self._specs[name, i])], start)
                if other is not tensor:
                    instead[id(tensor)] = other
        return instead

    def copies(self, draw: Draw, *, anew: bool = False) -> dict[str, object]:
        """Return arguments of the values of a draw that stand elsewhere in memory; the next ones may overwrite them.

        They are made `anew` where somebody may have changed more of the last ones than the elements that are drawn.
        """
        if anew or self.fixed or self._copies is None:
            self._copies = self.make(draw)
            return self._copies
        instead = self.fill(self._copies, draw)
        return {name: substitute(value, instead) for name, value in self._copies.items()}

    def make(self, draw: Draw) -> dict[str, object]:
        """Return arguments of the values of a draw."""
        values = {
            name: self._blank(argument, name) if isinstance(argument, TensorSpec) else self._maker.make(argument, name)
            for name, argument in self._arguments.items()
        }
        instead = self.fill(values, draw)
        return {name: substitute(value, instead) for name, value in values.items()}


def draw_below(limit: int) -> int:
    """Draw a whole number from 0 up to a limit, as nobody can foresee; `secrets` would load OpenSSL in each child."""
    return int.from_bytes(os.urandom(8), "little") % limit


def _is_drawn(spec: TensorSpec) -> bool:
    independent = spec.values in INDEPENDENT or spec.values.startswith(SPARSE)
    return independent and not spec.is_given and spec.elements > 0


def _kind(spec: TensorSpec) -> TensorSpec:
    """Return the properties that tensors of one pool share."""
    return replace(spec, shape=(), strides=None, requires_grad=None)


def substitute(value: Any, instead: Mapping[int, object]) -> Any:
    """Return a value in which others stand for some, in lists, tuples and dictionaries too."""
    if id(value) in instead:
        return instead[id(value)]
    if not instead:
        return value
    if isinstance(value, dict):
        return {key: substitute(item, instead) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(substitute(item, instead) for item in value)
    return value


def rebind(bound: Bound, instead: Mapping[int, object]) -> Bound:
    """Return a call in which others stand for some of its arguments."""
    arguments, differentiable = substitute(bound.arguments, instead), substitute(bound.differentiable, instead)
    keywords, values = substitute(dict(bound.keywords), instead), substitute(dict(bound.values), instead)
    return replace(bound, arguments=arguments, keywords=keywords, differentiable=differentiable, values=values)
