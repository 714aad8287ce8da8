"""The inputs of PARAM's batched embedding bags, made of what a config says: batch size and pooling factor.

The arguments of the build, in order, are PARAM's: number of tables, rows, dimension, pooling mode, whether samples are
weighted, and the precision of the tables; the optimizer and its settings go by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from opperf.domain.case import Argument, Case, ListOf
from opperf.domain.tensor import TensorSpec

#: What the build takes by position, and the input.
BUILD = ("num_tables", "rows", "dim", "pooling", "weighted", "weights_precision")
INPUT = ("batch_size", "pooling_factor")


def mistake(build: Sequence[Argument], given: Sequence[Argument]) -> str | None:
    """Return what is wrong with the arguments of embedding bags; None where nothing is."""
    if len(build) < len(BUILD) or len(given) != len(INPUT):
        words = ", ".join(BUILD)
        return f"found {len(build)} and {len(given)} arguments, expected `build` with {words} and `input` with {INPUT}"
    if not all(_counts(value) for value in (*build[:3], *given)):
        return "found another value, expected whole numbers >= 1, or lists of them, one for each table"
    if not isinstance(build[0], int) or not isinstance(given[0], int):
        return "expected one number of tables and one batch size"
    lists = [value for value in (*build[1:3], given[1]) if isinstance(value, ListOf)]
    if any(len(value.items) != build[0] for value in lists):
        return f"expected lists of {build[0]} numbers, one for each table"
    if isinstance(given[1], ListOf) and len(set(given[1].items)) > 1:
        return "found several pooling factors, expected the same one for all tables"
    return None


def case(name: str, build: Sequence[Argument], given: Sequence[Argument], built: Mapping[str, Argument]) -> Case:
    """Return the case of checked arguments: indices into all tables, offsets of the bags, weights where there are."""
    tables, rows, batch = int(_first(build[0])), _least(build[1]), int(_first(given[0]))
    pooling = int(_first(given[1]))
    bags = tables * batch
    inputs: dict[str, Argument] = {
        "0": TensorSpec((bags * pooling,), "int64", range=(0.0, float(rows))),
        # Rising by the pooling factor, from 0 to the number of indices.
        "1": TensorSpec((bags + 1,), "int64", values="sorted", range=(0.0, float((bags + 1) * pooling))),
    }
    if build[4] is True:
        inputs["2"] = TensorSpec((bags * pooling,), "float32", values="normal", requires_grad=False)
    return Case(name, inputs, built)


def _counts(value: Argument) -> bool:
    items = value.items if isinstance(value, ListOf) else (value,)
    return bool(items) and all(isinstance(item, int) and not isinstance(item, bool) and item >= 1 for item in items)


def _first(value: Argument) -> int:
    item = value.items[0] if isinstance(value, ListOf) else value
    return item if isinstance(item, int) else 1


def _least(value: Argument) -> int:
    """Return the rows of the smallest table: an index that it has, all tables have."""
    items = value.items if isinstance(value, ListOf) else (value,)
    return min(item for item in items if isinstance(item, int))
