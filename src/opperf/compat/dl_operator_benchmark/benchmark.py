"""A benchmark of one operator as a class: parameters with defaults, a run, results under the original's keys."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from statistics import fmean
from typing import Any, ClassVar, Protocol, runtime_checkable

import mxnet as mx

from opperf.catalog import SIZES
from opperf.compat.in_process import InProcess, Subject, in_process
from opperf.domain.backend import Unsupported
from opperf.domain.errors import unknown
from opperf.domain.registry import parse_device

#: Default warm-up calls and samples: the original's.
WARMUP, RUNS = 10, 50


class BenchmarkSpec(Protocol):
    """What a class of benchmarks is made of."""

    @property
    def summary(self) -> str:
        """What is computed, in a few words."""

    def parameters(self) -> dict[str, Any]:
        """Return the parameters with their defaults."""

    def key(self, parameters: Mapping[str, Any], direction: str) -> str:
        """Return the key of a result, as in `MX_Add_Forward_Time`."""

    def subject(self, here: InProcess, parameters: Mapping[str, Any], context: Any) -> Subject:
        """Return the subject of the measurement; raises what MXNet raises for parameters that it does not take."""


@runtime_checkable
class Varying(Protocol):
    """What has inputs of several sizes."""

    def with_size(self, size: str) -> BenchmarkSpec:
        """Return it with the inputs of a size."""


class MXNetOperatorBenchmarkBase(ABC):
    """A benchmark with parameters and results; subclasses say how it runs.

    Raises `ValueError` for a parameter that there is not, and for a `ctx` that is no device. `results` holds seconds
    by key, `samples` those that they are the means of.
    """

    def __init__(
        self,
        ctx: Any = None,
        warmup: int = WARMUP,
        runs: int = RUNS,
        default_parameters: Mapping[str, Any] | None = None,
        custom_parameters: Mapping[str, Any] | None = None,
    ) -> None:
        self.ctx = mx.cpu() if ctx is None else ctx
        if not isinstance(self.ctx, mx.Context):
            raise ValueError(f"`ctx` is {ctx!r}, expected a device of MXNet: mx.cpu() or mx.gpu(0)")
        self.warmup = warmup
        self.runs = runs
        self.inputs: dict[str, Any] = dict(default_parameters or {})
        for name, value in (custom_parameters or {}).items():
            if name not in self.inputs:
                hint = f"it takes {', '.join(self.inputs)}"
                raise ValueError(str(unknown(f"parameter of {type(self).__name__}", name, self.inputs, hint=hint)))
            self.inputs[name] = value
        self.results: dict[str, float] = {}
        self.samples: dict[str, list[float]] = {}

    @abstractmethod
    def run_benchmark(self) -> None:
        """Measure, and put what was measured into `results`."""

    def print_benchmark_results(self) -> None:
        """Print a line for each result."""
        if not self.results:
            print("no results yet: call `run_benchmark()` first")
        for key, seconds in self.results.items():
            print(f"{key} - {seconds:.6f} seconds")

    def get_benchmark_results(self) -> dict[str, float]:
        """Return the results: seconds by key."""
        return self.results


class OperatorBenchmark(MXNetOperatorBenchmarkBase):
    """A benchmark of a declared operator, by opperf's engine; `benchmark_class` makes one for each."""

    declared: ClassVar[BenchmarkSpec]

    def __init__(
        self, ctx: Any = None, warmup: int = WARMUP, runs: int = RUNS, inputs: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(ctx, warmup, runs, self.declared.parameters(), inputs)

    @classmethod
    def varying(cls, ctx: Any = None, warmup: int = WARMUP, runs: int = RUNS) -> dict[str, OperatorBenchmark]:
        """Return a benchmark for each size of inputs, by its name: small, common, large, skewed.

        Raises `ValueError` for a layer: its shapes are for you to choose.
        """
        if not isinstance(cls.declared, Varying):
            raise ValueError(f"{cls.__name__} has inputs of one size; give others: `inputs={{...}}`")
        classes = {size: benchmark_class(cls.__name__, cls.declared.with_size(size), cls.__module__) for size in SIZES}
        return {size: one(ctx, warmup, runs) for size, one in classes.items()}

    def run_benchmark(self) -> None:
        """Measure forward and backward together, or forward alone where `run_backward` is False or there is no more."""
        with self.ctx:
            here = in_process(parse_device(str(self.ctx)))
            subject = self.declared.subject(here, self.inputs, self.ctx)
            self.results, self.samples = {}, {}
            if self.inputs["run_backward"]:
                try:
                    self._measure(here, subject, "forward_backward")
                except Unsupported:  # no input of this type has a gradient; the key says what was measured
                    self._measure(here, subject, "forward")
            else:
                self._measure(here, subject, "forward")

    def _measure(self, here: InProcess, subject: Subject, direction: str) -> None:
        measurement = here.measure(subject, direction, warmup=self.warmup, runs=self.runs, memory=False)
        key = self.declared.key(self.inputs, direction)
        self.samples[key] = here.seconds(measurement)
        self.results[key] = fmean(self.samples[key])


def benchmark_class(name: str, spec: BenchmarkSpec, module: str) -> type[OperatorBenchmark]:
    """Return the class of benchmarks of a declared operator."""
    document = f"Benchmarks {spec.summary}."
    return type(name, (OperatorBenchmark,), {"declared": spec, "__doc__": document, "__module__": module})
