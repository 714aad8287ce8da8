"""An argument as people type and read it: tensors, lists of them, and plain values.

    data=64x64:int64        a tensor (`tensor_text.py`)
    data=[2x2;4x4]          a list of tensors; `(2x2;4x4)` is a tuple, `[2x2;]` has one, `[2x2]*40` forty alike
    indices=[3:int64;=None] what is no tensor in it stands behind a sign
    axis=(0,1)              a plain value, as Python writes it
    dtype=float16           an element type; the word itself is in quotes: 'float16'

What is written here is read back as the same argument, but for the values of long tensors that are given one by one,
and for graphs.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from opperf.domain.case import Argument, Case, Device, DType, Graph, ListOf
from opperf.domain.tensor import ITEM_SIZES, LITERAL, STRING, TensorSpec, parse_dtype
from opperf.domain.tensor_text import tensor_text

#: Before values that are given one by one: without it `[1,2,3]` is a shape.
LITERAL_PREFIX = f"{LITERAL}:"
#: Before what is no tensor among tensors.
PLAIN = "="
#: Before a device, and an element type that a word alone does not say.
DEVICE_PREFIX, DTYPE_PREFIX = "device:", "dtype:"
#: Equal items of a list are counted from here on.
REPEATS = 4
_TIMES = re.compile(r"(.*[)\]])\*(\d{1,4})", re.DOTALL)
_WORDS = frozenset({"none", "true", "false", "nan", "inf"})
_NUMBERS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}


def argument_words(case: Case, usual: Mapping[str, Argument] | None = None) -> dict[str, str]:
    """Return every input and attribute of a case as text; what an operator's `usual` arguments say goes unsaid."""
    default = usual or {}
    inputs = {
        name: ("" if _holds_tensor(value) else PLAIN) + argument_text(value, default.get(name))
        for name, value in case.inputs.items()
    }
    return {**inputs, **{name: argument_text(value) for name, value in case.attributes.items()}}


def argument_text(argument: Argument, default: Argument = None) -> str:
    """Write one argument without spaces and without what its default says.

    >>> argument_text(ListOf((TensorSpec((2, 2)), TensorSpec((4,))))), argument_text((1,)), argument_text("both")
    ('[2x2;4]', '(1,)', 'both')
    """
    if isinstance(argument, TensorSpec):
        return tensor_text(argument, default if isinstance(default, TensorSpec) else None)
    if isinstance(argument, ListOf):
        first = default.items[0] if isinstance(default, ListOf) and default.items else None
        return _items(argument, first)
    if isinstance(argument, tuple):
        return _items(argument, None) if _has_words(argument) else _literal_text(argument)
    if isinstance(argument, DType):
        return DTYPE_PREFIX + argument.name if argument.name == STRING else argument.name
    if isinstance(argument, Device):
        return DEVICE_PREFIX + argument.name
    if isinstance(argument, str):
        is_word = argument.isidentifier() and argument not in ITEM_SIZES and argument.lower() not in _WORDS
        return argument if is_word else repr(argument)
    return str(argument) if isinstance(argument, Graph) else repr(argument)


def _has_words(argument: Argument) -> bool:
    """Whether an argument is, or holds, what Python has no literal for."""
    if isinstance(argument, tuple):
        return any(map(_has_words, argument))
    is_number = isinstance(argument, float) and not math.isfinite(argument)
    return is_number or isinstance(argument, (TensorSpec, ListOf, DType, Device, Graph))


def _literal_text(items: tuple[Argument, ...]) -> str:
    """Write a tuple of plain values as Python has it."""
    texts, suffix = _without_repeats([_nested_text(item) for item in items])
    return f"({','.join(texts)}{',' if len(texts) == 1 else ''}){suffix}"


def _nested_text(value: Argument) -> str:
    """Write what stands in a tuple of plain values."""
    if isinstance(value, tuple):
        return f"({','.join(map(_nested_text, value))}{',' if len(value) == 1 else ''})"
    return repr(value)


