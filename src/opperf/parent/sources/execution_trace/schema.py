"""Signatures of registered operators, as PyTorch writes them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from opperf.catalog.param.names import split_at_commas

_SIGNATURE = re.compile(r"(?P<name>[\w:]+)(?:\.(?P<overload>\w+))?\((?P<arguments>.*)\)\s*->")
#: A type may have brackets and an alias mark in it: `Tensor(a!)`, `int[2]?`, `Tensor(a)[]`.
_ARGUMENT = re.compile(r"(?P<type>\S+(?:\([^)]*\)\S*)?)\s+(?P<name>\w+)(?:=.*)?")


@dataclass(frozen=True)
class Parameter:
    """One argument of a signature."""

    name: str
    type: str
    keyword_only: bool = False


@dataclass(frozen=True)
class Signature:
    """An operator's name with its overload (`aten::add.Tensor`), and its arguments."""

    name: str
    parameters: tuple[Parameter, ...]


def signature(text: str) -> Signature:
    """Read a signature; raises `ValueError` for what is none.

    >>> signature("aten::mul.Tensor(Tensor self, Tensor other) -> Tensor").name
    'aten::mul.Tensor'
    >>> [found.name for found in signature("aten::t(Tensor(a) self) -> Tensor(a)").parameters]
    ['self']
    """
    match = _SIGNATURE.match(text.strip())
    if match is None:
        raise ValueError(f"not the signature of an operator: {text[:80]!r}")
    parameters: list[Parameter] = []
    keyword_only = False
    for part in split_at_commas(match["arguments"]):
        if part == "*":
            keyword_only = True
            continue
        argument = _ARGUMENT.fullmatch(part)
        if argument is None:
            raise ValueError(f"not an argument of an operator: {part[:80]!r}")
        parameters.append(Parameter(argument["name"], argument["type"], keyword_only))
    return Signature(f"{match['name']}.{match['overload'] or 'default'}", tuple(parameters))
