"""The `benchmark` of a test, as pytest-benchmark's users know it; who measures what it is called with is the caller's.

How often something is called, and in which blocks, is opperf's: of `pedantic` its `setup` and `teardown` are kept,
which run around each call, untimed.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import Any, NoReturn, TypeAlias

from opperf.child.worker.suites.surroundings import surroundings
from opperf.domain.backend import Unsupported
from opperf.domain.call import Bound
from opperf.domain.dataclass import dataclass
from opperf.domain.stats.description import Description

#: The plugin by which pytest-benchmark is installed.
THEIRS = "benchmark"
#: The keywords of `@pytest.mark.benchmark`. Of these the group is read.
MARK_KEYWORDS = (
    *("max_time", "min_rounds", "min_time", "timer", "group", "disable_gc", "warmup", "warmup_iterations"),
    *("calibration_precision", "cprofile"),
)
WEAVE = Unsupported(
    "`weave` times calls that a program makes by itself, and opperf makes the calls",
    slug="weave",
    hint="call the function: `benchmark(function, ...)`",
)
Arguments: TypeAlias = tuple[tuple[Any, ...], Mapping[str, Any]]


class FixtureAlreadyUsed(Exception):
    """A test calls its `benchmark` twice."""


@dataclass(frozen=True)
class TimedCall:
    """What a test has `benchmark` call: `setup` may return the arguments, `teardown` gets them."""

    target: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    keywords: Mapping[str, Any] = field(default_factory=dict)
    setup: Callable[[], Arguments | None] | None = None
    teardown: Callable[..., object] | None = None

    def once(self) -> Any:
        """Make a call, and return its result."""
        arguments, keywords = self.set_up()
        result = self.target(*arguments, **keywords)
        self.take_down((arguments, keywords))
        return result

    def set_up(self) -> Arguments:
        """Return the arguments of the next call."""
        fresh = None if self.setup is None else self.setup()
        if fresh and (self.arguments or self.keywords):
            raise TypeError("`setup` returns arguments, and `args` or `kwargs` have some")
        return fresh or (self.arguments, self.keywords)

    def take_down(self, arguments: Arguments) -> None:
        """Do what comes behind each call."""
        if self.teardown is not None:
            self.teardown(*arguments[0], **arguments[1])

    def bound(self) -> Bound:
        """Return the call with its data, which are left as they were; with `setup` they are made anew each time."""
        if self.setup is None and self.teardown is None:
            values = {**_arguments(self), **surroundings(self.target)}
            return Bound(*(self.target, self.arguments, self.keywords), values=values, shared=tuple(values), as_is=True)
        values = surroundings(self.target)
        around = _Around(self)
        return Bound(
            around.function,
            around.arguments,
            values=values or {"arguments": None},
            renew=around.renew,
            release=around.end,
            shared=tuple(values),
            as_is=True,
        )


class _Around:
    """What is made before each call, and taken down behind it."""

    def __init__(self, call: TimedCall) -> None:
        self._call = call
        self._current: Arguments | None = call.set_up()
        self._is_fresh, self._has_keywords = True, bool(self._current[1])
        self.function = self._with_keywords if self._has_keywords else call.target
        self.arguments = self._spelled(self._current)

    def renew(self) -> tuple[Any, ...]:
        """Return the arguments of the next call, after the last one was taken down."""
        if not self._is_fresh or self._current is None:
            self.end()
            self._current = self._call.set_up()
        self._is_fresh = False
        return self._spelled(self._current)

    def end(self) -> None:
        """Take down the last call."""
        last, self._current = self._current, None
        if last is not None:
            self._call.take_down(last)

    def _spelled(self, current: Arguments) -> tuple[Any, ...]:
        positional, keywords = current
        return (*positional, keywords) if self._has_keywords else tuple(positional)

    def _with_keywords(self, *arguments: Any) -> Any:
        return self._call.target(*arguments[:-1], **arguments[-1])


class Metadata:
    """What a test finds in `benchmark.stats`: its own names, and the statistics by name or under `stats`."""

    def __init__(self, benchmark: Benchmark, seconds: Sequence[float], iterations: int) -> None:
        self.name, self.fullname, self.group = benchmark.name, benchmark.fullname, benchmark.group
        self.param, self.params = benchmark.param, benchmark.params
        self.extra_info = benchmark.extra_info
        self.iterations = iterations
        self.stats = Description(seconds)

    def __getitem__(self, key: str) -> Any:
        return getattr(self.stats, key) if hasattr(self.stats, key) else getattr(self, key)

    def get(self, key: str, default: object = None) -> Any:
        """Return a statistic or a name."""
        return getattr(self.stats, key, getattr(self, key, default))

    def as_dict(self, include_data: bool = True) -> dict[str, Any]:
        """Return it as pytest-benchmark's JSON has it."""
        names = ("group", "name", "fullname", "params", "param", "extra_info")
        data = {"data": self.stats.data} if include_data else {}
        stats = {**self.stats.as_dict(), **data, "iterations": self.iterations}
        return {**{name: getattr(self, name) for name in names}, "options": {}, "stats": stats}


#: Measures a call, and returns the seconds that it took in each sample, and the calls of a sample.
Measure: TypeAlias = Callable[[TimedCall], tuple[Sequence[float], int]]


