"""The entry point of a child: `python -m opperf.child READ_FD WRITE_FD SIDE_JSON LIMITS_JSON`.

It imports one framework, says hello, and answers requests until it is told to quit or the pipe closes. Stdout and
stderr belong to the framework; the protocol has two pipes of its own. `python -m opperf.child SOCKET_FD SIDE_JSON
LIMITS_JSON` is the source of both children of a pair, which imports for both (`worker/source.py`).
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from opperf.child.measure.disturbance import NoCounters, ProcessCounters
from opperf.child.worker import process
from opperf.child.worker.conversation import Conversation
from opperf.child.worker.failures import failure
from opperf.child.worker.handler import Handler
from opperf.domain.device import FLOAT32_PRODUCTS, memory_share
from opperf.domain.message.replies import Agreement, Failure, Hello
from opperf.domain.message.requests import Compare, JudgingRequest, Limits, R, Request
from opperf.domain.message.wire import PROTOCOL, answer_line
from opperf.domain.plan import COUNTING, LAYOUT_BYTES, PLANNED, Side

if TYPE_CHECKING:
    from opperf.child.judging.desk import Desk
    from opperf.domain.backend import Backend


def main(argv: list[str]) -> int:
    """Run one child; returns its exit code."""
    imported = None
    if len(argv) == 3:
        argv, imported = _import_once(int(argv[0]), *_read(argv))
    read_fd, write_fd = (int(word) for word in argv[:2])
    with os.fdopen(read_fd, "rb") as requests, os.fdopen(write_fd, "wb") as replies:
        return _serve(requests, replies, *_read(argv), imported)


def _read(argv: list[str]) -> tuple[Side, Limits]:
    return Side.from_json(json.loads(argv[-2])), Limits.from_json(json.loads(argv[-1]))


def _import_once(descriptor: int, side: Side, limits: Limits) -> tuple[list[str], float]:
    """Import a framework, and return in each child forked then: its words, and the seconds that the import took.

    An import that fails is left for the children to tell.
    """
    import socket

    from opperf.child.backends import load_runtime
    from opperf.child.worker import code, source  # noqa: F401  # what each child needs is imported once too

    variables = dict(os.environ)
    _lay_out(side, limits)
    start = time.perf_counter()
    gc.disable()
    with suppress(Exception):
        load_runtime(side)
    seconds = time.perf_counter() - start
    gc.freeze()  # a collection would write to what all share, and so copy it
    return source.next_child(socket.socket(fileno=descriptor), variables), seconds


def _serve(requests: BinaryIO, replies: BinaryIO, side: Side, limits: Limits, imported: float | None = None) -> int:
    try:
        backend, hello = _start(side, limits, imported)
    except Exception as error:  # a broken installation may raise anything, which is the answer
        _send(replies, answer_line(0, failure(error), protocol=PROTOCOL))
        return 1
    _send(replies, answer_line(0, hello, protocol=PROTOCOL))
    counters = NoCounters() if backend.name == "null" else ProcessCounters()
    handler = Handler(backend, counters, Path(limits.folder), limits.plugins, **_comparison(side))
    on_device = backend.side.device != "cpu"

    def answer(request: Request[Any]) -> Any:
        reply = _answer(handler, request)
        if on_device:
            backend.wait([])  # an error that a device reports late is this request's, not the next one's
        return reply

    def is_last(failing: Failure) -> bool:
        # Where memory was short it lies in pieces, which the next trial would be short of.
        return on_device and (failing.reason.slug == "out_of_memory" or _is_dead(backend))

    Conversation((requests, replies), handler, answer, is_last).go_on()
    return 0


def _answer(handler: Handler, request: Request[R]) -> R:
    """Return the reply to a request."""
    return _desk(handler).answer(request) if isinstance(request, JudgingRequest) else handler.answer(request)


@cache
def _desk(handler: Handler) -> Desk:
    """Return who answers a judge: no other child waits for that import."""
    from opperf.child.judging.desk import Desk

    return Desk(handler.backend, handler.names)


def _comparison(side: Side) -> Mapping[str, Callable[[Compare], Agreement]]:
    """Return the comparison of results where the reference computes, which has NumPy, as an argument of `Handler`."""
    if not side.is_reference:
        return {}
    from opperf.child.judging.reference import Comparison

    return {"compare": Comparison(side)}


def _is_dead(backend: Backend) -> bool:
    """Whether the device is lost: after an illegal address, CUDA answers each later call with that error."""
    try:
        backend.wait([])
    except Exception:
        return True
    return False


def _lay_out(side: Side, limits: Limits) -> bool:
    """Set up the process as a side asks, ahead of any import, and say whether the allocator's thresholds are fixed."""
    from opperf.child.measure import placement
    from opperf.child.measure.host import fix_allocator

    placement.keep_to_itself()
    fixed = side.allocator == "fixed" and fix_allocator()
    if limits.cpus is not None:
        process.stay_on(limits.cpus)
    process.place_apart(len(os.environ.get(COUNTING, "")) // LAYOUT_BYTES)
    process.load_apart(side.layout)
    return fixed


def _start(side: Side, limits: Limits, imported: float | None) -> tuple[Backend, Hello]:
    """Return the backend of a side, with the process set up as it asks, and the hello.

    `imported` are the seconds that its import took in a process that it was forked from.
    """
    from opperf.child.measure import placement
    from opperf.child.measure.host import fix_allocator
    from opperf.child.worker.code import start_backend

    fixed = _lay_out(side, limits)
    start = time.perf_counter()
    gc.disable()  # an import leaves little behind, and looking for it takes a tenth of its time
    backend = start_backend(side, Path(limits.folder), limits.plugins)
    if fixed:  # whatever the framework set when it was imported
        fixed = fix_allocator()
    facts = {
        **backend.facts(),
        **_device_facts(backend),
        "allocator": "fixed thresholds" if fixed else "default",
        "import_seconds": time.perf_counter() - start + (imported or 0.0),
    }
    if imported is not None:
        facts["imported"] = "once for both sides"
    if placement.is_planned():
        facts["placement"] = PLANNED
    devices = tuple(backend.devices())
    if limits.memory is not None:
        process.limit_memory(limits.memory)
    # What the import made lives for ever; later collections need not look at it. The little that does not is left too:
    # to look for it takes a tenth of the time of a start.
    gc.freeze()
    gc.enable()
    return backend, Hello(os.getpid(), facts, devices)


def _device_facts(backend: Backend) -> dict[str, Any]:
    """Return which device it is, by its driver, and how that multiplies float32."""
    from opperf.child.measure.gpu import gpu_of

    if backend.side.device == "cpu":
        return {}
    gpu, monitor = gpu_of(backend.side.device), backend.monitor()
    clocks = gpu or (monitor and monitor.read())
    free, share = backend.free_memory(), memory_share(os.environ)
    facts = {
        "gpu": None if gpu is None else gpu.describe(),
        "memory_free": free,
        "memory_share": share if share < 1 else None,
        FLOAT32_PRODUCTS: backend.float32_products,
        "lacks": {
            name: reason
            for name, reason, has in (
                ("events", "times are the host's: opperf reads no clock of this device", backend.device_timer()),
                ("kernels", "no profiler of the framework shows what runs on this device", backend.kernel_watch()),
                ("clocks", "neither NVIDIA's management library (NVML) nor the framework tells them", clocks),
                ("power and energy", "NVML does not know this device", gpu),
                ("free memory", "the framework does not tell it: no trial is skipped for want of it", free is not None),
            )
            if not has
        },
    }
    return {name: fact for name, fact in facts.items() if fact not in (None, {})}


def _send(replies: BinaryIO, line: bytes) -> None:
    replies.write(line)
    replies.flush()


def _leave(code: int) -> None:
    """End the process as the interpreter would, but leave the framework's objects to the kernel: that is 0.2 s sooner.

    A comparison ends two children for each pair.
    """
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    _leave(main(sys.argv[1:]))