def _items(argument: ListOf | tuple[Argument, ...], default: Argument) -> str:
    """Write a list of what Python has no literal for; among tensors, other values stand behind a sign."""
    opening, items, closing = ("[", argument.items, "]") if isinstance(argument, ListOf) else ("(", argument, ")")
    among_tensors = any(_holds_tensor(item) for item in items)
    texts = [
        argument_text(item, default) if _holds_tensor(item) or not among_tensors else PLAIN + argument_text(item)
        for item in items
    ]
    texts, suffix = _without_repeats(texts)
    return f"{opening}{';'.join(texts)}{';' if len(texts) < 2 and not suffix else ''}{closing}{suffix}"


def _holds_tensor(argument: Argument) -> bool:
    items = argument.items if isinstance(argument, ListOf) else argument if isinstance(argument, tuple) else ()
    return isinstance(argument, TensorSpec) or any(map(_holds_tensor, items))


def _without_repeats(texts: list[str]) -> tuple[list[str], str]:
    """Return the items of a list, those that repeat once, and how often that is."""
    for period in (1, 2):  # parameters come as weights, or as weights and biases
        times, rest = divmod(len(texts), period)
        if times >= REPEATS and not rest and texts == texts[:period] * times:
            return texts[:period], f"*{times}"
    return texts, ""


def group_in(text: str, separators: str = ";") -> tuple[str, list[str]] | None:
    """Return the bracket and the items of a list; None for a text that is none.

    >>> group_in("[2x2;(4;4)]"), group_in("(2x2;)"), group_in("[2x2]*3"), group_in("2;3"), group_in("[2,3]")
    (('[', ['2x2', '(4;4)']), ('(', ['2x2']), ('[', ['2x2', '2x2', '2x2']), ('[', ['2', '3']), None)
    """
    plain = text.strip()
    times = _TIMES.fullmatch(plain)
    inner, count = (plain, 1) if times is None else (times[1], int(times[2]))
    opening = inner[:1] if inner[:1] + inner[-1:] in ("[]", "()") and _closes_last(inner) else ""
    items = _split(inner[1:-1] if opening else inner, separators)
    if len(items) == 1 and (times is None or not opening):
        return None
    while items and not items[-1]:
        items.pop()
    return opening or "[", items * count


def _closes_last(text: str) -> bool:
    """Whether the bracket that a text begins with is the one that it ends with."""
    return not any(depth == 0 for depth, _ in list(_depths(text))[:-1])


def _depths(text: str) -> Iterator[tuple[int, str]]:
    """Yield each character with the number of brackets that are open behind it; those in quotes do not count."""
    depth, quote = 0, ""
    for sign in text:
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"":
            quote = sign
        depth += 0 if quote else (sign in "([") - (sign in ")]")
        yield (depth if not quote else depth + 1), sign


def _split(text: str, separators: str) -> list[str]:
    """Return the parts of a text between separators that stand in no bracket."""
    parts = [""]
    for depth, sign in _depths(text):
        if depth == 0 and sign in separators:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts]


def read_plain(text: str, default: Argument = None, *, words: bool = True) -> Any:
    """Read a value that is no tensor: as Python has it, a list of such, else the text itself.

    `words` says that the names of element types are those. Nothing is evaluated.
    """
    if isinstance(default, DType):
        return DType(parse_dtype(text.strip().removeprefix(DTYPE_PREFIX)))
    if not isinstance(default, str) and text.lower() in ("true", "false"):
        return text.lower() == "true"
    for prefix, kind in ((DEVICE_PREFIX, Device), (DTYPE_PREFIX, DType)):
        if text.startswith(prefix) and text != prefix:
            return kind(text.removeprefix(prefix))
    if words and text in ITEM_SIZES and text != STRING and not isinstance(default, str):
        return DType(text)
    times = _TIMES.fullmatch(text)
    several = None if times is None else literal_value(times[1])
    if times is not None and isinstance(several, tuple):
        return several * int(times[2])
    group = group_in(text) if text[:1] in ("[", "(") else None
    if group is not None:
        items = tuple(read_plain(item.removeprefix(PLAIN), words=words) for item in group[1])
        return ListOf(items) if group[0] == "[" else items
    return literal_value(text)


def literal_value(text: str) -> object:
    """Read a Python literal; other text stands for itself, as in `approximate=tanh`."""
    if text in _NUMBERS:
        return _NUMBERS[text]
    with suppress(ValueError, SyntaxError):
        return ast.literal_eval(text)
    return text