class Benchmark:
    """What the fixture gives to a test; without `measure` a call is only made once."""

    def __init__(self, node: Any, measure: Measure | None) -> None:
        marker = node.get_closest_marker("benchmark")
        parameters = getattr(node, "callspec", None)
        self.name, self.fullname = node.name, node.nodeid
        self.group = None if marker is None else marker.kwargs.get("group")
        self.param = None if parameters is None else parameters.id
        self.params = None if parameters is None else parameters.params
        self.extra_info: dict[str, Any] = {}
        self.stats: Metadata | None = None
        self.disabled, self.has_error = measure is None, False
        self._measure = measure
        self._used = ""

    @property
    def enabled(self) -> bool:
        """Whether calls are measured."""
        return not self.disabled

    @property
    def is_used(self) -> bool:
        """Whether the test has called it."""
        return bool(self._used)

    def __call__(self, function_to_benchmark: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Measure a call, and return what one returns."""
        return self._run("benchmark(...)", TimedCall(function_to_benchmark, args, kwargs))

    def pedantic(
        self,
        target: Callable[..., Any],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
        setup: Callable[[], Arguments | None] | None = None,
        teardown: Callable[..., object] | None = None,
        rounds: int = 1,
        warmup_rounds: int = 0,
        iterations: int = 1,
    ) -> Any:
        """Measure a call with what is done before and behind it; how often it is made is not for the test to say."""
        for name, count, least in (
            ("iterations", iterations, 1),
            ("rounds", rounds, 1),
            ("warmup_rounds", warmup_rounds, 0),
        ):
            if not isinstance(count, int) or count < least:
                raise ValueError(f"`{name}` is {count!r}, expected a whole number >= {least}")
        if iterations > 1 and setup is not None:
            raise ValueError(f"`iterations` is {iterations}, expected 1 beside a `setup`, which runs before each call")
        return self._run("benchmark.pedantic(...)", TimedCall(target, tuple(args), kwargs or {}, setup, teardown))

    def weave(self, target: object, **keywords: object) -> NoReturn:
        """Refuse what times calls that others make."""
        raise WEAVE

    patch = weave

    def _run(self, mode: str, call: TimedCall) -> Any:
        if self._used:
            self.has_error = True
            raise FixtureAlreadyUsed(f"this test has called `{self._used}` before: each call wants a test of its own")
        self._used = mode
        try:
            if self._measure is not None:
                with _untraced():
                    seconds, calls = self._measure(call)
                self.stats = Metadata(self, seconds, calls)
            return call.once()
        except BaseException:
            self.has_error = True
            raise


class Hooks:
    """The hooks of pytest-benchmark, which files of a project may implement; they need not know who calls them."""

    def pytest_benchmark_scale_unit(
        self, config: Any, unit: Any, benchmarks: Any, best: Any, worst: Any, sort: Any
    ) -> None:
        """Choose a unit."""

    def pytest_benchmark_generate_machine_info(self, config: Any) -> None:
        """Describe the machine."""

    def pytest_benchmark_update_machine_info(self, config: Any, machine_info: Any) -> None:
        """Add to the description of the machine."""

    def pytest_benchmark_generate_commit_info(self, config: Any) -> None:
        """Describe the commit."""

    def pytest_benchmark_update_commit_info(self, config: Any, commit_info: Any) -> None:
        """Add to the description of the commit."""

    def pytest_benchmark_group_stats(self, config: Any, benchmarks: Any, group_by: Any) -> None:
        """Choose groups."""

    def pytest_benchmark_generate_json(
        self, config: Any, benchmarks: Any, include_data: Any, machine_info: Any, commit_info: Any
    ) -> None:
        """Make the document."""

    def pytest_benchmark_update_json(self, config: Any, benchmarks: Any, output_json: Any) -> None:
        """Add to the document."""

    def pytest_benchmark_compare_machine_info(
        self, config: Any, benchmarksession: Any, machine_info: Any, compared_benchmark: Any
    ) -> None:
        """Hold machines against each other."""


def check_mark(item: Any) -> None:
    """Raise `ValueError` for what pytest-benchmark's mark does not take."""
    marker = item.get_closest_marker("benchmark")
    unknown = [] if marker is None else [*map(repr, marker.args), *sorted({*marker.kwargs} - {*MARK_KEYWORDS})]
    if unknown:
        raise ValueError(f"the mark `benchmark` has {', '.join(unknown)}, expected some of {', '.join(MARK_KEYWORDS)}")


def _arguments(call: TimedCall) -> dict[str, object]:
    """Return the arguments of a call by name, or by place where its function tells none."""
    try:
        return dict(inspect.signature(call.target).bind(*call.arguments, **call.keywords).arguments)
    except (TypeError, ValueError):
        return {**{f"argument {i}": value for i, value in enumerate(call.arguments, 1)}, **call.keywords}


@contextmanager
def _untraced() -> Iterator[None]:
    """Measure without what traces calls, such as a measurement of coverage."""
    trace, profile = sys.gettrace(), sys.getprofile()
    if trace is not None:
        sys.settrace(None)
    if profile is not None:
        sys.setprofile(None)
    try:
        yield
    finally:
        if trace is not None:
            sys.settrace(trace)
        if profile is not None:
            sys.setprofile(profile)
