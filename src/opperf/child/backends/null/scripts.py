"""What the operators of the null framework do: each behaviour that a real one has shown, on demand.

The well-behaved ones advance the virtual clock and return at once. The others really do what their names say.
"""

from __future__ import annotations

import ctypes
import math
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from opperf.domain.plan import LAYOUT
from opperf.domain.tensor import TensorSpec, row_major

T = TypeVar("T")
STEADY_NS = 100_000
#: How often the energy counter moves.
ENERGY_STEP_NS = 1_000_000
#: Share of its time by which the noisy operator varies, and by which the placed one is slower in some layouts.
NOISE, PLACED = 0.2, 0.05
LEAK_BYTES = 64 * 1024 * 1024
#: The operator with a cliff takes a launch, and its bytes at 10 GB/s; where the cliff is, this many times as long.
CLIFF_LAUNCH_NS, CLIFF_BYTES_PER_NS, CLIFF_HEIGHT = 1000, 10, 1.3
#: Where it is, unless the side's setting `cliff` says otherwise.
CLIFF = "residue:1:16:8:1024"


def cache_last(function: Callable[..., T]) -> Callable[..., T]:
    """Return a function that computes anew only for other arguments than the last: a block repeats the same call.

    `functools.lru_cache` would hash every tensor at each call, and lists of tensors have no hash.

    >>> double = cache_last(lambda number: print("computing") or 2 * number)
    >>> double(2), double(2)
    computing
    (4, 4)
    """
    memory: list[tuple[tuple[Any, ...], T]] = []

    def call(*arguments: Any) -> T:
        if not memory or memory[0][0] != arguments:
            memory[:] = [(arguments, function(*arguments))]
        return memory[0][1]

    return call


