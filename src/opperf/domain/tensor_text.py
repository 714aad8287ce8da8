"""A tensor as people type and read it: `64x64:int64:sorted:range=0..8`, one grammar for every report and every option.

After the shape come, in any order, the element type, `strides=`, the distribution of values, `range=LOW..HIGH` (without
the upper bound) and `requires_grad=`; last, values one by one: `literal[1,2]`. What is not said is as in a default;
where a tensor has one, the shape too may be left out: `weight=denormal`.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from opperf.domain.errors import InputError
from opperf.domain.tensor import (
    DATA,
    DISTRIBUTIONS,
    LITERAL,
    SPARSE,
    SPD,
    TensorSpec,
    parse_distribution,
    parse_dtype,
)

SHAPE_HINT = "write 1024x1024, (1024,1024) or () for a scalar"
TENSOR_HINT = "write 64x64, 64x64:int64:range=0..8, 64x64:sorted or 64x64:float64:strides=1,64"
SCALAR = "scalar"
#: Powers of two are written as such from here on: the bounds of a type.
LEAST_POWER = 1 << 31
_SIZES = re.compile(r"\d+(\s*[x,×]\s*\d+)*\s*,?")  # noqa: RUF001 - people paste the sign
_POWER = re.compile(r"(-?)2\^(\d{1,2})")
_TRUTH = {"true": True, "false": False, "none": None}
#: Values that are given one by one are written up to this length.
MOST_SIGNS = 80
_VALUES = re.compile(rf"(.*?):?{LITERAL}(\[.*\])", re.DOTALL)


def tensor_text(tensor: TensorSpec, default: TensorSpec | None = None) -> str:
    """Write a tensor without spaces and without default values, so that `read_tensor` with the same default reads it.

    >>> tensor_text(TensorSpec((8, 4), "int64", values="sorted", range=(0, 64)))
    '8x4:int64:sorted:range=0..64'
    >>> tensor_text(TensorSpec((8,)), TensorSpec((4,), range=(0.5, 2)))
    '8:range=-1..1'
    """
    usual = TensorSpec(()) if default is None else default
    parts = ["x".join(str(size) for size in tensor.shape) if tensor.shape else SCALAR]
    if tensor.dtype != "float32" or tensor.dtype != usual.dtype:
        parts.append(tensor.dtype)
    if tensor.strides is not None:
        parts.append(f"strides={','.join(str(stride) for stride in tensor.strides)}")
    if tensor.literal is None and (tensor.values != "uniform" or usual.values not in ("uniform", LITERAL)):
        parts.append(tensor.values)
    is_open = tensor.literal is None and usual.range is not None and usual.is_float and tensor.is_float
    if tensor.range is not None or is_open:
        low, high = tensor.range or tensor.default_range
        parts.append(f"range={_bound_text(low)}..{_bound_text(high)}")
    if tensor.requires_grad is not None or usual.requires_grad is not None:
        parts.append(f"requires_grad={tensor.requires_grad}")
    return ":".join(parts if tensor.literal is None else [*parts, _literal_text(tensor.literal)])


def _literal_text(values: Sequence[object]) -> str:
    """Write values that are given one by one, where they are few."""
    texts = [repr(repr(value) if isinstance(value, float) and not math.isfinite(value) else value) for value in values]
    text = f"{LITERAL}[{','.join(texts)}]"
    return text if len(text) <= MOST_SIGNS else LITERAL


def _bound_text(value: float) -> str:
    """Write a bound, those of types as powers of two.

    >>> [_bound_text(value) for value in (-2147483648.0, 1e6, 0.1, 256.0)]
    ['-2^31', '1000000', '0.1', '256']
    """
    if not value.is_integer():
        return f"{value:g}" if float(f"{value:g}") == value else repr(value)
    power = math.log2(abs(value)) if abs(value) >= LEAST_POWER else 0.5
    return f"{'-' if value < 0 else ''}2^{power:.0f}" if 2**power == abs(value) else str(int(value))


def shape_in(text: str) -> tuple[int, ...] | None:
    """Return the shape that a text describes; None if it is not a shape.

    >>> shape_in("1024x1024"), shape_in("(3, 4)"), shape_in("7"), shape_in("axis")
    ((1024, 1024), (3, 4), (7,), None)
    """
    plain = text.strip()
    in_brackets = plain[:1] + plain[-1:] in ("()", "[]")
    sizes = plain[1:-1].strip() if in_brackets else plain
    if not (_SIZES.fullmatch(sizes) or (in_brackets and not sizes)):
        return None
    return tuple(int(size) for size in re.findall(r"\d+", sizes))


def is_tensor_text(text: str) -> bool:
    """Whether a text begins with a shape and goes on with words about a tensor.

    >>> is_tensor_text("3x4:int64"), is_tensor_text("3x4"), is_tensor_text("1:2")
    (True, False, False)
    """
    rest, values = _values(text)
    head, *words = _words(rest)
    return (bool(words) or values is not None) and _shape(head) is not None and all(map(_fact, words))


def _shape(word: str) -> tuple[int, ...] | None:
    return () if word == SCALAR else shape_in(word)


def read_tensor(text: str, default: TensorSpec | None, where: str) -> TensorSpec:
    """Read a tensor; raises `InputError`, with `where` for whose it is.

    >>> read_tensor("8x4:int64:sorted:range=0..2^31", None, "input `ids`").range
    (0.0, 2147483648.0)
    >>> read_tensor("denormal", TensorSpec((2, 3)), "input `weight`").shape
    (2, 3)
    >>> tensor_text(read_tensor("8x4:data=0123456789abcdef", None, "input `x`"))
    '8x4:data=0123456789abcdef'
    """
    facts: dict[str, Any] = {}
    rest, values = _values(text)
    head, *words = _words(rest)
    sizes = _shape(head)
    if sizes is None and default is not None and (words or _fact(head)):
        sizes, words = default.shape, [head, *words]
    elif default is not None:
        facts["strides"] = None
    if sizes is None:
        hint = SHAPE_HINT if not words and not _fact(head) else TENSOR_HINT
        raise InputError(f"{where}: `{text}` is not a shape", hint=hint, slug="bad_shape")
    for word in words:
        fact = _fact(word)
        if fact is None and word == LITERAL:
            message = f"{where}: the values of `{text}` are not in the text"
            raise InputError(message, hint="its file has them: `--suite FILE`; or write `literal:[1,2,3]`")
        if fact is None:
            message = f"{where}: `{word}` in `{text}` says nothing about a tensor"
            raise InputError(message, hint=f"{TENSOR_HINT}; values are {', '.join(DISTRIBUTIONS)}", slug="bad_shape")
        if fact.keys() & (facts.keys() - {"strides"}):
            raise InputError(f"{where}: `{text}` says twice what `{word}` is", hint=TENSOR_HINT, slug="bad_shape")
        facts |= fact
    base = TensorSpec(sizes) if default is None else default
    dtype = facts.get("dtype", base.dtype)
    if "range" not in facts and TensorSpec((), dtype).is_float != base.is_float:
        facts["range"] = None  # bounds of real numbers mean nothing to whole ones
    if base.literal is not None:
        facts = {"values": "uniform", **facts}
    try:
        return replace(base, **{"shape": sizes, "literal": values, **facts})
    except InputError as error:
        raise InputError(f"{where}: {error.message}", hint=error.hint, slug=error.slug) from error


def _words(text: str) -> list[str]:
    """Return the words of a tensor; a share of zeros is one with its name.

    >>> _words("8x4:sparse:0.9:float16")
    ['8x4', 'sparse:0.9', 'float16']
    """
    return [word.strip() for word in re.split(rf"(?<!{SPARSE[:-1]}):", text)]


def _values(text: str) -> tuple[str, tuple[Any, ...] | None]:
    """Return a text without the values that stand at its end one by one, and those.

    >>> _values("3:int64:literal[1,2,3]"), _values("3:int64")
    (('3:int64', (1, 2, 3)), ('3:int64', None))
    """
    match = _VALUES.fullmatch(text)
    if match is not None:
        with suppress(ValueError, SyntaxError):
            return match[1], tuple(ast.literal_eval(match[2]))
    return text, None


def _fact(word: str) -> dict[str, Any] | None:
    """Read what a word says about a tensor; None for a word that says nothing."""
    name, equals, value = word.partition("=")
    if equals:
        return next(_assignment(name.strip(), value.strip()), None)
    with suppress(InputError):
        return {"dtype": parse_dtype(word)}
    with suppress(InputError):
        return {"values": word if word == SPD else parse_distribution(word)}
    return None


def _assignment(name: str, value: str) -> Iterator[dict[str, Any]]:
    """Yield the fact that NAME=VALUE says, nothing for a word that cannot be read."""
    with suppress(ValueError, InputError):
        if name == "range":
            low, high = map(_bound, value.split(".."))
            if low < high:
                yield {"range": (low, high)}
        elif name == DATA[:-1]:
            yield {"values": parse_distribution(f"{DATA}{value}")}
        elif name == "strides":
            yield {"strides": tuple(map(int, value.split(",")))}
        elif name == "requires_grad" and value.lower() in _TRUTH:
            yield {"requires_grad": _TRUTH[value.lower()]}


def _bound(text: str) -> float:
    """Read a bound; raises `ValueError`."""
    power = _POWER.fullmatch(text.strip())
    number = float(text) if power is None else float(f"{power[1]}{1 << int(power[2])}")
    if not math.isfinite(number):
        raise ValueError(text)
    return number
