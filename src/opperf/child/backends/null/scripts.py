"""What the operators of the null framework do: each behaviour that a real one has shown, on demand.

The well-behaved ones advance the virtual clock and return at once. The others really do what their names say.
"""

from __future__ import annotations

import ctypes
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

STEADY_NS = 100_000
#: Share of its time by which the noisy operator varies.
NOISE = 0.2
LEAK_BYTES = 64 * 1024 * 1024


class Scripts:
    """The behaviours, with the clock that they advance and the settings of the side.

    `slowdown=1.05` multiplies every duration.
    """

    def __init__(self, clock: VirtualClock, slowdown: float) -> None:
        self._clock = clock
        self._slowdown = slowdown
        self._random = random.Random(0)
        self._calls = 0

    def named(self) -> dict[str, Callable[..., Any]]:
        """Return every behaviour by the name that users write."""
        return {
            "steady": self.steady,
            "noisy": self.noisy,
            "warming": self.warming,
            "drifting": self.drifting,
            "raise": self.raising,
            "crash": self.crash,
            "abort": self.abort,
            "exit": self.leave,
            "hang": self.hang,
            "leak": self.leak,
            "flood": self.flood,
            "garbage": self.garbage,
        }

    def spend(self, nanoseconds: float) -> None:
        """Let that much virtual time pass, times the slowdown."""
        self._clock.advance(round(nanoseconds * self._slowdown))

    def steady(self, *_: Any) -> None:
        """Take 100 us."""
        self.spend(STEADY_NS)

    def noisy(self, *_: Any) -> None:
        """Take 100 us, give or take a fifth."""
        self.spend(STEADY_NS * self._random.uniform(1 - NOISE, 1 + NOISE))

    def warming(self, *_: Any) -> None:
        """Take 1 ms at first, and 100 us from the 50th call on."""
        self._calls += 1
        self.spend(STEADY_NS * max(1.0, 10 * (1 - self._calls / 50)))

    def drifting(self, *_: Any) -> None:
        """Take 100 us at first, and 0.1 % more at each call."""
        self._calls += 1
        self.spend(STEADY_NS * 1.001 ** min(self._calls, 5000))

    def raising(self, *_: Any) -> None:
        """Raise, as an operator does that refuses its arguments."""
        raise RuntimeError("this operator always raises")

    def crash(self, *_: Any) -> None:
        """End in a segmentation fault."""
        print("about to read address zero", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGSEGV)

    def abort(self, *_: Any) -> None:
        """End as a failed assertion in C does."""
        os.abort()

    def leave(self, *_: Any) -> None:
        """End the process with an exit code of its own."""
        os._exit(7)

    def hang(self, *_: Any) -> None:
        """Sleep for an hour in native code, holding the interpreter's lock."""
        ctypes.PyDLL(None).sleep(3600)

    def leak(self, *_: Any) -> None:
        """Ask for memory until there is none."""
        blocks = []
        while True:
            blocks.append(bytes(LEAK_BYTES))  # untouched pages: the limit is met in no time, and no memory is used

    def flood(self, *_: Any) -> None:
        """Print without end, on stdout and stderr."""
        line = "the same line again and again\n" * 1000
        while True:
            sys.stdout.write(line)
            sys.stderr.write(line)

    def garbage(self, *_: Any) -> None:
        """Write into the pipe that is the protocol's, as a library does that writes to a wrong descriptor."""
        os.write(int(sys.argv[2]), b"\x00\xff not a message\n")
        time.sleep(0.1)


class VirtualClock:
    """Wall and CPU time in nanoseconds, advanced by the scripted operators."""

    def __init__(self) -> None:
        self._now = 0

    def wall(self) -> int:
        """Return the virtual wall time."""
        return self._now

    def cpu(self) -> int:
        """Return the virtual CPU time."""
        return self._now

    def advance(self, nanoseconds: int) -> None:
        """Let time pass, which the CPU spends on the operator."""
        self._now += nanoseconds
