"""The limits of a machine: the highest bandwidth and FLOP/s that were measured on a device.

An operator cannot be faster than its work at these rates: Williams, Waterman and Patterson, "Roofline: an insightful
visual performance model for multicore architectures", Communications of the ACM 52-4 (2009), 65-76.

A rate that was reached is a lower bound of a limit, and on a busy machine a low one, which is said. What a loop reaches
that stands in where a library has no kernel is no limit at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Optional

from opperf.domain.codec import Fields
from opperf.domain.dataclass import dataclass
from opperf.domain.type_hint import Amount, Count, OneOf, Positive

MOVE, PRODUCT = "move", "product"
#: What one core moves, in bytes/s, where nothing has measured it.
BYTE_RATE = 1e10
#: Element types whose products are as fast as those of float32, or faster, where there is a kernel for them.
HALVES = ("float16", "bfloat16")
#: Below this share of the rate of float32 they are those of a loop. Kernels that convert to float32 reach a half to a
#: quarter of it, loops a hundredth.
FALLBACK_SHARE = 0.1


@dataclass(frozen=True)
class Rate(Fields):
    """How fast an operator moved bytes, or multiplied square matrices: bytes or operations a second.

    `size` is the bytes that were moved, or the rows of the matrices. `doubt` says what kept the machine busy meanwhile.
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
    doubt: Optional[str] = None

    sparse = ("doubt",)

    @property
    def key(self) -> tuple[object, ...]:
        """Identify the measurement: those with the same key replace each other."""
        return (self.operator, self.dtype, self.size, self.framework, self.device, self.threads)


@dataclass(frozen=True)
class Limit(Fields):
    """The least time that an amount of work takes here, in seconds, and what bounds it: `memory` or `compute`.

    `doubt` says what kept the machine busy while that was measured.
    """

    seconds: Amount
    bound: str
    doubt: Optional[str] = None

    sparse = ("doubt",)


def fallbacks(rates: Iterable[Rate]) -> list[Rate]:
    """Return the products in half precision that a loop made, and no kernel: they are no limits."""
    rates = list(rates)
    singles = {(one.framework, one.device, one.threads): one.rate for one in _products(rates, "float32")}
    return [
        one
        for one in _products(rates, *HALVES)
        if one.rate < FALLBACK_SHARE * singles.get((one.framework, one.device, one.threads), 0.0)
    ]


def _products(rates: Iterable[Rate], *dtypes: str) -> list[Rate]:
    return [one for one in rates if one.kind == PRODUCT and one.dtype in dtypes]


def best_rates(rates: Iterable[Rate]) -> list[Rate]:
    """Return the fastest of each size that was moved and of each type that was multiplied, by a kernel."""
    rates = list(rates)
    loops = {rate.key for rate in fallbacks(rates)}
    best: dict[tuple[str, object], Rate] = {}
    for rate in rates:
        if rate.key not in loops:
            what = (rate.kind, rate.size if rate.kind == MOVE else rate.dtype)
            best[what] = max(best.get(what, rate), rate, key=lambda one: one.rate)
    return list(best.values())


@dataclass(frozen=True)
class Peaks:
    """The best rates of one device with a number of threads, whichever framework reached them.

    >>> where = {"framework": "torch", "device": "cpu", "threads": 1, "measured": "today"}
    >>> moved = Rate("move", "copy", "float32", 1000, 1e9, **where)
    >>> multiplied = Rate("product", "matmul", "float32", 512, 1e11, **where)
    >>> peaks = Peaks.of([moved, multiplied], "cpu", 1)
    >>> peaks.limit(flops=1e6, nbytes=1e6, dtype="float32")
    Limit(seconds=0.001, bound='memory', doubt=None)
    """

    moves: tuple[tuple[int, float], ...]
    products: Mapping[str, float]
    doubt: Optional[str] = None

    @classmethod
    def of(cls, rates: Iterable[Rate], device: str, threads: int) -> Peaks:
        """Return the peaks among rates that were measured there."""
        rates = [rate for rate in rates if (rate.device, rate.threads) == (device, threads)]
        best = best_rates(rates)
        moves = {rate.size: rate.rate for rate in best if rate.kind == MOVE}
        products = {rate.dtype: rate.rate for rate in best if rate.kind == PRODUCT}
        doubt = next((rate.doubt for rate in best if rate.doubt is not None), None)
        return cls(tuple(sorted(moves.items())), products, doubt)

    def bandwidth(self, nbytes: float) -> float | None:
        """Return the bandwidth for a number of bytes: the best of this size and of larger ones.

        A smaller working set never lies in a slower cache; lower rates of short calls are framework overhead.
        """
        rates = [rate for size, rate in self.moves if size >= nbytes]
        return max(rates) if rates else self.moves[-1][1] if self.moves else None

    def limit(self, *, flops: float, nbytes: float, dtype: str) -> Limit | None:
        """Return the minimum time for operations and bytes; None where the bounding rate is unknown."""
        bandwidth, flop_rate = self.bandwidth(nbytes), self.products.get(dtype)
        moving = 0.0 if not nbytes else nbytes / bandwidth if bandwidth else None
        computing = 0.0 if not flops else flops / flop_rate if flop_rate else None
        if moving is None or computing is None or moving == computing == 0.0:
            return None
        bound = "memory" if moving >= computing else "compute"
        return Limit(max(moving, computing), bound, self.doubt)
