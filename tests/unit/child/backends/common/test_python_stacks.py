"""The Python functions that called, followed by themselves: every way in and out of a function, and other followers."""

from __future__ import annotations

import cProfile
import sys
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from opperf.child.backends.common.python_stacks import MOST, PythonCalls

#: Thread and time of each mark, by the function that it was made in.
marks: list[tuple[int, int]] = []


def mark() -> None:
    """Note where and when; what was seen then is this function, and what called it."""
    marks.append((threading.get_native_id(), time.time_ns()))


def outer() -> None:
    """Call."""
    mark()


def numbers() -> Iterator[int]:
    """Leave and come back."""
    mark()
    yield 1
    mark()


def broken() -> None:
    """Raise through two functions."""
    raise KeyError


def rescue() -> None:
    """Go on after an exception of a function below."""
    try:
        (lambda: broken())()
    except KeyError:
        mark()


def deep(depth: int) -> None:
    """Call itself."""
    if depth:
        deep(depth - 1)
    else:
        mark()


def seen(*calls: Callable[[], object], before: Callable[[], object] = lambda: None) -> list[list[str]]:
    """Return the names of functions at each mark that calls make, the innermost first."""
    marks.clear()
    following = PythonCalls()
    before()
    following.start()
    try:
        for call in calls:
            call()
    finally:
        following.stop()
    stacks = following.take()
    return [[line.rpartition(": ")[2] for line in stacks.at(*one)] for one in marks]


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (outer, [["mark", "outer"]]),
        (lambda: list(numbers()), [["mark", "numbers", "<lambda>"]] * 2),
        (rescue, [["mark", "rescue"]]),
    ],
    ids=["call", "generator", "exception"],
)
def test_every_way_in_and_out_of_a_function_is_followed(call: Callable[[], object], names: list[list[str]]) -> None:
    result = seen(call, outer)
    assert [one[: one.index("seen")] for one in result] == [*names, ["mark", "outer"]]
    assert result[-1][-1] == "<module>"


def test_a_function_that_was_entered_before_is_known() -> None:
    (result,) = seen(mark)
    assert result[:3] == ["mark", "seen", "test_a_function_that_was_entered_before_is_known"]


def test_a_thread_is_followed_from_its_beginning() -> None:
    def start() -> None:
        thread = threading.Thread(target=outer)
        thread.start()
        thread.join()

    (result,) = seen(start)
    assert result[:3] == ["mark", "outer", "run"]


def test_of_a_very_deep_stack_both_ends_are_told() -> None:
    (result,) = seen(lambda: deep(3 * MOST))
    assert len(result) == 2 * MOST + 1
    assert (result[0], result[-1]) == ("mark", "<module>")
    assert result[MOST].endswith(" more calls")
    (short,) = seen(lambda: deep(3))
    assert short[:6] == ["mark", "deep", "deep", "deep", "deep", "<lambda>"]


def test_lines_name_the_file_below_where_it_is_imported_from_and_where_the_function_begins() -> None:
    following = PythonCalls()
    marks.clear()
    following.start()
    mark()
    following.stop()
    line = following.take().at(*marks[0])[0]
    assert line.endswith(f"test_python_stacks.py({mark.__code__.co_firstlineno}): mark")


def test_nobody_is_followed_before_and_after() -> None:
    before = sys.getprofile(), threading.getprofile()
    following = PythonCalls()
    mark()
    following.start()
    following.stop()
    assert (sys.getprofile(), threading.getprofile()) == before
    marks.clear()
    mark()
    size = following.size
    outer()
    assert following.size == size


def test_a_profile_function_of_the_program_stays_and_from_then_on_nothing_is_known() -> None:
    calls: list[str] = []

    def own(frame: object, event: str, argument: object) -> None:
        calls.append(event)

    following = PythonCalls()
    marks.clear()
    following.start()
    outer()
    sys.setprofile(own)
    outer()
    following.stop()
    assert sys.getprofile() is own
    sys.setprofile(None)
    stacks = following.take()
    assert [bool(stacks.at(*one)) for one in marks] == [True, False]
    assert following.has_rival
    assert "call" in calls


def test_a_profile_function_that_was_there_before_stays() -> None:
    def own(frame: object, event: str, argument: object) -> None:
        """Do nothing."""

    following = PythonCalls()
    sys.setprofile(own)
    following.start()
    outer()
    following.stop()
    present = sys.getprofile()
    sys.setprofile(None)
    assert present is own
    assert following.has_rival


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="there Python's own profiler does not take the place of others")
def test_pythons_own_profiler_works_and_what_it_hides_is_not_made_up() -> None:
    following = PythonCalls()
    marks.clear()
    following.start()
    profiler = cProfile.Profile()
    profiler.enable()
    outer()
    profiler.disable()
    outer()
    following.stop()
    stacks = following.take()
    assert [stacks.at(*one) for one in marks] == [(), ()]
    assert {
        code.co_name for code, *_ in ((one.code, 0) for one in profiler.getstats()) if hasattr(code, "co_name")
    } >= {
        "outer",
        "mark",
    }


def test_a_moment_costs_few_bytes() -> None:
    following = PythonCalls()
    following.start()
    before = following.size
    for _ in range(1000):
        (lambda: None)()
    after = following.size
    following.stop()
    assert after - before < 1000 * 2 * 32


def test_what_following_took_grows_with_the_calls_and_leaves_nothing_behind() -> None:
    following = PythonCalls()
    following.start()
    for _ in range(20_000):
        (lambda: None)()
    following.stop()
    assert following.spent > 0
    assert sys.getprofile() is None
    assert PythonCalls().spent == 0
