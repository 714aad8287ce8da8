"""What a Kineto trace says of a call's arguments, and which overload of the operator they fit.

A Kineto trace has the operator's name without its overload, and of each argument a word (the element type of a tensor,
`Scalar`, `ScalarList`, `TensorList`, or nothing), sizes, strides, and from PyTorch 2.1 on the value of numbers. The
overload whose parameters take such words is the one that ran, and its schema has the names. Arguments come back in the
words of execution traces. Strings, devices and lists of optional tensors are never recorded: they have their
defaults, and a call whose parameter has none is left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from opperf.domain.tensor import TensorSpec
from opperf.param.names import split_at_commas
from opperf.parent.sources.execution_trace.argument import DTYPES, Parameter, Signature, Unknown, signature

#: The types of parameters that a number is given to, and what it is as text.
WHOLE = ("int", "SymInt", "ScalarType", "Layout", "MemoryFormat")
_INTEGER = re.compile(r"-?\d+")
_REAL = re.compile(r"-?(?:\d+\.\d*(?:e[+-]?\d+)?|\d+e[+-]?\d+|inf|nan)")
_TYPE = re.compile(r"(?P<base>\w+)(?:\([^)]*\))?(?P<inner>\??)(?P<list>\[\d*\])?(?P<optional>\??)")
#: A list that is longer than what the profiler writes ends so.
CUT = "..."


class Recorded(NamedTuple):
    """What is recorded of one argument. `value` is empty where there is none, None where the trace has no values."""

    word: str
    value: str | None
    sizes: Sequence[Any]
    strides: Sequence[Any]


#: An argument in the words of execution traces: its type, value, shape and strides.
Words = tuple[str, Any, Any, Any]
#: The element types that the tensors of a size have in a trace.
TypesBySize = Mapping[tuple[int, ...], frozenset[str]]


def read_arguments(arguments: Mapping[str, Any]) -> list[Recorded] | None:
    """Return the recorded arguments of an event, None where it says nothing, or nothing that can be read."""
    words, sizes = arguments.get("Input type", arguments.get("Input Type")), arguments.get("Input Dims")
    if not isinstance(words, list) or not isinstance(sizes, list) or len(words) != len(sizes):
        return None
    values, strides = (_each(arguments.get(name), len(words)) for name in ("Concrete Inputs", "Input Strides"))
    texts = [None] * len(words) if values is None else map(str, values)
    steps = [()] * len(words) if strides is None else strides
    result = [Recorded(str(word), text, *rest) for word, text, *rest in zip(words, texts, sizes, steps)]
    return result if all(map(_is_sound, result)) else None


def _each(values: object, count: int) -> list[Any] | None:
    """Return a list that says something of each argument; versions differ in which there are."""
    return values if isinstance(values, list) and len(values) == count else None


def _is_sound(argument: Recorded) -> bool:
    """Whether sizes and strides are those of a tensor or of a list of tensors, as the word says."""
    sizes, strides = argument.sizes, argument.strides
    if argument.word == "TensorList":
        return (
            isinstance(sizes, list) and isinstance(strides, (list, tuple)) and all(map(_are_whole, (*sizes, *strides)))
        )
    return argument.word not in DTYPES or (_are_whole(sizes) and _are_whole(strides))


def _are_whole(values: object) -> bool:
    return isinstance(values, (list, tuple)) and all(type(value) is int for value in values)


def choose_overload(schemas: Sequence[str], arguments: Sequence[Recorded]) -> tuple[str, Signature] | None:
    """Return the schema that takes the arguments best, and what it says; None where none takes them."""
    best: tuple[int, str, Signature] | None = None
    for schema in schemas:
        try:
            declaration = signature(schema)
        except ValueError:  # TorchScript has operators on dictionaries, and of any number of arguments
            continue
        if len(declaration.parameters) != len(arguments):
            continue
        fits = [_fit(parameter.type, argument) for parameter, argument in zip(declaration.parameters, arguments)]
        if None not in fits:
            total = sum(fit or 0 for fit in fits)
            best = (
                max(best, (total, schema, declaration), key=lambda each: each[0])
                if best
                else (total, schema, declaration)
            )
    return None if best is None else best[1:]


def _fit(kind: str, argument: Recorded) -> int | None:
    """Return how well an argument fits a parameter, None where it cannot be given to it.

    >>> _fit("Tensor", Recorded("float", "", [2], [])), _fit("Scalar", Recorded("float", "", [2], []))
    (3, None)
    """
    match = _TYPE.fullmatch(kind)
    if match is None:
        return None
    is_list, base = match["list"] is not None, match["base"]
    if argument.word == "":
        if match["optional"] or (match["inner"] and not is_list):
            return 1
        # Where values are recorded, lists of numbers are.
        is_silent = base in ("str", "Device") or (is_list and (argument.value is None or base == "Tensor"))
        return 0 if is_silent else None
    if argument.word == "TensorList":
        return 3 if is_list and base == "Tensor" else None
    if argument.word in ("Scalar", "ScalarList"):
        text = (argument.value or "").strip("[]").partition(",")[0]
        return _fit_number(base, text) if is_list == (argument.word == "ScalarList") else None
    return 3 if base == "Tensor" and not is_list else None


def _fit_number(base: str, text: str) -> int | None:
    if base not in (*WHOLE, "float", "bool", "Scalar"):
        return None
    if text == "":
        return 1
    if text in ("True", "False"):
        return {"bool": 3, "Scalar": 2}.get(base)
    if _INTEGER.fullmatch(text):
        return 3 if base in WHOLE else {"Scalar": 2, "float": 1}.get(base)
    return {"float": 3, "Scalar": 2}.get(base)


def describe_arguments(
    declaration: Signature, arguments: Sequence[Recorded], types_by_size: TypesBySize
) -> tuple[list[Words], tuple[str, ...]]:
    """Return arguments in the words of execution traces, and the names of those that have defaults without a record.

    Raises `Unknown` for one that was not recorded and has no default.
    """
    tensors = any(argument.word in DTYPES or argument.word == "TensorList" for argument in arguments)
    result, assumed = [], []
    for parameter, argument in zip(declaration.parameters, arguments):
        words = _words(parameter, argument, types_by_size, factory=not tensors)
        if words is None:
            words = _default(parameter, argument)
            assumed.append(parameter.name)
        result.append(words)
    return result, tuple(assumed)


def _words(parameter: Parameter, argument: Recorded, types_by_size: TypesBySize, *, factory: bool) -> Words | None:
    """Return an argument in the words of execution traces, None for one that was not recorded."""
    word, text = argument.word, argument.value or ""
    if word == "TensorList":
        if not argument.sizes:  # no operator takes an empty list; earlier versions wrote no sizes
            return None
        kinds = [f"Tensor({_type_of(sizes, types_by_size)})" for sizes in argument.sizes]
        return f"GenericList[{','.join(kinds)}]", [()] * len(kinds), argument.sizes, argument.strides
    if word == "Scalar":
        return None if text == "" else (*_number(parameter.type, text), (), ())
    if word == "ScalarList":
        return None if text == "" else _numbers(parameter.type, text)
    if word:
        return f"Tensor({word})", (), argument.sizes, argument.strides
    if factory and parameter.type.startswith("Device"):
        return "Device", "", (), ()  # what makes a tensor makes it where the others are
    # Where values are not recorded, neither are lists of numbers.
    is_silent = argument.value is None and "]" in parameter.type
    return ("None", "", (), ()) if parameter.type.endswith("?") and not is_silent else None


def _type_of(sizes: Sequence[int], types_by_size: TypesBySize) -> str:
    """Return the element type of a tensor in a list, of which only the sizes are recorded.

    It is known where all other tensors of these sizes have one type; indices and masks of floating ones do not count.
    """
    types = types_by_size.get(tuple(sizes), frozenset())
    types = frozenset(one for one in types if TensorSpec((), DTYPES[one]).is_float) or types
    if len(types) == 1:
        return next(iter(types))
    raise Unknown("a list of tensors, whose element types are not recorded")


def _numbers(kind: str, text: str) -> Words:
    if CUT in text:
        raise Unknown("a list that is not recorded to its end")
    numbers = [_number(kind, part) for part in split_at_commas(text.strip()[1:-1])]
    return f"GenericList[{','.join(name for name, _ in numbers)}]", [value for _, value in numbers], [], []


def _number(kind: str, text: str) -> tuple[str, bool | int | float]:
    """Return a number as its text and its parameter have it.

    >>> _number("float", "2"), _number("Scalar", "2."), _number("Scalar?", "2"), _number("bool", "True")
    (('Double', 2.0), ('Double', 2.0), ('Int', 2), ('Bool', True))
    """
    if text in ("True", "False"):
        return "Bool", text == "True"
    if _INTEGER.fullmatch(text) and not kind.startswith("float"):
        return "Int", int(text)
    if _INTEGER.fullmatch(text) or _REAL.fullmatch(text):
        return "Double", float(text)
    raise Unknown(f"the value {text[:40]!r}")


def _default(parameter: Parameter, argument: Recorded) -> Words:
    """Return the default of a parameter; raises `Unknown` where it has none that fits what was recorded."""
    text = parameter.default
    if text is not None and re.fullmatch(r"'[^']*'|\"[^\"]*\"", text):
        return "String", text[1:-1], (), ()
    try:
        if text == "None" and not argument.word:
            return "None", "", (), ()
        if text is not None and text.startswith("["):
            return _numbers(parameter.type, text)
        if text is not None:
            return (*_number(parameter.type, text), (), ())
    except Unknown:
        pass
    raise Unknown(f"its `{parameter.name}` was not recorded")
