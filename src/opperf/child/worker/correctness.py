"""Whether two implementations of one operator compute the same: their results, element by element.

The standard library does this in any child. Where NumPy is, `judging/tolerance.py` knows more of each element.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from opperf.catalog import catalog
from opperf.domain.backend import HostValue
from opperf.domain.device import ROUNDED
from opperf.domain.message.replies import Agreement, Output
from opperf.domain.message.requests import Compare
from opperf.domain.plan import Trial
from opperf.domain.tensor import FLOAT8, STRING

#: How far results may differ, as a share of each element and of the median one; whole numbers must be equal. A sum of
#: n products in arithmetic of unit roundoff u is off by up to n u / (1 - n u) of the sum of their sizes (Higham,
#: Accuracy and Stability of Numerical Algorithms, section 3.1), which leaves room for n of 1600 in float32, 20 in
#: float16 and 5 in bfloat16, whose kernels add in float32. In float64, parts are single precision: of gelu in MXNet,
#: attention in JAX. Of eight bits it is what rounding twice takes: two halves of a step.
TOLERANCES = {
    "float16": 1e-2, "bfloat16": 2e-2, "float32": 1e-4, "float64": 1e-6, "complex32": 1e-2, "complex64": 1e-4,
    "complex128": 1e-6, **{name: 2.0**-fraction for name, (fraction, _) in FLOAT8.items()},
}  # fmt: skip
#: No element is held to less than this share of what the largest may be off: it may have been as large on the way.
OF_LARGEST = 1e-3
#: By how many times the tolerance an operator may be off in which rounding piles up or decides (`rough`).
ROUGH = 4
#: How `struct` reads an element; complex ones are read as two, bfloat16 as the upper half of a float32.
LETTERS = {
    "bool": "?", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I", "int64": "q",
    "uint64": "Q", "float16": "e", "float32": "f", "float64": "d", "complex32": "e", "complex64": "f",
    "complex128": "d",
}  # fmt: skip


class WrongResult(Exception):
    """An implementation does not compute what it declares."""


def leeway(trial: Trial) -> float:
    """Return the share that the results of a trial may be off by in any case, whole numbers too."""
    definition = catalog().get(trial.case.operator)
    rough = definition is not None and definition.rough
    dtypes = {tensor.dtype for tensor in trial.case.tensors()}
    if may_round(trial) and not dtypes.isdisjoint(ROUNDED):
        return TOLERANCES["float16"]
    return ROUGH * max((TOLERANCES.get(dtype, 0.0) for dtype in dtypes), default=0.0) if rough else 0.0


def may_round(trial: Trial) -> bool:
    """Whether a trial may multiply float32 in TF32, whose fraction is that of float16: on a device, but not by element.

    >>> from opperf.domain.case import Case
    >>> from opperf.domain.plan import Side
    >>> [may_round(Trial(Case(name), Side("jax", device="cuda:0"), "forward")) for name in ("matmul", "add")]
    [True, False]
    """
    definition = catalog().get(trial.case.operator)
    by_element = definition is not None and definition.category.startswith("elementwise_")
    return trial.side.device != "cpu" and not by_element


def compare(request: Compare) -> Agreement:
    """Raise `WrongResult` where results in files differ from those that are expected."""
    check(read(request.results), read(request.expected), request.against, leeway(request.trial))
    return Agreement()


def check(results: Sequence[HostValue], expected: Sequence[HostValue], against: str, leeway: float = 0.0) -> None:
    """Raise `WrongResult` where results differ; `against` says whose the expected one is."""
    check_shapes(results, expected, against)
    for place, (mine, other) in enumerate(zip(results, expected)):
        _check_same(mine, other, f"tensor {place}", against, leeway)


def check_shapes(results: Sequence[HostValue], expected: Sequence[HostValue], against: str) -> None:
    """Raise `WrongResult` where results have other shapes, or there are more or fewer."""
    if len(results) != len(expected):
        raise WrongResult(f"it returns {len(results)} tensors, and {against} returns {len(expected)}")
    for place, (mine, other) in enumerate(zip(results, expected)):
        if tuple(mine[1]) != tuple(other[1]):
            raise WrongResult(f"tensor {place} has the shape {list(mine[1])}, and {list(other[1])} of {against}")


def read(outputs: Sequence[Output]) -> list[HostValue]:
    """Return tensors that some child's `evaluate` wrote."""
    return [(Path(one.file).read_bytes(), one.shape, one.dtype) for one in outputs]


def _check_same(mine: HostValue, reference: HostValue, name: str, against: str, leeway: float) -> None:
    if STRING in (mine[2], reference[2]):
        if mine != reference:
            raise WrongResult(f"{name} has other strings than the one from {against}")
        return
    values, others = _values(mine), _values(reference)
    tolerance = max(leeway, *(TOLERANCES.get(value[2], 0.0) for value in (mine, reference)))
    sizes = sorted(abs(value) for value in others if value and math.isfinite(value))
    floor = tolerance * _floor(sizes, are_integers=not {mine[2], reference[2]} & set(TOLERANCES))
    if all(abs(ours - theirs) <= floor + tolerance * abs(theirs) for ours, theirs in zip(values, others)):
        return  # no not-a-number is near anything, and no infinity near itself
    for place, (ours, theirs) in enumerate(zip(values, others)):
        allowed = floor + tolerance * abs(theirs) if math.isfinite(theirs) else 0.0
        if not (ours == theirs or (ours != ours and theirs != theirs) or abs(ours - theirs) <= allowed):
            raise WrongResult(
                f"element {place} of {name} is {ours:.6g}, expected {theirs:.6g} by {against} (within {allowed:.2g})"
            )


def _floor(sizes: Sequence[float], *, are_integers: bool) -> float:
    """Return the size whose tolerance all elements have: of real ones the median, unless the largest dwarfs it.

    Terms that cancel leave errors of the size that they had. `sizes` are in order, without zeros.
    """
    if not sizes:
        return 0.0
    return sizes[-1] if are_integers else max(sizes[len(sizes) // 2], OF_LARGEST * sizes[-1])


def _values(tensor: HostValue) -> Sequence[float]:
    raw, _, dtype = tensor
    if dtype in FLOAT8:
        table = float8_values(dtype)
        return [table[byte] for byte in raw]
    if dtype == "bfloat16":
        raw, dtype = b"".join(b"\0\0" + raw[i : i + 2] for i in range(0, len(raw), 2)), "float32"
    letter = LETTERS[dtype]
    return struct.unpack(f"<{len(raw) // struct.calcsize(letter)}{letter}", raw)


@cache
def float8_values(dtype: str) -> Sequence[float]:
    """Return the value of each of the 256 bytes; the types differ in their codes for infinity and NaN."""
    bits, bias = FLOAT8[dtype]
    table = []
    for byte in range(256):
        exponent, fraction = (byte & 0x7F) >> bits, (byte & ((1 << bits) - 1)) / (1 << bits)
        size = math.ldexp(1 + fraction, exponent - bias) if exponent else math.ldexp(fraction, 1 - bias)
        if dtype.endswith("fnuz"):
            size = math.nan if byte == 0x80 else size
        elif dtype == "float8_e5m2" and exponent == 0x1F:
            size = math.nan if fraction else math.inf
        elif dtype == "float8_e4m3fn" and byte & 0x7F == 0x7F:
            size = math.nan
        table.append(-size if byte & 0x80 else size)
    return table
