"""Inputs that a user gives by name: shapes for tensors, values for attributes, as text or as Python values.

The operator's definition decides how a value is read: `axis=1` is a number because `axis` is an attribute, and
`data=1` the shape of a vector because `data` is an input. What is not given keeps its default, and an axis that the
given shape does not have is its last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from opperf.catalog import Operator, catalog
from opperf.domain.case import Argument, Case, Device, DType, ListOf
from opperf.domain.code import refusal
from opperf.domain.errors import InputError, at_place, unknown
from opperf.domain.tensor import STRING, TensorSpec, shape_and_elements
from opperf.domain.tensor_text import SHAPE_HINT, is_tensor_text, read_tensor, shape_in
from opperf.parent.sources.argument_text import (
    LITERAL_PREFIX,
    PLAIN,
    argument_text,
    group_in,
    literal_value,
    read_plain,
)
from opperf.parent.sources.random_cases import Template, fits

#: The name of a shape that every input has: `--input 64x64`.
EVERY = "*"
#: Spellings of numbers that neither JSON nor Python can write.
_NUMBERS = frozenset({"inf", "-inf", "nan"})
_EXAMPLES = {"--input": "lhs=1024x1024", "--attribute": "axis=1", "--label": "branch=main"}


def pairs(texts: Sequence[str], option: str) -> dict[str, str]:
    """Read `NAME=VALUE` words; raises `InputError` with the option for one that is none, or whose name came before.

    >>> pairs(["lhs=3x4"], "--input")
    {'lhs': '3x4'}
    """
    values: dict[str, str] = {}
    for word in texts:
        name, value = _pair(word, option)
        if name in values:
            raise InputError(
                f"`{option} {word}`: `{name}` is already `{values[name]}`",
                hint="give it once"
                if option != "--attribute"
                else "give it once, or list its values in a column of `--shapes FILE`",
            )
        values[name] = value
    return values


def _pair(word: str, option: str) -> tuple[str, str]:
    if option == "--input" and "=" not in word and shape_in(word) is not None:
        return EVERY, word.strip()
    name, equals, value = word.partition("=")
    if not equals or not name.strip():
        example = _EXAMPLES.get(option, "NAME=VALUE")
        raise InputError(f"`{option} {word}`: expected NAME=VALUE", hint=f"write `{option} {example}`")
    return name.strip(), value.strip()


def input_cases(texts: Sequence[str]) -> list[dict[str, str]]:
    """Read the words of `--input`: repeating a name starts the next case.

    A shape without a name is that of every input. Raises `InputError` where the cases differ in their names: whose
    input it is could only be guessed.

    >>> input_cases(["lhs=2x3", "rhs=3x4", "lhs=5x6", "rhs=6x7"])
    [{'lhs': '2x3', 'rhs': '3x4'}, {'lhs': '5x6', 'rhs': '6x7'}]
    """
    cases: list[dict[str, str]] = []
    for word in texts:
        name, value = _pair(word, "--input")
        if not cases or name in cases[-1]:
            cases.append({})
        cases[-1][name] = value
    for number, case in enumerate(cases[1:], 2):
        if case.keys() != cases[0].keys():
            raise InputError(
                f"`--input`: case 1 has {', '.join(cases[0])}, and case {number} has {', '.join(case)}; "
                "repeating a name starts the next case",
                hint="give all inputs of one case, then all of the next, or use a file with `--shapes`",
                slug="incomplete_case",
            )
    return cases


def shape(text: str, where: str) -> tuple[int, ...]:
    """Read a shape; raises `InputError`, with `where` for whose it is.

    >>> shape("1024x1024", "lhs"), shape("(3, 4)", "lhs"), shape("7", "lhs"), shape("()", "lhs")
    ((1024, 1024), (3, 4), (7,), ())
    """
    sizes = shape_in(text)
    if sizes is None:
        raise InputError(f"{where}: `{text}` is not a shape", hint=SHAPE_HINT, slug="bad_shape")
    return sizes


def case_with(
    definition: Operator, values: Mapping[str, object], size: str = "common", spellings: Mapping[str, str] | None = None
) -> Case:
    """Return the default case of an operator with the given inputs and attributes in it.

    Messages call them as the user does, by `spellings`, where that is not by their names. Raises `InputError` for a
    name that the operator does not take, and for a value that cannot be read.

    >>> from opperf.catalog import operator
    >>> case_with(operator("softmax"), {"data": "2x3", "axis": "0"}).attributes
    {'axis': 0}
    """
    default = definition.case(size)
    arguments: dict[str, Argument] = {**default.inputs, **default.attributes}
    for name, value in values.items():
        if name not in arguments:
            raise unknown(f"input of {definition.name}", name, arguments, hint=f"it takes {', '.join(arguments)}")
        spelling = (spellings or {}).get(name, name)
        if name in definition.inputs:
            arguments[name] = _tensor(value, arguments[name], spelling)
        else:
            arguments[name] = _check_kind(_attribute(value, arguments[name], spelling), arguments[name], spelling)
    return definition.case_of({**arguments, **dict(_axes(definition, default, arguments, values))})


def _axes(
    definition: Operator, default: Case, arguments: Mapping[str, Argument], values: Mapping[str, object]
) -> Iterator[tuple[str, Argument]]:
    """Yield the axes that nobody gave and that the given shape does not have: the last one, or all in reverse."""
    first = definition.inputs[0] if definition.inputs else ""
    before, now = default.get(first), arguments.get(first)
    if not isinstance(before, TensorSpec) or not isinstance(now, TensorSpec) or not now.shape:
        return
    rank, usual = len(now.shape), len(before.shape)
    most = max([usual, *(len(output.shape) for output in definition.outputs(default))])
    for name in {"axis", "axes"} & (arguments.keys() - values.keys()):
        value = arguments[name]
        if type(value) is int and rank + most - usual <= value < most:
            yield name, rank - 1
        elif isinstance(value, tuple) and value == tuple(reversed(range(usual))):
            yield name, tuple(reversed(range(rank)))


def in_one_shape(definition: Operator, values: Mapping[str, object]) -> dict[str, object]:
    """Return the values, with a single unnamed shape replaced by values for every input.

    What follows from the shape by the operator's own constraints (a range of indices, a flattened shape) is there too.
    Raises `InputError` for an operator whose inputs cannot all have it.

    >>> from opperf.catalog import operator
    >>> [str(value) for value in in_one_shape(operator("matmul"), {EVERY: "64x64"}).values()]
    ['64x64', '64x64']
    """
    if EVERY not in values:
        return dict(values)
    whole, rest = values[EVERY], {name: value for name, value in values.items() if name != EVERY}
    sizes = shape(whole, "`--input`") if isinstance(whole, str) else _sizes(whole, EVERY)
    tensors = [name for name in rest if name in definition.inputs]
    common = definition.case("common")
    arguments = {**common.inputs, **common.attributes}
    case = Template(definition).with_shape(sizes)
    if case is not None:
        in_shape = {**case.inputs, **case.attributes}
        case = definition.case_of({**in_shape, **dict(_axes(definition, common, in_shape, rest))})
    if tensors or case is None or not list(common.tensors()) or not fits(definition, case):
        text = "x".join(map(str, sizes)) or "()"
        defaults = " ".join(f"--input {name}={argument_text(value)}" for name, value in common.inputs.items())
        takes = f"each of its inputs ({', '.join(definition.inputs)})" if common.inputs else "its inputs: it has none"
        raise InputError(
            f"`{definition.name}` does not take the shape {text} for {takes}",
            hint=f"name the inputs, as in `{defaults}`" if defaults else None,
            slug="bad_shape",
        )
    in_shape = {**case.inputs, **case.attributes}
    return {
        **{name: value for name, value in in_shape.items() if name in case.inputs or value != arguments[name]},
        **rest,
    }


def split_row(values: Mapping[str, object]) -> tuple[dict[str, object], dict[str, object]]:
    """Return the inputs and the attributes of a row for a function that opperf has no definition of.

    Shapes are written with a sign between sizes (`64x64`), in square brackets or as lists; values one by one as
    `literal:[1,2]`, and tensors whole as JSON has them. Everything else is an attribute.

    >>> split_row({"a": "64x64", "b": [8], "axis": 1, "kernel": "(3,3)"})
    ({'a': '64x64', 'b': [8]}, {'axis': 1, 'kernel': '(3,3)'})
    """
    inputs = {name: value for name, value in values.items() if _is_tensor(value)}
    return inputs, {name: value for name, value in values.items() if name not in inputs}


def _is_tensor(value: object) -> bool:
    if isinstance(value, str):
        plain = value.strip()
        is_shape = shape_in(plain) is not None and not plain.isdecimal() and plain[0] != "("
        group = group_in(plain)
        return (
            is_shape
            or is_tensor_text(plain)
            or plain.startswith(LITERAL_PREFIX)
            or (group is not None and any(shape_in(item) is not None or is_tensor_text(item) for item in group[1]))
        )
    return isinstance(value, (list, Mapping, TensorSpec, ListOf))


def foreign_case(name: str, inputs: Mapping[str, object], attributes: Mapping[str, object]) -> Case:
    """Return a case of a function that opperf has no definition of: every input is a float32 tensor."""
    words = refusal(name) is None  # what the user wrote takes the text `float32` as it is
    return Case(
        name,
        {key: _tensor(value, None, key) for key, value in inputs.items()},
        {key: _attribute(value, None, key, words=words) for key, value in attributes.items()},
    )


def with_attributes(case: Case, values: Mapping[str, str]) -> Case:
    """Return a case with these attributes in it; raises `InputError` for one that an operator of the catalog lacks.

    >>> with_attributes(Case("mine.py:f", {}, {"block": 64, "deep": True}), {"block": "128"}).attributes
    {'block': 128, 'deep': True}
    """
    if not values:
        return case
    definition = catalog().get(case.operator)
    if definition is None:
        return replace(case, attributes={**case.attributes, **foreign_case(case.operator, {}, values).attributes})
    usual = definition.case("common").attributes
    for name in values:
        if name not in usual:
            raise unknown(f"attribute of {definition.name}", name, usual, hint=f"it takes {', '.join(usual)}")
    own = {name: _attribute(value, usual[name], name) for name, value in values.items()}
    return definition.case_of({**case.inputs, **case.attributes, **own})


def _tensor(value: object, default: Argument, name: str) -> Argument:
    """Read a tensor or a list of them; what is not said is as in the default."""
    if isinstance(value, str) and not value.startswith(LITERAL_PREFIX):
        return _input(value, default, name)
    if isinstance(value, (TensorSpec, ListOf)):
        return value
    if isinstance(value, Mapping):
        return TensorSpec.from_json(value, name)
    if isinstance(value, str):
        return _tensor_spec(value, default, name)
    if isinstance(default, ListOf) or (isinstance(value, list) and value and not isinstance(value[0], int)):
        items = value if isinstance(value, list) else [value]
        return ListOf(tuple(_tensor(item, _first(default), name) for item in items))
    own = default if isinstance(default, TensorSpec) else None
    sizes = _sizes(value, name)
    return TensorSpec(sizes) if own is None else replace(own, shape=sizes, strides=None)


def _input(text: str, default: Argument, name: str) -> Argument:
    """Read the text of a tensor, or of a list of them; a plain value stands behind a sign."""
    if text.startswith(PLAIN):
        return _attribute(text.removeprefix(PLAIN), None, name)
    group = group_in(text, ";+" if isinstance(default, ListOf) else ";")
    if group is None and not isinstance(default, ListOf):
        return read_tensor(text, default if isinstance(default, TensorSpec) else None, f"input `{name}`")
    opening, words = ("[", [text]) if group is None else group
    items = tuple(_input(word, _first(default), name) for word in words)
    return items if opening == "(" else ListOf(items)


def _first(default: Argument) -> Argument:
    """Return an example for each tensor of a list where a default has them."""
    return default.items[0] if isinstance(default, ListOf) and default.items else default


def _tensor_spec(text: str, default: Argument, name: str) -> TensorSpec:
    """Read values that are given one by one; where nothing says their type, it is that of a list of them.

    >>> _tensor_spec("literal:[[1, 2], [3, 4]]", None, "data").shape
    (2, 2)
    """
    values = literal_value(text.removeprefix(LITERAL_PREFIX))
    try:
        lengths, items = shape_and_elements(values)
        dtype = default.dtype if isinstance(default, TensorSpec) else _dtype_of(items, lengths)
        gradient = default.requires_grad if isinstance(default, TensorSpec) else None
        return TensorSpec(lengths, dtype, literal=tuple(items), requires_grad=gradient)
    except InputError as error:
        hint = f"write, for example, `{LITERAL_PREFIX}[0,3,7]`"
        raise InputError(f"input `{name}`: {error.message}", hint=hint, slug=error.slug) from error


def _dtype_of(values: Sequence[object], shape: Sequence[int]) -> str:
    """Return the element type of a list of values; text outside a list is a mistake.

    >>> [_dtype_of(values, (2,)) for values in ([True, False], [1, 2], [1, "inf"], ["yes", "no"])]
    ['bool', 'int64', 'float32', 'string']
    """
    kinds = {type(value) for value in values}
    if kinds == {str} and shape and not _NUMBERS.issuperset(values):
        return STRING
    return "bool" if kinds == {bool} else "int64" if kinds == {int} else "float32"


def _sizes(value: object, name: str) -> tuple[int, ...]:
    if isinstance(value, (tuple, list)) and all(isinstance(n, int) for n in value):
        return tuple(value)
    raise InputError(f"input `{name}`: found {value!r}, expected a shape", hint="a tuple of whole numbers")


def _attribute(value: object, default: Argument, name: str, *, words: bool = False) -> Argument:
    """Read an attribute: a Python literal, a dtype where the default or `words` say so, else the text itself."""
    with at_place(f"attribute `{name}`"):
        return _plain(read_plain(value, default, words=words) if isinstance(value, str) else value)


def _check_kind(value: Argument, default: Argument, name: str) -> Argument:
    """Return an attribute; raises `InputError` for a word where the operator has a number or a truth value."""
    if isinstance(value, str) and isinstance(default, (int, float)):
        kinds = {bool: "true or false", int: "a whole number"}
        expected = kinds.get(type(default), "a number")
        hint = f"write, for example, `{name}={argument_text(default)}`"
        raise InputError(f"attribute `{name}` is `{value}`, expected {expected}", hint=hint, slug="bad_attribute")
    return value


def _plain(value: object) -> Argument:
    """Return a value that a case can hold; lists become tuples, those in lists too."""
    if isinstance(value, (list, tuple)):
        return tuple(_plain(item) for item in value)
    if value is None or isinstance(value, (bool, int, float, str, DType, Device, ListOf)):
        return value
    raise InputError(
        f"attribute value {value!r}: expected a number, a string, a tuple or None",
        hint="write, for example, `axis=(0,1)`",
    )
