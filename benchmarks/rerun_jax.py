"""Run in JAX's environment: trace functions, run every primitive of their programs again, and print how it does.

python rerun_jax.py FOLDER FILE:FUNCTION...

The programs are computed primitive by primitive, with the arrays that a function reads. Of a loop the first turn gives
the numbers, and of a choice every branch.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial
from typing import Any

import jax
import numpy as np
from jax.extend.core import Jaxpr, Literal
from rerun import RecordedCall, look, main

from opperf.child.backends.jax import capture, functions
from opperf.child.backends.jax.equations import Equation, bodies, equations
from opperf.child.backends.jax.runtime import JaxBackend
from opperf.child.worker import arguments
from opperf.domain.case import Case
from opperf.domain.plan import Side

backend = JaxBackend(Side("jax", mode="compiled"))
#: Parameters that say on which device an array is.
DEVICES = ("devices", "srcs", "sharding", "out_sharding")
#: Primitives that decide which of the programs within them run, or how often.
DECIDING = ("scan", "while", "cond")
#: Operands and results of a primitive.
Computed = tuple[Sequence[Any], Sequence[Any]]


def compute(program: Jaxpr, constants: Sequence[Any], given: Sequence[Any]) -> Generator[Computed, None, list[Any]]:
    """Yield what each primitive takes and returns, in the order of `equations`; return what the program returns."""
    known = {**dict(zip(program.constvars, constants)), **dict(zip(program.invars, given))}

    def values(places: Sequence[Any]) -> list[Any]:
        return [one.val if isinstance(one, Literal) else known[one] for one in places]

    for equation in program.eqns:
        operands = values(equation.invars)
        answer: list[Any] = []
        within = list(bodies(equation))
        for body, own in within:
            answer = yield from compute(body, own, hand(equation, body, operands))
        if not within or equation.primitive.name in DECIDING:
            answer = result(equation, operands)
        if not within:
            yield operands, answer
        known.update(zip(equation.outvars, answer))
    return values(program.outvars)


def hand(equation: Any, body: Jaxpr, operands: Sequence[Any]) -> Sequence[Any]:
    """Return what a program within an equation is given, in its first turn."""
    name, own = equation.primitive.name, equation.params
    if name == "scan":
        fixed, first = own["num_consts"] + own["num_carry"], -1 if own["reverse"] else 0
        return [*operands[:fixed], *(rows[first] for rows in operands[fixed:])]
    if name == "while":
        asked, within = own["cond_nconsts"], own["cond_nconsts"] + own["body_nconsts"]
        constants = operands[:asked] if body is own["cond_jaxpr"].jaxpr else operands[asked:within]
        return [*constants, *operands[within:]]
    return operands[1:] if name == "cond" else operands  # the first says which branch


def result(equation: Any, operands: Sequence[Any]) -> list[Any]:
    """Return what JAX computes of an equation."""
    primitive = equation.primitive
    with equation.ctx.manager:
        answer = primitive.bind(*operands, **primitive.get_bind_params(equation.params))
    return list(answer) if primitive.multiple_results else [answer]


def plain(value: Any, place: Any) -> Any:
    """Return a value as an array of the type of its place, and keys as the numbers below them."""
    if jax.dtypes.issubdtype(place.aval.dtype, jax.dtypes.prng_key):
        return jax.random.key_data(value)
    return np.asarray(value, place.aval.dtype)


def others(case: Case, equation: Equation) -> str:
    """Return which parameters are not what they were when the case is read, those of devices left out."""
    make = arguments.Maker(backend, "").make
    operands = [one.aval for one in equation.own.invars]
    own = {name: value for name, value in equation.own.params.items() if name not in DEVICES}
    answer = {name: functions.decode_parameter(make(case.attributes[name], name), operands) for name in own}
    unlike = [name for name, value in own.items() if answer[name] != value and str(answer[name]) != str(value)]
    return f"other parameters: {', '.join(unlike)}" if unlike else ""


def kept(function: Callable[[], Any]) -> Iterator[RecordedCall]:
    """Trace a function, and yield every primitive of its program."""
    program = capture.trace(function)
    for equation, (operands, results) in zip(equations(program), compute(program.jaxpr, program.consts, ())):
        call = capture.capture_equation(equation)
        if call.case is None:
            yield RecordedCall(call)
            continue
        given = [backend.to_host(plain(*pair)) for pair in zip(operands, equation.own.invars)]
        returned = [plain(*pair) for pair in zip(results, equation.own.outvars)]
        looks, numbers = [look(backend, one) for one in returned], [backend.to_host(one) for one in returned]
        yield RecordedCall(call, given, looks, numbers, unlike=others(call.case, equation))


if __name__ == "__main__":
    main(backend, kept, partial(jax.enable_x64, True))  # as where cases are measured
