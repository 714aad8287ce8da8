"""What a function of JAX calls outside of every program, seen before it is computed.

JAX computes by the trace that is current. The one here tells of each primitive, and then has JAX compute it as ever. A
compiled function is one primitive, `jit`, whose parameter is the program; while a trace of one's own is current, JAX
does not take its short way past Python.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import jax
import jax.extend.core
from jax._src import core, source_info_util

from opperf.child.backends.jax.equations import Called, Operand
from opperf.child.backends.jax.modules import FLAX, NnxScopes

#: Whether this JAX can be watched so; before 0.5 it had other traces.
CAN_WATCH = hasattr(core, "set_current_trace") and hasattr(jax, "typeof")


def watch(function: Callable[[], Any], note: Callable[[Called], None]) -> None:
    """Call a function, and tell of what it calls before that is computed."""
    trace = _Watching(note)
    with ExitStack() as stack:
        stack.enter_context(_same_state(trace))
        if FLAX in sys.modules:
            scopes = NnxScopes()
            scopes.open()
            stack.callback(scopes.close)
            jax.clear_caches()  # programs that were traced without the names of modules
        stack.enter_context(core.set_current_trace(trace))
        jax.block_until_ready(function())


class _Watching(core.EvalTrace):  # type: ignore[misc]
    """Computes as JAX does outside of every program, and tells of it before."""

    def __init__(self, note: Callable[[Called], None]) -> None:
        super().__init__()
        self._note = note

    def process_primitive(self, primitive: Any, args: Any, params: Any, /) -> Any:
        """Tell of a primitive, and compute it."""
        values = tuple(args)
        with core.set_current_trace(core.eval_trace):
            operands = tuple(Operand(jax.typeof(value), value) for value in values)
            self._note(Called(primitive, operands, params, source_info_util.current()))
            return super().process_primitive(primitive, values, params)


@contextmanager
def _same_state(trace: Any) -> Iterator[None]:
    """Tell libraries that ask by which trace JAX computes of the usual one: in another they change no state."""
    with ExitStack() as stack:
        for module in (jax.core, jax.extend.core):  # either, by the version
            usual = getattr(module, "get_opaque_trace_state", None)
            if usual is not None:
                setattr(module, "get_opaque_trace_state", partial(_outside, trace, usual))  # noqa: B010 - mypy
                stack.callback(setattr, module, "get_opaque_trace_state", usual)
        yield


def _outside(trace: Any, usual: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """Return a function's answer about the current trace, which is the usual one in place of `trace`."""
    if core.trace_ctx.trace is not trace:
        return usual(*arguments, **keywords)
    with core.set_current_trace(core.eval_trace):
        return usual(*arguments, **keywords)
