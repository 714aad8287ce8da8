"""What every test needs."""

from __future__ import annotations

import gc
import os
from collections import defaultdict
from collections.abc import Generator, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from tests.forked_children import ForkedChildren
from tests.interruption import Interruption
from tests.scheduling import Company

from opperf.domain.measurement import Samples
from opperf.parent.workers import claims, gpus
from opperf.parent.workers.duel import Duel
from opperf.parent.workers.package import cache_folder

# What runs tests side by side says how wide a terminal is, and so does readline, past `os.environ`; of a pipe nobody
# would.
os.environ.pop("COLUMNS", None)
os.unsetenv("COLUMNS")
# PyTorch's compiler takes the vectors that the processor says it has. To see that each works, it compiles a program for
# each, in half the time of a test of compiled code.
os.environ.setdefault("TORCHINDUCTOR_VEC_ISA_OK", "1")
# Headers that are compiled ahead pay where many programs follow: a test compiles one or two.
os.environ.setdefault("TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS", "0")
# Threads of OpenMP turn while they wait for each other, on the processors of other tests: PyTorch captures a training
# step in a ninth of the CPU time without them.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# How long an example takes says how busy the machine is, and nothing of the code.
settings.register_profile("shared_machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared_machine")


HERE = Path(__file__).parent
#: The folders whose tests `make test` runs, but for those that are marked as slow.
QUICK = ("unit", "functional", "frameworks", "docs")


#: The folders whose tests are of commands, pages and what is computed, and not of how a child is started.
FORKING = ("functional", "docs", "conformance", "backends", "devices")


#: The files that take 20 s of CPU time or more, longest first: with one left at the end, other cores would idle. And
#: those that would be the very last by their names: they read all code, or build the wheel.
LONGEST = (
    "conformance/test_results.py",
    "functional/test_judge.py",
    "functional/test_asv_suite.py",
    "docs/test_python.py",
    "processes/test_capture_configuration.py",
    "processes/test_capture_abstract.py",
    "frameworks/test_each_framework.py",
    "backends/test_function_registries.py",
    "conformance/test_keras.py",
    "processes/test_fleet.py",
    "processes/test_autostart.py",
    "processes/test_bisect.py",
    "processes/test_replay.py",
    "processes/test_examples.py",
    "recipes/test_recipes.py",
    "browser/test_server_pages.py",
    "processes/test_profile.py",
    "conformance/test_compiled.py",
    "processes/test_compiled_code.py",
    "processes/test_capture_frameworks.py",
    "functional/test_what_if.py",
    "conformance/test_promises.py",
    "compat/test_mxnet_opperf.py",
    "backends/test_torch_registry.py",
    "processes/test_capture.py",
    "processes/test_wheel.py",
    *(f"unit/test_{name}.py" for name in ("words", "imports", "tests", "defaults")),
)


def pytest_configure(config: pytest.Config) -> None:
    """Let signals end the run."""
    config.pluginmanager.register(Interruption(config))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Company | None:
    """Hand out files as `Company` does where whole files are handed out."""
    return Company(config, log) if config.option.dist == "loadfile" else None


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave files without a slow test alone where only slow tests are asked for: to collect them takes seconds."""
    if config.option.markexpr != "slow" or collection_path.suffix != ".py" or not _is_quick(collection_path):
        return None
    return "pytest.mark.slow" not in collection_path.read_text(encoding="utf-8") or None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of the other folders as slow, and begin with the longest files; all processes have one order."""
    places = {file: place for place, file in enumerate(LONGEST)}
    items.sort(key=lambda item: (places.get(str(item.path.relative_to(HERE)), len(LONGEST)), item.path))
    for item in items:
        if not _is_quick(item.path):
            item.add_marker(pytest.mark.slow)


def _is_quick(file: Path) -> bool:
    """Whether a file lies where tests are quick that are not marked."""
    return file.relative_to(HERE).parts[0] in QUICK


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Look for no garbage while tests are collected, nor later among what was: it lives to the end.

    Every other process begins with the last folder, so that two of them do not compile the same files of a new checkout
    at the same time.
    """
    gc.disable()
    if int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 2:
        session.config.args.reverse()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session", autouse=True)
def alone(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Where only quick tests run there is no package index, and nothing that was built from one: they need neither."""
    with pytest.MonkeyPatch.context() as patch:
        if not any(item.get_closest_marker("slow") for item in request.session.items):
            for name in ("OPPERF_CACHE_DIR", "UV_CACHE_DIR"):
                patch.setenv(name, str(tmp_path_factory.mktemp("empty")))
            for name in ("PIP_FIND_LINKS", "UV_FIND_LINKS"):
                patch.delenv(name, raising=False)
            for name in ("PIP_NO_INDEX", "UV_OFFLINE"):
                patch.setenv(name, "1")
        yield


