"""Calls of operators as BackendBench and operator_inp_logs write them, one in a line.

    Operator: aten.add.Tensor
    cnt: 156, ((T([1, 512, 768], f16), T([1, 512, 768], f16)), {})

Lines are read as text: nothing in them is evaluated. In some, the operator stands behind the arguments.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from opperf.domain.arithmetic import NoNumber, evaluate
from opperf.domain.case import Argument, Device, DType, ListOf
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, at_place
from opperf.domain.files.text_file import read_text
from opperf.domain.tensor import TensorSpec, parse_dtype

OPERATOR = "Operator: "
_LINE = re.compile(r"cnt: (\d+), (.*)")
#: What the format calls types that opperf calls otherwise.
TYPES = {"b8": "bool", "c32": "complex32"}
#: Floating-point values of its tensors.
RANGE = (0.0, 1.0)


@dataclass(frozen=True)
class TracedCall:
    """A call: how often it was made, and its arguments by place and by name."""

    operator: str
    count: int
    arguments: tuple[Argument, ...]
    keywords: dict[str, Argument]


def read_calls(path: Path, operator: str) -> Iterator[TracedCall]:
    """Yield the calls of an operator (`add.Tensor`) in a file; raises `InputError` that names the line."""
    current = operator
    for number, line in enumerate(read_text(path).split("\n"), 1):
        text = line.strip()
        if text.startswith(OPERATOR):
            current = text.removeprefix(OPERATOR).removeprefix("aten.").removesuffix(".default")
        elif current == operator.removesuffix(".default") and (match := _LINE.fullmatch(text)) is not None:
            with at_place(f"{path}:{number}"):
                arguments, keywords = read_arguments(match[2])
            yield TracedCall(operator, int(match[1]), arguments, keywords)


def read_arguments(text: str) -> tuple[tuple[Argument, ...], dict[str, Argument]]:
    """Return the arguments in the text of a call; raises `InputError`.

    >>> read_arguments("((T([2, 3], f16), 1.5), {'dim': 0})")[1]
    {'dim': 0}
    """
    try:
        node = ast.parse(text.strip().strip("'\""), mode="eval").body
    except (SyntaxError, ValueError, RecursionError) as error:
        raise InputError(f"found `{text[:60]}`, expected `((...), {{...}})`") from error
    match node:
        case ast.Tuple(elts=[ast.Tuple(elts=places), ast.Dict(keys=keys, values=values)]):
            keywords = {
                key.value: _argument(value)
                for key, value in zip(keys, values)
                if isinstance(key, ast.Constant) and isinstance(key.value, str)
            }
            return tuple(map(_argument, places)), keywords
    raise InputError(f"found `{text[:60]}`, expected `((...), {{...}})`")


def _argument(node: ast.expr) -> Argument:
    match node:
        case ast.Call(func=ast.Name(id="T"), args=[ast.List(elts=sizes), kind, *strides]):
            return _tensor(sizes, kind, strides)
        case ast.Call(func=ast.Attribute(attr="device"), args=[ast.Constant(value=str(name))]):
            return Device(name)
        case ast.List(elts=items):
            return ListOf(tuple(map(_argument, items)))
        case ast.Tuple(elts=items):
            return tuple(map(_argument, items))
        case ast.Constant(value=None | bool() | int() | float() | str() as value):
            return value
        case ast.Attribute(value=ast.Name(id="torch" | "th"), attr=name):
            return DType(parse_dtype(name))
        case ast.Name(id="inf"):
            return math.inf
        case ast.UnaryOp(op=ast.USub(), operand=ast.Name(id="inf")):
            return -math.inf
        case ast.Name(id=name):
            return DType(parse_dtype(TYPES.get(name, name)))
    try:
        return evaluate(node, {})
    except NoNumber as error:
        raise InputError(f"found `{ast.unparse(node)[:60]}`, expected an argument") from error


def _tensor(sizes: list[ast.expr], kind: ast.expr, strides: list[ast.expr]) -> TensorSpec:
    name = kind.id if isinstance(kind, ast.Name) else ast.unparse(kind).strip("'\"")
    dtype = parse_dtype(TYPES.get(name, name))
    rows = [_whole(sizes)]
    if strides and isinstance(strides[0], ast.List):
        rows.append(_whole(strides[0].elts))
    spec = TensorSpec(rows[0], dtype, strides=rows[1] if len(rows) > 1 else None)
    return TensorSpec(spec.shape, dtype, strides=spec.strides, range=RANGE if spec.is_float else None)


def _whole(nodes: list[ast.expr]) -> tuple[Any, ...]:
    return tuple(node.value if isinstance(node, ast.Constant) else None for node in nodes)
