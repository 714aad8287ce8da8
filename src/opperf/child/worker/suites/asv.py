"""Suites of asv, read by asv's own library, `asv_runner`: what it lists is a case, and what it calls is called.

asv's meaning holds where it matters to what is measured: `setup` and `setup_cache` make what a benchmark works on,
`NotImplementedError` skips, and with `number = 1` everything is made anew before each call. When samples are taken, and
how many, is opperf's: what asv reads of that in a suite is not read, nor any other `number`.

Without `number = 1` a benchmark is called again on what its last call has left. So its arrays are watched as the inputs
of any operator are: those on its instance and class, and those of its module that it names.
"""

from __future__ import annotations

import copy
import importlib
import inspect
import io
import json
import os
import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from functools import partial
from pathlib import Path
from pkgutil import iter_modules
from types import MethodType, ModuleType
from typing import Any

from opperf.child.backends.binding import Call, Doubt
from opperf.child.worker.code import CodeError
from opperf.child.worker.suites.asv_alone import SKIPPED, Alone
from opperf.child.worker.suites.asv_folders import Folders
from opperf.child.worker.suites.blame import blaming, extensible, whereabouts
from opperf.child.worker.suites.imports import Imports
from opperf.child.worker.suites.surroundings import is_data
from opperf.child.worker.time_limit import time_limit
from opperf.domain.backend import Unsupported
from opperf.domain.call import Bound
from opperf.domain.case import Case
from opperf.domain.code import SuiteCode, own_metric
from opperf.domain.files.json_text import JsonObject
from opperf.domain.message.replies import BROKEN, Example
from opperf.domain.parameter import combinations, parameter_names
from opperf.domain.plan import Side
from opperf.domain.reason import Warning

#: What is measured of a benchmark.
FORWARD_ONLY = dict.fromkeys(("backward", "forward_backward"), "a benchmark of a suite has no gradient")
#: Where asv times one call at a time, its number has two readings of the clock in it, and the cold caches and fresh
#: pages of a first call where opperf makes several: a tenth of a call of so many seconds, and less of a longer one.
BRIEF, BRIEF_ALIKE = 10e-3, 2e-6
ONE_CALL = Warning(
    "asv_times_one_call",
    "asv's own number may be larger: it times one call at a time, with the reading of the clock, cold caches and fresh "
    "pages in it",
    "compare it with other times of opperf, not with asv's",
)


