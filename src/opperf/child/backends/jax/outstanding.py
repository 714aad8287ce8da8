"""JAX's outstanding computations."""

from __future__ import annotations

import time
from contextlib import suppress

import jax
from jax._src import xla_bridge

#: What fails in a computation; before 0.4.36 it had no public name.
RUNTIME_ERROR: type[Exception] = getattr(jax.errors, "JaxRuntimeError", RuntimeError)
#: The process is at rest when it used less than this share of a CPU for so many seconds, several times in a row: a
#: thread that was given work may still be waiting for a CPU.
AT_REST, WINDOW, WINDOWS = 0.1, 0.003, 4
LONGEST = 5.0


def wait() -> None:
    """Wait for all of them; what fails is the program's own affair, which it learns where it waits itself."""
    if not xla_bridge.backends_are_initialized():  # as when JAX has put its devices away at the program's end
        return
    with suppress(RUNTIME_ERROR):
        jax.effects_barrier()
    for array in jax.live_arrays():
        with suppress(RUNTIME_ERROR):
            if not array.is_deleted():
                array.block_until_ready()


def settle() -> None:
    """Wait for all of them, even those with discarded results: until the threads of the process are idle.

    A process whose other threads are always busy is waited for no longer than `LONGEST` seconds.
    """
    wait()
    end, resting = time.perf_counter() + LONGEST, 0
    while resting < WINDOWS and time.perf_counter() < end:
        begin, cpu = time.perf_counter(), time.process_time()
        time.sleep(WINDOW)
        rests = time.process_time() - cpu < AT_REST * (time.perf_counter() - begin)
        resting = resting + 1 if rests else 0
