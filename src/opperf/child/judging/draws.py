"""Values that a candidate has not seen: what the problem declares, drawn in ways that special cases trip over.

A candidate may approximate small numbers, add in half precision, sort what is sorted, remember what it has seen, or
look at a few elements to tell inputs apart. Whatever is drawn lies where the tensor's description says that values
lie: in its range, whole where they are whole, positive definite where it asks for that. Where it says no range, some
values are larger than usual.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from opperf.child.judging.elements import PARTS, Array, largest, narrow, part, roundoff, smallest, storage, widen
from opperf.domain.tensor import SPARSE, SPD, STRING, TensorSpec, is_whole, zero_share

#: By how many powers of two magnitudes differ, the number of clusters, and the width of each as a share of the range.
OCTAVES, CLUSTERS, WIDTH = 24, 8, 1e-3
#: The least eigenvalue of a matrix that has large ones, of about four.
LEAST_EIGENVALUE = 2.0**-8
#: Up to which numbers are large, as a share of the one whose exponential is the largest of the type: a few have none.
BEYOND = 1.1
#: The share of elements that are at the edges of their type.
EDGE_SHARE = 0.25
#: Distributions whose values are drawn in other ways too; the others are what the case is about.
OPEN = ("uniform", "normal")
#: Distributions whose elements cannot take each other's places.
IN_PLACE = (SPD, "sorted", "reversed")
KINDS = (
    "plain", "magnitudes", "spike", "positive", "mixed", "sorted", "clustered", "constant_rows", "large", "edges",
)  # fmt: skip


def kinds(spec: TensorSpec) -> tuple[str, ...]:
    """Return the ways of drawing that make sense for a tensor, the plain one first.

    `edges` are for problems that declare them: not every reference is defined for the largest number. `large` are for
    those that declare no range: what takes values for small is wrong.

    >>> kinds(TensorSpec((4, 4), "int64", range=(0, 9)))
    ('plain', 'sorted', 'clustered', 'constant_rows')
    """
    if spec.values == SPD and spec.elements:
        return ("plain", "magnitudes")
    if spec.is_given or spec.values not in OPEN or spec.dtype == STRING or not spec.elements:
        return ("plain",)
    low, high = _bounds(spec)
    real = spec.is_float
    sense = {
        "plain": True,
        "magnitudes": real and high > low,
        "spike": real and low <= 0 < high and spec.elements > 1,
        "positive": real and low < 0 < high,
        "mixed": real and low < 0 < high,
        "sorted": not spec.dtype.startswith("complex"),
        "clustered": spec.dtype != "bool",
        "constant_rows": len(spec.shape) > 0,
        "large": real and spec.range is None,
        "edges": real and low <= 0 < high,
    }
    return tuple(kind for kind in KINDS if sense[kind])


def draw(spec: TensorSpec, kind: str, generator: np.random.Generator, *, special: bool = False) -> Array:
    """Return the elements of a tensor as they are stored (`widen` makes numbers of them), in row-major order.

    `special` puts infinities and NaN among the edges. Raises `ValueError` for a kind that makes no sense.
    """
    if kind not in kinds(spec):
        raise ValueError(f"no {kind} values for {spec}")
    if spec.dtype in PARTS:
        halves = [_draw_part(spec, kind, generator, special=special) for _ in range(2)]
        if spec.literal is not None or spec.values in (SPD, "constant", "zeros", "ones"):
            halves[1] = np.zeros_like(halves[1])
        pairs = np.stack(halves, -1)
        return pairs if spec.dtype == "complex32" else pairs.view(spec.dtype)[..., 0]
    return _draw_part(spec, kind, generator, special=special)


def vary(array: Array, generator: np.random.Generator, count: int) -> Array:
    """Return a copy of stored elements, up to `count` of which have the value of another place.

    So they lie where all do. Of a tensor of one value all elements stay as they are.
    """
    result = array.copy()
    flat = result.reshape(-1)
    if not flat.size:
        return result
    places = generator.choice(flat.size, min(count, flat.size), replace=False)
    for place in places:
        others = np.flatnonzero(_bits(flat) != _bits(flat[place : place + 1]))
        if others.size:
            flat[place] = flat[others[generator.integers(others.size)]]
    return result


def _bits(flat: Array) -> Array:
    """Return the bits that tell stored elements apart: NaN differs from itself, and zeros of both signs do not."""
    whole = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
    return flat.view(whole[flat.itemsize]) if flat.itemsize in whole else flat


def _draw_part(spec: TensorSpec, kind: str, generator: np.random.Generator, *, special: bool) -> Array:
    """Return stored elements of a type that is not complex, or of one part of one that is."""
    if kind == "edges":
        return _edges(spec, generator, special=special)
    values = (_plain if kind == "plain" else _WAYS[kind])(spec, generator)
    dtype = part(spec.dtype)
    if roundoff(dtype):
        return narrow(_below_top(values, spec) if spec.values in OPEN and kind != "large" else values, dtype)
    return values.astype(storage(dtype), copy=False)


def _bounds(spec: TensorSpec) -> tuple[float, float]:
    return spec.range or spec.default_range


def _below_top(values: Array, spec: TensorSpec) -> Array:
    """Return numbers below the upper bound, which rounding may reach; in place."""
    if spec.values == "normal" and spec.range is None:
        return values
    low, high = _bounds(spec)
    dtype = part(spec.dtype)
    top = narrow(np.array(high), dtype)
    if widen(top, dtype) >= high > low:
        # The next code towards zero, or away from it below zero: there a larger code is a smaller number.
        code = top.view({1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[top.itemsize])
        step = {1: 0x81, 2: 0x8001, 4: 0x80000001, 8: 0x8000000000000001}[top.itemsize] if high == 0 else None
        code = np.full((), step, code.dtype) if step else code - 1 if high > 0 else code + 1
        top = np.asarray(code).view(top.dtype)
    limit = float(widen(top, dtype))
    return values if limit < low else np.minimum(values, limit, out=values)


def _plain(spec: TensorSpec, generator: np.random.Generator) -> Array:
    """Return values as the description has them."""
    if spec.literal is not None:
        return np.array(spec.literal).reshape(spec.shape)
    low, high = _bounds(spec)
    fixed = {"zeros": 0.0, "ones": 1.0, "constant": (low + high) / 2 if spec.is_float else (int(low) + int(high)) // 2}
    if spec.values in fixed:
        return np.full(spec.shape, fixed[spec.values])
    if spec.values == SPD:
        return _definite(spec, generator)
    if spec.values in ("sorted", "reversed"):
        ordered = np.sort(_uniform(spec, generator), axis=None)
        return (ordered if spec.values == "sorted" else ordered[::-1]).reshape(spec.shape)
    if spec.values == "normal" and spec.is_float:
        return _normal(spec, generator)
    if spec.values == "denormal":
        return _uniform(spec, generator, (0.0, 1.0)) * _smallest_normal(spec.dtype)
    values = _uniform(spec, generator)
    if spec.values.startswith(SPARSE):
        values *= generator.random(spec.shape) >= zero_share(spec.values)
    return values


def _uniform(spec: TensorSpec, generator: np.random.Generator, bounds: tuple[float, float] | None = None) -> Array:
    """Return numbers between bounds, the upper one left out."""
    low, high = bounds or _bounds(spec)
    if not spec.is_float:
        return generator.integers(int(low), max(int(high), int(low) + 1), spec.shape, _integer_type(spec.dtype))
    wide = np.float64 if part(spec.dtype) == "float64" else np.float32
    values = generator.random(spec.shape, wide)
    values = np.asarray(values)
    values *= wide(high - low)
    values += wide(low)
    return values


def _integer_type(dtype: str) -> Any:
    return np.dtype(dtype) if is_whole(dtype) else np.uint8


def _normal(spec: TensorSpec, generator: np.random.Generator) -> Array:
    """Return normal values: of mean 0 and deviation 1, or centred within the range and cut off at its ends."""
    values = np.asarray(generator.standard_normal(spec.shape, np.float64 if spec.dtype == "float64" else np.float32))
    if spec.range is None:
        return values
    low, high = spec.range
    return np.clip(values * ((high - low) / 6) + (low + high) / 2, low, high)


def _definite(spec: TensorSpec, generator: np.random.Generator) -> Array:
    """Return symmetric matrices whose diagonal outweighs the rest of each row."""
    values = np.tril(generator.uniform(-1, 1, spec.shape), -1)
    return values + np.swapaxes(values, -1, -2) + spec.shape[-1] * np.eye(spec.shape[-1])


def _magnitudes(spec: TensorSpec, generator: np.random.Generator) -> Array:
    """Return numbers as many of which lie in each octave, of both signs where the range has them."""
    if spec.values == SPD:
        return _correlated(spec, generator)
    low, high = _bounds(spec)
    exponents = generator.random(spec.shape)
    least = _smallest_normal(spec.dtype)
    if low < 0 < high:
        sizes = np.exp2(-OCTAVES * exponents)
        negative = generator.random(spec.shape) < 0.5
        return np.where(negative, np.minimum(low * sizes, -least), np.maximum(high * sizes, least))
    near, far = sorted((abs(low), abs(high)))
    near = max(near, far * 2.0**-OCTAVES, least)
    values = far * (near / far) ** exponents
    return np.clip(values if high > 0 else -values, low, high)


def _correlated(spec: TensorSpec, generator: np.random.Generator) -> Array:
    """Return symmetric positive definite matrices whose diagonals do not outweigh the rest."""
    factors = generator.standard_normal(spec.shape)
    products = factors @ np.swapaxes(factors, -1, -2) / spec.shape[-1]
    least = max(LEAST_EIGENVALUE, 16 * roundoff(spec.dtype))
    return (products + np.swapaxes(products, -1, -2)) / 2 + least * np.eye(spec.shape[-1])


def _spike(spec: TensorSpec, generator: np.random.Generator) -> Array:
    """Return numbers one of which, at a random place, is larger than all others together."""
    values = _plain(spec, generator).astype(np.float64)
    spike, total = _bounds(spec)[1], np.abs(values).sum()
    values *= min(1.0, spike / (2 * total)) if total else 1.0
    values.reshape(-1)[generator.integers(values.size)] = spike
    return values


def _positive(spec: TensorSpec, generator: np.random.Generator) -> Array:
    return _uniform(spec, generator, (0.0, _bounds(spec)[1]))


def _mixed(spec: TensorSpec, generator: np.random.Generator) -> Array:
    """Return numbers whose signs alternate, each near the one before: their sums cancel."""
    low, high = _bounds(spec)
    values = generator.uniform(0.5, 1.0, spec.shape)
    flat = values.reshape(-1)
    flat[1::2] = flat[: flat.size - flat.size % 2 : 2] * generator.uniform(0.999, 1.001, flat.size // 2)
    limit = min(-low, high)
    values *= limit / 1.001
    flat[1::2] *= -1
    return values


def _sorted(spec: TensorSpec, generator: np.random.Generator) -> Array:
    return np.sort(_plain(spec, generator), axis=None).reshape(spec.shape)


def _clustered(spec: TensorSpec, generator: np.random.Generator) -> Array:
    """Return numbers near a few, or equal to a few whole ones."""
    low, high = _bounds(spec)
    if not spec.is_float:
        centres = generator.integers(int(low), max(int(high), int(low) + 1), CLUSTERS, _integer_type(spec.dtype))
        return centres[generator.integers(CLUSTERS, size=spec.shape)]
    centres = generator.uniform(low, high - WIDTH * (high - low), CLUSTERS)
    width = generator.random(spec.shape) * (WIDTH * (high - low))
    return centres[generator.integers(CLUSTERS, size=spec.shape)] + width


def _constant_rows(spec: TensorSpec, generator: np.random.Generator) -> Array:
    """Return rows, in the last dimension, of one number each."""
    values = _plain(spec, generator)
    return np.ascontiguousarray(np.broadcast_to(values[..., :1], spec.shape))


def _large(spec: TensorSpec, generator: np.random.Generator) -> Array:
    """Return numbers of both signs, most of them far beyond the usual range."""
    top = BEYOND * math.log(largest(part(spec.dtype)))
    return _uniform(spec, generator, (-top, top))


def _edges(spec: TensorSpec, generator: np.random.Generator, *, special: bool) -> Array:
    """Return numbers of the kind, a quarter of which are zeros of both signs, and the ends of what the type holds.

    The largest are those of the range, where it has one.
    """
    dtype, (low, high) = part(spec.dtype), _bounds(spec)
    stored = narrow(_below_top(_plain(spec, generator), spec), dtype)
    top = (
        largest(dtype)
        if spec.range is None
        else float(widen(narrow(_below_top(np.array([high]), spec), dtype), dtype)[0])
    )
    edges = [0.0, smallest(dtype), _smallest_normal(dtype) / 2, _smallest_normal(dtype), top]
    edges += [-0.0, *(-edge for edge in edges[1:4]), -largest(dtype) if spec.range is None else low] if low < 0 else []
    edges += [np.inf, np.nan, *([-np.inf] if low < 0 else [])] if special else []
    flat = stored.reshape(-1)
    places = np.flatnonzero(generator.random(flat.size) < EDGE_SHARE)
    flat[places] = narrow(np.array(edges), dtype)[generator.integers(len(edges), size=len(places))]
    return stored


def _smallest_normal(dtype: str) -> float:
    own = part(dtype)
    return smallest(own) / (2 * roundoff(own))


_WAYS: Mapping[str, Callable[[TensorSpec, np.random.Generator], Array]] = {
    "magnitudes": _magnitudes,
    "spike": _spike,
    "positive": _positive,
    "mixed": _mixed,
    "sorted": _sorted,
    "clustered": _clustered,
    "constant_rows": _constant_rows,
    "large": _large,
}
