"""Tests that call pytest-benchmark's fixture, collected and run by pytest itself: each is a case.

A test runs up to its `benchmark(...)`, and the call is measured there, in its thread and inside whatever the test has
set up. Then the test goes on to its assertions. It runs again for each preparation; what it shares with others, such
as a fixture of its module, stays until a test runs that does not need it.

The session is pytest's own, with the project's settings, files and installed plugins. Of these, pytest-benchmark makes
room, whose options are not read; whatever else would start processes or trace calls is not called, or is switched off
for as long as a call is measured.
"""

from __future__ import annotations

import atexit
import importlib
import os
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opperf.child.backends.binding import Call
from opperf.child.worker.code import CodeError, FatalImport
from opperf.child.worker.suites.benchmark import THEIRS, Benchmark, Hooks, TimedCall, check_mark
from opperf.child.worker.suites.blame import extensible, remedy, whereabouts
from opperf.child.worker.suites.imports import Imports
from opperf.domain.backend import Unsupported
from opperf.domain.call import Bound
from opperf.domain.case import Argument, Case, ListOf
from opperf.domain.code import SuiteCode
from opperf.domain.files.destination import folder_until_exit
from opperf.domain.message.replies import BROKEN, Example
from opperf.domain.plan import Side

if TYPE_CHECKING:
    import pytest

#: The plugin that does for the caller's own process what this one does for a child.
FACE = "opperf.pytest"
#: Options of pytest-benchmark that a project's settings may name: flags, those with a value, and those with or without.
FLAGS = "disable-gc skip disable enable only autosave save-data verbose quiet"
VALUES = (
    "min-time max-time min-rounds timer calibration-precision warmup-iterations save json cprofile cprofile-loops "
    "cprofile-top storage netrc sort group-by columns name time-unit compare-fail"
)
OPTIONAL = "warmup compare cprofile-dump histogram"
#: What is measured of a test.
FORWARD_ONLY = dict.fromkeys(("backward", "forward_backward"), "the call of a test has no gradient of its own")


