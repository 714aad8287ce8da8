"""The limits of a machine: the highest bandwidth and FLOP/s that were measured on a device.

An operator cannot be faster than its work at these rates: Williams, Waterman and Patterson, "Roofline: an insightful
visual performance model for multicore architectures", Communications of the ACM 52-4 (2009), 65-76.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated

from opperf.domain.codec import Fields
from opperf.domain.dataclass import dataclass
from opperf.domain.type_hint import Amount, Count, OneOf, Positive

MOVE, PRODUCT = "move", "product"


@dataclass(frozen=True)
class Rate(Fields):
    """How fast an operator moved bytes, or multiplied square matrices: bytes or operations a second.

    `size` is the bytes that were moved, or the rows of the matrices.
    """

    kind: Annotated[str, OneOf((MOVE, PRODUCT))]
    operator: str
    dtype: str
    size: Count
    rate: Positive
    framework: str
    device: str
    threads: Count
    measured: str

    @property
    def key(self) -> tuple[object, ...]:
        """What a newer measurement replaces."""
        return (self.operator, self.dtype, self.size, self.framework, self.device, self.threads)


@dataclass(frozen=True)
class Limit(Fields):
    """The least time that an amount of work takes here, in seconds, and what bounds it: `memory` or `compute`."""

    seconds: Amount
    bound: str


@dataclass(frozen=True)
class Peaks:
    """The best rates of one device with a number of threads, whichever framework reached them.

    >>> where = {"framework": "torch", "device": "cpu", "threads": 1, "measured": "today"}
    >>> moved = Rate("move", "copy", "float32", 1000, 1e9, **where)
    >>> multiplied = Rate("product", "matmul", "float32", 512, 1e11, **where)
    >>> peaks = Peaks.of([moved, multiplied], "cpu", 1)
    >>> peaks.limit(flops=1e6, nbytes=1e6, dtype="float32")
    Limit(seconds=0.001, bound='memory')
    """

    moves: tuple[tuple[int, float], ...]
    products: Mapping[str, float]

    @classmethod
    def of(cls, rates: Iterable[Rate], device: str, threads: int) -> Peaks:
        """Return the peaks among rates that were measured there."""
        moves: dict[int, float] = {}
        products: dict[str, float] = {}
        for rate in rates:
            if (rate.device, rate.threads) != (device, threads):
                continue
            if rate.kind == MOVE:
                moves[rate.size] = max(rate.rate, moves.get(rate.size, 0.0))
            else:
                products[rate.dtype] = max(rate.rate, products.get(rate.dtype, 0.0))
        return cls(tuple(sorted(moves.items())), products)

    def bandwidth(self, nbytes: float) -> float | None:
        """Return the bandwidth for a number of bytes: the best of this size and of larger ones.

        A smaller working set never lies in a slower cache; lower rates of short calls are framework overhead.
        """
        rates = [rate for size, rate in self.moves if size >= nbytes]
        return max(rates) if rates else self.moves[-1][1] if self.moves else None

    def limit(self, *, flops: float, nbytes: float, dtype: str) -> Limit | None:
        """Return the minimum time for operations and bytes; None where the bounding rate is unknown."""
        width, speed = self.bandwidth(nbytes), self.products.get(dtype)
        moving = 0.0 if not nbytes else nbytes / width if width else None
        computing = 0.0 if not flops else flops / speed if speed else None
        if moving is None or computing is None or moving == computing == 0.0:
            return None
        return Limit(moving, "memory") if moving >= computing else Limit(computing, "compute")
