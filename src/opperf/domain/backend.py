"""What a backend is: a core of verbs by which opperf measures any framework, and capabilities that it may have.

A backend is a class under `Backend` that has its abstract verbs, the core. Of each capability that it lacks it gets the
default, which reports nothing or skips the trial with a reason.

Values of the framework (tensors, functions) are opaque to everything but their backend, hence `Any`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias
from zlib import crc32

from opperf.domain.call import AbstractCapture, Bound, CapturedCall, FirstCall, Layer, Work
from opperf.domain.case import Case
from opperf.domain.clock import Clock, DeviceTimer, EnergyMeter, InstructionClock
from opperf.domain.explanation import Explanation
from opperf.domain.kernels import CallActivity
from opperf.domain.measurement import Counts, Memory
from opperf.domain.plan import Side
from opperf.domain.tensor import TensorSpec

#: What helps where a backend cannot put back what a call has changed.
RESTORING = "its backend needs a `snapshot`, or the operator a form that returns its result"
#: A tensor outside its framework: elements in row-major order, shape, dtype. Strings end with a byte of zero.
HostValue: TypeAlias = tuple[bytes, tuple[int, ...], str]


class NativeLoop(Protocol):
    """Makes the calls of one piece of work without the interpreter, as often as it is told."""

    def bind(self, arguments: tuple[Any, ...]) -> None:
        """Take the arguments of the next calls; nothing of this is timed."""

    def run(self, calls: int) -> None:
        """Make that many calls."""

    def around(self, calls: int) -> None:
        """Do what surrounds that many calls, and make none."""

    def result(self) -> Sequence[Any]:
        """Make one call, and return the tensors of its result."""


class KernelWatch(Protocol):
    """Sees what a device does for each call of a piece of work."""

    def __call__(self, work: Work, calls: int, sweep: Callable[[], None] | None = None) -> Sequence[CallActivity]:
        """Make that many calls, each waited for, and return what the device did for each.

        `sweep` empties the device's cache before each call. Raises `Unsupported` where nothing can be seen.
        """


class Monitor(Protocol):
    """Tells how a device runs, beside NVIDIA's own library, which is asked first."""

    def read(self) -> Mapping[str, int]:
        """Return the present readings, by the names of `child/measure/gpu.py`; what is not told is left out."""


class Unsupported(Exception):
    """The framework cannot do what the trial asks, which is skipped with this reason; the `last` one ends the child."""

    def __init__(self, message: str, *, slug: str = "unsupported", hint: str | None = None, last: bool = False) -> None:
        super().__init__(message)
        self.slug, self.hint, self.last = slug, hint, last


def no_device(framework: str, device: str, present: Sequence[str]) -> Unsupported:
    """Describe a device that a framework does not have here, with those that it has beside the CPU."""
    hint = f"it has {', '.join(present)}" if present else "it has none but the CPU; a package may bring one"
    return Unsupported(f"{framework} has no device `{device}` here", slug="no_device", hint=hint)


class Numbers(Protocol):
    """A 1-D array that becomes a tensor; arithmetic with Python numbers, or as many others, is elementwise."""

    def __add__(self, other: object, /) -> Numbers: ...
    def __sub__(self, other: object, /) -> Numbers: ...
    def __mul__(self, other: object, /) -> Numbers: ...
    def __mod__(self, other: object, /) -> Numbers: ...


