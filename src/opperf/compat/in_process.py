"""opperf's engine inside a program that has imported its framework itself: no child, no pipe, the user's own process.

    here = in_process("cpu")
    add = here.of_function(mx.nd.add, keywords={"lhs": left, "rhs": right})
    measured = here.measure(add, "forward_backward", warmup=10, runs=50)
    here.seconds(measured)    # one value for each sample that counts
    measured.quantity("memory_peak")    # in bytes, or None

What the program chose stays as it is: its engine, its threads, its random state. Only the allocator is held still, as
in a worker.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opperf.catalog import Operator, catalog
from opperf.child.backends import profiler_clock
from opperf.child.measure.disturbance import ProcessCounters
from opperf.child.measure.engine import Engine
from opperf.child.measure.host import fix_allocator
from opperf.child.worker import arguments
from opperf.child.worker.code import Plugins
from opperf.child.worker.directions import Ready, ready
from opperf.child.worker.inputs import tensor
from opperf.child.worker.mutation import keep
from opperf.child.worker.names import Names
from opperf.domain.backend import Unsupported
from opperf.domain.call import Bound
from opperf.domain.case import Case
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.measurement import CountedTimes
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.tensor import TensorSpec

if TYPE_CHECKING:
    from opperf.child.measure.disturbance import Counters
    from opperf.domain.backend import Backend
    from opperf.domain.measurement import Measurement

#: `python` is opperf's engine, `native` the framework's own profiler.
PROFILERS = ("native", "python")
SEED = 0


@dataclass(frozen=True)
class Subject:
    """Something to measure in this process: a function with its arguments made.

    `operator` is the neutral definition, where it is known. `random` says that results differ from call to call.
    """

    bound: Bound
    operator: Operator | None = None
    random: bool = False


class InProcess:
    """Measures functions of one framework in this process."""

    def __init__(self, backend: Backend, counters: Counters) -> None:
        self.backend = backend
        self._counters = counters
        self._engine = Engine(backend, counters)
        self._names = Names(backend, Path.cwd(), Plugins(Path.cwd(), ()))

    def tensor(self, spec: TensorSpec, place: str) -> Any:
        """Return a tensor of seeded values; `place` distinguishes the arguments of one call."""
        return tensor(self.backend, spec, f"{SEED}/{place}")

    def of_case(self, case: Case, path: str | None = None, values: Mapping[str, Any] | None = None) -> Subject:
        """Return a case of the catalog, or with `path` (`nd.add`) of that function of the framework.

        `values` holds arguments that are made already, by their names in the case.
        """
        definition = catalog().get(case.operator)
        trial = Trial(case, Side(self.backend.name, implementation=path), "forward")
        call = self._names.call(trial)
        return Subject(arguments.bind(case, call, definition, self.backend, SEED, values), definition)

    def of_function(
        self,
        function: Callable[..., Any] | str,
        positional: Sequence[Any] = (),
        keywords: Mapping[str, Any] | None = None,
        *,
        differentiable: Sequence[Any] | None = None,
        training: bool = False,
        operator: Operator | None = None,
    ) -> Subject:
        """Return a function, or the one at a path, bound to arguments.

        A gradient flows to the tensors `differentiable`, to every floating one where nothing is said. The result of
        a function that is not in the catalog may differ from call to call.
        """
        arguments_by_name = {} if keywords is None else dict(keywords)
        if differentiable is None:
            leaves = [
                leaf for value in (*positional, *arguments_by_name.values()) for leaf in self.backend.leaves(value)
            ]
            differentiable = [leaf for leaf in leaves if self.backend.spec(leaf).is_float]
        callee = self.backend.resolve(function) if isinstance(function, str) else function
        bound = Bound(callee, tuple(positional), arguments_by_name, tuple(differentiable), training=training)
        return Subject(bound, operator, random=operator is None)

    def ready(self, subject: Subject, direction: str) -> Ready:
        """Return the work of a direction after a first call; raises `Unsupported` if it cannot be trusted."""
        bind = keep(self.backend, subject.bound)
        return ready(self.backend, bind, direction, subject.operator, str(SEED), random=subject.random)

    def measure(
        self,
        subject: Subject,
        direction: str,
        *,
        warmup: int | None = None,
        runs: int | None = None,
        profiler: str = "python",
        memory: bool = True,
    ) -> Measurement:
        """Measure a direction: `warmup` uncounted calls, then `runs` samples.

        Raises `Unsupported` for a direction that there is not, `InputError` for bad settings, and what the framework
        raises.
        """
        if profiler not in PROFILERS:
            raise InputError(
                f"no profiler `{profiler}`", hint=f"known: {', '.join(PROFILERS)}", slug="unknown_profiler"
            )
        settings = Settings(warmup=warmup, runs=runs, memory=memory, latency=False)
        work = self.ready(subject, direction)
        if profiler == "native":
            clock = profiler_clock(self.backend.name)
            measurement: Measurement = clock.measure(self.backend, self._counters, work.work, settings, took=work.took)
            return measurement
        return self._engine.measure(work.work, settings, output_bytes=work.output_bytes, took=work.took)

    def seconds(self, measurement: Measurement) -> list[float]:
        """Return the time of one call in each sample that counts, in seconds, shortest first."""
        return sorted(CountedTimes.of([measurement.time], self.backend.side).pooled)


@cache
def in_process(device: str = "cpu") -> InProcess:
    """Return the engine over the MXNet of this process for a device (`cpu`, `cuda:0`), made once.

    Holds the allocator's thresholds still from here on. Raises `InputError` for a device that is not here.
    """
    fix_allocator()
    from opperf.child.backends.mxnet import runtime

    try:
        return InProcess(runtime.start(_side(device)), ProcessCounters())
    except Unsupported as error:
        raise InputError(str(error), hint=error.hint, slug=error.slug) from error


def _side(device: str) -> Side:
    """Return the side that this process already is: MXNet has read its variables."""
    engine = "naive" if os.environ.get("MXNET_ENGINE_TYPE") == "NaiveEngine" else "threaded"
    threads = int(os.environ.get("OMP_NUM_THREADS") or os.cpu_count() or 1)
    return Side("mxnet", device=device, threads=threads, engine=engine)