class Scripts:
    """The behaviours, with the clock that they advance and the settings of the side.

    `slowdown=1.05` multiplies every duration, `work=1.05` every number of instructions. `cliff` says which
    cases of `cliff` take longer (see `is_cliff`), and `noise` is the standard deviation of the log of its time.
    """

    def __init__(self, clock: VirtualClock, settings: Mapping[str, str]) -> None:
        self._clock = clock
        self._slowdown, self._work = float(settings.get("slowdown", "1")), float(settings.get("work", "1"))
        self._cliff, self._noise = settings.get("cliff", CLIFF), float(settings.get("noise", "0"))
        self._random = random.Random(int(settings.get("seed", "0")))
        self._layout = int(settings.get(LAYOUT, "0"))
        self._calls = 0
        self._cliff_cost = cache_last(self._cliff_cost_of)

    def behaviours(self) -> dict[str, Callable[..., Any]]:
        """Return every behaviour by the name that users write."""
        return {
            "steady": self.steady,
            "noisy": self.noisy,
            "warming": self.warming,
            "drifting": self.drifting,
            "cliff": self.cliff,
            "placed": self.placed,
            "overwriting": self.overwriting,
            "overwriting_late": self.overwriting_late,
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
        """Let that much virtual time pass, times the slowdown; an instruction is executed in each nanosecond of it."""
        self._clock.advance(round(nanoseconds * self._slowdown), round(nanoseconds * self._work))

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

    def cliff(self, *tensors: Any) -> None:
        """Take as long as its bytes need, and longer where the cliff is."""
        noise = math.exp(abs(self._random.gauss(0, self._noise))) if self._noise else 1.0
        self.spend(self._cliff_cost(*tensors) * noise)

    def _cliff_cost_of(self, *tensors: Any) -> float:
        nbytes: int = sum(tensor.spec.nbytes for tensor in tensors)
        height: float = CLIFF_HEIGHT if any(is_cliff(self._cliff, tensor.spec) for tensor in tensors) else 1.0
        return (CLIFF_LAUNCH_NS + nbytes / CLIFF_BYTES_PER_NS) * height

    def placed(self, *_: Any) -> None:
        """Take 100 us, and 5 % more in every other layout of memory, as code does that lies across a boundary."""
        self.spend(STEADY_NS * (1 + PLACED * (self._layout % 2)))

    def raising(self, *_: Any) -> None:
        """Raise, as an operator does that refuses its arguments."""
        raise RuntimeError("this operator always raises")

    def overwriting(self, *tensors: Any) -> None:
        """Write into the inputs, and take 100 us, but a tenth of it for inputs that something was written into."""
        self.spend(STEADY_NS / 10 if any(tensor.writes[0] for tensor in tensors) else STEADY_NS)
        for tensor in tensors:
            tensor.writes[0] += 1

    def overwriting_late(self, *tensors: Any) -> None:
        """Take 100 us, and write into the inputs in the 30th call alone."""
        self._calls += 1
        if self._calls == 30:
            self.overwriting(*tensors)
        else:
            self.spend(STEADY_NS)

    def crash(self, *_: Any) -> None:
        """End in a segmentation fault."""
        print("about to read address zero", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGSEGV)

    def abort(self, *_: Any) -> None:
        """End as a failed assertion in C does."""
        os.abort()

    def leave(self, *_: Any) -> None:
        """End the process with a distinct exit code."""
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


def is_cliff(cliff: str, tensor: TensorSpec) -> bool:
    """Whether a tensor is where a cliff is: of sizes of one dimension, of two, or of how it lies in memory.

    >>> is_cliff("residue:1:16:8:1024", TensorSpec((2, 1032))), is_cliff("power:0:64", TensorSpec((128, 3)))
    (True, True)
    >>> is_cliff("threshold:0:100", TensorSpec((99, 3))), is_cliff("ratio:0:2", TensorSpec((7, 3)))
    (False, True)
    >>> is_cliff("strided:64", TensorSpec((3, 64), strides=(1, 3)))
    True
    """
    kind, *words = cliff.split(":")
    numbers = [int(word) for word in words]
    if kind == "strided":
        return tensor.strides not in (None, row_major(tensor.shape)) and tensor.shape[-1] >= numbers[0]
    if kind == "none" or len(tensor.shape) <= numbers[0]:
        return False
    size, (_, *bounds) = tensor.shape[numbers[0]], numbers
    if kind == "residue":
        modulus, residue, least = bounds
        return size % modulus == residue and size >= least
    if kind == "power":
        return size & (size - 1) == 0 and size >= bounds[0]
    return size > bounds[0] * tensor.shape[1 - numbers[0]] if kind == "ratio" else size >= bounds[0]


class VirtualClock:
    """Wall and CPU time in nanoseconds, advanced by the scripted operators."""

    def __init__(self) -> None:
        self._now = 0
        self.instructions = 0

    def wall(self) -> int:
        """Return the virtual wall time."""
        return self._now

    def cpu(self) -> int:
        """Return the virtual CPU time."""
        return self._now

    def advance(self, nanoseconds: int, instructions: int = 0) -> None:
        """Let time pass, which the CPU spends on the operator."""
        self._now += nanoseconds
        self.instructions += instructions


class VirtualEnergy:
    """A counter on a virtual clock, which moves once a millisecond."""

    source, unit = "scripted", 0.0

    def __init__(self, clock: VirtualClock, watts: float) -> None:
        self._clock, self._watts = clock, watts

    def joules(self) -> float:
        """Return the energy up to the last step."""
        return self._watts * (self._clock.wall() // ENERGY_STEP_NS) * ENERGY_STEP_NS / 1e9


class VirtualInstructions:
    """Reads the instructions of a virtual clock."""

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock

    def instruction_set(self) -> str:
        """Return that there is none."""
        return "scripted"

    def start(self) -> None:
        """They are always counted."""

    stop = start

    def wall(self) -> int:
        """Return the instructions so far."""
        return self._clock.instructions

    cpu = wall
