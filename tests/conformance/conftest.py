"""Workers of every backend, started once, and what they compute."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from opperf.catalog import catalog
from opperf.child.worker.correctness import float8_values
from opperf.child.worker.names import NOT_BOUND
from opperf.domain.case import Case
from opperf.domain.errors import OperatorFailure
from opperf.domain.measurement import Measurement
from opperf.domain.message.requests import Evaluate, Measure, Prepare, R, Release, Request
from opperf.domain.plan import REFERENCE, Settings, Side, Trial
from opperf.domain.registry import FRAMEWORKS, PRESETS
from opperf.domain.tensor import FLOAT8, STRING
from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.sources.plugin_file import declared_framework
from opperf.parent.workers.interpreters import choose_environment, interpreter
from opperf.parent.workers.package import package_folder
from opperf.parent.workers.process import Launch, Worker

REAL = ("numpy", "torch", "mxnet", "jax", "tensorflow")
#: TensorFlow in the modes that make programs of operators.
MODES = {"tensorflow compiled": "compiled", "tensorflow xla": "xla"}
#: Libraries behind the one backend of the array API standard: NumPy's arrays, a queue, and two that compute late.
LIBRARIES = ("array_api:array_api_strict", "array_api:dpnp", "array_api:dask.array", "array_api:mlx.core")
#: The backend of one file, of the core alone: what it does not have is skipped with its own reason.
ONE_FILE, ONE_FILE_PATH = "mlx", Path(__file__).parents[2] / "examples" / "backends" / "mlx_backend.py"
LACKING = {"no_gradient", "mutates", "no_explanation"}
#: For programs that run once: to compile them takes most of the time.
XLA_FLAGS = (
    "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true "
    "--xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1"
)
UNOPTIMIZED = {"env.XLA_FLAGS": XLA_FLAGS}
#: What compiles, and how it is told to be quick.
HASTY = {
    "jax": UNOPTIMIZED,
    "array_api:dpnp": {"env.SYCL_PROGRAM_COMPILE_OPTIONS": "-cl-opt-disable"},
    **dict.fromkeys(MODES, UNOPTIMIZED),
}
WITH_GRADIENTS = tuple(name for name in REAL if FRAMEWORKS[name].gradients)
#: How long a child may take for an answer before it is called hung: far longer than any does on a busy machine.
TIMEOUT = 600.0
#: How often least times are taken again that other work may have made longer.
LOOKS = 20
Array: TypeAlias = NDArray[Any]
#: How NumPy reads an element; a complex one is read as two, its real and its imaginary part.
LETTERS = {
    "bool": "?", "int8": "i1", "uint8": "u1", "int16": "i2", "int32": "i4", "uint32": "u4", "int64": "i8",
    "float16": "f2", "float32": "f4", "float64": "f8", "complex64": "f4",
}  # fmt: skip


@dataclass(frozen=True)
class Tensor:
    """A tensor that a worker computed: its elements in row-major order."""

    shape: tuple[int, ...]
    dtype: str
    raw: bytes

    @property
    def array(self) -> Array:
        """Return the elements."""
        if self.dtype in FLOAT8:
            return np.asarray(float8_values(self.dtype))[np.frombuffer(self.raw, np.uint8)]
        return np.frombuffer(self.raw, LETTERS[self.dtype]).astype(np.float64)

    @property
    def values(self) -> list[float]:
        """Return the elements as numbers of Python."""
        return list(self.array.tolist())

    @property
    def texts(self) -> list[str]:
        """Return the elements of a tensor of strings, each of which ends with a byte of zero."""
        assert self.dtype == STRING
        return self.raw.decode().split("\0")[:-1]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a contributor look at one operator of a family."""
    parser.addoption("--operator", metavar="NAME", help="compare the results of this operator alone")