class AsvSuite:
    """A folder of benchmarks, imported by asv's library when it is asked for one."""

    def __init__(self, code: SuiteCode, folder: Path, side: Side) -> None:
        """Find asv's library, in the environment or else where the parent keeps it; raises `CodeError`."""
        environment = side.environment
        self._code = code
        self._root = (folder / code.path).resolve()
        self._home = folder
        self._place, self._environment = whereabouts(environment), extensible(environment)
        self._discovery = _library(code, "discovery")
        self._folders = Folders(code, side)
        self._imports = Imports(code, side)
        for name in self._imports.fatal:  # whoever looks for a benchmark in all files finds nothing in these
            sys.modules[f"{self._root.name}.{name}"] = None  # type: ignore[assignment]
        #: What `setup_cache` made, by asv's key.
        self._caches: dict[str, object] = {}
        self._alone = Alone(self._root, code.library, self._folders)
        #: Benchmarks that were called, and the places of their combinations of parameters.
        self._benchmarks: dict[str, tuple[Any, dict[Case, int]]] = {}
        _library(code, "_aux").update_sys_path(str(self._root))
        # By itself it stops at the first file that cannot be imported, whichever benchmark is looked for.
        self._discovery.disc_benchmarks = partial(self._discovery.disc_benchmarks, ignore_import_errors=True)

    def cases(self, limit: float | None = None) -> list[Case | Example]:
        """Return the cases that asv's library lists, and one for each file that it cannot import.

        Raises `CodeError` where there is nothing else.
        """
        broken: dict[str, CodeError] = {}
        with self._imports.noted(limit):
            benchmarks = list(self._benchmarks_in(self._root.name, broken))
        if broken and not benchmarks:
            raise next(iter(broken.values()))
        files = (Example(Case(name), labels={BROKEN: _whole_text(error)}) for name, error in broken.items())
        return [*(case for benchmark in benchmarks for case in _cases(benchmark)), *files]

    def _benchmarks_in(self, name: str, broken: dict[str, CodeError]) -> Iterator[Any]:
        """Yield what asv's library lists of a module, and note by asv's names which files are `broken`."""
        file = name.partition(".")[2]
        try:
            self._imports.begin(file)
            module = self._import(name)
        except CodeError as error:
            broken[file] = error
            return
        try:
            yield from self._benchmarks_of(module)
        except CodeError as error:
            broken[file or "__init__"] = error
        for part in iter_modules(getattr(module, "__path__", ()), f"{name}."):
            yield from self._benchmarks_in(part.name, broken)

    def _benchmarks_of(self, module: ModuleType) -> list[Any]:
        """Return the benchmarks of one module, as asv's library lists them; raises `CodeError`.

        It makes an object of each class.
        """
        with _in_place(self._discovery, "disc_modules", [module]), blaming(self._root, self._environment):
            return list(self._discovery.disc_benchmarks(str(self._root)))

    def _import(self, module: str) -> ModuleType:
        with blaming(self._root, self._environment):
            return importlib.import_module(module)

    def listing(self) -> list[JsonObject]:
        """List the benchmarks as asv's `benchmarks.json` does."""
        file, benchmarks = io.StringIO(), list(self._benchmarks_in(self._root.name, {}))
        with _in_place(self._discovery, "disc_benchmarks", benchmarks):
            self._discovery.list_benchmarks(str(self._root), file)
        listing: list[JsonObject] = json.loads(file.getvalue())
        return listing

    def call(self, case: Case) -> Call:
        """Return how a case is called; raises `Unsupported` for one that is not here, or is not measured.

        Only the file of that benchmark is imported.
        """
        self._imports.check(case.operator)
        if case.operator not in self._benchmarks:
            benchmark = self._benchmark(case.operator)
            self._benchmarks[case.operator] = benchmark, {one: place for place, one in enumerate(_cases(benchmark))}
        benchmark, places = self._benchmarks[case.operator]
        place = places.get(case)
        if place is None:
            raise Unsupported(f"`{case.operator}` has no such parameters {self._place}", slug="no_such_operator")
        path = f"{self._code}:{case.operator}"
        metric = own_metric(self._code, case.operator)
        if metric is not None:
            name = f"{case.operator}-{place}" if benchmark.params else case.operator
            number = partial(self._alone.number, benchmark, name, metric)
            alone = Bound(number, (), values={})
            return replace(self._call(path, benchmark, number, lambda: alone), metric=metric, timeout=None)
        self._make_cache(benchmark)
        return self._call(path, benchmark, benchmark.func, partial(self._bind, benchmark, place))

    def _call(self, path: str, benchmark: Any, function: Callable[..., Any], bind: Callable[[], Bound]) -> Call:
        note, timeout = benchmark.pretty_name, benchmark.timeout
        limits = {"note": note, "unsupported": FORWARD_ONLY, "timeout": None if timeout is None else float(timeout)}
        return Call(path, (), function=function, bind=bind, doubt=_doubt(benchmark), **limits)

    def _benchmark(self, name: str) -> Any:
        """Return a benchmark by asv's name; raises `Unsupported` where there is none, `CodeError` for a broken file."""
        finders = list(sys.meta_path)
        try:
            with blaming(self._root, self._environment):
                return self._discovery.get_benchmark_from_name(str(self._root), name)
        except CodeError as error:
            if isinstance(error.__cause__, ValueError) and "Could not find" in str(error.__cause__):
                self._check_file(name)
                raise Unsupported(f"`{self._code}` has no `{name}` {self._place}", slug="no_such_operator") from error
            raise
        finally:
            sys.meta_path[:] = finders  # each call adds another one

    def _check_file(self, name: str) -> None:
        """Raise `CodeError` where a name is that of a file which cannot be imported."""
        path = self._root.joinpath(*name.split("."))
        if path.is_dir() or Path(f"{path}.py").is_file():
            self._benchmarks_of(self._import(f"{self._root.name}.{name}"))

    def _bind(self, template: Any, place: int) -> Bound:
        """Return a benchmark that is set up with the parameters of a place, an object of its own each time."""
        os.chdir(self._folders.path(template.setup_cache_key))
        benchmark = _made_anew(template)
        if benchmark.params:
            benchmark.set_param_idx(place)
        benchmark.set_cache(self._caches.get(benchmark.setup_cache_key))
        _set_up(benchmark)
        renewed = _is_renewed(benchmark)
        attributes, shared = _values(benchmark)
        return Bound(
            benchmark.func,
            benchmark._build_params(),
            values=shared if renewed else {**shared, **attributes},
            shared=tuple(shared),
            renew=partial(_renew, benchmark) if renewed else None,
            release=partial(self._release, benchmark),
        )

    def _release(self, benchmark: Any) -> None:
        """Take down what a benchmark has set up, and go back to where the command was given."""
        benchmark.do_teardown()
        os.chdir(self._home)

    def _make_cache(self, benchmark: Any) -> None:
        """Have the result of `setup_cache`, made once for all that share it; it has a limit of its own."""
        key = benchmark.setup_cache_key
        if key is None or key in self._caches:
            return
        with self._folders.cache(key) as file:
            if not file.exists():
                os.chdir(file.parent)
                try:
                    with time_limit(benchmark.setup_cache_timeout, "its `setup_cache` is"):
                        content = pickle.dumps(_made_anew(benchmark).do_setup_cache())
                finally:
                    os.chdir(self._home)
                file.write_bytes(content)
            # The suite's own processes alone have written it: the folder is this command's, made for it, and closed.
            self._caches[key] = pickle.loads(file.read_bytes())


