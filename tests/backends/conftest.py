"""Real children that run every operator of a framework's registry once, and the lists of what is known to fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

import pytest
from tests.conformance.conftest import UNOPTIMIZED

from opperf.catalog.valid_values import restrict
from opperf.domain.case import Case
from opperf.domain.errors import OperatorFailure, WorkerFailure
from opperf.domain.message.requests import Discover, Prepare, R, Release, Request
from opperf.domain.plan import Side, Trial
from opperf.domain.registry import FRAMEWORKS
from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.workers.interpreters import choose_environment, interpreter
from opperf.parent.workers.package import package_folder
from opperf.parent.workers.process import Worker

#: How long one answer may take. Seconds: PyTorch's list of its operators takes the longest.
TIMEOUT = 300.0
#: How fast a function of JAX is does not matter here: XLA compiles without optimizing, in two thirds of the time.
SETTINGS = {"jax": UNOPTIMIZED}


class Children:
    """A child after another: an operator that ends one costs none of the rest."""

    def __init__(self, framework: str) -> None:
        environment = choose_environment(EnvironmentSpec.parse("current"), framework).text
        mode, settings = FRAMEWORKS[framework].mode, SETTINGS.get(framework, {})
        self.side = Side(framework, environment=environment, mode=mode, settings=settings)
        self._python = interpreter(EnvironmentSpec.parse(environment), framework=framework)
        self._worker: Worker | None = None

    def ask(self, request: Request[R]) -> R:
        """Return what a child answers."""
        if self._worker is None or not self._worker.alive:
            self._worker = Worker(self._python, package_folder(), self.side)
            self._worker.greet()
        return self._worker.ask(request, TIMEOUT)

    def outcome(self, case: Case, path: str, direction: str) -> str:
        """Say what becomes of one call."""
        try:
            prepared = self.ask(Prepare(Trial(case, replace(self.side, implementation=path), direction)))
        except OperatorFailure as failed:
            status = "skipped" if failed.skipped else "failed"
            return f"{status}: {failed.reason.slug}: {failed.reason.message}"
        except WorkerFailure as lost:
            return f"failed: {lost.slug}: {lost.message}"
        self.ask(Release(prepared.handle))
        return "ok"

    def outcomes(self, path: str) -> dict[tuple[str, str], str]:
        """Say what becomes of an operator at the small size: forward, and where that runs backward."""
        (example,) = self.ask(Discover(path, "small")).examples
        case = restrict(example.case)
        smooth = any(tensor.is_float and tensor.requires_grad is not False for tensor in case.tensors())
        result = {(path, "forward"): self.outcome(case, path, "forward")}
        if result[path, "forward"] == "ok" and smooth:
            result[path, "backward"] = self.outcome(case, path, "backward")
        return result

    def close(self) -> None:
        """End the last child."""
        if self._worker is not None:
            self._worker.close()


@pytest.fixture(scope="session")
def children_of() -> Iterator[Callable[[str], Children]]:
    """Return a function that starts children of a framework's environment."""
    with ExitStack() as open_ones:
        yield lambda framework: open_ones.enter_context(closing(Children(framework)))


@pytest.fixture(scope="session")
def known_failures() -> Callable[[str], dict[tuple[str, str], str]]:
    """Return a function that reads the list of a framework: the reason of each path and direction, then its link."""

    def read(framework: str) -> dict[tuple[str, str], str]:
        result, reason = {}, ""
        for line in (Path(__file__).parent / "known_failures" / f"{framework}.txt").read_text().splitlines():
            if line.startswith("# https://"):
                reason += line.removeprefix("#")
            elif line.startswith("#"):
                reason = line.removeprefix("#").strip()
            elif line.strip():
                path, direction = line.split()
                result[path, direction] = reason
        return result

    return read
