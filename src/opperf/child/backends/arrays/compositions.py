"""Compositions of functions that NumPy and JAX have by the same names, written once for both, family by family.

`np` has the functions, and `place` is how users call it, in the notes on records. The functions are closures and not
methods: looking `self` up for each function would add to the time of every call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import starmap, zip_longest
from typing import Any

from opperf.child.backends.binding import Adapt, Binding, composition, compositions

#: Notes on what is made of a matrix before anything is timed.
NEAR_IDENTITY = "of the identity plus the data over n, precomputed"
SYMMETRIC = "of the mean of the data and its transpose, precomputed"


def set_item(data: Any, updates: Any) -> Any:
    """Replace every element of an array that can change."""
    data[:] = updates
    return data


def cache_append(cache: Any, update: Any, position: int) -> Any:
    """Write an update into its place in an array that can change."""
    cache[:, :, position : position + update.shape[2]] = update
    return cache


#: What users of arrays that can change write with brackets.
WRITES: Mapping[str, Binding] = compositions(
    set_item=(set_item, "`data[:] = updates`"),
    cache_append=(cache_append, "`cache[:, :, position : position + n] = update`"),
)


def scores(np: Any, place: str) -> dict[str, Binding]:
    """Return the scores of predictions but that of the best `k`, for which each library has another function."""

    def f1_score(data: Any, labels: Any) -> Any:
        """Count what is found, what should be, and both."""
        prediction, truth = np.argmax(data, 1) == 1, labels == 1
        return 2 * np.sum(prediction & truth) / (np.sum(prediction) + np.sum(truth))

    def mean_squared_error(data: Any, labels: Any) -> Any:
        return np.mean(np.square(data - labels))

    def negative_log_likelihood(data: Any, labels: Any) -> Any:
        return -np.mean(np.log(np.take_along_axis(data, labels[:, None], 1)))

    of_labels = f"{place}.take_along_axis, {place}.log and {place}.mean"
    squares = f"{place}.square of a difference"
    return compositions(
        accuracy=(
            lambda data, labels: np.mean(np.argmax(data, 1) == labels),
            f"{place}.argmax, a comparison and {place}.mean, composed",
        ),
        f1_score=(f1_score, f"{place}.argmax, comparisons and sums, composed"),
        mean_absolute_error=(
            lambda data, labels: np.mean(np.abs(data - labels)),
            f"{place}.abs of a difference and {place}.mean, composed",
        ),
        mean_squared_error=(mean_squared_error, f"{squares} and {place}.mean, composed"),
        root_mean_squared_error=(
            lambda data, labels: np.sqrt(mean_squared_error(data, labels)),
            f"{squares}, {place}.mean and {place}.sqrt, composed",
        ),
        negative_log_likelihood=(negative_log_likelihood, f"{of_labels}, composed"),
        perplexity=(
            lambda data, labels: np.exp(negative_log_likelihood(data, labels)),
            f"{of_labels}, and {place}.exp, composed",
        ),
        pearson_correlation=(
            lambda data, labels: np.corrcoef(data.ravel(), labels.ravel())[0, 1],
            f"{place}.corrcoef, composed",
        ),
    )


def sequences(np: Any, place: str) -> dict[str, Binding]:
    """Bind sequences of unequal length: places made of the lengths, then one function."""

    def sequence_mask(data: Any, lengths: Any, value: float) -> Any:
        """Fill what lies beyond the lengths."""
        within = np.arange(data.shape[0])[:, None] < lengths
        return np.where(within[..., None], data, value)

    def sequence_reverse(data: Any, lengths: Any) -> Any:
        places = np.arange(data.shape[0])[:, None]
        places = np.where(places < lengths, lengths - 1 - places, places)
        return data[places, np.arange(data.shape[1])]

    return compositions(
        sequence_mask=(sequence_mask, f"{place}.arange, a comparison and {place}.where"),
        sequence_reverse=(sequence_reverse, f"{place}.arange, {place}.where, and indexing with two arrays"),
        sequence_last=(
            lambda data, lengths: data[lengths - 1, np.arange(data.shape[1])],
            f"{place}.arange, and indexing with two arrays",
        ),
    )


def rotation(split: Any, concatenate: Any) -> Callable[[Any, Any, Any], Any]:
    """Return a function that turns halves of the last axis by angles; both of its parts take an axis last."""

    def rotate(data: Any, cosine: Any, sine: Any) -> Any:
        first, second = split(data, 2, -1)
        return data * cosine + concatenate((-second, first), -1) * sine

    return rotate


def rotary_embedding(split: Any, concatenate: Any, concatenation: str) -> dict[str, Binding]:
    """Return the binding of rotary position embeddings; `concatenation` is the note on the second function."""
    note = f"two products, a sum, and {concatenation} of the exchanged halves"
    return compositions(rotary_embedding=(rotation(split, concatenate), note))


def slice_rows(data: Any, begin: Any, end: Any, step: Any) -> Any:
    """Return `data[begin:end:step, ...]`, the slices being made at each call, as Python does."""
    return data[slices(begin, end, step)]


def slices(*bounds: tuple[Any, ...] | None) -> tuple[slice, ...]:
    """Return the slices of `data[begin:end:step, ...]`."""
    return tuple(starmap(slice, zip_longest(*(bound or () for bound in bounds))))


def each_dimension(bounds: Any) -> tuple[Any, ...]:
    """Return a bound for each dimension as a tuple; one number is for the first."""
    return bounds if isinstance(bounds, tuple) else (bounds,)


def slicing(note: str) -> dict[str, Binding]:
    """Return the binding of a slice."""
    adapt = dict.fromkeys(("begin", "end", "step"), each_dimension)
    return {"slice": composition(slice_rows, adapt=adapt, note=note)}


def lookups(np: Any, place: str) -> dict[str, Binding]:
    """Return the bindings of elements that are looked up by index, but for those that are functions."""
    return compositions(
        pick=(
            lambda data, indices, axis: np.squeeze(np.take_along_axis(data, np.expand_dims(indices, axis), axis), axis),
            f"{place}.take_along_axis between reshapes",
        ),
        unravel_index=unravelled(np, place),
    )


def unravelled(np: Any, place: str) -> tuple[Any, str]:
    """Return the composition of `unravel_index`, whose coordinates are one array in the catalog."""
    return (
        lambda indices, shape: np.stack(np.unravel_index(indices, shape)),
        f"{place}.unravel_index and {place}.stack",
    )


def places_along(np: Any, indices: Any, axis: int) -> tuple[Any, ...]:
    """Return where elements stand whose place along one axis is given."""
    places = list(np.indices(indices.shape, sparse=True))
    places[axis] = indices
    return tuple(places)


def histogram_range(arguments: Mapping[str, Any]) -> tuple[float, float]:
    """Return the bounds of a histogram as two numbers."""
    return float(arguments["low"]), float(arguments["high"])


def rows_of(take: Any, taking: str, **reductions: tuple[Any, str]) -> dict[str, Binding]:
    """Return the bindings of bags of embeddings: rows that are looked up, and reduced by a function with its name."""

    def bag(reduce: Any) -> Any:
        return lambda indices, weight: reduce(take(weight, indices), -2)

    return compositions(
        **{
            f"embedding_bag_{name}": (bag(reduce), f"{taking} and {reducing}")
            for name, (reduce, reducing) in reductions.items()
        }
    )


def matrices(np: Any) -> tuple[Adapt, Adapt]:
    """Return two functions that make a matrix well conditioned and symmetric, before anything is timed."""
    return (
        lambda data: np.eye(len(data), dtype=data.dtype) + data / len(data),
        lambda data: (data + np.transpose(data)) / 2,
    )


def shapes() -> dict[str, Binding]:
    """Return the bindings of operators that reshape."""
    return compositions(
        reshape_like=(lambda data, like: data.reshape(like.shape), "`data.reshape(like.shape)`"),
        flatten=(lambda data: data.reshape(len(data), -1), "`data.reshape(len(data), -1)`"),
    )
