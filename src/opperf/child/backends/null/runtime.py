"""The null framework: tensors without elements, operators that only let virtual time pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import field
from pathlib import Path
from typing import Any

from opperf.catalog import catalog
from opperf.child.backends.binding import Binding, Call, parameters
from opperf.child.backends.common.launches import unseen
from opperf.child.backends.null.scripts import Scripts, VirtualClock, VirtualEnergy, VirtualInstructions, cache_last
from opperf.domain.backend import Backend, HostValue, KernelWatch, NativeLoop, Unsupported
from opperf.domain.call import Bound, CapturedCall, Work
from opperf.domain.case import Case
from opperf.domain.dataclass import dataclass
from opperf.domain.explanation import Event, Explanation
from opperf.domain.kernels import Activity, CallActivity
from opperf.domain.measurement import Memory
from opperf.domain.plan import Side
from opperf.domain.tensor import ITEM_SIZES, TensorSpec

#: What a neutral operator takes: a launch, and its bytes at a bandwidth of 10 GB/s. Backward takes twice that.
LAUNCH_NS = 1000
#: How much of it is Python's.
PYTHON_NS = 400
BYTES_PER_NS = 10
#: How much longer its kernels run with a cold cache.
COLD = 1.5
#: What its tensors could take.
FREE_BYTES = 4_000_000_000


def start(side: Side) -> NullBackend:
    """Return the backend of a side."""
    return NullBackend(side)


@dataclass(frozen=True)
class NullTensor:
    """A shape and a dtype, and how often something was written into it."""

    spec: TensorSpec
    writes: list[int] = field(default_factory=lambda: [0], compare=False)


class NullBackend(Backend):
    """Runs scripts against a virtual clock."""

    name = "null"
    immutable = False
    collects = False
    blank = True
    threads_seen: float | None = None

    def __init__(self, side: Side) -> None:
        self.side = side
        self.clock: VirtualClock = VirtualClock()
        self.scripts = Scripts(self.clock, side.settings)

    def facts(self) -> dict[str, Any]:
        """Return that it is a version of nothing: 1, or the one that the side names."""
        return {"version": self.side.settings.get("version", "1"), "build": "scripted", "threads": self.side.threads}

    def host(self, raw: bytearray, dtype: str) -> Any:
        """Return the bytes, which nobody reads."""
        return raw

    def tensor(self, host: Any, shape: Sequence[int], dtype: str, strides: Sequence[int] | None) -> Any:
        """Return a tensor without elements."""
        return NullTensor(TensorSpec(tuple(shape), dtype, None if strides is None else tuple(strides)))

    def dtype(self, name: str) -> Any:
        """Return the name; every element type exists."""
        if name not in ITEM_SIZES:
            raise Unsupported(f"the null framework has no dtype `{name}`")
        return name

    def to_host(self, tensor: Any) -> HostValue:
        """Return zeros."""
        return bytes(tensor.spec.nbytes), tensor.spec.shape, tensor.spec.dtype

    def leaves(self, value: Any) -> list[Any]:
        """Return the tensors in a result."""
        if isinstance(value, NullTensor):
            return [value]
        return [leaf for item in value for leaf in self.leaves(item)] if isinstance(value, (tuple, list)) else []

    def spec(self, tensor: Any) -> TensorSpec:
        """Return shape and dtype."""
        spec: TensorSpec = tensor.spec
        return spec

    def bindings(self) -> Mapping[str, Binding]:
        """Return a binding for each neutral operator: its own name."""
        return _Bindings()

    def resolve(self, path: str) -> Callable[..., Any]:
        """Return a script, or what stands for a neutral operator."""
        scripts = self.scripts.behaviours()
        if path in scripts:
            return scripts[path]
        if path in catalog():
            return self._neutral(path)
        raise LookupError(path)

    def names(self) -> list[str]:
        """Return the scripts."""
        return list(self.scripts.behaviours())

    def _neutral(self, name: str) -> Callable[..., Any]:
        @cache_last
        def outcome(*tensors: Any) -> tuple[float, list[Any]]:
            leaves = self.leaves(tensors)
            return LAUNCH_NS + sum(leaf.spec.nbytes for leaf in leaves) / BYTES_PER_NS, leaves[:1]

        def run(*tensors: Any) -> Any:
            cost, result = outcome(*tensors)
            self.scripts.spend(cost)
            return result

        run.__name__ = name
        return run

    def forward(self, bound: Bound) -> Work:
        """Return the script."""
        return Work(bound.function, bound.arguments, bound.keywords, nullcontext)

    def backward(self, bound: Bound, cotangents: Callable[[Any], Any], *, fresh: bool) -> Work:
        """Return the script, twice."""

        def run(*tensors: Any) -> Any:
            bound.function(*tensors)
            bound.function(*tensors)
            return list(bound.differentiable)

        run.__name__ = f"{getattr(bound.function, '__name__', 'script')} backward"
        return Work(run, bound.arguments, bound.keywords, nullcontext, notes={"backward_method": "scripted"})

    def forward_backward(self, bound: Bound, cotangents: Callable[[Any], Any]) -> Work:
        """Return the script, three times."""
        backward = self.backward(bound, cotangents, fresh=False)

        def run(*tensors: Any) -> Any:
            bound.function(*tensors)
            return backward.function(*tensors)

        run.__name__ = backward.function.__name__.replace("backward", "forward and backward")
        return Work(run, bound.arguments, bound.keywords, nullcontext, notes=backward.notes)

    def snapshot(self, tensors: Sequence[Any]) -> Callable[[], None]:
        """Remember how often tensors were written into, and return what makes it that again."""
        counts = [(tensor.writes, list(tensor.writes)) for tensor in tensors]

        def restore() -> None:
            for writes, count in counts:
                writes[:] = count

        return restore

    def digest(self, tensor: Any) -> object:
        """Return how often a tensor was written into."""
        return tuple(tensor.writes)

    def wait(self, outputs: Any) -> None:
        """Nothing is outstanding."""

    def spin(self, until: int) -> None:
        """Let virtual time pass."""
        self.clock.advance(max(0, until - self.clock.wall()))

    def free_memory(self) -> int | None:
        """Return the setting `free`, or so much that every size fits but `int64`."""
        return int(self.side.settings.get("free", FREE_BYTES))

    def kernel_watch(self) -> KernelWatch | None:
        """Return a watch on a pretend device: with the setting `kernels=0.6` it is busy for that share of a script."""
        share = self.side.settings.get("kernels")
        if share is None:
            return None
        return lambda work, calls, sweep=None: self._watch(work, calls, float(share) * (1 if sweep is None else COLD))

    def _watch(self, work: Work, calls: int, share: float) -> list[CallActivity]:
        if not share:
            raise unseen()
        result = []
        for _ in range(calls):
            begin = self.clock.wall()
            work.function(*work.make_arguments(), **work.keywords)
            end = self.clock.wall()
            kernel = Activity("script", "kernel", end - round(share * (end - begin)), end)
            result.append(CallActivity(end - begin, (kernel,)))
        return result

    def cache_sweep(self) -> Callable[[], None] | None:
        """Return a function that empties the cache of the pretend device, which has none."""
        return (lambda: None) if "kernels" in self.side.settings else None

    def memory(self, work: Work) -> Memory | None:
        """Return the bytes of the result, as a script would allocate them."""
        size = sum(leaf.spec.nbytes for leaf in self.leaves(list(work.arguments)[:1]))
        return Memory(size, size, "scripted")

    def energy_meter(self) -> VirtualEnergy:
        """Return a counter of as many watts as the setting `power` says; without it there is none."""
        watts = self.side.settings.get("power")
        if watts is None:
            raise Unsupported("there is no energy counter here", slug="no_meter", hint="`null;power=65`")
        return VirtualEnergy(self.clock, float(watts))

    def instruction_clock(self) -> VirtualInstructions:
        """Return the count that belongs to the virtual clock."""
        return VirtualInstructions(self.clock)

    def build_loops(self, folder: Path) -> None:
        """Nothing is compiled; the setting `compiler=none` stands for a machine that has no compiler."""
        if self.side.settings.get("compiler") == "none":
            raise Unsupported("there is no C compiler here", slug="no_compiler", hint="install one")

    def native_loop(self, work: Work) -> NativeLoop:
        """Return a loop whose calls take what the script takes, less what stands for Python's share."""
        return NullLoop(self, work)

    def explain(self, work: Work, calls: int) -> list[Explanation]:
        """Return the script and its kernel."""
        return of_calls(work, calls, self.clock.wall, self.side.settings.get("slowdown", "1"))

    def capture(self, function: Callable[[], Any]) -> list[CapturedCall] | None:
        """Return the calls of a function that returns their names, as nothing can be called by the user."""
        return [self._capture(name) for name in function()]

    def _capture(self, name: str) -> CapturedCall:
        if name in catalog():
            return CapturedCall(name, catalog()[name].case("small"), module="Net")
        if name in self.scripts.behaviours():
            return CapturedCall(name, Case(f"null:{name}"), backward=True)
        return CapturedCall(name, why="not known here")