@pytest.fixture(scope="session", autouse=True)
def idle() -> Iterator[None]:
    """Reports of commands in this process are of an idle machine: they would say what else runs beside the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.getloadavg", lambda: (0.0, 0.0, 0.0))
        yield


@pytest.fixture(scope="session")
def one_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache for the whole session, which shares what of the user's takes long to make, and is the same for all.

    The package is among it: Python compiles it once, and not for each process that runs tests.
    """
    cache = tmp_path_factory.mktemp("cache")
    for name in ("environments", "libraries", "loops", "package"):
        folder = cache_folder() / name
        folder.mkdir(parents=True, exist_ok=True)
        (cache / name).symlink_to(folder)
    return cache


@pytest.fixture(scope="session", autouse=True)
def own_locks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Devices of this process alone: another one that runs tests measures on some of the same name.

    What draws on a machine's screen is none of them.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(claims, "FOLDER", tmp_path_factory.mktemp("locks"))
        patch.setattr(gpus, "DEVICES", tmp_path_factory.mktemp("devices"))
        yield


@pytest.fixture(scope="session")
def launcher() -> Iterator[ForkedChildren]:
    """What forks children."""
    with ForkedChildren() as launcher:
        yield launcher


@pytest.fixture(scope="module")
def forked_children(launcher: ForkedChildren) -> Iterator[None]:
    """Children are forked: for tests that are not about them, nor about how long exactly a call takes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("opperf.parent.workers.process.launch", launcher.launch)
        patch.setattr("opperf.parent.workers.duel.share_import", lambda *_: False)  # all come of one already
        # Stands of each pair come of an import of their own, so that memory lies elsewhere: no verdict here tells.
        patch.setattr("opperf.parent.measuring.judge.bench.Bench.import_anew", lambda _: None)
        # What places tensors is loaded ahead of all else: each framework would be imported once more for comparisons.
        patch.setattr("opperf.parent.workers.placement.variables", lambda sides: {})
        yield


@pytest.fixture(scope="module")
def undisturbed() -> Iterator[None]:
    """Turns of a pair count whatever else ran meanwhile, so that each pair has a ratio on a busy machine too.

    For tests of what is said of differences that no machine makes: which samples count is tested elsewhere.
    """
    turn = Duel._turn

    def counted(pair: Duel, place: int, handle: int, calls: int | None, samples: int) -> Samples:
        taken = turn(pair, place, handle, calls, samples)
        return replace(taken, samples=tuple(replace(sample, clean=True) for sample in taken.samples))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Duel, "_turn", counted)
        yield


@pytest.fixture(scope="module")
def few_rounds(undisturbed: None) -> Iterator[None]:
    """A pair has as few rounds as on a busy machine, all of which count: for tests of large differences, or of none."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("opperf.parent.workers.rounds.PAIR_SECONDS", 0.0)
        yield


@pytest.fixture(scope="module", autouse=True)
def quick_children(request: pytest.FixtureRequest) -> None:
    """Children of commands are forked in the folders whose tests are not about them; those of `null` are all alike."""
    folder = request.path.relative_to(HERE).parts[0]
    if folder in FORKING:
        request.getfixturevalue("forked_children")
    if folder == "functional":
        request.getfixturevalue("few_rounds")


#: How long a file of `make test` may take on two quiet cores before it is to be split, in seconds.
LONG = 20


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how long the recipes for contributors took, and which files of `make test` take too long."""
    took: defaultdict[str, float] = defaultdict(float)
    for report in chain.from_iterable(terminalreporter.stats.values()):
        if isinstance(report, pytest.TestReport):
            took[report.nodeid.partition("::")[0]] += report.duration
    if terminalreporter.config.option.markexpr == "not slow":
        for file, seconds in took.items():
            if seconds > LONG:
                terminalreporter.write_line(f"warning: {file} took {seconds:.0f} s, expected no more than {LONG} s")
    for report in terminalreporter.getreports("passed"):
        for name, value in report.user_properties:
            if name == "took":
                terminalreporter.write_line(f"{report.nodeid} took {value}")
