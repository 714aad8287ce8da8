"""Lines that numerical libraries print of what they run: oneDNN of every generation, and MKL.

    onednn_verbose,v1,primitive,exec,cpu,convolution,jit:avx512_core,forward_training,...,0.1379
    dnnl_verbose,exec,cpu,inner_product,x64:gemm:jit,forward_inference,...,0.206787
    mkldnn_verbose,exec,convolution,jit:avx2,forward_training,...,0.21
    MKL_VERBOSE SGEMM(N,N,256,256,256,0x7ffe80d01bd0,...) 384.43us CNR:OFF Dyn:0 FastMM:1 TID:0  NThr:1

Only lines of executions count. oneDNN's times are milliseconds. The lines are other people's: one that cannot be read
is passed over.

They are caught while something runs. Python's own `redirect_stdout` does not see them: C libraries write to the file
descriptor, through a buffer of their own. A file takes them, since an unread pipe would be full after 64 KiB.
"""

from __future__ import annotations

import ctypes
import math
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from opperf.domain.call import Work
from opperf.domain.explanation import Event

MARKS = ("onednn_verbose", "dnnl_verbose", "mkldnn_verbose")
#: Where a primitive runs; the first generation did not say.
ENGINES = ("cpu", "gpu")
#: A routine, its time and the unit of that.
MKL = re.compile(r"MKL_VERBOSE (\w+)\(.*\) ([\d.]+)(ns|us|ms|s)\b")
SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


def read(text: str) -> list[Event]:
    """Return the primitives that ran, in order.

    >>> read("dnnl_verbose,exec,cpu,softmax,jit:avx2,forward_inference,,,,256x256,0.5")
    [Event(name='softmax', kind='primitive', calls=1, seconds=0.0005, by='jit:avx2')]
    """
    events = (_onednn(line) or _mkl(line) for line in text.splitlines())
    return [event for event in events if event is not None]


def _onednn(line: str) -> Event | None:
    words = line.strip().split(",")
    if words[0] not in MARKS or "exec" not in words[:5]:
        return None
    # Later versions put a version, a time stamp or `primitive` before it.
    rest = words[words.index("exec") + 1 :]
    if rest and rest[0].startswith(ENGINES):
        rest = rest[1:]
    if len(rest) < 2 or not rest[0]:
        return None
    milliseconds = _number(rest[-1])
    return Event(rest[0], "primitive", 1, None if milliseconds is None else milliseconds / 1e3, rest[1] or None)


def _mkl(line: str) -> Event | None:
    match = MKL.match(line.strip())
    if match is None:
        return None
    time = _number(match[2])
    return Event(match[1], "primitive", 1, None if time is None else time * SECONDS[match[3]], "mkl")


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def repeat(
    work: Work,
    calls: int,
    wait: Callable[[Any], None],
    watch: Callable[[], AbstractContextManager[Any]],
    sweep: Callable[[], None] | None = None,
) -> None:
    """Call `calls` times, each within `watch()`, at whose end nothing is outstanding; `sweep` goes before each."""
    with work.scope():
        for _ in range(calls):
            arguments = work.make_arguments()
            if sweep is not None:
                sweep()
            wait([])
            with watch():
                result = work.function(*arguments, **work.keywords)
                wait([result])
            del result


STDOUT = 1


class OutputCapture:
    """Captures several stretches of output in turn, each as a text."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    @contextmanager
    def catch(self) -> Iterator[None]:
        """Take what is printed until the end of the block."""
        with tempfile.TemporaryFile() as file:
            _flush()
            usual = os.dup(STDOUT)
            os.dup2(file.fileno(), STDOUT)
            try:
                yield
            finally:
                _flush()
                os.dup2(usual, STDOUT)
                os.close(usual)
                file.seek(0)
                self.texts.append(file.read().decode(errors="replace"))


def _flush() -> None:
    sys.stdout.flush()
    ctypes.CDLL(None).fflush(None)
