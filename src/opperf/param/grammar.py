"""The grammar of PARAM's configs, written down once: what every key is called, what it may hold, and what it means.

Three things are made from it, so that they cannot disagree: the check of a file (`arguments.py`, `document.py`), the
JSON schema (`schema.py`), and the page `docs/reference/param-config.md`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import field

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.registry import parse_device
from opperf.domain.tensor import DISTRIBUTIONS, DTYPE_ALIASES, ITEM_SIZES, STRING, parse_distribution

RANGE, LIST, COPY, ZIP = "__range__", "__list__", "__copy__", "__zip__"
#: The step of a range whose values double.
LOG2 = "log2"
#: Whole numbers that every framework can hold.
MOST_INTEGER = 2**63 - 1
DTYPES = (*(name for name in ITEM_SIZES if name != STRING), *DTYPE_ALIASES)
MEMORY_FORMATS = ("contiguous_format", "channels_last", "channels_last_3d")

DEFAULT_ITERATOR, RANGE_ITERATOR = "DefaultConfigIterator", "RangeConfigIterator"
EMBEDDING_ITERATOR = "SplitTableBatchedEmbeddingBagsCodegenInputIterator"
ITERATORS = (DEFAULT_ITERATOR, RANGE_ITERATOR, EMBEDDING_ITERATOR)
DEFAULT_GENERATOR = "PyTorch:DefaultDataGenerator"
EMBEDDING_GENERATOR = "SplitTableBatchedEmbeddingBagsCodegenInputDataGenerator"
GENERATORS = (DEFAULT_GENERATOR, EMBEDDING_GENERATOR)
#: How older configs call these.
OLD_NAMES = {
    "configs": "config",
    "PyTorch::DefaultDataGenerator": DEFAULT_GENERATOR,
    "DefaultDataGenerator": DEFAULT_GENERATOR,
    "SplitTableBatchedEmbeddingInputDataGenerator": EMBEDDING_GENERATOR,
    "SplitTableBatchedEmbeddingInputIterator": EMBEDDING_ITERATOR,
}


@dataclass(frozen=True)
class Kind:
    """What a value must be: in words, as a JSON schema, and as a check."""

    expected: str
    schema: Mapping[str, object]
    accepts: Callable[[object], bool]
    names: tuple[str, ...] = ()


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= MOST_INTEGER


def _is_number(value: object) -> bool:
    return _is_integer(value) or isinstance(value, float)


def _is_size(value: object) -> bool:
    return isinstance(value, int) and _is_integer(value) and value >= 0


def _is_list(check: Callable[[object], bool], *, least: int = 0) -> Callable[[object], bool]:
    return lambda value: isinstance(value, list) and len(value) >= least and all(map(check, value))


def _bounds(check: Callable[[object], bool]) -> Callable[[object], bool]:
    def accepts(value: object) -> bool:
        if not isinstance(value, list) or len(value) != 2 or not all(map(check, value)):
            return False
        return all(map(math.isfinite, value)) and bool(value[0] <= value[1])

    return accepts


def is_range(value: object, check: Callable[[object], bool] = _is_integer) -> bool:
    """Whether a value is `[min, max]`, `[min, max, step]` or `[min, max, "log2"]`."""
    if not isinstance(value, list) or len(value) not in (2, 3) or not all(map(check, value[:2])):
        return False
    if not all(map(math.isfinite, value[:2])) or value[0] > value[1]:
        return False
    step = value[2] if len(value) == 3 else 1
    if step == LOG2:
        return bool(value[0] > 0)
    return check(step) and math.isfinite(step) and step > 0


def _is_range_of_numbers(value: object) -> bool:
    return is_range(value, _is_number)


def _is_shape_with_ranges(value: object) -> bool:
    return isinstance(value, list) and all(
        _is_size(size) or (is_range(size) and isinstance(size, list) and size[0] >= 0) for size in value
    )


def _reads(read: Callable[[str], object]) -> Callable[[object], bool]:
    def accepts(value: object) -> bool:
        try:
            return isinstance(value, str) and bool(read(value))
        except InputError:
            return False

    return accepts


def _one_of(names: tuple[str, ...]) -> Kind:
    words = "one of " + ", ".join(f"`{word}`" for word in names)
    return Kind(words, {"enum": list(names)}, lambda value: isinstance(value, str) and value in names, names)


def _list_of(kind: Kind) -> Kind:
    schema = {"type": "array", "items": dict(kind.schema), "minItems": 1}
    return Kind(f"a list, each {kind.expected}", schema, _is_list(kind.accepts, least=1), kind.names)


def _range_of(kind: Kind, accepts: Callable[[object], bool]) -> Kind:
    step = {"anyOf": [{**kind.schema, "exclusiveMinimum": 0}, {"const": LOG2}]}
    schema = {"type": "array", "prefixItems": [dict(kind.schema), dict(kind.schema), step], "minItems": 2}
    return Kind('[min, max, step] with min <= max, step > 0 or "log2"', {**schema, "maxItems": 3}, accepts)


INTEGER = Kind("a whole number below 2^63", {"type": "integer"}, _is_integer)
#: PARAM hands on what stands there, and its own configs have real numbers under `int`.
LOOSE = Kind("a whole number below 2^63", {"type": "number"}, _is_number)
NUMBER = Kind("a number", {"type": "number"}, _is_number)
TRUTH = Kind("true or false", {"type": "boolean"}, lambda value: isinstance(value, bool))
TEXT = Kind("a string", {"type": "string"}, lambda value: isinstance(value, str))
DEVICE = Kind("a device, as in `cpu` or `cuda:0`", {"type": "string"}, _reads(parse_device))
DTYPE = _one_of(DTYPES)
FORMAT = _one_of(MEMORY_FORMATS)
VALUES = Kind(
    "one of " + ", ".join(f"`{name}`" for name in DISTRIBUTIONS),
    {"type": "string"},
    _reads(parse_distribution),
    DISTRIBUTIONS,
)
SHAPE = Kind(
    "a list of whole numbers >= 0", {"type": "array", "items": {"type": "integer", "minimum": 0}}, _is_list(_is_size)
)
STRIDES = SHAPE
INTEGER_RANGE = _range_of(INTEGER, is_range)
NUMBER_RANGE = _range_of(NUMBER, _is_range_of_numbers)
SHAPE_RANGE = Kind(
    "a list of whole numbers >= 0, or [min, max, step] in their place",
    {"type": "array", "items": {"anyOf": [{"type": "integer", "minimum": 0}, dict(INTEGER_RANGE.schema)]}},
    _is_shape_with_ranges,
)
INTEGER_BOUNDS = Kind(
    "[min, max] with min <= max",
    {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2},
    _bounds(_is_integer),
)
NUMBER_BOUNDS = Kind(
    "[min, max] with min <= max",
    {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
    _bounds(_is_number),
)
#: The arguments in a list or tuple are read one by one; this is their shell.
ITEMS = Kind("a list of arguments", {"type": "array", "items": {"$ref": "#/$defs/argument"}}, _is_list(lambda _: True))


@dataclass(frozen=True)
class Key:
    """One key of an argument. `ranged` is what it holds when `__range__` names it; None where it cannot."""

    kind: Kind
    meaning: str
    required: bool = False
    ranged: Kind | None = None


@dataclass(frozen=True)
class ArgumentType:
    """What an argument of one `type` may say. With `either`, one of those keys must be there, and not both."""

    meaning: str
    keys: Mapping[str, Key] = field(default_factory=dict)
    either: tuple[str, ...] = ()


def _scalar(meaning: str, kind: Kind, bounds: Kind, ranged: Kind) -> ArgumentType:
    keys = {
        "value": Key(kind, "the value", ranged=ranged),
        "value_range": Key(bounds, "one random value from min to max, decided by the seed"),
    }
    return ArgumentType(meaning, keys, ("value", "value_range"))


def _single(meaning: str, kind: Kind) -> ArgumentType:
    return ArgumentType(meaning, {"value": Key(kind, "the value", required=True, ranged=_list_of(kind))})


def _several(meaning: str) -> ArgumentType:
    return ArgumentType(meaning, {"value": Key(ITEMS, "the arguments in it", required=True, ranged=ITEMS)})


#: What an argument may be, by the value of its `type`.
ARGUMENTS: Mapping[str, ArgumentType] = {
    "tensor": ArgumentType(
        "a tensor",
        {
            "shape": Key(SHAPE, "its sizes; [] for a single value", required=True, ranged=SHAPE_RANGE),
            "dtype": Key(DTYPE, "the type of its elements", required=True, ranged=_list_of(DTYPE)),
            "requires_grad": Key(TRUTH, "whether a gradient flows to it; a floating tensor has one unless told"),
            "value_range": Key(NUMBER_BOUNDS, "its values lie from min to max; an addition of opperf"),
            "values": Key(VALUES, "how its values are distributed; an addition of opperf"),
            "strides": Key(STRIDES, "steps between elements, in elements; an addition of opperf"),
            "memory_format": Key(FORMAT, "strides by name; an addition of opperf"),
        },
    ),
    "int": _scalar("a whole number", LOOSE, INTEGER_BOUNDS, INTEGER_RANGE),
    "long": _scalar("a whole number", LOOSE, INTEGER_BOUNDS, INTEGER_RANGE),
    "float": _scalar("a real number", NUMBER, NUMBER_BOUNDS, NUMBER_RANGE),
    "double": _scalar("a real number", NUMBER, NUMBER_BOUNDS, NUMBER_RANGE),
    "bool": _single("a truth value", TRUTH),
    "str": ArgumentType("a string", {"value": Key(TEXT, "the value, empty unless told", ranged=_list_of(TEXT))}),
    "device": _single("a device", DEVICE),
    "dtype": _single("an element type; an addition of opperf", DTYPE),
    "none": ArgumentType("nothing: Python's `None`"),
    "genericlist": _several("a list of arguments"),
    "tuple": _several("a tuple of arguments"),
}
#: The keys that every argument may have in addition to those of its type.
SHARED: Mapping[str, str] = {
    "type": "one of the types",
    "name": "what the argument is called; not read",
    RANGE: "the keys of this argument that hold ranges or lists to be swept; `RangeConfigIterator` must be asked for",
    LIST: "the keys of this argument that hold a list of values to be taken in turn",
    COPY: 'sizes that are those of other tensors: `[{"shape": [dimension, [argument, dimension of it]]}]`',
    ZIP: "a name: the sweeps of arguments with the same one go on together; an addition of opperf",
}
#: The keys of one operator.
OPERATOR_KEYS: Mapping[str, str] = {
    "config": "a list of what to build and what to call it with",
    "input_data_generator": "how inputs are made; required",
    "build_data_generator": "how what an operator is built with is made",
    "input_iterator": "how the entries of `input` are gone through",
    "build_iterator": "how the entries of `build` are gone through",
}
#: The keys of one entry of `config`.
CONFIG_KEYS: Mapping[str, str] = {
    "build": "what the operator is built with, as `torch.nn.Linear` is; each entry is taken with each of `input`",
    "input": "what it is called with; one measurement for each entry, or for each member of its sweep",
}
#: The keys of one entry of `build` or `input`.
SPEC_KEYS: Mapping[str, str] = {
    "args": "the positional arguments, in order",
    "kwargs": "the arguments by name",
    "id": "what the entry is called in its run id, in place of its number",
}
#: The keys of a file of PARAM's `run_batch`, which holds one operator.
BATCH_KEYS: Mapping[str, str] = {
    "op_name": "the operator",
    "op_info": "what stands beside an operator's name in a config",
    "build_id": "the first two parts of the run ids, as `CONFIG:BUILD`",
    "run_options": "not read: opperf has options of its own",
}
