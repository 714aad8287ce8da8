"""Whole operators under `jax.jit`: compiled once ahead of the first call, their plan of memory kept.

* Tensors are arguments of a program, never closed over: XLA computes at compile time what it can see. A 512 x 512
  product took 1330 us with its operands as arguments and 29 us with operands that were closed over.
* Everything else (axes, shapes, element types, numbers) is closed over, as in a user's program, where they are static.
* Everything that the function returns is returned by the program: XLA removes what is not asked for.
* The jitted function is what gets called: its dispatch took 5.9 us, that of the object that `compile()` returns 6.4.
  The two share what was compiled, so a program is compiled once.

XLA says three things of a program, and of an eager call, which has none, those of the same call under jit:

* What a call computes and moves, by an analysis before the program is compiled: afterwards products may be calls of a
  library that the analysis cannot look into.
* What runs in a call, as the instructions of the compiled program, without times. An instruction is named by its
  operation; a fusion by the operations that were fused, and by how it is carried out (`kLoop`, or a library such as
  `__ynn_fusion`).
* What memory a call takes, by the plan made before it runs. An eager call may have more intermediate values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any
from weakref import WeakKeyDictionary

import jax

from opperf.child.backends.common.values import constant, function_of
from opperf.child.backends.jax import hlo
from opperf.domain.call import Work
from opperf.domain.dataclass import dataclass
from opperf.domain.explanation import Explanation
from opperf.domain.measurement import Counts, Memory, Quantity, compile_time

SOURCE = "XLA's plan of the program (outputs + temporaries - aliases)"


#: What XLA plans for one call of each jitted function, as long as that is there.
PLANS: WeakKeyDictionary[Callable[..., Any], Memory | None] = WeakKeyDictionary()


def program(
    function: Callable[..., Any], arguments: tuple[Any, ...]
) -> tuple[Callable[..., Any], Mapping[str, Quantity]]:
    """Compile a function of arrays for these, and return it jitted, and how long that took."""
    jitted = jax.jit(function)
    start = perf_counter()
    executable = jitted.lower(*arguments).compile()
    took = compile_time(perf_counter() - start)
    PLANS[jitted] = _plan(executable)
    return jitted, took


@dataclass(frozen=True)
class Program:
    """A call under jit, as it was compiled for a `key`, and what that has measured."""

    key: object
    function: Callable[..., Any]
    metrics: Mapping[str, Quantity]


def program_of_call(
    function: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any], last: Program | None
) -> tuple[Program, tuple[Any, ...]]:
    """Return the program of a call, the `last` one where it serves, and the tensors that it takes.

    A comparison asks for the same call again and again, with tensors elsewhere in memory.
    """
    call, tensors = function_of_tensors(function, arguments, keywords)
    leaves, structure = jax.tree_util.tree_flatten((arguments, keywords))
    key = (function, structure, *map(_signature, leaves))
    if last is not None and last.key == key:
        return last, tensors
    return Program(key, *program(call, tensors)), tensors


def _signature(leaf: Any) -> object:
    """Return the properties of an argument that a program is compiled for: of an array all but its elements."""
    if isinstance(leaf, jax.Array):
        return leaf.shape, leaf.dtype, leaf.weak_type, leaf.sharding
    return constant(leaf)


def function_of_tensors(
    function: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the call as a function of its tensors alone, and those tensors, also from within lists."""
    leaves, structure = jax.tree_util.tree_flatten((arguments, keywords))

    def rebuild(values: list[Any]) -> Any:
        positional, keywords = jax.tree_util.tree_unflatten(structure, values)
        return function(*positional, **keywords)

    return function_of(leaves, lambda leaf: isinstance(leaf, jax.Array), rebuild)


def _plan(executable: Any) -> Memory | None:
    """Return outputs and temporaries; XLA's own peak has the arguments in it and misses a convolution's scratch."""
    plan = executable.memory_analysis()
    if plan is None:
        return None
    size = plan.output_size_in_bytes + plan.temp_size_in_bytes - plan.alias_size_in_bytes
    return Memory(size, None, SOURCE)


def memory(work: Work) -> Memory | None:
    """Return the memory that XLA plans for one call, for an eager one as it would be under jit."""
    if work.function in PLANS:
        return PLANS[work.function]
    jitted, _ = program(*function_of_tensors(work.function, work.arguments, dict(work.keywords)))
    plan = PLANS[jitted]
    return None if plan is None else replace(plan, source=f"{plan.source}, of the eager call under jit")


READ = "read from the compiled program, which has no times"
EAGER = "the program is that of the eager call under jit"


def explanation(work: Work) -> Explanation:
    """Return the instructions and loops of a call."""
    function: Any = work.function
    arguments = work.make_arguments()
    notes = [READ]
    if not hasattr(function, "lower"):
        function, arguments = function_of_tensors(function, arguments, dict(work.keywords))
        function, _ = program(function, arguments)
        notes.append(EAGER)
    text = function.lower(*arguments).compile().as_text()
    return Explanation(tuple(hlo.read(text)), tuple(notes))


COUNTS_SOURCE = "XLA's cost analysis of the program as it is written"


def counts(work: Work) -> Counts | None:
    """Return the operations and bytes of a call, which is traced and not made; None where XLA does not tell."""
    call, tensors = function_of_tensors(work.function, work.arguments, dict(work.keywords))
    analysis = jax.jit(call).lower(*tensors).cost_analysis()
    if not analysis:
        return None
    flops, nbytes = (int(analysis.get(name, 0.0)) for name in ("flops", "bytes accessed"))
    return Counts(flops or None, nbytes or None, COUNTS_SOURCE)
