"""The equations of a traced program: each primitive with what is known of its operands, how often it runs, and where.

Programs within programs are entered: those of `jit`, of functions with derivatives of their own, of what is computed
anew on the way back, and of loops. The body of a `scan` counts as often as it turns; that of a `while`, whose turns
nobody knows before it runs, counts once, and so does every branch of a `cond`.
"""

from __future__ import annotations

import enum
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import jax.extend.core.primitives  # noqa: F401 - so that they are all there
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal, Primitive

from opperf.domain.dataclass import dataclass

#: Primitives that are given a program, as what to do with two numbers, and are one operator all the same.
WHOLE = ("scatter", "reduce", "select_and_scatter", "pallas_call")


@dataclass(frozen=True)
class Place:
    """Where an equation stands: named scopes and functions around it, on the way back or not, and how often it runs."""

    scopes: tuple[str, ...] = ()
    backward: bool = False
    count: int = 1

    def of(self, equation: Any) -> Place:
        """Return the place of an equation that stands here."""
        stack = equation.source_info.name_stack.stack
        scopes = (one.name for one in stack if type(one).__name__ == "Scope")
        back = any(one.name == "transpose" for one in stack if type(one).__name__ == "Transform")
        return replace(self, scopes=(*self.scopes, *scopes), backward=self.backward or back)

    def within(self, equation: Any) -> Place:
        """Return the place of what an equation enters."""
        name = equation.params.get("name")
        scopes = (*self.scopes, name) if isinstance(name, str) else self.scopes
        turns = equation.params["length"] if equation.primitive.name == "scan" else 1
        return replace(self, scopes=scopes, count=self.count * turns)


@dataclass(frozen=True)
class Operand:
    """What a primitive is called with outside of every program, where its value is known."""

    aval: Any
    val: Any


@dataclass(frozen=True)
class Called:
    """A primitive that is called outside of every program, in the form of an equation."""

    primitive: Any
    invars: tuple[Operand, ...]
    params: Mapping[str, Any]
    source_info: Any


@dataclass(frozen=True)
class Equation:
    """A primitive that a program calls; of `values`, those that are not known before it runs are None."""

    own: Any
    values: tuple[Any, ...]
    place: Place


def equations(program: ClosedJaxpr) -> Iterator[Equation]:
    """Yield the equations of a program in order."""
    return _enter(program.jaxpr, program.consts, (), Place())


def equations_of(called: Called) -> Iterator[Equation]:
    """Yield the equations that one call is: its own, or those of the program that it runs."""
    return _expand(called, tuple(one.val for one in called.invars), Place())


def _enter(program: Jaxpr, constants: Sequence[Any], arguments: Sequence[Any], around: Place) -> Iterator[Equation]:
    environment = {**dict(zip(program.constvars, constants)), **dict(zip(program.invars, arguments))}
    for equation in program.eqns:
        values = tuple(one.val if isinstance(one, Literal) else environment.get(one) for one in equation.invars)
        yield from _expand(equation, values, around)


def _expand(equation: Any, values: tuple[Any, ...], around: Place) -> Iterator[Equation]:
    """Yield an equation, or those of the programs within it."""
    place = around.of(equation)
    within = list(bodies(equation))
    for body, own in within:
        yield from _enter(body, own, _hand(equation, len(body.invars), values), place.within(equation))
    if not within:
        yield Equation(equation, values, place)


def bodies(equation: Any) -> Iterator[tuple[Jaxpr, Sequence[Any]]]:
    """Yield the programs within an equation, and their constants."""
    if equation.primitive.name.startswith(WHOLE):
        return
    for value in equation.params.values():
        for program in value if isinstance(value, tuple) else (value,):
            if isinstance(program, ClosedJaxpr):
                yield program.jaxpr, program.consts
            elif isinstance(program, Jaxpr):
                yield program, ()


def _hand(equation: Any, count: int, values: Sequence[Any]) -> Sequence[Any]:
    """Return the inputs of a program within as far as they are known: values that a loop carries on are not."""
    if equation.primitive.name == "scan":
        fixed, carry = equation.params["num_consts"], equation.params["num_carry"]
        return [*values[:fixed], *([None] * carry), *values[fixed + carry :]]
    if equation.primitive.name == "cond":  # the first value says which branch
        return values[1:]
    return values if len(values) == count and equation.primitive.name != "while" else ()


@cache
def primitives() -> Mapping[str, Any]:
    """Return every primitive by its name."""
    return {one.name: one for one in _define() if isinstance(one, Primitive)}


def is_own(primitive: Any) -> bool:
    """Whether a primitive is the one that JAX itself defines under its name."""
    return bool(primitives().get(primitive.name) is primitive)


@cache
def words() -> Mapping[str, Any]:
    """Return the enumerations and named tuples by their names."""
    return {one.__name__: one for one in _define() if issubclass(type(one), type) and _is_word(one)}


def _is_word(kind: type) -> bool:
    """Whether values of a type are one of a few, or a tuple whose places have names."""
    return issubclass(kind, enum.Enum) or (issubclass(kind, tuple) and hasattr(kind, "_fields"))


def _define() -> Iterator[Any]:
    """Yield everything that a module of JAX holds under a name; of two of one name the last counts, the public one."""
    names = [name for name in sys.modules if name.split(".")[0] == "jax"]
    for name in sorted(names, key=lambda name: not name.startswith("jax._src.")):
        yield from list(vars(sys.modules[name]).values())