class Bench:
    """One backend in its worker, asked for whole things; `plugins` bring it, `libraries` are beside it."""

    def __init__(
        self,
        framework: str,
        folder: Path,
        settings: Mapping[str, str] | None = None,
        plugins: Sequence[Path] = (),
        libraries: Sequence[str] = (),
        mode: str | None = None,
    ) -> None:
        self.name = framework
        self._mode = mode
        self._folder = folder
        self._settings = settings or {}
        self._plugins = plugins
        self._libraries = libraries
        self._worker: Worker | None = None

    def side(self, **changes: Any) -> Side:
        """Return the side on which the backend is looked at."""
        environment = choose_environment(EnvironmentSpec.parse("current"), self.name, self._libraries).text
        mode = self._mode or FRAMEWORKS[self.name].mode
        settings = {**self._settings, **changes.pop("settings", {})}
        return Side(self.name, environment=environment, mode=mode, settings=settings, **changes)

    @property
    def worker(self) -> Worker:
        """The worker, started when it is first asked for, and again when it was lost."""
        if self._worker is None or not self._worker.alive:
            side = self.side()
            python = interpreter(EnvironmentSpec.parse(side.environment), framework=self.name)
            self._worker = Worker(python, package_folder(), side, Launch(plugins=self._plugins))
            self._worker.greet()
        return self._worker

    def ask(self, request: Request[R]) -> R:
        """Return the reply to a request; skips the test where a small backend does not have what it asks for."""
        try:
            return self.worker.ask(request, TIMEOUT)
        except OperatorFailure as failure:
            small = self._plugins or self.name in LIBRARIES
            if small and (failure.reason.slug in LACKING or NOT_BOUND in failure.reason.message):
                pytest.skip(failure.reason.message)
            if self._mode and failure.reason.slug == "no_compiled_form":
                pytest.skip(failure.reason.message)
            raise

    def trial(self, case: Case, direction: str, **changes: Any) -> Trial:
        """Return a trial on this backend."""
        return Trial(case, replace(self.side(), **changes), direction)

    def evaluate(self, case: Case, direction: str = "forward", *, seed: int = 0, **changes: Any) -> list[Tensor]:
        """Return what one call computes; raises `OperatorFailure`."""
        request = Evaluate(self.trial(case, direction, **changes), seed, str(self._folder))
        outputs = self.ask(request).outputs
        return [Tensor(one.shape, one.dtype, Path(one.file).read_bytes()) for one in outputs]

    def measure(self, case: Case, direction: str = "forward", *, settings: Settings, **changes: Any) -> Measurement:
        """Return the measurement of a trial; raises `OperatorFailure`."""
        handle = self.ask(Prepare(self.trial(case, direction, **changes))).handle
        result = self.ask(Measure(handle, settings))
        self.ask(Release(handle))
        return result

    def least(self, case: Case, direction: str = "forward", *, settings: Settings, **changes: Any) -> float:
        """Return the least time of a call, which no neighbour can lower; raises `OperatorFailure`."""
        measured = self.measure(case, direction, settings=settings, **changes)
        return min(measured.time.seconds(clean_only=False))

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._worker.close()


@pytest.fixture(scope="session")
def benches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Bench]]:
    """Every backend by name."""
    names = (*REAL, *MODES, *LIBRARIES, "onnxruntime", "null")
    result = {
        name: Bench(name.split()[0], tmp_path_factory.mktemp("bench"), HASTY.get(name), mode=MODES.get(name))
        for name in names
    }
    result[ONE_FILE] = Bench(ONE_FILE, tmp_path_factory.mktemp(ONE_FILE), plugins=[ONE_FILE_PATH])
    result["reference"] = Bench("numpy", tmp_path_factory.mktemp("reference"), REFERENCE)
    yield result
    for bench in result.values():
        bench.close()


@pytest.fixture
def one_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Know the framework that a backend of one file brings, for one test."""
    own = declared_framework(ONE_FILE_PATH)
    assert own is not None
    monkeypatch.setitem(FRAMEWORKS, own.name, own)
    monkeypatch.setitem(PRESETS, own.name, (own.name, own.preset))


@pytest.fixture(params=(*REAL, *MODES, *LIBRARIES, ONE_FILE))
def backend(request: pytest.FixtureRequest, benches: dict[str, Bench], one_file: None) -> Bench:
    """Each real framework in turn."""
    return benches[request.param]


@pytest.fixture(params=(*REAL, *MODES, *LIBRARIES, ONE_FILE, "null"))
def any_backend(request: pytest.FixtureRequest, benches: dict[str, Bench], one_file: None) -> Bench:
    """Each backend in turn, the null one too."""
    return benches[request.param]


@pytest.fixture(scope="session")
def computed(benches: dict[str, Bench]) -> Any:
    """Return what a backend computes of an operator's small case, or the failure; each is computed once."""

    @cache
    def compute(framework: str, name: str, direction: str) -> tuple[Tensor, ...] | OperatorFailure:
        try:
            return tuple(benches[framework].evaluate(catalog()[name].case("small"), direction))
        except OperatorFailure as failure:
            return failure

    return compute


def exceeds(look: Callable[[], tuple[float, float]], factor: float) -> bool:
    """Whether the first of two least times, in seconds, is more than so many times the second.

    Other work lengthens a least time, and nothing shortens it below what the calls take. So both are looked at until
    that shows, some times at most: on an idle machine once.
    """
    first = second = math.inf
    for _ in range(LOOKS):
        times = look()
        first, second = min(first, times[0]), min(second, times[1])
        if first > factor * second:
            return True
    return False


def close(left: ArrayLike, right: ArrayLike, *, relative: float = 1e-3, absolute: float = 1e-4) -> bool:
    """Whether numbers agree pairwise; two not-a-numbers do."""
    a, b = np.asarray(left, np.float64), np.asarray(right, np.float64)
    if a.shape != b.shape:
        return False
    with np.errstate(invalid="ignore"):
        near = abs(a - b) <= absolute + relative * np.maximum(abs(a), abs(b))
    agree = np.where(np.isfinite(a) & np.isfinite(b), near, (a == b) | (np.isnan(a) & np.isnan(b)))
    return bool(agree.all())