def _library(code: SuiteCode, name: str) -> Any:
    """Return a module of asv's library; raises `CodeError`."""
    if code.library is not None and code.library not in sys.path:
        sys.path.append(code.library)  # behind the environment's own
    try:
        return importlib.import_module(f"asv_runner.{name}")
    except ImportError as error:
        message = f"asv's own library cannot be imported: {error}"
        raise CodeError(message, hint="install it in this environment: `pip install asv_runner`") from error


@contextmanager
def _in_place(library: ModuleType, name: str, result: Sequence[Any]) -> Iterator[None]:
    """Have a function of asv's library return something else."""
    function = getattr(library, name)
    setattr(library, name, lambda *_, **__: result)
    try:
        yield
    finally:
        setattr(library, name, function)


def _whole_text(error: CodeError) -> str:
    return error.message if error.hint is None else f"{error.message}; {error.hint}"


def _parameters(benchmark: Any) -> Sequence[str]:
    return parameter_names(benchmark.param_names, benchmark.params)


def _cases(benchmark: Any) -> list[Case]:
    """Return a case for each combination of parameters, in asv's order."""
    choices = combinations(benchmark.param_names, benchmark.params, str(benchmark.version))
    return [Case(benchmark.name, attributes=attributes) for attributes in choices]


def _made_anew(benchmark: Any) -> Any:
    """Return a benchmark on another object of its class.

    asv's library makes one by reading the source again, which takes longer than many a call.
    """
    old = getattr(benchmark.func, "__self__", None)
    result = copy.copy(benchmark)
    if old is None or isinstance(old, type):
        return result
    new = type(old)()

    def on_new(function: Any) -> Any:
        is_method = isinstance(function, MethodType) and function.__self__ is old
        return MethodType(function.__func__, new) if is_method else function

    result.func, result._setup_cache = on_new(benchmark.func), on_new(benchmark._setup_cache)
    result._setups, result._teardowns = (list(map(on_new, each)) for each in (benchmark._setups, benchmark._teardowns))
    return result


def _set_up(benchmark: Any) -> None:
    """Set up a benchmark as asv does; raises `Unsupported` with asv's own reason where it is left out."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        skipped = benchmark.do_setup()
    sys.stdout.write(printed.getvalue())
    if skipped:
        lines = [line for line in printed.getvalue().splitlines() if line.startswith(SKIPPED)]
        reason = lines[-1].strip() if lines else f"{SKIPPED}these parameters are in its `skip_params`"
        raise Unsupported(reason, slug="skipped_by_suite")


def _doubt(benchmark: Any) -> Doubt | None:
    """Return the doubt of a benchmark whose calls asv times one by one: each after a `setup`, or as `number = 1`."""
    number = getattr(benchmark, "number", None)
    is_alone = number is not None and (number == 1 or (benchmark._setups and _isolates(benchmark)))
    if not is_alone:
        return None
    return Doubt(BRIEF_ALIKE if _is_renewed(benchmark) else BRIEF, ONE_CALL)


def _isolates(benchmark: Any) -> bool:
    """Whether this version of asv's library sets up before each call that it times, whatever the number."""
    return bool(getattr(benchmark, "_setup_isolates_timed_calls", False))


def _is_renewed(benchmark: Any) -> bool:
    """Whether a benchmark is set up before each call here too."""
    return bool(benchmark.number == 1 and benchmark._setups)


def _renew(benchmark: Any) -> None:
    """Set up a benchmark again, after its teardown."""
    benchmark.do_teardown()
    _set_up(benchmark)


def _values(benchmark: Any) -> tuple[dict[str, object], dict[str, object]]:
    """Return the data of a benchmark by name: those that it has for itself, and those that it shares with others.

    The latter are parameters, attributes of its class, and what it names of its module. Of other objects than arrays,
    lists and dictionaries nothing can be told.
    """
    function = inspect.unwrap(benchmark.func)
    instance = getattr(benchmark.func, "__self__", None)
    attributes = {f"self.{name}": value for name, value in getattr(instance, "__dict__", {}).items()}
    kinds = [] if instance is None else [vars(kind) for kind in reversed(type(instance).__mro__)]
    shared = {f"self.{name}": value for kind in kinds for name, value in kind.items() if not name.startswith("__")}
    names, used = getattr(function, "__globals__", {}), getattr(function, "__code__", None)
    shared |= {name: names[name] for name in (() if used is None else used.co_names) if name in names}
    arguments = benchmark._build_params()
    shared |= dict(zip(("cache", *_parameters(benchmark))[-len(arguments) :], arguments))
    shared = {name: value for name, value in shared.items() if name not in attributes and is_data(value)}
    return {name: value for name, value in attributes.items() if is_data(value)}, shared