class Backend(ABC):
    """All that a child asks. Making one imports its framework; `side` says with which threads and device."""

    name: str
    side: Side
    clock: Clock
    #: Whether tensors never change: what mutates its inputs elsewhere returns new ones here.
    immutable: bool = False
    #: Whether outputs must be held until `wait`, because nothing else can be waited for.
    collects: bool = False
    #: Whether tensors have no elements, so that none are drawn for them.
    blank: bool = False

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """Return version, build, BLAS, instruction set and threads, as JSON values."""

    @abstractmethod
    def host(self, raw: bytearray, dtype: str) -> Numbers:
        """Return a 1-D array over raw bytes."""

    @abstractmethod
    def tensor(self, host: Any, shape: Sequence[int], dtype: str, strides: Sequence[int] | None) -> Any:
        """Return a tensor of that shape and dtype on the side's device from such an array.

        Strings come as a list, or as such an array of whole numbers, to be written in digits.
        """

    @abstractmethod
    def dtype(self, name: str) -> Any:
        """Return the framework's element type; raises `Unsupported` where it has none."""

    def compose(self, items: tuple[Any, ...]) -> Any:
        """Return the argument that a tuple of values makes: itself, or an object of the framework that it spells."""
        return items

    @abstractmethod
    def to_host(self, tensor: Any) -> HostValue:
        """Return a tensor's elements in row-major order, its shape and its dtype."""

    @abstractmethod
    def leaves(self, value: object) -> list[Any]:
        """Return every tensor in a result, in order."""

    @abstractmethod
    def spec(self, tensor: Any) -> TensorSpec:
        """Return the shape and dtype of a tensor."""

    @abstractmethod
    def bindings(self) -> Mapping[str, Any]:
        """Return how this framework spells neutral operators: `Call` or `Missing` by neutral name.

        An operator that is left out is not bound yet.
        """

    @abstractmethod
    def resolve(self, path: str) -> Callable[..., Any]:
        """Return the function at a path that users write, or raise `LookupError`."""

    @abstractmethod
    def forward(self, bound: Bound) -> Work:
        """Return the call with no graph recorded, in the side's mode."""

    @abstractmethod
    def wait(self, outputs: object) -> None:
        """Wait for ALL outstanding calls; `outputs` are what the calls returned, when `collects`, None if unknown."""

    def spin(self, until: int) -> None:
        """Keep the CPU busy until the wall clock shows so many nanoseconds."""
        while self.clock.wall() < until:
            pass

    # Devices other than a CPU, with their own clocks, caches and memory.

    #: How products of float32 are computed there: as float32, or as TF32; None on a CPU, and where nobody tells.
    float32_products: str | None = None

    def devices(self) -> list[str]:
        """Return the devices that the framework sees, best first."""
        return ["cpu"]

    def device_timer(self) -> DeviceTimer | None:
        """Return the device's own clock, None on a CPU."""
        return None

    def kernel_watch(self) -> KernelWatch | None:
        """Return the watcher of kernels, by the framework's own profiler; None on a CPU, and where it shows none."""
        return None

    def monitor(self) -> Monitor | None:
        """Return a monitor of a device's clock and temperature; None where the framework has none."""
        return None

    def cache_sweep(self) -> Callable[[], None] | None:
        """Return the sweep of a device's last-level cache; None on a CPU, and where its size is not told."""
        return None

    def free_memory(self) -> int | None:
        """Return the bytes that are free on the device; None where tensors lie in the machine's own memory."""
        return None

    def place(self, tensor: Any) -> str | None:
        """Return the kind of device that a tensor lies on, `cpu` for the machine's memory; None where nobody tells."""
        return None

    def trim(self) -> None:
        """Give memory back to the device that is kept for later tensors: another process may need it."""
        return

    def live_memory(self) -> int | None:
        """Return the bytes of the tensors that live on the device; None for a CPU, and where nobody counts them."""
        return None

    # Automatic differentiation.

    def backward(self, bound: Bound, cotangents: Callable[[Any], Any], *, fresh: bool) -> Work:
        """Return the gradient computation alone; its result is the gradients.

        `cotangents` makes a tensor like an output. With `fresh`, each call gets its own untimed forward.
        """
        raise self.no_gradient()

    def forward_backward(self, bound: Bound, cotangents: Callable[[Any], Any]) -> Work:
        """Return forward and backward as one call."""
        raise self.no_gradient()

    def same(self, left: Sequence[HostValue], right: Sequence[HostValue]) -> bool:
        """Whether two lists of values, as `to_host` returns them, are the same but for rounding."""
        return list(left) == list(right)

    def no_gradient(self) -> Unsupported:
        """Return the reason why it is missing."""
        message = f"opperf has no automatic differentiation of {self.name}"
        return Unsupported(message, slug="no_gradient", hint="`--direction forward`")

    # Tensors that a call changes, put back before the next one.

    def written(self, function: Callable[..., Any]) -> Sequence[str]:
        """Return the arguments that a function changes by the framework's own word; none where it says nothing."""
        return ()

    def digest(self, tensor: Any) -> object:
        """Return a fingerprint of a tensor's elements, in the time of reading them; None where there is none."""
        return None if self.immutable else checksum(self.to_host(tensor))

    def refill(self, tensor: Any, pool: Any, start: int) -> Any:
        """Write the elements of a flat one from `start` on into a tensor, and return that, or a new one instead."""
        raise Unsupported(f"opperf cannot write into a tensor of {self.name}")

    def snapshot(self, tensors: Sequence[Any]) -> Callable[[], None]:
        """Remember the values of tensors, and return what puts them back."""
        if self.immutable:
            return lambda: None
        raise Unsupported(f"opperf cannot put back what a call of {self.name} changes", slug="mutates", hint=RESTORING)

    # The framework's own operators, in addition to those of the catalog.

    def layer(
        self, path: str, arguments: Sequence[Any], keywords: Mapping[str, Any], call: FirstCall | None = None
    ) -> Layer | None:
        """Build the object at a path with these arguments; None where the path names a function.

        `call` is what is called then, None where that is not known yet.
        """
        return None

    def builds(self, path: str) -> Sequence[str]:
        """Return the names of what a layer at a path is built with; none for another path, and where none are told."""
        return ()

    def schemas(self, function: Callable[..., Any]) -> Sequence[str]:
        """Return the signatures of a registered operator's overloads, as the framework writes them."""
        return ()

    def parameters(self, function: Callable[..., Any]) -> Mapping[str, bool] | None:
        """Return the arguments of a function that Python tells none of, in order, and whether each may go by place.

        None where the framework does not tell them either.
        """
        return None

    def defaults(self, function: Callable[..., Any]) -> Mapping[str, object]:
        """Return the defaults of such a function's arguments."""
        return {}

    def names(self) -> list[str]:
        """Return implementation names that `resolve` knows, for near matches."""
        return []

    def registered(self) -> list[str]:
        """Return the path of each operator in the framework's registry, or of its functions where it keeps none."""
        return []

    def examples(self, path: str, size: str) -> list[Case]:
        """Return cases of one of those by its own argument names; none where no rule makes them."""
        return []

    # Costs of a call other than time.

    #: How many CPUs a matrix product was seen to use; None where nothing was looked at.
    threads_seen: float | None = None

    def memory(self, work: Work) -> Memory | None:
        """Return the cost of one call, measured in a separate call; None where the framework cannot report it."""
        return None

    def instruction_clock(self) -> InstructionClock | None:
        """Return a counter of the framework's own; None where opperf counts what the process executes."""
        return None

    def energy_meter(self) -> EnergyMeter | None:
        """Return a meter of the framework's own; None where the counters of the machine are read."""
        return None

    def counts(self, work: Work, *, long: bool = False) -> Counts | None:
        """Return the operations and bytes of one forward call; None where the framework does not count.

        No `long` call is made for it where there is another way.
        """
        return None

    # A look inside calls and programs.

    def explain(self, work: Work, calls: int) -> list[Explanation]:
        """Return the explanation of each of `calls` calls, according to the framework's own profiler.

        One stands for all where the program is read, and nothing is called.
        """
        raise Unsupported(f"opperf does not know what {self.name} runs within a call", slug="no_explanation")

    def capture(self, function: Callable[[], Any]) -> list[CapturedCall] | None:
        """Call a function, and return every operator that it calls, in order; None where none can be seen yet."""
        return None

    def capture_abstract(self, load: Callable[[], Callable[[], Any]]) -> AbstractCapture:
        """Load a function and call it by shapes alone: nothing is allocated or computed, not even by what is loaded.

        Raises `Unsupported` where that is not possible.
        """
        message = f"opperf cannot capture {self.name} by shapes alone"
        raise Unsupported(message, slug="no_abstract_capture", hint="leave out `--abstract`")

    # Calls without Python's interpreter, as a program in C or C++ makes them.

    def build_loops(self, folder: Path) -> None:
        """Compile what `native_loop` needs, unless `folder` has it; once in a process, before it is asked."""
        raise Unsupported(f"opperf calls {self.name} from Python only", slug="no_native_loop")

    def native_loop(self, work: Work) -> NativeLoop:
        """Return the native loop of a piece of work; raises `Unsupported` where they go through Python."""
        raise Unsupported(f"opperf calls {self.name} from Python only", slug="no_native_loop")

    # Tensors in memory that another process owns, and where a result lies.

    def share(self, memory: memoryview, spec: TensorSpec) -> Any:
        """Return a tensor whose elements lie in these bytes, in row-major order; nothing is copied."""
        raise self.no_sharing()

    def carry(self, tensor: Any) -> Any:
        """Return a copy of a tensor of the machine's memory on the side's device."""
        raise self.no_sharing()

    def address(self, tensor: Any) -> int:
        """Return where the first element of a tensor lies; 0 where what lies there is still to be changed."""
        raise self.no_sharing()

    def addresses(self, results: Sequence[Any]) -> Sequence[int]:
        """Return `address` of results that are plain tensors, in as little time as it takes; none for any other."""
        return ()

    def resolved(self, tensor: Any) -> Any:
        """Return a tensor whose elements lie in memory as they are: itself, or a copy where it says how they change."""
        return tensor

    def byte_strides(self, tensor: Any) -> Sequence[int]:
        """Return the bytes from one element of a tensor to the next along each axis."""
        raise self.no_sharing()

    def clone(self, tensor: Any) -> Any:
        """Return a copy of a tensor in memory of its own."""
        raise self.no_sharing()

    def no_sharing(self) -> Unsupported:
        """Return the reason why it is missing."""
        message = f"opperf cannot place inputs of {self.name} in memory that it shares"
        return Unsupported(message, slug="no_sharing", hint="candidates are judged in torch and numpy")


def checksum(value: HostValue) -> object:
    """Return a fingerprint of a tensor's elements outside its framework.

    >>> checksum((b"ab", (2,), "int8")) == checksum((b"ba", (2,), "int8"))
    False
    """
    elements, shape, dtype = value
    return shape, dtype, crc32(elements)