class PytestSuite:
    """Tests, collected when they are asked for; a file that fails to be is a case that fails."""

    def __init__(self, code: SuiteCode, folder: Path, side: Side) -> None:
        """Start pytest's session, in the environment or else from where the parent keeps it; raises `CodeError`."""
        self._code, self._home, self._path = code, folder, str(folder / code.path)
        self._place, self._environment = whereabouts(side.environment), extensible(side.environment)
        self._imports = Imports(code, side)
        if code.library is not None and code.library not in sys.path:
            sys.path.append(code.library)  # behind the environment's own
        try:
            self._pytest = importlib.import_module("pytest")
        except ImportError as error:
            message = f"pytest cannot be imported: {error}"
            raise CodeError(message, hint="install it in this environment: `pip install pytest`") from error
        self._items: dict[Case, pytest.Item] = {}
        self._collected: set[str] = set()
        self._plugin = _plugin(self._pytest, self._imports)
        self._bound: Bound | None = None
        try:
            with self._at_home():
                self._begin()
        except (Exception, SystemExit) as error:
            raise CodeError(f"pytest does not start: {type(error).__name__}: {error}") from error

    def _begin(self) -> None:
        from _pytest.config import _prepareconfig
        from _pytest.main import Session

        # A project may require pytest-benchmark, which makes room.
        settings = (f"cache_dir={folder_until_exit('pytest')}", "required_plugins=")
        words = [self._path, "--capture=no", *(f"--override-ini={setting}" for setting in settings)]
        config = _prepareconfig(words, [self._plugin])
        atexit.register(config._ensure_unconfigure)
        config._do_configure()
        self._session = Session.from_config(config)
        config.hook.pytest_sessionstart(session=self._session)
        atexit.register(config.hook.pytest_sessionfinish, session=self._session, exitstatus=0)

    def cases(self, limit: float | None = None) -> list[Case | Example]:
        """Return a case for each test with the fixture, and for each file that is not collected; raises `CodeError`."""
        with self._imports.noted(limit):
            self._collect(self._path)
        broken = self._plugin.broken
        if broken and not self._items:
            name, error = next(iter(broken.items()))
            raise CodeError(f"cannot collect its files: {name}: {error}", hint=remedy(error, self._environment))
        return [*self._items, *(Example(Case(name), labels={BROKEN: error}) for name, error in broken.items())]

    def call(self, case: Case) -> Call:
        """Return how a case is called, from inside its test; raises `Unsupported` elsewhere."""
        if self._bound is None:
            raise Unsupported("the call of a test is made inside the test alone", slug="inside_test")
        bound = self._bound
        return Call(str(self._code), (), function=bound.function, unsupported=FORWARD_ONLY, bind=lambda: bound)

    def enter(self, case: Case, play: Callable[[], Any]) -> None:
        """Run the test of a case, and `play` where it calls its benchmark; raises what the test raises."""
        item = self._item(case)

        def measure(call: TimedCall) -> tuple[list[float], int]:
            self._bound = call.bound()
            try:
                seconds, calls = play()
            finally:
                self._bound = None
            return seconds, calls

        self._plugin.measure, self._plugin.used, self._plugin.error = measure, False, None
        with self._at_home():
            self._session._setupstate.teardown_exact(item)
            item.ihook.pytest_runtest_protocol(item=item, nextitem=item.parent)
        if self._plugin.error is not None:
            raise self._plugin.error
        if not self._plugin.used:
            raise Unsupported("the test has not called its `benchmark`", slug="not_called")

    def _item(self, case: Case) -> pytest.Item:
        """Return the test of a case; raises `Unsupported` where there is none, and `CodeError` for a broken file."""
        self._imports.check(case.operator)
        name = case.operator.partition("::")[0]
        if case not in self._items and not self._is_collected(name):
            file = self._session.config.rootpath / name
            if file.exists():
                self._collect(str(file))
        if case in self._items:
            return self._items[case]
        if name in self._plugin.broken:
            error = self._plugin.broken[name]
            raise CodeError(f"cannot collect `{name}`: {error}", hint=remedy(error, self._environment))
        reason = self._plugin.skipped.get(name, f"`{self._code}` has no `{case.operator}` {self._place}")
        slug = "skipped_by_suite" if name in self._plugin.skipped else "no_such_operator"
        raise Unsupported(reason, slug=slug)

    def _is_collected(self, name: str) -> bool:
        return self._path in self._collected or str(self._session.config.rootpath / name) in self._collected

    def _collect(self, path: str) -> None:
        """Collect a file, or all."""
        self._collected.add(path)
        try:
            with self._at_home():
                items = self._session.perform_collect([path])
        except self._pytest.UsageError as error:
            raise CodeError(f"pytest finds nothing there: {error}") from error
        tests = [item for item in items if "benchmark" in getattr(item, "fixturenames", ())]
        cases = list(map(_case, tests))
        counts = Counter(cases)
        self._items |= {case if counts[case] == 1 else _with_id(item): item for case, item in zip(cases, tests)}

    @contextmanager
    def _at_home(self) -> Iterator[None]:
        """Be where the command was given, as tests expect that read files."""
        here = os.getcwd()
        os.chdir(self._home)
        try:
            yield
        finally:
            os.chdir(here)