class NullLoop:
    """Calls a script, and gives back the time that Python would take around it."""

    def __init__(self, backend: NullBackend, work: Work) -> None:
        self._backend, self._work, self._arguments = backend, work, work.make_arguments()

    def bind(self, arguments: tuple[Any, ...]) -> None:
        """Take the arguments of the next calls."""
        self._arguments = arguments

    def run(self, calls: int) -> None:
        """Make that many calls."""
        for _ in range(calls):
            self._work.function(*self._arguments, **self._work.keywords)
            self._backend.scripts.spend(-PYTHON_NS)

    def around(self, calls: int) -> None:
        """Take no time."""

    def result(self) -> Sequence[Any]:
        """Make one call; with the setting `native=wrong` it computes something else."""
        result = self._backend.leaves(self._work.function(*self._arguments, **self._work.keywords))
        return [] if self._backend.side.settings.get("native") == "wrong" else result


class _Bindings(Mapping[str, Binding]):
    """Each neutral operator under its own name; made for those that are asked for, as the catalog is."""

    def __getitem__(self, name: str) -> Binding:
        return Call(name, parameters(", ".join(catalog()[name].inputs)))

    def __iter__(self) -> Iterator[str]:
        return iter(catalog())

    def __len__(self) -> int:
        return len(catalog())


def of_calls(work: Work, calls: int, clock: Callable[[], int], slowdown: str) -> list[Explanation]:
    """Return the explanation of each of `calls` calls; another slowdown is another kernel."""
    name = getattr(work.function, "__name__", "script")
    by = "scripted" if slowdown == "1" else f"scripted:{slowdown}"
    calls_events = []
    for _ in range(calls):
        start = clock()
        work.function(*work.arguments, **work.keywords)
        seconds = (clock() - start) / 1e9
        calls_events.append(Explanation((Event(name, "operator", 1, 0.0), Event("script", "kernel", 1, seconds, by))))
    return calls_events