def _plugin(pytest: Any, imports: Imports) -> Any:
    """Return the plugin that gives tests their `benchmark`, made when there is a pytest."""

    class Plugin:
        """What happened to tests and files, and the fixture that measures."""

        def __init__(self) -> None:
            self.measure: Any = None
            self.used = False
            #: What ended the test that ran last.
            self.error: BaseException | None = None
            #: Why files are not collected.
            self.broken: dict[str, str] = {}
            self.skipped: dict[str, str] = {}

        def pytest_addoption(self, parser: Any, pluginmanager: Any) -> None:
            """Take pytest-benchmark's options, which a project may have in its settings, and make it stay away."""
            for name in (THEIRS, FACE):
                pluginmanager.set_blocked(name)
            group = parser.getgroup("benchmark")
            for names, how in ((FLAGS, {"action": "store_true"}), (VALUES, {}), (OPTIONAL, {"nargs": "?"})):
                for name in names.split():
                    group.addoption(f"--benchmark-{name}", **how)

        def pytest_addhooks(self, pluginmanager: Any) -> None:
            """Know the hooks that a project may implement."""
            pluginmanager.add_hookspecs(Hooks)

        def pytest_configure(self, config: Any) -> None:
            """Know the mark."""
            config.addinivalue_line("markers", "benchmark: how a test is measured")

        def pytest_runtest_setup(self, item: Any) -> None:
            """Refuse a mark that pytest-benchmark refuses."""
            check_mark(item)

        def pytest_ignore_collect(self, collection_path: Path, config: Any) -> bool | None:
            """Leave a folder out whose `conftest.py` has ended a process."""
            name = os.path.relpath(collection_path, config.rootpath)
            if name not in imports.fatal or not collection_path.is_dir():
                return None
            self.broken[name] = imports.fatal[name].message
            return True

        @pytest.hookimpl(hookwrapper=True)  # type: ignore[untyped-decorator, unused-ignore]
        def pytest_make_collect_report(self, collector: Any) -> Generator[None, Any, None]:
            """Note why a file is not collected, also where it leaves the interpreter."""
            name = collector.nodeid.partition("::")[0]
            try:
                imports.begin(name)
            except FatalImport as fatal:
                self.broken[name] = fatal.message
                collector.collect = list
            outcome = yield
            error = outcome.excinfo
            if error is not None and issubclass(error[0], SystemExit):
                outcome.force_result(pytest.CollectReport(collector.nodeid, "failed", "", []))
                self.broken[collector.nodeid] = f"SystemExit: {error[1]}"
                return
            report = outcome.get_result()
            if report.failed:
                self.broken[collector.nodeid] = _why(report)
            elif report.skipped:
                self.skipped[collector.nodeid] = _skip(report)

        @pytest.hookimpl(hookwrapper=True)  # type: ignore[untyped-decorator, unused-ignore]
        def pytest_runtest_makereport(self, item: Any, call: Any) -> Generator[None, Any, None]:
            """Note what has ended a test."""
            report = (yield).get_result()
            if self.error is not None:
                return
            if report.skipped:
                self.error = Unsupported(_skip(report), slug="skipped_by_suite")
            elif report.failed:
                self.error = _error(call, report)

        @pytest.fixture  # type: ignore[untyped-decorator, unused-ignore]
        def benchmark(self, request: Any) -> Iterator[Benchmark]:
            """Measure a call."""
            fixture = Benchmark(request.node, self.measure)
            yield fixture
            self.used = fixture.is_used

        @pytest.fixture  # type: ignore[untyped-decorator, unused-ignore]
        def benchmark_weave(self, benchmark: Benchmark) -> Callable[..., object]:
            """Refuse to measure what others call."""
            return benchmark.weave

    return Plugin()


def _why(report: Any) -> str:
    """Return the line of a collection's error that says what was raised, and where."""
    entry = getattr(report.longrepr, "reprcrash", None)
    text = str(report.longrepr) if entry is None else f"{entry.message} ({Path(entry.path).name}:{entry.lineno})"
    lines = [line.removeprefix("E").strip() for line in text.splitlines() if line.startswith("E ")]
    return (
        lines[-1] if lines else next((line.strip() for line in text.splitlines() if line.strip()), "no reason is told")
    )


def _error(call: Any, report: Any) -> BaseException:
    """Return the error that has made a test fail."""
    if call.excinfo is None:
        return AssertionError(str(report.longrepr))
    error: BaseException = call.excinfo.value
    name = getattr(error, "argname", None)  # of a fixture that is not there, which the error says in its picture only
    return LookupError(f"there is no fixture `{name}`") if isinstance(error, LookupError) and name else error


def _skip(report: Any) -> str:
    """Return why pytest leaves something out."""
    if hasattr(report, "wasxfail"):
        reason = str(report.wasxfail).removeprefix("reason: ")
        return f"pytest: expected to fail: {reason}" if reason else "pytest: expected to fail"
    where = report.longrepr
    text = str(where[2] if isinstance(where, tuple) else where)
    reason = text.removeprefix("Skipped").removeprefix(": ")
    return f"pytest: skipped: {reason}" if reason else "pytest: skipped"


def _case(item: Any) -> Case:
    """Return the case of a test: its node id, with its parameters as imported results have them, or pytest's id."""
    parameters = getattr(item, "callspec", None)
    name = item.nodeid.partition("[")[0]
    if parameters is None:
        return Case(name)
    if not all(map(_is_plain, parameters.params.values())):
        return _with_id(item)
    return Case(name, attributes={key: _argument(value) for key, value in parameters.params.items()})


def _with_id(item: Any) -> Case:
    """Return the case of a test whose parameters do not tell it from others by themselves."""
    return Case(item.nodeid.partition("[")[0], attributes={"id": item.callspec.id})


def _is_plain(value: object) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    return value is None or type(value) in (bool, int, float, str)


def _argument(value: Any) -> Argument:
    return ListOf(tuple(map(_argument, value))) if isinstance(value, (list, tuple)) else value
